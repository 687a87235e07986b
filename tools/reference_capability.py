"""The page of what each kind of surface can show, out of the table that folding reads."""

from __future__ import annotations

from assent.protocol.capability import CAPABILITIES, Capability, FreeText
from tools.source import field_notes, table

__all__ = ["render_capabilities"]

_HEAD = """\
# Capabilities

What each kind of surface can show and take in. A prompt that does not fit is
[folded](../explanation/why-a-gate-stops.md#where-a-tool-has-too-little-room) by these numbers, so that nothing becomes
unreachable. They describe the tools as they were found in 2026; where a tool only advises a limit it is kept as if it were
enforced, and a reply is read as if there was none.

It is the one table of this kind. Forms of MCP keep to their records, `assent doctor` tells the record of each host that it
finds, and a tool of your own is asked through
[`assent.ToolSurface`](../how-to/review-a-document.md#through-your-own-hosts-tool), by the name of a record or with one that you
make. The adapters of the other hosts take questions in and hand answers back.
"""


def _limit(value: int | None) -> str:
    return "any" if value is None else f"{value:,}"


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _row(capability: Capability) -> tuple[str, ...]:
    least, most = capability.min_options, capability.max_options
    options = f"{least} to {most}" if most else f"{least} or more"
    return (
        f"`{capability.name}`",
        _limit(capability.max_questions),
        options + (", or none" if capability.allows_no_options else ""),
        _yes(capability.allows_multiple),
        capability.free_text.value,
        _yes(capability.shows_descriptions),
        _limit(capability.header_max),
        _limit(capability.label_max),
        _limit(capability.text_max),
        f"`{capability.tool}`" if capability.tool else "",
    )


def render_capabilities() -> str:
    """Return the page."""
    columns = (
        *("surface", "questions at once", "options", "several of them", "typed reply"),
        *("descriptions", "header", "label", "text", "the host's own tool"),
    )
    notes = field_notes(FreeText)
    rows = [(f"`{kind}`", notes.get(kind.name, "Nothing can be typed.")) for kind in FreeText]
    return "\n".join(
        [
            _HEAD,
            table(columns, [_row(capability) for capability in CAPABILITIES.values()]),
            "Header, label and text are in characters; the text is the question with all that stands above it.\n",
            "## Typed reply\n",
            table(("word", "meaning"), rows),
        ]
    )
