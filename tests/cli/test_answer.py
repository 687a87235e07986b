"""`assent answer`, `claim` and `withdraw`: acts of a person, refused where an agent runs them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.client.identity import AGENT_MARKS
from tests.cli.shell import Result, Shell, Terminal

__all__: list[str] = []

Call = Callable[..., Result]
QUESTION = ("Which database?", "-o", "PostgreSQL", "-o", "SQLite")


def ask(call: Call, *arguments: str) -> str:
    """Open an ask and return its id."""
    opened = call("ask", *(arguments or QUESTION), "--no-wait")
    assert opened.status == 0, opened.err
    return opened.out.strip()


@pytest.mark.parametrize("reply", ["2", "b", "B)", "sqlite", "SQLite"])
def test_answer_is_accepted_by_number_letter_and_label(call: Call, reply: str) -> None:
    """One line says what was recorded, the next what was asked: a wrong id does not go unnoticed."""
    answered = call("answer", ask(call), reply)
    said = 'ana answered: "SQLite"\nAsked: Which database? (shop, agent:ana)\n'
    assert (answered.status, answered.out, answered.err) == (0, said, "")


def test_answer_json_prints_the_ask(call: Call) -> None:
    """With the answer in it."""
    answered = call("answer", ask(call), "1", "--json").json
    assert (answered["state"], answered["answer"]["values"]) == ("answered", {"q1": ["PostgreSQL"]})
    assert (answered["answer"]["via"], answered["answer"]["assurance"]) == ("cli", "declared")


def test_answer_that_is_not_recognised_ends_with_2_and_the_brief_list(call: Call) -> None:
    """The ask stays open; the reply is echoed, the options are listed, nothing goes to standard output."""
    ask_id = ask(call)
    refused = call("answer", ask_id, "Oracle")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == 'I didn\'t recognize "Oracle".\nA) PostgreSQL\nB) SQLite\n'
    assert call("show", ask_id, "--json").json["state"] == "open"


@pytest.mark.parametrize("reply", ["", "  ", "\u200b"])
def test_answer_that_is_empty_is_no_answer(call: Call, reply: str) -> None:
    """Not even where any text would do."""
    ask_id = ask(call, "Name?")
    assert call("answer", ask_id, reply).status == 2
    assert call("show", ask_id, "--json").json["state"] == "open"


def test_answer_after_somebody_else_ends_with_6_and_names_the_winner(shell: Shell, call: Call) -> None:
    """Who, when and what; as JSON with the whole ask."""
    ask_id = ask(call)
    shell.answer(ask_id, "1", "sam")
    late = call("answer", ask_id, "2", "--json")
    assert late.status == 6
    assert late.err.startswith("Too late, nothing was changed: sam answered at ")
    assert late.err.endswith(': "PostgreSQL".\n')
    error = late.json["error"]
    assert error["code"] == "conflict"
    assert error["details"]["ask"]["answer"]["by"] == "human:sam"


@pytest.mark.parametrize("command", ["answer", "claim", "withdraw"])
@pytest.mark.parametrize("mark", [*AGENT_MARKS, "ASSENT_PRINCIPAL"])
def test_person_command_run_by_an_agent_ends_with_4(
    call: Call, monkeypatch: pytest.MonkeyPatch, command: str, mark: str
) -> None:
    """A machine is never a human: the mark is named, and where a person can answer."""
    ask_id = ask(call)
    monkeypatch.setenv(mark, "agent:coder" if mark == "ASSENT_PRINCIPAL" else "1")
    refused = call(command, ask_id, *(["1"] if command == "answer" else []))
    assert (refused.status, refused.out) == (4, "")
    assert f"{mark} is set" in refused.err
    assert "assent inbox" in refused.err
    assert call("show", ask_id, "--json").json["state"] == "open"


def test_decline_is_recorded_with_its_reason(call: Call) -> None:
    """A no to being asked is an outcome, not an answer."""
    ask_id = ask(call)
    declined = call("answer", ask_id, "--decline", "--reason", "ask Sam")
    assert (declined.status, declined.out) == (
        0,
        'ana declined: "ask Sam"\nAsked: Which database? (shop, agent:ana)\n',
    )
    assert call("show", ask_id, "--json").json["outcome"]["reason"] == "ask Sam"


@pytest.mark.parametrize("arguments", [(), ("1", "--decline"), ("1", "--reason", "why")])
def test_answer_with_neither_or_both_ends_with_2(call: Call, arguments: tuple[str, ...]) -> None:
    """A value or a no, and a reason only for the no."""
    assert call("answer", ask(call), *arguments).status == 2


def test_several_values_are_a_list_where_several_may_be_chosen(call: Call) -> None:
    """And the words of one text where not."""
    ask_id = ask(call, "Which?", "-o", "Red", "-o", "Green", "-o", "Blue", "--multiple")
    assert call("answer", ask_id, "1", "blue").out.startswith('ana answered: "Red, Blue"\n')
    assert call("answer", ask(call, "Name?"), "corner", "shop").out.startswith(
        'ana answered: "corner shop"\n'
    )
    pause = ask(call, "Go on?", "-o", "Pause & save", "-o", "Continue")
    assert call("answer", pause, "pause", "&", "save").out.startswith('ana answered: "Pause & save"\n')


def test_reply_is_read_from_standard_input_for_a_dash(shell: Shell) -> None:
    """For long texts; bytes that are no text are refused."""
    ask_id = shell.open("Tell me.")
    assert shell.run("answer", ask_id, "-", typed="two\nlines\n").status == 0
    answer = shell.ask(ask_id).answer
    assert answer is not None
    assert answer.values == {"q1": ("two\nlines",)}


def test_approval_needs_a_terminal_or_a_persons_word_for_it(call: Call) -> None:
    """A process's word is not enough; --unattended says so in the log."""
    ask_id = ask(call, "Drop it?", "-o", "Yes", "-o", "No", "--kind", "approval")
    assert call("answer", ask_id, "Yes").status == 4
    assert call("answer", ask_id, "Yes", "--unattended").status == 0
    assert "unattended" in call("log").out


def test_answer_typed_in_a_terminal_has_its_assurance(shell: Shell) -> None:
    """The person's own shell is in front of a controlling terminal."""
    ask_id = shell.open("Drop it?", "-o", "Yes", "-o", "No", "--kind", "approval")
    with Terminal(shell, "answer", ask_id, "No") as terminal:
        assert terminal.end().status == 0
    answer = shell.ask(ask_id).answer
    assert answer is not None
    assert (answer.via, answer.assurance) == ("cli", "terminal")


def test_ask_is_found_by_the_end_of_its_id_in_every_store_of_this_user(
    call: Call, shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also in another project and folder, unless a store is named."""
    there = ask(call)
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert call("show", there[-6:].upper(), "--json").json["ask_id"] == there
    refused = call("answer", there[-6:], "1", "--store", f"sqlite:///{elsewhere}/x.db")
    assert refused.status == 1
    assert "There is no store" in refused.err
    assert call("answer", there[-6:], "1").status == 0
    assert not (elsewhere / ".assent").exists()
    assert shell.ask(there).answer is not None


@pytest.mark.parametrize("ask_id", ["abc", "", "zzzzzz", "ask_00000000000000000z"])
def test_unknown_id_ends_with_1(call: Call, ask_id: str) -> None:
    """One plain sentence."""
    ask(call)
    for command in (("show", ask_id), ("answer", ask_id, "1"), ("claim", ask_id), ("withdraw", ask_id)):
        missing = call(*command)
        assert (missing.status, missing.out) == (1, "")
        assert missing.err.count("\n") == 1


def test_id_that_fits_several_asks_is_not_guessed(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is answered by chance; the sentence gives the whole ids."""
    ids = iter(["ask_0000000000aa777777", "ask_0000000000bb777777"])
    monkeypatch.setattr("assent.client.calls.new_ask_id", lambda: next(ids))
    first, second = ask(call), ask(call)
    refused = call("answer", "777777", "1")
    assert (refused.status, refused.out) == (1, "")
    assert f'{first} in shop ("Which database?"), {second} in shop' in refused.err
    assert call("answer", "bb777777", "1").status == 0
    assert call("show", second, "--json").json["state"] == "answered"
    # An ended one counts, too: whoever means it must not approve another.
    assert call("answer", "777777", "1").status == 1
    assert call("show", first, "--json").json["state"] == "open"


def test_end_of_an_id_that_another_projects_agent_chose_is_not_taken(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Not even where the other one is nearer: in this folder's own store and project."""
    ids = iter(["ask_0000000000aa777777", "ask_0000000000bb777777"])
    monkeypatch.setattr("assent.client.calls.new_ask_id", lambda: next(ids))
    meant = ask(call)
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    monkeypatch.chdir(hostile)
    near = ask(
        call, "Drop everything?", "-o", "PostgreSQL", "--store", f"sqlite:///{hostile}/.assent/assent.db"
    )
    refused = call("answer", "777777", "PostgreSQL")
    assert (refused.status, refused.out) == (1, "")
    assert meant in refused.err
    assert near in refused.err
    assert call("answer", "777777", "PostgreSQL", "--project", "shop").status == 0
    assert call("show", near, "--json").json["state"] == "open"


DESTRUCTIVE = {
    "title": "What about the table?",
    "fields": [{"options": ["Keep it", {"label": "Drop it", "destructive": True}]}],
}


@pytest.fixture
def grave(shell: Shell) -> str:
    """Return the id of an open ask with an option that cannot be undone."""
    (shell.folder / "round.json").write_text(json.dumps(DESTRUCTIVE))
    return shell.open("--file", "round.json")


def test_destructive_answer_without_a_terminal_takes_the_flag(shell: Shell, grave: str) -> None:
    """Nothing changes without it; the sentence names the option and the flag. What can be undone needs none."""
    refused = shell.run("answer", grave, "Drop it")
    assert (refused.status, refused.out) == (2, "")
    assert (
        refused.err == '"Drop it" cannot be undone. --confirm says that you mean it. Nothing was changed.\n'
    )
    assert shell.ask(grave).is_open
    assert shell.run("answer", grave, "Drop it", "--confirm").status == 0


@pytest.mark.parametrize(
    ("typed", "status"), [("y", 0), ("YES", 0), ("n", 3), ("", 3), ("yes please", 3), ("Drop it", 3)]
)
def test_destructive_answer_at_a_terminal_is_asked_once_more(
    shell: Shell, grave: str, typed: str, status: int
) -> None:
    """Only y or yes is a yes."""
    with Terminal(shell, "answer", grave, "2") as terminal:
        terminal.until('"Drop it" cannot be undone. Proceed? [y/n]')
        assert shell.ask(grave).is_open
        terminal.type(f"{typed}\r")
        assert terminal.end().status == status
    assert shell.ask(grave).is_open == bool(status)


def test_irreversible_approval_shows_its_action_and_is_asked_once_more(shell: Shell) -> None:
    """At a terminal; and elsewhere it takes the flag."""
    (shell.folder / "plan.json").write_text('{"drop": "users"}')
    asked = ("Drop users", "--action", "plan.json", "--risk", "irreversible", "--wait", "0")
    shell.run("approve", *asked)
    ask_id = shell.only_open().ask_id
    refused = shell.run("answer", ask_id, "Approve", "--unattended")
    assert (refused.status, "--confirm says that you mean it" in refused.err) == (2, True)
    with Terminal(shell, "answer", ask_id, "Approve") as terminal:
        terminal.until("What you approve is irreversible. Proceed? [y/n]")
        assert 'Action: {"drop":"users"}' in "\n".join(terminal.screen())
        terminal.type("y\r")
        assert terminal.end().status == 0
    assert shell.ask(ask_id).answer is not None


def test_no_to_an_approval_carries_its_words(shell: Shell) -> None:
    """By the option, or typed behind the label; with anything but a no, words are refused."""
    for reply in (("Reject", "--reason", "not on a Friday"), ("reject: not on a Friday",)):
        (shell.folder / "plan.json").write_text(
            json.dumps({"drop": reply[0]})
        )  # each no is to another action
        shell.run("approve", "Drop users", "--action", "plan.json", "--wait", "0")
        ask_id = shell.only_open().ask_id
        assert shell.run("answer", ask_id, "Approve", "--reason", "why not", "--unattended").status == 2
        said = shell.run("answer", ask_id, *reply, "--unattended")
        assert (said.status, said.out.splitlines()[0]) == (0, 'ana answered: "Reject": "not on a Friday"')
        answer = shell.ask(ask_id).answer
        assert answer is not None
        assert (answer.values, answer.reason) == ({"approve": ("Reject",)}, "not on a Friday")
    assert 'Reject: "not on a Friday" (cli, declared, unattended)' in shell.run("log").out


def test_claim_is_shown_to_others_and_stops_nobody(call: Call, shell: Shell) -> None:
    """A courtesy."""
    ask_id = ask(call)
    assert call("claim", ask_id).out == f"ana is on {ask_id[-6:]}\n"
    assert "ana is on it since" in call("inbox").out
    assert "ana is on it since" in call("show", ask_id).out
    assert shell.answer(ask_id, "1", "sam").answer is not None
    assert call("claim", ask_id).status == 6


def test_withdraw_ends_an_open_ask_and_never_an_answered_one(call: Call) -> None:
    """Taken back with its reason; too late is status 6."""
    ask_id = ask(call)
    assert call("withdraw", ask_id, "--reason", "not needed").out == f"ana took {ask_id[-6:]} back\n"
    assert call("show", ask_id, "--json").json["outcome"]["reason"] == "not needed"
    answered = ask(call)
    call("answer", answered, "1")
    assert call("withdraw", answered).status == 6
