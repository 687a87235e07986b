"""The page of the standard gates, out of their own table."""

from __future__ import annotations

from assent.protocol.gate import AREAS, CONTEXTS, Check, Context, Gate, render_gate, slug
from tools.source import table

__all__ = ["render_gates"]

_SAMPLE = "Chunk 2 of 5, payment. 2 findings in 2 files, 120 lines."
_PLACEHOLDERS = (
    ("{text}", "any text"),
    ("{ID}", "the id of one finding, as in `H1`"),
    ("{IDs}", "one or several, with commas or spaces between them"),
    ("{N}", "the number of a chunk"),
    ("{area}", f"one of {', '.join(f'`{area}`' for area in AREAS)}"),
)

_HEAD = """\
# Gates

A gate is a point at which an agent stops until a person has chosen how to go on. These are the standard ones; a project
adds its own in [`.assent/gates.toml`](../how-to/stop-at-a-gate.md#gates-of-your-own), and `assent gate --list` shows all
of them. How to use one: [stop at a gate](../how-to/stop-at-a-gate.md).

## How a gate is shown

The same text in every place, in this order:

````markdown
{block}
````

The line of typed commands is there where the gate advertises some.

## What is accepted at every gate

{accepted}
What can be named is what is there when the gate opens:

{placeholders}
An option that needs such a name and got none, as `Deep-dive`, asks for it in a follow-up question; `back` leads back to
the gate.

Nothing else is taken, and nothing is guessed: no beginning of a label, no word that is nearly one. What is not recognised
is shown back with the options, and the gate stays as it is, as often as that happens.

## The standard gates

A context is the row of this table that a gate belongs to.
"""

_ACCEPTED = (
    ("a number", "`2`, `2.`, `2)`: the option that has it"),
    ("a label", "the whole label, in any case and with any spaces: `skip TO synthesis`"),
    ("`todo: {text}`", "keeps a task in `.assent/review-todo.md`, and shows the gate again"),
    ("`pause`", "pauses; where the gate has `Pause & save`, it is that option"),
)


def _standard(name: str) -> Context:
    return next(context for context in CONTEXTS.values() if slug(context.name) == name)


def _codes(specs: tuple[str, ...]) -> str:
    return ", ".join(f"`{spec}`" for spec in specs)


def _when(check: Check) -> str:
    return (
        f"`{check.command}` that names {check.names_at_least} or more"
        if check.names_at_least
        else f"`{check.command}`"
    )


def _render_context(context: Context) -> str:
    name = slug(context.name)
    options = "".join(f"{number}. `{label}`\n" for number, label in enumerate(context.options, start=1))
    parts = [f"### {context.name}\n", f"`assent gate {name} --summary TEXT`\n", options]
    if context.commands:
        parts.append(f"Typed commands that it shows: {_codes(context.commands)}.\n")
    if context.accepts:
        parts.append(f"Taken, too: {_codes(context.accepts)}.\n")
    if context.checks:
        rows = [(_when(check), f"`{check.text}`") for check in context.checks]
        parts.append(table(("before", "it asks"), rows))
    return "\n".join(parts)


def render_gates() -> str:
    """Return the page."""
    sample = Gate(_standard("chunk-loop"), _SAMPLE)
    head = _HEAD.format(
        block=render_gate(sample.prompt),
        accepted=table(("typed", "means"), _ACCEPTED),
        placeholders=table(
            ("stands for", "what may be there"), [(f"`{name}`", told) for name, told in _PLACEHOLDERS]
        ),
    )
    return "\n".join([head, *(_render_context(context) for context in CONTEXTS.values()), _TAIL])


_TAIL = """\
## Checks

Only `y` or `yes`, in any case, carries it out. With `n` or `no`, and with anything else, nothing is done and the gate is
shown again; what was neither is shown back first. `{N}` is how many findings it is about. A check is an ask like any other
and can be answered from elsewhere, too.
"""
