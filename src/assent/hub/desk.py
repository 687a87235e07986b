"""The desk does commands inside a transaction: load, decide, react, put, append.

It knows the machines and the transaction, and nothing of threads, futures, bells or commits.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from assent.engine.ask import Command, LapseAsk, OpenAsk, decide, evolve
from assent.engine.reactions import react
from assent.engine.stamp import NOBODY, Stamp
from assent.hub.command import ClaimAsk, Request, Tick, WriteStep
from assent.hub.record import FlowStepped, encode_event, type_of
from assent.protocol.ask import Ask, AskId, Claim
from assent.protocol.ending import render_instant, render_lateness, render_name
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ConflictError,
    FlowDivergedError,
    NotFoundError,
)
from assent.protocol.json_text import HALF_PAIR
from assent.protocol.principal import Principal
from assent.storage.port import Head, Transaction

__all__ = ["CLAIM_SECONDS", "Desk", "Envelope", "SpoiledError", "instant"]

CLAIM_SECONDS = 900
"""After a quarter of an hour a claim no longer speaks for anybody."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(at: int) -> datetime:
    """Return the moment of the store's clock."""
    return _EPOCH + timedelta(microseconds=at)


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """A request with all that the hub must know of it."""

    command_id: str
    project: str
    principal: Principal
    request: Request


class SpoiledError(Exception):
    """A command failed after it had begun to write: its transaction must not be committed."""


class Desk:
    """One transaction's work; `ended` and `has_news` say what to ring for after the commit."""

    def __init__(self, transaction: Transaction, now: int) -> None:
        self._transaction = transaction
        self._now = now
        self._moments: dict[str, datetime] = {}
        self.ended: list[Ask] = []
        self.has_news = False

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
            self._head(project)
            self._transaction.prefetch(project, ids, keys)

    def perform(self, envelope: Envelope) -> Ask | None:
        """Do one request; return the ask it is about, as it is now.

        Raises:
            AssentError: it was refused, and nothing was written for it.
            SpoiledError: it failed half-way.
        """
        head = self._head(envelope.project)
        request = envelope.request
        written = head.sequence
        try:
            if isinstance(request, Tick):
                return None
            if isinstance(request, ClaimAsk):
                return self._claim(head, request, envelope.principal)
            if isinstance(request, WriteStep):
                self._write_step(head, request)
                return None
            stamp = Stamp(self._moments[head.project], envelope.principal, envelope.command_id)
            return self._command(head, replace(request, stamp=stamp))
        except (AssentError, UnicodeEncodeError) as error:
            # An argument that is not UTF-8 comes as halves of pairs, which neither log nor rows can hold.
            refusal = error if isinstance(error, AssentError) else BadRequestError(f"A text {HALF_PAIR}.")
            if head.sequence != written:
                raise SpoiledError from refusal
            raise refusal from None

    def _head(self, project: str) -> Head:
        head = self._transaction.head(project, self._now)
        if project not in self._moments:
            # What is due is applied before any command can decide on it.
            moment = self._moments[project] = instant(head.at)
            for ask in self._transaction.due(head):
                self._command(head, LapseAsk(ask.ask_id, Stamp(moment, NOBODY, "")))
        return head

    def _command(self, head: Head, command: Command) -> Ask:
        ask = self._load(head.project, command)
        for event in decide(ask, command):
            known = ask if ask is not None and ask.ask_id == event.ask_id else None
            ask = evolve(known, event, project=head.project, sequence=head.sequence + 1)
            self._transaction.append(head, type_of(event), ask.ask_id, encode_event(event))
            self._transaction.put(head, ask)
            self.has_news = True
            if not ask.is_open:
                self.ended.append(ask)
            for reaction in react(event):
                self._command(head, replace(reaction, stamp=command.stamp))
        if ask is None:
            raise NotFoundError(f"There is no ask {command.ask_id} here.")
        is_replayed = isinstance(command, OpenAsk) and ask.ask_id != command.ask_id
        return replace(ask, replayed=True) if is_replayed else ask

    def _load(self, project: str, command: Command) -> Ask | None:
        if isinstance(command, OpenAsk) and command.key is not None:
            return self._transaction.ask_by_key(project, command.key)
        return self._transaction.ask(project, command.ask_id)

    def _must_find(self, project: str, ask_id: AskId) -> Ask:
        ask = self._transaction.ask(project, ask_id)
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
            and now - held.at < timedelta(seconds=CLAIM_SECONDS)
        ):
            who = render_name(held.by)
            raise ConflictError(f"{who} claimed it at {render_instant(held.at)}.", ask=ask)
        claim = Claim(str(principal), now)
        self._transaction.claim(ask, claim)
        return replace(ask, claim=claim)

    def _write_step(self, head: Head, request: WriteStep) -> None:
        step = request.step
        near = self._transaction.steps(head.project, step.flow_id, max(0, step.step - 1))
        known = next((entry for entry in near if entry.step == step.step), None)
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
        self.has_news = True
        self._transaction.append(head, "flow.stepped", step.flow_id, encode_event(FlowStepped(step)))
        self._transaction.put_step(head, step)
