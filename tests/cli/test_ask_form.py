"""`assent ask --schema`: a form from a shell, whose answer is JSON."""

import json
from collections.abc import Callable

import pytest

from tests.cli.shell import Result, Shell, Terminal

__all__: list[str] = []

SCHEMA = {
    "type": "object",
    "properties": {
        "port": {"type": "integer", "maximum": 65535},
        "dry": {"type": "boolean"},
        "name": {"type": "string", "pattern": "^[a-z]+$"},
    },
    "required": ["port", "dry"],
}
QUESTION = ("Deploy settings?", "--schema", "schema.json")


@pytest.fixture
def schema(shell: Shell) -> None:
    """Put the schema into the shell's folder."""
    (shell.folder / "schema.json").write_text(json.dumps(SCHEMA))


@pytest.mark.usefixtures("schema")
def test_ask_with_a_schema_prints_the_object_as_json(shell: Shell) -> None:
    """A wrong value is refused by name and the command waits on; the right one ends it."""
    asking = shell.start("ask", *QUESTION)
    ask = shell.only_open()
    wrong = shell.run("answer", ask.ask_id, "q1: 99999\nq2: yes\nq3: shop")
    assert (wrong.status, wrong.out) == (2, "")
    assert "q1 (port): 99999 is greater than 65535." in wrong.err
    assert shell.only_open().is_open
    assert asking.poll() is None
    assert shell.run("answer", ask.ask_id, "q1: 443\nq2: yes\nq3: -").status == 0
    asked = shell.finish(asking)
    assert (asked.status, asked.out) == (0, '{"port":443,"dry":true}\n')


@pytest.mark.usefixtures("schema")
def test_form_on_a_terminal_is_asked_one_by_one_and_each_value_is_checked_at_once(shell: Shell) -> None:
    """A wrong one is asked for again there, with the reason, before the next."""
    with Terminal(shell, "ask", *QUESTION) as terminal:
        terminal.until("A whole number, at most 65535.")
        terminal.type("99999\n")
        terminal.until("port: 99999 is greater than 65535.")
        terminal.type("443\n")
        terminal.until("Q2 of 3")
        terminal.type("b\n")
        terminal.until("- leaves it out.")
        terminal.type("SHOP\n")
        terminal.until("does not match")
        terminal.type("shop\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, '{"port":443,"dry":false,"name":"shop"}\n')


@pytest.mark.usefixtures("schema")
def test_ask_with_a_schema_and_a_known_key_prints_the_object_that_is_there(
    call: Callable[..., Result],
) -> None:
    """Killed and run again, it is the same ask."""
    ask_id = call("ask", *QUESTION, "--key", "deploy", "--no-wait").out.strip()
    assert call("answer", ask_id, "q1: 443\nq2: no\nq3: shop").status == 0
    again = call("ask", *QUESTION, "--key", "deploy")
    assert (again.status, again.json) == (0, {"port": 443, "dry": False, "name": "shop"})


def test_ask_reads_a_schema_from_standard_input(shell: Shell) -> None:
    """As it reads a round."""
    asked = shell.run(
        "ask", "Deploy settings?", "--schema", "-", "--no-wait", "--json", typed=json.dumps(SCHEMA)
    )
    assert [field["name"] for field in asked.json["prompt"]["fields"]] == ["port", "dry", "name"]


def test_ask_with_a_bad_schema_names_the_file_and_the_place(
    shell: Shell, call: Callable[..., Result]
) -> None:
    """And stores nothing."""
    file = shell.folder / "bad.json"
    file.write_text('{"type": "object", "properties": {"port": {"type": "object"}}}')
    refused = call("ask", "What?", "--schema", "bad.json", "--no-wait")
    assert (refused.status, refused.out) == (2, "")
    assert "bad.json: $.properties.port.type: " in refused.err
    file.write_text("{")
    assert "bad.json: The JSON text" in call("ask", "What?", "--schema", "bad.json", "--no-wait").err
    assert "gone.json cannot be read" in call("ask", "What?", "--schema", "gone.json", "--no-wait").err
    assert call("inbox", "--count").out == "0\n"


@pytest.mark.usefixtures("schema")
@pytest.mark.parametrize(
    "more", [("-o", "a"), ("--free",), ("--multiple",), ("--file", "round.json"), ("--other", "Else")]
)
def test_ask_with_a_schema_and_options_is_a_usage_error(
    call: Callable[..., Result], more: tuple[str, ...]
) -> None:
    """Two ways to say what can be answered are one too many."""
    refused = call("ask", *QUESTION, *more, "--no-wait")
    assert refused.status == 2
    assert "in the schema" in refused.err


@pytest.mark.usefixtures("schema")
def test_ask_with_a_schema_needs_a_title(call: Callable[..., Result]) -> None:
    """A schema does not say what it is for."""
    assert call("ask", "--schema", "schema.json", "--no-wait").status == 2
