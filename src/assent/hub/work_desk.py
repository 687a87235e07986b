"""The part of the desk for work: an agent's result becomes a notification, an ask and a blocked task, and back.

    a result asks      notification.added, ask.opened, task.updated (blocked)
    a person answers   ask.answered, the task's chat, notification.resolved, task.updated (open)

All of a row is one transaction, in this order (Q19-Q21, Q23-Q26). However an ask ends, its notification ends with it;
and who resolves a notification ends its ask, so that there is one winner and not two. Whoever dismisses it declines.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from assent.engine.ask import AnswerAsk, DeclineAsk, OpenAsk
from assent.engine.notification import RESOLVERS
from assent.engine.notification import decide as decide_notification
from assent.engine.notification import evolve as evolve_notification
from assent.engine.reactions import react_to_ending, react_to_resolving
from assent.engine.stamp import NOBODY, Stamp
from assent.engine.task import decide as decide_task
from assent.engine.task import evolve as evolve_task
from assent.hub.apply import apply
from assent.hub.record import TopicPosted
from assent.hub.work_command import (
    AddNotification,
    DismissNotification,
    FailTask,
    Handed,
    NotificationCommand,
    ResolveNotification,
    SetPolicy,
    TakeResult,
    TaskCommand,
    WorkRequest,
    WorkTold,
)
from assent.protocol.agent_result import AgentResult, meaning_of
from assent.protocol.approval import approval_values
from assent.protocol.ask import Ask, Kind
from assent.protocol.ending import DISMISSED
from assent.protocol.error import (
    BadRequestError,
    CommandReusedError,
    ForbiddenError,
    NotFoundError,
    TooLargeError,
)
from assent.protocol.notification import Notification, NotificationKind, Source
from assent.protocol.policy import ProjectPolicy
from assent.protocol.prompt import check_prompt, prompt_digest
from assent.protocol.question_prompt import answers_of, question_prompt, responses_of
from assent.protocol.repeat import is_confirmation, sift
from assent.protocol.resolution import Response, answer_all
from assent.protocol.task import Task, TaskId, chat_message, chat_topic, check_cycles, is_task_id, reply_in
from assent.protocol.topic import Message
from assent.storage.port import Head

if TYPE_CHECKING:
    from assent.hub.desk import Desk

__all__ = ["WorkDesk"]

_VIEWS = {NotificationKind.OPEN_QUESTION: Kind.OPEN_QUESTION, NotificationKind.HIL_APPROVAL: Kind.APPROVAL}
"""Which kind of ask stands behind which kind of notification; behind the others there is none."""
_PAGE, _PAGES = 1_000, 20
"""So many messages are looked at for a reply. Agents write there, too, and a transaction must end."""


class WorkDesk:
    """Results, notifications, tasks and policies of one transaction."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def perform(self, head: Head, request: WorkRequest, stamp: Stamp) -> WorkTold:
        """Do one request; return what it is about, as it is now."""
        match request:
            case TakeResult():
                return self._take(head, request, stamp)
            case SetPolicy():
                policy: ProjectPolicy = apply(self._desk, head, replace(request, stamp=stamp))
                return policy
            case AddNotification():
                return self.add(head, replace(request, stamp=stamp))
            case ResolveNotification() | DismissNotification():
                return self._resolve(head, replace(request, stamp=stamp))
            case _:
                return self._task(head, replace(request, stamp=stamp))

    # Results

    def _take(self, head: Head, request: TakeResult, stamp: Stamp) -> Handed:
        result, source = request.result, request.result.source
        if source is None:
            return Handed(meaning_of(result))
        made = self._desk.transaction.notification(head.project, request.notification_id)
        if made is not None:
            return _handed_again(result, made)
        about = self._desk.transaction.notifications_about(head, source, result.source_id)
        asked = [each for each in about if each.kind is NotificationKind.OPEN_QUESTION]
        command = AddNotification(
            request.notification_id,
            NotificationKind.OPEN_QUESTION,
            source,
            result.source_id,
            result.questions,
            request.ask_id,
            stamp=stamp,
        )
        # First: what says the same as an open one is that one, and not sifted as a repeat of it.
        known = self._find_like(head, command) if result.questions else None
        if source is Source.EVAL and known is None:  # Q-X4, Q-X5: in a feedback cycle nothing is asked twice
            texts = [question.text for each in asked for question in each.questions]
            kept = sift(result.questions, texts, any(map(is_confirmation, texts)))
            result, command = replace(result, questions=kept), replace(command, questions=kept)
        meaning = meaning_of(result, is_waiting=any(each.is_open for each in asked))
        notification = self.add(head, command, result.agent) if meaning.questions else None
        if source is Source.EXECUTE and (meaning.is_task_blocked or meaning.is_failed_attempt):
            failed = FailTask(TaskId(result.source_id), meaning.is_task_blocked, stamp)
            self._happen_to_task(head, self._known_task(head, result.source_id), failed)
        return Handed(meaning, notification)

    # Notifications

    def add(self, head: Head, command: AddNotification, agent: str = "") -> Notification:
        """Add a notification, and open the ask behind it; or find the one that says the same."""
        transaction = self._desk.transaction
        known = self._find_like(head, command)
        events = decide_notification(known, command)
        if not events:
            assert known is not None  # noqa: S101 - nothing happens only where there is one
            return known
        self._check_view(head, command)
        notification = evolve_notification(None, *events, project=head.project, sequence=head.sequence + 1)
        self._desk.record(head, events[0], notification.notification_id)
        transaction.put_notification(head, notification)
        if notification.kind is NotificationKind.OPEN_QUESTION and notification.ask_id is not None:
            prompt = question_prompt(notification, agent)
            digest = prompt_digest(check_prompt(prompt))
            opened = OpenAsk(notification.ask_id, prompt, digest, Kind.OPEN_QUESTION, stamp=command.stamp)
            self._desk.command(head, opened)
        return notification

    def _check_view(self, head: Head, command: AddNotification) -> None:
        """Refuse a view of an ask that says something else: who resolves the one would answer the other."""
        if command.ask_id is None:
            return
        ask = self._desk.transaction.ask(head.project, command.ask_id)
        kind = _VIEWS.get(command.kind)
        if kind is None:
            raise BadRequestError(f"A notification of the kind {command.kind} has no ask behind it.")
        if ask is not None and (ask.kind, ask.asker) != (kind, str(command.stamp.by)):
            raise ForbiddenError(f"{command.ask_id} is another ask than that of this notification.")

    def _find_like(self, head: Head, command: AddNotification) -> Notification | None:
        """Return the notification that has this id, or an open one that says the same."""
        transaction = self._desk.transaction
        known = transaction.notification(head.project, command.notification_id)
        if known is not None:
            return known
        new = evolve_notification(None, *decide_notification(None, command), project=head.project)
        return transaction.open_notification_like(head, new.repeat_key)

    def _resolve(self, head: Head, command: ResolveNotification | DismissNotification) -> Notification:
        """Resolve a notification by ending the ask behind it, so that exactly one answer wins."""
        notification = self._desk.transaction.notification(head.project, command.notification_id)
        events = decide_notification(notification, command)
        assert notification is not None  # noqa: S101 - the machine has just found it
        if not events:
            return notification
        if isinstance(command, DismissNotification) and command.takes_reply:
            command = self._take_reply(head, notification, command)
        ask = self._ask_of(head, notification)
        if ask is None or not ask.is_open:
            return self._happen_to_notification(head, notification, command)
        if isinstance(command, DismissNotification):
            declined = DeclineAsk(
                ask.ask_id,
                DISMISSED,
                command.via,
                command.assurance,
                stamp=command.stamp,
                is_unattended=command.is_unattended,
            )
            self._desk.command(head, declined)
        else:
            is_approval = command.approved is not None
            values = approval_values(bool(command.approved)) if is_approval else None
            self._desk.command(
                head,
                AnswerAsk(
                    ask.ask_id,
                    values=values or answers_of(notification, command.responses or ()),
                    via=command.via,
                    assurance=command.assurance,
                    is_unattended=command.is_unattended,
                    stamp=command.stamp,
                    reason=command.reason,
                ),
            )
        return self._must_find(head, notification)

    def _take_reply(
        self, head: Head, notification: Notification, command: DismissNotification
    ) -> ResolveNotification | DismissNotification:
        """Return the answer that the same person has posted in the task's chat as theirs; else what was sent."""
        said = self._reply_to(head, notification, command.stamp)
        if not said:
            return command
        return ResolveNotification(
            notification.notification_id,
            answer_all(notification.questions, said),
            None,
            command.via,
            command.assurance,
            command.is_unattended,
            command.stamp,
        )

    def _reply_to(self, head: Head, notification: Notification, stamp: Stamp) -> str:
        """Return what whoever acts has posted last in the task's chat as the reply to an open question.

        Raises:
            TooLargeError: so much was posted since that it cannot be looked for.
        """
        if not _has_chat(notification) or notification.kind is not NotificationKind.OPEN_QUESTION:
            return ""
        topic = chat_topic(TaskId(notification.source_id))
        chat: list[Message] = []
        for _ in range(_PAGES):
            after = chat[-1].sequence if chat else notification.sequence
            page = self._desk.transaction.messages(head, topic, after, _PAGE)
            chat += page
            if len(page) < _PAGE:
                return reply_in(map(chat_message, chat), notification.notification_id, str(stamp.by))
        raise TooLargeError(
            f"{topic} has more than {_PAGE * _PAGES:,} messages since {notification.notification_id} asked: "
            "send the answer as responses."
        )

    def follow(self, head: Head, ask: Ask, stamp: Stamp) -> None:
        """An ask has ended: so does the notification that is a view of it."""
        notification = self._desk.transaction.notification_of(head, ask.ask_id)
        if notification is None or not notification.is_open:
            return
        command = react_to_ending(notification, ask, responses_of(notification, ask))
        self._happen_to_notification(head, notification, replace(command, stamp=stamp))

    def _as_hub(self, stamp: Stamp) -> Stamp:
        """Return who resolves a notification whose asker took the question back: nobody did."""
        return stamp if stamp.by.role in RESOLVERS else Stamp(stamp.at, NOBODY, stamp.command_id)

    def _happen_to_notification(
        self, head: Head, notification: Notification, command: NotificationCommand
    ) -> Notification:
        for event in decide_notification(notification, replace(command, stamp=self._as_hub(command.stamp))):
            resolved = evolve_notification(notification, event, project=head.project)
            self._tell_chat(head, notification, resolved, command.stamp)
            resolved = replace(resolved, sequence=head.sequence + 1)
            self._desk.record(head, event, resolved.notification_id)
            self._desk.transaction.put_notification(head, resolved)
            self._let_go_on(head, resolved, command.stamp)
            notification = resolved
        return notification

    def _tell_chat(
        self, head: Head, notification: Notification, resolved: Notification, stamp: Stamp
    ) -> None:
        """Put the answer into the task's chat, before anything else hears of it, and exactly once (Q23, Q-X11)."""
        text = "\n".join(_texts(resolved.responses))
        if not text or not _has_chat(resolved):
            return
        with suppress(TooLargeError):
            if text == self._reply_to(head, notification, stamp):
                return
        said = {"text": text, "notificationId": notification.notification_id}
        topic = chat_topic(TaskId(notification.source_id))
        message = msgspec.Raw(msgspec.json.encode(said))
        self._desk.record(head, TopicPosted(topic, stamp.at, str(stamp.by), message, is_copy=True), topic)

    def _let_go_on(self, head: Head, notification: Notification, stamp: Stamp) -> None:
        """Open the task if no question is left, however the last one was resolved (Q25, Q-X7)."""
        about = self._desk.transaction.notifications_about(head, notification.source, notification.source_id)
        left = sum(each.is_open and each.kind is NotificationKind.OPEN_QUESTION for each in about)
        for command in react_to_resolving(notification, left):
            # What follows from an ending is the hub's own doing, whoever caused it.
            task = self._known_task(head, command.task_id)
            self._happen_to_task(
                head, task, replace(command, stamp=Stamp(stamp.at, NOBODY, stamp.command_id))
            )

    def _ask_of(self, head: Head, notification: Notification) -> Ask | None:
        if notification.ask_id is None:
            return None
        return self._desk.transaction.ask(head.project, notification.ask_id)

    def _must_find(self, head: Head, notification: Notification) -> Notification:
        found = self._desk.transaction.notification(head.project, notification.notification_id)
        assert found is not None  # noqa: S101 - it was there before
        return found

    # Tasks

    def _task(self, head: Head, command: TaskCommand) -> Task:
        task = self._happen_to_task(head, self._known_task(head, command.task_id), command)
        if task is None:
            raise NotFoundError(f"There is no task {command.task_id} here.")
        return task

    def _known_task(self, head: Head, task_id: str) -> Task | None:
        return self._desk.transaction.task(head.project, TaskId(task_id))

    def _happen_to_task(self, head: Head, task: Task | None, command: TaskCommand) -> Task | None:
        for event in decide_task(task, command):
            changed = evolve_task(task, event, project=head.project, sequence=head.sequence + 1)
            leads_on = bool(changed.dependencies) or changed.parent is not None
            known = (task.dependencies, task.parent) if task is not None else None
            if leads_on and (changed.dependencies, changed.parent) != known:
                others = [
                    each for each in self._desk.transaction.tasks(head) if each.task_id != changed.task_id
                ]
                check_cycles([*others, changed])
            self._desk.record(head, event, changed.task_id)
            self._desk.transaction.put_task(head, changed)
            task = changed
        return task


def _handed_again(result: AgentResult, made: Notification) -> Handed:
    """Return what the command was told before: its notification, whatever has become of that."""
    asked = {(question.question_id, question.text) for question in result.questions}
    is_same = (made.source, made.source_id) == (result.source, result.source_id)
    if not is_same or not {(question.question_id, question.text) for question in made.questions} <= asked:
        raise CommandReusedError(f"{made.notification_id} already says something else.")
    return Handed(meaning_of(replace(result, questions=made.questions)), made)


def _has_chat(notification: Notification) -> bool:
    return notification.source is Source.EXECUTE and is_task_id(notification.source_id)


def _texts(responses: tuple[Response, ...] | None) -> tuple[str, ...]:
    """Return what was answered; a text that answers several questions once (Q-U9)."""
    return tuple(dict.fromkeys(response.answer for response in responses or ()))
