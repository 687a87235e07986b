"""A project's applier: read as it is meant, or refused with the file and the reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.applier_file import (
    APPLIER_PRINCIPAL,
    APPLIER_SECONDS,
    MAX_APPLIER_FILE_BYTES,
    MAX_APPLIER_SECONDS,
    Applier,
    parse_applier,
)
from assent.protocol.error import BadRequestError
from assent.protocol.principal import Principal, Role, parse_principal
from tests.protocol.strategies import modest

__all__: list[str] = []

NAME = "review.toml"
GOOD = """
# ours
[applier]
command = ["python3", "apply.py", ""]
env = { AGENT = "claude", EMPTY = "" }
seconds = 1.5
"""


def refusal(text: str | bytes) -> str:
    """Return why a file is refused."""
    with pytest.raises(BadRequestError) as caught:
        parse_applier(text if isinstance(text, bytes) else text.encode(), NAME)
    return caught.value.message


def applier(**changes: str) -> bytes:
    """Return a file with an applier, whose keys are given as TOML."""
    keys = {"command": '["apply"]', **changes}
    return ("[applier]\n" + "\n".join(f"{key} = {value}" for key, value in keys.items() if value)).encode()


def test_applier_of_a_project_is_read() -> None:
    """What is not said is as usual."""
    assert parse_applier(GOOD.encode(), NAME) == Applier(
        ("python3", "apply.py", ""), {"AGENT": "claude", "EMPTY": ""}, 1.5
    )
    assert parse_applier(applier(), NAME) == Applier(("apply",), {}, APPLIER_SECONDS)


def test_file_without_an_applier_has_none() -> None:
    """An empty file is no mistake."""
    assert parse_applier(b"", NAME) is None
    assert parse_applier(b"# none yet\n", NAME) is None


def test_applier_is_an_agent() -> None:
    """Never a person."""
    assert parse_principal(APPLIER_PRINCIPAL) == Principal(Role.AGENT, "applier")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[applier", "review.toml is not TOML: "),
        ("[reviewer.x]", 'review.toml: "reviewer" is not known; there is only [applier].'),
        ("a\u200bb = 1", "review.toml: there is a hidden character, <U+200B>, at line 1, column 2."),
        (b"\xff", "review.toml is not UTF-8 text, at byte 0."),
        (
            b"#" * (MAX_APPLIER_FILE_BYTES + 1),
            "review.toml has 65,537 bytes; such a file has at most 65,536.",
        ),
    ],
    ids=["no TOML", "another table", "hidden", "no text", "too large"],
)
def test_file_that_cannot_be_read_is_refused(text: str | bytes, message: str) -> None:
    """The sentence names the file."""
    assert refusal(text).startswith(message)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("applier = 1", 'it is a table, as in [applier] with command = ["program", "argument"]'),
        ("[[applier]]", 'it is a table, as in [applier] with command = ["program", "argument"]'),
        ("[applier]", "it has no command"),
        (applier(command='"apply it"'), '"command" is a list of texts'),
        (applier(command="[]"), "the command is a program and at most 99 arguments"),
        (applier(command='[" "]'), "the command is a program and at most 99 arguments"),
        (
            applier(command=r'["a", "b\u0000"]'),
            '"b<U+0000>" in "command" has a hidden character or a new line in it',
        ),
        (applier(model='"x"'), '"model" is not known; there are command, env, seconds'),
        (applier(env='{ "A=B" = "x" }'), '"A=B" in "env" is not the name of a variable'),
        (applier(env="1"), '"env" is a table of texts, as in env = { NAME = "value" }'),
        (
            applier(env='{ ASSENT_PRINCIPAL = "human:ana" }'),
            "ASSENT_PRINCIPAL is set for it: an applier is an agent under its own name",
        ),
        *(
            (applier(seconds=given), '"seconds" is a number from 1 to 86,400')
            for given in ("0", "-1", "0.5", "86401", "nan", "inf", "true", '"60"')
        ),
    ],
)
def test_applier_that_could_not_be_run_is_refused_with_the_reason(text: str | bytes, reason: str) -> None:
    """The sentence names the file and the table."""
    assert refusal(text) == f"review.toml, [applier]: {reason}."


def test_shortest_and_longest_time_are_allowed() -> None:
    """The bounds are part of what is allowed."""
    for seconds in (1.0, MAX_APPLIER_SECONDS):
        assert parse_applier(applier(seconds=f"{seconds:.0f}"), NAME) == Applier(("apply",), {}, seconds)


@modest
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: f"[applier]\n{text}".encode()))
def test_any_bytes_are_read_or_refused_in_one_sentence(text: bytes) -> None:
    """Never another error."""
    message = NAME
    try:
        parse_applier(text, NAME)
    except BadRequestError as error:
        message = error.message
    assert message.startswith(NAME)
    assert "\n" not in message
