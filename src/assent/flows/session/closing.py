"""The end of a session: what was found is posted, saved or discarded (G33, G34, G-U8 to G-U10).

Rule 1: nothing is posted that is not marked.
Rule 2: a choice to post holds for the very findings that were there when it was made, for that pull request and for that
        commit. A session that is resumed with other ones asks anew, whatever was answered before; so does a pull request
        that is at another commit when it is posted to.
Rule 3: what could not be posted is saved, and nothing of the session is removed before it was posted.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assent.flows.gate import ask_for, check
from assent.flows.session.effect import ClearSession, CountTodos, SaveFindings
from assent.flows.session.finding import ChunkStatus, Held, Session, begin, enter, in_order, mark, toggle
from assent.flows.session.loop import dive
from assent.flows.session.posting import Event, Posted, compose, post_only_verdict, render_verdict, verdict
from assent.flows.session.table import render_findings, render_tally
from assent.flows.session.talk import Closing, How, Left, Talk, ids_of
from assent.flows.step import Done, Failed, Flow, do, say
from assent.protocol.canonical import canonical, convert, digest
from assent.protocol.display import quote
from assent.protocol.gate import POST_ONLY, SYNTHESIS, Choice, Gate
from assent.protocol.review import Severity
from assent.protocol.words import count

__all__ = ["post_only", "synthesis"]

_SHA = 12
"""Of a commit's name, so much is shown."""


def synthesis(talk: Talk) -> Flow[Closing]:
    """Stay until what was found is posted, saved or discarded."""
    while True:
        session = talk.session
        gate = Gate(SYNTHESIS, _summary(talk), ids_of(session.held))
        choice = yield from talk.pass_(gate, _content(talk))
        match choice.label:
            case "Post all marked" | "Post only Action Required":
                chosen = _chosen(session.marked, choice.label)
                closing = yield from _post(talk, chosen, verdict(session), session.held)
                if closing is not None:
                    return closing
            case "Select specific":
                title = "Which findings do you want to post? Give their ids, with commas between them."
                ids = yield from _select(talk, choice, title)
                if ids:
                    yield from talk.change(mark(mark(session, ids_of(session.held), False), ids, True))
            case "Save locally":
                return (yield from _export(talk, How.SAVED))
            case "deep-dive":
                yield from dive(talk, choice, session.held)
            case _:
                yield from do(ClearSession(started=session.started))
                return Closing(How.DISCARDED)


def _content(talk: Talk) -> str:
    """Return a digest of all that could be posted: a gate shows titles, and more than those is posted."""
    return digest(canonical(compose(talk.session, talk.session.held, verdict(talk.session))))


def _summary(talk: Talk) -> str:
    session = talk.session
    skipped = [str(part.number) for part in session.parts if part.status is ChunkStatus.SKIPPED]
    lines = [f"{_place(session)} {render_verdict(verdict(session))}.", render_tally(session.held)]
    if skipped:
        lines.append(f"Skipped: chunk {', '.join(skipped)}.")
    return "\n".join([*lines, render_findings(in_order(session.held))]).rstrip()


def _place(session: Session) -> str:
    """Return where it would be posted: the pull request, the commit that was looked at, and the one that it is at."""
    looked_at = session.pull_request.head_sha[:_SHA]
    moved = f", which is at commit {quote(session.moved_to[:_SHA])} by now" if session.moved_to else ""
    return f"{session.pull_request} at commit {looked_at}{moved}:"


def post_only(talk: Talk) -> Flow[Closing]:
    """Post what was found earlier, without going through it again."""
    yield from _find(talk)
    while True:
        session = talk.session
        every = ids_of(session.held)
        shown = f"{_place(session)} {render_tally(session.held)}\n{render_findings(in_order(session.held))}"
        choice = yield from talk.pass_(Gate(POST_ONLY, shown.rstrip(), every), _content(talk))
        match choice.label:
            case "Post all marked" | "Post only Action Required":
                chosen = _chosen(session.marked, choice.label)
                closing = yield from _post(talk, chosen, post_only_verdict(chosen), session.held)
                if closing is not None:
                    return closing
            case "Cancel":
                if talk.opening.saved is not None or talk.opening.is_headless:
                    yield from talk.keep(session)  # so that whoever comes again is asked anew
                return Closing(How.CANCELLED, None, "What was saved stays.")
            case "deep-dive":
                yield from dive(talk, choice, session.held)
            case "all":
                yield from talk.keep(mark(session, every, True))
            case "none":
                yield from talk.keep(mark(session, every, False))
            case _:
                title = (
                    "Which findings do you want to turn on or off? Give their ids, with commas between them."
                )
                ids = yield from _select(talk, choice, title)
                yield from talk.keep(toggle(session, ids))


def _find(talk: Talk) -> Flow[None]:
    """Settle what there is to post: what was saved, or all of a review that was sure enough."""
    saved, review = talk.opening.saved, talk.opening.review
    if saved is not None:
        talk.session = saved
    elif review is not None:
        talk.session = begin(review, talk.opening.started)
        for part in talk.session.parts:
            talk.session = enter(talk.session, part.number)
        if talk.opening.is_headless:  # the reply may come when the file is gone
            yield from talk.keep(talk.session)
    else:
        raise Left(How.ENDED, "There is nothing to post.")


def _select(talk: Talk, choice: Choice, title: str) -> Flow[tuple[str, ...]]:
    held = in_order(talk.session.held)
    return choice.arguments or (yield from ask_for(title, "IDs", ids_of(held), render_findings(held)))


def _post(talk: Talk, chosen: Sequence[Held], event: Event, every: Sequence[Held]) -> Flow[Closing | None]:
    """Post, and return how the session ends; nothing where it goes on."""
    if every and not chosen:
        yield from say("Nothing of that is marked, so nothing was posted.")
        return None
    open_tasks = yield from do(CountTodos())
    if isinstance(open_tasks, Failed):  # perhaps there are some
        yield from say(f"The list of tasks cannot be read: {open_tasks.message}")
        if not (
            yield from check("Nobody knows whether tasks are not done. Post anyway? [y/n]", _content(talk))
        ):
            return None
    undone = open_tasks.result if isinstance(open_tasks, Done) else 0
    if isinstance(undone, int) and undone > 0:
        verb = "is" if undone == 1 else "are"
        question = f"{count(undone, 'task')} {verb} not done. Post anyway? [y/n]"
        if not (yield from check(question, _content(talk))):
            return None
    yield from say(f"Posting {count(len(chosen), 'finding')} to {talk.session.pull_request} …")
    came = yield from do(compose(talk.session, chosen, event))
    if isinstance(came, Failed):
        yield from say(f"Not posted: {came.message}")
        yield from talk.save()  # so that whoever resumes is asked anew before it is tried again
        return (yield from _export(talk, How.FAILED, came.message))
    # Without a result it had been posted before, and nobody knows any more with which counts.
    posted = Posted(0, 0, 0, was_posted=True) if came.result is None else convert(came.result, Posted)
    if posted.moved_to:
        yield from say(
            f"Not posted: {talk.session.pull_request} is at commit {quote(posted.moved_to[:_SHA])} by now, which is not "
            "the one that you were shown."
        )
        session = replace(talk.session, moved_to=posted.moved_to)
        yield from talk.keep(session) if talk.opening.is_post_only else talk.change(session)
        return None
    if posted.left_out:  # what found no room there must not be lost here
        left = tuple(held for held in talk.session.held if held.finding_id in posted.left_out)
        yield from _export(talk, How.SAVED, session=replace(talk.session, held=left))
    else:
        yield from do(ClearSession(started=talk.session.started))
    return Closing(How.POSTED, posted)


def _export(talk: Talk, how: How, reason: str = "", session: Session | None = None) -> Flow[Closing]:
    saved = yield from do(SaveFindings(session or talk.session))
    if isinstance(saved, Failed):
        yield from say(f"The findings were not saved: {saved.message}")
        return Closing(How.FAILED, None, saved.message)
    yield from say(f"The findings are in {saved.result}.")
    if how is How.SAVED:
        yield from do(ClearSession(keeps_findings=True, started=talk.session.started))
    return Closing(how, None, reason)


def _chosen(marked: Sequence[Held], label: str) -> tuple[Held, ...]:
    if label == "Post all marked":
        return tuple(marked)
    return tuple(held for held in marked if held.finding.severity is Severity.CRITICAL)
