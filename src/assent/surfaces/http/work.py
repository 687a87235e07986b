"""Results, notifications, tasks and policies over HTTP."""

from __future__ import annotations

from heapq import merge
from itertools import chain
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from assent.client import steer, work
from assent.client.awaiting import await_call, await_wait
from assent.client.http.translate import policy_reply, posted_reply
from assent.protocol.error import BadRequestError
from assent.protocol.json_text import parse_json
from assent.protocol.notification import Notification, Source
from assent.protocol.resolution import answer_all, check_responses
from assent.protocol.task import TaskStatus, chat_topic, check_task_id
from assent.protocol.wire_ask import Count
from assent.protocol.wire_run import PostedReply
from assent.protocol.wire_work import (
    ChatBody,
    ChatReply,
    Cleared,
    HandedReply,
    NotificationBody,
    Notifications,
    PatchBody,
    PolicyReply,
    TaskBody,
    TaskPatch,
    TaskReply,
    Tasks,
)
from assent.surfaces.http.asks import limit_of
from assent.surfaces.http.incoming import Endpoint, Incoming

__all__ = ["ENDPOINTS"]


# Results and notifications


async def _hand_in(request: Incoming) -> HandedReply:
    result: Any = parse_json(
        request.text
    )  # all of it: what is not read by us may be read by whoever comes later
    handed = await await_call(work.hand_in(request.calls, result, command_id=request.command_id))
    return HandedReply(handed.meaning, handed.notification)


async def _list_notifications(request: Incoming) -> Notifications:
    query, door = request.query, request.site.door
    limit = limit_of(query.limit)
    pages: list[list[Notification]] = []
    for name in request.reached:
        if query.source is not None:
            if name is None or query.source_id is None:
                raise BadRequestError("A source needs its source_id, and one project.")
            page = await await_wait(door.notifications_about(name, query.source, query.source_id))
        else:
            page = await await_wait(door.notifications(name, limit, is_open=query.status == "open"))
        pages.append(page)
    # Each page is in order, by number.
    found = (
        merge(*pages, key=lambda each: each.created_at, reverse=True)
        if query.source is None
        else chain.from_iterable(pages)
    )
    return Notifications(tuple(found)[:limit])


async def _count_notifications(request: Incoming) -> Count:
    door = request.site.door
    return Count(sum([await await_wait(door.count_notifications(name)) for name in request.reached]))


async def _add_notification(request: Incoming) -> Notification:
    body: NotificationBody = request.body
    return await await_call(
        work.add_notification(
            request.calls,
            body.source,
            body.sourceId,
            body.questions,
            kind=body.kind,
            error_code=body.errorCode,
            scope_change_metadata=body.scopeChangeMetadata,
            command_id=request.command_id,
        )
    )


async def _show_notification(request: Incoming) -> Notification:
    return await await_call(work.find_notification(request.calls, request.path["notification"]))


async def _resolve(request: Incoming) -> Notification:
    body: PatchBody = request.body
    said = {name: part for name, part in msgspec.to_builtins(body).items() if part is not UNSET}
    call = work.resolve(request.calls, request.path["notification"], said, command_id=request.command_id)
    return await await_call(call)


async def _clear(request: Incoming) -> Cleared:
    return Cleared(await await_call(work.clear_notifications(request.calls)))


# Tasks


async def _create_task(request: Incoming) -> TaskReply:
    body: TaskBody = request.body
    task = await await_call(
        work.create_task(
            request.calls,
            body.title,
            task_id=body.task_id,
            priority=body.priority,
            assignee=body.assignee,
            dependencies=body.dependencies,
            parent=body.parent,
            is_epic=body.is_epic,
            command_id=request.command_id,
        )
    )
    return TaskReply.of(task)


async def _list_tasks(request: Incoming) -> Tasks:
    query = request.query
    limit = limit_of(query.limit)
    found = await await_call(work.list_tasks(request.calls, is_live=query.status == "live", limit=limit))
    return Tasks(tuple(map(TaskReply.of, found)))


async def _list_ready(request: Incoming) -> Tasks:
    return Tasks(tuple(map(TaskReply.of, await await_call(work.list_ready(request.calls)))))


async def _show_task(request: Incoming) -> TaskReply:
    return TaskReply.of(await await_call(work.find_task(request.calls, request.path["task"])))


async def _update_task(request: Incoming) -> TaskReply:
    body: TaskPatch = request.body
    task_id, calls, command_id = request.path["task"], request.calls, request.command_id
    if not isinstance(body.block_reason, UnsetType):
        others = (body.title, body.priority, body.assignee, body.dependencies)
        if any(part is not UNSET for part in others) or body.status not in (UNSET, TaskStatus.BLOCKED):
            raise BadRequestError("To block a task, send its block_reason and nothing else.")
        task = await await_call(work.block_task(calls, task_id, body.block_reason, command_id=command_id))
        return TaskReply.of(task)
    task = await await_call(
        work.update_task(
            calls,
            task_id,
            title=body.title,
            priority=body.priority,
            assignee=body.assignee,
            dependencies=body.dependencies,
            status=body.status,
            command_id=command_id,
        )
    )
    return TaskReply.of(task)


async def _read_chat(request: Incoming) -> ChatReply:
    calls, task_id = request.calls, request.path["task"]
    messages = await await_call(work.chat_of(calls, task_id))
    clarification = await await_call(work.clarify(calls, task_id))
    return ChatReply(
        tuple(messages), clarification, tuple(await await_call(work.list_answers(calls, task_id)))
    )


async def _say(request: Incoming) -> PostedReply:
    body: ChatBody = request.body
    task_id = check_task_id(request.path["task"])
    topic = chat_topic(task_id)
    said = {"text": body.text}
    if body.notificationId is not None:
        about = await await_call(work.find_notification(request.calls, body.notificationId))
        if (about.source, about.source_id) != (Source.EXECUTE, task_id):
            raise BadRequestError(f"{about.notification_id} asks about something else than task {task_id}.")
        check_responses(about.questions, answer_all(about.questions, body.text))
        said["notificationId"] = about.notification_id
    text = msgspec.json.encode(said)
    posted = await await_call(steer.deliver(request.calls, topic, text, command_id=request.command_id))
    if posted.message is None:
        raise BadRequestError(posted.problem)
    return posted_reply(posted.message)


# Policies


async def _show_policy(request: Incoming) -> PolicyReply:
    project = request.path["project"]
    return policy_reply(project, await await_wait(request.site.door.policy(project)))


async def _set_policy(request: Incoming) -> PolicyReply:
    found = await await_call(
        work.set_policy(
            request.calls,
            request.body.hilConfig,
            assurances=request.body.assurances,
            is_unattended=request.body.unattended,
            command_id=request.command_id,
        )
    )
    return policy_reply(request.path["project"], found)


ENDPOINTS: dict[str, Endpoint] = {
    "hand_in": _hand_in,
    "list_notifications": _list_notifications,
    "list_all_notifications": _list_notifications,
    "count_notifications": _count_notifications,
    "count_all_notifications": _count_notifications,
    "add_notification": _add_notification,
    "show_notification": _show_notification,
    "resolve_notification": _resolve,
    "clear_notifications": _clear,
    "create_task": _create_task,
    "list_tasks": _list_tasks,
    "list_ready": _list_ready,
    "show_task": _show_task,
    "update_task": _update_task,
    "read_chat": _read_chat,
    "say_in_chat": _say,
    "show_policy": _show_policy,
    "set_policy": _set_policy,
}
