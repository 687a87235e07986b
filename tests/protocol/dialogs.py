"""What the tests of dialogs are fed with, and a person who answers them by clicking or typing."""

from collections.abc import Sequence

from hypothesis import strategies as st

from assent.protocol.capability import (
    CAPABILITIES,
    LEAST_HEADER,
    LEAST_LABEL,
    LEAST_TEXT,
    Capability,
    FreeText,
)
from assent.protocol.dialog import Dialog, Given, PageTurn, RowKind, turn_page, unfold
from assent.protocol.gate import CONTEXTS, Gate, check_question, follow_up
from assent.protocol.prompt import Field, Option, Prompt, question
from tests.protocol.strategies import fields, prompts, texts

__all__ = [
    "IDS",
    "NO_TEXT",
    "capabilities",
    "choose",
    "first_page",
    "gates",
    "lists",
    "pick",
    "reach",
    "rounds",
    "some_prompts",
    "walk",
]

IDS = ("H1", "H2", "M1", "M2", "L1")
NO_TEXT = Capability("no-text", FreeText.NEVER, max_options=3, min_options=2)

_limits = st.none() | st.integers(2, 6)


def _build(free_text: FreeText, options: tuple[int | None, int], sizes: tuple[int | None, ...]) -> Capability:
    header, label, text = sizes
    most, least = options
    return Capability(
        "arbitrary",
        free_text,
        max_options=most,
        min_options=least,
        header_max=header,
        label_max=label,
        text_max=text,
    )


capabilities: st.SearchStrategy[Capability] = st.sampled_from(list(CAPABILITIES.values())) | st.builds(
    lambda built, flags, questions: Capability(
        built.name,
        built.free_text,
        allows_multiple=flags[0],
        max_questions=questions,
        min_options=built.min_options,
        max_options=built.max_options,
        allows_no_options=flags[1],
        shows_descriptions=flags[2],
        header_max=built.header_max,
        label_max=built.label_max,
        text_max=built.text_max,
    ),
    st.builds(
        _build,
        st.sampled_from(FreeText),
        st.tuples(_limits, st.integers(1, 2)),
        st.tuples(
            st.none() | st.integers(LEAST_HEADER, 20),
            st.none() | st.integers(LEAST_LABEL, 60),
            st.none() | st.integers(LEAST_TEXT, 900),
        ),
    ),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
    st.none() | st.integers(1, 4),
)

gates: st.SearchStrategy[Prompt] = st.builds(
    lambda context, summary, ids, chunks: Gate(context, f"Now: {summary}", tuple(IDS[:ids]), chunks).prompt,
    st.sampled_from(list(CONTEXTS.values())),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=900),
    st.integers(0, len(IDS)),
    st.integers(0, 9),
)


def _question(count: int, about: str, title: str, *, multiple: bool, free: bool) -> Prompt:
    options = tuple(
        Option(f"key-{n}", f"{about} no. {n}", n == 2, n == 3, about * (n % 2)) for n in range(1, count + 1)
    )
    return Prompt(f"Which? {title}", fields=(Field("q1", options=options, multiple=multiple, free=free),))


_counts = st.integers(1, 30)
_about = st.sampled_from(["a", "a, b", "a label that is rather longer than others are, by far", "two\nlines"])
_many = st.builds(_question, _counts, _about, texts, multiple=st.booleans(), free=st.booleans())

lists: st.SearchStrategy[Prompt] = st.builds(
    _question, _counts, _about, texts, multiple=st.just(value=True), free=st.booleans()
) | st.builds(lambda field: Prompt("?", fields=(field,)), fields(multiple=True))
"""Questions that take several options."""

_asides = st.sampled_from(
    [
        check_question("This will remove 2 findings. Proceed? [y/n]"),
        follow_up("Which finding?", ["{ID: H1, M2, L3, L4, L5}"]),
        follow_up("Which findings?", ["{IDs: H1, M2, L3, L4, L5}"], "H1 one\nM2 two"),
        follow_up("Which area?", ["{area: security, types}", "done"]),
        question("How should it be called?"),
        question("Only one way?", ["This one"]),
    ]
)

some_prompts: st.SearchStrategy[Prompt] = gates | prompts() | _many | _asides

rounds: st.SearchStrategy[Prompt] = st.builds(
    lambda fields: Prompt(
        "A few questions",
        fields=tuple(Field(f"q{n}", options=options) for n, options in enumerate(fields, start=1)),
    ),
    st.lists(
        st.sampled_from(
            [(), tuple(Option(str(word), str(word)) for word in ("yes", "no", "later", "never", "maybe"))]
        ).map(lambda options: options or (Option("red", "Red"), Option("blue", "Blue"))),
        min_size=2,
        max_size=9,
    ),
)


def walk(dialogs: Sequence[Dialog], start: int = 0) -> list[Dialog]:
    """Return every page that can be come to from one, by choosing rows."""
    seen, ahead = {start}, [start]
    while ahead:
        for row in dialogs[ahead.pop(0)].rows:
            if row.kind in (RowKind.PAGE, RowKind.LEAVE) and row.page not in seen:
                seen.add(row.page)
                ahead.append(row.page)
    return [dialogs[page] for page in sorted(seen)]


def reach(dialogs: Sequence[Dialog], capability: Capability, *givens: Given) -> str | Dialog | None:
    """Return what comes of giving these one after the other: a reply, or the dialog that is shown then."""
    dialog = dialogs[0]
    for given in givens:
        came = unfold(dialog, given)
        if not isinstance(came, PageTurn):
            return came
        dialog = turn_page(dialogs, came, capability)
    return dialog


def first_page(dialogs: Sequence[Dialog], question: int = 0) -> Dialog:
    """Return the dialog that a question of a round begins with."""
    return next(dialog for dialog in dialogs if dialog.question == question)


def choose(
    dialogs: Sequence[Dialog], capability: Capability, wanted: Sequence[str], question: int = 0
) -> str:
    """Return the reply of a person who wants these numbers: by rows where all have one, or else by typing them."""
    first = first_page(dialogs, question)
    rows = {row.reply for dialog in dialogs if dialog.question == question for row in dialog.rows}
    can_join = first.is_multiple or first.gathers or len(wanted) == 1
    if set(wanted) <= rows and can_join:
        reply = pick(dialogs, capability, wanted, question)
        assert reply is not None
        return reply
    assert first.allows_free_text
    for number in wanted:
        assert number in rows or f"\n{number} " in first.text.partition("by typing:")[2]
    came = unfold(first, ", ".join(wanted))
    assert isinstance(came, str)
    return came


def pick(
    dialogs: Sequence[Dialog], capability: Capability, wanted: Sequence[str], question: int = 0
) -> str | None:
    """Choose the rows that stand for `wanted`, and nothing by typing; return the reply that comes of it."""
    dialog, left = first_page(dialogs, question), list(wanted)
    for _ in range(400):
        labels = {row.reply: row.label for row in dialog.rows if row.kind is RowKind.REPLY}
        here = [reply for reply in left if reply in labels]
        turns = {row.kind: row.label for row in dialog.rows}
        if here and (not dialog.is_multiple or dialog.gathers):
            given: Given = labels[left.pop(left.index(here[0]))]
        elif here:
            given, left = [labels[reply] for reply in left if reply in labels], []
        elif not left and RowKind.DONE in turns:
            given = turns[RowKind.DONE]
        elif RowKind.PAGE in turns:
            given = next(row.label for row in reversed(dialog.rows) if row.kind is RowKind.PAGE)
        else:
            return None
        came = unfold(dialog, given)
        if not isinstance(came, PageTurn):
            return came
        dialog = turn_page(dialogs, came, capability)
    return None
