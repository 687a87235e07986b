"""The beginning of a session: which one it is, and the gates before the first chunk.

Rule 1: stale state is never gone on with silently. Another pull request and another head commit are asked about (G-U13,
        G-U14), and so is a saved session that a new one would take the place of.
Rule 2: such an answer is about the world as it is, so it is used once: whoever resumes again is asked again.
"""

from __future__ import annotations

from msgspec.structs import replace

from assent.flows.gate import ask_for, check
from assent.flows.session.effect import ClearSession, Discover, InitTodo
from assent.flows.session.finding import ChunkStatus, Phase, Session, begin, merge
from assent.flows.session.table import render_overview, render_plan, render_progress
from assent.flows.session.talk import How, Left, Talk
from assent.flows.step import Failed, Flow, do, say
from assent.protocol.display import display, is_blank
from assent.protocol.gate import AREAS, CHUNK_PLAN, MISMATCH, PHASE_GATE, VISUAL_DISCOVERY, Context, Gate
from assent.protocol.review import Review

__all__ = ["HEAD_CHANGED", "chunk_plan", "find_session", "phase_gate", "visual_discovery"]

HEAD_CHANGED = Context("Head changed", ("Go on with the saved session", "Restart"))
"""G-U13. Not one of the standard contexts: the protocol asks for the choice and names no labels."""


def find_session(talk: Talk) -> Flow[None]:
    """Settle which session it is: the saved one, or a new one."""
    saved, review = talk.opening.saved, talk.opening.review
    if saved is not None and not talk.opening.is_resuming:
        question = (
            f"A review of {saved.pull_request} is saved ({render_progress(saved)}). "
            "Discard it and start anew? [y/n]"
        )
        if not (yield from check(question)):
            raise Left(How.KEPT)
        yield from do(ClearSession(keeps_findings=True))
    elif saved is not None:
        talk.session = saved
        is_same = yield from _compare(talk, saved, review)
        if is_same:
            begun = saved.started[:16].replace("T", " ")
            yield from say(f"Resuming {saved.pull_request}, begun {begun}: {render_progress(saved)}.")
            return
    if review is None:
        raise Left(How.ENDED, "There is nothing to review.")
    talk.session = begin(review, talk.opening.started)
    yield from talk.save()


def _compare(talk: Talk, saved: Session, review: Review | None) -> Flow[bool]:
    """Say whether to go on with what was saved."""
    if review is None:
        return True
    now, then = review.pull_request, saved.pull_request
    if not now.is_same(then):
        summary = f"Asked for: {now}. Saved: {then} ({render_progress(saved)})."
        if (yield from _settle(talk, Gate(MISMATCH, summary))) == "Start fresh":
            yield from do(ClearSession(keeps_findings=True))
            raise Left(How.CLEARED)
    elif now.head_sha != then.head_sha:
        summary = (
            f"{then} was saved at commit {then.head_sha[:12]} and is now at {now.head_sha[:12]} "
            f"({render_progress(saved)}). Line numbers of the saved findings may be stale."
        )
        if (yield from _settle(talk, Gate(HEAD_CHANGED, summary))) == "Restart":
            yield from do(ClearSession(keeps_findings=True))
            return False
        yield from talk.change(replace(talk.session, moved_to=now.head_sha))
    return True


def _settle(talk: Talk, gate: Gate) -> Flow[str]:
    """Return what was chosen; that it was is saved before anything else, also where the session is left here."""
    talk.session = replace(talk.session, compared=talk.session.compared + 1)
    choice = yield from talk.pass_(gate, f"compared:{talk.session.compared}", is_aside=True)
    yield from talk.save()
    return choice.label


def phase_gate(talk: Talk) -> Flow[None]:
    """Show what is to be reviewed, and settle how."""
    while True:
        gate = Gate(PHASE_GATE, render_overview(talk.session))
        choice = yield from talk.pass_(gate)
        match choice.label:
            case "Proceed":
                yield from talk.enter(Phase.VISUAL)
                return
            case "Quick mode":
                talk.session = replace(merge(talk.session), mode="quick")
                yield from talk.enter(Phase.VISUAL)
                return
            case "Cancel":
                yield from do(ClearSession(keeps_findings=True))
                raise Left(How.CANCELLED)
            case _:
                title = "What should the review focus on?"
                area = choice.arguments or (yield from ask_for(title, "area", AREAS))
                if area:
                    yield from talk.change(replace(talk.session, focus=area[0]))


def visual_discovery(talk: Talk) -> Flow[None]:
    """Settle whether there will be a visual review, where there is something to see (G-U4)."""
    while not is_blank(talk.session.visual):
        choice = yield from talk.pass_(Gate(VISUAL_DISCOVERY, display(talk.session.visual)))
        if choice.label != "Refresh Context":
            talk.session = replace(talk.session, is_visual=choice.label.startswith("Proceed"))
            break
        found = yield from do(Discover(talk.session.pull_request))
        if isinstance(found, Failed):
            yield from say(f"The context was not refreshed: {found.message}")
        else:
            visual = found.result if isinstance(found.result, str) else ""
            yield from talk.change(replace(talk.session, visual=visual))
            if is_blank(visual):
                yield from say("There are no visual changes any more.")
    yield from talk.enter(Phase.PLAN)


def chunk_plan(talk: Talk) -> Flow[None]:
    """Settle where to start; the list of tasks begins here."""
    session = talk.session
    is_single = len({file for part in session.parts for file in part.chunk.files}) == 1
    if session.mode == "full":
        if is_single:
            talk.session = merge(session)  # one file is not cut into chunks (G-U5)
        else:
            yield from _plan(talk)
        yield from do(InitTodo(talk.session))
    yield from talk.enter(Phase.REVIEW)


def _plan(talk: Talk) -> Flow[None]:
    parts = talk.session.parts
    gate = Gate(CHUNK_PLAN, render_plan(talk.session), chunks=len(parts))
    while True:
        choice = yield from talk.pass_(gate)
        match choice.label:
            case "Start from chunk 1":
                return
            case "Review all at once":
                talk.session = merge(talk.session)
                return
            case "Cancel":
                yield from do(ClearSession(keeps_findings=True))
                raise Left(How.CANCELLED)
            case _:
                numbers = [str(part.number) for part in parts]
                start = choice.arguments or (
                    yield from ask_for("Which chunk do you want to start with?", "N", numbers)
                )
                if start:
                    for number in range(1, int(start[0])):
                        yield from talk.move(number, ChunkStatus.SKIPPED)
                    return
