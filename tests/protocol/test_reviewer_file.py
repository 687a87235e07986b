"""A project's reviewers: read as they are meant, or refused with the file, the reviewer and the reason."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.error import BadRequestError
from assent.protocol.principal import Principal, Role, parse_principal
from assent.protocol.reviewer_file import (
    MAX_REVIEWER_FILE_BYTES,
    MAX_REVIEWER_SECONDS,
    REVIEWER_SECONDS,
    Reviewer,
    parse_reviewers,
)
from tests.protocol.strategies import modest

__all__: list[str] = []

NAME = "reviewers.toml"
EXAMPLE = Path(__file__).parents[2] / "examples" / "reviewers.toml"
GOOD = """
# ours
[reviewer.architect]
command = ["python3", "look.py", ""]
env = { AGENT = "claude", EMPTY = "" }
seconds = 90

[reviewer."Проверка 2"]
command = ["look"]
seconds = 1.5
"""


def refusal(text: str | bytes) -> str:
    """Return why a file is refused."""
    with pytest.raises(BadRequestError) as caught:
        parse_reviewers(text if isinstance(text, bytes) else text.encode(), NAME)
    return caught.value.message


def reviewer(**changes: str) -> str:
    """Return a file with one reviewer, whose keys are given as TOML."""
    keys = {"command": '["look"]', **changes}
    return "[reviewer.mine]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items() if value)


def test_reviewers_of_a_project_are_read_by_name() -> None:
    """The name is what a plan's `ai-agent` says; what is not said is as usual."""
    assert parse_reviewers(GOOD.encode(), NAME) == {
        "architect": Reviewer(
            "architect", ("python3", "look.py", ""), {"AGENT": "claude", "EMPTY": ""}, 90.0
        ),
        "Проверка 2": Reviewer("Проверка 2", ("look",), {}, 1.5),
    }
    assert parse_reviewers(reviewer().encode(), NAME)["mine"].seconds == REVIEWER_SECONDS


def test_file_without_reviewers_has_none() -> None:
    """An empty file is no mistake."""
    assert parse_reviewers(b"", NAME) == {}
    assert parse_reviewers(b"# none yet\n", NAME) == {}


def test_reviewer_is_an_agent_under_its_name() -> None:
    """Never a person."""
    for found in parse_reviewers(GOOD.encode(), NAME).values():
        assert parse_principal(found.principal) == Principal(Role.AGENT, found.name)


def test_shipped_example_is_a_reviewer_file() -> None:
    """With one reviewer that a plan can name."""
    assert list(parse_reviewers(EXAMPLE.read_bytes(), "reviewers.toml")) == ["architect"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[reviewer", "reviewers.toml is not TOML: "),
        (b"\xff", "reviewers.toml is not UTF-8 text, at byte 0."),
        ("# \u202e", "reviewers.toml: there is a hidden character, <U+202E>, at line 1, column 3."),
        ("x = " + "[" * 9_000, "reviewers.toml is not TOML: "),
        ("x = 0001-99-99", "reviewers.toml "),
        ("x = 1", 'reviewers.toml: "x" is not known; there is only [reviewer.NAME].'),
        ("reviewer = 1", "reviewers.toml: each reviewer begins with [reviewer.NAME]."),
        ("[[reviewer]]\nname = 'a'", "reviewers.toml: each reviewer begins with [reviewer.NAME]."),
        ("[reviewer]\ncommand = ['look']", "reviewers.toml: each reviewer begins with [reviewer.NAME]."),
        (
            "#" * (MAX_REVIEWER_FILE_BYTES + 1),
            "reviewers.toml has 65,537 bytes; such a file has at most 65,536.",
        ),
        (
            "\n".join(f"[reviewer.r{number}]\ncommand = ['look']" for number in range(101)),
            "reviewers.toml: there are at most 100 reviewers, not 101.",
        ),
    ],
)
def test_file_that_cannot_be_read_is_refused_by_name(text: str | bytes, message: str) -> None:
    """One sentence, which names the place where there is one."""
    assert refusal(text).startswith(message)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"shell": "true"}, '"shell" is not known; there are command, env, seconds'),
        ({"command": ""}, "it has no command"),
        ({"command": '"look here"'}, '"command" is a list of texts'),
        ({"command": '["look", 1]'}, '"command" is a list of texts'),
        ({"command": "[]"}, "the command is a program and at most 99 arguments"),
        ({"command": '[" ", "x"]'}, "the command is a program and at most 99 arguments"),
        ({"command": str(["x"] * 101)}, "the command is a program and at most 99 arguments"),
        (
            {"command": r'["look", "a\u0000b"]'},
            '"a<U+0000>b" in "command" has a hidden character or a new line in it',
        ),
        ({"env": "1"}, '"env" is a table of texts, as in env = { NAME = "value" }'),
        ({"env": "{ A = 1 }"}, '"env" is a table of texts, as in env = { NAME = "value" }'),
        ({"env": '{ "A=B" = "x" }'}, '"A=B" in "env" is not the name of a variable'),
        ({"env": '{ "" = "x" }'}, '"" in "env" is not the name of a variable'),
        (
            {"env": r'{ A = "\u200b" }'},
            'the value of "A" in "env" has a hidden character or a new line in it',
        ),
        (
            {"env": '{ ASSENT_PRINCIPAL = "human:ana" }'},
            "ASSENT_PRINCIPAL is set for it: a reviewer is an agent under its own name",
        ),
        (
            {"env": "{" + ",".join(f"V{number} = ''" for number in range(101)) + "}"},
            '"env" sets at most 100 variables, not 101',
        ),
        *(
            ({"seconds": given}, '"seconds" is a number from 1 to 86,400')
            for given in ("0", "-1", "0.5", "86401", "nan", "inf", "true", '"60"', "1e400")
        ),
    ],
)
def test_reviewer_that_could_not_be_run_is_refused_with_the_reason(
    changes: dict[str, str], reason: str
) -> None:
    """The sentence names the file and the reviewer."""
    assert refusal(reviewer(**changes)) == f'reviewers.toml, reviewer "mine": {reason}.'


@pytest.mark.parametrize("name", [" x", "x\u00a0", "y" * 201, r"a\u200bb", ""])
def test_name_that_no_agent_can_have_is_refused(name: str) -> None:
    """It would be told as the author of a report."""
    assert refusal(f'[reviewer."{name}"]\ncommand = ["look"]').endswith(
        "its name is none that an agent can have."
    )


def test_names_that_look_alike_are_refused() -> None:
    """A plan that names one must not be taken to name the other."""
    text = '[reviewer.ace]\ncommand = ["a"]\n[reviewer."аce"]\ncommand = ["b"]'
    assert refusal(text) == 'reviewers.toml, reviewer "аce": its name looks like that of "ace".'


def test_longest_time_is_allowed() -> None:
    """The bounds are part of what is allowed."""
    read = parse_reviewers(reviewer(seconds=f"{MAX_REVIEWER_SECONDS:.0f}").encode(), NAME)
    assert read["mine"].seconds == MAX_REVIEWER_SECONDS
    assert parse_reviewers(reviewer(seconds="1").encode(), NAME)["mine"].seconds == 1


@modest
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: f"[reviewer.{text}".encode()))
def test_any_bytes_are_read_or_refused_in_one_sentence(text: bytes) -> None:
    """Never another error."""
    message = NAME
    try:
        parse_reviewers(text, NAME)
    except BadRequestError as error:
        message = error.message
    assert message.startswith(NAME)
    assert "\n" not in message
