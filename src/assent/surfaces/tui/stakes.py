"""What hangs on an ask, in sentences: what a yes lets happen, what silence does, and when, in the reader's own time."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from assent.protocol.approval import is_approval, render_again
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.protocol.ending import render_name
from assent.surfaces.card import render_notes, render_silence
from assent.surfaces.moment import render_span
from assent.surfaces.tui.line import CAUTION, DANGER, FAINT, Line, join, line, mark
from assent.surfaces.width import wrap

__all__ = ["clock_of", "local", "silence_of", "stake_lines"]

_WAY = 11
"""So wide is the name of a way, with the gap after it."""


def local(at: datetime) -> datetime:
    """Return a moment in the reader's time; one at the edge of the calendar stays as it is."""
    with suppress(OverflowError, ValueError, OSError):
        return at.astimezone()
    return at


def clock_of(at: datetime, now: datetime) -> str:
    """Return a moment as short as it is clear: the time, with the day where that is another one."""
    here, today = local(at), local(now)
    if here.date() == today.date():
        return f"{here:%H:%M}"
    year = "" if here.year == today.year else f" {here.year}"
    return f"{here.day} {_MONTHS[here.month - 1]}{year} {here:%H:%M}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def silence_of(ask: Ask, now: datetime) -> str:
    """Return what happens if nobody answers."""
    if ask.deadline is None or ask.is_overdue:
        return render_silence(ask, now)
    return f"{render_notes(ask, now)[0]}, at {clock_of(ask.deadline, now)}."


def stake_lines(ask: Ask, width: int, now: datetime, *, is_compact: bool = False) -> list[Line]:
    """Return what is to be known before anything else of an open ask."""
    silence = silence_of(ask, now)
    if is_compact and ask.deadline is not None:
        silence = render_notes(ask, now)[0]
    notes = render_notes(ask, now)[ask.deadline is not None :]
    if is_approval(ask.prompt):
        told = [*_earlier(ask, width), *_risk(ask, width), *_ways(ask, silence, width)]
    else:
        paint = FAINT if ask.deadline is None else CAUTION
        told = [line(part, paint) for part in wrap(silence, width)]
    return told + [line(part, CAUTION) for note in notes for part in wrap(note, width)]


def _earlier(ask: Ask, width: int) -> list[Line]:
    """Return the no that a person said to the same action before, and why it is asked again."""
    no, *asked = render_again(ask).split("\n")
    told = [line(part, CAUTION) for part in wrap(no, width)] if no else []
    for each in asked:
        is_theirs = each.startswith(": ")
        parts = wrap(each.removeprefix(": "), width - 2 if is_theirs else width)
        told += mark(parts) if is_theirs else [line(part, CAUTION) for part in parts]
    return told


def _risk(ask: Ask, width: int) -> list[Line]:
    risk = ask.prompt.risk
    if risk is None:
        return [line("No risk was declared.", FAINT)]
    told = [join(line("! ", DANGER), line(part, DANGER)) for part in wrap(display(risk), width - 2)]
    said = line("(declared by the asker)", FAINT)
    if told[-1].width + 2 + said.width <= width:
        return [*told[:-1], join(told[-1], "  ", said)]
    return [*told, join("  ", said)]


def _ways(ask: Ask, silence: str, width: int) -> list[Line]:
    within = ""
    if hasattr(ask.terms, "life_seconds"):
        within = f", within {render_span(timedelta(seconds=ask.terms.life_seconds))} of your yes"
    lines: list[Line] = []
    for name, said in (
        ("yes", f"{render_name(ask.asker)} may do exactly this, once{within}"),
        ("no", "nothing runs; the agent gets your no and your reason"),
        ("silence", silence),
    ):
        first, *more = wrap(said, width - _WAY)
        lines += [
            join(line(f"  {name:<{_WAY - 2}}", FAINT), first),
            *(line(" " * _WAY + part) for part in more),
        ]
    return lines
