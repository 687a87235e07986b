"""`assent host opencode` against a server that speaks as opencode does and checks what it is sent."""

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.hosts.opencode.server import OpencodeServer
from assent.protocol.ask import Ask, State
from tests.cli.shell import Shell, wait_for
from tests.hosts.opencode.server_double import PASSWORD, OpencodeDouble
from tests.patience import PATIENCE

__all__: list[str] = []

OPTIONS = [{"label": f"Colour {number}", "description": ""} for number in range(1, 8)]
QUESTION = {
    "id": "que_1",
    "sessionID": "ses_1",
    "questions": [
        {"question": "Which colour?", "header": "Colour", "options": OPTIONS, "custom": False},
        {"question": "Which sizes?", "header": "Size", "options": OPTIONS[:3], "multiple": True},
    ],
}
PERMISSION = {
    "id": "per_1",
    "sessionID": "ses_1",
    "permission": "bash",
    "patterns": ["rm -r build"],
    "metadata": {"command": "rm -r build"},
    "always": ["rm *"],
}


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a shell in a folder of its own."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    made = Shell(folder)
    yield made
    made.close()


@pytest.fixture
def double() -> Iterator[OpencodeDouble]:
    """Give a server."""
    with OpencodeDouble() as made:
        yield made


def carry(shell: Shell, double: OpencodeDouble) -> subprocess.Popen[bytes]:
    """Start the command."""
    return shell.start("host", "opencode", double.url, OPENCODE_SERVER_PASSWORD=PASSWORD)


def decide(shell: Shell, ask: Ask, reply: str) -> None:
    """Decide an approval as a person whose terminal is elsewhere."""
    assert shell.run("answer", ask.ask_id, reply, "--unattended").status == 0


def listening(double: OpencodeDouble) -> None:
    """Wait until the command listens."""
    wait_for(lambda: len(double.listeners) == 1)


def test_questions_are_answered_by_place_with_opencode_s_own_labels(
    shell: Shell, double: OpencodeDouble
) -> None:
    """What waited before we came is in the list; one list of labels for each question goes back."""
    double.ask("question", QUESTION)
    carry(shell, double)
    ask = shell.only_open()
    shell.answer(ask.ask_id, "q1: Colour 7\nq2: Colour 1, Colour 3")
    wait_for(lambda: bool(double.replies))
    answers = {"answers": [["Colour 7"], ["Colour 1", "Colour 3"]]}
    assert double.replies == [("question", "que_1", "reply", answers)]


@pytest.mark.parametrize("is_named", [True, False], ids=["named", "not named"])
def test_every_request_is_about_the_folder_that_was_named(
    shell: Shell, double: OpencodeDouble, tmp_path: Path, *, is_named: bool
) -> None:
    """A server has sessions in many folders, and tells of one; without a name it is its own."""
    options = ("--cd", str(tmp_path)) if is_named else ()
    shell.start("host", "opencode", double.url, *options, OPENCODE_SERVER_PASSWORD=PASSWORD)
    listening(double)
    double.ask("question", QUESTION)
    shell.run("answer", shell.only_open().ask_id, "--decline")
    wait_for(lambda: bool(double.replies))
    assert double.folders == {str(tmp_path.resolve()) if is_named else ""}


@pytest.mark.parametrize(
    ("reply", "told"),
    [("approve", {"reply": "once"}), ("reject: keep the build", "reject")],
    ids=["yes", "no"],
)
def test_permission_is_given_once_or_rejected_with_the_reason(
    shell: Shell, double: OpencodeDouble, reply: str, told: Any
) -> None:
    """Never for ever: what that would cover is not even shown."""
    carry(shell, double)
    listening(double)
    double.ask("permission", PERMISSION)
    ask = shell.only_open()
    permit = {"permission": "bash", "patterns": ["rm -r build"], "metadata": {"command": "rm -r build"}}
    assert ask.prompt.action == {"host": "opencode", "permit": permit}
    decide(shell, ask, reply)
    wait_for(lambda: bool(double.replies))
    ((kind, request_id, verb, body),) = double.replies
    assert (kind, request_id, verb) == ("permission", "per_1", "reply")
    assert told in (body, body["reply"])
    assert ('Reason: "keep the build".' in body.get("message", "")) == (told == "reject")


def test_question_that_is_declined_is_rejected_and_one_that_is_withdrawn_stays_in_opencode(
    shell: Shell, double: OpencodeDouble
) -> None:
    """No answer is no reply of ours."""
    process = carry(shell, double)
    listening(double)
    double.ask("question", QUESTION)
    shell.run("withdraw", shell.only_open().ask_id)
    double.ask("question", {**QUESTION, "id": "que_2"})
    shell.run("answer", shell.only_open().ask_id, "--decline", "--reason", "ask Sam")
    wait_for(lambda: bool(double.said))
    assert double.replies == [("question", "que_2", "reject", {})]
    ((session, text),) = double.said
    assert (session, "ask Sam" in text) == (QUESTION["sessionID"], True)
    assert list(double.waiting["question"]) == ["que_1"]
    process.send_signal(signal.SIGINT)
    assert shell.finish(process).status == 3


def test_request_that_is_settled_in_opencode_first_is_withdrawn_here(
    shell: Shell, double: OpencodeDouble
) -> None:
    """By an event, or by its absence once the line is up again."""
    carry(shell, double)
    listening(double)
    double.ask("question", QUESTION)
    first = shell.only_open()
    double.settle("question", "que_1")
    wait_for(lambda: shell.ask(first.ask_id).state is State.WITHDRAWN)
    double.ask("permission", PERMISSION)
    second = shell.only_open()
    with double.lock:
        del double.waiting["permission"]["per_1"]
    double.hang_up()
    wait_for(lambda: shell.ask(second.ask_id).state is State.WITHDRAWN)
    assert double.replies == []


def test_request_that_came_while_the_line_was_broken_is_found_when_it_is_up_again(
    shell: Shell, double: OpencodeDouble
) -> None:
    """An event alone could be missed."""
    carry(shell, double)
    listening(double)
    double.ask("question", QUESTION, is_told=False)
    assert not shell.waiting()
    double.hang_up()
    assert shell.only_open().prompt.title == "opencode asks"


def test_carrier_that_was_killed_finds_its_ask_and_the_answer_that_came_meanwhile(
    shell: Shell, double: OpencodeDouble
) -> None:
    """Nobody is asked twice."""
    double.ask("question", QUESTION)
    process = carry(shell, double)
    ask = shell.only_open()
    process.kill()
    process.wait(PATIENCE)
    shell.answer(ask.ask_id, "q1: Colour 2\nq2: Colour 1")
    carry(shell, double)
    wait_for(lambda: bool(double.replies))
    assert double.replies[0][3] == {"answers": [["Colour 2"], ["Colour 1"]]}


def test_events_that_cannot_be_read_harm_nothing(shell: Shell, double: OpencodeDouble) -> None:
    """Hostile or newer than we are; a permission that shows nothing is refused."""
    process = carry(shell, double)
    listening(double)
    for line in ("nonsense", "[]", '{"type": 1}', '{"type": "question.asked", "properties": {"id": 3}}'):
        double.write(line)
    double.ask("question", {"id": "que_9", "questions": "what?"})
    double.ask("permission", {"id": "per_9"})
    double.ask("permission", PERMISSION)
    decide(shell, shell.only_open(), "approve")
    wait_for(lambda: len(double.replies) == 2)
    assert [(reply[1], reply[3]["reply"]) for reply in double.replies] == [
        ("per_9", "reject"),
        ("per_1", "once"),
    ]
    assert process.poll() is None


@pytest.mark.parametrize(
    ("url", "status", "sentence"),
    [
        (
            "http://127.0.0.1:1",
            1,
            "No opencode answers at http://127.0.0.1:1. Start one with: opencode serve",
        ),
        ("http://example.com", 2, "example.com is another machine: use https, or a tunnel to"),
        ("ftp://127.0.0.1", 2, '"ftp://127.0.0.1" is no address'),
        ("http://a:b@127.0.0.1", 2, "A password stands in OPENCODE_SERVER_PASSWORD"),
    ],
    ids=["nobody there", "another machine", "another scheme", "password in it"],
)
def test_address_that_cannot_be_used_is_told_in_one_sentence(
    shell: Shell, url: str, status: int, sentence: str
) -> None:
    """Before anything waits."""
    ended = shell.run("host", "opencode", url)
    assert (ended.status, ended.err.count("\n")) == (status, 1)
    assert sentence in ended.err


def test_server_whose_password_is_not_known_is_told_in_one_sentence(
    shell: Shell, double: OpencodeDouble
) -> None:
    """Which variable has it."""
    ended = shell.run("host", "opencode", double.url)
    assert (ended.status, ended.err.count("\n")) == (1, 1)
    assert "set OPENCODE_SERVER_PASSWORD" in ended.err


def test_server_that_is_slow_to_set_its_project_up_is_waited_for(
    double: OpencodeDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first list takes longer than any reply may: that is no server which is not there."""
    monkeypatch.setattr("assent.hosts.opencode.server._REPLY_SECONDS", 0.5)
    double.delay_seconds = 2.0
    double.ask("question", QUESTION)

    async def look() -> list[Any]:
        server = OpencodeServer(double.url, password=PASSWORD)
        try:
            return await server.questions()
        finally:
            await server.close()

    assert asyncio.run(look()) == [QUESTION]
