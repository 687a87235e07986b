"""Confirms from Python: an orchestrator asks before or after a piece of work, and goes on when it is told to.

A confirm is durable. Whoever asks the same again while one is IN_PROGRESS comes back to the same question, perhaps answered
by now, from another process or on another day. One found TODO or BLOCKED is asked anew, and so is one with another
summary: the first question is taken back then. A yes to it is none to this one; anything else that was answered is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from assent.client.async_client import awaiting
from assent.client.calls import Calls
from assent.client.client import blocking
from assent.client.door import Call
from assent.client.durable import Hear, Meet, drive_durably
from assent.client.journal import Opened, decode_entry, end_of, read_back
from assent.client.named import named
from assent.client.place import DocumentPlace, find_document
from assent.effects.direct import Direct
from assent.effects.document import document_performers
from assent.effects.performer import Intention, Performer, Performers, World
from assent.effects.reviewer import check_folders
from assent.flows.confirm import CONFIRM, ConfirmInputs, How, RunReviewer, Verdict
from assent.flows.document import WriteDocument
from assent.protocol.ask import Ask, Kind
from assent.protocol.canonical import Json
from assent.protocol.confirm import Meaning, read_reply
from assent.protocol.display import quote
from assent.protocol.error import AssentError, BadRequestError, EffectError, NotFoundError, StillOpen
from assent.protocol.plan import MAX_PLAN_BYTES, Confirm, ConfirmProtocol, Moment, Owner, Status, parse_plan

__all__ = ["confirm_plan", "confirm_plan_async"]

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

    The status in the plan's file is kept as it goes. `workspace_dir` and `track_dir` are for reviewers; they are the
    project's root and the plan's folder unless they are said. With `apply`, changes that a person asks for are applied and
    the confirm is asked again, until it is settled otherwise.

    Raises:
        BadRequestError: a path is not absolute, or there is no such moment.
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
    does = {**document_performers(place.root), **(performers or {})}
    while True:
        told = yield from _hear_out(calls, place, inputs, does)
        if told is not None:
            return told
        flow_id, is_after_confirmed = yield from _attempt(calls, place, inputs)
        asked = replace(inputs, is_after_confirmed=is_after_confirmed)
        verdict = yield from drive_durably(
            calls, flow_id, CONFIRM, asked, does, say=say, present=present, wait=wait
        )
        if verdict.how is How.CONFIRMED and not _statuses(place, inputs) <= _PASSED:
            # A journal can be older than the file, and any agent may write one: the file has the last word.
            return Verdict(How.FAILED, f"The plan does not say that {quote(owner)} is confirmed; ask again.")
        if verdict.how is not How.CHANGES or apply is None:
            return verdict
        again = apply(verdict)
        if again is None:
            return verdict
        inputs = replace(inputs, summary=again)


def _attempt(calls: Calls, place: DocumentPlace, inputs: ConfirmInputs) -> Call[tuple[str, bool]]:
    """Return the id of the flow to drive, and whether this moment was confirmed before.

    It is the last one if that has not come to its end, and a new one otherwise: what was answered before its agent died is
    not lost, also where the status was written already. Where the file says that nobody is asked, a person set it so by
    hand: what still waits is taken back.
    """
    here = yield from _look_up(calls, place, inputs, inputs.moment)
    before = yield from _look_up(calls, place, inputs, Moment.BEFORE)
    # An after half that was confirmed in an earlier round says nothing about this one (C-X4).
    is_confirmed = here.confirmed > 0 and here.confirmed >= before.confirmed
    if is_confirmed and _needs_person(place, inputs):
        is_confirmed = yield from _has_yes(calls, here.last)
    flow_id, left = here.next, here.left
    if not left:
        return flow_id, is_confirmed
    waiting = yield from _waiting(calls, left)
    statuses = _statuses(place, inputs)
    is_under_way = bool(statuses & _HELD) or (not waiting and bool(statuses - {Status.TODO}))
    # With another summary it is another question: a yes to the first is none to the second.
    if is_under_way and here.summary == inputs.summary:
        return left, is_confirmed
    yield from _take_back(calls, waiting)
    return flow_id, is_confirmed


def _hear_out(
    calls: Calls, place: DocumentPlace, inputs: ConfirmInputs, does: Performers
) -> Call[Verdict | None]:
    """Return what a person answered to another summary before its agent came back, unless it was a yes (C34)."""
    here = yield from _look_up(calls, place, inputs, inputs.moment)
    if not here.left or here.summary == inputs.summary or not _statuses(place, inputs) & _HELD:
        return None
    if (yield from _waiting(calls, here.left)):
        return None
    withheld: Performers = {
        **does,
        WriteDocument: _Withholding(does[WriteDocument], place, inputs),
        RunReviewer: Direct(RunReviewer, _leave_it),
    }
    try:
        verdict = yield from drive_durably(calls, here.left, CONFIRM, inputs, withheld, wait=0)
    except StillOpen:  # nobody has said anything
        return None
    return None if verdict.how in (How.CONFIRMED, How.FAILED) else verdict


def _leave_it(_: RunReviewer) -> None:
    raise StillOpen


class _Withholding:
    """Writes a plan as another does, but no DONE: that would be a yes to something else than was asked now."""

    def __init__(self, writer: Performer[WriteDocument], place: DocumentPlace, inputs: ConfirmInputs) -> None:
        self._writer, self._place, self._inputs = writer, place, inputs

    def intend(self, effect: WriteDocument) -> Intention:
        self._check(effect.content)
        return self._writer.intend(effect)

    def look(self, intention: Intention) -> World:
        return self._writer.look(intention)

    def perform(self, intention: Intention) -> Json:
        self._check(intention.content)  # it may have been intended before
        return self._writer.perform(intention)

    def _check(self, content: bytes) -> None:
        then = parse_plan(content).owner(self._inputs.owner)
        if _count_done(then) > _count_done(_owner(self._place, self._inputs)):
            raise EffectError("That was a yes to another summary.")


def _count_done(owner: Owner) -> int:
    return sum(each.status == Status.DONE for each in owner.confirms)


class _Attempts(NamedTuple):
    """How often the confirms of a moment were tried."""

    confirmed: int
    left: str
    """The last one, if it has not come to its end."""
    next: str
    summary: str = ""
    """What the last one asked about."""
    last: str = ""
    """The last one that said go on."""


def _look_up(calls: Calls, place: DocumentPlace, inputs: ConfirmInputs, moment: Moment) -> Call[_Attempts]:
    number, confirmed, left, summary, last = 1, 0, "", "", ""
    while True:
        flow_id = f"confirm:{_part(place.name)}:{_part(inputs.owner)}:{moment}:{number}"
        steps = yield from calls.steps(flow_id)
        if not steps:
            return _Attempts(confirmed, left, flow_id, summary, last)
        summary = read_back(decode_entry(steps[0], Opened).inputs, ConfirmInputs, flow_id).summary
        end = end_of(steps)
        left = flow_id if end is None else ""
        if end is not None:
            verdict = read_back(end.value, Verdict, flow_id)
            if verdict.how is How.CONFIRMED and verdict.confirmed > 0:
                confirmed, last = confirmed + 1, flow_id
        number += 1


_HELD = frozenset({Status.IN_PROGRESS, Status.BLOCKED})
"""What the file says while somebody is asked: BLOCKED where a reviewer failed and a person decides (C45)."""


_PASSED = frozenset({Status.DONE, Status.CANCELLED})


def _statuses(place: DocumentPlace, inputs: ConfirmInputs) -> set[str]:
    """Return where the confirms of the moment stand in the file."""
    return {each.status for each in _confirms(place, inputs)}


def _confirms(place: DocumentPlace, inputs: ConfirmInputs) -> list[Confirm]:
    return [each for each in _owner(place, inputs).confirms if each.is_of(inputs.moment)]


def _owner(place: DocumentPlace, inputs: ConfirmInputs) -> Owner:
    """Return the phase or task as the file has it now."""
    try:
        with (place.root / place.path).open("rb") as file:
            plan = parse_plan(file.read(MAX_PLAN_BYTES + 1))
    except OSError as error:
        raise NotFoundError(f"{place.path} cannot be read any more: {error.strerror}.") from None
    return plan.owner(inputs.owner)


def _needs_person(place: DocumentPlace, inputs: ConfirmInputs) -> bool:
    return any(each.protocol == ConfirmProtocol.HUMAN for each in _confirms(place, inputs))


def _has_yes(calls: Calls, flow_id: str) -> Call[bool]:
    """Whether a person said yes in an attempt. Any agent may write a journal; only a person answers an ask."""
    asks = yield from calls.inbox(all_states=True)
    return any(
        ask.kind is Kind.CONFIRM
        and (ask.key or "").startswith(f"{flow_id}:")
        and ask.answer is not None
        and read_reply(ask.answer.values["confirm"][0]) is Meaning.YES
        for ask in asks
    )


def _waiting(calls: Calls, flow_id: str) -> Call[list[Ask]]:
    """Return the open asks of an attempt."""
    inbox = yield from calls.inbox()
    return [ask for ask in inbox if ask.key is not None and ask.key.startswith(f"{flow_id}:")]


def _take_back(calls: Calls, waiting: list[Ask]) -> Call[None]:
    """Take back what the file no longer knows of: nobody would hear the answer."""
    for ask in waiting:
        try:
            yield from calls.withdraw(ask.ask_id, "The plan says that it is not under way any more.")
        except AssentError:
            continue


def _part(text: str) -> str:
    """Return a part of a flow's id: the colons in it are none that part it."""
    return text.replace("%", "%25").replace(":", "%3A")


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
