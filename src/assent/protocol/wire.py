"""What stands in the bodies of HTTP requests and replies, where it is no value that has a JSON form of its own.

Rule 1: a body that names what is not known is refused: a misspelled answer must not pass for none.
Rule 2: a reply may gain fields; whoever reads one ignores those that it does not know.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from assent.protocol.agent_result import Meaning
from assent.protocol.ask import Ask, Consequence, Kind
from assent.protocol.control import ControlCommand, ControlMessage
from assent.protocol.json_text import Json
from assent.protocol.notification import ErrorCode, Notification, NotificationKind, Source
from assent.protocol.policy import Policy
from assent.protocol.principal import Role
from assent.protocol.prompt import Option, Prompt
from assent.protocol.receipt import Receipt
from assent.protocol.resolution import Response
from assent.protocol.run import DoneReason, Frame, Run
from assent.protocol.task import DEFAULT_PRIORITY, ChatMessage, Task, TaskStatus
from assent.protocol.topic import Message

__all__ = [
    "MAX_PAGE",
    "MAX_WAIT_SECONDS",
    "AnswerBody",
    "ApprovalBody",
    "ApprovalReply",
    "AskBody",
    "Asks",
    "AsksQuery",
    "AuditReply",
    "ChatBody",
    "ChatReply",
    "Cleared",
    "ControlBody",
    "Count",
    "DriveBody",
    "ErrorBody",
    "ErrorReply",
    "Event",
    "FlowStep",
    "HandedReply",
    "HeadReply",
    "Health",
    "HoldBody",
    "LimitQuery",
    "Log",
    "LogQuery",
    "LogRecord",
    "Messages",
    "NotificationBody",
    "Notifications",
    "NotificationsQuery",
    "PatchBody",
    "PolicyBody",
    "PolicyReply",
    "PostedReply",
    "Projects",
    "ReasonBody",
    "ReasonQuery",
    "RedeemBody",
    "ResultBody",
    "RunQuery",
    "RunReply",
    "Runs",
    "RunsQuery",
    "StartBody",
    "Steps",
    "TaskBody",
    "TaskPatch",
    "TaskReply",
    "Tasks",
    "TasksQuery",
    "TokenBody",
    "TokenReply",
    "Tokens",
    "WaitQuery",
    "WhoReply",
]

MAX_PAGE = 10_000
"""So many things at most in one reply; whoever wants more comes again behind the last one."""
MAX_WAIT_SECONDS = 60.0
"""So long at most a long poll waits; whoever wants to wait longer comes again."""


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody sends."""


class Reply(msgspec.Struct, frozen=True):
    """What somebody is told."""


# Errors


class ErrorBody(Reply, frozen=True):
    """What went wrong."""

    code: str
    message: str
    """One sentence, for people."""
    details: dict[str, Any] = {}
    """What it is about: the ask or the notification as it is now, the RESULT of a command."""


class ErrorReply(Reply, frozen=True):
    """The body of every reply that is not a success."""

    error: ErrorBody


# Queries


class AsksQuery(Body, frozen=True):
    """Which asks."""

    state: Literal["open", "answered", "declined", "withdrawn", "expired", "superseded", "all"] = "open"
    ending: str | None = None
    """Those with this id, or else those whose id ends so."""
    limit: int = MAX_PAGE


class WaitQuery(Body, frozen=True):
    """How long to wait."""

    wait: float = 0.0


class LimitQuery(Body, frozen=True):
    """How many."""

    limit: int = MAX_PAGE


class LogQuery(Body, frozen=True):
    """From where on, how many, and how long to wait for the first."""

    after: int = 0
    limit: int = MAX_PAGE
    wait: float = 0.0


class RunQuery(Body, frozen=True):
    """After which event a change is waited for, and how long."""

    after: int = 0
    wait: float = 0.0


class RunsQuery(Body, frozen=True):
    """Which runs."""

    active: bool = True
    limit: int = MAX_PAGE


class NotificationsQuery(Body, frozen=True):
    """Which notifications."""

    status: Literal["open", "all"] = "open"
    source: Source | None = None
    """With `source_id`: all about one thing, oldest first."""
    source_id: str | None = None
    limit: int = MAX_PAGE


class TasksQuery(Body, frozen=True):
    """Which tasks."""

    status: Literal["live", "all"] = "all"
    limit: int = MAX_PAGE


class ReasonQuery(Body, frozen=True):
    """Why."""

    reason: str = ""


# Asks


class AskBody(Body, frozen=True):
    """A question in words, with options; or a whole prompt."""

    prompt: str | Prompt
    options: tuple[str | Option, ...] = ()
    body: str = ""
    multiple: bool = False
    free: bool | None = None
    kind: Kind = Kind.QUESTION
    key: str | None = None
    replace: bool = False
    run_id: str | None = None
    deadline: datetime | float | None = None
    """An instant, or the seconds from now."""
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None
    protocol: str | None = None
    other: str = ""


class Asks(Reply, frozen=True):
    """Asks, newest first."""

    asks: tuple[Ask, ...]


class Count(Reply, frozen=True):
    """How many."""

    count: int


class AnswerBody(Body, frozen=True):
    """A reply as it was typed, or ready-made values, or a no to being asked."""

    text: str | None = None
    values: dict[str, str | tuple[str, ...]] | None = None
    decline: bool = False
    reason: str = ""
    unattended: bool = False


class ReasonBody(Body, frozen=True):
    """Why."""

    reason: str = ""


# Approvals


class ApprovalBody(Body, frozen=True):
    """What an agent wants to do. The policy says whether a person is asked."""

    title: str
    action: Json
    category: str | None = None
    risk: str | None = None
    body: str = ""
    key: str | None = None
    life_seconds: int | None = None
    """How long the receipt is good; an hour where nothing is said."""
    task_id: str | None = None
    run_id: str | None = None
    deadline: datetime | float | None = None
    consequence: Consequence = Consequence.WAIT
    escalate_to: str | None = None


class ApprovalReply(Reply, frozen=True):
    """The receipt, where it may happen; else the ask that a person must answer first."""

    receipt: Receipt | None = None
    ask: Ask | None = None


class RedeemBody(Body, frozen=True):
    """What is about to be done."""

    action: Json


# Topics and runs


class Messages(Reply, frozen=True):
    """Messages of a topic, oldest first."""

    messages: tuple[Message, ...]


class PostedReply(Reply, frozen=True):
    """A message as it is in its topic now, and what a REQUEST was answered with."""

    sequence: int
    topic: str
    posted_at: datetime
    body: msgspec.Raw
    by: str = ""
    reply: ControlMessage | None = None


class ControlBody(Body, frozen=True):
    """A command to a run; under the request id of an earlier one it is the same command."""

    command: ControlCommand
    model: str | None = None
    reason: str = ""
    issue_id: str | None = None
    request_id: str | None = None


class RunReply(Reply, frozen=True):
    """A run as it is shown, and its record."""

    run_id: str
    project: str
    title: str
    status: str
    mode: str
    iteration: int
    attempt: int
    max: int
    model: str | None
    updated_at: datetime
    stack: tuple[Frame, ...]
    reason: str | None
    note: str
    driver: str | None
    started_at: datetime
    paused_at: datetime | None
    ended_at: datetime | None
    sequence: int
    record: Run


class Runs(Reply, frozen=True):
    """Runs, newest first."""

    runs: tuple[RunReply, ...]


class StartBody(Body, frozen=True):
    """A run to begin, or to take over from a driver that died."""

    run_id: str
    frame: Frame
    driver: str
    title: str = ""
    models: tuple[str, ...] = ()


class DriveBody(Body, frozen=True):
    """What the driver of a run says, under its fence."""

    command: Literal["begin", "end", "push", "pop", "finish", "fail"]
    fence: int
    depth: int = 0
    level: int | None = None
    signal: DoneReason | None = None
    """Of `end`: its loop is over."""
    failure: str = ""
    frame: Frame | None = None
    """Of `push`."""
    outer: int | None = None
    reason: DoneReason = DoneReason.COMPLETE
    note: str = ""


class HoldBody(Body, frozen=True):
    """What somebody wants to drive, alone: a flow or a run. They do as long as the reply is open."""

    flow_id: str | None = None
    run_id: str | None = None


class FlowStep(Body, frozen=True):
    """One entry of a flow's journal."""

    flow_id: str
    step: int
    digest: str
    state: Literal["intended", "done"]
    content: bytes
    """As base64."""


class Steps(Reply, frozen=True):
    """A flow's journal."""

    steps: tuple[FlowStep, ...]


# Results, notifications, tasks, policies


class ResultBody(msgspec.Struct, frozen=True):
    """What an agent hands in. It may hold anything besides; only this is read."""

    agent: str
    sourceId: str = ""  # noqa: N815 - the protocol's spelling
    status: str = ""
    open_questions: list[Any] | None = None
    openQuestions: list[Any] | None = None  # noqa: N815 - as above


class HandedReply(Reply, frozen=True):
    """What became of a result."""

    meaning: Meaning
    notification: Notification | None = None


class NotificationBody(Body, frozen=True):
    """What people are to be told."""

    source: Source
    sourceId: str  # noqa: N815 - the protocol's spelling
    questions: tuple[str | dict[str, Any], ...]
    kind: NotificationKind = NotificationKind.OPEN_QUESTION
    errorCode: ErrorCode | None = None  # noqa: N815 - as above
    scopeChangeMetadata: dict[str, Json] | None = None  # noqa: N815 - as above


class Notifications(Reply, frozen=True):
    """Notifications, newest first."""

    notifications: tuple[Notification, ...]


class Cleared(Reply, frozen=True):
    """How many were dismissed."""

    deletedCount: int  # noqa: N815 - the protocol's spelling


class PatchBody(Body, frozen=True):
    """Answers to the questions of a notification, or a yes or no; without either it is dismissed."""

    responses: tuple[Response, ...] | UnsetType = UNSET
    approved: bool | UnsetType = UNSET


class TaskBody(Body, frozen=True):
    """A task to create."""

    title: str
    task_id: str | None = None
    priority: int = DEFAULT_PRIORITY
    assignee: str | None = None
    dependencies: tuple[str, ...] = ()
    parent: str | None = None
    is_epic: bool = False


class TaskPatch(Body, frozen=True):
    """What to change of a task; `block_reason` blocks it."""

    title: str | UnsetType = UNSET
    priority: int | UnsetType = UNSET
    assignee: str | UnsetType | None = UNSET
    dependencies: tuple[str, ...] | UnsetType = UNSET
    status: TaskStatus | UnsetType = UNSET
    block_reason: str | UnsetType = UNSET


class TaskReply(Reply, frozen=True):
    """A task as it is now."""

    task_id: str
    project: str
    title: str
    status: TaskStatus
    assignee: str | None
    block_reason: str | None
    blocked_by: str | None
    priority: int
    dependencies: tuple[str, ...]
    parent: str | None
    is_epic: bool
    attempts: int
    created_at: datetime
    created_by: str
    updated_at: datetime
    sequence: int

    @classmethod
    def of(cls, task: Task) -> TaskReply:
        """Return the public form of `task`."""
        return cls(**{name: getattr(task, name) for name in cls.__struct_fields__})

    @property
    def task(self) -> Task:
        """The task that is told of."""
        return msgspec.convert(msgspec.to_builtins(self), Task)


class Tasks(Reply, frozen=True):
    """Tasks."""

    tasks: tuple[TaskReply, ...]


class ChatBody(Body, frozen=True):
    """What to say in a task's chat."""

    text: str


class ChatReply(Reply, frozen=True):
    """A task's chat, oldest first, and what the next run of the agent is told because of it."""

    messages: tuple[ChatMessage, ...]
    clarification: str | None = None


class PolicyBody(Body, frozen=True):
    """The levels of the categories that are named."""

    hilConfig: dict[str, Json]  # noqa: N815 - the protocol's spelling
    unattended: bool = False


class PolicyReply(Reply, frozen=True):
    """How far agents of a project may go."""

    project: str
    hilConfig: Policy  # noqa: N815 - as above
    texts: dict[str, str]
    """What each category's level says to an agent."""
    set_at: datetime | None = None
    set_by: str | None = None
    sequence: int = 0


# Credentials


class TokenBody(Body, frozen=True):
    """A token to make."""

    role: Role
    name: str
    projects: tuple[str, ...] = ()
    """Where it holds; empty for the project of the path, `*` for every one."""
    life_seconds: int | None = None
    digest: str | None = None
    """Of a secret that the sender minted and keeps; without it the server mints one, and tells it once."""
    unattended: bool = False


class TokenReply(Reply, frozen=True, omit_defaults=True):
    """A token without its secret; with it only where the server has just minted it."""

    token_id: str
    role: Role
    name: str
    project: str
    projects: tuple[str, ...]
    created_at: datetime
    created_by: str
    expires_at: datetime
    revoked_at: datetime | None
    revoked_by: str | None
    token: str | None = None
    """The secret. It is told once."""


class Tokens(Reply, frozen=True):
    """Tokens, newest first."""

    tokens: tuple[TokenReply, ...]


# The record


class LogRecord(Reply, frozen=True):
    """One event as the log keeps it; `data` is the exact text that was hashed."""

    sequence: int
    type: str
    at: datetime
    subject: str
    topic: str | None
    data: msgspec.Raw
    """Null when it was erased."""
    digest: str
    hash: str


class Log(Reply, frozen=True):
    """Events, oldest first."""

    events: tuple[LogRecord, ...]


class HeadReply(Reply, frozen=True):
    """Where a log ends."""

    sequence: int
    """The number of its last event; 0 where there is none."""


class Event(Reply, frozen=True):
    """One event as it is broadcast."""

    sequence: int
    type: str
    at: datetime
    data: msgspec.Raw


class AuditReply(Reply, frozen=True):
    """What was looked at, and what is wrong."""

    projects: int
    events: int
    asks: int
    problems: tuple[str, ...]
    erased: int = 0
    runs: int = 0


class Projects(Reply, frozen=True):
    """The projects that the caller can see something in."""

    projects: tuple[str, ...]


class WhoReply(Reply, frozen=True):
    """Whose token it is, and what it is good for."""

    role: Role
    name: str
    projects: tuple[str, ...]
    expires_at: datetime
    now: datetime
    """By the server's clock."""


class Health(Reply, frozen=True):
    """The server is there, and so is its store."""

    status: Literal["ok"] = "ok"
