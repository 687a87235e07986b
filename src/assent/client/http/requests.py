"""Every command of the hub as a request to a server: one entry each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from assent.client.http.translate import (
    ask_body,
    drive_body,
    flow_step,
    posted_of,
    project_policy,
    start_body,
    token_of,
)
from assent.hub.command import (
    AnswerAsk,
    BeginTurn,
    ClaimAsk,
    CreateToken,
    DeclineAsk,
    DriverCommand,
    EndTurn,
    FailRun,
    FinishRun,
    OpenAsk,
    PopFrame,
    PostMessage,
    PushFrame,
    RedeemReceipt,
    ReportUndelivered,
    Request,
    RequestApproval,
    RevokeToken,
    StartRun,
    TellOutput,
    Told,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.work_command import (
    AddNotification,
    BlockTask,
    CreateTask,
    DismissNotification,
    Handed,
    ResolveNotification,
    SetPolicy,
    TakeResult,
    UpdateTask,
)
from assent.protocol.canonical import canonical
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import Json
from assent.protocol.wire_ask import AnswerBody, ApprovalBody, ReasonBody, RedeemBody
from assent.protocol.wire_record import TokenBody
from assent.protocol.wire_run import OutputBody
from assent.protocol.wire_work import NotificationBody, PatchBody, PolicyBody, TaskBody, TaskPatch

__all__ = ["Ordered", "order"]

C = TypeVar("C")


def _itself(reply: Any) -> Told:
    told: Told = reply
    return told


class Ordered(msgspec.Struct, frozen=True):
    """A request to send: a verb of the table, with its parts, and what to make of the reply."""

    verb: str
    path: Mapping[str, str] = {}
    body: Any = None
    query: Mapping[str, str] = {}
    told: Callable[[Any], Told] = _itself


def order(request: Request) -> Ordered:
    """Return the request that has the same done on a server.

    Raises:
        BadRequestError: a server does that by itself, and for nobody.
    """
    make = _ORDERS.get(type(request))
    if make is None:
        raise BadRequestError(f"A server takes no {type(request).__name__}.")
    return make(request)


# Asks


def _answer(command: AnswerAsk) -> Ordered:
    values: dict[str, str | tuple[str, ...]] | None = None if command.values is None else {**command.values}
    body = AnswerBody(
        command.text if values is None else None,
        values,
        reason=command.reason,
        unattended=command.is_unattended,
        confirmed=command.is_confirmed,
    )
    return Ordered("answer_ask", {"ask": command.ask_id}, body)


def _decline(command: DeclineAsk) -> Ordered:
    body = AnswerBody(decline=True, reason=command.reason)
    return Ordered("answer_ask", {"ask": command.ask_id}, body)


def _withdraw(command: WithdrawAsk) -> Ordered:
    query = {"reason": command.reason} if command.reason else {}
    return Ordered("withdraw_ask", {"ask": command.ask_id}, query=query)


def _undelivered(command: ReportUndelivered) -> Ordered:
    return Ordered("report_undelivered", {"ask": command.ask_id}, ReasonBody(command.reason))


def _approval(command: RequestApproval) -> Ordered:
    deadline = command.deadline
    canonical(command.action)  # what is no JSON is refused here: an encoder would make something else of it
    body = ApprovalBody(
        command.title,
        command.action,
        None if command.category is None else command.category.value,
        command.risk,
        command.body,
        command.key,
        command.life_seconds,
        command.task_id,
        command.run_id,
        deadline.total_seconds() if isinstance(deadline, timedelta) else deadline,
        command.consequence,
        command.escalate_to,
        command.again,
    )
    return Ordered("request_approval", body=body, told=lambda reply: reply.receipt or reply.ask)


def _redeem(command: RedeemReceipt) -> Ordered:
    canonical(command.action)
    return Ordered("redeem_receipt", {"receipt": command.receipt_id}, RedeemBody(command.action))


# Runs, topics, flows


def _drive(command: DriverCommand) -> Ordered:
    path = {"run": command.run_id}
    return Ordered("drive_run", path, drive_body(command), told=lambda reply: reply.record)


def _tell(command: TellOutput) -> Ordered:
    body = OutputBody(command.text.decode("utf-8", "replace"), command.fence, command.skipped)
    return Ordered("tell_output", {"run": command.run_id}, body)


def _post(command: PostMessage) -> Ordered:
    return Ordered("post_message", {"topic": command.topic}, msgspec.Raw(command.text), told=posted_of)


def _write_step(command: WriteStep) -> Ordered:
    step = flow_step(command.step)
    return Ordered("write_step", {"flow": step.flow_id}, step, told=lambda _: None)


# Work


def _result(command: TakeResult) -> Ordered:
    result = command.result
    body = {
        "agent": result.agent,
        "sourceId": result.source_id,
        "status": result.status,
        "open_questions": result.questions,
    }
    return Ordered("hand_in", body=body, told=lambda reply: Handed(reply.meaning, reply.notification))


def _add(command: AddNotification) -> Ordered:
    questions: Any = msgspec.to_builtins(command.questions)
    body = NotificationBody(
        command.source,
        command.source_id,
        tuple(questions),
        command.kind,
        command.error_code,
        command.scope_change_metadata,
    )
    return Ordered("add_notification", body=body)


def _resolve(command: ResolveNotification) -> Ordered:
    body = PatchBody(
        UNSET if command.responses is None else command.responses,
        UNSET if command.approved is None else command.approved,
        reason=command.reason or UNSET,
    )
    path = {"notification": command.notification_id}
    return Ordered("resolve_notification", path, body)


def _dismiss(command: DismissNotification) -> Ordered:
    body = PatchBody() if command.takes_reply else PatchBody(dismissed=True)
    path = {"notification": command.notification_id}
    return Ordered("resolve_notification", path, body)


def _create_task(command: CreateTask) -> Ordered:
    body = TaskBody(
        command.title,
        command.task_id,
        command.priority,
        command.assignee,
        command.dependencies,
        command.parent,
        command.is_epic,
    )
    return Ordered("create_task", body=body, told=lambda reply: reply.task)


def _update_task(command: UpdateTask) -> Ordered:
    body = TaskPatch(command.title, command.priority, command.assignee, command.dependencies, command.status)
    return Ordered("update_task", {"task": command.task_id}, body, told=lambda reply: reply.task)


def _block_task(command: BlockTask) -> Ordered:
    body = TaskPatch(block_reason=command.reason)
    return Ordered("update_task", {"task": command.task_id}, body, told=lambda reply: reply.task)


def _set_policy(command: SetPolicy) -> Ordered:
    levels: dict[str, Json] = {category.value: level.value for category, level in command.levels.items()}
    assurances = {
        kind.value: tuple(each.value for each in accepted) for kind, accepted in command.assurances.items()
    }
    body = PolicyBody(levels, command.is_unattended, assurances)
    return Ordered("set_policy", body=body, told=project_policy)


# Credentials


def _create_token(command: CreateToken) -> Ordered:
    body = TokenBody(
        command.role,
        command.name,
        command.projects,
        command.life_seconds,
        command.digest,
        command.is_unattended,
    )
    # The digest is the store's own, and ours who made it.
    return Ordered(
        "create_token", body=body, told=lambda reply: replace(token_of(reply), digest=command.digest)
    )


def _revoke_token(command: RevokeToken) -> Ordered:
    return Ordered("revoke_token", {"token": command.token_id}, told=token_of)


_ORDERS: dict[type[Request], Callable[[Any], Ordered]] = {
    OpenAsk: lambda command: Ordered("open_ask", body=ask_body(command)),
    AnswerAsk: _answer,
    DeclineAsk: _decline,
    WithdrawAsk: _withdraw,
    ClaimAsk: lambda command: Ordered("claim_ask", {"ask": command.ask_id}),
    ReportUndelivered: _undelivered,
    RequestApproval: _approval,
    RedeemReceipt: _redeem,
    StartRun: lambda command: Ordered("start_run", body=start_body(command), told=lambda reply: reply.record),
    **dict.fromkeys((BeginTurn, EndTurn, PushFrame, PopFrame, FinishRun, FailRun), _drive),
    TellOutput: _tell,
    PostMessage: _post,
    WriteStep: _write_step,
    TakeResult: _result,
    AddNotification: _add,
    ResolveNotification: _resolve,
    DismissNotification: _dismiss,
    CreateTask: _create_task,
    UpdateTask: _update_task,
    BlockTask: _block_task,
    SetPolicy: _set_policy,
    CreateToken: _create_token,
    RevokeToken: _revoke_token,
}
