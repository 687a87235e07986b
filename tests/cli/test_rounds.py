"""Questions from a shell: by their protocol, in rounds, answered in parts, with a label for one's own words."""

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.shell import Result, Shell, Terminal, wait_for
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]
CHOICE = ["PostgreSQL", "SQLite"]


@pytest.fixture
def write(shell: Shell) -> Callable[..., None]:
    """Give what writes round.json."""

    def write(*fields: dict[str, Any], **more: object) -> None:
        text = json.dumps({"title": "Setup", "fields": fields, **more})
        (shell.folder / "round.json").write_text(text, encoding="utf-8")

    return write


Write = Callable[..., None]


def of(count: int, **more: object) -> list[dict[str, Any]]:
    """Return so many questions."""
    return [{"text": f"Question {number}?", "options": CHOICE, **more} for number in range(1, 1 + count)]


def prompt_of(call: Call, *arguments: str) -> dict[str, Any]:
    """Ask, and return the prompt as it was stored."""
    asked = call("ask", *arguments, "--no-wait", "--json")
    assert asked.status == 0, asked.err
    prompt: dict[str, Any] = asked.json["prompt"]
    return prompt


# Protocols.


@proves("C1")
def test_protocols_to_ask_by_are_listed(call: Call) -> None:
    """One id a line; nothing is asked."""
    listed = call("ask", "--list-protocols")
    assert (listed.status, listed.err) == (0, "")
    assert listed.out.split() == [
        "ask-single-question-closed",
        "ask-single-question-free",
        "ask-multi-question-closed",
        "ask-multi-question-free",
    ]


@proves("C3", "C8")
def test_question_by_its_protocol_is_closed_or_free(call: Call) -> None:
    """What the id says need not be said again."""
    options = ("Which?", "-o", "Red", "-o", "Blue")
    assert not prompt_of(call, *options, "--protocol", "ask-single-question-closed")["fields"][0]["free"]
    assert prompt_of(call, *options, "--protocol", "ask-single-question-free")["fields"][0]["free"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("Which?", "--protocol", "ask-single-question-closed"),
        ("Which?", "-o", "Red", "--free", "--protocol", "ask-single-question-closed"),
        ("Which?", "-o", "Red", "--protocol", "ask-multi-question-closed"),
        ("Which?", "-o", "Red", "--protocol", "yield-ai-confirm"),
        ("Which?", "-o", "Red", "--protocol", "ask"),
        ("Which?", "-o", "Red", "--most", "2"),
        ("Which?", "-o", "Red", "--other", "Mine"),
        ("--file", "round.json", "--protocol", "ask-single-question-free"),
        ("--file", "round.json", "--most", "0"),
    ],
)
def test_question_that_does_not_fit_is_refused_before_it_is_asked(
    call: Call, shell: Shell, write: Write, arguments: tuple[str, ...]
) -> None:
    """With status 2, a sentence, and nothing in the store."""
    write(*of(2), protocol="ask-multi-question-closed")
    refused = call("ask", *arguments, "--no-wait")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err
    assert shell.waiting() == []


@proves("C15", "C21")
def test_round_file_may_name_its_protocol(call: Call, write: Write) -> None:
    """What the file leaves open follows from it; what it says against it is refused."""
    write(*of(2), protocol="ask-multi-question-free")
    assert [field["free"] for field in prompt_of(call, "--file", "round.json")["fields"]] == [True, True]
    write(*of(2), protocol="ask-multi-question-closed")
    assert [field["free"] for field in prompt_of(call, "--file", "round.json")["fields"]] == [False, False]
    write(*of(2, free=True), protocol="ask-multi-question-closed")
    refused = call("ask", "--file", "round.json", "--no-wait")
    assert refused.status == 2
    assert refused.err.startswith("round.json: By ask-multi-question-closed")


# The label for words of one's own.


@proves("C12", "C13")
def test_label_for_own_words_is_set_for_the_ask_or_the_project(
    call: Call, shell: Shell, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the option, else the variable, else the project's file, else ours; a round's own comes first."""
    question = ("Which?", "-o", "Red", "-o", "Blue", "--free")
    assert "other" not in prompt_of(call, *question)["fields"][0]
    (shell.folder / ".assent" / "questions.toml").write_text('other = "自定义"\n', encoding="utf-8")
    assert prompt_of(call, *question)["fields"][0]["other"] == "自定义"
    monkeypatch.setenv("ASSENT_OTHER_LABEL", "自由输入")
    assert prompt_of(call, *question)["fields"][0]["other"] == "自由输入"
    assert prompt_of(call, *question, "--other", "其他（可填写）")["fields"][0]["other"] == "其他（可填写）"
    assert "other" not in prompt_of(call, "Why?")["fields"][0]
    write({"text": "Why?"}, *of(1, free=True, other="Mine"), *of(2, free=True)[1:], other="Ours")
    shown = prompt_of(call, "--file", "round.json", "--other", "Yours")["fields"]
    assert [field.get("other") for field in shown] == [None, "Mine", "Ours"]


def test_label_for_own_words_is_shown_and_is_no_answer(call: Call) -> None:
    """Typed alone it says only that words will follow."""
    ask_id = call("ask", "Which?", "-o", "Red", "--free", "--other", "其他", "--no-wait").out.strip()
    assert "B) 其他" in call("show", ask_id).out
    refused = call("answer", ask_id, "其他")
    assert refused.status == 2
    assert 'Write your own words after B), as in "B) not yet".' in refused.err
    assert call("answer", ask_id, "B) 绿色").out.startswith('ana answered: "绿色"\nAsked: ')


# Answers in parts.


@pytest.fixture
def ask_id(call: Call, write: Write) -> str:
    """Give a round of three questions."""
    write(*of(2), {"text": "Why?"})
    return call("ask", "--file", "round.json", "--no-wait").out.strip()


def values(call: Call, ask_id: str) -> dict[str, list[str]] | None:
    """Return what was answered."""
    answer = call("show", ask_id, "--json").json["answer"]
    return None if answer is None else answer["values"]


@proves("C20")
def test_part_of_a_round_is_kept_until_the_rest_is_there(call: Call, ask_id: str, shell: Shell) -> None:
    """It says what is kept and what is missing, lists only the rest, and sends all of it together."""
    first = call("answer", ask_id, "q2: b")
    assert (first.status, first.out) == (2, "")
    assert first.err == (
        'Kept for you: q2 "SQLite". Still missing: q1, q3.\nQ1\nA) PostgreSQL\nB) SQLite\nQ3\nType your answer.\n'
    )
    assert values(call, ask_id) is None
    second = call("answer", ask_id, "Q3: as it\nis small")
    assert second.status == 2
    assert second.err == (
        'Kept for you: q2 "SQLite", q3 "as it is small". Still missing: q1.\nQ1\nA) PostgreSQL\nB) SQLite\n'
    )
    last = call("answer", ask_id, "q1: 1")
    assert (last.status, last.err) == (0, "")
    assert last.out.startswith('ana answered: "PostgreSQL, SQLite, as it<U+000A>is small"\nAsked: ')
    assert values(call, ask_id) == {"q1": ["PostgreSQL"], "q2": ["SQLite"], "q3": ["as it\nis small"]}
    assert drafts(shell) == []


def drafts(shell: Shell) -> list[str]:
    """Return what is kept."""
    return [path.name for path in (shell.folder.parent / "home").rglob("drafts/*.json")]


def test_wrong_part_is_echoed_and_asked_again_and_the_good_ones_are_kept(call: Call, ask_id: str) -> None:
    """Never guessed, and never at the cost of what was right; a second try takes the place of the first."""
    refused = call("answer", ask_id, "q1: a", "q2: MySQL")
    assert refused.status == 2
    assert refused.err.startswith(
        'I didn\'t recognize "q1: a q2: MySQL". "MySQL" is no answer to q2. '
        'Kept for you: q1 "PostgreSQL". Still missing: q2, q3.\nQ2\n'
    )
    again = call("answer", ask_id, "q1: Oracle", "q2: b")
    assert 'Kept for you: q2 "SQLite". Still missing: q1, q3.' in again.err
    nothing = call("answer", ask_id, "whatever")
    assert nothing.status == 2
    assert '"whatever" belongs to no question' in nothing.err
    assert 'Kept for you: q2 "SQLite". Still missing: q1, q3.' in nothing.err
    assert call("answer", ask_id, "q1: b", "q3: fine", "q2: a").status == 0
    assert values(call, ask_id) == {"q1": ["SQLite"], "q2": ["PostgreSQL"], "q3": ["fine"]}


def test_reply_of_which_nothing_is_right_is_refused_as_ever(call: Call, ask_id: str, shell: Shell) -> None:
    """There is nothing to keep, so nothing is."""
    refused = call("answer", ask_id, "q1: Oracle", "--json")
    assert refused.status == 2
    assert refused.json["error"]["code"] == "unrecognised"
    assert refused.err.startswith(
        'I didn\'t recognize "q1: Oracle". "Oracle" is no answer to q1. Still missing: q1, q2, q3.\nQ1\n'
    )
    assert drafts(shell) == []


@pytest.mark.parametrize("way", ["decline", "elsewhere"])
def test_draft_is_dropped_when_its_ask_has_ended(call: Call, ask_id: str, shell: Shell, way: str) -> None:
    """Declined by the same person, or answered by another one."""
    call("answer", ask_id, "q1: a")
    assert drafts(shell) == [f"{ask_id}.json"]
    if way == "decline":
        assert call("answer", ask_id, "--decline").status == 0
    else:
        shell.answer(ask_id, "q1: b\nq2: b\nq3: x", "sam")
        assert call("answer", ask_id, "q2: a", "q3: y").status == 6
        assert values(call, ask_id) == {"q1": ["SQLite"], "q2": ["SQLite"], "q3": ["x"]}
    assert drafts(shell) == []


def test_approval_is_answered_in_one_go(call: Call, write: Write, shell: Shell) -> None:
    """What was kept yesterday approves nothing today."""
    write(*of(2))
    ask_id = call("ask", "--file", "round.json", "--kind", "approval", "--no-wait").out.strip()
    assert call("answer", ask_id, "q1: a", "--unattended").status == 2
    assert drafts(shell) == []
    assert call("answer", ask_id, "q2: a", "--unattended").status == 2
    assert call("answer", ask_id, "q1: a", "q2: a", "--unattended").status == 0


@proves("C20", "C22")
def test_long_answers_and_the_dashes_line_come_by_standard_input(shell: Shell, write: Write) -> None:
    """C20, C-X3: an answer runs on until the next key or a line of dashes."""
    write({"text": "Why?"}, *of(1), {"text": "Anything else?"})
    ask_id = shell.open("--file", "round.json")
    typed = "Q1: it is small\nand: simple\n\n------\nq2: sqlite\nq3: no,\nnothing\n-------\n"
    assert shell.run("answer", ask_id, "-", typed=typed).status == 0
    answer = shell.ask(ask_id).answer
    assert answer is not None
    assert answer.values == {"q1": ("it is small\nand: simple",), "q2": ("SQLite",), "q3": ("no,\nnothing",)}


# More than one round.


@proves("C16")
def test_many_questions_without_waiting_are_all_asked_at_once(call: Call, write: Write) -> None:
    """An id a line; each round counts from Q1 and has a key of its own, by which it is found again (C-X8)."""
    write(*of(9))
    arguments = ("ask", "--file", "round.json", "--key", "setup", "--no-wait")
    asked = call(*arguments)
    ids = asked.out.split()
    shown = [call("show", each, "--json").json for each in ids]
    assert [len(each["prompt"]["fields"]) for each in shown] == [3, 3, 3]
    assert [each["key"] for each in shown] == ["setup:1", "setup:2", "setup:3"]
    assert [each["prompt"]["title"] for each in shown] == [f"Setup ({number} of 3)" for number in (1, 2, 3)]
    assert "\nQ1 Question 4?\n" in call("show", ids[1]).out.replace("  ", "")
    assert call(*arguments).out == asked.out
    assert call("answer", ids[1], "q1: a", "q2: b", "q3: a").status == 0
    assert values(call, ids[1]) == {"q4": ["PostgreSQL"], "q5": ["SQLite"], "q6": ["PostgreSQL"]}
    write(*of(5), most=6)
    assert len(call("ask", "--file", "round.json", "--no-wait").out.split()) == 1
    assert len(call("ask", "--file", "round.json", "--most", "2", "--no-wait").out.split()) == 3


def test_many_questions_are_answered_round_by_round_from_elsewhere(shell: Shell, write: Write) -> None:
    """The second round is asked when the first is answered; the output is a line for each question, once."""
    write(*of(5))
    asking = shell.start("ask", "--file", "round.json")
    first = shell.only_open()
    assert len(first.prompt.fields) == 3
    shell.answer(first.ask_id, "q1: a\nq2: b\nq3: a")
    wait_for(lambda: [ask.ask_id for ask in shell.waiting()] not in ([], [first.ask_id]))
    shell.answer(shell.only_open().ask_id, "q1: b\nq2: b")
    asked = shell.finish(asking)
    assert (asked.status, asked.out) == (0, "PostgreSQL\nSQLite\nPostgreSQL\nSQLite\nSQLite\n")


def test_round_without_an_answer_ends_the_questions(shell: Shell, write: Write) -> None:
    """A no to the second is a no to the whole: nothing on standard output but, for a program, both asks."""
    write(*of(5))
    asking = shell.start("ask", "--file", "round.json", "--json")
    first = shell.only_open()
    shell.answer(first.ask_id, "q1: a\nq2: b\nq3: a")
    wait_for(lambda: [ask.ask_id for ask in shell.waiting()] not in ([], [first.ask_id]))
    assert shell.run("answer", shell.only_open().ask_id, "--decline").status == 0
    asked = shell.finish(asking)
    assert asked.status == 4
    assert [json.loads(line)["state"] for line in asked.out.splitlines()] == ["answered", "declined"]


@proves("C17", "C22")
def test_many_questions_on_a_terminal_are_rounds_that_begin_with_q1(shell: Shell, write: Write) -> None:
    """C17, C-X8: one by one, wrong ones again, own words under the project's label; the result is that of any way."""
    write(*of(5), protocol="ask-multi-question-free", other="其他（可填写）")
    with Terminal(shell, "ask", "--file", "round.json") as terminal:
        terminal.until("Q1 of 3")
        terminal.until("其他（可填写）")
        terminal.until("> ")
        assert "  C) 其他（可填写）".replace(" ", "") in "".join(terminal.screen()).replace(" ", "")
        terminal.type("其他（可填写）\n")
        terminal.until("Write your own words after C)")
        terminal.type("C) MySQL\n")
        terminal.until("Q2 of 3")
        terminal.type("a\n")
        terminal.until("Q3 of 3")
        terminal.type("b\n")
        terminal.until("Setup (2 of 2)")
        terminal.until("Q1 of 2")
        terminal.type("q2: none\n")
        terminal.until("Q1 of 2", 2)
        terminal.type("1\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "MySQL\nPostgreSQL\nSQLite\nPostgreSQL\nnone\n")


def test_interrupt_in_the_second_round_leaves_it_open(shell: Shell, write: Write) -> None:
    """Status 3; the first round keeps its answer, and the same key goes on with the second."""
    write(*of(5))
    with Terminal(shell, "ask", "--file", "round.json", "--key", "setup") as terminal:
        for number in (1, 2, 3):
            terminal.until(f"Q{number} of 3")
            terminal.type("a\n")
        terminal.until("Q1 of 2")
        terminal.process.send_signal(signal.SIGINT)
        ended = terminal.end()
    assert (ended.status, ended.out) == (3, "")
    assert "the ask stays open" in ended.err
    shell.answer(shell.only_open().ask_id, "q1: b\nq2: b")
    again = shell.run("ask", "--file", "round.json", "--key", "setup")
    assert (again.status, again.out.split()) == (0, ["PostgreSQL"] * 3 + ["SQLite"] * 2)
