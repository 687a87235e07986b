"""A reply chooses what was typed and nothing else; what is not clear is not an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.answer import MAX_REPLY_BYTES, check_values
from assent.protocol.error import TooLargeError, UnrecognisedError
from assent.protocol.prompt import OTHER, Field, Option, Prompt, other_label, question, render_position
from assent.protocol.reply import Reading, parse_reply, read_field, recognise
from tests.protocol.strategies import fields, modest, prompts, spellings, texts
from tests.proves import proves

GATE = question("Phase Gate", ["Proceed", "Set focus", "Quick mode", "Cancel"])
DATABASE = question("Which?", [Option("pg", "PostgreSQL"), Option("lite", "SQLite")])
OPEN = question("Which?", ["PostgreSQL", "SQLite"], free=True)
COLOURS = question("Which?", ["red", "green", "Red, green and more"], multiple=True)
OPEN_COLOURS = question("Which?", ["red", "green"], multiple=True, free=True)
COPIES = question("How many?", ["3", "1", "5"])
WHY = question("Why?")
ROUND = Prompt(
    "Set up",
    fields=(
        Field("q1", options=(Option("pg", "PostgreSQL"), Option("lite", "SQLite"))),
        Field("note", free=True),
        Field("q3", options=(Option("l", "left"), Option("r", "right")), multiple=True),
    ),
)


def refusal(prompt: Prompt, text: str) -> str:
    with pytest.raises(UnrecognisedError) as caught:
        recognise(prompt, text)
    return caught.value.message


@proves("G36")
@pytest.mark.parametrize("form", ["{}", "{}.", "{})", "  {} ", "{}\n"])
def test_number_chooses_the_option_in_that_position(form: str) -> None:
    """G36, with the trailing signs of G-X7."""
    for number, option in enumerate(GATE.fields[0].options, start=1):
        assert recognise(GATE, form.format(number)) == {"q1": (option.key,)}


@proves("G37")
def test_label_chooses_its_option_in_any_case_and_spacing() -> None:
    """G37 and G-X7: the whole label, trimmed, inner spaces collapsed."""
    for option in GATE.fields[0].options:
        for typed in (
            option.label,
            option.label.upper(),
            f"  {option.label.lower()} ",
            option.label.replace(" ", " \t "),
        ):
            assert recognise(GATE, typed) == {"q1": (option.key,)}


@pytest.mark.parametrize(
    "typed", ["b", "B", "b)", "B.", "2", "lite", "LITE", "SQLite", "B) SQLite", "2. sqlite", "q1: b"]
)
def test_letter_key_and_shown_line_choose_too(typed: str) -> None:
    """C-X10: the letter in any case, with or without its bracket, and the full option text."""
    assert recognise(DATABASE, typed) == {"q1": ("lite",)}


@pytest.mark.parametrize(
    "typed",
    [
        "SQL",
        "lit",
        "proceed now",
        "c",
        "3",
        "0",
        "01",
        "-1",
        "b))",
        "(b)",
        "B) PostgreSQL",
        "a b",
        "1,2",
        "ｂ",
        "SQLite\u200b",
    ],
)
def test_part_of_a_label_or_anything_else_chooses_nothing(typed: str) -> None:
    """G-X7: fuzzy matching would be picking for the user."""
    assert read_field(DATABASE.fields[0], typed) is None


@proves("G17")
@pytest.mark.parametrize("typed", ["", "   ", "nope", 'say "hi"', "2 or 3", "なし"])
def test_unrecognised_reply_is_echoed(typed: str) -> None:
    """G17: in exactly these words."""
    assert refusal(GATE, typed) == f'I didn\'t recognize "{typed}".'


def test_echo_of_a_hostile_reply_is_inert_and_short() -> None:
    """S3: a reply may come from anywhere, and it is printed."""
    assert refusal(GATE, "\x1b]0;x\x07\u202e") == 'I didn\'t recognize "<U+001B>]0;x<U+0007><U+202E>".'
    assert refusal(GATE, "a\udc80") == refusal(WHY, "a\udc80") == 'I didn\'t recognize "a<U+DC80>".'
    assert refusal(GATE, "one\r\ntwo\nthree") == 'I didn\'t recognize "one two three".'
    assert refusal(GATE, "x" * 5000) == f'I didn\'t recognize "{"x" * 199}…".'


@pytest.mark.parametrize("prompt", [GATE, OPEN, COLOURS, OPEN_COLOURS, WHY, ROUND])
@pytest.mark.parametrize("typed", ["", " ", "\n\n", "\t", "\u200b", "\u3164\x00", "q1:"])
def test_blank_reply_is_never_an_answer(prompt: Prompt, typed: str) -> None:
    """G21: not even where any text would do."""
    reading = parse_reply(prompt, typed)
    assert reading.values == {}
    assert reading.missing == tuple(field.name for field in prompt.fields)
    refusal(prompt, typed)


def test_text_that_points_to_two_options_chooses_none_and_names_both() -> None:
    """Never a guess: a label "3" and the third position are two things."""
    assert refusal(COPIES, "3") == 'I didn\'t recognize "3". "3" could mean A) 3 or C) 5: write A) or C).'
    assert recognise(COPIES, "a") == recognise(COPIES, "1)") == {"q1": ("3",)}
    assert recognise(COPIES, "c") == recognise(COPIES, "3)") == recognise(COPIES, "5") == {"q1": ("5",)}
    pair = question("?", ["no", "A) no"])
    assert "could mean A) no or B) A) no" in refusal(pair, "a) NO")
    slot = question("?", ["3", "x"], free=True)
    assert "could mean A) 3 or C) your own words" in refusal(slot, "3")
    line = question("?", ["C) x y", "z"], free=True)
    assert "could mean A) C) x y or C) your own words" in refusal(line, "c) x y")


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("red", ("red",)),
        ("1,2", ("red", "green")),
        ("b, RED , 2", ("green", "red")),
        ("A), 2.", ("red", "green")),
        ("red, green and more", ("Red, green and more",)),
        ("q1: a,b", ("red", "green")),
    ],
)
def test_several_options_are_a_list_with_commas(typed: str, values: tuple[str, ...]) -> None:
    """The whole text as one label first; duplicates count once."""
    assert recognise(COLOURS, typed) == {"q1": values}


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("red, blue", '"blue" is none of the options.'),
        ("red,", "Something is missing beside a comma."),
        ("red green", ""),
        ("1 2", ""),
    ],
)
def test_list_with_one_stranger_chooses_nothing(typed: str, hint: str) -> None:
    """All or nothing."""
    assert refusal(COLOURS, typed) == f'I didn\'t recognize "{typed}". {hint}'.strip()


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("A, green", ("red", "green")),
        ("red, blue", ("red, blue",)),
        ("3, blue", ("3, blue",)),
        ("C) red, blue", ("red, blue",)),
    ],
)
def test_list_with_a_stranger_is_text_where_text_is_allowed(typed: str, values: tuple[str, ...]) -> None:
    """Text of one's own may hold commas; it is taken whole."""
    assert recognise(OPEN_COLOURS, typed) == {"q1": values}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("MySQL", "MySQL"),
        ("  two\nlines ", "two\nlines"),
        ("C) my own words", "my own words"),
        ("c: my own words", "my own words"),
        ("3. mine", "mine"),
        ("3)mine", "mine"),
        ("C) sqlite", "SQLite"),
        ("b", "SQLite"),
        ("3.5", "3.5"),
        ("3:30", "3:30"),
        ("C:\\temp", "C:\\temp"),
        ("A) MySQL", "A) MySQL"),
        ("D", "D"),
        ("q1: MySQL\n------", "MySQL"),
    ],
)
def test_text_that_is_no_option_is_the_answer_where_text_is_allowed(typed: str, value: str) -> None:
    """C8: free text besides suggested options."""
    assert recognise(OPEN, typed) == {"q1": (value,)}


@pytest.mark.parametrize("typed", ["C", "c)", "3", "3.", "C) \u200b", "q1: C"])
def test_address_of_the_free_option_alone_still_needs_words(typed: str) -> None:
    """Choosing "other" says nothing yet."""
    assert refusal(OPEN, typed).endswith('Write your own words after C), as in "C) not yet".')


def test_free_question_without_options_has_no_addresses() -> None:
    """There, "A" and "1" are what somebody wanted to say."""
    assert [read_field(WHY.fields[0], text) for text in ("A", "1", " x ")] == [("A",), ("1",), ("x",)]


@pytest.mark.parametrize("label", ["", "其他（可填写）", "Something else"])
def test_label_of_the_free_option_alone_is_no_answer_yet(label: str) -> None:
    """It says that own words will follow; what follows counts, and the hint says how."""
    prompt = question("Which?", ["Red", "Blue"], free=True, other=label)
    shown = other_label(prompt.fields[0])
    for typed in (shown, f" {shown.upper()} ", f"C) {shown}", "c"):
        assert refusal(prompt, typed).endswith('Write your own words after C), as in "C) not yet".')
        assert read_field(prompt.fields[0], typed) is None
    assert recognise(prompt, f"{shown} green") == {"q1": (f"{shown} green",)}
    with pytest.raises(UnrecognisedError):
        check_values(prompt, {"q1": [shown]})


def test_option_that_is_called_like_our_own_label_is_chosen_by_it() -> None:
    """Ours gives way: only the asker's labels are checked against each other."""
    prompt = question("Which?", ["Red", OTHER], free=True)
    assert recognise(prompt, OTHER) == recognise(prompt, "b") == {"q1": (OTHER,)}
    assert check_values(prompt, {"q1": [OTHER]}) == {"q1": (OTHER,)}


def test_reading_of_a_round_tells_wrong_answers_from_missing_ones() -> None:
    """So that what was understood can be kept, and the rest asked for."""
    fields = tuple(Field(f"n{n}", options=(Option("a", "Red"), Option("b", "Blue"))) for n in range(1, 5))
    reading = parse_reply(Prompt("?", fields=fields), "q1: a\nq2: green\nq3: a\nq3: b")
    assert reading.values == {"n1": ("a",)}
    assert reading.missing == ("n2", "n3", "n4")
    assert reading.wrong == ("n2", "n3")


def test_options_beyond_z_have_numbers_only() -> None:
    """There are 26 letters."""
    many = question("?", [f"step {number}" for number in range(30)])
    assert recognise(many, "z") == {"q1": ("step 25",)}
    assert recognise(many, "27") == recognise(many, "27)") == {"q1": ("step 26",)}
    assert read_field(many.fields[0], "31") is None


@proves("C20")
@pytest.mark.parametrize(
    "typed",
    [
        "q1: pg\nq2: all good\nq3: left, right",
        "Q1:PostgreSQL\n\nQ2 : all good\n  q3: A,B\n",
        "q1: a\nq2: all good\n------\nq3: 1, 2",
        "q3: left, right\n----------\nnote: all good\n q1: A)",
        "q1: a\r\nq2: all good\r\n------\r\nq3: l, r\r\n------",
    ],
)
def test_round_is_answered_with_one_line_per_answer_and_an_optional_dashes_line(typed: str) -> None:
    """C20, C-X3, C-U9: keys in any case, in any order; a question's own name is a key, too."""
    assert recognise(ROUND, typed) == {"q1": ("pg",), "note": ("all good",), "q3": ("l", "r")}


def test_answer_in_a_round_may_span_lines_until_the_next_key_or_dashes() -> None:
    """C-X3: what ends an answer, and what does not."""
    typed = "q2: first\n\nwhy: because\nhttps://x.example\nnote:x\n--- no\n------\nq1: A\nq3: B"
    wanted = "first\n\nwhy: because\nhttps://x.example\nnote:x\n--- no"
    assert recognise(ROUND, typed)["note"] == (wanted,)


def test_partial_round_says_what_is_there_and_what_is_missing() -> None:
    """A surface keeps what was understood and asks for the rest."""
    reading = parse_reply(ROUND, "q3: left\nq1: maybe")
    assert reading.values == {"q3": ("l",)}
    assert reading.unrecognised == ("maybe",)
    assert reading.missing == ("q1", "note")
    assert refusal(ROUND, "q1: a\nq3: b") == 'I didn\'t recognize "q1: a q3: b". Still missing: q2.'
    assert '"maybe" is no answer to q1. Still missing: q1, q2.' in refusal(ROUND, "q3: left\nq1: maybe")


@pytest.mark.parametrize(
    ("typed", "stray"),
    [
        ("hello", ("hello",)),
        ("A", ("A",)),
        ("q4: x", ("q4: x",)),
        ("q0: x", ("q0: x",)),
        ("q1: a\n------\nand more", ("and more",)),
        ("before\nq1: a", ("before",)),
        ("q1: a\nq9: b\nmore", ("q9: b\nmore",)),
    ],
)
def test_text_outside_any_answer_of_a_round_is_unrecognised(typed: str, stray: tuple[str, ...]) -> None:
    """It is not added to the nearest answer."""
    assert parse_reply(ROUND, typed).unrecognised == stray
    assert "belongs to no question" in refusal(ROUND, typed)


def test_same_question_answered_twice_has_no_answer() -> None:
    """Never guess which one was meant, not even if they agree."""
    for typed in ("q1: a\nq1: b\nq2: x\nq3: a", "q1: a\nq2: x\nQ1: a\nq3: a", "note: x\nq1: a\nq2: y\nq3: a"):
        reading = parse_reply(ROUND, typed)
        assert len(reading.unrecognised) == 2
        assert len(reading.missing) == 1
    assert "q1 is answered twice." in refusal(ROUND, "q1: a\nq1: b\nq2: x\nq3: a")


def test_key_in_front_of_the_only_answer_is_optional_unless_it_is_the_answer() -> None:
    """A person who saw rounds before may type it."""
    assert recognise(WHY, "q1: because") == {"q1": ("because",)}
    assert recognise(WHY, "q2: because") == {"q1": ("q2: because",)}
    assert recognise(question("?", ["Q1: revenue", "Q2: revenue"]), "q1: revenue") == {"q1": ("Q1: revenue",)}


@pytest.mark.parametrize("prompt", [GATE, WHY, ROUND])
def test_reply_over_the_limit_is_refused(prompt: Prompt) -> None:
    """64 KiB, whatever it says."""
    with pytest.raises(TooLargeError):
        parse_reply(prompt, "q1: " + "x" * MAX_REPLY_BYTES)
    parse_reply(prompt, "x" * MAX_REPLY_BYTES)


@pytest.mark.parametrize("piece", ["A,", "q1: a\n", "a:\n", "a) ", "-", ") ", "q1", "\n", "1.", " "])
@pytest.mark.parametrize("prompt", [GATE, COLOURS, OPEN_COLOURS, ROUND])
def test_hostile_reply_of_full_length_is_read_at_once(prompt: Prompt, piece: str) -> None:
    """No pattern here goes back and forth: a slow one would run into the time limit of the tests."""
    assert isinstance(parse_reply(prompt, piece * (60_000 // len(piece)) + "x"), Reading)


def plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@modest
@given(fields(multiple=False, free=False), st.data())
def test_closed_question_is_answered_by_exactly_the_listed_spellings(
    field: Field, data: st.DataObject
) -> None:
    """Model-based: an option is chosen if and only if one of its spellings was typed, and no other's."""
    spelled = [spellings(field, position) for position in range(len(field.options))]
    every = sorted(set().union(*spelled))
    typed = data.draw(
        st.sampled_from(every).flatmap(
            lambda text: st.sampled_from(
                [
                    text,
                    text.upper(),
                    text.casefold(),
                    f" {text}\n",
                    text[:-1],
                    text[1:],
                    text + text,
                    f"{text}, {text}",
                ]
            )
        )
        | texts
    )
    meant = [
        option.key
        for option, mine in zip(field.options, spelled, strict=True)
        if plain(typed) in {plain(text) for text in mine}
    ]
    assert read_field(field, typed) == ((meant[0],) if len(meant) == 1 else None)


@modest
@given(prompts(), texts)
def test_any_text_gives_values_that_the_prompt_offers_or_none(prompt: Prompt, text: str) -> None:
    """What is recognised is always a valid answer; everything else is said to be missing."""
    reading = parse_reply(prompt, text)
    names = {field.name for field in prompt.fields}
    assert set(reading.values) | set(reading.missing) == names
    assert not set(reading.values) & set(reading.missing)
    if not reading.missing and not reading.unrecognised:
        assert check_values(prompt, reading.values) == reading.values == recognise(prompt, text)
    else:
        refusal(prompt, text)


@modest
@given(prompts(), st.data())
def test_every_option_of_every_valid_prompt_can_be_typed(prompt: Prompt, data: st.DataObject) -> None:
    """By its letter or number as shown, and by its label unless that is another's number or line."""
    typed: dict[str, str] = {}
    wanted: dict[str, tuple[str, ...]] = {}
    for field in prompt.fields:
        position = data.draw(st.integers(0, len(field.options) - 1))
        mark = data.draw(st.sampled_from([render_position(position), f"{position + 1})", f"{position + 1}."]))
        typed[field.name], wanted[field.name] = mark, (field.options[position].key,)
        label = field.options[position].label
        others = set().union(*(spellings(field, p) for p in range(len(field.options)) if p != position))
        if not field.free and plain(label) not in {plain(text) for text in others}:
            assert read_field(field, label) == wanted[field.name]
    if len(prompt.fields) == 1:
        assert recognise(prompt, typed["q1"]) == wanted
    assert recognise(prompt, "\n".join(f"{name}: {mark}" for name, mark in typed.items())) == wanted


# Gates

STOP = Prompt(
    "Ship?",
    fields=(Field("action", options=(Option("ship", "Ship it"), Option("stop", "Stop"))),),
    commands=("discard", "drop {IDs: H1, M2}"),
)


@proves("G16", "G36", "G37")
def test_gate_takes_numbers_names_and_commands_and_no_letters() -> None:
    """Where a question with the same options takes letters, and the key of a round, too (G16)."""
    for typed in ("2", "2.", "2)", "stop", "STOP", "2. Stop", "2) stop"):
        assert recognise(STOP, typed) == {"action": ("stop",)}
    plain = Prompt("Ship?", fields=STOP.fields)
    for typed in ("b", "B)", "b.", "q1: 2", "b) Stop", "2: Stop"):
        assert recognise(plain, typed) == {"action": ("stop",)}
        assert refusal(STOP, typed).startswith("I didn't recognize ")
    assert recognise(STOP, "ship") == recognise(STOP, "ship IT") == {"action": ("ship",)}
    assert recognise(STOP, "Drop m2,h1") == {"action": ("drop M2, H1",)}


def test_reading_of_a_gate_says_what_is_missing_and_what_would_help() -> None:
    """As for a question: the piece, the field, the sentence."""
    assert parse_reply(STOP, "discard") == Reading({"action": ("discard",)})
    assert parse_reply(STOP, " drop H9 ") == Reading({}, ("drop H9",), ("action",), ("There is no H9 here.",))
    assert parse_reply(STOP, "") == Reading({}, ("",), ("action",))
