"""`assent ask`: acts for an agent. Standard output is the answer and nothing else.

What is typed at its own prompt is the person's. It is read from a terminal only, and not where an agent runs the
command: a program that types into its own question has not asked anybody.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from assent.cli.exit import DONE, STILL_OPEN, say, status_of
from assent.cli.group import PlacedCommand
from assent.cli.json_file import read_json_file
from assent.cli.place import Place, now
from assent.cli.round import Round, Wishes, read_round
from assent.cli.span import SPAN
from assent.cli.typist import find_typist, tell_waiting, warn_unreached
from assent.client.calls import no_answer
from assent.client.client import Client
from assent.client.identity import agent
from assent.client.label import label_finder
from assent.effects.interrupt import uninterrupted
from assent.flows.question import split_prompt
from assent.protocol.answer import labels
from assent.protocol.ask import Ask, Consequence, Kind, render_json
from assent.protocol.canonical import parse_json
from assent.protocol.catalogue import PROTOCOLS, check_protocol, find_protocol
from assent.protocol.display import display
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.form import form, form_value, is_form
from assent.protocol.prompt import Prompt, check_prompt, label_other, question
from assent.surfaces.card import short_id
from assent.surfaces.race import answer_here, await_end
from assent.surfaces.terminal import TerminalSurface

__all__ = ["command", "render_answer"]


def _list_protocols(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not context.resilient_parsing:
        for protocol in PROTOCOLS.values():
            if not protocol.is_confirm:
                click.echo(protocol.protocol_id)
        context.exit()


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
@click.option(
    "--schema",
    "schema",
    metavar="SCHEMA.json",
    help="Ask for an object of this JSON Schema, and print it as JSON; - is standard input.",
)
@click.option(
    "--protocol",
    metavar="ID",
    help="Ask by this protocol: what does not fit it is refused, as in --list-protocols.",
)
@click.option(
    "--list-protocols",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_protocols,
    help="Print the ids of the protocols to ask by.",
)
@click.option(
    "--other",
    metavar="LABEL",
    default="",
    help="How the option for one's own words is called. [env: ASSENT_OTHER_LABEL; default: Other: type your answer]",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    metavar="N",
    help="Ask so many questions of a file in one round, at most. [default: 4]",
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
@click.option(
    "--escalate-to", metavar="WHO", help="Whom to ask, too, for the consequence escalate, as in human:sam."
)
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in Kind]),
    default=Kind.QUESTION.value,
    help="[default: question]",
)
@click.option(
    "--again",
    metavar="REASON",
    default="",
    help="Ask for an approval although a person said no to the same action, and say why.",
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
      assent ask "Which cache?" -o Redis -o None --protocol ask-single-question-free --other "Another one:"

    A file with more questions than fit in a round is asked in several rounds, one after the other. With a key, each
    has its own: KEY:1, KEY:2, and so on. With --no-wait all of them are asked at once, and there is an id a line.

    Exit status: 0 answered, 3 still open, 4 declined, 5 withdrawn, expired or superseded, 6 the key is taken.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if given["no_wait"] and given["wait"] is not None:
        raise click.UsageError("Give --wait or --no-wait, not both.")
    rounds = _rounds(place, given)
    asked: list[Ask] = []
    with place.door() as door:
        asker = place.client(door, agent(place.environ, given["name"]))
        warn_unreached(place, door, given["escalate_to"])
        try:
            if given["no_wait"]:
                return _ask_at_once(place, asker, rounds, given)
            _ask_in_turn(place, asker, rounds, given, asked)
        except (KeyboardInterrupt, EOFError):
            return _leave(asker, asked, len(rounds), as_json=given["as_json"])
        return _report(asked, as_json=given["as_json"])


def _ask_at_once(place: Place, asker: Client, rounds: list[Prompt], given: dict[str, Any]) -> int:
    for number, prompt in enumerate(rounds, start=1):
        with uninterrupted():  # so that the id of what was stored can be told
            ask = _open(place, asker, prompt, given, _key(given["key"], number, len(rounds)))
            click.echo(render_json(ask) if given["as_json"] else ask.ask_id)
    return DONE


def _ask_in_turn(
    place: Place, asker: Client, rounds: list[Prompt], given: dict[str, Any], asked: list[Ask]
) -> None:
    """Ask one round after the other, until one has no answer; `asked` has those that were, as they are now."""
    wait: timedelta | None = given["wait"]
    left = None if wait is None else wait.total_seconds()
    until = None if left is None else time.monotonic() + left
    for number, prompt in enumerate(rounds, start=1):
        with uninterrupted():
            asked.append(_open(place, asker, prompt, given, _key(given["key"], number, len(rounds))))
        if asked[-1].is_open:
            asked[-1] = _await(place, asker, asked[-1], left)
        if asked[-1].answer is None:
            return
        left = None if until is None else max(0.0, until - time.monotonic())


def _key(key: str | None, number: int, count: int) -> str | None:
    return f"{key}:{number}" if key is not None and count > 1 else key


def _open(place: Place, asker: Client, prompt: Prompt, given: dict[str, Any], key: str | None) -> Ask:
    return asker.open(
        prompt,
        kind=given["kind"],
        key=key,
        replace=given["replace"],
        run_id=place.environ.get("ASSENT_RUN_ID") or None,
        deadline=given["deadline"],
        consequence=given["consequence"],
        escalate_to=given["escalate_to"],
        again=given["again"],
    ).ask


def _rounds(place: Place, given: dict[str, Any]) -> list[Prompt]:
    if given["schema"] is not None:
        return [_form(given)]  # one ask, however many questions: an object is answered whole
    asked = _round(place, given)
    check_prompt(asked.prompt)  # all of it, before a part of it is asked
    return split_prompt(asked.prompt, asked.most)


def _form(given: dict[str, Any]) -> Prompt:
    if any(given[name] for name in ("options", "free", "multiple", "file", "most", "protocol", "other")):
        raise click.UsageError("With --schema, all that can be answered is in the schema.")
    title = given["text"]
    if title is None:
        raise click.UsageError('What is it for? As in: assent ask "Deploy settings?" --schema SCHEMA.json')
    prompt = read_json_file(given["schema"], lambda text: form(title, parse_json(text), body=given["body"]))
    check_prompt(prompt)
    return prompt


def _round(place: Place, given: dict[str, Any]) -> Round:
    text, file, protocol_id = given["text"], given["file"], given["protocol"]
    label = given["other"] or label_finder(place.environ)()
    if file is not None:
        if given["options"] or given["free"] or given["multiple"] or given["body"]:
            raise click.UsageError("With --file, the questions and their options are in the file.")
        return read_round(file, Wishes(text, protocol_id, label, given["most"]))
    if text is None:
        raise click.UsageError('What is the question? As in: assent ask "Which database?"')
    if given["most"] is not None:
        raise click.UsageError("--most is for the questions of a --file.")
    is_free = True if given["free"] else None
    if protocol_id is not None and is_free is None:
        is_free = find_protocol(protocol_id).is_free
    prompt = question(
        text,
        given["options"],
        body=given["body"],
        multiple=given["multiple"],
        free=is_free,
        other=given["other"],
    )
    if protocol_id is not None:
        check_protocol(protocol_id, prompt)
    return Round(replace(prompt, fields=(label_other(prompt.fields[0], label),)))


def _report(asked: list[Ask], *, as_json: bool, opening: str = "") -> int:
    """Print how the last ask stands, and the answers to all; return the exit status that says the same."""
    status, ask = DONE, asked[-1]
    if ask.answer is None:
        ending = no_answer(ask)
        status = status_of(ending)
        _say(f"{opening or ending.message} {_how(ask)}" if ask.is_open else ending.message)
    for each in asked:
        if as_json:
            click.echo(render_json(each))
        elif ask.answer is not None:
            # Bytes: click would take colour codes out of a text, and the answer is printed as it was given.
            click.echo(render_answer(each, is_seen=sys.stdout.isatty()).encode())
    return status


def _leave(asker: Client, asked: list[Ask], count: int, *, as_json: bool) -> int:
    """Ctrl-C, or the terminal is gone. Somebody elsewhere may have answered in the same moment: the store knows."""
    say("")
    if not asked:
        _say("Nothing was asked.")
        return STILL_OPEN
    with suppress(AssentError):
        asked[-1] = asker.show(asked[-1].ask_id)
    if asked[-1].answer is not None and len(asked) < count:
        _say(f"Round {len(asked)} of {count} is answered; the rest was not asked.")
        return STILL_OPEN
    return _report(
        asked,
        as_json=as_json,
        opening="Nothing was decided; the ask stays open.",
    )


def _await(place: Place, asker: Client, ask: Ask, seconds: float | None) -> Ask:
    """Return the ask as it is after the wait; it may still be open."""
    typist = find_typist(place, asker.door)
    try:
        with TerminalSurface(now, place.environ) as surface:
            if typist is not None:
                return answer_here(surface, typist, ask, seconds)
            tell_waiting(place, surface, ask)
        return await_end(asker, ask, seconds)
    except StillOpen as lapsed:
        return lapsed.ask or ask


def render_answer(ask: Ask, *, is_seen: bool) -> str:
    """Return what standard output gets: a label or typed text a line, and in a round a line for each question.

    The answer to a form is one line of JSON.

    Where a person looks on, hostile characters are made visible; a program gets the exact text.
    """
    values = ask.answer.values if ask.answer else {}
    fields = ask.prompt.fields
    if values and is_form(ask.prompt):
        line = msgspec.json.encode(form_value(ask.prompt, values)).decode()
        return display(line) if is_seen else line
    lines = labels(ask.prompt, values)
    if len(fields) > 1:
        lines = [", ".join(labels(ask.prompt, {field.name: values[field.name]})) for field in fields]
        lines = [" ".join(line.splitlines()) for line in lines]
    return "\n".join(display(line) if is_seen else line for line in lines)


def _how(ask: Ask) -> str:
    return f"Answer it with: assent answer {short_id(ask.ask_id)} …"


def _say(sentence: str) -> None:
    say(display(sentence, lines=False))
