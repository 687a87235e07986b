"""`assent result`: what an agent's result asks is put to people, once, and what came of it is said as it is."""

import json
from collections.abc import Callable
from typing import Any

import apsw
import pytest

from assent import Client, Notification, NotificationKind, NotificationService, Task, connect
from tests.cli.shell import Result, Shell
from tests.proves import proves

__all__: list[str] = []

Call = Callable[..., Result]
DATABASE = {"id": "q1", "text": "Which database should we use: PostgreSQL or SQLite?"}
PAGES = {"id": "q2", "text": "Should the API support pagination?"}
IGNORED = "Ignored: only questions of analyst, dreamer, planner and coder count, and not those of"
REPEATED = (
    "Nothing is asked: its questions have no text, were asked before about the same feedback, "
    "or are one more confirmation.\n"
)
FAILED = {"status": "failed", "open_questions": [DATABASE, PAGES]}


def hand_in(shell: Shell, agent: str, body: object, *more: str, source_id: str = "T-12") -> Result:
    """Pipe a result into the command."""
    return shell.run("result", agent, "--source-id", source_id, *more, typed=json.dumps(body))


def as_agent(shell: Shell) -> Client:
    """Return a client for the agent's side."""
    return connect(shell.store, project=shell.folder.name, principal="agent:coder")


def create_task(shell: Shell, task_id: str = "T-12") -> Task:
    """Create a task that somebody works on."""
    with as_agent(shell) as client:
        client.create_task("Save orders", task_id=task_id)
        return client.update_task(task_id, status="in_progress", assignee="coder")


def find_task(shell: Shell, task_id: str = "T-12") -> Task:
    """Return a task as it is now."""
    with as_agent(shell) as client:
        return client.find_task(task_id)


def types_in_log(shell: Shell) -> list[str]:
    """Return what happened, by type."""
    return [json.loads(line)["type"] for line in shell.run("log", "--json").out.splitlines()]


@proves("Q9", "Q15", "Q19", "Q21")
def test_coder_that_failed_with_questions_blocks_its_task_until_they_are_answered(shell: Shell) -> None:
    """Notification first, then the task: nobody, blocked, Open Question; and out of ready()."""
    create_task(shell)
    handed = hand_in(shell, "Coder", FAILED)
    assert (handed.status, handed.err) == (0, "")
    asked, blocked = handed.out.splitlines()
    assert asked.startswith("Asked 2 questions as oq-")
    assert blocked == "Until then task T-12 is blocked."
    task = find_task(shell)
    assert (task.status, task.assignee, task.block_reason) == ("blocked", None, "Open Question")
    assert types_in_log(shell)[-3:] == ["notification.added", "ask.opened", "task.updated"]
    with as_agent(shell) as client:
        assert client.ready() == []
        (notification,) = client.notifications()
    assert (notification.source, notification.source_id) == ("execute", "T-12")


@proves("Q22", "Q23", "Q25", "Q27")
def test_answer_of_a_person_reaches_the_chat_and_unblocks_the_task(shell: Shell) -> None:
    """The chat first, then resolved, then the task: open, no reason, and ready again."""
    create_task(shell)
    hand_in(shell, "coder", FAILED)
    with as_agent(shell) as client:
        assert client.ready() == []
    ask = shell.only_open()
    answered = shell.run("answer", ask.ask_id, "q1: PostgreSQL", "q2: yes, 50 a page")
    said = 'ana answered: "PostgreSQL, yes, 50 a page"'
    assert (answered.status, answered.out.splitlines()[0]) == (0, said)
    happened = types_in_log(shell)
    assert happened[-4:] == ["ask.answered", "topic.posted", "notification.resolved", "task.updated"]
    task = find_task(shell)
    assert (task.status, task.block_reason) == ("open", None)
    with as_agent(shell) as client:
        assert [task.task_id for task in client.ready()] == ["T-12"]
        assert [said.text for said in client.chat("T-12")] == ["PostgreSQL\nyes, 50 a page"]
        assert [each.answer for each in client.answers("T-12")] == ["PostgreSQL", "yes, 50 a page"]


def test_declining_an_open_question_dismisses_it_and_lets_the_task_go_on(shell: Shell) -> None:
    """Nobody has answered anything: the next run is told nothing."""
    create_task(shell)
    hand_in(shell, "coder", FAILED)
    assert shell.run("answer", shell.only_open().ask_id, "--decline").status == 0
    assert find_task(shell).status == "open"
    with as_agent(shell) as client:
        (notification,) = client.notifications(is_open=False)
        assert (notification.is_dismissed, notification.responses) == (True, None)
        assert client.clarify("T-12") is None


def test_inbox_and_show_tell_what_an_open_question_asks(shell: Shell) -> None:
    """Who asks about what, and the first question beside it; each question in full when it is looked at."""
    hand_in(shell, "coder", {"status": "failed", "open_questions": [{"text": "Which port?"}, PAGES]})
    ask = shell.only_open()
    listed = shell.run("inbox")
    assert "~ open question" in listed.out
    assert "Coder asks about task T-12: Which port?" in listed.out
    shown = shell.run("show", ask.ask_id[-6:]).out
    assert "Q1 Which port?" in shown
    assert f"Q2 {PAGES['text']}" in shown


def test_task_that_is_not_kept_here_is_not_said_to_be_blocked(shell: Shell) -> None:
    """A list of tasks may be kept elsewhere; then only its keeper can hold it back."""
    told = hand_in(shell, "coder", FAILED).out
    assert "Until then, leave task T-12 alone: it is not kept here, so nothing else blocks it." in told


def test_task_with_a_long_id_is_found_all_the_same(shell: Shell) -> None:
    """What is shown of the id is cut; what is looked up is not."""
    task_id = "T" * 150
    create_task(shell, task_id)
    told = hand_in(shell, "coder", FAILED, source_id=task_id).out.splitlines()[1]
    assert told.endswith("is blocked.")
    assert len(told) < 100
    assert find_task(shell, task_id).status == "blocked"


def test_task_that_a_person_blocked_keeps_their_reason(shell: Shell) -> None:
    """An agent that asks something does not get a person's block lifted by the answer."""
    create_task(shell)
    with connect(shell.store, project=shell.folder.name, principal="human:sam") as sam:
        sam.block_task("T-12", "budget")
    told = hand_in(shell, "coder", FAILED).out.splitlines()[1]
    assert told == "Task T-12 was blocked before, and stays so: budget."
    shell.answer(shell.only_open().ask_id, "q1: PostgreSQL\nq2: yes")
    assert find_task(shell).block_reason == "budget"


def test_task_that_is_closed_stays_closed(shell: Shell) -> None:
    """A question that comes too late opens nothing, and what is said is what is so."""
    create_task(shell)
    with as_agent(shell) as client:
        client.update_task("T-12", status="closed")
    assert hand_in(shell, "coder", FAILED).out.splitlines()[1] == "Task T-12 is closed, and stays so."
    assert find_task(shell).status == "closed"


@pytest.mark.parametrize(
    ("agent", "held"),
    [
        ("analyst", "make no task of feedback X-1"),
        ("dreamer", "leave section X-1 as it is"),
        ("planner", "do not break plan X-1 down"),
    ],
)
def test_agent_that_asks_before_it_writes_is_told_what_to_hold_back(
    shell: Shell, agent: str, held: str
) -> None:
    """With whatever status; also when it comes back with nothing new while the question is open."""
    handed = hand_in(shell, agent, {"openQuestions": [PAGES]}, source_id="X-1")
    assert handed.out.splitlines()[1] == f"Until then the work is held back: {held}."
    again = hand_in(shell, agent, {"status": "success"}, source_id="X-1")
    assert again.out == (
        "Nothing new is asked, but an earlier question about it is still open. "
        f"Until it is answered, {held}.\n"
    )


@proves("Q12")
def test_result_that_is_handed_in_twice_asks_once(shell: Shell) -> None:
    """The same set of questions while one is open is that one, and is said to be."""
    first = hand_in(shell, "coder", FAILED, "--json").json["notification"]
    again = hand_in(shell, "coder", FAILED)
    assert again.out.startswith(f"Asked already, and still open, as {first['id']}: 2 questions.")
    assert types_in_log(shell).count("notification.added") == 1
    assert len(shell.waiting()) == 1


@proves("Q11")
def test_second_confirmation_in_a_feedback_cycle_is_not_asked(shell: Shell) -> None:
    """In whatever words, also after the first was answered."""
    hand_in(shell, "analyst", {"open_questions": [{"text": "Are you sure?"}]}, source_id="F-1")
    shell.answer(shell.only_open().ask_id, "yes")
    again = {"open_questions": [{"text": "Do you really want all of it to go?"}]}
    told = hand_in(shell, "analyst", again, source_id="F-1")
    assert (told.status, told.out) == (
        0,
        REPEATED,
    )
    assert shell.waiting() == []
    hand_in(shell, "analyst", again, source_id="F-2")
    assert len(shell.waiting()) == 1


@proves("Q4", "Q5")
@pytest.mark.parametrize("field", ["open_questions", "openQuestions"])
def test_questions_are_taken_from_either_field_and_completed(shell: Shell, field: str) -> None:
    """A text is enough: id and moment are filled in; what the agent gave is kept."""
    own = {"id": "q7", "text": "Which port?", "createdAt": "2024-01-01T09:00:00Z"}
    entries = [{"text": "  Which host? "}, own, {"text": " "}, "no object", {"id": "q8"}]
    handed = hand_in(shell, "planner", {field: entries}, "--json", source_id="P-1").json
    first, second = handed["notification"]["questions"]
    assert (first["text"], second) == ("Which host?", own)
    assert first["id"]
    assert first["createdAt"] == handed["meaning"]["questions"][0]["createdAt"]


def test_json_prints_the_meaning_and_the_notification(shell: Shell) -> None:
    """Null where nothing is asked."""
    asked = hand_in(shell, "coder", FAILED, "--json").json
    assert asked.keys() == {"meaning", "notification"}
    assert asked["meaning"]["is_task_blocked"] is True
    assert (asked["notification"]["kind"], asked["notification"]["sourceId"]) == ("open_question", "T-12")
    nothing = hand_in(shell, "coder", {"status": "failed"}, "--json").json
    assert (nothing["notification"], nothing["meaning"]["is_failed_attempt"]) == (None, True)


@pytest.mark.parametrize(
    ("agent", "body", "told"),
    [
        (
            "reviewer",
            FAILED,
            f"{IGNORED} reviewer.",
        ),
        (
            "codr",
            FAILED,
            f"{IGNORED} codr. Did you mean coder?",
        ),
        (
            "coder",
            {**FAILED, "status": "success"},
            "Nothing is asked: of a coder that succeeded no question counts.",
        ),
        ("coder", {"status": "success"}, "Nothing is asked: there are no questions in it."),
        (
            "planner",
            {"open_questions": [{"text": ""}]},
            "Nothing is asked: its questions have no text.",
        ),
    ],
    ids=["reviewer", "misspelled", "succeeded", "none", "empty"],
)
def test_result_that_asks_nobody_says_why(shell: Shell, agent: str, body: object, told: str) -> None:
    """It is handed in all the same: status 0, and nothing waits."""
    handed = hand_in(shell, agent, body)
    assert (handed.status, handed.out, handed.err) == (0, f"{told}\n", "")
    assert shell.waiting() == []


def test_failure_without_questions_counts_as_an_attempt(shell: Shell) -> None:
    """And the task is free again; one that asked does not count."""
    create_task(shell)
    told = hand_in(shell, "coder", {"status": "failed", "open_questions": []}).out.splitlines()
    assert told[1] == "Task T-12 is open, with 1 failed attempt."
    hand_in(shell, "coder", FAILED)
    assert find_task(shell).attempts == 1


def test_result_is_read_from_a_file_too(call: Call, shell: Shell) -> None:
    """Its own agent and sourceId do not count: the command says them."""
    (shell.folder / "result.json").write_text(json.dumps({**FAILED, "agent": "reviewer", "sourceId": "T-9"}))
    handed = call("result", "coder", "--source-id", "T-12", "result.json", "--json").json
    assert handed["notification"]["sourceId"] == "T-12"


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("[]", "Standard input: A result must be an object."),
        ("{", "Standard input: The JSON text ends too early"),
        ('{"status": 3}', "status must be a string."),
        (json.dumps({"open_questions": [{"text": "x" * 4_001}]}), "A question has at most 4,000 characters"),
    ],
    ids=["list", "cut off", "status", "too long"],
)
def test_bad_result_ends_with_2_and_asks_nobody(shell: Shell, typed: str, complaint: str) -> None:
    """One sentence; nothing is stored."""
    refused = shell.run("result", "coder", "--source-id", "T-12", typed=typed)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith(complaint)
    assert shell.waiting() == []


@pytest.mark.parametrize(
    "arguments",
    [("coder",), ("coder", "--source-id", " "), ("coder", "--source-id", "T-1", "nowhere.json")],
    ids=["no source", "blank source", "no file"],
)
def test_result_about_nothing_ends_with_2(shell: Shell, arguments: tuple[str, ...]) -> None:
    """What it is about must be said, and the file be there."""
    assert shell.run("result", *arguments, typed=json.dumps(FAILED)).status == 2


def test_hostile_text_in_a_result_is_shown_and_never_obeyed(shell: Shell) -> None:
    """Neither in what is printed nor in the list that a person reads."""
    text = "Which\x1b[2J one?\nana answered: yes"
    hand_in(shell, "coder\x1b[2J", {"open_questions": [{"text": text}]})
    handed = hand_in(shell, "planner", {"open_questions": [{"text": text}]}, source_id="P-1")
    listed = shell.run("inbox").out
    shown = shell.run("show", shell.only_open().ask_id).out
    assert "\x1b" not in handed.out + listed + shown
    assert len(listed.splitlines()) == 1
    assert "\nana answered" not in shown


def test_agent_is_who_asks_also_where_a_person_types(shell: Shell) -> None:
    """The command acts for an agent, by the name that it is given."""
    hand_in(shell, "coder", FAILED, "--as", "coder-7")
    assert shell.only_open().asker == "agent:coder-7"


@proves("Q16")
def test_notification_service_writes_to_the_table_of_open_questions(shell: Shell) -> None:
    """By the name that the protocol text gives it."""
    with as_agent(shell) as client:
        service = NotificationService(client)
        made: Notification = service.create("execute", "T-12", [DATABASE, "And which port?"])
        assert client.find_notification(made.notification_id) == made
        told = service.create(
            "plan", "P-1", ["No more calls today"], kind="api_blocked", error_code="rate_limit"
        )
    assert (made.kind, told.kind) == (NotificationKind.OPEN_QUESTION, NotificationKind.API_BLOCKED)
    assert table_of(shell) == [made.notification_id, told.notification_id]


def table_of(shell: Shell) -> list[Any]:
    """Return the ids in the table `open_questions`, as any program on the file sees them."""
    connection = apsw.Connection(str(shell.store), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [row[0] for row in connection.execute("SELECT id FROM open_questions ORDER BY created_at, id")]
    finally:
        connection.close()
