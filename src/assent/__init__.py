"""Assent: one inbox for every question your agents ask. Ask once, answer anywhere, and silence is never a yes.

The public names load on first use, so that `import assent` costs almost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assent.client.async_client import AsyncClient as AsyncClient
    from assent.client.async_client import AsyncHandle as AsyncHandle
    from assent.client.async_client import connect_async as connect_async
    from assent.client.async_driven import AsyncDrivenRun as AsyncDrivenRun
    from assent.client.client import Client as Client
    from assent.client.client import Handle as Handle
    from assent.client.confirm import confirm_plan as confirm_plan
    from assent.client.confirm import confirm_plan_async as confirm_plan_async
    from assent.client.connect import connect as connect
    from assent.client.driven import DrivenRun as DrivenRun
    from assent.client.gate import pass_gate as pass_gate
    from assent.client.gate import pass_gate_async as pass_gate_async
    from assent.client.http.door import HttpDoor as HttpDoor
    from assent.client.notification_service import NotificationService as NotificationService
    from assent.client.review import review as review
    from assent.client.review import review_async as review_async
    from assent.client.session import hold_session as hold_session
    from assent.client.session import hold_session_async as hold_session_async
    from assent.client.turns import Turn as Turn
    from assent.flows.confirm import Verdict as Verdict
    from assent.flows.session.talk import Closing as Closing
    from assent.hub.work_command import Handed as Handed
    from assent.protocol.ask import Ask as Ask
    from assent.protocol.ask import Consequence as Consequence
    from assent.protocol.ask import Kind as Kind
    from assent.protocol.ask import State as State
    from assent.protocol.capability import Capability as Capability
    from assent.protocol.capability import FreeText as FreeText
    from assent.protocol.control import ControlMessage as ControlMessage
    from assent.protocol.decision import CompletionReport as CompletionReport
    from assent.protocol.decision import Decision as Decision
    from assent.protocol.decision import Failure as Failure
    from assent.protocol.decision import NextStep as NextStep
    from assent.protocol.error import AnswerRefusedError as AnswerRefusedError
    from assent.protocol.error import ApprovalDiffersError as ApprovalDiffersError
    from assent.protocol.error import AssentError as AssentError
    from assent.protocol.error import BadRequestError as BadRequestError
    from assent.protocol.error import ConflictError as ConflictError
    from assent.protocol.error import ControlExpiredError as ControlExpiredError
    from assent.protocol.error import Declined as Declined
    from assent.protocol.error import Expired as Expired
    from assent.protocol.error import ForbiddenError as ForbiddenError
    from assent.protocol.error import InvalidStateError as InvalidStateError
    from assent.protocol.error import KeyReusedError as KeyReusedError
    from assent.protocol.error import NoAnswer as NoAnswer
    from assent.protocol.error import NotFoundError as NotFoundError
    from assent.protocol.error import RejectedBefore as RejectedBefore
    from assent.protocol.error import RunEndedError as RunEndedError
    from assent.protocol.error import RunTakenError as RunTakenError
    from assent.protocol.error import StillOpen as StillOpen
    from assent.protocol.error import Superseded as Superseded
    from assent.protocol.error import UnrecognisedError as UnrecognisedError
    from assent.protocol.error import Withdrawn as Withdrawn
    from assent.protocol.finding import Finding as Finding
    from assent.protocol.finding import Verb as Verb
    from assent.protocol.gate import Choice as Choice
    from assent.protocol.gate import Context as Context
    from assent.protocol.notification import Notification as Notification
    from assent.protocol.notification import NotificationKind as NotificationKind
    from assent.protocol.policy import Policy as Policy
    from assent.protocol.primer import Primer as Primer
    from assent.protocol.prompt import Field as Field
    from assent.protocol.prompt import Option as Option
    from assent.protocol.prompt import Prompt as Prompt
    from assent.protocol.receipt import Receipt as Receipt
    from assent.protocol.run import DoneReason as DoneReason
    from assent.protocol.run import Mode as Mode
    from assent.protocol.run import Run as Run
    from assent.protocol.run import Status as Status
    from assent.protocol.task import Task as Task
    from assent.protocol.task import TaskStatus as TaskStatus
    from assent.protocol.topic import Message as Message
    from assent.surfaces.own_terminal import open_terminal as open_terminal
    from assent.surfaces.plain import PlainSurface as PlainSurface
    from assent.surfaces.tool import FallbackSurface as FallbackSurface
    from assent.surfaces.tool import ToolSurface as ToolSurface

__version__ = "0.1.0"

_HOMES = {
    "assent.client.async_client": ("AsyncClient", "AsyncHandle", "connect_async"),
    "assent.client.async_driven": ("AsyncDrivenRun",),
    "assent.client.client": ("Client", "Handle"),
    "assent.client.confirm": ("confirm_plan", "confirm_plan_async"),
    "assent.client.connect": ("connect",),
    "assent.client.driven": ("DrivenRun",),
    "assent.client.gate": ("pass_gate", "pass_gate_async"),
    "assent.client.http.door": ("HttpDoor",),
    "assent.client.notification_service": ("NotificationService",),
    "assent.client.review": ("review", "review_async"),
    "assent.client.session": ("hold_session", "hold_session_async"),
    "assent.client.turns": ("Turn",),
    "assent.flows.confirm": ("Verdict",),
    "assent.flows.session.talk": ("Closing",),
    "assent.hub.work_command": ("Handed",),
    "assent.protocol.ask": ("Ask", "Consequence", "Kind", "State"),
    "assent.protocol.capability": ("Capability", "FreeText"),
    "assent.protocol.control": ("ControlMessage",),
    "assent.protocol.decision": ("CompletionReport", "Decision", "Failure", "NextStep"),
    "assent.protocol.error": (
        "AnswerRefusedError",
        "ApprovalDiffersError",
        "AssentError",
        "BadRequestError",
        "ConflictError",
        "ControlExpiredError",
        "Declined",
        "Expired",
        "ForbiddenError",
        "InvalidStateError",
        "KeyReusedError",
        "NoAnswer",
        "NotFoundError",
        "RejectedBefore",
        "RunEndedError",
        "RunTakenError",
        "StillOpen",
        "Superseded",
        "UnrecognisedError",
        "Withdrawn",
    ),
    "assent.protocol.finding": ("Finding", "Verb"),
    "assent.protocol.gate": ("Choice", "Context"),
    "assent.protocol.notification": ("Notification", "NotificationKind"),
    "assent.protocol.policy": ("Policy",),
    "assent.protocol.primer": ("Primer",),
    "assent.protocol.prompt": ("Field", "Option", "Prompt"),
    "assent.protocol.receipt": ("Receipt",),
    "assent.protocol.run": ("DoneReason", "Mode", "Run", "Status"),
    "assent.protocol.task": ("Task", "TaskStatus"),
    "assent.protocol.topic": ("Message",),
    "assent.surfaces.own_terminal": ("open_terminal",),
    "assent.surfaces.plain": ("PlainSurface",),
    "assent.surfaces.tool": ("FallbackSurface", "ToolSurface"),
}
_PARTS = {"PostgresStore": "assent.storage.postgres.store", "TRACES": "assent.client.traces"}
"""Not public, and loaded only where they are used: what they lean on is an extra, and takes its time."""
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]  # noqa: PLE0604 - the table above is the list


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name) or _PARTS.get(name)
    if home is None:
        raise AttributeError(f"module 'assent' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return list(__all__)
