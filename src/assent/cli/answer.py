"""`assent answer`: acts for the person, and is refused where an agent runs it.

A round may be answered in parts: what was recognised is kept as the person's draft, only the rest is asked for, and
once everything is there it is sent together. What is approved is answered in one go.
"""

from __future__ import annotations

import sys
import termios
from collections.abc import Sequence

import click

from assent.cli.exit import DONE, STILL_OPEN, complain, say
from assent.cli.find import complete_ask, finding
from assent.cli.group import PlacedCommand
from assent.cli.place import Place
from assent.client.draft import add_to_draft, drop_draft, load_draft
from assent.client.identity import assurance_here, person
from assent.effects.interrupt import uninterrupted
from assent.protocol.answer import FieldValues, find_destructive, labels
from assent.protocol.approval import is_irreversible
from assent.protocol.ask import Ask, Kind, render_json
from assent.protocol.block import render_brief
from assent.protocol.canonical import canonical
from assent.protocol.display import display, display_exact, fold, quote
from assent.protocol.ending import render_name
from assent.protocol.error import BadRequestError, ConfirmFirstError, ConflictError, UnrecognisedError
from assent.protocol.principal import Assurance, Principal
from assent.protocol.prompt import Prompt
from assent.protocol.reply import parse_reply, render_missing, render_refusal
from assent.surfaces.card import render_title

__all__ = ["command", "join_values"]


@click.command("answer", cls=PlacedCommand)
@click.argument("ask_id", metavar="ASK", shell_complete=complete_ask)
@click.argument("values", metavar="[VALUE]...", nargs=-1)
@click.option("--decline", is_flag=True, help="Say no to being asked; the agent is told so.")
@click.option("--reason", metavar="TEXT", help="Why not, with --decline or with a no to an approval.")
@click.option("--confirm", is_flag=True, help="Say that you mean it, where an answer cannot be undone.")
@click.option("--unattended", is_flag=True, help="Answer an approval where no terminal is; the log says so.")
@click.option("--json", "as_json", is_flag=True, help="Print the ask as JSON.")
@click.pass_obj
def command(
    place: Place,
    /,
    ask_id: str,
    values: tuple[str, ...],
    decline: bool,
    reason: str | None,
    as_json: bool,
    **flags: bool,
) -> int:
    """Answer an ask, or decline it.

    ASK is an id, or the last few characters of one. VALUE is a number, a letter, a label or, where the question
    takes it, text of your own; - reads the reply from standard input. The first answer wins: if somebody else was
    first, you are told who and what. Of a round, you may answer a part: it is kept until you answer the rest. What
    cannot be undone is asked once more on a terminal, and takes --confirm elsewhere.

    \b
      assent answer k3x9d2 B
      assent answer k3x9d2 Backups Monitoring
      assent answer k3x9d2 'q1: A' 'q2: by Friday'
      assent answer k3x9d2 Reject --reason 'not on a Friday'
      assent answer k3x9d2 --decline --reason 'ask Sam, it is her service'

    Exit status: 0 accepted, 2 not recognised or not confirmed (the ask stays open), 3 you said no to the second
    question (the ask stays open), 4 refused, 6 somebody else was first.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if decline == bool(values):
        raise click.UsageError("Say what you answer, or give --decline; one of the two.")
    who = person(place.environ)
    with finding(place, ask_id) as found:
        client, ask = found.client(who, assurance_here()), found.ask
        who = client.principal
        reply = "" if decline else join_values(ask.prompt, values)
        try:
            whole = "" if decline else _whole(place, ask, who, reply)
            stake = "" if decline or not ask.is_open else _stake(ask, whole)
            if stake and not flags["confirm"] and not _means_it(ask, stake, can_ask=values != ("-",)):
                say("Nothing was changed; the ask stays open.")
                return STILL_OPEN
            with uninterrupted(is_final=True):
                if decline:
                    ask = client.decline(ask.ask_id, reason or "")
                else:
                    ask = client.answer(
                        ask.ask_id,
                        whole,
                        confirmed=flags["confirm"] or bool(stake),
                        reason=reason or "",
                        unattended=flags["unattended"],
                    )
        except UnrecognisedError as refusal:
            status = complain(refusal, as_json)
            kept = load_draft(place.environ, ask, who)
            say(render_brief(ask.prompt, [each.name for each in ask.prompt.fields if each.name not in kept]))
            return status
        except ConflictError:
            drop_draft(place.environ, ask)  # it has ended
            raise
        drop_draft(place.environ, ask)
    click.echo(render_json(ask) if as_json else _render_recorded(ask))
    return DONE


def _whole(place: Place, ask: Ask, who: Principal, reply: str) -> str | FieldValues:
    """Return all that there is to send: the reply, or of a round its values together with those that were kept.

    Raises:
        UnrecognisedError: something is missing or was not recognised; the rest is kept, and the sentence says what.
    """
    if len(ask.prompt.fields) == 1 or ask.kind is Kind.APPROVAL or not ask.is_open:
        return reply
    reading = parse_reply(ask.prompt, reply)
    before = load_draft(place.environ, ask, who)
    if not before and not (reading.values and (reading.unrecognised or reading.missing)):
        return reply  # all of it, or nothing at all
    kept = add_to_draft(place.environ, ask, who, reading.values, reading.wrong)
    missing = [field.name for field in ask.prompt.fields if field.name not in kept]
    if not missing and not reading.unrecognised:
        return kept
    said = [] if kept and reading.values and not reading.unrecognised else [render_refusal(reading, reply)]
    raise UnrecognisedError(
        " ".join(filter(None, [*said, _render_kept(ask.prompt, kept), render_missing(ask.prompt, missing)]))
    )


def _render_kept(prompt: Prompt, kept: FieldValues) -> str:
    shown = [
        f'q{number} "{quote(" ".join(", ".join(labels(prompt, {field.name: kept[field.name]})).split()))}"'
        for number, field in enumerate(prompt.fields, start=1)
        if field.name in kept
    ]
    return f"Kept for you: {', '.join(shown)}." if shown else ""


def join_values(prompt: Prompt, values: Sequence[str]) -> str:
    """Return the reply that several arguments make: lines of a round, a list of options, or words of a text."""
    if list(values) == ["-"]:
        typed = sys.stdin.buffer.read()
        try:
            return typed.decode().removesuffix("\n")
        except UnicodeDecodeError:
            raise BadRequestError("Standard input is not UTF-8 text; nothing was sent.") from None
    if len(prompt.fields) > 1:
        return "\n".join(values)
    return (", " if prompt.fields[0].multiple else " ").join(values)


def _render_recorded(ask: Ask) -> str:
    return "\n".join([_render_deed(ask), *_render_matter(ask)])


def _render_deed(ask: Ask) -> str:
    if ask.answer is not None:
        chosen = ", ".join(labels(ask.prompt, ask.answer.values))
        reason = f': "{display(ask.answer.reason, lines=False)}"' if ask.answer.reason else ""
        return f'{render_name(ask.answer.by)} answered: "{display(chosen, lines=False)}"{reason}'
    outcome = ask.outcome
    reason = f': "{display(outcome.reason, lines=False)}"' if outcome and outcome.reason else ""
    return f"{render_name(outcome.by) if outcome else 'Somebody'} declined{reason}"


def _render_matter(ask: Ask) -> list[str]:
    """Return what was asked, and for an approval the whole action: a wrong id must not go unnoticed."""
    lines = [f"Asked: {render_title(ask)} ({display(ask.project, lines=False)}, {render_name(ask.asker)})"]
    if ask.prompt.action is not None:
        lines.append(f"Action: {display_exact(canonical(ask.prompt.action).decode())}")
    return lines


def _stake(ask: Ask, whole: str | FieldValues) -> str:
    """Return what the answer does that cannot be undone, as a sentence; empty where there is nothing."""
    values = parse_reply(ask.prompt, whole).values if isinstance(whole, str) else whole
    option = find_destructive(ask.prompt, values)
    if option is not None:
        return f'"{quote(option.label)}" cannot be undone.'
    return "What you approve is irreversible." if is_irreversible(ask.prompt, values) else ""


def _means_it(ask: Ask, stake: str, *, can_ask: bool) -> bool:
    """Ask once more at a terminal; only y or yes is a yes.

    Raises:
        ConfirmFirstError: there is no terminal to ask at.
    """
    if not can_ask or assurance_here() is not Assurance.TERMINAL:
        raise ConfirmFirstError(f"{stake} --confirm says that you mean it. Nothing was changed.")
    termios.tcflush(0, termios.TCIFLUSH)  # a y that was typed ahead is no answer to what was not yet shown
    for line in _render_matter(ask):
        say(line)
    say(f"{stake} Proceed? [y/n] ", nl=False)
    return fold(sys.stdin.readline()) in ("y", "yes")
