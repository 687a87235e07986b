"""A menu: one choice whose options bring letters of their own, as a walk-through asks it, in two parts (W29).

Rule 1: the block explains, as Markdown, and comes first; the question, which is the stem and the options, is plain text.
        They are never merged: whoever shows a menu shows the one and then the other, with nothing of its own between.
Rule 2: in the question each line is exact: `A. Apply the proposed fix (recommended)`. What the letters belong to never
        changes; where only numbers can be shown, the options that there are count from 1 (W-X11).
Rule 3: what has an action or a risk to show is no menu, and is shown whole as `protocol.block` does it.
"""

from __future__ import annotations

from msgspec.structs import replace

from assent.protocol.block import render_field
from assent.protocol.display import display
from assent.protocol.prompt import Prompt, is_lettered

__all__ = ["is_menu", "render_explanation", "render_menu", "render_menu_options", "render_stem"]


def is_menu(prompt: Prompt) -> bool:
    """Whether a prompt is shown in the two parts."""
    if len(prompt.fields) != 1 or prompt.commands or prompt.action is not None or prompt.risk is not None:
        return False
    return is_lettered(prompt.fields[0]) and not prompt.fields[0].text


def render_explanation(prompt: Prompt) -> str:
    """Return the block, as Markdown and without empty lines around it; it may be empty."""
    return display(prompt.body).strip("\n")


def render_stem(prompt: Prompt) -> str:
    """Return the lines above the options."""
    return display(prompt.title.strip())


def render_menu(prompt: Prompt, *, is_numbered: bool = False) -> str:
    """Return the question: the stem and, beneath it, what can be chosen."""
    return f"{render_stem(prompt)}\n{render_menu_options(prompt, is_numbered=is_numbered)}"


def render_menu_options(prompt: Prompt, *, is_numbered: bool = False) -> str:
    """Return only what can be chosen, one option a line."""
    field = prompt.fields[0]
    if not is_numbered:
        return render_field(field)
    lines = [render_field(replace(field, options=(option,))) for option in field.options]
    # Each has its own letter, which is one character; the full stop behind it stays.
    return "\n".join(f"{number}{line[1:]}" for number, line in enumerate(lines, start=1))
