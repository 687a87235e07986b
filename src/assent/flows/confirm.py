"""Confirms: work waits before or after a phase or task until somebody says go on, and the plan's file says where it stands.

Rule 1: the status is written before anybody is asked, and again when they answered (C29-C31). Each time the file is read
        anew and only that value changes; where somebody else wrote in between, it is read again. The file follows what
        people said and never leads: a status that somebody else wrote there settles nothing.
Rule 2: the confirms of a moment run in the order of the file, each with its own status (C-X12). Passed are those that the
        caller found settled in the store, and no others. What cannot run is refused before anything is written, and one
        that is gone from the file when its answer comes is missing.
Rule 3: a reviewer never stands for a person. One that says nothing readable blocks, and a person is asked (C45).
Rule 4: a no, a stop and a wish for changes all leave BLOCKED; what follows is for whoever asked (C-X1, C-X2).
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from assent.flows.document import Document, read_document, write_document
from assent.flows.kind import FlowKind
from assent.flows.step import Effect, Ended, Failed, Flow, ask, do, say
from assent.protocol.ask import Kind, State
from assent.protocol.canonical import convert
from assent.protocol.confirm import (
    DROP,
    Meaning,
    check_summary,
    confirm_prompt,
    read_reply,
    render_ai_message,
)
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
    name_confirms,
    name_halves,
    parse_plan,
    splice_status,
)
from assent.protocol.report import Report, render_report

__all__ = [
    "CONFIRM",
    "ConfirmInputs",
    "How",
    "RunReviewer",
    "Verdict",
    "confirm",
    "name_half",
    "render_claim",
    "render_missing",
]

_TRIES = 10
"""How often a status is written anew when somebody else writes the same file at the same time."""
_MAX_REASON = 1_000
_ENDED = frozenset({Status.DONE, Status.CANCELLED})


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
    settled: tuple[str, ...] = ()
    """What the store holds a yes or the wish to drop for, as `name_half` spells it: the file cannot tell."""


class How(StrEnum):
    """How it came out."""

    CONFIRMED = "confirmed"
    DROPPED = "dropped"
    """A person does not want to be asked here any more."""
    NOTHING = "nothing to confirm"
    """The plan has no confirm at that place."""
    CHANGES = "changes"
    DECLINED = "declined"
    STOPPED = "stopped"
    BLOCKED = "blocked"
    """A reviewer found blocking issues."""
    MISSING = "missing"
    """A confirm that was in the plan is gone from it."""
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
    summary: str = ""
    """What was confirmed, in the words that the person or the reviewer was given."""
    ask_id: str = ""
    """Where a reviewer blocks: the ask that waits for a person's direction."""
    name: str = ""
    """Of the confirm that stopped it, as `name_confirms` has it."""
    passed: dict[str, str] = {}
    """The names of the confirms that let go on, each with the name of the ask that says so; none for a clean report."""


class _Stop(Exception):  # noqa: N818 - never leaves this file
    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict


def name_half(moment: Moment, name: str) -> str:
    """Return what a confirm of an owner goes by among those of both moments."""
    return f"{moment}:{name}"


def render_claim(owner: Owner, each: Confirm, settled: Collection[str]) -> str:
    """Return what to say of a file that has a confirm as DONE or CANCELLED where nobody confirmed or dropped it.

    It is empty where the file claims nothing: of a `both`, too, that tells of its other half.
    """
    halves = (name_half(moment, name) for moment, name in name_halves(owner, each).items())
    if each.status not in _ENDED or any(half in settled for half in halves):
        return ""
    did = "confirmed" if each.status == Status.DONE else "dropped"
    return f"The file says {each.status}, and nobody {did} it."


def render_missing(owner: str, moment: Moment, name: str) -> str:
    """Return what is wrong where a confirm is gone."""
    _, _, who = name.partition(".")
    by = "a person" if who == "human" else f"the reviewer {quote(who.removeprefix('ai.'))}"
    return (
        f"The confirm {moment} {quote(owner)} by {by} is missing: it was in the plan and is gone. "
        f'Put it back; a person can drop it then, with "{DROP}".'
    )


def confirm(inputs: ConfirmInputs) -> Flow[Verdict]:
    """Run the confirms of one owner and moment; say whether to go on."""
    talk = _Talk(inputs)
    try:
        verdict = yield from talk.run()
    except _Stop as stop:
        verdict = stop.verdict
    return replace(verdict, passed=talk.passed)


class _Talk:
    def __init__(self, inputs: ConfirmInputs) -> None:
        self._inputs = inputs
        self._document = Document(b"", None)
        self._plan: Plan
        self._owner: Owner
        self._reports: list[Report] = []
        self._by = ""
        self._confirmed = 0
        self.passed: dict[str, str] = {}
        self._asked: dict[str, int] = {}

    def run(self) -> Flow[Verdict]:
        yield from self._read()
        if not self._here():
            return Verdict(How.NOTHING)
        while (due := self._next()) is not None:
            yield from self._confirm(*due)
        how = How.CONFIRMED if self._confirmed or not self.passed else How.DROPPED
        return Verdict(
            how,
            report=_risks(self._reports),
            by=self._by,
            confirmed=self._confirmed,
            summary=self._inputs.summary if self._confirmed else "",
        )

    def _here(self) -> dict[str, Confirm]:
        """Return the confirms of the moment as the file has them; refuse what cannot run."""
        for each in self._owner.confirms:
            if each.when not in WHENS or each.is_of(self._inputs.moment):
                self._check(each)
        return name_confirms(self._owner, self._inputs.moment)

    def _next(self) -> tuple[str, Confirm] | None:
        for name, each in self._here().items():
            if name not in self.passed and not self._is_settled(self._inputs.moment, name):
                return name, each
        return None

    def _is_settled(self, moment: Moment, name: str) -> bool:
        return name_half(moment, name) in self._inputs.settled

    def _check(self, each: Confirm) -> None:
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

    def _confirm(self, name: str, each: Confirm) -> Flow[None]:
        claim = self._claim(each)
        yield from self._set(name, Status.IN_PROGRESS)
        if each.protocol == ConfirmProtocol.HUMAN:
            yield from self._human(name, claim)
        else:
            yield from self._review(name, each.ai_agent)

    def _claim(self, each: Confirm) -> str:
        """Return what is to be said of a file that claims what nobody did."""
        return render_claim(self._owner, each, self._inputs.settled)

    def _human(self, name: str, body: str = "", *, can_rerun: bool = False) -> Flow[Meaning]:
        """Ask a person; return if it goes on, or if they want the reviewer again."""
        prompt = confirm_prompt(self._owner, self._inputs.moment, self._inputs.summary, body)
        number = self._asked[name] = self._asked.get(name, 0) + 1
        called = name if number == 1 else f"{name}+{number}"
        came = yield from ask(prompt, Kind.CONFIRM, name=called)
        if isinstance(came, Ended):
            yield from self._set(name, Status.BLOCKED)
            how = How.DECLINED if came.state is State.DECLINED else How.ENDED
            raise _Stop(Verdict(how, came.reason, by=came.by, state=came.state, name=name))
        text = came.values["confirm"][0]
        meaning = read_reply(text, can_rerun=can_rerun)
        match meaning:
            case Meaning.YES:
                yield from self._pass(name, came.by, called)
            case Meaning.DROP:
                yield from self._set(name, Status.CANCELLED)
                self.passed[name] = called
                self._by = came.by
            case Meaning.RERUN:
                yield from self._set(name, Status.IN_PROGRESS)
            case Meaning.NO | Meaning.STOP | Meaning.CHANGES:
                yield from self._set(name, Status.BLOCKED)
                said = text if meaning is Meaning.CHANGES else ""
                raise _Stop(Verdict(_HELD[meaning], said, by=came.by, name=name))
        return meaning

    def _review(self, name: str, agent: str) -> Flow[None]:
        report = yield from self._report(agent)
        while isinstance(report, str):
            yield from self._set(name, Status.BLOCKED)
            body = (
                f"The reviewer {agent} gave no report that can be read: {quote(report, _MAX_REASON)}\n"
                "Y goes on without it, N holds, rerun runs it again."
            )
            if (yield from self._human(name, body, can_rerun=True)) is not Meaning.RERUN:
                return
            report = yield from self._report(agent)
        yield from say(render_ai_message(self._owner, self._inputs.moment, agent, report))
        if report.blocking:
            yield from self._set(name, Status.BLOCKED)
            raise _Stop(Verdict(How.BLOCKED, render_report(report), report, f"agent:{agent}", name=name))
        yield from self._pass(name, f"agent:{agent}")
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

    def _pass(self, name: str, by: str, called: str = "") -> Flow[None]:
        yield from self._set(name, Status.DONE)
        self.passed[name] = called
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

    def _set(self, name: str, status: Status) -> Flow[None]:
        for _ in range(_TRIES):
            yield from self._read()
            here = name_confirms(self._owner, self._inputs.moment).get(name)
            if here is None:
                raise _Stop(_missing(self._inputs, name))
            if here.status == status:
                return
            content = self._splice(here, status)
            done = yield from write_document(self._inputs.plan, self._document, content)
            if not isinstance(done, Failed):
                return
            if done.code != WorldChangedError.code:
                raise _fail(done.message)
        raise _fail(f"Somebody writes {self._inputs.plan} all the time, so the status could not be set.")

    def _splice(self, here: Confirm, status: Status) -> bytes:
        try:
            return splice_status(self._document.content, self._plan, here.element, status)
        except AssentError as error:
            raise _fail(error.message) from None


def _missing(inputs: ConfirmInputs, name: str) -> Verdict:
    return Verdict(How.MISSING, render_missing(inputs.owner, inputs.moment, name), name=name)


def _risks(reports: list[Report]) -> Report | None:
    """Return the reports of all reviewers that had something to note as one."""
    if not reports:
        return None
    issues = tuple(issue for report in reports for issue in report.non_blocking)
    return Report((), issues, "\n".join(report.summary for report in reports))


def _fail(sentence: str) -> _Stop:
    return _Stop(Verdict(How.FAILED, sentence))


CONFIRM = FlowKind("confirm", 2, confirm, ConfirmInputs, Verdict)
