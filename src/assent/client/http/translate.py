"""From what the hub knows to what stands on the wire, and back. Each pair stands side by side: a change to one is a
change to the other.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from msgspec.structs import asdict

from assent.hub.command import (
    BeginTurn,
    DriverCommand,
    EndTurn,
    FailRun,
    FinishRun,
    OpenAsk,
    PopFrame,
    Posted,
    PushFrame,
    StartRun,
)
from assent.hub.desk import instant
from assent.hub.record import Record, Step
from assent.protocol.control import ControlMessage
from assent.protocol.error import BadRequestError
from assent.protocol.policy import Policy, ProjectPolicy
from assent.protocol.policy_text import explain
from assent.protocol.run import Run, RunId, render_run
from assent.protocol.token import Token, TokenId
from assent.protocol.topic import Message
from assent.protocol.wire_ask import AskBody
from assent.protocol.wire_record import LogRecord, TokenReply
from assent.protocol.wire_run import DriveBody, FlowStep, PostedReply, RunReply, StartBody
from assent.protocol.wire_work import PolicyReply

__all__ = [
    "ask_body",
    "drive_body",
    "driver_command",
    "flow_step",
    "journal_step",
    "log_record",
    "policy_reply",
    "posted_of",
    "posted_reply",
    "project_policy",
    "record_of",
    "run_reply",
    "start_body",
    "start_command",
    "token_of",
    "token_reply",
]

_EPOCH = instant(0)
_ERASED = b"null"


# Asks


def ask_body(command: OpenAsk) -> AskBody:
    """Return the body that asks the same."""
    deadline = command.deadline
    return AskBody(
        command.prompt,
        kind=command.kind,
        key=command.key,
        replace=command.is_replacing,
        run_id=command.run_id,
        deadline=deadline.total_seconds() if isinstance(deadline, timedelta) else deadline,
        consequence=command.consequence,
        escalate_to=command.escalate_to,
        again=command.again,
    )


# Runs


def start_body(command: StartRun) -> StartBody:
    """Return the body that begins the same run."""
    return StartBody(command.run_id, command.frame, command.driver, command.title, command.models)


def start_command(body: StartBody) -> StartRun:
    """Return the command that a body stands for."""
    return StartRun(RunId(body.run_id), body.frame, body.driver, body.title, body.models)


def drive_body(command: DriverCommand) -> DriveBody:
    """Return the body that says the same."""
    if isinstance(command, BeginTurn):
        return DriveBody("begin", command.fence, command.depth, command.level)
    if isinstance(command, EndTurn):
        return DriveBody("end", command.fence, command.depth, command.level, command.signal, command.failure)
    if isinstance(command, PushFrame):
        return DriveBody("push", command.fence, command.depth, frame=command.frame, outer=command.outer)
    if isinstance(command, PopFrame):
        return DriveBody("pop", command.fence, command.depth, command.level, reason=command.reason)
    if isinstance(command, FinishRun):
        return DriveBody("finish", command.fence, reason=command.reason)
    if isinstance(command, FailRun):
        return DriveBody("fail", command.fence, note=command.note)
    raise BadRequestError("No driver can say that over HTTP.")


def driver_command(run_id: str, body: DriveBody) -> DriverCommand:
    """Return the command that a body stands for.

    Raises:
        BadRequestError: a `push` without a frame.
    """
    run, fence, depth, level = RunId(run_id), body.fence, body.depth, body.level
    if body.command == "begin":
        return BeginTurn(run, fence, depth, level=level)
    if body.command == "end":
        return EndTurn(run, fence, depth, body.signal, body.failure, level=level)
    if body.command == "push":
        if body.frame is None:
            raise BadRequestError("A push needs a frame.")
        return PushFrame(run, fence, body.frame, depth, outer=body.outer)
    if body.command == "pop":
        return PopFrame(run, fence, depth, body.reason, level=level)
    if body.command == "finish":
        return FinishRun(run, fence, body.reason)
    return FailRun(run, fence, body.note)


def run_reply(run: Run, *, is_driven: bool, now: datetime) -> RunReply:
    """Return a run as it is shown, with its record; back it is `reply.record`."""
    return RunReply(**render_run(run, is_driven=is_driven, now=now), record=run)  # type: ignore[arg-type]  # by name


# Flows


def flow_step(step: Step) -> FlowStep:
    """Return an entry of a journal as the wire has it."""
    return FlowStep(**asdict(step))


def journal_step(body: FlowStep) -> Step:
    """Return the entry that the wire tells of."""
    return Step(**asdict(body))


# Topics


def posted_reply(message: Message, reply: ControlMessage | None = None) -> PostedReply:
    """Return a message as whoever posted it is told."""
    return PostedReply(message.sequence, message.topic, message.posted_at, message.body, message.by, reply)


def posted_of(told: PostedReply) -> Posted:
    """Return what became of a message, as the wire tells."""
    message = Message(told.sequence, told.topic, told.posted_at, told.body, told.by)
    return Posted(message, reply=told.reply)


# Policies


def policy_reply(project: str, found: ProjectPolicy | None) -> PolicyReply:
    """Return a policy as the wire has it."""
    policy = Policy() if found is None else found.policy
    texts = {category.value: explain(policy, category) for category in policy.levels}
    if found is None:
        return PolicyReply(project, policy, texts)
    return PolicyReply(project, policy, texts, found.set_at, found.set_by, found.sequence, found.assurances)


def project_policy(reply: PolicyReply) -> ProjectPolicy | None:
    """Return the policy that the wire tells of; None of a project that said nothing."""
    if reply.set_at is None:
        return None
    return ProjectPolicy(
        reply.project,
        reply.hilConfig,
        reply.set_at,
        reply.set_by or "",
        sequence=reply.sequence,
        assurances=reply.assurances,
    )


# Credentials


def token_reply(token: Token, secret: str | None = None) -> TokenReply:
    """Return a token as the wire has it."""
    return TokenReply(
        token.token_id,
        token.role,
        token.name,
        token.project,
        token.projects,
        token.created_at,
        token.created_by,
        token.expires_at,
        token.revoked_at,
        token.revoked_by or None,
        secret,
        token.is_unattended,
    )


def token_of(told: TokenReply) -> Token:
    """Return the token that the wire tells of; whose digest is the store's own."""
    return Token(
        TokenId(told.token_id),
        told.project,
        told.projects,
        told.role,
        told.name,
        "",
        told.created_at,
        told.created_by,
        told.expires_at,
        told.revoked_at,
        told.revoked_by or "",
        is_unattended=told.unattended,
    )


# The log


def log_record(record: Record, *, is_withheld: bool = False) -> LogRecord:
    """Return an event as the wire has it; without its body, as if it were erased, where that is withheld."""
    body = None if is_withheld else record.body
    return LogRecord(
        record.sequence,
        record.type,
        instant(record.at),
        record.subject,
        record.topic,
        msgspec.Raw(_ERASED if body is None else body),
        record.digest.hex(),
        record.hash.hex(),
    )


def record_of(project: str, told: LogRecord) -> Record:
    """Return the event that the wire tells of, to the byte."""
    at = (told.at - _EPOCH) // timedelta(microseconds=1)
    body = None if bytes(told.data) == _ERASED else bytes(told.data)
    digest, chain = bytes.fromhex(told.digest), bytes.fromhex(told.hash)
    return Record(project, told.sequence, at, told.type, told.subject, body, digest, chain, told.topic)
