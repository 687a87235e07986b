"""`assent result`: acts for an agent, and hands its result in. What the result asks becomes one ask, and blocks its task.

What is said about it goes by the record after the fact: a task that is not kept here is not said to be blocked.
"""

from __future__ import annotations

import sys
from datetime import datetime
from difflib import get_close_matches

import click
import msgspec

from assent.cli.exit import DONE, say
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.json_line import echo_json
from assent.cli.place import Place
from assent.client.client import Client
from assent.client.identity import agent
from assent.effects.interrupt import uninterrupted
from assent.hub.work_command import Handed
from assent.protocol.agent_result import SOURCES, SUCCESS
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, NotFoundError
from assent.protocol.json_text import Json, parse_json
from assent.protocol.notification import Source
from assent.protocol.task import OPEN_QUESTION_REASON, Task, TaskStatus
from assent.protocol.words import count
from assent.surfaces.card import short_id

__all__ = ["command", "render_handed"]

Body = dict[str, Json]
_LONGEST = 60
_HELD = {
    Source.EVAL: "make no task of feedback {name}",
    Source.PRD: "leave section {name} as it is",
    Source.PLAN: "do not break plan {name} down",
}
"""What the agent must not do while it waits (Q10, Q14)."""


@click.command("result", cls=PlacedCommand)
@click.argument("agent_name", metavar="AGENT")
@click.argument("file", metavar="[RESULT.json | -]", required=False)
@click.option(
    "--source-id",
    metavar="ID",
    required=True,
    help="What the result is about: a feedback, a section, a plan or a task.",
)
@click.option("--as", "name", metavar="NAME", help="The name of the agent that hands it in.")
@click.option("--json", "as_json", is_flag=True, help='Print {"meaning": …, "notification": … or null}.')
@click.pass_obj
def command(
    place: Place, /, agent_name: str, file: str | None, source_id: str, name: str | None, as_json: bool
) -> int:
    """Hand in an agent's result; the open questions in it are put to people.

    AGENT is analyst, dreamer, planner or coder, and --source-id says which feedback, section, plan or task it worked
    on. The result is a JSON object; without a file, or with -, it is read from standard input. Its status and its
    open_questions (or openQuestions) count: a list of objects with a text, and an id if you like. A coder's questions
    block its task until they are answered, unless it succeeded. Questions of any other agent are ignored, and what
    is asked already is not asked again.

    \b
      assent result coder --source-id T-12 result.json
      echo '{"status": "failed", "open_questions": [{"text": "Which database?"}]}' | assent result coder --source-id T-12

    Exit status: 0 handed in, also when it asks something; 2 it is no result.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    body: Body = {**_read(file), "agent": agent_name, "sourceId": source_id}
    with place.door() as door, uninterrupted(is_final=True):
        client = place.client(door, agent(place.environ, name))
        before = door.now()
        handed = client.hand_in(body)
        lines = [] if as_json else render_handed(client, body, handed, before)
    if as_json:
        echo_json(msgspec.json.encode({"meaning": handed.meaning, "notification": handed.notification}))
    for line in lines:
        click.echo(line)
    return DONE


def _read(file: str | None) -> Body:
    if file is None or file == "-":
        if sys.stdin is None:
            raise BadRequestError("There is no result: standard input is closed.")
        if sys.stdin.isatty():
            say("Type the result, then Ctrl-D.")
    return read_json_file(file or "-", _parse)


def _parse(text: bytes) -> Body:
    body = parse_json(text)
    if not isinstance(body, dict):
        raise BadRequestError("A result must be an object.")
    return body


def render_handed(client: Client, body: Body, handed: Handed, before: datetime) -> list[str]:
    """Return what came of a result, in sentences; `before` is a moment before it was handed in."""
    who = str(body["agent"]).strip().lower()
    source, source_id = SOURCES.get(who), str(body["sourceId"]).strip()
    name = quote(source_id, _LONGEST)
    if source is None:
        return [_render_ignored(who)]
    if handed.notification is not None:
        return [_render_asked(handed, before), _render_waiting(source, name, _find_task(client, source_id))]
    lines = [_render_silence(who, source, name, body, handed)]
    if handed.meaning.is_failed_attempt:
        lines.append(_render_attempt(source, name, _find_task(client, source_id)))
    return lines


def _render_ignored(who: str) -> str:
    *most, last = SOURCES
    told = f"Ignored: only questions of {', '.join(most)} and {last} count, and not those of {quote(who, _LONGEST)}."
    near = get_close_matches(who, SOURCES, 1)
    return f"{told} Did you mean {near[0]}?" if near else told


def _render_asked(handed: Handed, before: datetime) -> str:
    notification = handed.notification
    assert notification is not None  # noqa: S101 - the caller has just looked
    number = len(notification.questions)
    is_known = notification.created_at < before
    told = f"Asked already, and still open, as {notification.notification_id}: {count(number, 'question')}."
    if not is_known:
        told = f"Asked {count(number, 'question')} as {notification.notification_id}."
    how = f"assent answer {short_id(notification.ask_id or '')} …"
    return f"{told} A person answers {'it' if number == 1 else 'them'} with: {how}"


def _find_task(client: Client, task_id: str) -> Task | None:
    try:
        return client.find_task(task_id)
    except NotFoundError:
        return None


def _render_waiting(source: Source, name: str, task: Task | None) -> str:
    if source in _HELD:
        return f"Until then the work is held back: {_HELD[source].format(name=name)}."
    if task is None:
        return f"Until then, leave task {name} alone: it is not kept here, so nothing else blocks it."
    if task.block_reason == OPEN_QUESTION_REASON:
        return f"Until then task {name} is blocked."
    if task.status is TaskStatus.BLOCKED:
        return f"Task {name} was blocked before, and stays so: {quote(task.block_reason or '', _LONGEST)}."
    return f"Task {name} is {task.status}, and stays so."


def _render_silence(who: str, source: Source, name: str, body: Body, handed: Handed) -> str:
    """Return why nothing is asked."""
    has_entries = bool(body.get("open_questions") or body.get("openQuestions"))
    if handed.meaning.is_work_held:
        held = _HELD[source].format(name=name)
        return f"Nothing new is asked, but an earlier question about it is still open. Until it is answered, {held}."
    if not has_entries:
        return "Nothing is asked: there are no questions in it."
    if source is Source.EXECUTE and str(body.get("status", "")).strip().lower() == SUCCESS:
        return f"Nothing is asked: of a {who} that succeeded no question counts."
    if source is Source.EVAL:
        return (
            "Nothing is asked: its questions have no text, were asked before about the same feedback, "
            "or are one more confirmation."
        )
    return "Nothing is asked: its questions have no text."


def _render_attempt(source: Source, name: str, task: Task | None) -> str:
    if source is not Source.EXECUTE:
        return "It counts as a failed attempt."
    if task is None:
        return f"It counts as a failed attempt; there is no task {name} here to count it for."
    return f"Task {name} is {task.status}, with {count(task.attempts, 'failed attempt')}."
