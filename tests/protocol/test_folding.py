"""A prompt laid out for surfaces that cannot show it as it is: nothing is lost, nothing moves, no limit is broken."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.protocol.capability import CAPABILITIES, LEAST_TEXT, Capability, FreeText
from assent.protocol.command import parse_command
from assent.protocol.dialog import Dialog, PageTurn, RowKind, echo_in, turn_page, unfold
from assent.protocol.display import fold
from assent.protocol.error import UnrecognisedError
from assent.protocol.folding import fold_prompt
from assent.protocol.gate import CHUNK_LOOP, CONTEXTS, Context, Gate, check_question, follow_up, read_choice
from assent.protocol.prompt import Field, Option, Prompt, check_prompt, question
from assent.protocol.reply import read_field, recognise
from tests.protocol.dialogs import (
    IDS,
    NO_TEXT,
    capabilities,
    choose,
    gates,
    lists,
    pick,
    reach,
    rounds,
    some_prompts,
    walk,
)
from tests.protocol.strategies import modest
from tests.proves import proves

__all__: list[str] = []

CLAUDE, CODEX = CAPABILITIES["claude-code"], CAPABILITIES["codex"]
LOOP = Gate(CHUNK_LOOP, "Chunk 2 of 5. 5 findings.", IDS, 5).prompt
ECHO = "I didn't recognize \"" + "x" * 200 + '". ' + "There is no H9 here. " * 20


def labels(dialog: Dialog) -> list[str]:
    """Return what can be chosen."""
    return [row.label for row in dialog.rows]


def test_gate_that_fits_is_one_dialog() -> None:
    """All that stands in the block stands in the dialog."""
    (dialog,) = fold_prompt(LOOP, CLAUDE)
    assert labels(dialog) == ["1. Continue", "2. Deep-dive", "3. Pause & save", "4. Skip to synthesis"]
    assert dialog.header == "Chunk Loop"
    assert dialog.text == (
        "Chunk Loop\n\nChunk 2 of 5. 5 findings.\n\nCommands: `discard`, `todo: {text}`, `deselect {IDs}`\n\n"
        "Type a number or command to proceed."
    )
    assert dialog.allows_free_text
    assert not dialog.is_multiple


@proves("G5", "G7")
def test_gate_with_more_options_than_fit_shows_the_first_and_names_the_others() -> None:
    """In table order and with their numbers; the others are typed (G-X10)."""
    (dialog,) = fold_prompt(LOOP, CODEX)
    assert labels(dialog) == ["1. Continue", "2. Deep-dive", "3. Pause & save"]
    assert "More to choose from, by typing:\n4. Skip to synthesis\n" in dialog.text
    for typed in ("4", "skip to synthesis", "4. Skip to synthesis"):
        assert recognise(LOOP, str(unfold(dialog, typed))) == {"action": ("Skip to synthesis",)}


@proves("G7")
def test_gate_where_nothing_can_be_typed_has_its_commands_as_rows_and_pages() -> None:
    """Options first, then the commands; only what takes any text is left, and said to be."""
    dialogs = fold_prompt(LOOP, NO_TEXT)
    assert [labels(dialog) for dialog in dialogs[:4]] == [
        ["1. Continue", "2. Deep-dive", "More…"],
        ["3. Pause & save", "4. Skip to synthesis", "More…"],
        ["discard", "pause", "More…"],
        ["deselect…", "deep-dive…", "Back"],
    ]
    assert "`todo: {text}`" in dialogs[0].text
    more = ["More…"] * 3
    assert reach(dialogs, NO_TEXT, *more[:2], "discard") == "discard"
    assert reach(dialogs, NO_TEXT, *more, "deep-dive…", "More…", "deep-dive M1") == "deep-dive M1"
    several = ["deselect…", "H2", "H1", "More…", "M1", "More…", "Done"]
    assert reach(dialogs, NO_TEXT, *more, *several) == "deselect H2, H1, M1"
    left = reach(dialogs, NO_TEXT, *more, "deselect…", "H2", "More…", "More…", "More…", "Other actions")
    assert left == dialogs[0]


def test_row_that_is_chosen_twice_is_taken_back() -> None:
    """And the dialog says what is chosen so far."""
    dialogs = fold_prompt(question("Which?", ["a", "b", "c"], multiple=True), NO_TEXT)
    shown = reach(dialogs, NO_TEXT, "1. a", "2. b", "1. a")
    assert isinstance(shown, Dialog)
    assert shown.text.startswith("Chosen so far: 2. Choose one again to take it back.\n\nWhich?")
    assert reach(dialogs, NO_TEXT, "1. a", "2. b", "1. a", "More…", "Done") == "2."


def test_what_was_chosen_so_far_has_its_place_above_a_long_text() -> None:
    """It is said whole, and the limit holds."""
    narrow = replace(NO_TEXT, text_max=LEAST_TEXT)
    body = "\n".join(f"Line {n} of the body." for n in range(100))
    dialogs = fold_prompt(question("Which?", ["a", "b", "c"], body=body, multiple=True), narrow)
    shown = reach(dialogs, narrow, "1. a")
    assert isinstance(shown, Dialog)
    assert len(shown.text) <= LEAST_TEXT
    assert shown.text.startswith("Chosen so far: 1. Choose one again to take it back.\n\nWhich?\n: Line 0")


def test_done_with_nothing_chosen_is_no_answer() -> None:
    """The same page again."""
    dialogs = fold_prompt(question("Which?", ["a", "b"], multiple=True), NO_TEXT)
    assert reach(dialogs, NO_TEXT, "Done") == dialogs[0]


def test_recommended_option_gets_a_word_and_keeps_its_place() -> None:
    """Hosts want it first; the order of the prompt wins."""
    prompt = question("Which?", ["a", Option("b", "b", recommended=True), Option("c", "c", destructive=True)])
    (dialog,) = fold_prompt(prompt, CLAUDE)
    assert labels(dialog) == ["1. a", "2. b (recommended)", "3. c (destructive)"]


@pytest.mark.parametrize("capability", [*CAPABILITIES.values(), NO_TEXT], ids=lambda known: known.name)
def test_check_never_has_yes_first(capability: Capability) -> None:
    """Enter on a dialog chooses its first row."""
    (dialog,) = fold_prompt(check_question("Proceed? [y/n]"), capability)
    assert labels(dialog) == ["No", "Yes"]
    assert [unfold(dialog, label) for label in labels(dialog)] == ["no", "yes"]


def test_question_without_options_gets_starters_where_options_are_needed() -> None:
    """Choosing one of them is no answer; only what is typed is."""
    (dialog,) = fold_prompt(question("What name?"), CLAUDE)
    assert labels(dialog) == ["Type the answer", "Not now"]
    assert unfold(dialog, "Type the answer") == PageTurn(0)
    assert unfold(dialog, ["Type the answer", "Ada"]) == "Ada"
    assert unfold(dialog, "Not now") is None
    assert unfold(dialog, "Ada") == "Ada"
    (bare,) = fold_prompt(question("What name?"), CAPABILITIES["mcp-form"])
    assert (bare.rows, bare.allows_free_text) == ((), True)


def test_question_with_one_option_gets_a_second_row_where_two_are_needed() -> None:
    """It leaves the question open."""
    (dialog,) = fold_prompt(question("Which?", ["This"]), CLAUDE)
    assert labels(dialog) == ["1. This", "Not now"]
    assert unfold(dialog, "Not now") is None


def test_question_that_needs_text_cannot_be_asked_where_none_can_be_typed() -> None:
    """Then another surface has to."""
    assert fold_prompt(question("What name?"), NO_TEXT) == ()
    assert fold_prompt(follow_up("What?", ["note: {text}"]), NO_TEXT) == ()
    both = question("What name?", ["Ada", "Eva"], free=True)
    (dialog,) = fold_prompt(both, NO_TEXT)
    assert "Words of your own cannot be typed here." in dialog.text


def test_choices_of_a_follow_up_are_what_it_may_name() -> None:
    """Several where the tool can, and typed where it cannot."""
    which = follow_up("Which findings?", ["{IDs: H1, M2, L1}"])
    (dialog,) = fold_prompt(which, CLAUDE)
    assert (labels(dialog), dialog.is_multiple) == (["H1", "M2", "L1"], True)
    assert unfold(dialog, "H1, L1") == unfold(dialog, ["H1", "L1"]) == "H1, L1"
    (dialog,) = fold_prompt(which, CODEX)
    assert (unfold(dialog, "H1"), unfold(dialog, "h1 l1")) == ("H1", "h1 l1")
    assert "For several, type them with commas between." in dialog.text


def test_long_text_says_how_much_is_missing_and_keeps_how_to_reply() -> None:
    """The head of it, and the number of lines."""
    summary = "\n".join(f"Line {n} of the summary." for n in range(1, 101))
    narrow = replace(CODEX, text_max=LEAST_TEXT)
    (dialog,) = fold_prompt(Gate(CHUNK_LOOP, summary, IDS).prompt, narrow)
    head, note, *tail = dialog.text.partition("\n… ")[0], *dialog.text.partition("\n… ")[2].split("\n\n")
    shown = head.count("Line ")
    assert note == f"{100 - shown} more lines"
    assert 0 < shown < 100
    assert [part.partition(":")[0] for part in tail[:2]] == ["More to choose from, by typing", "Commands"]


def test_action_that_does_not_fit_is_not_asked_about() -> None:
    """What will be done is shown whole, or approved elsewhere."""
    prompt = replace(question("Run it?", ["yes", "no"]), action={"command": "x" * 600})
    narrow = replace(CLAUDE, text_max=LEAST_TEXT)
    assert fold_prompt(prompt, narrow) == ()
    (dialog,) = fold_prompt(prompt, CLAUDE)
    assert "x" * 600 in dialog.text


def test_description_stands_beside_the_label_or_in_the_text_where_the_tool_has_no_place_for_it() -> None:
    """In full somewhere."""
    prompt = question("Which?", [Option("a", "Alpha", description="The first."), Option("b", "Beta")])
    (dialog,) = fold_prompt(prompt, CLAUDE)
    assert [row.description for row in dialog.rows] == ["The first.", ""]
    (dialog,) = fold_prompt(prompt, CAPABILITIES["mcp-form"])
    assert labels(dialog) == ["1. Alpha - The first.", "2. Beta"]
    long = question("Which?", [Option("a", "Alpha", description="The first. " * 9), Option("b", "Beta" * 20)])
    (dialog,) = fold_prompt(long, replace(CAPABILITIES["mcp-form"], label_max=40))
    assert labels(dialog) == ["1. Alpha", "2. BetaBetaBetaBetaBetaBetaBetaBetaBeta…"]
    assert f"1. Alpha - {'The first. ' * 9}".strip() in dialog.text
    assert f"2. {'Beta' * 20}" in dialog.text
    (dialog,) = fold_prompt(long, replace(CLAUDE, label_max=40))
    assert dialog.rows[1].description == "Beta" * 20


def test_label_with_a_comma_can_be_told_from_two_labels() -> None:
    """A tool joins the labels of several rows with commas."""
    prompt = question("Which?", ["red, green", "blue"], multiple=True)
    (dialog,) = fold_prompt(prompt, CLAUDE)
    assert labels(dialog) == ["1. red; green", "2. blue"]
    reply = unfold(dialog, ", ".join(labels(dialog)))
    assert recognise(prompt, str(reply)) == {"q1": ("red, green", "blue")}


@pytest.mark.parametrize(
    ("title", "header"),
    [
        ("Continue (mismatch)", "Continue (m…"),
        ("Chunk Loop", "Chunk Loop"),
        ("0123456789e\u0301\u0323z", "0123456789…"),
        ("0123456789\U0001f1e9\U0001f1ea!", "0123456789…"),
        ("012345678\U0001f1e9\U0001f1ea!!", "012345678\U0001f1e9\U0001f1ea…"),
        ("0123456789\U0001f44d\U0001f3fd!", "0123456789…"),
    ],
)
def test_header_is_cut_between_characters_as_they_are_seen(title: str, header: str) -> None:
    """An accent, a flag and a tone of skin stay with what they belong to."""
    assert fold_prompt(question(title), CLAUDE)[0].header == header


@proves("C7", "C14")
@pytest.mark.parametrize("capability", CAPABILITIES.values(), ids=lambda known: known.name)
@pytest.mark.parametrize("label", ["", "其他（可填写）"])
def test_free_option_is_no_row_and_its_label_stands_where_the_tool_has_none(
    capability: Capability, label: str
) -> None:
    """C7, C14: the options are the rows; a tool that has its own place for text gets no second one."""
    prompt = question("Which?", ["Red", "Blue"], free=True, other=label)
    (dialog,) = fold_prompt(prompt, capability)
    assert labels(dialog) == ["1. Red", "2. Blue"]
    assert dialog.allows_free_text is capability.allows_text
    has_label = bool(label) and capability.free_text is FreeText.OPTIONAL
    assert (dialog.text.count(label) if label else 0) == has_label
    assert ("Or type your own words" in dialog.text) is capability.allows_text
    if capability.allows_text and label:
        (read,) = [unfold(dialog, label)]
        assert (
            read == label
        )  # typed or clicked, it is a text like any other, and its prompt knows that it says nothing
        with pytest.raises(UnrecognisedError):
            recognise(prompt, label)


def test_round_is_one_dialog_for_each_question() -> None:
    """The first says what all of them are about; no two have the same text."""
    prompt = Prompt("Two things", "For the release.", (_same("q1"), _same("q2")))
    check_prompt(prompt)
    first, second = fold_prompt(prompt, CLAUDE)
    assert first.text == "Two things\n: For the release.\n\nQ1 Sure?"
    assert second.text == "Q2 Sure?"
    assert (first.header, second.header) == ("Q1", "Q2")
    assert (first.question, second.question) == (0, 1)


def _same(name: str) -> Field:
    return replace(question("", ["yes", "no"]).fields[0], name=name, text="Sure?")


# For any surface and any prompt.


@proves("G6")
@modest
@given(capabilities, some_prompts | rounds)
def test_limits_of_a_surface_are_never_exceeded(capability: Capability, prompt: Prompt) -> None:
    """Neither at first, nor with an echo, nor with what was chosen so far."""
    check_prompt(prompt)
    dialogs = fold_prompt(prompt, capability)
    assume(dialogs)
    for dialog in dialogs:
        count = len(dialog.rows)
        assert capability.max_options is None or count <= capability.max_options
        assert count >= capability.min_options or (not count and capability.allows_no_options)
        assert capability.header_max is None or len(dialog.header) <= capability.header_max
        assert not dialog.is_multiple or capability.allows_multiple
        assert not dialog.allows_free_text or capability.allows_text
        assert dialog.allows_free_text or capability.free_text is not FreeText.ALWAYS
        for label in labels(dialog):
            assert capability.label_max is None or len(label) <= capability.label_max
        full = turn_page(dialogs, PageTurn(dialog.page, tuple(f"{n}." for n in range(1, 201))), capability)
        shown = [dialog, echo_in(dialog, ECHO, capability), *([full] if dialog.gathers else [])]
        for each in shown:
            assert capability.text_max is None or len(each.text) <= capability.text_max
            assert each.text.strip()


@modest
@given(capabilities, some_prompts | rounds)
def test_labels_of_a_dialog_and_texts_of_a_round_are_unique(capability: Capability, prompt: Prompt) -> None:
    """Some hosts refuse two that are the same, and none could tell which was meant."""
    dialogs = fold_prompt(prompt, capability)
    for dialog in dialogs:
        assert len({fold(label) for label in labels(dialog)}) == len(dialog.rows)
    firsts = [
        next(each for each in dialogs if each.question == n) for n in {each.question for each in dialogs}
    ]
    assert len({each.text for each in firsts}) == len({each.header for each in firsts}) == len(firsts)
    echoed = {echo_in(each, ECHO, capability).text for each in firsts}
    assert len(echoed) == len(firsts)


@proves("G5")
@modest
@given(capabilities, some_prompts)
def test_options_keep_their_number_and_order_on_every_page(capability: Capability, prompt: Prompt) -> None:
    """Option 7 stays 7, wherever it stands."""
    dialogs = fold_prompt(prompt, capability)
    assume(dialogs)
    for number, field in enumerate(prompt.fields):
        mine = [dialog for dialog in dialogs if dialog.question == number]
        shown = [label for each in mine for label in labels(each) if label.partition(".")[0].isdecimal()]
        listed = mine[0].text.partition("by typing:\n")[2].split("\n\n")[0].split("\n")
        named = [line for line in listed if line.partition(".")[0].isdecimal()]
        numbers = [int(label.partition(".")[0]) for label in [*shown, *named]]
        assert numbers == [*range(1, len(field.options) + 1)] or not field.options


@proves("G7")
@modest
@given(capabilities, some_prompts)
def test_every_option_can_be_chosen(capability: Capability, prompt: Prompt) -> None:
    """By its row, on whichever page, or by typing its number where that is offered."""
    assume(len(prompt.fields) == 1)
    dialogs = fold_prompt(prompt, capability)
    assume(dialogs)
    field = prompt.fields[0]
    for number, option in enumerate(field.options, start=1):
        reply = pick(dialogs, capability, [f"{number}."])
        if reply is None:
            assert dialogs[0].allows_free_text
            assert f"{number}. " in dialogs[0].text.partition("by typing:\n")[2]
            came = unfold(dialogs[0], f"{number}.")
            assert isinstance(came, str)
            reply = came
        assert recognise(prompt, reply) == {field.name: (option.key,)}


@modest
@given(capabilities, lists, st.data())
def test_every_set_of_options_can_be_chosen(
    capability: Capability, prompt: Prompt, data: st.DataObject
) -> None:
    """By rows on one page or several, or by typing numbers where some have no row."""
    field = prompt.fields[0]
    dialogs = fold_prompt(prompt, capability)
    positions = data.draw(
        st.lists(st.integers(0, len(field.options) - 1), min_size=1, max_size=4, unique=True)
    )
    reply = choose(dialogs, capability, [f"{position + 1}." for position in positions])
    assert set(recognise(prompt, reply)[field.name]) == {
        field.options[position].key for position in positions
    }


@modest
@given(capabilities, rounds)
def test_every_option_of_every_question_of_a_round_can_be_chosen(
    capability: Capability, prompt: Prompt
) -> None:
    """Each question has pages of its own, and none leads to another one's."""
    dialogs = fold_prompt(prompt, capability)
    for place, field in enumerate(prompt.fields):
        for number, option in enumerate(field.options, start=1):
            reply = choose(dialogs, capability, [f"{number}."], place)
            assert read_field(field, reply) == (option.key,)


@proves("G7")
@modest
@given(capabilities, gates)
def test_every_command_of_a_gate_can_be_given(capability: Capability, prompt: Prompt) -> None:
    """Typed, or chosen; only what takes any text is named instead where nothing can be typed."""
    dialogs = fold_prompt(prompt, capability)
    pages = walk(dialogs)
    assert pages == list(dialogs)
    for command in map(parse_command, prompt.commands):
        for spelled in _spellings(command.head, command.values, has_colon=command.has_colon):
            if capability.allows_text:
                assert unfold(dialogs[0], spelled) == spelled
                assert dialogs[0].allows_free_text
            elif command.has_colon:
                assert "`todo: {text}`" in dialogs[0].text
                continue
            else:
                assert spelled in {
                    f"{page.head} {row.reply}".strip() for page in pages for row in page.rows if row.reply
                }
            assert read_choice(prompt, recognise(prompt, spelled)).label


def _spellings(head: str, values: tuple[str, ...], *, has_colon: bool) -> list[str]:
    if has_colon:
        return [f"{head}: look again"]
    return [f"{head} {value}" for value in values] if values else [] if head not in _WORDS else [head]


_WORDS = {"discard", "pause", "all", "none"}


@proves("G44")
@modest
@given(
    capabilities,
    some_prompts,
    st.text(max_size=12) | st.sampled_from(["1", "2.", "3)", "a", "q1: 1", "1, 2"]),
)
def test_text_that_is_no_label_is_the_reply_as_it_was_typed(
    capability: Capability, prompt: Prompt, text: str
) -> None:
    """So no option is ever chosen that was not: it is read exactly as in plain text."""
    for dialog in fold_prompt(prompt, capability):
        came = unfold(dialog, text)
        row = next((row for row in dialog.rows if row.label == text.strip()), None)
        if row is not None:
            assert row.kind is not RowKind.REPLY or came in (
                f"{dialog.head} {row.reply}".strip(),
                PageTurn(dialog.page, (row.reply,)),
            )
        else:
            assert came in (text.strip(), None)
            assert came is not None or not text.strip() or not text.isascii() or not text.isprintable()


@modest
@given(
    capabilities,
    some_prompts | rounds,
    st.sampled_from([None, "", " \n", "\u200b", [], ["", " "], "None of the above", ["none of the above"]]),
)
def test_empty_answer_is_no_decision_on_any_surface(
    capability: Capability, prompt: Prompt, empty: str | list[str] | None
) -> None:
    """A timer, a closed dialog or a machine gives such answers."""
    for dialog in fold_prompt(prompt, capability):
        assert unfold(dialog, empty) is None


@pytest.mark.parametrize("context", CONTEXTS.values(), ids=lambda context: context.name)
def test_label_given_back_is_the_option_at_every_gate(
    context: Context,
) -> None:
    """Round trip, on every known host."""
    prompt = Gate(context, "Now.", IDS, 5).prompt
    for capability in CAPABILITIES.values():
        for dialog in fold_prompt(prompt, capability)[:1]:
            for number, row in enumerate(dialog.rows[: len(prompt.fields[0].options)], start=1):
                label = prompt.fields[0].options[number - 1].label
                assert recognise(prompt, str(unfold(dialog, row.label))) == {"action": (label,)}
                assert recognise(prompt, str(unfold(dialog, [row.label]))) == {"action": (label,)}
