"""The desk does commands inside a transaction: load, decide, react, put, append.

It knows the machines and the transaction, and nothing of threads, futures, bells or commits.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from assent.engine.ask import AnswerAsk, Command, LapseAsk, OpenAsk, WithdrawAsk, decide, evolve
from assent.engine.notification import AddNotification
from assent.engine.reactions import WithdrawAsksOf, react, react_to_run
from assent.engine.receipt import GrantReceipt
from assent.engine.run import DriverCommand, RunEvent
from assent.engine.run import decide as decide_run
from assent.engine.run import evolve as evolve_run
from assent.engine.stamp import NOBODY, Stamp
from assent.hub.allowance import Allowance
from assent.hub.apply import apply
from assent.hub.command import (
    ClaimAsk,
    ExecuteControl,
    PostMessage,
    ReceiptRequest,
    Request,
    TargetCommand,
    TellOutput,
    Tick,
    TokenCommand,
    Told,
    WorkRequest,
    WriteStep,
)
from assent.hub.ids import is_repeatable
from assent.hub.receipt_desk import ReceiptDesk
from assent.hub.record import FlowStepped, Recorded, encode_event, topic_of, type_of
from assent.hub.tail_desk import tell_output
from assent.hub.target_desk import TargetDesk
from assent.hub.topic_desk import TopicDesk
from assent.hub.work_command import BlockTask, SetPolicy, UpdateTask
from assent.hub.work_desk import WorkDesk
from assent.protocol.approval import action_digest, find_rejection
from assent.protocol.ask import Ask, AskId, Claim, Kind
from assent.protocol.ending import render_instant, render_lateness, render_name
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    FlowDivergedError,
    ForbiddenError,
    NotFoundError,
    RunEndedError,
)
from assent.protocol.json_text import HALF_PAIR
from assent.protocol.notification import Notification
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Prompt
from assent.protocol.run import Run, RunId
from assent.protocol.token import Token
from assent.protocol.topic import CONTROL_TOPIC
from assent.storage.port import Done, Head, Transaction

__all__ = ["CLAIM_SECONDS", "Desk", "Envelope", "SpoiledError", "instant"]

CLAIM_SECONDS = 900
"""After a quarter of an hour a claim no longer speaks for anybody."""

_TOLD_KINDS = frozenset({Kind.OPEN_QUESTION, Kind.APPROVAL})
"""What may stand behind a notification."""
_Stamped = (
    Command
    | TokenCommand
    | ReceiptRequest
    | TargetCommand
    | DriverCommand
    | PostMessage
    | ExecuteControl
    | WorkRequest
)
"""What is done under a stamp."""
_UNMARKED = PostMessage | DriverCommand | UpdateTask | BlockTask | SetPolicy
"""What no row remembers the command of, or only the last one's."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(at: int) -> datetime:
    """Return the moment of the store's clock."""
    return _EPOCH + timedelta(microseconds=at)


def _is_forgotten(request: Request) -> bool:
    """Say whether no row would remember that the request was done. A REQUEST to a run has an id of its own."""
    return isinstance(request, _UNMARKED) and not (
        isinstance(request, PostMessage) and request.topic == CONTROL_TOPIC
    )


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """A request with all that the hub must know of it."""

    command_id: str
    project: str
    principal: Principal
    request: Request
    allowance: Allowance | None = None
    """How much its sender may ask; None is without limit."""


class SpoiledError(Exception):
    """A command failed after it had begun to write: its transaction must not be committed."""


class Desk:
    """One transaction's work; `ended`, `runs` and `has_news` say what to ring for after the commit."""

    def __init__(self, transaction: Transaction, now: int | None, *, is_strict: bool = False) -> None:
        self.transaction = transaction
        self._now = now
        self._moments: dict[str, datetime] = {}
        self._topics = TopicDesk(self, is_strict=is_strict)
        self._work = WorkDesk(self)
        self._receipts = ReceiptDesk(self)
        self._targets = TargetDesk(self)
        self.opened: list[Ask] = []
        self.ended: list[Ask] = []
        self.runs: dict[tuple[str, RunId], Run] = {}
        """The runs that changed, as they are now."""
        self.has_news = False
        self._allowance: Allowance | None = None
        """Of the request that is being done."""

    def gather(self, envelopes: list[Envelope]) -> None:
        """Read what a group of commands will want, one query a project and table."""
        wanted: dict[str, tuple[list[str], list[str]]] = {}
        for envelope in envelopes:
            ids, keys = wanted.setdefault(envelope.project, ([], []))
            request = envelope.request
            if isinstance(request, OpenAsk) and request.key is not None:
                keys.append(request.key)
            elif isinstance(request, Command | ClaimAsk):
                ids.append(request.ask_id)
        for project, (ids, keys) in wanted.items():
            self.transaction.prefetch(project, ids, keys)
            self._head(project)

    def perform(self, envelope: Envelope) -> Told:
        """Do one request; return what it is about, as it is now.

        Raises:
            AssentError: it was refused, and nothing was written for it.
            SpoiledError: it failed half-way.
        """
        head = self._head(envelope.project)
        request, self._allowance = envelope.request, envelope.allowance
        written = head.sequence
        try:
            if isinstance(request, Tick):
                return None
            if isinstance(request, ClaimAsk):
                return self._claim(head, request, envelope.principal)
            if isinstance(request, WriteStep):
                self._write_step(head, request, envelope.principal)
                return None
            stamp = self.stamp(head, envelope.principal, envelope.command_id)
            if isinstance(request, TellOutput):
                return tell_output(self.transaction, head, request, stamp)
            if _is_forgotten(request) and is_repeatable(envelope.command_id):
                return self._once(head, request, stamp)
            return self._do(head, request, stamp)
        except (AssentError, UnicodeEncodeError) as error:
            # An argument that is not UTF-8 comes as halves of pairs, which neither log nor rows can hold.
            refusal = error if isinstance(error, AssentError) else BadRequestError(f"A text {HALF_PAIR}.")
            if head.sequence != written:
                raise SpoiledError from refusal
            raise refusal from None

    def _do(self, head: Head, request: _Stamped, stamp: Stamp) -> Told:
        if isinstance(request, PostMessage):
            return self._topics.post(head, request, stamp)
        if isinstance(request, ExecuteControl):
            return self._topics.find(head, request.request_id)
        if isinstance(request, WorkRequest):
            return self._work.perform(head, request, stamp)
        if isinstance(request, TokenCommand):
            token: Token = apply(self, head, replace(request, stamp=stamp))
            return token
        if isinstance(request, ReceiptRequest):
            return self._receipts.perform(head, request, stamp)
        if isinstance(request, TargetCommand):
            return self._targets.perform(head, replace(request, stamp=stamp))
        if isinstance(request, DriverCommand):
            return self._drive(head, replace(request, stamp=stamp))
        return self.command(head, replace(request, stamp=stamp))

    def _once(self, head: Head, request: _Stamped, stamp: Stamp) -> Told:
        """Do what no row remembers, and remember it; where it was done before, tell of what came of it, as it is now."""
        digest = sha256(msgspec.json.encode(request)).digest()
        known = self.transaction.done_command(head, stamp.command_id)
        if known is None:
            before = head.sequence
            told = self._do(head, request, stamp)
            self.transaction.put_done_command(head, stamp.command_id, Done(digest, before + 1))
            return told
        if known.digest != digest:
            raise CommandReusedError
        if isinstance(request, PostMessage):
            return self._topics.find_posted(head, request, known.sequence)
        if isinstance(request, DriverCommand):
            return self.transaction.run(head.project, request.run_id)
        if isinstance(request, SetPolicy):
            return self.transaction.policy(head)
        assert isinstance(request, UpdateTask | BlockTask)  # noqa: S101 - the rest of _UNMARKED
        return self.transaction.task(head.project, request.task_id)

    def _head(self, project: str) -> Head:
        head = self.transaction.head(project, self._now)
        if project not in self._moments:
            # What is due is applied before any command can decide on it.
            self._moments[project] = instant(head.at)
            try:
                self._catch_up(head)
            except AssentError as error:
                raise SpoiledError from error  # half of it may be written, and must not go with anybody's command
        return head

    def _catch_up(self, head: Head) -> None:
        for ask in self.transaction.due(head):
            self.command(head, LapseAsk(ask.ask_id, self.stamp(head, NOBODY)))
        # So are the controls that an earlier transaction accepted, whoever sent them: their ACK is committed.
        for control in self.transaction.open_controls(head):
            self._topics.advance(head, control)

    def stamp(self, head: Head, by: Principal, command_id: str = "") -> Stamp:
        """Return who acts, at this transaction's moment."""
        return Stamp(self._moments[head.project], by, command_id)

    def record(self, head: Head, event: Recorded, subject: str) -> int:
        """Append one event to the log; return its number."""
        self.transaction.append(head, type_of(event), subject, encode_event(event), topic_of(event))
        self.has_news = True
        return head.sequence

    def happen(self, head: Head, run: Run | None, events: tuple[RunEvent, ...]) -> Run | None:
        """Let this happen to a run, with what follows from it; return the run."""
        for event in events:
            run = evolve_run(run, event, project=head.project, sequence=head.sequence + 1)
            self.record(head, event, run.run_id)
            self.transaction.put_run(head, run)
            self.runs[head.project, run.run_id] = run
            for reaction in react_to_run(event):
                self._withdraw_asks(head, reaction)
        return run

    def _drive(self, head: Head, command: DriverCommand) -> Run | None:
        run = self.transaction.run(head.project, command.run_id)
        return self.happen(head, run, decide_run(run, command))

    def _withdraw_asks(self, head: Head, reaction: WithdrawAsksOf) -> None:
        stamp = self.stamp(head, NOBODY)
        for ask in self.transaction.open_asks_of(head, reaction.run_id):
            self.command(head, WithdrawAsk(ask.ask_id, reaction.reason, stamp))

    def command(self, head: Head, command: Command) -> Ask:
        """Let a command happen to its ask, with all that follows from it."""
        ask = self._load(head.project, command)
        if isinstance(command, AnswerAsk) and ask is not None:
            command = replace(command, accepted=self._accepted(head, ask.kind))
        if isinstance(command, OpenAsk) and (ask is None or command.is_replacing):
            rejected = self.rejection(head, command.kind, command.prompt)
            command = command if rejected is None else replace(command, rejected=rejected)
        events = decide(ask, command)
        if events and isinstance(command, OpenAsk):
            self._check_opening(head, command)
        for event in events:
            known = ask if ask is not None and ask.ask_id == event.ask_id else None
            ask = evolve(known, event, project=head.project, sequence=head.sequence + 1)
            self.record(head, event, ask.ask_id)
            self.transaction.put(head, ask)
            if not ask.is_open:
                self.ended.append(ask)
                if ask.kind in _TOLD_KINDS:
                    self._work.follow(head, ask, command.stamp)
            elif known is None:
                self.opened.append(ask)
            for reaction in react(event, ask):
                stamped = replace(reaction, stamp=command.stamp)
                if isinstance(stamped, DriverCommand):
                    self._drive(head, stamped)
                elif isinstance(stamped, GrantReceipt):
                    apply(self, head, stamped)
                else:
                    self.command(head, stamped)
        if ask is None:
            raise NotFoundError(f"There is no ask {command.ask_id} here.")
        is_replayed = isinstance(command, OpenAsk) and ask.ask_id != command.ask_id
        return replace(ask, replayed=True) if is_replayed else ask

    def _check_opening(self, head: Head, command: OpenAsk) -> None:
        """Refuse an ask that would be new. A replay has no events, and is told what it was told."""
        if command.run_id is not None:
            self.check_run(head, RunId(command.run_id))
        if self._allowance is not None:
            asker = str(command.stamp.by)
            self._allowance.check(lambda: self.transaction.count_open_of(head, asker))

    def rejection(self, head: Head, kind: Kind, prompt: Prompt) -> Ask | None:
        """Return a person's no to the same action that still holds, whoever in the project asked them."""
        action = action_digest(kind, prompt)
        if action is None:
            return None
        return find_rejection(self.transaction.decided(head, action), self._moments[head.project])

    def _accepted(self, head: Head, kind: Kind) -> tuple[Assurance, ...] | None:
        """Return the assurances that suffice for this kind of ask here; None for the default."""
        policy = self.transaction.policy(head)
        return None if policy is None else policy.assurances.get(kind)

    def notify(self, head: Head, command: AddNotification) -> Notification:
        """Add a notification, or find the one that says the same."""
        return self._work.add(head, command)

    def check_run(self, head: Head, run_id: RunId) -> None:
        """Refuse an ask of a run that has ended: nobody would hear the answer.

        Raises:
            RunEndedError: it has.
        """
        run = self.transaction.run(head.project, run_id)
        if run is not None and not run.is_active:
            raise RunEndedError(
                f"The run {run_id} has ended ({run.reason or run.status}); nothing was asked."
            )

    def _load(self, project: str, command: Command) -> Ask | None:
        if isinstance(command, OpenAsk) and command.key is not None:
            return self.transaction.ask_by_key(project, command.key)
        return self.transaction.ask(project, command.ask_id)

    def _must_find(self, project: str, ask_id: AskId) -> Ask:
        ask = self.transaction.ask(project, ask_id)
        if ask is None:
            raise NotFoundError(f"There is no ask {ask_id} here.")
        return ask

    def _claim(self, head: Head, request: ClaimAsk, principal: Principal) -> Ask:
        ask = self._must_find(head.project, request.ask_id)
        if not ask.is_open:
            raise ConflictError(render_lateness(ask), ask=ask)
        now = self._moments[head.project]
        held = ask.claim
        if (
            held is not None
            and held.by != str(principal)
            # One from a clock that was ahead would else speak for as long as it was ahead.
            and abs(now - held.at) < timedelta(seconds=CLAIM_SECONDS)
        ):
            who = render_name(held.by)
            raise ConflictError(f"{who} claimed it at {render_instant(held.at)}.", ask=ask)
        claim = Claim(str(principal), now)
        self.transaction.claim(ask, claim)
        return replace(ask, claim=claim)

    def _write_step(self, head: Head, request: WriteStep, principal: Principal) -> None:
        step = replace(request.step, by=str(principal))
        near = self.transaction.steps(head.project, step.flow_id, max(0, step.step - 1))
        known = next((entry for entry in near if entry.step == step.step), None)
        is_agent = request.is_own and principal.role is Role.AGENT
        if is_agent and any(entry.by not in ("", step.by) for entry in near):
            # Whoever resumes the flow does what its journal says: another agent's word must not be in it.
            raise ForbiddenError(f"{near[0].by} began {step.flow_id}, and drives it.")
        if known == step:
            return
        if known is not None:
            fits = (known.state, step.state) == ("intended", "done") and known.digest == step.digest
        else:
            fits = step.step == 0 or (len(near) == 1 and near[0].state == "done")
        if not fits:
            raise FlowDivergedError(
                f"Step {step.step} does not fit into the journal of {step.flow_id}: another driver wrote there."
            )
        self.record(head, FlowStepped(step), step.flow_id)
        self.transaction.put_step(head, step)
