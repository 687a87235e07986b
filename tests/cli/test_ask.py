"""`assent ask` without a terminal: it stores, waits, and prints the answer and nothing else."""

import json
import signal
from collections.abc import Callable

import pytest

from assent import Ask
from tests.cli.shell import Result, Shell
from tests.patience import PATIENCE

__all__: list[str] = []

QUESTION = ("Which database?", "-o", "PostgreSQL", "-o", "SQLite")


def test_ask_without_terminal_waits_and_prints_the_answer_given_elsewhere(shell: Shell) -> None:
    """Standard output is the answer; where to answer stands on standard error."""
    asking = shell.start("ask", *QUESTION)
    ask = shell.only_open()
    assert shell.run("answer", ask.ask_id, "b").out.startswith('ana answered: "SQLite"\nAsked: ')
    asked = shell.finish(asking)
    assert (asked.status, asked.out) == (0, "SQLite\n")
    assert asked.err == f"waiting for an answer: assent answer {ask.ask_id[-6:]} …\n"


def test_ask_without_terminal_never_reads_its_input(shell: Shell) -> None:
    """A pipe is nobody: what it holds is no reply."""
    asked = shell.run("ask", *QUESTION, "--wait", "0.3", typed="1\n")
    assert (asked.status, asked.out) == (3, "")
    assert shell.only_open().is_open


def test_ask_no_wait_prints_the_id_alone(call: Callable[..., Result]) -> None:
    """So a script can keep it."""
    asked = call("ask", *QUESTION, "--no-wait")
    assert asked.status == 0
    assert asked.err == ""
    assert call("show", asked.out.strip(), "--json").json["ask_id"] == asked.out.strip()


def test_ask_json_has_the_public_shape(call: Callable[..., Result]) -> None:
    """The names that programs rely on."""
    ask = call("ask", *QUESTION, "--key", "db", "--body", "Why", "--as", "coder", "--no-wait", "--json").json
    assert {
        "ask_id",
        "project",
        "kind",
        "state",
        "key",
        "prompt",
        "digest",
        "asker",
        "run_id",
        "opened_at",
        "deadline",
        "answer",
        "sequence",
        "replayed",
    } <= ask.keys()
    assert (ask["project"], ask["kind"], ask["state"], ask["key"]) == ("shop", "question", "open", "db")
    assert (ask["asker"], ask["answer"], ask["replayed"]) == ("agent:coder", None, False)
    assert {"title", "body", "fields", "action", "risk", "commands"} <= ask["prompt"].keys()
    field = ask["prompt"]["fields"][0]
    assert {"name", "text", "options", "multiple", "free"} <= field.keys()
    assert {"key", "label", "recommended", "destructive"} <= field["options"][0].keys()


def test_ask_json_prints_the_answered_ask(shell: Shell) -> None:
    """A program learns who answered, how, and when."""
    asking = shell.start("ask", *QUESTION, "--json")
    shell.run("answer", shell.only_open().ask_id, "1")
    answer = shell.finish(asking).json["answer"]
    assert answer["values"] == {"q1": ["PostgreSQL"]}
    assert (answer["text"], answer["by"], answer["via"], answer["assurance"]) == (
        "1",
        "human:ana",
        "cli",
        "declared",
    )
    assert answer["at"].endswith("Z")


def test_ask_with_a_known_key_prints_the_answer_that_is_there(
    shell: Shell, call: Callable[..., Result]
) -> None:
    """Killed and run again, it is the same ask; once answered, it is answered for ever."""
    first = call("ask", *QUESTION, "--key", "db", "--no-wait").out
    again = call("ask", *QUESTION, "--key", "db", "--no-wait", "--json").json
    assert (again["ask_id"], again["replayed"]) == (first.strip(), True)
    call("answer", first.strip(), "SQLite")
    replayed = shell.run("ask", *QUESTION, "--key", "db")
    assert (replayed.status, replayed.out, replayed.err) == (0, "SQLite\n", "")


def test_ask_with_a_taken_key_ends_with_6(call: Callable[..., Result]) -> None:
    """Another question never gets the first one's answer."""
    call("ask", *QUESTION, "--key", "db", "--no-wait")
    taken = call("ask", "Which cache?", "--key", "db", "--no-wait")
    assert (taken.status, taken.out) == (6, "")
    assert "already belongs to" in taken.err


def test_ask_replace_supersedes_the_open_one(shell: Shell) -> None:
    """The first asker is told that a newer ask took its place, with status 5."""
    first = shell.start("ask", *QUESTION, "--key", "db")
    shell.only_open()
    assert shell.run("ask", "Which cache?", "--key", "db", "--replace", "--no-wait").status == 0
    ended = shell.finish(first)
    assert (ended.status, ended.out) == (5, "")
    assert "took its place" in ended.err


def test_ask_that_is_declined_ends_with_4(shell: Shell) -> None:
    """A person's no is an outcome of its own, with its reason."""
    asking = shell.start("ask", *QUESTION, "--json")
    shell.run("answer", shell.only_open().ask_id, "--decline", "--reason", "ask Sam")
    ended = shell.finish(asking)
    assert ended.status == 4
    assert 'Reason: "ask Sam"' in ended.err
    assert (ended.json["state"], ended.json["answer"]) == ("declined", None)


def test_ask_that_is_withdrawn_ends_with_5(shell: Shell) -> None:
    """Taken back is not declined."""
    asking = shell.start("ask", *QUESTION)
    shell.run("withdraw", shell.only_open().ask_id)
    ended = shell.finish(asking)
    assert (ended.status, ended.out) == (5, "")
    assert "took it back" in ended.err


def test_ask_whose_deadline_passes_with_deny_ends_with_5(shell: Shell) -> None:
    """Silence is never a yes, and not a person's no either."""
    ended = shell.run("ask", *QUESTION, "--deadline", "0.2", "--consequence", "deny")
    assert (ended.status, ended.out) == (5, "")
    assert "Nobody answered before the deadline" in ended.err


def test_ask_whose_wait_lapses_ends_with_3_and_says_how_to_answer(shell: Shell) -> None:
    """The wait is over, the ask is not."""
    ended = shell.run("ask", *QUESTION, "--wait", "0.1", "--json")
    assert ended.status == 3
    assert ended.json["state"] == "open"
    assert f"assent answer {ended.json['ask_id'][-6:]} …" in ended.err


def test_ask_ended_by_a_signal_stays_open(shell: Shell) -> None:
    """Whatever ends the command does not end the ask."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        asking = shell.start("ask", *QUESTION, "--key", "k")
        shell.only_open()
        asking.send_signal(number)
        assert asking.wait(PATIENCE) == -number
        assert shell.only_open().is_open


def test_ask_interrupted_without_terminal_ends_with_3(shell: Shell) -> None:
    """Ctrl-C, as `kill -INT` sends it."""
    asking = shell.start("ask", *QUESTION)
    ask = shell.only_open()
    assert asking.stderr is not None
    assert asking.stderr.readline().startswith(b"waiting for an answer")
    asking.send_signal(signal.SIGINT)
    ended = shell.finish(asking)
    assert (ended.status, ended.out) == (3, "")
    assert (
        f"Nothing was decided; the ask stays open. Answer it with: assent answer {ask.ask_id[-6:]} …"
        in ended.err
    )


def test_ask_for_several_prints_a_label_a_line(shell: Shell) -> None:
    """In the order in which they were chosen."""
    asking = shell.start("ask", "Which?", "-o", "Red", "-o", "Green", "-o", "Blue", "--multiple")
    shell.run("answer", shell.only_open().ask_id, "Blue", "1")
    assert shell.finish(asking).out == "Blue\nRed\n"


def test_ask_for_free_text_prints_it_as_it_was_given(shell: Shell) -> None:
    """A program gets the exact text, line ends and all."""
    asking = shell.start("ask", "Name?")
    shell.run("answer", shell.only_open().ask_id, "-", typed="two\n lines \x1b[31m\n")
    assert shell.finish(asking).out == "two\n lines \x1b[31m\n"


def test_ask_round_from_a_file_prints_a_line_for_each_question(shell: Shell) -> None:
    """Options may be plain texts or objects; names and free text have defaults."""
    prompt = {
        "title": "New shop",
        "fields": [
            {"text": "Database?", "options": ["PostgreSQL", {"key": "lite", "label": "SQLite"}]},
            {"name": "extras", "text": "Extras?", "options": ["Red", "Green"], "multiple": True},
            {"text": "Name?"},
        ],
    }
    (shell.folder / "round.json").write_text(json.dumps(prompt))
    asking = shell.start("ask", "--file", "round.json")
    ask = shell.only_open()
    assert [field.name for field in ask.prompt.fields] == ["q1", "extras", "q3"]
    answered = shell.run("answer", ask.ask_id, "q1: b", "q2: red, green", "q3: my shop")
    assert answered.status == 0, answered.err
    assert shell.finish(asking).out == "SQLite\nRed, Green\nmy shop\n"
    answer = shell.ask(ask.ask_id).answer
    assert answer is not None
    assert answer.values["q1"] == ("lite",)


def test_ask_round_from_standard_input_is_stored(shell: Shell) -> None:
    """`-` reads the prompt; the reply still comes from a person."""
    asked = shell.run(
        "ask",
        "The title",
        "--file",
        "-",
        "--no-wait",
        "--json",
        typed='{"fields": [{"text": "A?"}, {"text": "B?"}]}',
    )
    assert asked.json["prompt"]["title"] == "The title"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"title": "x", "fields": [{"text": "a", "options": [1]}]}', "$.fields[0].options[0]"),
        ('{"title": "x", "fields": [{"tekst": "a"}]}', "tekst"),
        ('{"fields": [{"text": "a"}]}', "$.title"),
        ('{"title": "x", "title": "y", "fields": []}', "title"),
        ('{"title": NaN}', "1"),
        ("[]", "object"),
        ('{"title": "x", "fields": []}', "1 to"),
        ('{"title": "x", "fields": [{"options": ["Yes", "yes "]}]}', "look alike"),
    ],
)
def test_ask_round_that_cannot_be_read_ends_with_2_and_names_the_place(
    call: Callable[..., Result], shell: Shell, text: str, place: str
) -> None:
    """One sentence, nothing stored."""
    (shell.folder / "round.json").write_text(text)
    refused = call("ask", "--file", "round.json", "--no-wait")
    assert (refused.status, refused.out) == (2, "")
    assert place in refused.err
    assert refused.err.count("\n") == 1
    assert call("inbox", "--count").out == "0\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("Which?", "--wait", "1", "--no-wait"),
        ("Which?", "--deadline", "soon"),
        ("Which?", "--consequence", "deny", "--no-wait"),
        ("Which?", "--kind", "gate", "--consequence", "deny", "--deadline", "1h", "--no-wait"),
        ("Which?", "--consequence", "yes", "--no-wait"),
        ("Which?", "--file", "there-is-none.json", "--no-wait"),
        ("--file", "-", "--option", "A"),
        ("  ", "--no-wait"),
        ("Which?", "--key", "", "--no-wait"),
        ("Which?", "-o", "same", "-o", "Same", "--no-wait"),
    ],
)
def test_ask_with_wrong_usage_ends_with_2(call: Callable[..., Result], arguments: tuple[str, ...]) -> None:
    """A plain sentence, and nothing is stored."""
    refused = call("ask", *arguments)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.strip()
    assert call("inbox", "--count").out == "0\n"


def test_ask_keeps_deadline_and_consequence(call: Callable[..., Result]) -> None:
    """Declared on the ask, shown on its card."""
    ask_id = call(
        "ask",
        "Which?",
        "--deadline",
        "2h",
        "--consequence",
        "escalate",
        "--escalate-to",
        "human:sam",
        "--no-wait",
    ).out.strip()
    ask = call("show", ask_id, "--json").json
    assert (ask["consequence"], ask["escalate_to"]) == ("escalate", "human:sam")
    assert "then sam is asked, too" in call("show", ask_id).out


def test_ask_left_in_the_moment_of_its_answer_tells_the_answer(
    call: Callable[..., Result], shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C does not make a lie of it: what is decided is decided."""

    def interrupted(_place: object, _asker: object, ask: Ask, _wait: object) -> Ask:
        shell.answer(ask.ask_id, "2")
        raise KeyboardInterrupt

    monkeypatch.setattr("assent.cli.ask._await", interrupted)
    asked = call("ask", *QUESTION)
    assert (asked.status, asked.out) == (0, "SQLite\n")
    assert "Nothing was decided" not in asked.err
