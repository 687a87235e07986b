"""What the store holds about the confirms of a plan: what was said to each, and which there have been.

Rule 1: only an ask that a person answered is a person's word. It is found by its key, and counts only if it asked for this
        confirm: any agent may open an ask under any key, and write a journal.
Rule 2: of several attempts the last one that asked counts. A yes to an earlier one was followed by something else.
Rule 3: a reviewer's clean report stands in the journal of whoever ran it. Over a server, another agent's is not believed.
Rule 4: the file follows the record and never leads. What a person answered while nobody waited is written by the next
        command that looks at the plan in its working copy; the process that takes an answer never writes there.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import NamedTuple

from assent.client.calls import Calls
from assent.client.door import Call, until
from assent.client.journal import Opened, Settled, decode_entry, end_of, make_step, read_back
from assent.client.place import DocumentPlace
from assent.effects.document import DocumentWriter, read_document_in
from assent.effects.performer import intend, settle
from assent.effects.place import Place
from assent.flows.confirm import CONFIRM, ConfirmInputs, How, Verdict
from assent.flows.document import WriteDocument
from assent.flows.step import Done, Failed
from assent.hub.record import Step
from assent.protocol.ask import Ask, Kind
from assent.protocol.canonical import convert, digest
from assent.protocol.confirm import Meaning, is_confirm_of, is_direction, read_reply, read_summary
from assent.protocol.error import (
    BadRequestError,
    EffectError,
    FlowDivergedError,
    NotFoundError,
    WorldChangedError,
)
from assent.protocol.plan import (
    MAX_PLAN_BYTES,
    Confirm,
    ConfirmProtocol,
    Moment,
    Owner,
    Plan,
    Status,
    name_confirms,
    name_halves,
    parse_plan,
    splice_status,
)
from assent.protocol.principal import Role

__all__ = [
    "PASSED",
    "Attempt",
    "Half",
    "History",
    "Said",
    "find_ask",
    "note_seen",
    "read_plan_of",
    "sync",
    "write_statuses",
]

_TRIES = 10
_MAX_PART = 200
PASSED = frozenset({Status.DONE, Status.CANCELLED})
_HELD = frozenset({Status.IN_PROGRESS, Status.BLOCKED})
"""What the file says while somebody is asked: BLOCKED where a reviewer failed and a person decides (C45)."""


class Half(NamedTuple):
    """One confirm at one moment, as it is known again in every version of the plan."""

    owner: str
    moment: str
    name: str
    """As `name_confirms` has it."""


class Attempt(NamedTuple):
    """One try to have the confirms of an owner and moment settled."""

    flow_id: str
    summary: str
    verdict: Verdict | None
    """None: it has not come to its end."""
    is_believed: bool
    """No other agent wrote its end."""


class Said(NamedTuple):
    """What was said to a confirm last."""

    attempt: Attempt
    meaning: Meaning | None
    """None: nothing yet, or nothing by which it goes on."""
    summary: str = ""
    by: str = ""
    at: datetime | None = None
    """When a person answered."""
    number: int = 0
    """How many attempts there were up to this one."""


class History:
    """The attempts at the confirms of one owner, at both moments."""

    def __init__(self, calls: Calls, place: DocumentPlace, owner: str) -> None:
        self._calls, self._place, self._owner = calls, place, owner
        self._attempts: dict[Moment, list[Attempt]] = {}

    def flow_id(self, moment: Moment, number: int) -> str:
        """Return what an attempt goes by."""
        return f"confirm:{_part(self._place.name)}:{_part(self._owner)}:{moment}:{number}"

    def attempts(self, moment: Moment) -> Call[list[Attempt]]:
        """Return all attempts at a moment, the first one first."""
        if moment not in self._attempts:
            who = yield from until(self._calls.door.who())
            found: list[Attempt] = []
            for number in count(1):
                flow_id = self.flow_id(moment, number)
                steps = yield from self._calls.steps(flow_id)
                if not steps:
                    break
                found.append(_attempt(flow_id, steps, None if who is None else str(who)))
            self._attempts[moment] = found
        return self._attempts[moment]

    def said(self, moment: Moment, name: str) -> Call[Said | None]:
        """Return what was said last to a confirm; None if nobody was asked yet."""
        attempts = yield from self.attempts(moment)
        for number in range(len(attempts), 0, -1):
            said = yield from self._said_in(attempts[number - 1], moment, name)
            if said is not None:
                return said._replace(number=number)
        return None

    def _said_in(self, attempt: Attempt, moment: Moment, name: str) -> Call[Said | None]:
        if not _is_of_reviewer(name):
            return (yield from self._word(attempt, moment, name))
        verdict = attempt.verdict
        if verdict is None:
            return Said(attempt, None)
        called = verdict.passed.get(name)
        if called is None:
            return (yield from self._blocked(attempt, name)) if verdict.name == name else None
        if called:
            return (yield from self._word(attempt, moment, called))
        if not attempt.is_believed:
            return None
        return Said(attempt, Meaning.YES, attempt.summary, f"{Role.AGENT}:{name.split('.', 2)[2]}")

    def _blocked(self, attempt: Attempt, name: str) -> Call[Said]:
        """Return what a person said to blocking issues, where that lets the work go on."""
        for number in count(1):
            ask = yield from find_ask(self._calls, f"{attempt.flow_id}:{name}?{number}")
            if ask is None or not is_direction(ask.prompt) or ask.kind is not Kind.CONFIRM:
                break
            answer = ask.answer
            if answer is not None and read_reply(answer.values["confirm"][0]) is Meaning.DROP:
                return Said(attempt, Meaning.DROP, by=answer.by, at=answer.at)
        return Said(attempt, None)

    def _word(self, attempt: Attempt, moment: Moment, called: str) -> Call[Said | None]:
        """Return what a person answered in an attempt."""
        ask = yield from find_ask(self._calls, f"{attempt.flow_id}:{called}")
        if ask is None or ask.kind is not Kind.CONFIRM or not is_confirm_of(ask.prompt, self._owner, moment):
            return None
        answer = ask.answer
        if answer is None or answer.by.startswith(f"{Role.AGENT}:"):
            return Said(attempt, None)
        meaning = read_reply(answer.values["confirm"][0])
        passes = meaning if meaning in (Meaning.YES, Meaning.DROP) else None
        return Said(attempt, passes, read_summary(ask.prompt, moment), answer.by, answer.at)

    def settled(self, owner: Owner, moment: Moment, flow_id: str = "") -> Call[dict[str, Said]]:
        """Return the confirms of a moment that are settled, by name.

        A drop is for good, and for both halves. A yes holds until somebody opens the file's status again; the after half's
        does not outlive a later yes to the before half (C-X4). In the attempt `flow_id` it holds whatever the file says.
        """
        found: dict[str, Said] = {}
        for name, each in name_confirms(owner, moment).items():
            halves = name_halves(owner, each)
            said: dict[Moment, Said | None] = {}
            for half, called in halves.items():
                said[half] = yield from self.said(half, called)
            dropped = next((word for word in said.values() if word and word.meaning is Meaning.DROP), None)
            here, before = said[moment], said.get(Moment.BEFORE)
            if dropped is not None:
                found[name] = dropped
            elif here is not None and here.meaning is Meaning.YES:
                is_here = each.status in PASSED or here.attempt.flow_id == flow_id
                is_old = moment is Moment.AFTER and before is not None and _is_before(here, before)
                if is_here and not is_old:
                    found[name] = here
        return found

    def asks(self, attempt: Attempt, name: str) -> Call[list[Ask]]:
        """Return what was asked for a confirm in an attempt, the first one first."""
        found: list[Ask] = []
        for number in count(1):
            ask = yield from find_ask(
                self._calls, f"{attempt.flow_id}:{name}" + (f"+{number}" if number > 1 else "")
            )
            if ask is None:
                return found
            found.append(ask)
        raise AssertionError


def find_ask(calls: Calls, key: str) -> Call[Ask | None]:
    """Return the ask that holds a key."""
    return next(iter((yield from until(calls.door.asks_by_key(calls.project, [key])))), None)


def _attempt(flow_id: str, steps: list[Step], who: str | None) -> Attempt:
    opened = decode_entry(steps[0], Opened)
    if (opened.kind, opened.version) != (CONFIRM.name, CONFIRM.version):
        return Attempt(flow_id, "", Verdict(How.FAILED), is_believed=False)  # it cannot be gone on with
    summary = read_back(opened.inputs, ConfirmInputs, flow_id).summary
    end, by = end_of(steps), steps[-1].by
    verdict = None if end is None else read_back(end.value, Verdict, flow_id)
    is_believed = who is None or by in ("", who) or not by.startswith(f"{Role.AGENT}:")
    return Attempt(flow_id, summary, verdict, is_believed)


def _is_of_reviewer(name: str) -> bool:
    return name.partition(".")[2].startswith("ai.")


def _is_before(said: Said, other: Said) -> bool:
    """Whether something was said in an earlier round than the yes to the other half."""
    if other.meaning is not Meaning.YES:
        return False
    if said.at is None or other.at is None:
        return said.number < other.number
    return said.at < other.at


# Which confirms there have been


def note_seen(calls: Calls, place: DocumentPlace, plan: Plan) -> Call[set[Half]]:
    """Remember the confirms that a plan has; return all that it ever had here."""
    flow_id = f"confirms:{_part(place.name)}"
    here = {
        Half(owner.owner_id, moment.value, name)
        for owner in plan.owners
        for moment in Moment
        for name in name_confirms(owner, moment)
    }
    for _ in range(_TRIES):
        steps = yield from calls.steps(flow_id)
        seen = {half for step in steps for half in _read_seen(step)}
        new = here - seen
        if not new:
            return seen
        entry = Settled(Done([list(half) for half in sorted(new)]))
        try:
            yield from calls.write_step(make_step(flow_id, len(steps), entry))
        except FlowDivergedError:
            continue  # somebody else wrote at the same time
        return seen | here
    raise BadRequestError(f"Too many look at {place.path} at the same time; ask again.")


def _read_seen(step: Step) -> list[Half]:
    result = decode_entry(step, Settled).result
    return convert(result.result, list[Half]) if isinstance(result, Done) else []


# The file


def read_plan_of(place: DocumentPlace) -> Plan:
    """Return the plan as the file has it now.

    Raises:
        NotFoundError: it cannot be read any more.
        BadRequestError: it is not well-formed.
    """
    try:
        with (place.root / place.path).open("rb") as file:
            return parse_plan(file.read(MAX_PLAN_BYTES + 1))
    except OSError as error:
        raise NotFoundError(f"{place.path} cannot be read any more: {error.strerror}.") from None


def write_statuses(place: DocumentPlace, statuses: Mapping[Half, Status]) -> None:
    """Have the file say what became of these confirms; each other byte stays, and what is gone is left out.

    Raises:
        EffectError: it cannot be written.
    """
    folder = Place(place.root)
    writer = DocumentWriter(folder)
    for _ in range(_TRIES):
        document = read_document_in(folder, place.path)
        content = document.content
        for half, status in statuses.items():
            content = _splice(content, half, status)
        if content == document.content:
            return
        planned = intend(writer, WriteDocument(place.path, document.digest, content))
        came = planned if isinstance(planned, Failed) else settle(writer, planned)
        if not isinstance(came, Failed):
            return
        if came.code != WorldChangedError.code:
            raise EffectError(came.message)
    raise EffectError(f"Somebody writes {place.path} all the time, so the status could not be set.")


def _splice(content: bytes, half: Half, status: Status) -> bytes:
    plan = parse_plan(content)
    try:
        here = name_confirms(plan.owner(half.owner), Moment(half.moment)).get(half.name)
    except NotFoundError:
        return content
    if here is None or here.status == status:
        return content
    return splice_status(content, plan, here.element, status)


def sync(
    calls: Calls, place: DocumentPlace, plan: Plan, but: tuple[str, Moment] | None = None
) -> Call[dict[Half, Status]]:
    """Write into the file what people answered while no command waited; return what was written.

    The confirms of the owner and moment `but` are left: whoever asks for them writes them.
    """
    found: dict[Half, Status] = {}
    for owner in plan.owners:
        if not any(each.status in _HELD for each in owner.confirms):
            continue
        history = History(calls, place, owner.owner_id)
        for moment in Moment:
            if (owner.owner_id, moment) == but:
                continue
            for name, each in name_confirms(owner, moment).items():
                status = yield from _answered(history, moment, name, each)
                if status is not None and status != each.status:
                    found[Half(owner.owner_id, moment, name)] = status
    if found:
        write_statuses(place, found)
    return found


def _answered(history: History, moment: Moment, name: str, each: Confirm) -> Call[Status | None]:
    """Return what a confirm's status should be by an answer that nobody has heard yet."""
    attempts = yield from history.attempts(moment)
    if each.status not in _HELD or not attempts or attempts[-1].verdict is not None:
        return None
    asks = yield from history.asks(attempts[-1], name)
    if not asks or asks[-1].is_open or asks[-1].kind is not Kind.CONFIRM:
        return None
    answer = asks[-1].answer
    if answer is None:
        return Status.BLOCKED
    can_rerun = each.protocol == ConfirmProtocol.AI
    return _STATUSES[read_reply(answer.values["confirm"][0], can_rerun=can_rerun)]


_STATUSES: dict[Meaning, Status | None] = {
    Meaning.YES: Status.DONE,
    Meaning.DROP: Status.CANCELLED,
    Meaning.RERUN: None,
    Meaning.NO: Status.BLOCKED,
    Meaning.STOP: Status.BLOCKED,
    Meaning.CHANGES: Status.BLOCKED,
}


def _part(text: str) -> str:
    """Return a part of a flow's id: the colons in it are none that part it, and it leaves room for the others."""
    told = text.replace("%", "%25").replace(":", "%3A")
    return told if len(told) <= _MAX_PART else f"{told[: _MAX_PART // 2]}~{digest(told.encode())[-32:]}"
