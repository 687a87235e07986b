"""`assent host acp` and an agent that speaks by the real library, in two processes."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assent.protocol.ask import Ask, State
from tests.cli.shell import Shell, wait_for
from tests.hosts.acp import agent
from tests.patience import PATIENCE
from tools.warm_shell import programs

__all__: list[str] = []

CALL = {"toolCallId": "t1", "title": "Delete the build", "rawInput": {"command": "rm -r build"}}
ONCE = [["yes", "Yes", "allow_once"], ["ever", "Always", "allow_always"], ["no", "No", "reject_once"]]
FORM = {
    "type": "object",
    "properties": {
        "size": {
            "type": "string",
            "title": "Size",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["size", "count"],
}
Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Give a shell in a folder of its own."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    made = Shell(folder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def python() -> Iterator[str]:
    """Give a Python that has loaded the library when an agent starts."""
    with programs() as folder:
        yield str(folder / "python")


@pytest.fixture
def start(shell: Shell, python: str) -> Start:
    """Give what starts the agent with a script of turns."""

    def begin(*turns: list[dict[str, Any]], options: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        script = shell.folder / "script.json"
        script.write_text(json.dumps(turns))
        words = (python, agent.__file__, str(script))
        return shell.start("host", "acp", *options, "go", "--", *words)

    return begin


def told(out: str) -> list[Any]:
    """Return what the agent was told, step by step."""
    return [json.loads(line) for line in out.splitlines() if not line.startswith("heard: ")]


def approve(shell: Shell, ask: Ask, reply: str = "approve") -> None:
    """Decide an approval as a person whose terminal is elsewhere."""
    assert shell.run("answer", ask.ask_id, reply, "--unattended").status == 0


def test_permission_that_a_person_approves_is_allowed_once_and_never_for_ever(
    shell: Shell, start: Start
) -> None:
    """The action is the whole tool call; the option is the one for this once."""
    process = start([{"permit": CALL, "options": ONCE}])
    ask = shell.only_open()
    assert ask.prompt.title == "Delete the build"
    assert ask.prompt.action == {
        "host": "acp",
        "tool call": {"title": "Delete the build", "rawInput": {"command": "rm -r build"}},
        "option": {"name": "Yes", "kind": "allow_once"},
    }
    approve(shell, ask)
    ended = shell.finish(process)
    assert (ended.status, told(ended.out)) == (0, [{"outcome": "selected", "optionId": "yes"}]), ended.err


def test_permission_that_a_person_rejects_is_the_agent_s_own_no(shell: Shell, start: Start) -> None:
    """The first option that rejects once."""
    process = start([{"permit": CALL, "options": ONCE}])
    approve(shell, shell.only_open(), "reject")
    assert told(shell.finish(process).out) == [{"outcome": "selected", "optionId": "no"}]


def test_words_of_a_no_are_the_agent_s_next_prompt(shell: Shell, start: Start) -> None:
    """Its protocol has no place for them in the reply; a no without words is followed by nothing."""
    process = start([{"permit": CALL, "options": ONCE}])
    approve(shell, shell.only_open(), "reject: it holds the release")
    ended = shell.finish(process)
    heard = [line for line in ended.out.splitlines() if line.startswith("heard: ")]
    assert heard[0] == "heard: go"
    assert len(heard) == 2
    assert heard[1].startswith("heard: Delete the build: ")
    assert heard[1].endswith('Reason: "it holds the release".')


@pytest.mark.parametrize(
    ("call", "options", "outcome"),
    [
        (CALL, [["ever", "Always", "allow_always"], ["no", "No", "reject_once"]], "no"),
        ({"toolCallId": "t1"}, ONCE, "no"),
        (CALL, [["ever", "Always", "allow_always"]], None),
    ],
    ids=["only for ever", "nothing is shown", "no way to say no"],
)
def test_permission_that_cannot_be_put_to_a_person_is_refused_at_once(
    shell: Shell, start: Start, call: dict[str, Any], options: list[list[str]], outcome: str | None
) -> None:
    """Nobody is asked for a yes that would cover more than is seen."""
    ended = shell.finish(start([{"permit": call, "options": options}]))
    expected = {"outcome": "cancelled"} if outcome is None else {"outcome": "selected", "optionId": outcome}
    assert told(ended.out) == [expected]
    assert not shell.waiting()


def test_permission_with_seven_ways_is_a_question_and_an_approval_of_that_way(
    shell: Shell, start: Start
) -> None:
    """No option is unreachable, and the yes is for the one that was chosen."""
    ways = [[f"o{number}", f"Way {number}", "allow_once"] for number in range(1, 7)]
    process = start([{"permit": CALL, "options": [*ways, ["no", "No", "reject_once"]]}])
    ask = shell.only_open()
    assert [option.label for option in ask.prompt.fields[0].options] == [f"Way {n}" for n in range(1, 7)] + [
        "No"
    ]
    shell.answer(ask.ask_id, "Way 6")
    wait_for(lambda: any(each.ask_id != ask.ask_id for each in shell.waiting()))
    approval = shell.only_open()
    assert isinstance(approval.prompt.action, dict)
    assert approval.prompt.action["option"] == {"name": "Way 6", "kind": "allow_once"}
    approve(shell, approval)
    assert told(shell.finish(process).out) == [{"outcome": "selected", "optionId": "o6"}]


def test_form_that_a_person_fills_in_comes_back_with_the_schema_s_own_values(
    shell: Shell, start: Start
) -> None:
    """People read titles; the agent gets constants and numbers."""
    process = start([{"message": "How many?", "form": FORM}])
    ask = shell.only_open()
    assert [option.label for option in ask.prompt.fields[0].options] == ["Small", "Large"]
    shell.answer(ask.ask_id, "size: Large\ncount: 3")
    expected = {"action": "accept", "content": {"size": "l", "count": 3}}
    assert told(shell.finish(process).out) == [expected]


def test_form_that_a_person_declines_is_declined_and_an_address_is_never_carried(
    shell: Shell, start: Start
) -> None:
    """A mode that was not offered is refused by its code."""
    process = start([{"message": "Go there", "url": "https://example.com"}, {"message": "?", "form": FORM}])
    ask = shell.only_open()
    shell.run("answer", ask.ask_id, "--decline")
    assert told(shell.finish(process).out) == [{"refused": -32602}, {"action": "decline"}]


def test_run_that_is_cancelled_answers_cancelled_and_withdraws_its_ask(shell: Shell, start: Start) -> None:
    """As the protocol wants it of a client that cancels a turn."""
    process = start([{"permit": CALL, "options": ONCE}], options=("--run-id", "night"))
    ask = shell.only_open()
    assert shell.run("cancel", "night").status == 0
    ended = shell.finish(process)
    assert (ended.status, told(ended.out)) == (5, [{"outcome": "cancelled"}]), ended.err
    assert shell.ask(ask.ask_id).state is State.WITHDRAWN


def test_run_that_was_killed_finds_its_ask_and_the_answer_that_came_meanwhile(
    shell: Shell, start: Start
) -> None:
    """Under the same run id; nobody is asked twice, and a second form of the same kind is a new ask."""
    turn = [{"message": "How many?", "form": FORM}, {"message": "How many?", "form": FORM}]
    process = start(turn, options=("--run-id", "night"))
    ask = shell.only_open()
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    assert shell.ask(ask.ask_id).is_open
    shell.answer(ask.ask_id, "size: Small\ncount: 1")
    again = start(turn, options=("--run-id", "night"))
    second = shell.only_open()
    assert second.ask_id != ask.ask_id
    shell.answer(second.ask_id, "size: Large\ncount: 2")
    contents = [each["content"] for each in told(shell.finish(again).out)]
    assert contents == [{"size": "s", "count": 1}, {"size": "l", "count": 2}]


def test_run_that_is_stopped_leaves_its_ask_open_and_says_how_to_go_on(shell: Shell, start: Start) -> None:
    """Ctrl-C decides nothing."""
    process = start([{"message": "How many?", "form": FORM}], options=("--run-id", "night"))
    ask = shell.only_open()
    process.send_signal(signal.SIGINT)
    ended = shell.finish(process)
    assert ended.status == 3
    assert "assent host acp --run-id night" in ended.err
    assert shell.ask(ask.ask_id).is_open


def test_word_of_a_person_to_a_paused_run_is_the_next_turn_and_an_agent_s_is_not(
    shell: Shell, start: Start
) -> None:
    """No turn begins while the run is paused; what people said meanwhile is the next one."""
    process = start([{"message": "How many?", "form": FORM}], options=("--run-id", "night"))
    ask = shell.only_open()
    assert shell.run("pause", "night").status == 0
    posted = shell.run("post", "host:night", '"I am an agent"', ASSENT_PRINCIPAL="agent:bad")
    assert posted.status == 0, posted.err
    assert shell.run("post", "host:night", '"And now paint it"').status == 0
    shell.answer(ask.ask_id, "size: Small\ncount: 1")
    assert shell.run("resume", "night").status == 0
    ended = shell.finish(process)
    assert [line for line in ended.out.splitlines() if line.startswith("heard: ")] == [
        "heard: go",
        "heard: And now paint it",
    ]


def test_agent_that_cannot_be_started_is_told_in_one_sentence(shell: Shell) -> None:
    """No run is begun for it."""
    ended = shell.run("host", "acp", "go", "--", "no-such-agent")
    assert (ended.status, ended.err) == (1, "no-such-agent is no command here.\n")


@pytest.mark.parametrize(
    "script",
    ["exec <&-", "read line", "printf '{\\033[31m\\n'; read line"],
    ids=["at once", "after a line", "after nonsense"],
)
def test_agent_that_ends_in_the_middle_is_told_in_one_sentence(shell: Shell, script: str) -> None:
    """No stack trace, and nothing of the agent's that a terminal would obey."""
    ended = shell.run("host", "acp", "go", "--", "sh", "-c", script)
    assert (ended.status, ended.err.splitlines()[-1]) == (1, "The agent has ended."), ended.err
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.err
