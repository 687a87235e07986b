"""A trade-off: one option of an open question, with what speaks for it and against it (Q13).

Rule 1: entries are read as leniently as questions are: what has no label is no option, and what is no text is left out.
Rule 2: what people see of it is an ordinary option of a prompt, so every surface can show it and every reply chooses it.
"""

from __future__ import annotations

import msgspec

from assent.protocol.display import is_blank, is_encodable
from assent.protocol.json_text import Json
from assent.protocol.prompt import Option

__all__ = ["TradeOff", "offer", "parse_trade_offs"]


class TradeOff(msgspec.Struct, frozen=True, gc=False):
    """One option, as the wire has it."""

    label: str
    """What people choose, and the agent is told."""
    pros: tuple[str, ...] = ()
    """What speaks for it."""
    cons: tuple[str, ...] = ()
    """What speaks against it."""


def parse_trade_offs(entries: Json) -> tuple[TradeOff, ...]:
    """Return the options among `entries`: objects with a label, and pros and cons, each a text or a list of texts.

    >>> parse_trade_offs(["None", {"label": "SQLite", "pros": "one file", "cons": ["one writer", 7]}])
    (TradeOff(label='None', pros=(), cons=()), TradeOff(label='SQLite', pros=('one file',), cons=('one writer',)))
    """
    if not isinstance(entries, list | tuple):
        return ()
    found = []
    for entry in entries:
        told = {"label": entry} if isinstance(entry, str) else entry
        label = _texts(told.get("label")) if isinstance(told, dict) else ()
        if isinstance(told, dict) and len(label) == 1:
            found.append(TradeOff(label[0], _texts(told.get("pros")), _texts(told.get("cons"))))
    return tuple(found)


def _texts(given: Json) -> tuple[str, ...]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple):
        return ()
    return tuple(
        text.strip() for text in texts if isinstance(text, str) and is_encodable(text) and not is_blank(text)
    )


def offer(choices: tuple[TradeOff, ...]) -> tuple[Option, ...]:
    """Return the options of a prompt that show these trade-offs.

    >>> offer((TradeOff("SQLite", ("one file", "no server"), ("one writer",)),))[0].description
    'Pros: one file; no server. Cons: one writer.'
    """
    return tuple(Option(choice.label, choice.label, description=_describe(choice)) for choice in choices)


def _describe(choice: TradeOff) -> str:
    parts = (("Pros", choice.pros), ("Cons", choice.cons))
    return " ".join(f"{name}: {'; '.join(texts)}." for name, texts in parts if texts)
