"""The agent `coder`: runs into something that it cannot know, hands that in with its result, and goes on when told.

Its task is blocked meanwhile.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import assent
from assent.cli.demo_world.stage import Stage

__all__ = ["play"]

_WORK: tuple[tuple[str, list[dict[str, Any]]], ...] = (
    (
        "Import the bank's statement",
        [
            {
                "id": "q1",
                "text": "The same transfer stands in two statements. Which one counts?",
                "options": [
                    {
                        "label": "The first",
                        "pros": ["a closed day stays closed"],
                        "cons": ["a correction by the bank is lost"],
                    },
                    {"label": "The last", "pros": ["always what the bank says now"]},
                    {"label": "Neither: stop and tell somebody", "cons": ["about one stop a week"]},
                ],
            },
            {"id": "q2", "text": "Whom do I tell when a statement does not add up?"},
        ],
    ),
    (
        "Close the month",
        [
            {
                "id": "q1",
                "text": "Two bookings of November came in December. In which month do they count?",
                "options": [
                    {"label": "November, and open it again", "cons": ["the report was sent already"]},
                    {"label": "December, with a note", "pros": ["nothing that was sent changes"]},
                ],
            }
        ],
    ),
)
_FIRST = 41


def play(stage: Stage) -> None:
    """Take one task after the other in hand."""
    client = stage.client
    for number in count():
        title, questions = _WORK[number % len(_WORK)]
        name = f"LED-{_FIRST + len(client.tasks())}"  # on a store that is kept, after those of the last time
        task = client.create_task(title, task_id=name, assignee=stage.name)
        client.create_task(f"Tell the auditors about {name}", dependencies=[name])
        handed = client.hand_in(
            {
                "agent": "coder",
                "sourceId": task.task_id,
                "status": "failed",
                "summary": "The rest is written; this is all that is missing.",
                "open_questions": questions,
            }
        )
        told = handed.notification
        if told is not None and told.ask_id is not None:
            client.wait(told.ask_id)
        stage.rest(6)
        if client.find_task(task.task_id).status != assent.TaskStatus.BLOCKED:
            client.update_task(task.task_id, status=assent.TaskStatus.CLOSED)
        stage.pause()
