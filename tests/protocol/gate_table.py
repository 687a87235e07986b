"""The table of gates, written out once more, and a second reading of replies to compare ours with.

Nothing here is taken from the catalogue: a change of a label or a command there must show.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

from assent.protocol.display import is_blank
from assent.protocol.gate import CONTEXTS, Context, Gate
from assent.protocol.prompt import Prompt

__all__ = ["AREAS", "CHUNKS", "IDS", "ROWS", "Row", "meaning", "mutated", "prompt_of", "ways_to_choose"]

IDS = ("H1", "H2", "M1", "L10")
CHUNKS = 3
AREAS = ("security", "performance", "correctness", "types", "error-handling")
"""G-U3."""
NOTHING, SOME_ID, SOME_IDS, A_CHUNK, AN_AREA = "", "id", "ids", "chunk", "area"


class Row(NamedTuple):
    """One row of the table."""

    requirement: str
    context: str
    options: tuple[str, ...]
    advertised: tuple[str, ...] = ()
    known: Mapping[str, str] = {}
    """Commands, and what stands behind each; beside `todo:` and `pause`, which are known at every gate (G-X3)."""


ROWS = (
    Row(
        "G28",
        "Phase Gate",
        ("Proceed", "Set focus", "Quick mode", "Cancel"),
        known={"set focus": AN_AREA},
    ),
    Row(
        "G29",
        "Visual Discovery",
        ("Proceed with Visual Review", "Skip Visual Review", "Refresh Context"),
    ),
    Row(
        "G30",
        "Chunk Plan",
        ("Start from chunk 1", "Skip to chunk N", "Review all at once", "Cancel"),
        known={"skip to chunk": A_CHUNK},
    ),
    Row(
        "G31",
        "Chunk Loop",
        ("Continue", "Deep-dive", "Pause & save", "Skip to synthesis"),
        ("discard", "todo: {text}", "deselect {IDs}"),
        {"discard": NOTHING, "deselect": SOME_IDS, "deep-dive": SOME_ID},
    ),
    Row(
        "G32",
        "Deep-dive",
        ("Analyze context", "Suggest fix", "Check similar patterns", "Return to chunk"),
    ),
    Row(
        "G33",
        "Synthesis",
        ("Post all marked", "Post only Action Required", "Select specific", "Save locally"),
        ("discard",),
        {"discard": NOTHING, "select specific": SOME_IDS, "deep-dive": SOME_ID},
    ),
    Row(
        "G34",
        "Post-only",
        ("Post all marked", "Post only Action Required", "Select specific", "Cancel"),
        ("toggle {IDs}", "all", "none"),
        {
            "toggle": SOME_IDS,
            "all": NOTHING,
            "none": NOTHING,
            "select specific": SOME_IDS,
            "deep-dive": SOME_ID,
        },
    ),
    Row("G35", "Continue (mismatch)", ("Resume saved session", "Start fresh")),
)


def prompt_of(row: Row, contexts: Mapping[str, Context] = CONTEXTS) -> Prompt:
    """Return the gate of a row, with some findings and chunks."""
    return Gate(contexts[row.context], "Two of five files.", IDS, CHUNKS).prompt


def _squeeze(text: str) -> str:
    return " ".join(text.split()).casefold()


def ways_to_choose(number: int, label: str) -> set[str]:
    """Return all that chooses an option, squeezed (G36, G37, G-X7): nothing shorter, and no letter."""
    marks = (f"{number}.", f"{number})")
    return {str(number), *marks, _squeeze(label), *(_squeeze(f"{mark} {label}") for mark in marks)}


def meaning(row: Row, text: str, ids: Sequence[str] = IDS) -> str | None:
    """Return what is recorded for a reply at the gate of a row; nothing where it means nothing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    squeezed = _squeeze(text)
    for number, label in enumerate(row.options, start=1):
        if squeezed in ways_to_choose(number, label):
            return label
    head, colon, task = text.partition(":")
    if colon and _squeeze(head) == "todo" and not is_blank(task):
        return f"todo: {task.strip()}"
    for words, behind in {**row.known, "pause": NOTHING}.items():
        if behind == NOTHING and squeezed == words:
            return words
        if behind != NOTHING and squeezed.startswith(f"{words} "):
            return _with_names(words, behind, squeezed.removeprefix(f"{words} "), ids)
    return None


def _with_names(words: str, behind: str, rest: str, ids: Sequence[str]) -> str | None:
    listed = {
        SOME_ID: ids,
        SOME_IDS: ids,
        A_CHUNK: [str(number + 1) for number in range(CHUNKS)],
        AN_AREA: AREAS,
    }
    spelled = {name.casefold(): name for name in listed[behind]}
    given = rest.replace(",", " ").split() if behind == SOME_IDS else [rest]
    if not given or not set(given) <= set(spelled):
        return None
    return f"{words} {', '.join(dict.fromkeys(spelled[name] for name in given))}"


# Replies that are nearly right.

_FULL_WIDTH = str.maketrans("0123456789.)", "０１２３４５６７８９．）")
_TWINS = str.maketrans("aeopcxyTHMKi", "аеорсхуТНМКі")
_INSERTS = [
    "\u200b", "\u200d", "\ufeff", "\u202e", "\u00ad", "\u0301", "\x00", "\x1b[2J", "\udc80",
    " ", "\u00a0", "\t", "\n", "\r", "\u2028", ".", ")", ":", ",", ";", "1", "a", "-", "/", "\N{PILE OF POO}",
]  # fmt: skip


def _seeds(row: Row) -> list[str]:
    numbers = [f"{number}{mark}" for number in range(7) for mark in ("", ".", ")", ") ", ". ")]
    lines = [f"{number}. {label}" for label in row.options for number in (1, 2, 3, 4)]
    arguments = ["", *IDS, "H1, M1", "h1 m1 h1", "H1,M1,", "H1, H9", "2", "0", "4", "types", "H1H2", "1 2"]
    words = [*(words for other in ROWS for words in other.known), *row.known, "todo:", "pause", "Todo :"]
    commands = [f"{word} {argument}" for word in dict.fromkeys(words) for argument in arguments]
    labels = [label for other in ROWS for label in other.options]
    return [*row.options, *numbers, *lines, *commands, *labels, "proceed", "yes", "y", "ok", "default", ""]


@st.composite
def mutated(draw: st.DrawFn, row: Row) -> str:
    """A reply that is one of the right ones, or very near to one."""
    right = [
        way for number, label in enumerate(row.options, start=1) for way in ways_to_choose(number, label)
    ]
    text = draw(st.sampled_from(sorted(right)) | st.sampled_from(_seeds(row)))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        insert = draw(st.sampled_from(_INSERTS))
        changed = [
            text.upper(),
            text.title(),
            text[:place],
            text[place:],
            text[:place] + insert + text[place:],
            insert + text,
            text + insert,
            text[:place] + text[place : place + 1].translate(_TWINS) + text[place + 1 :],
            text.translate(_FULL_WIDTH),
            text.replace(" ", "  "),
            text.replace(" ", ""),
            f"{text} {text}",
            f'"{text}"',
        ]
        text = draw(st.sampled_from(changed))
    return text
