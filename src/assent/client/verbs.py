"""Every verb of the HTTP interface: one table, from which come the server's routes, the client's requests, the OpenAPI
document and the matrix of who may do what.

Rule 1: who may use a verb that changes something is what the hub says of the command that it sends (`RIGHTS`). To say
        what one looks at (`look`) sends none, and is kept in no store.
Rule 2: a GET changes nothing, ever.
"""

from __future__ import annotations

from typing import Any

import msgspec

from assent.hub.authorise import RIGHTS
from assent.hub.command import (
    AnswerAsk,
    ClaimAsk,
    CreateToken,
    OpenAsk,
    PostMessage,
    RedeemReceipt,
    ReportUndelivered,
    RequestApproval,
    RevokeToken,
    StartRun,
    TellOutput,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.work_command import (
    AddNotification,
    BlockTask,
    CreateTask,
    DismissNotification,
    ResolveNotification,
    SetPolicy,
    TakeResult,
)
from assent.protocol.ask import Ask
from assent.protocol.control import ControlMessage
from assent.protocol.notification import Notification
from assent.protocol.numbers import Numbers
from assent.protocol.principal import Role
from assent.protocol.receipt import Receipt
from assent.protocol.tail import Tail
from assent.protocol.wire import (
    AsksQuery,
    LogQuery,
    NotificationsQuery,
    NumbersQuery,
    OutputQuery,
    ReasonQuery,
    RunQuery,
    RunsQuery,
    TasksQuery,
    WaitQuery,
)
from assent.protocol.wire_ask import (
    AnswerBody,
    ApprovalBody,
    ApprovalReply,
    AskBody,
    Asks,
    Count,
    ProseReply,
    ReasonBody,
    RedeemBody,
)
from assent.protocol.wire_record import (
    AuditReply,
    HeadReply,
    Log,
    LookBody,
    Looking,
    Projects,
    TokenBody,
    TokenReply,
    Tokens,
    WhoReply,
)
from assent.protocol.wire_review import ReviewReply
from assent.protocol.wire_run import (
    ControlBody,
    DriveBody,
    FlowStep,
    HoldBody,
    Messages,
    OutputBody,
    PostedReply,
    RunReply,
    Runs,
    StartBody,
    Steps,
)
from assent.protocol.wire_work import (
    ChatBody,
    ChatReply,
    Cleared,
    HandedReply,
    NotificationBody,
    Notifications,
    PatchBody,
    PolicyBody,
    PolicyReply,
    ResultBody,
    TaskBody,
    TaskPatch,
    TaskReply,
    Tasks,
)

__all__ = ["VERBS", "Verb"]

_EVERYBODY = frozenset(Role)
_PROJECT = "/projects/{project}"


class Verb(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that can be done over HTTP."""

    name: str
    method: str
    path: str
    summary: str
    roles: frozenset[Role] = _EVERYBODY
    query: type[msgspec.Struct] | None = None
    body: Any = None
    """The type of the body; None where there is none."""
    is_body_optional: bool = False
    reply: Any
    status: int = 200
    media: str = "application/json"
    """Of the reply."""

    @property
    def is_change(self) -> bool:
        """It may change something."""
        return self.method != "GET"

    @property
    def tag(self) -> str:
        """The noun that it is about."""
        return self.path.removeprefix(_PROJECT).strip("/").partition("/")[0] or "projects"


def _get(name: str, path: str, summary: str, reply: Any, query: type[msgspec.Struct] | None = None) -> Verb:
    return Verb(name=name, method="GET", path=path, summary=summary, reply=reply, query=query)


def _post(
    name: str, path: str, summary: str, roles: frozenset[Role], body: Any, reply: Any, status: int = 200
) -> Verb:
    return Verb(
        name=name,
        method="POST",
        path=path,
        summary=summary,
        roles=roles,
        body=body,
        reply=reply,
        status=status,
        is_body_optional=body in (ReasonBody, None),
    )


_TOPIC = _PROJECT + "/topics/{topic:path}"
_ASK = _PROJECT + "/asks/{ask}"
_RUN = _PROJECT + "/runs/{run:path}"
_NOTES = _PROJECT + "/notifications"
_TASK = _PROJECT + "/tasks/{task}"

VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        # Asks
        _post("open_ask", _PROJECT + "/asks", "Ask a person.", RIGHTS[OpenAsk], AskBody, Ask, 201),
        _get("list_asks", _PROJECT + "/asks", "List asks, newest first.", Asks, AsksQuery),
        _get("count_asks", _PROJECT + "/asks/count", "Count what waits.", Count),
        _get(
            "list_all_asks",
            "/asks",
            "List the asks of all projects of the caller.",
            Asks,
            AsksQuery,
        ),
        _get("count_all_asks", "/asks/count", "Count what waits in all projects of the caller.", Count),
        _get("show_ask", _ASK, "Show one ask.", Ask),
        _get(
            "show_prose",
            _ASK + "/prose",
            "Show what stands around an ask's question, as a tree of nodes without HTML.",
            ProseReply,
        ),
        Verb(
            name="withdraw_ask",
            method="DELETE",
            path=_ASK,
            summary="Take an ask back; an agent only its own.",
            roles=RIGHTS[WithdrawAsk],
            query=ReasonQuery,
            reply=Ask,
        ),
        _post(
            "answer_ask",
            _ASK + "/answer",
            "Answer an ask, or decline it.",
            RIGHTS[AnswerAsk],
            AnswerBody,
            Ask,
        ),
        _get(
            "wait_for_ask",
            _ASK + "/answer",
            "Wait for the end of an ask; always 200 with the ask as it is then.",
            Ask,
            WaitQuery,
        ),
        _post("claim_ask", _ASK + "/claim", "Say that one is on it.", RIGHTS[ClaimAsk], None, Ask),
        _post(
            "report_undelivered",
            _ASK + "/undelivered",
            "Say that no surface could show it; it stays open.",
            RIGHTS[ReportUndelivered],
            ReasonBody,
            Ask,
        ),
        # Approvals
        _post(
            "request_approval",
            _PROJECT + "/approvals",
            "Ask whether an action may happen; the policy says whether a person is asked.",
            RIGHTS[RequestApproval],
            ApprovalBody,
            ApprovalReply,
            201,
        ),
        _get("show_receipt", _PROJECT + "/receipts/{receipt}", "Show one receipt.", Receipt),
        _post(
            "redeem_receipt",
            _PROJECT + "/receipts/{receipt}/redeem",
            "Spend a receipt, once, on exactly the action that was approved.",
            RIGHTS[RedeemReceipt],
            RedeemBody,
            Receipt,
        ),
        # Topics
        _post(
            "post_message",
            _TOPIC,
            "Put a message into a topic; on loop:control it is a REQUEST, and taken up at once.",
            RIGHTS[PostMessage],
            Any,
            PostedReply,
            201,
        ),
        _get("read_topic", _TOPIC, "Read a topic, oldest first.", Messages, LogQuery),
        # Runs
        _get("list_runs", _PROJECT + "/runs", "List runs, newest first.", Runs, RunsQuery),
        _get(
            "list_all_runs",
            "/runs",
            "List the runs of all projects of the caller.",
            Runs,
            RunsQuery,
        ),
        _get("show_run", _RUN, "Show one run; or wait until it has changed.", RunReply, RunQuery),
        _post(
            "control_run",
            _RUN + "/control",
            "Pause, resume, cancel or escalate a run; the reply is its RESULT.",
            RIGHTS[PostMessage] - {Role.AGENT},
            ControlBody,
            ControlMessage,
        ),
        _post(
            "start_run",
            _PROJECT + "/runs",
            "Begin a run, or take over one whose driver is dead.",
            RIGHTS[StartRun],
            StartBody,
            RunReply,
            201,
        ),
        _post(
            "drive_run",
            _RUN + "/drive",
            "Say what the driver of a run does, under its fence.",
            RIGHTS[StartRun],
            DriveBody,
            RunReply,
        ),
        _post(
            "tell_output",
            _RUN + "/output",
            "Hand on what the driver's command printed, under its fence; the last of it is kept.",
            RIGHTS[TellOutput],
            OutputBody,
            Tail,
        ),
        _get(
            "read_output",
            _RUN + "/output",
            "Read the tail of a run's output, from a byte on.",
            Tail,
            OutputQuery,
        ),
        Verb(
            name="hold",
            method="POST",
            path=_PROJECT + "/holds",
            summary="Drive a flow or a run alone, for as long as the reply is open; a line comes every few seconds.",
            roles=RIGHTS[StartRun],
            body=HoldBody,
            reply=str,
            media="text/plain",
        ),
        Verb(
            name="release",
            method="DELETE",
            path=_PROJECT + "/holds/{hold}",
            summary="Let go of what was held under this Idempotency-Key; the reply comes when it is free.",
            roles=RIGHTS[StartRun],
            reply=HoldBody,
        ),
        # Flows
        _get("list_steps", _PROJECT + "/flows/{flow:path}/steps", "Read a durable flow's journal.", Steps),
        _post(
            "write_step",
            _PROJECT + "/flows/{flow:path}/steps",
            "Keep one entry of a durable flow's journal.",
            RIGHTS[WriteStep],
            FlowStep,
            FlowStep,
            201,
        ),
        _get(
            "show_review",
            _PROJECT + "/reviews/{flow:path}",
            "Show how far a durable review has come: its findings, what was decided, and its report.",
            ReviewReply,
        ),
        # Results and notifications
        _post(
            "hand_in",
            _PROJECT + "/agent-results",
            "Hand in an agent's result; what it asks is put to people.",
            RIGHTS[TakeResult],
            ResultBody,
            HandedReply,
            201,
        ),
        _get(
            "list_notifications",
            _NOTES,
            "List notifications, newest first.",
            Notifications,
            NotificationsQuery,
        ),
        _get(
            "list_all_notifications",
            "/notifications",
            "List the notifications of all projects of the caller.",
            Notifications,
            NotificationsQuery,
        ),
        _get("count_notifications", _NOTES + "/count", "Count the open ones.", Count),
        _get(
            "count_all_notifications",
            "/notifications/count",
            "Count the open ones of all projects of the caller.",
            Count,
        ),
        _post(
            "add_notification",
            _NOTES,
            "Tell people something, and ask them where it asks.",
            RIGHTS[AddNotification],
            NotificationBody,
            Notification,
            201,
        ),
        _get("show_notification", _NOTES + "/{notification}", "Show one notification.", Notification),
        Verb(
            name="resolve_notification",
            method="PATCH",
            path=_NOTES + "/{notification}",
            summary="Answer a notification, or dismiss it.",
            roles=RIGHTS[ResolveNotification],
            body=PatchBody,
            is_body_optional=True,
            reply=Notification,
        ),
        Verb(
            name="clear_notifications",
            method="DELETE",
            path=_NOTES,
            summary="Dismiss every open notification.",
            roles=RIGHTS[DismissNotification],
            reply=Cleared,
        ),
        # Tasks
        _post(
            "create_task",
            _PROJECT + "/tasks",
            "Create a task.",
            RIGHTS[CreateTask],
            TaskBody,
            TaskReply,
            201,
        ),
        _get("list_tasks", _PROJECT + "/tasks", "List tasks, newest first.", Tasks, TasksQuery),
        _get(
            "list_ready",
            _PROJECT + "/tasks/ready",
            "List what can be taken in hand now, in order.",
            Tasks,
        ),
        _get("show_task", _TASK, "Show one task.", TaskReply),
        Verb(
            name="update_task",
            method="PATCH",
            path=_TASK,
            summary="Change a task; block_reason blocks it.",
            roles=RIGHTS[BlockTask],
            body=TaskPatch,
            reply=TaskReply,
        ),
        _get(
            "read_chat",
            _TASK + "/chat",
            "Read a task's chat, and what the agent's next run is told because of it.",
            ChatReply,
        ),
        _post(
            "say_in_chat",
            _TASK + "/chat",
            "Say something in a task's chat.",
            RIGHTS[PostMessage],
            ChatBody,
            PostedReply,
            201,
        ),
        # Policies
        _get("show_policy", _PROJECT + "/policy", "Show how far agents may go.", PolicyReply),
        Verb(
            name="set_policy",
            method="PUT",
            path=_PROJECT + "/policy",
            summary="Set the levels of the categories that are named.",
            roles=RIGHTS[SetPolicy],
            body=PolicyBody,
            reply=PolicyReply,
        ),
        # Credentials
        Verb(
            name="list_tokens",
            method="GET",
            path=_PROJECT + "/tokens",
            summary="List the tokens that were made in this project.",
            roles=RIGHTS[RevokeToken],
            reply=Tokens,
        ),
        _post(
            "create_token",
            _PROJECT + "/tokens",
            "Make a credential; its secret is told once.",
            RIGHTS[CreateToken],
            TokenBody,
            TokenReply,
            201,
        ),
        Verb(
            name="revoke_token",
            method="DELETE",
            path=_PROJECT + "/tokens/{token}",
            summary="End a token now, on open streams, too.",
            roles=RIGHTS[RevokeToken],
            reply=TokenReply,
        ),
        # The record
        _get("show_head", _PROJECT + "/log/head", "Say where the log ends.", HeadReply),
        _get("read_log", _PROJECT + "/log", "Read the log, oldest first.", Log, LogQuery),
        _get(
            "list_projects",
            "/projects",
            "List the projects that the caller can see something in.",
            Projects,
        ),
        _get(
            "show_numbers",
            "/numbers",
            "Say what the asks of some days come to, in all projects of the caller.",
            Numbers,
            NumbersQuery,
        ),
        _get("who_am_i", "/whoami", "Say whose token it is, and what it is good for.", WhoReply),
        Verb(
            name="look",
            method="PUT",
            path="/presence",
            summary="Say what one's page shows; be told who else looks through this server.",
            roles=_EVERYBODY - {Role.AGENT},
            body=LookBody,
            reply=Looking,
        ),
        Verb(
            name="verify",
            method="GET",
            path="/audit",
            summary="Check the whole store: its chain, its numbers, its rows.",
            roles=_EVERYBODY - {Role.AGENT},
            reply=AuditReply,
        ),
    )
}
