"""Confirms: work waits before or after a phase or task until somebody says go on, and the plan's file says where it stands.

Rule 1: the status is written before anybody is asked, and again when they answered (C29-C31). Each time the file is read
        anew and only that value changes; where somebody else wrote in between, it is read again. Where they changed the
        owner's confirms, or the status of the one under way, nothing is written: it is theirs.
Rule 2: the confirms of a moment run in the order of the file, each with its own status (C-X12). DONE and CANCELLED are
        passed, also where they came while an earlier one waited; the after half of `both` is passed only if it was itself
        confirmed (C-X7). What cannot run is refused before anything is written.
Rule 3: a reviewer never stands for a person. One that says nothing readable blocks, and a person is asked (C45).
Rule 4: a no, a stop and a wish for changes all leave BLOCKED; what follows is for whoever asked (C-X1, C-X2).
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath

import msgspec

from assent.flows.document import Document, read_document, write_document
from assent.flows.kind import FlowKind
from assent.flows.step import Effect, Ended, Failed, Flow, ask, do, say
from assent.protocol.ask import Kind, State
from assent.protocol.canonical import convert
from assent.protocol.confirm import Meaning, check_summary, confirm_prompt, read_reply, render_ai_message
from assent.protocol.display import quote
from assent.protocol.error import AssentError, BadRequestError, NotFoundError, WorldChangedError
from assent.protocol.plan import (
    STATUSES,
    WHENS,
    Confirm,
    ConfirmProtocol,
    Moment,
    Owner,
    Plan,
    Status,
    parse_plan,
    splice_status,
)
from assent.protocol.report import Report, render_report

__all__ = ["CONFIRM", "ConfirmInputs", "How", "RunReviewer", "Verdict", "confirm"]

_TRIES = 10
"""How often a status is written anew when somebody else writes the same file at the same time."""
_MAX_REASON = 1_000


class RunReviewer(Effect, frozen=True, tag="run_reviewer"):
    """Have a reviewer look at intent or at completed work; the result is its report (C39)."""

    agent: str
    moment: Moment
    owner_kind: str
    owner_id: str
    owner_name: str
    summary: str
    plan: str
    workspace_dir: str
    track_dir: str


class ConfirmInputs(msgspec.Struct, frozen=True):
    """What is to be confirmed."""

    plan: str
    """The plan's path, relative to the root."""
    owner: str
    """The id of a phase or task."""
    moment: Moment
    summary: str
    workspace_dir: str = ""
    track_dir: str = ""
    is_after_confirmed: bool = False
    """The after half was confirmed before: the file alone cannot tell (C-X7)."""


class How(StrEnum):
    """How it came out."""

    CONFIRMED = "confirmed"
    CHANGES = "changes"
    DECLINED = "declined"
    STOPPED = "stopped"
    BLOCKED = "blocked"
    """A reviewer found blocking issues."""
    ENDED = "ended"
    """The ask ended without an answer."""
    FAILED = "failed"
    """The plan could not be read or written."""


_HELD = {Meaning.NO: How.DECLINED, Meaning.STOP: How.STOPPED, Meaning.CHANGES: How.CHANGES}


class Verdict(msgspec.Struct, frozen=True):
    """What came of the confirms of one moment."""

    how: How
    text: str = ""
    """The changes that were asked for, the reason of a no, or what went wrong."""
    report: Report | None = None
    """What a reviewer found: the blocking issues that stopped it, or the risks to note where it went on."""
    by: str = ""
    """Who decided last."""
    confirmed: int = 0
    """How many confirms said go on now."""
    state: State | None = None
    """Where an ask ended without an answer: how."""


class _Stop(Exception):  # noqa: N818 - never leaves this file
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict


def confirm(inputs: ConfirmInputs) -> Flow[Verdict]:
    """Run the confirms of one owner and moment; say whether to go on."""
    talk = _Talk(inputs)
    try:
        return (yield from talk.run())
    except _Stop as stop:
        return stop.verdict


class _Talk:
    def __init__(self, inputs: ConfirmInputs) -> None:
        self._inputs = inputs
        self._document = Document(b"", None)
        self._plan: Plan
        self._owner: Owner
        self._shape: list[tuple[str, str, str]]
        self._status = ""
        """Of the confirm under way: what it was found with, then what was written last."""
        self._reports: list[Report] = []
        self._by = ""
        self._confirmed = 0

    def run(self) -> Flow[Verdict]:
        yield from self._read()
        self._shape = _shape(self._owner)
        for each in self._owner.confirms:
            self._check(each)
        for number in range(len(self._shape)):
            each = self._owner.confirms[number]
            self._check(each)
            if self._is_due(each):
                yield from self._confirm(number, each)
        return Verdict(How.CONFIRMED, report=_risks(self._reports), by=self._by, confirmed=self._confirmed)

    def _is_due(self, each: Confirm) -> bool:
        inputs = self._inputs
        if not each.is_of(inputs.moment):
            return each.when not in WHENS  # so that it is refused, not passed over
        if each.status == Status.CANCELLED:
            return False
        if each.status == Status.DONE:
            return each.when == "both" and inputs.moment is Moment.AFTER and not inputs.is_after_confirmed
        return True

    def _check(self, each: Confirm) -> None:
        if not self._is_due(each):
            return
        missing = [name for name in ("protocol", "when", "status") if not getattr(each, name)]
        if missing:
            raise _fail(f"Line {each.line}: this confirm has no {missing[0]}.")
        if each.protocol not in list(ConfirmProtocol):
            raise _fail(f'Line {each.line}: there is no protocol "{quote(each.protocol)}".')
        if each.when not in WHENS or each.status not in STATUSES:
            raise _fail(f"Line {each.line}: this confirm's when or status is none that there is.")
        if each.protocol == ConfirmProtocol.AI:
            self._check_review(each)
        try:
            check_summary(self._inputs.summary)
        except BadRequestError as error:
            raise _fail(error.message) from None

    def _check_review(self, each: Confirm) -> None:
        if not each.ai_agent:
            raise _fail(f"Line {each.line}: this confirm names no ai-agent.")
        for name in ("workspace_dir", "track_dir"):
            path = getattr(self._inputs, name)
            if not PurePosixPath(path).is_absolute():  # C-X13: the caller's mistake, not the reviewer's
                raise _fail(f'{name} is an absolute path, not "{quote(path)}".')

    def _confirm(self, number: int, each: Confirm) -> Flow[None]:
        self._status = each.status
        yield from self._set(number, Status.IN_PROGRESS)
        if each.protocol == ConfirmProtocol.HUMAN:
            yield from self._human(number)
        else:
            yield from self._review(number, each.ai_agent)

    def _human(self, number: int, body: str = "", *, can_rerun: bool = False) -> Flow[Meaning]:
        """Ask a person; return if it goes on, or if they want the reviewer again."""
        prompt = confirm_prompt(self._owner, self._inputs.moment, self._inputs.summary, body)
        came = yield from ask(prompt, Kind.CONFIRM)
        if isinstance(came, Ended):
            yield from self._set(number, Status.BLOCKED)
            how = How.DECLINED if came.state is State.DECLINED else How.ENDED
            raise _Stop(Verdict(how, came.reason, by=came.by, state=came.state))
        text = came.values["confirm"][0]
        meaning = read_reply(text, can_rerun=can_rerun)
        match meaning:
            case Meaning.YES:
                yield from self._pass(number, came.by)
            case Meaning.DROP:
                yield from self._set(number, Status.CANCELLED)
            case Meaning.RERUN:
                yield from self._set(number, Status.IN_PROGRESS)
            case Meaning.NO | Meaning.STOP | Meaning.CHANGES:
                yield from self._set(number, Status.BLOCKED)
                said = text if meaning is Meaning.CHANGES else ""
                raise _Stop(Verdict(_HELD[meaning], said, by=came.by))
        return meaning

    def _review(self, number: int, agent: str) -> Flow[None]:
        report = yield from self._report(agent)
        while isinstance(report, str):
            yield from self._set(number, Status.BLOCKED)
            body = (
                f"The reviewer {agent} gave no report that can be read: {quote(report, _MAX_REASON)}\n"
                "Y goes on without it, N holds, rerun runs it again."
            )
            if (yield from self._human(number, body, can_rerun=True)) is not Meaning.RERUN:
                return
            report = yield from self._report(agent)
        yield from say(render_ai_message(self._owner, self._inputs.moment, agent, report))
        if report.blocking:
            yield from self._set(number, Status.BLOCKED)
            raise _Stop(Verdict(How.BLOCKED, render_report(report), report, f"agent:{agent}"))
        yield from self._pass(number, f"agent:{agent}")
        if report.non_blocking:
            self._reports.append(report)
            yield from say(f"Risks to note:\n{render_report(report)}")

    def _report(self, agent: str) -> Flow[Report | str]:
        """Return what a reviewer found, or why there is nothing to read (C45, C-X5)."""
        inputs, owner = self._inputs, self._owner
        came = yield from do(
            RunReviewer(
                agent,
                inputs.moment,
                owner.kind,
                owner.owner_id,
                owner.name,
                inputs.summary,
                inputs.plan,
                inputs.workspace_dir,
                inputs.track_dir,
            )
        )
        if isinstance(came, Failed):
            return came.message
        try:
            return convert(came.result, Report)
        except BadRequestError as error:
            return error.message

    def _pass(self, number: int, by: str) -> Flow[None]:
        yield from self._set(number, Status.DONE)
        self._by = by
        self._confirmed += 1

    # The file

    def _read(self) -> Flow[None]:
        found = yield from read_document(self._inputs.plan)
        if isinstance(found, Failed):
            raise _fail(found.message)
        if found.digest is None:
            raise _fail(f"There is no plan {self._inputs.plan}.")
        self._document = found
        try:
            self._plan = parse_plan(found.content)
            self._owner = self._plan.owner(self._inputs.owner)
        except (BadRequestError, NotFoundError) as error:
            raise _fail(error.message) from None

    def _set(self, number: int, status: Status) -> Flow[None]:
        for _ in range(_TRIES):
            yield from self._read()
            if _shape(self._owner) != self._shape:
                raise _fail(f"Somebody changed the confirms of {quote(self._inputs.owner)} in the meantime.")
            here = self._owner.confirms[number]
            if here.status != status:
                if here.status != self._status:
                    raise _fail(f"Line {here.line}: somebody changed this confirm's status in the meantime.")
                content = self._splice(here, status)
                done = yield from write_document(self._inputs.plan, self._document, content)
                if isinstance(done, Failed) and done.code == WorldChangedError.code:
                    continue
                if isinstance(done, Failed):
                    raise _fail(done.message)
            self._status = status
            return
        raise _fail(f"Somebody writes {self._inputs.plan} all the time, so the status could not be set.")

    def _splice(self, here: Confirm, status: Status) -> bytes:
        try:
            return splice_status(self._document.content, self._plan, here.element, status)
        except AssentError as error:
            raise _fail(error.message) from None


def _shape(owner: Owner) -> list[tuple[str, str, str]]:
    """Return what the confirms of an owner are, whatever their status: by this they are known again."""
    return [(each.protocol, each.when, each.ai_agent) for each in owner.confirms]


def _risks(reports: list[Report]) -> Report | None:
    """Return the reports of all reviewers that had something to note as one."""
    if not reports:
        return None
    issues = tuple(issue for report in reports for issue in report.non_blocking)
    return Report((), issues, "\n".join(report.summary for report in reports))


def _fail(sentence: str) -> _Stop:
    return _Stop(Verdict(How.FAILED, sentence))


CONFIRM = FlowKind("confirm", 1, confirm, ConfirmInputs, Verdict)
