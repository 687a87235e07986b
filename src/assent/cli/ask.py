"""`assent ask`: acts for an agent. Standard output is the answer and nothing else.

What is typed at its own prompt is the person's. It is read from a terminal only, and not where an agent runs the
command: a program that types into its own question has not asked anybody.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import timedelta
from typing import Any

import click

from assent.cli.exit import DONE, STILL_OPEN, say, status_of
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, now
from assent.cli.round import read_round
from assent.cli.span import SPAN
from assent.cli.typist import find_typist
from assent.client.calls import no_answer
from assent.client.client import Client
from assent.client.identity import agent
from assent.protocol.answer import labels
from assent.protocol.ask import Ask, Consequence, Kind, render_json
from assent.protocol.display import display
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.prompt import Prompt, question
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here, await_end
from assent.surfaces.terminal import TerminalSurface
from assent.surfaces.wake import uninterrupted

__all__ = ["command", "render_answer"]


@click.command("ask", cls=PlacedCommand)
@click.argument("text", required=False)
@click.option("--option", "-o", "options", metavar="LABEL", multiple=True, help="A choice; once for each.")
@click.option(
    "--free", is_flag=True, help="Text of one's own is an answer, too. (Without options it always is.)"
)
@click.option("--multiple", is_flag=True, help="Several options may be chosen.")
@click.option("--body", metavar="TEXT", default="", help="More to read before answering.")
@click.option(
    "--file", "file", metavar="ROUND.json", help="Ask the questions of this file; - is standard input."
)
@click.option("--key", metavar="KEY", help="The same key and question are the same ask, for ever.")
@click.option("--replace", is_flag=True, help="Let this ask take the place of an open one with the same key.")
@click.option(
    "--deadline", type=SPAN, metavar="TIME", help="Seconds, or as in 30m or 2h: when silence counts."
)
@click.option(
    "--consequence",
    type=click.Choice([choice.value for choice in Consequence]),
    default=Consequence.WAIT.value,
    help="What happens at the deadline; none of them answers. [default: wait]",
)
@click.option("--escalate-to", metavar="WHO", help="Whom to ask, too, for the consequence escalate.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in Kind]),
    default=Kind.QUESTION.value,
    help="[default: question]",
)
@click.option("--as", "name", metavar="NAME", help="The name of the agent that asks.")
@click.option("--wait", "wait", type=SPAN, metavar="TIME", help="Wait so long at most; the ask stays open.")
@click.option("--no-wait", is_flag=True, help="Print the ask's id and return at once.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole ask as JSON.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Ask a person, wait, and print the answer.

    On a terminal the question is shown and can be answered right there. At the same time it can be answered from
    anywhere else, and the first answer wins. Without a terminal the command just waits. The ask is stored before
    anything else happens: whatever is killed, it stays open until a person ends it.

    \b
      answer=$(assent ask "Which database?" -o PostgreSQL -o SQLite)
      assent ask "Deploy now?" -o Yes -o No --key deploy-42 --deadline 30m --consequence deny
      assent ask --file round.json --no-wait

    Exit status: 0 answered, 3 still open, 4 declined, 5 withdrawn, expired or superseded, 6 the key is taken.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if given["no_wait"] and given["wait"] is not None:
        raise click.UsageError("Give --wait or --no-wait, not both.")
    prompt = _prompt(given)
    ask: Ask | None = None
    with place.hub() as hub:
        asker = place.client(hub, agent(place.environ, given["name"]))
        try:
            with uninterrupted():  # so that the id of what was stored can be told
                ask = _open(place, asker, prompt, given)
            if given["no_wait"]:
                click.echo(render_json(ask) if given["as_json"] else ask.ask_id)
                return DONE
            ask = _await(place, asker, ask, given["wait"]) if ask.is_open else ask
            return _report(ask, as_json=given["as_json"])
        except (KeyboardInterrupt, EOFError):
            return _leave(asker, ask, as_json=given["as_json"])


def _open(place: Place, asker: Client, prompt: Prompt, given: dict[str, Any]) -> Ask:
    return asker.open(
        prompt,
        kind=given["kind"],
        key=given["key"],
        replace=given["replace"],
        run_id=place.environ.get("ASSENT_RUN_ID") or None,
        deadline=given["deadline"],
        consequence=given["consequence"],
        escalate_to=given["escalate_to"],
    ).ask


def _prompt(given: dict[str, Any]) -> Prompt:
    text, file = given["text"], given["file"]
    if file is not None:
        if given["options"] or given["free"] or given["multiple"] or given["body"]:
            raise click.UsageError("With --file, the questions and their options are in the file.")
        return read_round(file, text)
    if text is None:
        raise click.UsageError('What is the question? As in: assent ask "Which database?"')
    is_free = True if given["free"] else None
    return question(text, given["options"], body=given["body"], multiple=given["multiple"], free=is_free)


def _report(ask: Ask, *, as_json: bool, opening: str = "") -> int:
    """Print how the ask stands; return the exit status that says the same."""
    status = DONE
    if ask.answer is None:
        ending = no_answer(ask)
        status = status_of(ending)
        _say(f"{opening or ending.message} {_how(ask)}" if ask.is_open else ending.message)
    if as_json:
        click.echo(render_json(ask))
    elif ask.answer is not None:
        # Bytes: click would take colour codes out of a text, and the answer is printed as it was given.
        click.echo(render_answer(ask, is_seen=sys.stdout.isatty()).encode())
    return status


def _leave(asker: Client, ask: Ask | None, *, as_json: bool) -> int:
    """Ctrl-C, or the terminal is gone. Somebody elsewhere may have answered in the same moment: the store knows."""
    say("")
    if ask is None:
        _say("Nothing was asked.")
        return STILL_OPEN
    with suppress(AssentError):
        ask = asker.show(ask.ask_id)
    return _report(
        ask,
        as_json=as_json,
        opening="Nothing was decided; the ask stays open.",
    )


def _await(place: Place, asker: Client, ask: Ask, wait: timedelta | None) -> Ask:
    """Return the ask as it is after the wait; it may still be open."""
    seconds = None if wait is None else wait.total_seconds()
    typist = find_typist(place, asker.hub)
    try:
        if typist is None:
            _say(f"waiting for an answer: assent answer {short_id(ask.ask_id)} …")
            return await_end(asker, ask, seconds)
        with TerminalSurface(now, place.environ) as surface:
            return answer_here(surface, typist, ask, seconds)
    except StillOpen as lapsed:
        return lapsed.ask or ask


def render_answer(ask: Ask, *, is_seen: bool) -> str:
    """Return what standard output gets: a label or typed text a line, and in a round a line for each question.

    Where a person looks on, hostile characters are made visible; a program gets the exact text.
    """
    values = ask.answer.values if ask.answer else {}
    fields = ask.prompt.fields
    lines = labels(ask.prompt, values)
    if len(fields) > 1:
        lines = [", ".join(labels(ask.prompt, {field.name: values[field.name]})) for field in fields]
        lines = [" ".join(line.splitlines()) for line in lines]
    return "\n".join(display(line) if is_seen else line for line in lines)


def _how(ask: Ask) -> str:
    return f"Answer it with: assent answer {short_id(ask.ask_id)} …"


def _say(sentence: str) -> None:
    say(display(sentence, lines=False))
