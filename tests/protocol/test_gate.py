"""The standard gates: what they offer, how they look, and that nothing is chosen that was not typed."""

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from assent.protocol.answer import check_values
from assent.protocol.block import render_brief, render_question
from assent.protocol.command import parse_command
from assent.protocol.display import is_hidden
from assent.protocol.error import BadPromptError, NotFoundError, TooLargeError, UnrecognisedError
from assent.protocol.gate import (
    ACTION,
    CONTEXTS,
    Check,
    Choice,
    Context,
    Gate,
    check_question,
    find_context,
    follow_up,
    is_no,
    is_yes,
    read_choice,
    render_gate,
    render_options,
    slug,
)
from assent.protocol.prompt import Field, Option, Prompt, check_prompt
from assent.protocol.reply import parse_reply, recognise
from tests.protocol.gate_table import (
    AREAS,
    CHUNKS,
    IDS,
    ROWS,
    Row,
    meaning,
    mutated,
    prompt_of,
    ways_to_choose,
)
from tests.proves import proves

__all__: list[str] = []

thorough = settings(max_examples=120, deadline=None, derandomize=True, database=None)
every_gate = pytest.mark.parametrize("row", ROWS, ids=[row.context for row in ROWS])
BY_NAME = {row.context: row for row in ROWS}


def taken(prompt: Prompt, text: str) -> str | None:
    """Return what is recorded for a reply, nothing if it is not recognised."""
    try:
        ((value,),) = recognise(prompt, text).values()
    except UnrecognisedError:
        return None
    return value


def choice(row: Row, text: str) -> Choice:
    prompt = prompt_of(row)
    return read_choice(prompt, recognise(prompt, text))


# The table


@proves("G28", "G29", "G30", "G31", "G32", "G33", "G34", "G35")
def test_catalogue_is_the_table_and_nothing_else() -> None:
    """G28-G35: contexts, labels, their order, and what is advertised, as written in the table."""
    assert [(context.name, context.options, context.commands) for context in CONTEXTS.values()] == [
        (row.context, row.options, row.advertised) for row in ROWS
    ]
    assert list(CONTEXTS) == [context.name for context in CONTEXTS.values()]


@proves("G28", "G29", "G30", "G31", "G32", "G33", "G34", "G35")
@every_gate
def test_gate_offers_its_row_and_takes_its_commands(row: Row) -> None:
    """What is asked is what the table has; every command of the row is known, and so are `todo:` and `pause`."""
    prompt = prompt_of(row)
    check_prompt(prompt)
    assert prompt.title == row.context
    (field,) = prompt.fields
    assert (field.name, field.free, field.multiple) == (ACTION, False, False)
    assert tuple(option.label for option in field.options) == row.options
    assert tuple(option.key for option in field.options) == row.options
    heads = {parse_command(spec).head for spec in prompt.commands}
    assert heads == {*row.known, "todo", "pause"}


@pytest.mark.parametrize("row", ROWS, ids=[row.context for row in ROWS])
def test_gate_without_findings_or_chunks_can_be_shown(row: Row) -> None:
    """A review that found nothing passes the same gates; a command has nothing to name then."""
    prompt = Gate(CONTEXTS[row.context], "Nothing yet.").prompt
    check_prompt(prompt)
    assert taken(prompt, "1") == row.options[0]
    assert taken(prompt, "deselect H1") is None


def test_gate_about_many_findings_can_be_shown() -> None:
    """As many as a review may have."""
    ids = tuple(f"H{number}" for number in range(1, 2_001))
    prompt = Gate(CONTEXTS["Chunk Loop"], "Many.", ids, 200).prompt
    check_prompt(prompt)
    assert taken(prompt, f"deselect {' '.join(ids)}") == f"deselect {', '.join(ids)}"


@pytest.mark.parametrize("summary", ["", "  \n", "\u200b"])
def test_gate_without_a_summary_is_refused(summary: str) -> None:
    """G9 has one; a gate that says nothing about where things stand asks for a guess."""
    with pytest.raises(BadPromptError, match="needs a summary"):
        _ = Gate(CONTEXTS["Phase Gate"], summary).prompt


@pytest.mark.parametrize("bad", ["H1,H2", "H 1", "{H1}", "", "\u200b"])
def test_finding_that_could_not_be_named_is_refused(bad: str) -> None:
    """Otherwise one id would become two, and a person could name what is not there."""
    with pytest.raises(BadPromptError, match="cannot be named"):
        _ = Gate(CONTEXTS["Chunk Loop"], "x", ("M1", bad)).prompt


def test_context_is_found_by_its_name_in_any_spelling() -> None:
    """As it stands in the table, or as it is easily typed in a shell."""
    assert [slug(row.context) for row in ROWS] == [
        "phase-gate", "visual-discovery", "chunk-plan", "chunk-loop", "deep-dive", "synthesis", "post-only",
        "continue-mismatch",
    ]  # fmt: skip
    for row in ROWS:
        for name in (row.context, row.context.upper(), slug(row.context), f" {row.context} "):
            assert find_context(name) is CONTEXTS[row.context]
    with pytest.raises(NotFoundError, match=r'There is no gate "chunk"\. .*"Phase Gate", "Visual Discovery"'):
        find_context("chunk")


# The block

LOOP_BLOCK = """\
### \U0001f6d1 REVIEW GATEWAY: Chunk Loop

Chunk 2 of 5: 3 findings, 2 marked.

Commands: `discard`, `todo: {text}`, `deselect {IDs}`

**Select an action:**
1. Continue
2. Deep-dive
3. Pause & save
4. Skip to synthesis

*Type a number or command to proceed.*"""

PHASE_BLOCK = """\
### \U0001f6d1 REVIEW GATEWAY: Phase Gate

12 files, 340 lines, 4 commits.

**Select an action:**
1. Proceed
2. Set focus
3. Quick mode
4. Cancel

*Type a number or command to proceed.*"""


@proves("G9", "G10")
def test_block_is_exactly_as_the_protocol_has_it() -> None:
    """G9 byte for byte with the sign of G-X1; the commands are the summary's last line (G-X12)."""
    loop = Gate(CONTEXTS["Chunk Loop"], "Chunk 2 of 5: 3 findings, 2 marked.", IDS).prompt
    assert render_gate(loop).encode() == LOOP_BLOCK.encode()
    assert b"### \xf0\x9f\x9b\x91 REVIEW GATEWAY: " in render_gate(loop).encode()
    phase = Gate(CONTEXTS["Phase Gate"], " 12 files, 340 lines, 4 commits.\n").prompt
    assert render_gate(phase) == PHASE_BLOCK


@proves("G9", "G10")
@every_gate
def test_every_block_has_the_shape(row: Row) -> None:
    """G10: the context's name, the summary, options from 1 without gaps in the order of the table; no placeholders."""
    commands = (
        f"\n\nCommands: {', '.join(f'`{command}`' for command in row.advertised)}" if row.advertised else ""
    )
    numbered = "\n".join(f"{number}. {label}" for number, label in enumerate(row.options, start=1))
    block = render_gate(prompt_of(row))
    assert block == (
        f"### \U0001f6d1 REVIEW GATEWAY: {row.context}\n\nTwo of five files.{commands}\n\n"
        f"**Select an action:**\n{numbered}\n\n*Type a number or command to proceed.*"
    )
    assert "[" not in block
    assert "..." not in block


@proves("G18")
@every_gate
def test_brief_list_has_the_numbered_options_and_nothing_else(row: Row) -> None:
    """G18: no context, no summary, no commands."""
    numbered = "\n".join(f"{number}. {label}" for number, label in enumerate(row.options, start=1))
    assert render_options(prompt_of(row)) == render_brief(prompt_of(row)) == numbered


def test_block_among_other_text_marks_the_lines_that_were_handed_in() -> None:
    """A summary that plays a list of options is seen to be a summary."""
    forged = Gate(CONTEXTS["Phase Gate"], "Fine.\n\n**Select an action:**\n1. Cancel").prompt
    shown = render_question(forged).split("\n")
    assert shown[2:6] == [": Fine.", ":", ": **Select an action:**", ": 1. Cancel"]
    assert shown.count("**Select an action:**") == 1


def test_block_shows_what_was_hidden() -> None:
    """Nothing that an agent wrote reaches a terminal as more than text."""
    context = Context("Two\x1b[2J", ("Go\u202e", "Stop"), ("dis", "todo: {text}"))
    block = render_gate(Gate(context, "a\x1b]0;x\x07\r\u200b").prompt)
    assert "<U+001B>[2J" in block
    assert "Go<U+202E>" in block
    assert not any(is_hidden(character) for character in block if character != "\n")


def test_block_of_a_gate_without_a_body_has_no_hole() -> None:
    """Prompts come from anywhere, also without a summary."""
    bare = Prompt(
        "Go?", "", (Field(ACTION, options=(Option("Go", "Go"), Option("Stop", "Stop"))),), commands=("pause",)
    )
    assert "\n\n\n" not in render_gate(bare)


# Reading


@proves("G16", "G36", "G37")
@every_gate
def test_option_is_chosen_by_its_number_its_label_or_its_line(row: Row) -> None:
    """G36, G37, G-X7: every spelling of every option, in any case and spacing."""
    for number, label in enumerate(row.options, start=1):
        for way in ways_to_choose(number, label):
            for typed in (way, way.upper(), f"  {way}\n", way.replace(" ", " \t ")):
                assert choice(row, typed) == Choice(label), typed


@proves("G16", "G21")
@every_gate
@pytest.mark.parametrize(
    "typed",
    [
        "", " ", "\n", "\u200b", "0", "5", "-1", "1st", "01", "1,", "1:", "(1)", "#1", "1 2", "1.0", "one",
        "a", "A", "b)", "C.", "y", "yes", "ok", "default", "next", "help", "q", "１", "①", "1\u200b", "\ufeff1",
        "1.Proceed", "5. Cancel", "deselect", "deselect H9", "toggle", "discard all", "todo", "todo:", "todo: \u200b",
        "pause now", "alll", "{IDs}", "todo: {text}\udc80", "\x00", "\x1b[A",
    ],
)  # fmt: skip
def test_anything_else_is_not_recognised(row: Row, typed: str) -> None:
    """G16, G21: no letters, no prefixes, no defaults, no silence; empty input is unrecognised, too."""
    assert taken(prompt_of(row), typed) is None
    assert meaning(row, typed) is None


@proves("G37")
@every_gate
def test_part_of_a_label_chooses_nothing(row: Row) -> None:
    """G-X7: no prefix and no fuzzy match; at Visual Discovery the word "proceed" alone matches nothing."""
    prompt = prompt_of(row)
    said = {*(label.casefold() for label in row.options), "1", "pause"}
    for label in row.options:
        for end in range(1, len(label)):
            for part in (label[:end], label[end:]):
                assert part.strip().casefold() in said or taken(prompt, part) is None
    assert taken(prompt_of(BY_NAME["Visual Discovery"]), "proceed") is None


@proves("G17", "G21")
@every_gate
def test_unrecognised_reply_is_echoed_with_what_would_help(row: Row) -> None:
    """G17, and G-X8 and G-X6 where something was named that is not there."""
    with pytest.raises(UnrecognisedError) as caught:
        recognise(prompt_of(row), "go on\x1b")
    assert caught.value.message == 'I didn\'t recognize "go on<U+001B>".'
    with pytest.raises(UnrecognisedError) as caught:
        recognise(prompt_of(row), "")
    assert caught.value.message == 'I didn\'t recognize "".'
    for words, behind in row.known.items():
        if behind:
            with pytest.raises(UnrecognisedError) as caught:
                recognise(prompt_of(row), f"{words} zz9")
            assert caught.value.message == f'I didn\'t recognize "{words} zz9". There is no zz9 here.'


@proves("G31", "G33", "G34", "G43")
@every_gate
@pytest.mark.parametrize("typed", ["discard", "deselect H1", "toggle H1", "all", "none"])
def test_command_that_changes_findings_is_known_only_where_the_table_has_it(row: Row, typed: str) -> None:
    """G-X3: elsewhere it is unrecognised input."""
    words = typed.split(maxsplit=1)[0]
    places = {
        "discard": {"Chunk Loop", "Synthesis"},
        "deselect": {"Chunk Loop"},
        "toggle": {"Post-only"},
        "all": {"Post-only"},
        "none": {"Post-only"},
    }
    if row.context in places[words]:
        assert choice(row, typed) == Choice(words, ("H1",) if " " in typed else ())
    else:
        assert taken(prompt_of(row), typed) is None


@proves("G38")
@every_gate
@pytest.mark.parametrize("typed", ["todo: buy  milk", "TODO:buy  milk", " Todo : buy  milk \n"])
def test_task_for_later_is_known_at_every_gate(row: Row, typed: str) -> None:
    """G38 with G-X3; the text is kept as it was typed."""
    assert taken(prompt_of(row), typed) == "todo: buy  milk"
    assert choice(row, typed) == Choice("todo", ("buy  milk",))


@every_gate
def test_pause_is_known_at_every_gate(row: Row) -> None:
    """G42 with G-X3: in the chunk loop it is the short form of its third option."""
    paused = "Pause & save" if row.context == "Chunk Loop" else "pause"
    assert choice(row, " PAUSE ") == Choice(paused)


@every_gate
def test_deep_dive_with_an_id_is_known_wherever_findings_are(row: Row) -> None:
    """G39 with G-X3: one finding, in any case; in the chunk loop it is the second option."""
    if row.context not in ("Chunk Loop", "Synthesis", "Post-only"):
        assert taken(prompt_of(row), "deep-dive H1") is None
        return
    label = "Deep-dive" if row.context == "Chunk Loop" else "deep-dive"
    assert choice(row, "Deep-Dive  m1") == Choice(label, ("M1",))
    for wrong in ("deep-dive H9", "deep-dive H1 M1", "deep-dive H1, M1", "deep-dive H", "deepdive H1"):
        assert taken(prompt_of(row), wrong) is None


@proves("G43")
@pytest.mark.parametrize(
    ("name", "words"), [("Chunk Loop", "deselect"), ("Post-only", "toggle"), ("Synthesis", "select specific")]
)
def test_ids_are_taken_all_or_not_at_all(name: str, words: str) -> None:
    """G-X8: commas and spaces, any case, each id once; one unknown id, and nothing happens, and it is named."""
    row = BY_NAME[name]
    for typed in ("H1, m1", "h1 M1", "H1,,M1 ,", " h1 , , H1 m1 h1"):
        assert taken(prompt_of(row), f"{words} {typed}") == f"{words} H1, M1"
    for typed in ("H1, H9", "H9 H1", "H1 M1 x", "H1;M1", "H1-M1", "H1\u200b", "Н1"):
        assert taken(prompt_of(row), f"{words} {typed}") is None
    with pytest.raises(UnrecognisedError, match=r"There is no H9, x here\.$"):
        recognise(prompt_of(row), f"{words} H1, H9 x M1 H9")


@proves("G30", "G28")
def test_label_with_its_argument_chooses_directly() -> None:
    """G-X6: a real number or area stands for the placeholder; what is out of range is unrecognised."""
    plan, phase, synthesis = BY_NAME["Chunk Plan"], BY_NAME["Phase Gate"], BY_NAME["Synthesis"]
    for number in range(1, CHUNKS + 1):
        assert choice(plan, f"Skip to Chunk {number}") == Choice("Skip to chunk N", (str(number),))
    for wrong in ("0", "4", "-1", "1 2", "1, 2", "03", "3.", "３", "one"):
        assert taken(prompt_of(plan), f"skip to chunk {wrong}") is None
    assert choice(plan, "skip to chunk n") == choice(plan, "2") == Choice("Skip to chunk N")
    for area in AREAS:
        assert choice(phase, f"set focus {area.upper()}") == Choice("Set focus", (area,))
    assert choice(phase, "set focus") == Choice("Set focus")
    assert taken(prompt_of(phase), "set focus style") is None
    assert choice(synthesis, "select specific h2") == Choice("Select specific", ("H2",))


def test_command_is_not_taken_for_an_option_that_only_begins_like_it() -> None:
    """Only a command with something behind it is a short form; `discard` is not `Discard N`."""
    context = Context(
        "Mine", ("Discard N", "Stop"), ("discard",), checks=(Check("discard", "All {N}? [y/n]"),)
    )
    gate = Gate(context, "x", IDS)
    chosen = read_choice(gate.prompt, recognise(gate.prompt, "discard"))
    assert chosen == Choice("discard")
    assert gate.check(chosen) == "All 4? [y/n]"


def test_values_that_answer_no_gate_are_not_a_choice() -> None:
    """Rather an error than a choice without a name."""
    with pytest.raises(UnrecognisedError):
        read_choice(prompt_of(ROWS[0]), {ACTION: ("5",)})


# Nothing is chosen that was not typed


def agrees(row: Row, prompt: Prompt, text: str) -> None:
    """Compare what is taken with a second reading, typed and as a ready-made value."""
    expected = meaning(row, text)
    assert taken(prompt, text) == expected
    reading = parse_reply(prompt, text)
    assert (reading.values == {}) == (expected is None) == (reading.missing == (ACTION,))
    try:
        ready_made = check_values(prompt, {ACTION: [text]})
    except UnrecognisedError:
        assert expected is None
        return
    assert ready_made == {ACTION: (expected,)}
    assert check_values(prompt, ready_made) == ready_made
    chosen = read_choice(prompt, ready_made)
    assert chosen.label in row.options or chosen.label in {*row.known, "todo", "pause"}


@proves("G12", "G16", "G19", "G36", "G37")
@every_gate
def test_arbitrary_text_never_chooses_what_was_not_typed(row: Row) -> None:
    """Whatever comes, an option or a command is taken only if the text, trimmed and folded, is one."""
    prompt = prompt_of(row)

    @thorough
    @given(st.text(max_size=40) | st.text(st.sampled_from("0123456789.) \tproceed"), max_size=12))
    @example("\ud800")
    @example("İ")
    @example("ﬁ")
    def holds(text: str) -> None:
        agrees(row, prompt, text)
        assert (taken(prompt, text) is None) == (meaning(row, text) is None)

    holds()


@proves("G12", "G16", "G19", "G36", "G37")
@every_gate
def test_nearly_right_text_never_chooses_what_was_not_typed(row: Row) -> None:
    """Prefixes, suffixes, other widths, hidden characters, look-alikes, and what other gates know."""
    prompt = prompt_of(row)
    seen = {"taken": 0, "refused": 0}

    @thorough
    @given(mutated(row))
    def holds(text: str) -> None:
        agrees(row, prompt, text)
        seen["refused" if meaning(row, text) is None else "taken"] += 1

    holds()
    assert min(seen.values()) > 10, "the replies were all of one sort, which proves little"


_WORDS = [
    "go",
    "stop",
    "ship it",
    "Ship",
    "deselect",
    "drop",
    "skip",
    "H1",
    "to",
    "1",
    "2.",
    "all",
    "Straße",
    "да",
    "drop H1",
]


@st.composite
def own_rows(draw: st.DrawFn) -> Row:
    """A gate of somebody's own, as odd as it may be."""
    label = st.sampled_from(_WORDS) | st.text(
        st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6
    )
    options = tuple(draw(st.lists(label, min_size=1, max_size=4)))
    words = st.sampled_from(["drop", "skip", "skip to", "go", "drop h1", "all", "ship"])
    known = draw(st.dictionaries(words, st.sampled_from(["", "id", "ids"]), max_size=3))
    behind = {"": "", "id": " {ID}", "ids": " {IDs}"}
    return Row("", "Mine", options, tuple(f"{word}{behind[kind]}" for word, kind in known.items()), known)


@thorough
@given(own_rows(), st.data())
def test_own_gate_never_takes_what_was_not_typed(row: Row, data: st.DataObject) -> None:
    """A gate that passes its check has one meaning for each text, and it is the one that was typed."""
    prompt = prompt_of(row, {"Mine": Context("Mine", row.options, row.advertised)})
    try:
        check_prompt(prompt)
    except BadPromptError:
        assume(condition=False)
    for number, label in enumerate(row.options, start=1):
        for way in ways_to_choose(number, label):
            assert taken(prompt, way) == label
    agrees(row, prompt, data.draw(mutated(row)))


@every_gate
def test_reply_that_is_too_long_is_refused_before_it_is_read(row: Row) -> None:
    """64 KiB is more than a person types; ready-made values are held to it, too."""
    prompt = prompt_of(row)
    for text in ("1" + " " * (64 << 10), "todo: " + "x" * (64 << 10)):
        with pytest.raises(TooLargeError):
            recognise(prompt, text)
        with pytest.raises(TooLargeError):
            check_values(prompt, {ACTION: [text]})


# Checks


@proves("G22", "G23", "G24")
def test_destructive_command_asks_with_the_exact_words() -> None:
    """G23, G24: letter for letter, with the number of findings that it is about."""
    loop = Gate(CONTEXTS["Chunk Loop"], "x", ("H1", "M1", "L1"), count=3)
    assert loop.check(Choice("discard")) == (
        "This will remove 3 findings from this chunk. They won't be recoverable. Proceed? [y/n]"
    )
    synthesis = Gate(CONTEXTS["Synthesis"], "x", ("H1", "M1"), count=7)
    assert synthesis.check(Choice("discard")) == (
        "This will discard all 7 findings and exit without posting. Proceed? [y/n]"
    )
    assert Gate(CONTEXTS["Synthesis"], "x", ("H1", "M1")).check(Choice("discard")) == (
        "This will discard all 2 findings and exit without posting. Proceed? [y/n]"
    )


@proves("G22")
def test_deselect_asks_from_two_distinct_findings_on() -> None:
    """G-X5: one finding named three times is one finding, and taking back one mark is no bulk."""
    gate = Gate(CONTEXTS["Chunk Loop"], "x", IDS)

    def asked(typed: str) -> str | None:
        return gate.check(read_choice(gate.prompt, recognise(gate.prompt, typed)))

    assert asked("deselect H1") is None
    assert asked("deselect H1, h1 H1") is None
    assert asked("deselect H1 h2") == "This will unmark 2 findings. They won't be posted. Proceed? [y/n]"
    assert (
        asked("deselect H1,H2,M1,H2") == "This will unmark 3 findings. They won't be posted. Proceed? [y/n]"
    )


@proves("G22")
@every_gate
def test_nothing_else_asks(row: Row) -> None:
    """G22 names `discard` and bulk `deselect`; options and the other commands run at once."""
    gate = Gate(CONTEXTS[row.context], "x", IDS, CHUNKS)
    replies = [str(number) for number in range(1, len(row.options) + 1)]
    replies += [f"{words} {name}" for words in row.known for name in ("H1 M1", "H1", "2", "types", "")]
    replies += ["pause", "todo: discard"]
    asking = set()
    for typed in replies:
        if taken(gate.prompt, typed) and gate.check(read_choice(gate.prompt, recognise(gate.prompt, typed))):
            asking.add(typed.strip())
    expected = {"Chunk Loop": {"discard", "deselect H1 M1"}, "Synthesis": {"discard"}}
    assert asking == expected.get(row.context, set())


def test_check_of_a_command_with_other_names_counts_the_findings() -> None:
    """`{N}` is a number of findings, not of words; a short form is checked as the command that it is."""
    context = Context(
        "Mine",
        ("Skip to chunk N", "Pause & save"),
        ("skip to chunk {N}", "note: {text}", "pause"),
        checks=(
            Check("skip to chunk", "{N}? [y/n]"),
            Check("note", "{N}! [y/n]"),
            Check("pause", "{N}. [y/n]"),
        ),
    )
    gate = Gate(context, "x", IDS, 3)
    asked = [
        gate.check(read_choice(gate.prompt, recognise(gate.prompt, typed)))
        for typed in ("skip to chunk 2", "note: x", "pause")
    ]
    assert asked == ["4? [y/n]", "4! [y/n]", "4. [y/n]"]


@proves("G25")
@pytest.mark.parametrize("reply", ["y", "Y", "yes", "YES", " Yes \n", "\ty"])
def test_yes_in_any_case_confirms(reply: str) -> None:
    """G25, trimmed and in any case (G-X4)."""
    assert is_yes(reply)
    assert not is_no(reply)


@proves("G26")
@pytest.mark.parametrize(
    "reply",
    ["", " ", "n", "N", "no", "ye", "yess", "y.", "y)", "1", "yes please", "yeah", "ok", "sure", "j", "ｙ", "у", "y\u200b", "y y", "true"],
)  # fmt: skip
def test_anything_but_yes_confirms_nothing(reply: str) -> None:
    """G26: also what looks like a yes, and silence."""
    assert not is_yes(reply)


@given(st.text(max_size=6) | st.text(st.sampled_from("yesYES \u200bу."), max_size=5))
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
def test_only_yes_is_a_yes(reply: str) -> None:
    """Whatever comes."""
    assert is_yes(reply) == (reply.strip().lower() in ("y", "yes"))


@proves("G26", "G27")
def test_check_is_a_question_that_any_reply_ends() -> None:
    """G26: no reply is asked for again; G27: it is a prompt of its own, so it is stopped at like any gate."""
    prompt = check_question("Sure? [y/n]")
    check_prompt(prompt)
    assert [taken(prompt, reply) for reply in ("Y", " no ", "", "1", "perhaps ")] == [
        "y",
        "no",
        "",
        "1",
        "perhaps",
    ]
    assert render_gate(prompt) == "Sure? [y/n]"
    assert render_options(prompt) == "Type y or yes or n or no."


def test_follow_up_takes_what_the_option_needs_and_nothing_else() -> None:
    """G-X6: one question; a name that is not there is unrecognised and said."""
    prompt = follow_up("Which finding?", ["{ID: H1, M1}", "back"], "H1 and M1 are there.")
    check_prompt(prompt)
    assert read_choice(prompt, recognise(prompt, "m1")) == Choice("", ("M1",))
    assert read_choice(prompt, recognise(prompt, "BACK")) == Choice("back")
    with pytest.raises(UnrecognisedError, match=r'I didn\'t recognize "H9"\. Name one of H1, M1\.$'):
        recognise(prompt, "H9")
    assert render_gate(prompt) == "H1 and M1 are there.\n\nWhich finding?"
    assert render_options(prompt) == "Type one of H1, M1 or back."
