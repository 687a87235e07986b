"""What may be wrong with a delivery: each flaw alone must keep it from counting, and so must any two of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from torture.comments_forge import POSTER, Forge

__all__ = ["FLAWS", "FORMS", "Draft", "disturb"]

_DAY = 86_400.0


class Draft(msgspec.Struct, frozen=True):
    """A reply on its way, before anything is written."""

    login: str
    right: str | None
    body: str
    kind: str = "User"
    app: bool = False
    age: float = 0.0
    is_edited: bool = False
    is_recycled: bool = False
    is_early: bool = False
    """It was written before the gate."""
    forge: tuple[str, ...] = ()
    """What else happens to the pull request."""
    delivery: tuple[str, ...] = ()
    """What else happens to the delivery."""


FORMS: tuple[Callable[[str], str], ...] = (
    lambda name: f"/gate {name} 2",
    lambda name: f"/gate {name} blue",
    lambda name: f"/GATE {name.upper()}   Blue  ",
    lambda name: f"> Which colour?\n\n/gate {name} B",
    lambda name: f"<!-- a note to myself -->\n/gate {name} 2",
    lambda name: f"/gate {name} 2\r\n\r\n> quoted below",
    lambda _: "2",
    lambda _: "Blue",
)
"""Replies that count, all of them for the second option."""


def _quote(body: str) -> str:
    return "\n".join(f"> {line}" for line in body.splitlines())


def _leave_open(body: str) -> str:
    """Return it in code that does not end where it seems to; with a fence that no other flaw's can close."""
    return f"`````\nx\n`````~~~\n{body}\n`````"


def _wrap(body: str) -> str:
    """Return it right under a quote, as a wrapped mail has it: all of it is shown as quoted."""
    own = [line for line in body.splitlines() if line.strip() and not line.startswith((">", "<!--"))]
    return "\n".join(["> robo asked:", *own])


def _hide(body: str) -> str:
    inner = body.replace("<!--", "").replace("-->", "")  # such comments do not nest
    return f"<!--\n{inner}\n-->"


FLAWS: dict[str, Callable[[Draft, random.Random], Draft]] = {
    "bot": lambda draft, _: replace(draft, kind="Bot"),
    "bot's name": lambda draft, _: replace(draft, login=f"{draft.login}[bot]"),
    "app": lambda draft, _: replace(draft, app=True),
    "organisation": lambda draft, _: replace(draft, kind="Organization"),
    "outsider": lambda draft, _: replace(draft, right=None),
    "reader": lambda draft, chance: replace(draft, right=chance.choice(["read", "none", "triage"])),
    "recycled login": lambda draft, _: replace(draft, is_recycled=True),
    "poster": lambda draft, _: replace(draft, login=POSTER, right="admin"),
    "edited": lambda draft, _: replace(draft, is_edited=True),
    "quoted": lambda draft, _: replace(draft, body=_quote(draft.body)),
    "fenced": lambda draft, _: replace(draft, body=f"```\n{draft.body}\n```"),
    "tildes": lambda draft, _: replace(draft, body=f"~~~~\n{draft.body}\n~~~\n{draft.body}\n~~~~"),
    "open fence": lambda draft, _: replace(draft, body=_leave_open(draft.body)),
    "wrapped quote": lambda draft, _: replace(draft, body=_wrap(draft.body)),
    "hidden": lambda draft, _: replace(draft, body=_hide(draft.body)),
    "our marker": lambda draft, _: replace(draft, body=f"{draft.body}\n<!-- assent:gate ask_x n -->"),
    "wrong name": lambda draft, _: replace(draft, body="/gate zzzzzz 2"),
    "small talk": lambda draft, _: replace(draft, body="I would take 2, or Blue."),
    "by mail": lambda draft, _: replace(draft, body=f"On Friday robo wrote:\n{_quote(draft.body)}"),
    "early": lambda draft, _: replace(draft, is_early=True),
    "late": lambda draft, chance: replace(draft, age=chance.uniform(1, 30) * _DAY),
    "new commit": lambda draft, _: replace(draft, forge=("new commit",)),
    "gate edited": lambda draft, _: replace(draft, forge=("gate edited",)),
    "gate touched": lambda draft, _: replace(draft, forge=("gate touched",)),
    "gate deleted": lambda draft, _: replace(draft, forge=("gate deleted",)),
    "gate copied": lambda draft, _: replace(draft, forge=("gate copied",)),
    "no signature": lambda draft, _: replace(draft, delivery=("no signature",)),
    "tampered": lambda draft, _: replace(draft, delivery=("tampered",)),
    "edited event": lambda draft, _: replace(draft, delivery=("edited",)),
    "deleted event": lambda draft, _: replace(draft, delivery=("deleted",)),
    "other event": lambda draft, _: replace(draft, delivery=("other event",)),
    "plain issue": lambda draft, _: replace(draft, delivery=("plain issue",)),
    "payload lies": lambda draft, _: replace(draft, right=None, delivery=("lies",)),
    "swapped at once": lambda draft, _: replace(draft, delivery=("swapped",)),
    "payload invents": lambda draft, _: replace(draft, delivery=("invents",)),
}
"""By name: what keeps a delivery from counting."""


def disturb(forge: Forge, gate: dict[str, Any], draft: Draft) -> None:
    """Do to the pull request what a draft says."""
    for what in draft.forge:
        if what == "new commit":
            forge.head = "beef" + "0" * 36
        elif what == "gate edited":
            forge.edit(gate, gate["body"].replace("Red", "Green"))
        elif what == "gate touched":
            forge.edit(gate, gate["body"])
        elif what == "gate deleted":
            forge.comments.remove(gate)
        elif what == "gate copied":
            gate["user"] = forge.account(f"copyist-{forge.number}")
