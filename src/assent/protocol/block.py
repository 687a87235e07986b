"""A prompt as plain text: what a terminal prints and a comment carries.

Rule 1: every line that the asker wrote begins with `: `, so that none of them can pass for one of ours. Three
        places are the asker's by position: the first line, the line after `Q1`, and what follows `A) `.
Rule 2: nothing is cut. What will be done is shown whole, or not offered for approval.
Rule 3: all of it goes through `display`, and the action through `display_exact`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from assent.protocol.canonical import Json, canonical
from assent.protocol.display import display, display_exact
from assent.protocol.gate import render_gate, render_options
from assent.protocol.prompt import Field, Option, Prompt, is_lettered, other_label, render_position

__all__ = ["ACTION", "render_action", "render_brief", "render_field", "render_parts", "render_question"]

ACTION = "The action, whole:"
"""The line above it."""
_LINE_END = re.compile(r"(?<!\\)(?:\\\\)*\\n")
_SET_IN = 6
"""So much farther in than its line stands what follows a line end in a text: no other part of an action does."""

_SEVERAL = "(several, separated by commas)"


def render_question(prompt: Prompt) -> str:
    """Return all that a person is to see before answering, and how to answer."""
    above, action, below = render_parts(prompt)
    shown = "\n".join([ACTION, *_mark(action.split("\n"))]) if action else ""
    return "\n\n".join(block for block in (above, shown, below) if block)


def render_parts(prompt: Prompt) -> tuple[str, str, str]:
    """Return the same in parts: what stands above the action, the action itself, and how to answer."""
    if prompt.commands:
        return render_gate(prompt, is_marked=True), "", ""
    is_round = len(prompt.fields) > 1
    title, *more = _lines(prompt.title.strip())
    blocks = ["\n".join([title, *_mark(more), *_mark(_lines(prompt.body))])]
    if prompt.risk is not None:
        blocks.append("\n".join(["Risk, in the asker's words:", *_mark(_lines(prompt.risk))]))
    below = [
        "\n".join(_field_lines(field, f"Q{number}" if is_round else ""))  # C17
        for number, field in enumerate(prompt.fields, start=1)
    ]
    below.append(_ROUND_HELP if is_round else _help(prompt.fields[0]))
    action = "" if prompt.action is None else render_action(prompt.action)
    return "\n\n".join(filter(None, blocks)), action, "\n\n".join(filter(None, below))


def render_action(action: Json) -> str:
    r"""Return an action as JSON for eyes: a line end in a text is drawn as one, behind the sign for it.

    >>> print(render_action({"command": "ls # note\nrm -rf /srv"}))
    {
      "command": "ls # note\n
            rm -rf /srv"
    }
    """
    rows: list[str] = []
    for line in msgspec.json.format(canonical(action), indent=2).decode().split("\n"):
        margin = " " * (len(line) - len(line.lstrip(" ")) + _SET_IN)
        rows += _LINE_END.sub(rf"\g<0>\n{margin}", line).split("\n")
    return "\n".join(map(display_exact, rows))


def render_brief(prompt: Prompt, names: Collection[str] | None = None) -> str:
    """Return only the lists of options, for a reply that was not recognised (G18).

    Of a round, `names` are the questions that are still to be answered; without them it is all of them.
    """
    if prompt.commands:
        return render_options(prompt)
    if len(prompt.fields) == 1:
        return render_field(prompt.fields[0])
    return "\n".join(
        f"Q{number}\n{render_field(field)}"
        for number, field in enumerate(prompt.fields, start=1)
        if names is None or field.name in names
    )


def render_field(field: Field) -> str:
    """Return the lettered options of `field`; the last one stands for text of one's own where that is allowed.

    >>> from assent.protocol.prompt import question
    >>> print(render_field(question("Which database?", ["PostgreSQL", "SQLite"], free=True).fields[0]))
    A) PostgreSQL
    B) SQLite
    C) Other: type your answer
    """
    lines: list[str] = []
    for position, option in enumerate(field.options):
        lines += _option_lines(_render_mark(position, field), option)
    if field.free:  # C11, C13
        mark, label = render_position(len(field.options)), display(other_label(field), lines=False)
        lines.append(f"{mark}) {label}" if field.options else "Type your answer.")
    return "\n".join(lines)


def _render_mark(position: int, field: Field) -> str:
    """Return what stands before an option; letters that options bring have a full stop (W7)."""
    return f"{render_position(position, field)}{'.' if is_lettered(field) else ')'}"


def _option_lines(mark: str, option: Option) -> list[str]:
    line = f"{mark} {display(option.label, lines=False)}"
    if option.recommended:
        line += " (recommended)"
    if option.destructive:
        line += " (destructive)"
    first, *more = _lines(option.description) or [""]
    return [f"{line} - {first}" if first else line, *_mark(more)]


def _field_lines(field: Field, key: str) -> list[str]:
    text = _lines(field.text)
    if key:
        first, *text = text or [""]
        lines = [f"{key} {first}".rstrip(), *_mark(text)]
    else:
        lines = _mark(text)
    if field.multiple:
        lines.append(_SEVERAL)
    return [*lines, render_field(field)]


_ROUND_HELP = (
    "Answer each question on a line of its own, as in `q1: <answer>`; a line of ------ ends a long answer."
)


def _help(field: Field) -> str:
    if not field.options:
        return ""
    own = ", or in your own words" if field.free else ""
    return f"Answer with a letter, a number or a label{own}."


def _lines(text: str) -> list[str]:
    # Only the new lines are left to split at: display marks every other character that ends a line.
    return display(text).split("\n") if text else []


def _mark(lines: list[str]) -> list[str]:
    return [f": {line}" if line else ":" for line in lines]
