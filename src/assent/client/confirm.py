"""Confirms from Python: an orchestrator asks before or after a piece of work, and goes on when it is told to.

A confirm is durable, and it passes by what the store holds, never by what the file says. Whoever asks the same again comes
back to the same question, perhaps answered by now, from another process or on another day. With another summary it is
another question: the first one is taken back while it is open, and a yes to it is none to this one; anything else that was
answered is told. What is DONE by a recorded yes is not asked again, and what was confirmed is named.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from assent.client.accept import Acceptance
from assent.client.async_client import awaiting
from assent.client.calls import Calls
from assent.client.client import blocking
from assent.client.confirm_record import (
    Attempt,
    Half,
    History,
    Said,
    find_ask,
    note_seen,
    read_plan_of,
    sync,
    write_statuses,
)
from assent.client.door import Call
from assent.client.durable import Hear, Meet, drive_durably
from assent.client.journal import Settled, decode_entry, make_step
from assent.client.named import named
from assent.client.place import DocumentPlace, find_document, find_root
from assent.effects.direct import Direct
from assent.effects.document import document_performers
from assent.effects.performer import Intention, Performer, Performers, World
from assent.effects.reviewer import check_folders, reviewer_performers
from assent.flows.confirm import (
    CONFIRM,
    ConfirmInputs,
    How,
    RunReviewer,
    Verdict,
    name_half,
    render_claim,
    render_missing,
)
from assent.flows.document import WriteDocument
from assent.flows.step import Done
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.canonical import Json, digest
from assent.protocol.confirm import Meaning, check_summary, direction_prompt, is_direction, read_reply
from assent.protocol.display import quote
from assent.protocol.error import (
    BadRequestError,
    ConflictError,
    EffectError,
    FlowDivergedError,
    StillOpen,
)
from assent.protocol.plan import (
    ConfirmProtocol,
    Moment,
    Owner,
    Plan,
    Status,
    name_confirms,
    parse_plan,
)
from assent.protocol.plan_check import check_plan
from assent.protocol.report import Report, render_report
from assent.protocol.reviewer_file import MAX_REVIEWER_FILE_BYTES, Reviewer, parse_reviewers

__all__ = ["REVIEWER_FILE", "confirm_plan", "confirm_plan_async", "sync_plan"]

REVIEWER_FILE = ".assent/reviewers.toml"
_TRIES = 3

Apply = Callable[[Verdict], str | None]
"""Gets the changes that a person asked for; returns the summary to ask again with, or None to leave it at that."""


def _confirm(  # noqa: PLR0913 - the public call: every part of a confirm has a name
    calls: Calls,
    plan: str | os.PathLike[str],
    owner: str,
    moment: Moment | str,
    summary: str,
    *,
    workspace_dir: str | os.PathLike[str] | None = None,
    track_dir: str | os.PathLike[str] | None = None,
    performers: Performers | None = None,
    apply: Apply | None = None,
    say: Hear | None = None,
    present: Meet | None = None,
    wait: float | None = None,
) -> Call[Verdict]:
    """Run the confirms that a phase or task of a plan has at a moment; return what came of them.

    The status in the plan's file is kept as it goes; what passes is what the store holds a person's yes or a reviewer's
    clean report for. `workspace_dir` and `track_dir` are for reviewers; they are the project's root and the plan's folder
    unless they are said. Reviewers are those of the project's file, once a person accepted it, unless `performers` has
    some. With `apply`, changes that a person asks for are applied and the confirm is asked again, until it is settled
    otherwise.

    Where a reviewer blocks, a person is asked what to do, and this returns at once; until they answered, no reviewer is
    run. A later call waits for them if `wait` says how long.

    Raises:
        BadRequestError: a path is not absolute, there is no such moment, or the plan has errors.
        NotFoundError: there is no such plan, phase or task.
        StillOpen: `wait` lapsed; asked again, it is the same question.
    """
    given = Path(plan)
    place = find_document(given, "plan")
    inputs = ConfirmInputs(
        place.path,
        owner,
        _moment(moment),
        summary,
        _absolute("workspace_dir", workspace_dir, place.root),
        _absolute("track_dir", track_dir, given.resolve().parent),
    )
    check_folders(inputs.workspace_dir, inputs.track_dir)  # or the attempt would keep the mistake for ever
    yield from sync(calls, place, _read_good(place), (owner, inputs.moment))
    while True:
        case = _Case(calls, place, inputs, performers or {}, say or _hear_nothing, present, wait)
        verdict = yield from case.run()
        if verdict.how is not How.CHANGES or apply is None:
            return verdict
        again = apply(verdict)
        if again is None:
            return verdict
        inputs = replace(inputs, summary=again)


def _sync(calls: Calls, plan: str | os.PathLike[str]) -> Call[dict[Half, Status]]:
    """Write into a plan's file what people answered while no command waited; return what was written."""
    place = find_document(Path(plan), "plan")
    return (yield from sync(calls, place, read_plan_of(place)))


class _Case:
    """The confirms of one owner and moment, asked with one summary."""

    def __init__(
        self,
        calls: Calls,
        place: DocumentPlace,
        inputs: ConfirmInputs,
        performers: Performers,
        say: Hear,
        present: Meet | None,
        wait: float | None,
    ) -> None:
        self._calls, self._place, self._inputs = calls, place, inputs
        self._performers: Performers = {**document_performers(place.root), **performers}
        self._say, self._present, self._wait = say, present, wait
        self._history = History(calls, place, inputs.owner)
        self._owner: Owner
        self._seen: set[Half] = set()

    def run(self) -> Call[Verdict]:
        """Settle them, or say what keeps them."""
        for _ in range(_TRIES):
            verdict = yield from self._look()
            if verdict is None:
                verdict = yield from self._ask()
            if verdict is not None:
                return verdict
            # Somebody was faster, or a journal told what the asks do not: the next attempt asks.
        owner = quote(self._inputs.owner)
        return Verdict(How.FAILED, f"The store does not hold that {owner} is confirmed; ask again.")

    def _look(self) -> Call[Verdict | None]:
        """Return what can be said without asking anybody."""
        inputs, moment = self._inputs, self._inputs.moment
        plan = _read_good(self._place)
        self._seen = yield from note_seen(self._calls, self._place, plan)
        self._history = History(self._calls, self._place, inputs.owner)
        gone = yield from self._missing(plan)
        if gone is not None:
            return gone
        self._owner = plan.owner(inputs.owner)
        if not name_confirms(self._owner, moment):
            return Verdict(How.NOTHING)
        check_summary(inputs.summary)
        told = yield from self._hear_out()
        if told is not None:
            return told
        return (yield from self._settle())

    def _missing(self, plan: Plan) -> Call[Verdict | None]:
        """Return that a confirm is gone which the plan had once; what a person dropped may go."""
        owner_id, moment = self._inputs.owner, self._inputs.moment
        owners = [owner for owner in plan.owners if owner.owner_id == owner_id]
        here = {name for owner in owners for name in name_confirms(owner, moment)}
        for half in sorted(self._seen):
            if (half.owner, half.moment) != (owner_id, moment) or half.name in here:
                continue
            said = yield from self._history.said(moment, half.name)
            if said is None or said.meaning is not Meaning.DROP:
                return Verdict(How.MISSING, render_missing(owner_id, moment, half.name), name=half.name)
        return None

    def _settle(self, came: Verdict | None = None, flow_id: str = "") -> Call[Verdict | None]:
        """Return the verdict by what the store holds, if all is settled; the file then says so, too.

        `came` is what the attempt `flow_id` came to just now.
        """
        moment = self._inputs.moment
        settled = yield from self._history.settled(self._owner, moment, flow_id)
        if not settled.keys() >= name_confirms(self._owner, moment).keys():
            return None
        statuses = {
            Half(self._inputs.owner, moment, name): _status_by(said) for name, said in settled.items()
        }
        write_statuses(self._place, statuses)
        confirmed = [said for said in settled.values() if said.meaning is Meaning.YES]
        last = (confirmed or list(settled.values()))[-1]
        told = came or Verdict(How.CONFIRMED, by=last.by)
        how = How.CONFIRMED if confirmed else How.DROPPED
        return replace(told, how=how, summary=last.summary if confirmed else "", passed={})

    # Asking

    def _ask(self) -> Call[Verdict | None]:
        """Have an attempt made; None if it came to nothing that counts."""
        moment = self._inputs.moment
        settled = yield from self._settled_halves()
        here = name_confirms(self._owner, moment)
        due = {name: each for name, each in here.items() if name_half(moment, name) not in settled}
        for name, each in due.items():
            if each.protocol == ConfirmProtocol.AI:
                directed = yield from self._directed(name, self._wait or 0)
                if directed is not Meaning.RERUN:
                    return directed if isinstance(directed, Verdict) else None
        for each in due.values():
            claim = render_claim(self._owner, each, settled)
            if claim:
                self._say(claim)
        yield from self._find_reviewers({each.ai_agent for each in due.values()})
        flow_id = yield from self._flow(list(here))
        if flow_id is None:
            return None
        came = yield from drive_durably(
            self._calls,
            flow_id,
            CONFIRM,
            replace(self._inputs, settled=tuple(sorted(settled))),
            self._performers,
            say=self._say,
            present=self._present,
            wait=self._wait,
        )
        return (yield from self._conclude(came, flow_id))

    def _conclude(self, came: Verdict, flow_id: str) -> Call[Verdict | None]:
        """Hold what an attempt came to against the asks: its journal is an agent's word."""
        self._history = History(self._calls, self._place, self._inputs.owner)
        if came.how is How.BLOCKED:
            directed = yield from self._directed(came.name, 0)
            return directed if isinstance(directed, Verdict) else None
        if came.how not in (How.CONFIRMED, How.DROPPED, How.NOTHING):
            return replace(came, passed={})
        self._owner = read_plan_of(self._place).owner(self._inputs.owner)
        if not name_confirms(self._owner, self._inputs.moment):
            return None
        return (yield from self._settle(came, flow_id))

    def _settled_halves(self) -> Call[set[str]]:
        """Return all that is settled for this owner, also of the other halves of what is asked twice."""
        found: set[str] = set()
        for moment in Moment:
            found |= {
                name_half(moment, name) for name in (yield from self._history.settled(self._owner, moment))
            }
        return found

    def _flow(self, names: list[str]) -> Call[str | None]:
        """Return the id of the flow to drive: the last one if it asks the same and has no end yet, else a new one.

        An open question with another summary is taken back; None if it was answered in that moment.
        """
        moment = self._inputs.moment
        attempts = yield from self._history.attempts(moment)
        if attempts and attempts[-1].verdict is None:
            last = attempts[-1]
            if last.summary == self._inputs.summary:
                return last.flow_id
            for ask in (yield from self._waiting(last, names)):
                try:
                    yield from self._calls.withdraw(ask.ask_id, "It is asked anew, with another summary.")
                except ConflictError:
                    return None
        return self._history.flow_id(moment, len(attempts) + 1)

    def _waiting(self, attempt: Attempt, names: list[str]) -> Call[list[Ask]]:
        """Return the open asks of an attempt, also for confirms that are gone from the file."""
        inputs = self._inputs
        gone = [
            half.name for half in self._seen if (half.owner, half.moment) == (inputs.owner, inputs.moment)
        ]
        found: list[Ask] = []
        for name in dict.fromkeys([*names, *sorted(gone)]):
            found += [ask for ask in (yield from self._history.asks(attempt, name)) if ask.is_open]
        return found

    def _hear_out(self) -> Call[Verdict | None]:
        """Return what a person answered to another summary before its agent came back, unless it was a yes (C34)."""
        attempts = yield from self._history.attempts(self._inputs.moment)
        left = attempts[-1] if attempts and attempts[-1].verdict is None else None
        if left is None or left.summary == self._inputs.summary:
            return None
        if (yield from self._waiting(left, list(name_confirms(self._owner, self._inputs.moment)))):
            return None
        withheld: Performers = {
            **self._performers,
            WriteDocument: _Withholding(self._performers[WriteDocument], self._place, self._inputs.owner),
            RunReviewer: Direct(RunReviewer, _leave_it),
        }
        try:
            came = yield from drive_durably(
                self._calls, left.flow_id, CONFIRM, self._inputs, withheld, wait=0
            )
        except StillOpen:  # nobody has said anything
            came = None
        self._history = History(self._calls, self._place, self._inputs.owner)
        self._owner = read_plan_of(self._place).owner(self._inputs.owner)
        is_told = came is not None and came.how in (How.CHANGES, How.DECLINED, How.STOPPED, How.ENDED)
        return replace(came, passed={}) if came is not None and is_told else None

    # Reviewers

    def _find_reviewers(self, agents: set[str]) -> Call[None]:
        """Get the project's reviewers ready, if one of them is due: a person accepts their file first."""
        if RunReviewer in self._performers:
            return
        root = find_root((self._place.root / self._place.path).parent)
        text = _read_reviewers(root / REVIEWER_FILE)
        reviewers = parse_reviewers(text, REVIEWER_FILE)
        may_run = True
        if agents & reviewers.keys():
            commands = {
                name: [*(f"{key}={value}" for key, value in reviewer.env.items()), *reviewer.command]
                for name, reviewer in reviewers.items()
            }
            acceptance = Acceptance(self._calls, REVIEWER_FILE, digest(text), commands)
            may_run = acceptance.is_given
            if not may_run:
                ask = yield from acceptance.ask()
                if ask.is_open:
                    ask = yield from self._await(ask, self._wait)
                may_run = acceptance.settle(ask)

        def accept(_: Reviewer) -> None:
            if not may_run:
                raise EffectError(f"The command in {REVIEWER_FILE} was not accepted, so it was not run.")

        self._performers = {**self._performers, **reviewer_performers(reviewers, os.environ, accept)}

    def _await(self, ask: Ask, wait: float | None) -> Call[Ask]:
        if self._present is not None:
            self._present(ask)
        return (yield from self._calls.wait(ask.ask_id, wait))

    def _directed(self, name: str, wait: float) -> Call[Verdict | Meaning]:
        """Return what a person wants done about blocking issues: RERUN lets the reviewer run, also where there are none.

        DROP is in the record, which is to be looked at again. Each word is told once. After a stop, and after an end
        without a word, the next call asks anew: no reviewer runs before a person said so (C43).
        """
        said = yield from self._history.said(self._inputs.moment, name)
        blocked = said.attempt.verdict if said is not None else None
        if said is None or blocked is None or blocked.how is not How.BLOCKED or blocked.report is None:
            return Meaning.RERUN
        flow_id = said.attempt.flow_id
        for number in count(1):
            ask, is_new = yield from self._direction(flow_id, name, number, blocked.report)
            if ask.is_open and wait > 0 and not is_new:
                with suppress(StillOpen):
                    ask = yield from self._await(ask, wait)
            if ask.is_open:
                return replace(blocked, text=render_report(blocked.report), ask_id=ask.ask_id, passed={})
            directed = _read_direction(ask)
            if directed is Meaning.YES:
                continue  # to what? It is asked again
            if isinstance(directed, Meaning):
                return directed
            if (yield from self._tell_once(flow_id, ask)):
                return directed
            if directed.how is How.CHANGES:
                return Meaning.RERUN
        raise AssertionError

    def _direction(self, flow_id: str, name: str, number: int, report: Report) -> Call[tuple[Ask, bool]]:
        """Return the ask for a direction, opened where there is none, and whether it was."""
        key = f"{flow_id}:{name}?{number}"
        ask = yield from find_ask(self._calls, key)
        if ask is not None and not is_direction(ask.prompt):
            raise FlowDivergedError(f"{ask.ask_id} has the key of another ask.")
        if ask is not None:
            return ask, False
        agent = name_confirms(self._owner, self._inputs.moment)[name].ai_agent
        prompt = direction_prompt(self._owner, self._inputs.moment, agent, report)
        return (yield from self._calls.open(prompt, kind=Kind.CONFIRM, key=key)), True

    def _tell_once(self, flow_id: str, ask: Ask) -> Call[bool]:
        """Note that an agent is told how an ask ended; False if one was before."""
        told_id = f"{flow_id}:told"
        steps = yield from self._calls.steps(told_id)
        if any(decode_entry(step, Settled).result == Done(ask.ask_id) for step in steps):
            return False
        yield from self._calls.write_step(make_step(told_id, len(steps), Settled(Done(ask.ask_id))))
        return True


def _status_by(said: Said) -> Status:
    return Status.CANCELLED if said.meaning is Meaning.DROP else Status.DONE


def _read_direction(ask: Ask) -> Meaning | Verdict:
    """Return what a person wants done about blocking issues, or what the agent is to be told."""
    if ask.answer is None:
        assert ask.outcome is not None  # noqa: S101 - it has ended, and not with an answer
        how = How.DECLINED if ask.state is State.DECLINED else How.ENDED
        return Verdict(how, ask.outcome.reason, by=ask.outcome.by, state=ask.state)
    text = ask.answer.values["confirm"][0]
    meaning = read_reply(text, can_rerun=True)
    match meaning:
        case Meaning.NO | Meaning.STOP:
            return Verdict(How.STOPPED, by=ask.answer.by)
        case Meaning.CHANGES:
            return Verdict(How.CHANGES, text, by=ask.answer.by)
        case _:
            return meaning


def _leave_it(_: RunReviewer) -> None:
    raise StillOpen


class _Withholding:
    """Writes a plan as another does, but no DONE: that would be a yes to something else than was asked now."""

    def __init__(self, writer: Performer[WriteDocument], place: DocumentPlace, owner: str) -> None:
        self._writer, self._place, self._owner = writer, place, owner

    def intend(self, effect: WriteDocument) -> Intention:
        self._check(effect.content)
        return self._writer.intend(effect)

    def look(self, intention: Intention) -> World:
        return self._writer.look(intention)

    def perform(self, intention: Intention) -> Json:
        self._check(intention.content)  # it may have been intended before
        return self._writer.perform(intention)

    def _check(self, content: bytes) -> None:
        then, now = parse_plan(content).owner(self._owner), read_plan_of(self._place).owner(self._owner)
        if _count_done(then) > _count_done(now):
            raise EffectError("That was a yes to another summary.")


def _count_done(owner: Owner) -> int:
    return sum(each.status == Status.DONE for each in owner.confirms)


def _read_good(place: DocumentPlace) -> Plan:
    """Return the plan, if it is one that `plan check` passes.

    Raises:
        BadRequestError: it has errors; the sentence names the first one and its line.
    """
    plan = read_plan_of(place)
    errors = [problem for problem in check_plan(plan) if problem.is_error]
    if errors:
        more = f" (and {len(errors) - 1:,} more: assent plan check {place.path})" if len(errors) > 1 else ""
        raise BadRequestError(f"{place.path}:{errors[0].line}: {errors[0].message}{more}")
    return plan


def _read_reviewers(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_REVIEWER_FILE_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise BadRequestError(f"{file}: it cannot be read: {error.strerror}.") from None


def _hear_nothing(_: str) -> None:
    pass


def _moment(given: Moment | str) -> Moment:
    try:
        return Moment(given)
    except ValueError:
        raise BadRequestError("A confirm is asked before or after.") from None


def _absolute(name: str, given: str | os.PathLike[str] | None, default: Path) -> str:
    """C38, C-X13: a path that a reviewer could take for another one is the caller's mistake."""
    if given is None:
        return str(default)
    if not Path(given).is_absolute():
        raise BadRequestError(f"{name} is an absolute path, not {os.fspath(given)}.")
    return os.fspath(given)


confirm_plan = named(blocking(_confirm), "confirm_plan")
confirm_plan_async = named(awaiting(_confirm), "confirm_plan_async")
sync_plan = named(blocking(_sync), "sync_plan")
