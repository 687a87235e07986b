"""What a tool tells its agent: one text, and the same as an object.

Rule 1: the truth: who answered, when, from where and how surely; and that nobody did, where nobody did.
Rule 2: no answer reads like one. An ask that is open, declined or over says so first, and what to do about it.
Rule 3: lines that agents wrote are marked, as in every block of ours.
Rule 4: a menu that the host cannot show is the block and, beneath it, the numbered list (W4, W5, W47).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from assent.hosts.person import render_elsewhere
from assent.protocol.answer import labels
from assent.protocol.ask import Ask
from assent.protocol.block import render_question
from assent.protocol.display import display
from assent.protocol.ending import render_ending, render_instant
from assent.protocol.error import AssentError
from assent.protocol.menu import is_menu, render_explanation, render_menu
from assent.protocol.prompt import Prompt

__all__ = ["Told", "tell_ended", "tell_error", "tell_inbox", "tell_open"]

_MOST_LISTED = 100


class Told(msgspec.Struct, frozen=True):
    """What came of a call."""

    text: str
    content: dict[str, Any]
    is_error: bool = False


def tell_ended(ask: Ask) -> Told:
    """Tell how an ask ended."""
    answer, outcome = ask.answer, ask.outcome
    message = render_ending(ask)
    content: dict[str, Any] = {"state": ask.state.value, "ask_id": ask.ask_id, "key": ask.key}
    if answer is not None:
        shown = labels(ask.prompt, answer.values)
        content |= {
            "answer": shown[0] if len(shown) == 1 else shown,
            "values": {name: list(given) for name, given in answer.values.items()},
            "text": answer.text,
            "by": answer.by,
            "via": answer.via,
            "assurance": answer.assurance.value,
            "at": answer.at.isoformat(),
        }
        if answer.reason:
            content["reason"] = answer.reason
        message += f" Via {display(answer.via, lines=False)}, assurance {answer.assurance.value}."
        whole = "\n".join(display(label) for label in shown)
        text = f"{message}\n\nThe answer, whole:\n{whole}"
    else:
        if outcome is not None:
            content |= {
                "by": outcome.by,
                "via": outcome.via,
                "assurance": outcome.assurance.value if outcome.assurance else None,
                "at": outcome.at.isoformat(),
                "reason": outcome.reason,
            }
        text = f"Not answered ({ask.state.value}): {message} This is no yes, and no choice was made."
    return Told(text, content | {"message": message})


def tell_open(ask: Ask, key: str | None, shortfall: str = "") -> Told:
    """Tell that nobody has answered yet, what was asked, and that the agent must stop.

    `shortfall` says why it cannot be answered in the host.
    """
    again = f'the same arguments and key "{display(key, lines=False)}"' if key else "the same arguments"
    stop = (
        "STOP: nobody has answered yet, and this is no answer. Do not go on, do not guess, and do not choose for the "
        f"person. {render_elsewhere(ask)} Then call this tool again with {again}, and it finds the answer."
    )
    if shortfall:
        stop += f" {shortfall}"
    content = {"state": "open", "ask_id": ask.ask_id, "key": key, "message": stop}
    return Told(f"{_render(ask.prompt)}\n\n{stop}", content)


def _render(prompt: Prompt) -> str:
    if not is_menu(prompt):
        return render_question(prompt)
    block = "\n".join(f": {line}".rstrip() for line in render_explanation(prompt).splitlines())
    return "\n\n".join(filter(None, [block, render_menu(prompt, is_numbered=True)]))


def tell_error(error: AssentError) -> Told:
    """Tell what went wrong, in one sentence."""
    content: dict[str, Any] = {"error": {"code": error.code, "message": error.message}}
    return Told(display(error.message, lines=False), content, is_error=True)


def tell_inbox(asks: Sequence[Ask], project: str) -> Told:
    """Tell what waits for people."""
    shown = asks[:_MOST_LISTED]
    rows = [
        {
            "ask_id": ask.ask_id,
            "kind": ask.kind.value,
            "title": ask.prompt.title,
            "asker": ask.asker,
            "key": ask.key,
            "run_id": ask.run_id,
            "opened_at": ask.opened_at.isoformat(),
        }
        for ask in shown
    ]
    lines = [
        f"{ask.ask_id[-6:]}  {ask.kind.value}  {render_instant(ask.opened_at)}  {display(ask.asker, lines=False)}: "
        f"{display(ask.prompt.title, lines=False)}"
        for ask in shown
    ]
    head = f"{len(asks)} open in {display(project, lines=False)}. Only people answer them."
    return Told("\n".join([head, *lines]), {"count": len(asks), "asks": rows})
