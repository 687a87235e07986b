"""Commands: a prompt says all that may be typed; what is typed is one of them, or nothing."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol import command as command_module
from assent.protocol.command import (
    MAX_COMMANDS,
    Command,
    Typed,
    addresses,
    check_commands,
    parse_command,
    read_command,
    render_command,
)
from assent.protocol.error import BadPromptError, TooLargeError
from tests.effort import MUCH, effort
from tests.protocol.strategies import modest

__all__: list[str] = []

LOOP = ["discard", "todo: {text}", "deselect {IDs: H1, M2}", "deep-dive {ID: H1, M2}", "pause"]


@pytest.mark.parametrize(
    ("spec", "command"),
    [
        ("discard", Command("discard")),
        ("  Skip   ALL ", Command("skip all")),
        ("todo: {text}", Command("todo", "text", (), has_colon=True)),
        ("todo :{text}", Command("todo", "text", (), has_colon=True)),
        ("deselect {IDs: H1, M2}", Command("deselect", "IDs", ("H1", "M2"))),
        ("deselect {IDs:}", Command("deselect", "IDs")),
        ("{IDs: H1,,M2,}", Command("", "IDs", ("H1", "M2"))),
        ("{reply}", Command("", "reply")),
        ("да {кто: я}".replace("кто", "who"), Command("да", "who", ("я",))),
    ],
)
def test_spelled_command_is_read(spec: str, command: Command) -> None:
    """Each form of the file's head."""
    assert parse_command(spec) == command


@pytest.mark.parametrize(
    "spec",
    [
        "", " ", "\u200b", "\n", "dis\ncard", "dis\u200bcard", "dis\x1bcard", "dis\tcard", "\udc80", "\u202eall",
        "{", "}", "{}", "a {", "a {IDs", "a }", "a {IDs}}", "a {{IDs}}", "a {IDs: H1} b", "a {IDs: H1} {ID: H1}",
        "a {I D: x}", "a {1: x}", "a {IDs: {x}}", "a: b: {text}", "a:b {IDs: x}",
        ": {text}", "{text}", "a {text}", "a: {IDs: H1}", "a:", "a: b", "{IDs}", "a {IDs}",
        "a {reply}", "a: {reply}", "{reply: x}", "a: {text: x}",
        "a {IDs: H1, h1}", "a {IDs: H 1}",
    ],
)  # fmt: skip
def test_anything_else_is_no_command(spec: str) -> None:
    """A prompt with it is not opened: somebody would be told to type what nobody can."""
    with pytest.raises(BadPromptError):
        parse_command(spec)


def test_list_is_spelled_as_it_is_read() -> None:
    """The one who writes and the one who reads agree."""
    assert parse_command(render_command("deselect", "IDs", ["H1", "M2"])) == Command(
        "deselect", "IDs", ("H1", "M2")
    )
    assert parse_command(render_command("", "ID", ["H1"])) == Command("", "ID", ("H1",))
    assert parse_command(render_command("drop", "IDs", [])) == Command("drop", "IDs")


@pytest.mark.parametrize("value", ["", " ", "a b", "a,b", "{a", "a}", "\u200b", "a\u00a0b"])
def test_name_that_would_be_read_as_another_is_not_spelled(value: str) -> None:
    """One id must not become two."""
    with pytest.raises(BadPromptError):
        render_command("drop", "IDs", ["H1", value])


# Reading


@pytest.mark.parametrize(
    ("text", "head", "arguments", "kept"),
    [
        ("discard", "discard", (), "discard"),
        (" DisCard\n", "discard", (), "discard"),
        ("todo: a: b ", "todo", ("a: b",), "todo: a: b"),
        ("TODO :x", "todo", ("x",), "todo: x"),
        ("todo: two\nlines", "todo", ("two\nlines",), "todo: two\nlines"),
        ("deselect h1", "deselect", ("H1",), "deselect H1"),
        ("Deselect  M2 ,h1,,M2", "deselect", ("M2", "H1"), "deselect M2, H1"),
        ("deep-dive\tm2", "deep-dive", ("M2",), "deep-dive M2"),
    ],
)
def test_command_is_kept_in_one_spelling(text: str, head: str, arguments: tuple[str, ...], kept: str) -> None:
    """Whoever typed it, and however; read again, it is itself."""
    typed = read_command(LOOP, text)
    assert typed == Typed(head, arguments, kept)
    assert read_command(LOOP, kept) == typed


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", ""),
        ("dis", ""),
        ("discard it", ""),
        ("todo", ""),
        ("todo x", ""),
        ("todo: \u200b ", 'Write the text behind "todo:".'),
        ("deselect", "Name one or more of H1, M2."),
        ("deselect ,", "Name one or more of H1, M2."),
        ("deselect: H1", ""),
        ("deselect H1, H9 x\x1b H9", "There is no H9, x<U+001B> here."),
        ("deselect H\u200b1", "There is no H<U+200B>1 here."),
        ("deep-dive", "Name one of H1, M2."),
        ("deep-dive H1, M2", "Name one of H1, M2."),
        ("deep-dive H1 H9", "There is no H9 here."),
        ("deselect \udc80", ""),
    ],
)
def test_what_is_no_command_says_what_would_help(text: str, hint: str) -> None:
    """G-X8: nothing is done, and the sentence names what is not there, made visible."""
    assert read_command(LOOP, text) == Typed(hint=hint)


def test_list_without_a_word_before_it_says_what_there_is() -> None:
    """Also which of several names is not there."""
    assert read_command(["{IDs: H1, M2}"], "what?").hint == "Name one or more of H1, M2."
    assert read_command(["{IDs: H1, M2}"], "H1, H9").hint == "There is no H9 here."
    assert read_command(["{IDs: H1, M2}"], "m2 H1") == Typed("", ("M2", "H1"), "M2, H1")
    assert read_command(["drop {IDs:}"], "drop H1").hint == "There is no H1 here."
    assert read_command(["drop {IDs:}"], "drop").hint == "There is nothing here that it could name."


def test_hint_about_many_names_stays_short() -> None:
    """A reply of 64 KiB does not come back as one."""
    ids = [f"H{number}" for number in range(2_000)]
    strange = " ".join(f"x{number}" for number in range(9_000))
    for text in (f"drop {strange}", "drop", f"drop {'x' * 60_000}"):
        assert len(read_command([render_command("drop", "IDs", ids)], text).hint) < 600


def test_any_reply_comes_last() -> None:
    """What is a command of its own is not merely any reply."""
    specs = ["{reply}", "y", "n"]
    assert read_command(specs, " Y ") == Typed("y", (), "y")
    assert read_command(specs, " yes! ") == Typed("", ("yes!",), "yes!")
    assert read_command(specs, " ") == Typed("", ("",), "")


def test_longest_words_win() -> None:
    """`skip` takes names, and `skip to` is another command."""
    specs = ["skip {IDs: H1, M2}", "skip to {N: 1, 2}"]
    assert read_command(specs, "skip to 2") == Typed("skip to", ("2",), "skip to 2")
    assert read_command(specs, "skip H1") == Typed("skip", ("H1",), "skip H1")


@modest
@given(st.text(max_size=30))
def test_arbitrary_text_is_read_without_a_crash_and_kept_in_one_spelling(text: str) -> None:
    """Odd Unicode, too: what is kept is read as itself."""
    for start in ("", "todo:", "deselect ", "deep-dive H1"):
        typed = read_command(LOOP, start + text)
        if typed.text is not None:
            assert read_command(LOOP, typed.text) == typed


# One text, one meaning


@pytest.mark.parametrize(
    ("specs", "options"),
    [
        (["go"], ["Go"]),
        (["GO  on"], ["go on"]),
        (["gо"], ["go"]),  # with a Cyrillic o
        (["1"], ["go"]),
        (["7"], ["go"]),
        (["٣"], ["go"]),
        (["2)"], ["go"]),
        (["1. go"], ["go"]),
        (["go: {text}"], ["Go"]),
        (["go: {text}"], ["go: on"]),
        (["drop {IDs: H1}"], ["Drop h1"]),
        (["drop {IDs: H1, M2}"], ["Drop h1 m2"]),
        (["drop {ID: H1}"], ["Drop h1"]),
        (["{IDs: H1}"], ["h1"]),
        (["{N: 1, 2}"], ["go"]),
        (["drop", "DROP"], ["go"]),
        (["drop {IDs: H1}", "drop {ID: H1}"], ["go"]),
        (["drop {IDs: all}", "drop all"], ["go"]),
        (["skip {IDs: to, 1}", "skip to {N: 1}"], ["go"]),
        (["pause"], ["3", "1", "5"]),
        (["pause"], ["b", "1) b"]),
        (["pause"], ["2", "b"]),
    ],
)
def test_prompt_in_which_a_text_has_two_meanings_is_refused(specs: list[str], options: list[str]) -> None:
    """At a gate there are no letters to tell them apart with; nobody shall have to know which one wins."""
    with pytest.raises(BadPromptError):
        check_commands(specs, [{option} for option in options])


def test_key_of_an_option_is_its_name_too() -> None:
    """It can be typed, so no command may go by it."""
    with pytest.raises(BadPromptError):
        check_commands(["drop"], [{"Discard", "drop"}])


@pytest.mark.parametrize(
    ("specs", "options"),
    [
        (["deep-dive {ID: H1}"], ["Deep-dive"]),
        (["skip to chunk {N: 1, 2}"], ["Skip to chunk N"]),
        (["all", "all {IDs: H1}"], ["go"]),
        (["drop {ID: H1}"], ["drop H1 now"]),
        (["skip {ID: to}", "skip to {N: 1}"], ["go"]),
        (["y", "yes", "n", "no", "{reply}"], []),
        (LOOP, ["1", "Continue", "Deep-dive", "Pause & save"]),
        (["pause"], ["1. b", "b"]),
    ],
)
def test_prompt_in_which_every_text_has_one_meaning_is_taken(specs: list[str], options: list[str]) -> None:
    """Twin of the test above."""
    check_commands(specs, [{option} for option in options])
    assert all(parse_command(spec) for spec in specs)


def test_addresses_are_number_label_and_line() -> None:
    """G36, G37, G-X7: and no letter."""
    assert addresses(2, ["Deep-dive"]) == {"2", "2.", "2)", "deep-dive", "2. deep-dive", "2) deep-dive"}


# Limits


def test_prompt_with_too_many_commands_is_refused() -> None:
    """Nobody reads so many."""
    check_commands([f"c{number}" for number in range(MAX_COMMANDS)], [])
    with pytest.raises(TooLargeError):
        check_commands([f"c{number}" for number in range(MAX_COMMANDS + 1)], [])


@pytest.mark.parametrize(
    "spec",
    [
        "a" + " " * 500_000 + "a",
        "a" * 250_000 + " " * 250_000 + "{IDs:" + " " * 500_000,
        "a {IDs:" + ", " * 400_000 + "}",
        ":" * 500_000,
        "{" * 500_000,
    ],
    ids=["spaces", "unclosed", "commas", "colons", "braces"],
)
def test_large_spelling_is_read_in_proportion_to_its_size(spec: str) -> None:
    """An agent's prompt may have a mebibyte, and checking it must not stop everybody else."""
    with effort() as spent, contextlib.suppress(BadPromptError):
        parse_command(spec)
    assert spent.loops < MUCH


def test_large_reply_to_many_names_is_read_in_proportion() -> None:
    """2,000 ids, and all that a reply may hold."""
    ids = [f"H{number}" for number in range(2_000)]
    specs = [render_command(f"drop{number}", "IDs", ids) for number in range(20)]
    with effort() as spent:
        check_commands(specs, [{f"option {number}"} for number in range(200)])
        assert read_command(specs, "drop7 " + "H1 h2 " * 10_000).text == "drop7 H1, H2"
    assert spent.loops < MUCH


def test_large_spelling_is_not_kept() -> None:
    """Otherwise a few hundred hostile prompts would fill the memory for as long as the process lives."""
    command_module._parse_short.cache_clear()
    parse_command("small")
    parse_command(render_command("drop", "IDs", [f"H{number}" for number in range(1_000)]))
    assert command_module._parse_short.cache_info().currsize == 1
