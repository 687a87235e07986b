"""`assent gate`: one standard gate, or one of the project's own. Standard output is what was chosen and nothing else.

What is typed at its own prompt, or comes through a pipe, is the person's; where an agent runs the command neither is
read, and it waits for an answer from elsewhere.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from assent.cli.exit import DONE, STILL_OPEN, USAGE, complain, say, status_of
from assent.cli.gate_file import FOLDER, read_contexts, read_review
from assent.cli.group import PlacedCommand
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.cli.remote import Remote
from assent.cli.span import SPAN
from assent.cli.typist import find_typist
from assent.client.calls import no_answer
from assent.client.client import Client
from assent.client.drive import advance, drive
from assent.client.identity import agent
from assent.client.place import find_root
from assent.effects.kept import Kept, kept_performers
from assent.flows.choose import Chosen, choose, render_choice
from assent.flows.session.finding import Session, begin, enter
from assent.flows.step import Ask as AskStep
from assent.flows.step import Flow, Said, Say
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.ending import render_ending
from assent.protocol.error import AssentError, NotFoundError, StillOpen
from assent.protocol.gate import PAUSE, Context, Gate, find_context, slug
from assent.protocol.review import MAX_CHUNKS
from assent.surfaces.card import short_id
from assent.surfaces.meeting import Meeting
from assent.surfaces.terminal import TerminalSurface

__all__ = ["command"]


@click.command("gate", cls=PlacedCommand)
@click.argument("name", metavar="[CONTEXT]", required=False)
@click.option("--summary", metavar="TEXT", help="Where things stand, in a line or a few.")
@click.option(
    "--findings", "findings", metavar="FINDINGS.json", help="The review whose findings commands may name."
)
@click.option(
    "--chunks",
    type=click.IntRange(0, MAX_CHUNKS),
    metavar="N",
    help="The last number of a chunk. [default: as many as the review has]",
)
@click.option(
    "--count",
    type=click.IntRange(0),
    metavar="N",
    help="How many findings it is about. [default: as many as the review has]",
)
@click.option("--as", "asker", metavar="NAME", help="The name of the agent that asks.")
@click.option(
    "--key", metavar="KEY", help="Come again under the same key, and what was chosen is found again."
)
@click.option("--wait", "wait", type=SPAN, metavar="TIME", help="Wait so long at most for each reply.")
@click.option("--no-wait", is_flag=True, help="Print the ask's id and return at once.")
@click.option("--list", "is_listing", is_flag=True, help="List the contexts with their options and commands.")
@click.option("--json", "as_json", is_flag=True, help="Print what was chosen as JSON.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Stop at a gate until a person chose how to go on, and print what they chose.

    CONTEXT is a gate's name, in any case, or as in chunk-loop; without one they are listed. Projects add their own in
    .assent/gates.toml. The gate is shown here and can be answered here, on a terminal or through a pipe with a reply
    a line, or from anywhere else; the first answer wins. The end of input, Ctrl-C and a wait that lapses decide
    nothing: the gate stays open. Without a terminal, and with --findings, it is then posted to their pull request
    as a comment.

    \b
      next=$(assent gate chunk-loop --summary "Chunk 2 of 5, 4 findings." --findings FINDINGS.json)
      assent gate "Phase Gate" --summary "12 files, 340 lines." --wait 30m
      printf '1\\n' | assent gate phase-gate --summary "12 files, 340 lines."

    Exit status: 0 chosen, 3 no decision, or paused, 4 declined, 5 withdrawn or superseded.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    root = find_root(Path.cwd())
    folder, contexts = root / FOLDER, read_contexts(root)
    if given["is_listing"] or given["name"] is None:
        return _list(contexts, as_json=given["as_json"])
    if given["no_wait"] and given["wait"] is not None:
        raise click.UsageError("Give --wait or --no-wait, not both.")
    try:
        context = find_context(given["name"], contexts)
    except NotFoundError as error:
        complain(error, given["as_json"])
        return USAGE
    if given["summary"] is None:
        raise click.UsageError('Where do things stand? As in: --summary "Chunk 2 of 5, 4 findings."')
    session = None if given["findings"] is None else _read_findings(given["findings"])
    gate = _gate(context, given, session)
    with place.door() as door, TerminalSurface(now, place.environ) as terminal:
        asker = place.client(door, agent(place.environ, given["asker"]))
        typist = None if given["no_wait"] else find_typist(place, door, takes_pipe=True)
        remote = None if session is None else Remote(place, asker, Kept(folder), session.pull_request)
        if remote and given["key"] is not None:
            remote.collect()
        wait = None if given["wait"] is None else given["wait"].total_seconds()
        meeting = Meeting(
            asker,
            typist,
            terminal,
            name=given["key"],
            run_id=place.environ.get("ASSENT_RUN_ID") or None,
            seconds=0 if typist is None and remote and remote.presents else wait,
        )
        if given["no_wait"]:
            ask = _open(meeting, choose(gate, session))
            return _report(gate, ask, None, DONE, as_json=given["as_json"], shown=ask.ask_id)
        try:
            return _meet(meeting, gate, session, folder, as_json=given["as_json"])
        except (KeyboardInterrupt, StillOpen) as left:
            if isinstance(left, KeyboardInterrupt):
                say("")
            return _leave(meeting, asker, gate, remote, as_json=given["as_json"])


def _open(meeting: Meeting, flow: Flow[object]) -> Ask:
    """Open what is to be answered next, after the replies that are there already; return the last one where all are."""
    step = advance(flow, None)
    while isinstance(step, AskStep | Say):
        if isinstance(step, AskStep) and meeting.open(step).is_open:
            break
        step = advance(flow, meeting.read() if isinstance(step, AskStep) else Said())
    ask = meeting.ask or meeting.ended
    assert ask is not None  # noqa: S101 - a gate begins with an ask
    return ask


def _meet(meeting: Meeting, gate: Gate, session: Session | None, folder: Path, *, as_json: bool) -> int:
    chosen = drive(choose(gate, session), meeting, kept_performers(folder, now))
    ask = meeting.ended
    assert ask is not None  # noqa: S101 - a flow that came to its end has asked
    if not isinstance(chosen, Chosen):
        ending = no_answer(ask)
        say(display(ending.message, lines=False))
        return _report(gate, ask, None, status_of(ending), as_json=as_json)
    status = STILL_OPEN if chosen.choice.label == PAUSE else DONE
    return _report(gate, ask, chosen, status, as_json=as_json)


def _leave(meeting: Meeting, asker: Client, gate: Gate, remote: Remote | None, *, as_json: bool) -> int:
    """Ctrl-C, the end of input, or the wait lapsed: nothing was decided here."""
    ask = meeting.ask
    if ask is None:
        say("Nothing was decided.")
        return STILL_OPEN
    with suppress(AssentError):
        ask = asker.show(ask.ask_id)  # somebody elsewhere may have answered in the same moment
    if ask.is_open:
        how = f"Answer it with: assent answer {short_id(ask.ask_id)} …"
        if remote and remote.presents and remote.post_gate(ask):
            how = f"It is a comment on {remote.pull_request} now, and a reply there counts. Come again with the same --key."
        say(f"Nothing was decided; the gate stays open. {how}")
    else:
        say(display(f"It ended in this moment: {render_ending(ask)}", lines=False))
    return _report(gate, ask, None, STILL_OPEN, as_json=as_json)


def _report(
    gate: Gate, ask: Ask, chosen: Chosen | None, status: int, *, as_json: bool, shown: str = ""
) -> int:
    """Print what was chosen, or how the ask stands; return the exit status."""
    if as_json:
        answer = ask.answer if chosen else None
        told = {
            "choice": chosen.choice.label if chosen else None,
            "arguments": chosen.choice.arguments if chosen else (),
            "ask_id": ask.ask_id,
            "by": answer and answer.by,
            "via": answer and answer.via,
            "assurance": answer and answer.assurance,
        }
        if chosen and chosen.marked is not None:
            told["marked"] = chosen.marked
        echo_json(msgspec.json.encode(told))
        return status
    line = render_choice(gate.prompt, chosen.choice) if chosen else shown
    if line:
        # Bytes: click would take colour codes out of a text, and a program gets the exact one.
        click.echo((display(line) if sys.stdout.isatty() else line).encode())
    return status


def _gate(context: Context, given: Mapping[str, Any], session: Session | None) -> Gate:
    ids = () if session is None else tuple(held.finding_id for held in session.held)
    chunks = given["chunks"]
    if chunks is None:
        chunks = 0 if session is None else len(session.parts)
    return Gate(context, given["summary"], ids, chunks, given["count"])


def _read_findings(file: str) -> Session:
    """Return all findings of a review, each with its id."""
    session = begin(read_review(Path(file)), "")
    for part in session.parts:
        session = enter(session, part.number)
    return session


def _list(contexts: Mapping[str, Context], *, as_json: bool) -> int:
    if as_json:
        gates = [
            {"name": context.name, "options": context.options, "commands": context.commands}
            for context in contexts.values()
        ]
        click.echo(msgspec.json.encode({"gates": gates}))
        return DONE
    for context in contexts.values():
        click.echo(f"{context.name}  ({slug(context.name)})")
        for number, label in enumerate(context.options, start=1):
            click.echo(f"  {number}. {label}")
        if context.commands:
            click.echo(f"  Commands: {', '.join(context.commands)}")
    return DONE
