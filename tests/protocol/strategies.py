"""What the property tests of this room are fed with, and how much of it."""

from hypothesis import assume
from hypothesis import strategies as st

from assent.protocol.canonical import Json
from assent.protocol.error import BadPromptError
from assent.protocol.prompt import Field, Option, Prompt, check_prompt, render_position
from tests.chance import examples

__all__ = ["fields", "json_values", "modest", "prompts", "spellings", "texts"]

# The same examples on every run: a red test stays red until somebody looks at it.
modest = examples(40, deadline=None, derandomize=True, database=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_words = [
    "yes",
    "No",
    "Deep-dive",
    "Pause & save",
    "a b",
    "3",
    "12",
    "x",
    "C",
    "q1: yes",
    "A) no",
    "B",
    "red, green",
    "其他（可填写）",
    "да",
    "1.5",
    "2)",
    "-",
    "Straße",
    "ﬁn",
]
_labels = st.sampled_from(_words) | texts

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0.0)  # a zero has no sign
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def fields(
    draw: st.DrawFn, *, name: str = "q1", multiple: bool | None = None, free: bool | None = None
) -> Field:
    """A question with options that may be put to people."""
    options = [
        Option(key=draw(st.one_of(st.just(label), _labels)), label=label)
        for label in draw(st.lists(_labels, min_size=1, max_size=5, unique=True))
    ]
    field = Field(
        name,
        options=tuple(options),
        multiple=draw(st.booleans()) if multiple is None else multiple,
        free=draw(st.booleans()) if free is None else free,
    )
    try:
        check_prompt(Prompt("?", fields=(field,)))
    except BadPromptError:
        assume(condition=False)
    return field


@st.composite
def prompts(draw: st.DrawFn) -> Prompt:
    """One question or a round of them."""
    names = [f"q{number}" for number in range(1, 1 + draw(st.integers(1, 3)))]
    return Prompt("?", fields=tuple(draw(fields(name=name)) for name in names))


def spellings(field: Field, position: int) -> set[str]:
    """All that a person may type to choose the option at `position`, written down a second time."""
    option = field.options[position]
    marks = {str(position + 1)} | ({render_position(position)} if position < 26 else set())
    closed = {mark + closer for mark in marks for closer in ("", ".", ")")}
    lines = {
        f"{mark}{gap}{name}"
        for mark in marks
        for gap in (")", ") ", ". ", ": ")
        for name in (option.label, option.key)
    }
    return closed | lines | {option.label, option.key}
