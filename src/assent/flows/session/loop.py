"""The chunks of a session, one after the other, and the look into a single finding (G31, G32, G-U7)."""

from __future__ import annotations

from collections.abc import Sequence

from assent.flows.gate import ask_for
from assent.flows.session.effect import DeepDive, TickTodo
from assent.flows.session.finding import ChunkStatus, Held, Part, discard, enter, mark, next_chunk
from assent.flows.session.table import (
    render_chunk,
    render_findings,
    render_full,
    render_marks,
)
from assent.flows.session.talk import Talk, ids_of
from assent.flows.session.todo import chunk_line
from assent.flows.step import Failed, Flow, do, say
from assent.protocol.display import display
from assent.protocol.gate import CHUNK_LOOP, DEEP_DIVE, Choice, Gate
from assent.protocol.words import count

__all__ = ["chunk_loop", "dive"]


def chunk_loop(talk: Talk) -> Flow[None]:
    """Go through the chunks that were not looked at, until a person has had enough."""
    while (part := next_chunk(talk.session)) is not None:
        yield from talk.move(part.number, ChunkStatus.IN_PROGRESS)
        talk.session = enter(talk.session, part.number)
        yield from talk.save()
        goes_on = yield from _chunk(talk, part)
        if goes_on:
            yield from _leave(talk, part, ChunkStatus.REVIEWED)
        else:
            for left in talk.session.parts[part.number - 1 :]:
                yield from _leave(talk, left, ChunkStatus.SKIPPED)
        yield from talk.save()
    yield from do(TickTodo("Chunk review"))


def _leave(talk: Talk, part: Part, status: ChunkStatus) -> Flow[None]:
    yield from talk.move(part.number, status)
    yield from do(TickTodo(chunk_line(part.number, part.chunk.label)))


def _chunk(talk: Talk, part: Part) -> Flow[bool]:
    """Stay at a chunk until a person goes on to the next one, or to the end."""
    while True:
        session = talk.session
        gate = Gate(
            CHUNK_LOOP,
            render_chunk(session, session.parts[part.number - 1]),
            ids_of(session.held),
            count=len(session.of_chunk(part.number)),
        )
        choice = yield from talk.pass_(gate)
        match choice.label:
            case "Continue":
                return True
            case "Skip to synthesis":
                return False
            case "Deep-dive":
                yield from dive(talk, choice, session.of_chunk(part.number))
            case "discard":
                removed = len(session.of_chunk(part.number))
                yield from talk.change(discard(session, part.number))
                yield from say(f"Removed {count(removed, 'finding')} of chunk {part.number}.")
            case _:
                yield from talk.change(mark(session, choice.arguments, False))
                yield from say(render_marks(talk.session.of_chunk(part.number)))


def dive(talk: Talk, choice: Choice, offered: Sequence[Held]) -> Flow[None]:
    """Look into one finding, and return to the gate."""
    ids = choice.arguments
    if not ids and not offered:
        yield from say("There is no finding to look into.")
        return
    ids = ids or (
        yield from ask_for(
            "Which finding do you want to look into?", "ID", ids_of(offered), render_findings(offered)
        )
    )
    if not ids:
        return
    held = next(each for each in talk.session.held if each.finding_id == ids[0])
    while True:
        choice = yield from talk.pass_(Gate(DEEP_DIVE, render_full(held)))
        if choice.label == "Return to chunk":
            return
        found = yield from do(DeepDive(choice.label, held, str(talk.session.pull_request)))
        yield from talk.save()  # so that whoever resumes does not have it done again
        if isinstance(found, Failed):
            yield from say(f"{choice.label} did not work: {found.message}")
        else:
            text = found.result if isinstance(found.result, str) else ""
            # Behind a sign, like all that reviewers write: none of it can pass for a gate of ours.
            quoted = "\n".join(f": {line}".rstrip() for line in display(text).strip().split("\n"))
            told = quoted if text.strip() else "It said nothing."
            yield from say(f"{choice.label}, {held.finding_id}:\n\n{told}")
