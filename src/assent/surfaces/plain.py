"""Plain text as a surface, for hosts without a tool that blocks: what is asked is written out, and the next reply is read.

Rule 1: a menu is never prose alone: beneath its stem stands the list of what can be chosen, numbered from 1 (W4, W5, W47).
        The block is written first, by itself (W29).
Rule 2: a number, a letter or a label answers (W-X11); what else is given is echoed with the list alone (G17, G18).
Rule 3: `read` waits for the next reply. None is no reply: nothing was decided.
"""

from __future__ import annotations

from collections.abc import Callable

from assent.flows.step import Ask
from assent.protocol.block import render_brief, render_question
from assent.protocol.display import display
from assent.protocol.error import AssentError
from assent.protocol.gate import render_gate
from assent.protocol.menu import is_menu, render_explanation, render_menu, render_menu_options
from assent.protocol.prompt import Prompt

__all__ = ["PlainSurface"]


class PlainSurface:
    """Plain text as the place of a review: `write` shows a text, `read` waits for a reply and returns None for none."""

    def __init__(self, write: Callable[[str], None], read: Callable[[], str | None]) -> None:
        self._write, self._read = write, read

    def present(self, ask: Ask) -> None:
        """Write what is asked."""
        if is_menu(ask.prompt):
            block = render_explanation(ask.prompt)
            if block:
                self._write(block)
            self._write(render_menu(ask.prompt, is_numbered=True))
        else:
            self._write(render_gate(ask.prompt) if ask.prompt.commands else render_question(ask.prompt))

    def read(self) -> str | None:
        """Return the next reply."""
        return self._read()

    def echo(self, ask: Ask, refusal: AssentError) -> None:
        """Say that a reply was not recognised, and what would be."""
        self._write(f"{display(refusal.message, lines=False)}\n{_brief(ask.prompt)}")

    def say(self, markdown: str) -> None:
        """Write what the flow says. An agent may have written it, so it is made safe first."""
        self._write(display(markdown))


def _brief(prompt: Prompt) -> str:
    return render_menu_options(prompt, is_numbered=True) if is_menu(prompt) else render_brief(prompt)
