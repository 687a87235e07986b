"""A project's own gates: read as they are meant, or refused with the place and the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.error import BadRequestError
from assent.protocol.gate import Check, Choice, Context, Gate, read_choice
from assent.protocol.gate_file import MAX_GATE_FILE_BYTES, parse_contexts, parse_deep_dive
from assent.protocol.prompt import check_prompt
from assent.protocol.reply import recognise
from tests.protocol.strategies import modest

__all__: list[str] = []

NAME = "gates.toml"
GOOD = """
# our own
[[gate]]
name = "Deploy"
options = ["Ship it", "Ship to one region", "Stop"]
commands = ["discard", "note: {text}", "deselect {IDs}", "deep-dive {ID}", "skip to chunk {N}", "set focus {area}"]

[gate.checks]
discard = "This will drop all {N} findings. Proceed? [y/n]"
"Skip to  chunk" = "Leave {N} findings behind? [y/n]"
note = "Write it down? [y/n]"

[[gate]]
name = "Выпуск"
options = ["да"]

[deep-dive]
command = ["python", "look.py", ""]
"""


def refusal(text: str | bytes) -> str:
    """Return why a file is refused."""
    with pytest.raises(BadRequestError) as caught:
        parse_contexts(text if isinstance(text, bytes) else text.encode(), NAME)
    return caught.value.message


def gate(**changes: str) -> str:
    """Return a file with one gate, whose keys are given as TOML."""
    keys = {"name": '"Mine"', "options": '["Go", "Stop"]', **changes}
    return "[[gate]]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items())


def test_gates_of_a_project_are_read() -> None:
    """With their commands and checks, in the order of the file."""
    assert parse_contexts(GOOD.encode(), NAME) == {
        "Deploy": Context(
            "Deploy",
            ("Ship it", "Ship to one region", "Stop"),
            (
                "discard",
                "note: {text}",
                "deselect {IDs}",
                "deep-dive {ID}",
                "skip to chunk {N}",
                "set focus {area}",
            ),
            (),
            (
                Check("discard", "This will drop all {N} findings. Proceed? [y/n]"),
                Check("skip to chunk", "Leave {N} findings behind? [y/n]"),
                Check("note", "Write it down? [y/n]"),
            ),
        ),
        "Выпуск": Context("Выпуск", ("да",)),
    }


def test_gate_of_a_project_works_like_a_standard_one() -> None:
    """Its options, commands and checks are the ones of the file; `todo:` and `pause` are known, too."""
    deploy = Gate(parse_contexts(GOOD.encode(), NAME)["Deploy"], "Ready.", ("H1", "M1"), 3)
    check_prompt(deploy.prompt)

    def chosen(text: str) -> Choice:
        return read_choice(deploy.prompt, recognise(deploy.prompt, text))

    assert chosen("2)") == Choice("Ship to one region")
    assert chosen("deselect m1") == Choice("deselect", ("M1",))
    assert chosen("todo: x") == Choice("todo", ("x",))
    assert deploy.check(chosen("DISCARD")) == "This will drop all 2 findings. Proceed? [y/n]"
    assert deploy.check(chosen("skip to chunk 3")) == "Leave 2 findings behind? [y/n]"
    assert deploy.check(chosen("deselect h1 m1")) is None


def test_deep_dive_command_is_read() -> None:
    """An argument may be empty; without the table there is none."""
    assert parse_deep_dive(GOOD.encode(), NAME) == ("python", "look.py", "")
    assert parse_deep_dive(b"", NAME) is None
    assert parse_contexts(b"[deep-dive]\ncommand = ['x']", NAME) == {}


@pytest.mark.parametrize("text", ["", "\n# nothing\n", "gate = []"])
def test_file_without_gates_has_none(text: str) -> None:
    """It is no mistake to have none yet."""
    assert parse_contexts(text.encode(), NAME) == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[gate]]\nname = Mine", "gates.toml is not TOML: Invalid value (at line 2, column 8)."),
        ("x = [" + "[" * 30_000, "gates.toml is not TOML: it is nested too deeply."),
        ("x = " + "9" * 6_000, "gates.toml has a number or a date that no such file needs."),
        (b"# \xff", "gates.toml is not UTF-8 text, at byte 2."),
        (b"\xef\xbb\xbf", "gates.toml: there is a hidden character, <U+FEFF>, at line 1, column 1."),
        ("\n# \u202ex", "gates.toml: there is a hidden character, <U+202E>, at line 2, column 3."),
        ("x = 1", 'gates.toml: "x" is not known; there are [[gate]] and [deep-dive].'),
        ("[gate]", "gates.toml: each gate begins with [[gate]]."),
        ("gate = [1]", "gates.toml: each gate begins with [[gate]]."),
        ("[[gate]]\n" * 101, "gates.toml: there are at most 100 gates, not 101."),
        (" " * (MAX_GATE_FILE_BYTES + 1), "gates.toml has 65,537 bytes; such a file has at most 65,536."),
    ],
    ids=range(11),
)
def test_file_that_cannot_be_read_is_refused_with_the_place(text: str | bytes, sentence: str) -> None:
    """One sentence, with line and column where there are any."""
    assert refusal(text) == sentence


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"option": '["a"]'}, '"option" is not known; there are name, options, commands, checks'),
        ({"name": '" "'}, "it has no name"),
        ({"name": "1"}, "it has no name"),
        ({"name": '"!?"'}, "its name has neither a letter nor a digit, so nobody could type it"),
        ({"name": '"a\\nb"'}, "the name has a hidden character or a new line in it"),
        ({"name": '"a\\u200b"'}, "the name has a hidden character or a new line in it"),
        ({"options": "[]"}, "it has 1 to 20 options, not 0"),
        ({"options": str([f"o{n}" for n in range(21)])}, "it has 1 to 20 options, not 21"),
        ({"options": '"Go"'}, '"options" is a list of texts'),
        ({"options": '["Go", 1]'}, '"options" is a list of texts'),
        ({"options": '["Go", " "]'}, "one of its options shows nothing"),
        ({"options": '["Go", "GO"]'}, 'the options "Go" and "GO" look alike'),
        ({"options": '["Go", "Gо"]'}, 'the options "Go" and "Gо" look alike'),
        ({"options": '["Go\\u200b"]'}, '"Go<U+200B>" in "options" has a hidden character or a new line in it'),
        ({"options": '["Go", "1"]'}, 'the option "1" reads like a number'),
        ({"options": '["7)"]'}, 'the option "7)" reads like a number'),
        ({"options": '["２"]'}, 'the option "２" reads like a number'),
        ({"options": '["3.5 %"]'}, 'the option "3.5 %" reads like a number'),
        ({"options": '["2. Go"]'}, 'the option "2. Go" reads like a number'),
        ({"options": '["Pause"]'}, 'the command "pause" reads like an option'),
        ({"options": '["Todo"]'}, 'the command "todo: {text}" reads like an option'),
        ({"options": '["todo: x"]'}, '"todo: x" could mean option 1 or something behind "todo"'),
        ({"commands": '"go"'}, '"commands" is a list of texts'),
        ({"commands": '["go"]'}, 'the command "go" reads like an option'),
        ({"commands": '["2"]'}, 'the command "2" reads like an option'),
        ({"commands": '["a", "A"]'}, 'the command "A" is there twice'),
        ({"commands": '["TODO: {text}"]'}, 'the command "todo: {text}" is there twice'),
        ({"commands": '[""]'}, '"" is not how a command is spelled'),
        ({"commands": '["a {IDs"]'}, '"a {IDs" is not how a command is spelled'),
        ({"commands": '["a {IDs}}"]'}, '"a {IDs}}" is not how a command is spelled'),
        ({"commands": '["a {text}"]'}, '"a {text}" needs both a colon and {text} behind it, or neither'),
        ({"commands": '["a {x}"]'}, '"a {x}" has {x}, and there are only {text}, {ID}, {IDs}, {N}, {area}'),
        ({"commands": '["a {reply}"]'}, '"a {reply}" has {reply}, and there are only {text}, {ID}, {IDs}, {N}, {area}'),
        ({"commands": '["{IDs}"]'}, 'the command "{IDs}" has no word to begin with'),
        ({"commands": '["a`b"]'}, 'the command "a`b" has a backtick in it'),
        ({"commands": '["a\\u001b"]'}, '"a<U+001B>" in "commands" has a hidden character or a new line in it'),
        ({"commands": '["drop {IDs}", "drop h1"]'}, '"drop h1" could mean "drop h1" or something behind "drop"'),
        ({"checks": '"x"'}, "its checks are a table, as in [gate.checks]"),
        ({"checks": '{drop = "x [y/n]"}'}, 'there is a check for "drop", which is none of its commands'),
        ({"checks": '{Go = "x [y/n]"}'}, 'there is a check for "Go", which is none of its commands'),
        ({"commands": '["todo: {text}"]', "checks": '{todo = "x [y/n]"}'}, '"todo:" keeps a task and changes nothing, so it has no check'),
        ({"commands": '["a"]', "checks": "{a = 1}"}, 'the check of "a" is a text'),
        ({"commands": '["a"]', "checks": '{a = "Sure?"}'}, 'the check of "a" is a question that ends in [y/n]'),
        ({"commands": '["a"]', "checks": '{a = " [y/n]"}'}, 'the check of "a" is a question that ends in [y/n]'),
        ({"commands": '["a"]', "checks": '{a = "{M}? [y/n]"}'}, 'the check of "a" knows no placeholder but {N}'),
        ({"commands": '["a"]', "checks": '{a = "x\\n? [y/n]"}'}, 'the check of "a" has a hidden character or a new line in it'),
        ({"commands": '["a"]', "checks": '{a = "x [y/n]", A = "y [y/n]"}'}, '"A" has two checks'),
        ({"commands": '["a"]', "checks": f'{{a = "{"x" * 3000} [y/n]"}}'}, "a title has at most 2,000 characters"),
    ],
)  # fmt: skip
def test_gate_that_cannot_be_shown_or_answered_is_refused(changes: dict[str, str], reason: str) -> None:
    """Each with the file, the gate by position and name, and the reason."""
    message = refusal(gate(**changes))
    assert message.startswith("gates.toml, gate 1")
    assert message.endswith(f": {reason}.")
    if "name" not in changes:
        assert message.startswith('gates.toml, gate 1 "Mine": ')


@pytest.mark.parametrize("missing", ["name", "options"])
def test_gate_without_a_name_or_options_is_refused(missing: str) -> None:
    """The second of two is the one that is named."""
    lines = [line for line in gate().split("\n") if not line.startswith(missing)]
    named = "" if missing == "name" else ' "Mine"'
    other = gate(name='"Other"')
    assert refusal("\n".join([other, *lines])) == f"gates.toml, gate 2{named}: it has no {missing}."


@pytest.mark.parametrize(
    "name", ["Phase Gate", "phase-gate", "PHASE  gate!", "Continue mismatch", "post only", "Рhase Gate"]
)
def test_gate_that_goes_by_the_name_of_a_standard_one_is_refused(name: str) -> None:
    """By what is typed in a shell, and by sight: the last begins with a Cyrillic letter."""
    assert "it goes by the name of the standard gate" in refusal(gate(name=f'"{name}"'))


def test_two_gates_of_one_name_are_refused() -> None:
    """They could not be told apart in a shell."""
    both = "\n".join([gate(name='"My gate"'), gate(name='"my-gate"')])
    assert refusal(both) == 'gates.toml, gate 2 "my-gate": it goes by the name of gate 1 "My gate".'


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("deep-dive = 1", 'it is a table, as in [deep-dive] with command = ["program", "argument"]'),
        ("[deep-dive]", '"command" is a list of texts'),
        ("[deep-dive]\ncommand = 'x'", '"command" is a list of texts'),
        ("[deep-dive]\ncommand = []", "the command is a program and at most 99 arguments"),
        ("[deep-dive]\ncommand = ['', 'x']", "the command is a program and at most 99 arguments"),
        (f"[deep-dive]\ncommand = {['x'] * 101}", "the command is a program and at most 99 arguments"),
        ("[deep-dive]\ncommand = ['x']\nshell = true", '"shell" is not known; there is only "command"'),
        ('[deep-dive]\ncommand = ["x\\u0000"]', '"x<U+0000>" in "command" has a hidden character or a new line in it'),
    ],
)  # fmt: skip
def test_deep_dive_that_is_no_command_is_refused_by_both(table: str, reason: str) -> None:
    """Whoever reads the file first finds it out."""
    assert refusal(table) == f"gates.toml, [deep-dive]: {reason}."
    with pytest.raises(BadRequestError):
        parse_deep_dive(table.encode(), NAME)


@modest
@given(
    st.binary(max_size=60) | st.text(st.sampled_from('[]{}="gate\n x1.#,\\u'), max_size=60).map(str.encode)
)
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    """Never anything but gates or one sentence, without control characters."""
    message = ""
    try:
        parse_contexts(text, NAME)
    except BadRequestError as error:
        message = error.message
    assert message.isprintable()
    assert len(message) < 500


@modest
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=4),
    st.lists(st.sampled_from(["go", "go {IDs}", "note: {text}", "{IDs}", "go to {N}", "drop h1", "drop {ID}"]), max_size=4),
)  # fmt: skip
def test_gate_that_was_read_can_always_be_opened(options: list[str], commands: list[str]) -> None:
    """With findings and without: a mistake shows when the file is read, and not at the gate."""
    text = gate(options=_toml(options), commands=_toml(commands))
    try:
        (context,) = parse_contexts(text.encode(), NAME).values()
    except BadRequestError:
        return
    for ids in ((), ("H1", "M1"), tuple(f"L{number}" for number in range(50))):
        assert check_prompt(Gate(context, "x", ids, 3).prompt)


def _toml(texts: list[str]) -> str:
    return (
        "[" + ", ".join('"' + "".join(f"\\U{ord(sign):08x}" for sign in text) + '"' for text in texts) + "]"
    )
