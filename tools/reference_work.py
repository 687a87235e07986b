"""Sentences for the fields of notifications, tasks and policies, and of what happens to them."""

from __future__ import annotations

__all__ = ["WORK_NOTES"]

_SOURCE_ID = "Which feedback, section, plan or task, by its own id"
_COMMAND = "The command that did it: a retry of it gets the same reply"
_TASK = {
    "task_id": "Its id, made or given",
    "title": "What is to be done",
    "status": "Where it is in its life",
    "assignee": "Who works on it; null is nobody",
    "block_reason": "Why it is blocked; null when it is not",
    "priority": "0 comes first",
    "dependencies": "The tasks that must be closed before it is ready",
    "parent": "The epic that it is a part of",
    "is_epic": "It only holds others together, and is never taken in hand itself",
    "attempts": "How often an agent failed at it; stopping to ask is no failure",
    "at": "When",
    "by": "Who",
    "command_id": _COMMAND,
}

WORK_NOTES: dict[tuple[str, str], str] = {
    ("Notification", "notification_id"): "Its name: a prefix for its kind and 8 hexadecimal digits",
    ("Notification", "project_id"): "The project that it belongs to",
    ("Notification", "source"): "What it is about: a feedback, a section of the requirements, a plan, a task",
    ("Notification", "source_id"): _SOURCE_ID,
    ("Notification", "questions"): "What is asked; of the other kinds, the one thing that is told",
    ("Notification", "status"): "`open` until it is resolved",
    ("Notification", "created_at"): "When it was stored",
    ("Notification", "resolved_at"): "When it was resolved; null while it is open",
    ("Notification", "kind"): "What sort of thing people are told",
    ("Notification", "error_code"): "Of `api_blocked` only: why",
    ("Notification", "responses"): "What was answered",
    ("Notification", "resolved_by"): "Who resolved it",
    ("Question", "text"): "What the agent wants to know",
    ("Question", "created_at"): "When, by the agent or, where it did not say, by the store's clock",
    ("Response", "question_id"): "The `id` of the question",
    ("Response", "answer"): "As the person typed it",
    ("NotificationAdded", "notification_id"): "Which notification",
    ("NotificationAdded", "at"): "When",
    ("NotificationAdded", "by"): "Who told",
    ("NotificationAdded", "kind"): "As in the notification",
    ("NotificationAdded", "source"): "What it is about",
    ("NotificationAdded", "source_id"): _SOURCE_ID,
    ("NotificationAdded", "questions"): "What is asked or told",
    ("NotificationAdded", "ask_id"): "The ask that it is a view of",
    ("NotificationAdded", "error_code"): "Of `api_blocked` only: why",
    ("NotificationAdded", "scope_change_metadata"): "As in the notification",
    ("NotificationResolved", "notification_id"): "Which notification",
    ("NotificationResolved", "at"): "When",
    ("NotificationResolved", "by"): "Who; `operator:assent` where the asker took its question back",
    ("NotificationResolved", "responses"): "What was answered",
    ("NotificationResolved", "approved"): "What was said to an approval",
    ("NotificationResolved", "is_dismissed"): "Without an answer",
    ("NotificationResolved", "via"): "The surface",
    ("NotificationResolved", "assurance"): "As for an answer",
    ("NotificationResolved", "is_unattended"): "A process did it for a person",
    ("NotificationResolved", "command_id"): _COMMAND,
    ("PolicySet", "after"): "As it is now",
    ("PolicySet", "at"): "When",
    ("PolicySet", "by"): "Who",
    ("PolicySet", "assurance"): "As for an answer",
    ("PolicySet", "is_unattended"): "A person let a process do it, with `--unattended`",
    ("PolicySet", "command_id"): _COMMAND,
}
WORK_NOTES |= {
    (event, name): note for event in ("TaskCreated", "TaskUpdated") for name, note in _TASK.items()
}
