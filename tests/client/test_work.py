"""Open questions through both clients: what an agent asks, how it stops its task, and how an answer lets it go on."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from assent.client.client import Client
from assent.protocol.error import BadRequestError, CommandReusedError, ConflictError, NotFoundError, StillOpen
from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationKind, Source
from assent.protocol.principal import Assurance
from assent.protocol.task import OPEN_QUESTION_REASON, TaskStatus
from tests.client.both import Clients, only_on_a_file, only_once
from tests.proves import proves
from tests.work_samples import DATABASE, PAGES, asking, happened

__all__: list[str] = []

SOURCES = {
    "Analyst": ("eval", "feedback-7"),
    "Dreamer": ("prd", "goals.scope"),
    "Planner": ("plan", "draft:plan-2"),
    "Coder": ("execute", "task-1"),
}


# Results


@proves("Q1", "Q2", "Q6", "Q7", "Q8", "Q9")
@pytest.mark.parametrize("agent", SOURCES)
def test_each_of_the_four_agents_asks_about_its_own_source(clients: Clients, agent: str) -> None:
    """Part 5's table; people find it among the notifications and, as an ask, in the inbox."""
    source, about = SOURCES[agent]
    handed = clients.agent().hand_in(asking(DATABASE, PAGES, agent=agent, about=about))
    [told] = clients.person().notifications()
    assert told == handed.notification
    assert (told.source, told.source_id, told.kind) == (source, about, NotificationKind.OPEN_QUESTION)
    assert [question.text for question in told.questions] == [DATABASE, PAGES]
    [ask] = clients.person().inbox()
    assert ask.ask_id == told.ask_id
    assert [field.text for field in ask.prompt.fields] == [DATABASE, PAGES]
    assert agent in ask.prompt.title
    assert about in ask.prompt.title


@proves("Q13")
@pytest.mark.parametrize(("reply", "answer"), [("b", "SQLite"), ("neither: a file", "neither: a file")])
def test_trade_off_question_is_put_with_options_and_their_pros_and_cons(
    clients: Clients, reply: str, answer: str
) -> None:
    """A person chooses by letter or says it in other words; the agent's next run is told what was chosen."""
    agent, ana = clients.agent(), clients.person()
    agent.create_task("Login", task_id="task-1")
    options = [
        {"label": "PostgreSQL", "pros": ["many writers"], "cons": ["a server to run"]},
        {"label": "SQLite", "pros": ["one file"], "cons": ["one writer"]},
    ]
    agent.hand_in(asking(open_questions=[{"id": "db", "text": "Which database?", "options": options}]))
    [ask] = ana.inbox()
    [field] = ask.prompt.fields
    assert [option.label for option in field.options] == ["PostgreSQL", "SQLite"]
    assert field.options[1].description == "Pros: one file. Cons: one writer."
    ana.answer(ask.ask_id, reply)
    [told] = agent.notifications(is_open=False)
    assert [response.answer for response in told.responses or ()] == [answer]
    assert agent.clarify("task-1") == answer
    assert agent.find_task("task-1").status is TaskStatus.OPEN


@pytest.mark.parametrize("agent", ["Reviewer", "reviewer", "Tester"])
def test_questions_of_anybody_else_are_not_asked(clients: Clients, agent: str) -> None:
    """Q-X16: the Reviewer is no source."""
    client = clients.agent()
    client.create_task("Login", task_id="task-1")
    handed = client.hand_in(asking(DATABASE, agent=agent))
    assert handed.notification is None
    assert handed.meaning.questions == ()
    assert client.notifications() == []
    assert client.find_task("task-1").status is TaskStatus.OPEN
    assert happened(clients.store.agent()) == ["task.created"]


@proves("Q4")
@pytest.mark.parametrize("name", ["open_questions", "openQuestions"])
def test_both_names_of_the_field_are_read(clients: Clients, name: str) -> None:
    """Whichever an agent writes."""
    body: dict[str, Any] = {"agent": "Coder", "sourceId": "t", name: [{"text": DATABASE}]}
    told = clients.agent().hand_in(body).notification
    assert told is not None
    assert [question.text for question in told.questions] == [DATABASE]


def test_names_of_the_field_are_never_merged(clients: Clients) -> None:
    """Q-X2: the first that has a valid entry."""
    both: Any = {"openQuestions": [{"text": PAGES}]}
    told = clients.agent().hand_in(asking(DATABASE, **both)).notification
    other = clients.agent().hand_in(asking("", about="t2", **both)).notification
    assert told is not None
    assert other is not None
    assert [question.text for question in told.questions] == [DATABASE]
    assert [question.text for question in other.questions] == [PAGES]


@proves("Q5")
def test_what_a_question_lacks_is_filled_in_and_what_it_has_is_kept(clients: Clients) -> None:
    """Q5 with Q-X3: ids and moments."""
    entries = [
        {"text": f"  {DATABASE} "},
        {"id": "pages", "text": PAGES, "createdAt": "2024-05-01T10:00:00Z"},
        {"id": "pages", "text": "And sorting?", "createdAt": "yesterday"},
        {"id": "no-text"},
    ]
    told = clients.agent().hand_in(asking(open_questions=entries)).notification
    assert told is not None
    first, second, third = told.questions
    assert first.text == DATABASE
    assert first.question_id
    assert second.question_id == "pages"
    assert second.created_at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert len({question.question_id for question in told.questions}) == 3
    assert clients.store.clock is not None
    assert {first.created_at, third.created_at} == {clients.store.clock.at}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"agent": "Coder"}, id="no source"),
        pytest.param({"agent": 7, "sourceId": "t"}, id="agent is a number"),
        pytest.param(asking(DATABASE, about=" "), id="blank source"),
    ],
)
def test_what_is_no_result_is_refused_and_leaves_nothing(clients: Clients, body: dict[str, Any]) -> None:
    """A door for agents gets anything."""
    with pytest.raises(BadRequestError):
        clients.agent().hand_in(body)
    assert happened(clients.store.agent()) == []


@pytest.mark.parametrize("questions", [[], [{"id": "q"}, 7, {"text": " "}], "no list"])
def test_failure_without_a_valid_question_is_an_ordinary_failure(clients: Clients, questions: Any) -> None:
    """Q-U6: the attempt counts, and nothing is blocked."""
    client = clients.agent()
    client.create_task("Login", task_id="task-1", assignee="coder")
    handed = client.hand_in(asking(open_questions=questions))
    task = client.find_task("task-1")
    assert (handed.notification, handed.meaning.is_failed_attempt) == (None, True)
    assert (task.status, task.attempts, task.assignee) == (TaskStatus.OPEN, 1, None)


def test_questions_beside_a_success_are_ignored(clients: Clients) -> None:
    """Q-X17: the pair of status and questions decides."""
    client = clients.agent()
    client.create_task("Login", task_id="task-1")
    assert client.hand_in(asking(DATABASE, status="success")).notification is None
    assert client.find_task("task-1").status is TaskStatus.OPEN


@pytest.mark.parametrize(
    "text", ["\x1b[31mred\x1b[0m", "\u202eevil", "q1: a\nq2: b", "<!-- x -->", "a\tb", "x" * 4_000]
)
def test_hostile_text_is_asked_and_answered_like_any_other(clients: Clients, text: str) -> None:
    """Agents write it; it is kept as it is, and only surfaces make it safe to see."""
    told = clients.agent().hand_in(asking(text, PAGES)).notification
    assert told is not None
    resolved = clients.person().resolve(told.notification_id, "fine")
    assert resolved.questions[0].text == text
    assert clients.store.person().verify().problems == ()


# The Coder's flow


@proves("Q15", "Q19", "Q21", "Q22")
def test_coder_that_asks_stops_its_task_until_the_answer(clients: Clients) -> None:
    """Nobody has it, it says why, and the list of what can be done does not."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1", assignee="coder")
    client.update_task("task-1", status="in_progress")
    told = client.hand_in(asking(DATABASE, PAGES)).notification
    assert told is not None
    task = client.find_task("task-1")
    assert (told.source, told.source_id) == (Source.EXECUTE, "task-1")
    assert (task.status, task.assignee, task.block_reason) == (TaskStatus.BLOCKED, None, "Open Question")
    assert task.attempts == 0
    assert client.ready() == []
    person.resolve(told.notification_id, "SQLite, and no.")
    assert [task.task_id for task in client.ready()] == ["task-1"]


def test_task_that_nobody_keeps_here_may_still_ask(clients: Clients) -> None:
    """The list of tasks may be kept elsewhere; its chat has the answer all the same."""
    told = clients.agent().hand_in(asking(DATABASE, about="elsewhere-1")).notification
    assert told is not None
    clients.person().resolve(told.notification_id, "SQLite")
    assert clients.agent().clarify("elsewhere-1") == "SQLite"
    assert "task.updated" not in happened(clients.store.agent())


# The answer


@proves("Q23", "Q25", "Q27")
@pytest.mark.parametrize("way", ["resolve", "answer"])
def test_answer_reaches_the_chat_and_the_task_goes_on(clients: Clients, way: str) -> None:
    """Whether a person resolves the notification or answers the ask: one act, the same end."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    assert told.ask_id is not None
    if way == "resolve":
        person.resolve(told.notification_id, "SQLite")
    else:
        person.answer(told.ask_id, "SQLite")
    kept, ask = client.find_notification(told.notification_id), client.show(told.ask_id)
    assert (kept.status, kept.resolved_by, kept.is_dismissed) == ("resolved", "human:ana", False)
    assert [response.answer for response in kept.responses or ()] == ["SQLite"]
    assert ask.answer is not None
    assert ask.answer.by == "human:ana"
    assert [(message.by, message.text) for message in client.chat("task-1")] == [("human:ana", "SQLite")]
    task = client.find_task("task-1")
    assert (task.status, task.block_reason) == (TaskStatus.OPEN, None)
    assert [task.task_id for task in client.ready()] == ["task-1"]
    assert client.clarify("task-1") == "SQLite"


def test_answers_one_by_one_come_back_to_their_questions(clients: Clients) -> None:
    """In whichever order they were given; the chat has them in the order of the questions."""
    told = clients.agent().hand_in(asking(DATABASE, PAGES)).notification
    assert told is not None
    first, second = told.questions
    responses = [
        {"questionId": second.question_id, "answer": "Yes."},
        {"questionId": first.question_id, "answer": "SQLite"},
    ]
    kept = clients.person().resolve(told.notification_id, {"responses": responses})
    assert [(each.question_id, each.answer) for each in kept.responses or ()] == [
        (first.question_id, "SQLite"),
        (second.question_id, "Yes."),
    ]
    assert [message.text for message in clients.agent().chat("task-1")] == ["SQLite\nYes."]
    assert [(each.question_id, each.answer) for each in clients.agent().answers("task-1")] == [
        (first.question_id, "SQLite"),
        (second.question_id, "Yes."),
    ]


def test_answers_given_to_the_ask_come_back_to_their_questions(clients: Clients) -> None:
    """An inbox knows fields, and the project knows questions."""
    told = clients.agent().hand_in(asking(DATABASE, PAGES)).notification
    assert told is not None
    assert told.ask_id is not None
    clients.person().answer(told.ask_id, "q1: SQLite\nq2: Yes.")
    kept = clients.agent().find_notification(told.notification_id)
    assert [each.answer for each in kept.responses or ()] == ["SQLite", "Yes."]


def test_one_text_answers_every_question_and_is_said_once(clients: Clients) -> None:
    """Q-U9."""
    told = clients.agent().hand_in(asking(DATABASE, PAGES)).notification
    assert told is not None
    kept = clients.person().resolve(told.notification_id, "Whatever is simple.")
    assert [each.answer for each in kept.responses or ()] == ["Whatever is simple."] * 2
    assert [message.text for message in clients.agent().chat("task-1")] == ["Whatever is simple."]


@pytest.mark.parametrize("answer", ["", " \n", {"responses": []}, {"answer": "typo"}, {"approved": True}])
def test_answer_that_says_nothing_or_does_not_fit_changes_nothing(clients: Clients, answer: Any) -> None:
    """Decided rule 6: an empty form is no answer, and a misspelled one is no dismissal."""
    client = clients.agent()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    with pytest.raises(BadRequestError):
        clients.person().resolve(told.notification_id, answer)
    assert client.find_notification(told.notification_id).is_open
    assert client.find_task("task-1").status is TaskStatus.BLOCKED
    assert client.chat("task-1") == []


def test_answer_that_stands_in_the_chat_already_is_not_said_again(clients: Clients) -> None:
    """Q-X11: who sends it to the chat and then resolves has said it once; so has who tries twice."""
    told = clients.agent().hand_in(asking(DATABASE)).notification
    assert told is not None
    clients.person().post("execute:task-1", {"text": "SQLite", "notificationId": told.notification_id})
    for _ in range(2):
        clients.person().resolve(told.notification_id, "SQLite", command_id="cmd_once")
    assert [message.text for message in clients.agent().chat("task-1")] == ["SQLite"]


def test_same_words_of_somebody_else_in_the_chat_are_not_the_answer(clients: Clients) -> None:
    """Twin: the chat has the answer of the person who gave it, whoever said the same before."""
    told = clients.agent().hand_in(asking(DATABASE)).notification
    assert told is not None
    clients.person("bob").post("execute:task-1", {"text": "SQLite", "notificationId": told.notification_id})
    clients.person().resolve(told.notification_id, "SQLite")
    assert [(line.by, line.is_copy) for line in clients.agent().chat("task-1")] == [
        ("human:bob", False),
        ("human:ana", True),
    ]


@only_once
def test_answer_is_the_clarification_however_much_is_written_in_the_chat(clients: Clients) -> None:
    """A chat that an agent floods hides nothing; and a line that answers nothing changes no answer."""
    told = clients.agent().hand_in(asking(DATABASE)).notification
    assert told is not None
    client = clients.agent()
    for number in range(1_001):
        client.post("execute:task-1", {"text": f"Use MySQL {number}"})
    clients.person().resolve(told.notification_id, "SQLite")
    assert client.clarify("task-1") == "SQLite"
    clients.person("bob").post("execute:task-1", "yes, the blue one")
    assert client.clarify("task-1") == "SQLite"


def test_word_of_a_person_is_the_clarification_where_nothing_was_asked(clients: Clients) -> None:
    """Q-U9: the last one, and nothing of an agent's own."""
    client = clients.agent()
    for text in ("SQLite", "Rather PostgreSQL"):
        clients.person().post("execute:task-1", text)
    client.post("execute:task-1", "Use MySQL after all")
    assert client.clarify("task-1") == "Rather PostgreSQL"
    assert client.answers("task-1") == []


def test_task_that_was_never_asked_about_has_no_clarification(clients: Clients) -> None:
    """Nothing was said."""
    assert clients.agent().clarify("task-1") is None


# Twice


def test_resolving_again_with_the_same_words_changes_nothing(clients: Clients) -> None:
    """Q-X6: also by somebody else, also without words."""
    person = clients.person()
    told = clients.agent().hand_in(asking(DATABASE)).notification
    assert told is not None
    kept = person.resolve(told.notification_id, "SQLite")
    before = happened(clients.store.agent())
    assert clients.person("bob").resolve(told.notification_id, "SQLite") == kept
    assert clients.person("bob").dismiss(told.notification_id) == kept
    assert happened(clients.store.agent()) == before


def test_resolving_again_with_other_words_names_the_winner(clients: Clients) -> None:
    """Decided rule 7, and nothing is changed."""
    told = clients.agent().hand_in(asking(DATABASE)).notification
    assert told is not None
    kept = clients.person().resolve(told.notification_id, "SQLite")
    with pytest.raises(ConflictError, match=r'ana answered at .*: "SQLite"'):
        clients.person("bob").resolve(told.notification_id, "MySQL")
    assert clients.agent().find_notification(told.notification_id) == kept


def test_second_resolve_does_not_unblock_for_a_newer_question(clients: Clients) -> None:
    """Q-X6's reason."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    first = client.hand_in(asking(DATABASE)).notification
    assert first is not None
    person.resolve(first.notification_id, "SQLite")
    client.hand_in(asking(PAGES))
    person.resolve(first.notification_id, "SQLite")
    assert client.find_task("task-1").status is TaskStatus.BLOCKED


def test_task_with_several_questions_waits_for_the_last(clients: Clients) -> None:
    """Q-X7, and a notification of another kind does not hold it (Q-X8)."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    first, second = (client.hand_in(asking(text)).notification for text in (DATABASE, PAGES))
    client.add_notification(
        "execute", "task-1", ["No more tokens"], kind="api_blocked", error_code="rate_limit"
    )
    assert first is not None
    assert second is not None
    assert person.count_notifications() == 3
    person.resolve(second.notification_id, "Yes.")
    assert client.find_task("task-1").status is TaskStatus.BLOCKED
    person.resolve(first.notification_id, "SQLite")
    assert client.find_task("task-1").status is TaskStatus.OPEN
    assert person.count_notifications() == 1


def test_only_a_block_for_an_open_question_is_lifted(clients: Clients) -> None:
    """Q-X8: what a person stopped for another reason stays so, whatever is answered."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    person.block_task("task-1", "Waiting for the lawyers")
    before = len(happened(clients.store.agent()))
    person.resolve(told.notification_id, "SQLite")
    task = client.find_task("task-1")
    assert (task.status, task.block_reason) == (TaskStatus.BLOCKED, "Waiting for the lawyers")
    assert happened(clients.store.agent(), before) == [
        "ask.answered",
        "topic.posted",
        "notification.resolved",
    ]


def test_other_kinds_do_not_unblock(clients: Clients) -> None:
    """Q-X8: an API that works again answers no question."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    client.hand_in(asking(DATABASE))
    blocked = client.add_notification(
        "execute", "task-1", ["No more tokens"], kind="api_blocked", error_code="rate_limit"
    )
    person.dismiss(blocked.notification_id)
    assert client.find_task("task-1").block_reason == OPEN_QUESTION_REASON


def test_task_that_was_closed_meanwhile_stays_closed(clients: Clients) -> None:
    """Q-X8: the answer is kept, the task is left alone."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    person.update_task("task-1", status="closed")
    assert person.resolve(told.notification_id, "SQLite").status == "resolved"
    assert client.find_task("task-1").status is TaskStatus.CLOSED


# Without an answer


def test_dismissed_question_lets_the_task_go_on_without_a_clarification(clients: Clients) -> None:
    """Q-X12: and it is told apart from an answer."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    kept = person.dismiss(told.notification_id)
    assert (kept.status, kept.is_dismissed, kept.responses) == ("resolved", True, None)
    assert client.find_task("task-1").status is TaskStatus.OPEN
    assert client.chat("task-1") == []
    assert client.clarify("task-1") is None
    assert told.ask_id is not None
    assert client.show(told.ask_id).state == "declined"
    with pytest.raises(ConflictError, match="ana dismissed it"):
        person.resolve(told.notification_id, "SQLite")


DROP = "May I drop the production table users?"
DISMISSALS: dict[str, Callable[[Client, str], object]] = {
    "dismiss": lambda person, told: person.dismiss(told),
    "nothing": lambda person, told: person.resolve(told, {}),
    "said so": lambda person, told: person.resolve(told, {"dismissed": True}),
    "clear": lambda person, _: person.clear_notifications(),
}


@pytest.mark.parametrize("way", DISMISSALS)
def test_dismissing_answers_nothing_whatever_was_said_and_answered_before(clients: Clients, way: str) -> None:
    """Decision 13: the copy of another answer, a line without the id, and another person's are no answer."""
    client, person, bob = clients.agent(), clients.person(), clients.person("bob")
    client.create_task("Login", task_id="task-1")
    person.post("execute:task-1", "yes")
    first, second = (client.hand_in(asking(text)).notification for text in (DATABASE, DROP))
    assert first is not None
    assert second is not None
    assert second.ask_id is not None
    person.resolve(first.notification_id, "yes")
    person.post("execute:task-1", "yes")
    person.post("execute:task-1", {"text": "yes", "notificationId": first.notification_id})
    bob.post("execute:task-1", {"text": "yes", "notificationId": second.notification_id})
    client.post("execute:task-1", {"text": "yes", "notificationId": second.notification_id})
    person.post(
        "execute:task-1",
        {"text": "yes", "notificationId": first.notification_id, "is_copy": False, "by": "human:ana"},
    )
    DISMISSALS[way](person, second.notification_id)
    ask = client.show(second.ask_id)
    assert ask.answer is None
    assert ask.outcome is not None
    assert (ask.outcome.state, ask.outcome.reason, ask.outcome.by) == ("declined", "dismissed", "human:ana")
    assert happened(clients.store.agent()).count("ask.answered") == 1
    assert client.find_notification(second.notification_id).is_dismissed
    assert [(each.text, each.answer, each.state, each.reason) for each in client.answers("task-1")] == [
        (DATABASE, "yes", "answered", ""),
        (DROP, None, "declined", "dismissed"),
    ]
    told = client.clarify("task-1")
    assert told is not None
    assert told.splitlines()[1].endswith(f'"{DROP}" -> no answer (declined)')
    assert client.find_task("task-1").status is TaskStatus.OPEN


def test_reply_in_the_chat_is_the_answer_of_whoever_posted_it(clients: Clients) -> None:
    """Decision 13, the text's own two calls: posted under the notification's id, and resolved by the same person."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE, PAGES)).notification
    assert told is not None
    assert told.ask_id is not None
    person.post("execute:task-1", {"text": "SQLite, no pages", "notificationId": told.notification_id})
    client.post("execute:task-1", {"text": "I would like MySQL", "notificationId": told.notification_id})
    kept = person.resolve(told.notification_id, {})
    assert kept.is_dismissed is False
    assert [each.answer for each in kept.responses or ()] == ["SQLite, no pages"] * 2
    assert [message.text for message in client.chat("task-1")] == ["SQLite, no pages", "I would like MySQL"]
    answer = client.show(told.ask_id).answer
    assert answer is not None
    assert (answer.by, answer.assurance) == ("human:ana", "token" if clients.is_served else "declared")
    assert client.find_task("task-1").status is TaskStatus.OPEN
    assert person.resolve(told.notification_id, {}) == kept


def test_reply_in_the_chat_is_no_answer_where_it_is_dismissed(clients: Clients) -> None:
    """Twin: who says that there is no answer is believed."""
    client, person = clients.agent(), clients.person()
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    person.post("execute:task-1", {"text": "SQLite", "notificationId": told.notification_id})
    assert person.dismiss(told.notification_id).is_dismissed


@only_on_a_file
def test_copy_of_an_answer_is_told_apart_in_the_record(clients: Clients) -> None:
    """It says so beside the message, where nobody who posts can write."""
    told = clients.agent().hand_in(asking(DATABASE)).notification
    assert told is not None
    forged: dict[str, Json] = {"text": "SQLite", "notificationId": told.notification_id, "is_copy": True}
    clients.person().post("execute:task-1", forged)
    clients.person().resolve(told.notification_id, "PostgreSQL")
    posted = [
        json.loads(record.body or b"")
        for record in clients.store.agent().log()
        if record.type == "topic.posted"
    ]
    assert [event.get("is_copy", False) for event in posted] == [False, True]
    assert [line.is_copy for line in clients.agent().chat("task-1")] == [False, True]
    assert clients.store.agent().verify().problems == ()


@pytest.mark.parametrize("ending", ["answered", "declined", "withdrawn"])
def test_every_answer_arrives_with_its_question(clients: Clients, ending: str) -> None:
    """However the last one ends; and two that are the same are two."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    asked = [client.hand_in(asking(text)).notification for text in (DATABASE, PAGES, DROP)]
    notifications = [each for each in asked if each is not None]
    assert len(notifications) == 3
    for each in notifications[:2]:
        person.resolve(each.notification_id, "yes")
    ask_id = notifications[2].ask_id
    assert ask_id is not None
    if ending == "answered":
        person.answer(ask_id, "no")
    elif ending == "declined":
        person.decline(ask_id, "Ask Bob.")
    else:
        client.withdraw(ask_id, "Not needed.")
    last = {"answered": ("no", ""), "declined": (None, "Ask Bob."), "withdrawn": (None, "Not needed.")}
    assert [
        (each.notification_id, each.question_id, each.text, each.answer, each.state, each.reason)
        for each in client.answers("task-1")
    ] == [
        *(
            (
                each.notification_id,
                each.questions[0].question_id,
                each.questions[0].text,
                "yes",
                "answered",
                "",
            )
            for each in notifications[:2]
        ),
        (
            notifications[2].notification_id,
            notifications[2].questions[0].question_id,
            DROP,
            last[ending][0],
            ending,
            last[ending][1],
        ),
    ]
    assert [line.text for line in client.chat("task-1")][:2] == ["yes", "yes"]
    assert client.find_task("task-1").status is TaskStatus.OPEN


def test_word_from_before_the_question_is_no_answer_to_it(clients: Clients) -> None:
    """Twin of the above."""
    client, person = clients.agent(), clients.person()
    person.post("execute:task-1", "Be quick.")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    client.post("execute:task-1", "I would like MySQL")
    assert person.dismiss(told.notification_id).is_dismissed


def test_clearing_dismisses_each_and_leaves_no_task_blocked(clients: Clients) -> None:
    """Q-X13."""
    client, person = clients.agent(), clients.person()
    for number in range(3):
        client.create_task("Login", task_id=f"task-{number}")
        client.hand_in(asking(DATABASE, about=f"task-{number}"))
    assert person.clear_notifications() == 3
    assert person.notifications() == []
    assert all(each.is_dismissed for each in person.notifications(is_open=False))
    assert len(client.ready()) == 3
    assert person.clear_notifications() == 0


def test_task_whose_last_question_is_taken_back_is_open_and_has_no_answer(clients: Clients) -> None:
    """However it was resolved (Q25, Q-X7); the record says that nobody answered."""
    client = clients.agent()
    client.create_task("Login", task_id="task-1")
    told = client.hand_in(asking(DATABASE)).notification
    assert told is not None
    assert told.ask_id is not None
    client.withdraw(told.ask_id)
    kept = client.find_notification(told.notification_id)
    assert (kept.status, kept.is_dismissed) == ("resolved", True)
    assert not kept.resolved_by.startswith("human:")
    assert [task.task_id for task in client.ready()] == ["task-1"]
    assert client.clarify("task-1") is None
    assert [(each.answer, each.state) for each in client.answers("task-1")] == [(None, "withdrawn")]


# Repeats


@proves("Q12")
@pytest.mark.parametrize("agent", SOURCES)
def test_same_questions_while_they_are_open_are_asked_once(clients: Clients, agent: str) -> None:
    """Q-X5 (b): the existing notification, and no second `notification.added`; look and order do not matter."""
    client = clients.agent()
    about = SOURCES[agent][1]
    first = client.hand_in(asking(DATABASE, PAGES, agent=agent, about=about)).notification
    again = client.hand_in(
        asking(f" {PAGES.upper()} ", DATABASE.rstrip("?"), agent=agent, about=about)
    ).notification
    assert first is not None
    assert again == first
    assert happened(clients.store.agent()).count("notification.added") == 1
    assert happened(clients.store.agent()).count("ask.opened") == 1
    assert client.hand_in(asking(DATABASE, PAGES, agent=agent, about="another")).notification != first


def test_coder_may_ask_again_what_was_answered(clients: Clients) -> None:
    """Only a feedback cycle remembers what was asked: another run of a task may need it again."""
    client = clients.agent()
    first = client.hand_in(asking(DATABASE)).notification
    assert first is not None
    clients.person().resolve(first.notification_id, "SQLite")
    again = client.hand_in(asking(DATABASE)).notification
    assert again is not None
    assert again.notification_id != first.notification_id


def feedback(*texts: str, **parts: Any) -> dict[str, Any]:
    """Return the result of an Analyst that asks about one feedback."""
    return asking(*texts, agent="Analyst", about="feedback-7", status="success", **parts)


@proves("Q11")
def test_feedback_cycle_asks_for_one_confirmation(clients: Clients) -> None:
    """Q-X4: also after an answer, and also beside a real question."""
    client, person = clients.agent(), clients.person()
    first = client.hand_in(
        feedback("Are you sure?", "Please confirm that all of it goes.", DATABASE)
    ).notification
    assert first is not None
    assert [question.text for question in first.questions] == ["Are you sure?", DATABASE]
    person.resolve(first.notification_id, "Yes, SQLite.")
    second = client.hand_in(feedback("Do you really want to delete it?", PAGES)).notification
    assert second is not None
    assert [question.text for question in second.questions] == [PAGES]
    person.resolve(second.notification_id, "Yes.")
    last = client.hand_in(feedback("Are you really sure?"))
    assert (last.notification, last.meaning.is_work_held) == (None, False)
    other = client.hand_in({**feedback("Are you sure?"), "sourceId": "feedback-8"}).notification
    assert other is not None


def test_feedback_cycle_asks_nothing_twice(clients: Clients) -> None:
    """Q-X5 (a): what is left after dropping is asked; where nothing is left, nothing is."""
    client, person = clients.agent(), clients.person()
    first = client.hand_in(feedback(DATABASE)).notification
    assert first is not None
    person.resolve(first.notification_id, "SQLite")
    second = client.hand_in(feedback(DATABASE.lower(), PAGES)).notification
    assert second is not None
    assert [question.text for question in second.questions] == [PAGES]
    person.resolve(second.notification_id, "Yes.")
    assert client.hand_in(feedback(DATABASE, PAGES)).notification is None
    assert happened(clients.store.agent()).count("notification.added") == 2


# Work that is held back


@proves("Q10", "Q14")
@pytest.mark.parametrize("agent", ["Analyst", "Dreamer", "Planner"])
def test_work_of_a_result_that_asks_is_held_until_the_answer(clients: Clients, agent: str) -> None:
    """No ticket, no PRD update, no decomposition: also not of a later result, while the question is open (Q-X19)."""
    client = clients.agent()
    about = SOURCES[agent][1]
    silent = asking(agent=agent, about=about, status="success")
    assert not client.hand_in(silent).meaning.is_work_held
    asked = client.hand_in(asking(DATABASE, agent=agent, about=about, status="success"))
    assert asked.meaning.is_work_held
    assert client.hand_in(silent).meaning.is_work_held
    assert asked.notification is not None
    clients.person().resolve(asked.notification.notification_id, "SQLite")
    assert not client.hand_in(silent).meaning.is_work_held
    assert client.tasks() == []


# Retries


def test_result_handed_in_again_under_its_command_finds_what_it_made(clients: Clients) -> None:
    """Also when it was answered in between: nobody is asked twice because a reply was lost."""
    client, person = clients.agent(), clients.person()
    client.create_task("Login", task_id="task-1")
    body = asking(DATABASE, PAGES)
    first = client.hand_in(body, command_id="run-1")
    assert client.hand_in(body, command_id="run-1") == first
    assert first.notification is not None
    kept = person.resolve(first.notification.notification_id, "SQLite")
    before = happened(clients.store.agent())
    again = clients.agent().hand_in(body, command_id="run-1")
    assert again.notification == kept
    assert client.find_task("task-1").status is TaskStatus.OPEN
    assert happened(clients.store.agent()) == before


def test_feedback_handed_in_again_under_its_command_finds_what_was_left_of_it(clients: Clients) -> None:
    """What was dropped then is dropped still."""
    client = clients.agent()
    first = client.hand_in(feedback("Are you sure?")).notification
    assert first is not None
    clients.person().resolve(first.notification_id, "Yes.")
    body = feedback("Are you really sure?", DATABASE)
    second = client.hand_in(body, command_id="run-2")
    assert client.hand_in(body, command_id="run-2") == second
    assert happened(clients.store.agent()).count("notification.added") == 2


def test_command_id_stands_for_one_result(clients: Clients) -> None:
    """Another result under it is refused; the same id of somebody else is another command."""
    client = clients.agent()
    first = client.hand_in(asking(DATABASE), command_id="run-1").notification
    before = happened(clients.store.agent())
    for other in (asking(PAGES), asking(DATABASE, about="task-2"), asking()):
        with pytest.raises(CommandReusedError):
            client.hand_in(other, command_id="run-1")
    assert happened(clients.store.agent()) == before
    assert clients.agent("planner").hand_in(asking(PAGES), command_id="run-1").notification != first
    elsewhere = clients.agent(project="other").hand_in(asking(DATABASE), command_id="run-1").notification
    assert elsewhere is not None
    assert first is not None
    assert elsewhere.ask_id != first.ask_id


def test_failed_attempt_counts_once_under_its_command(clients: Clients) -> None:
    """For the limit of retries."""
    client = clients.agent()
    client.create_task("Login", task_id="task-1")
    for _ in range(3):
        client.hand_in(asking(), command_id="run-1")
    assert client.find_task("task-1").attempts == 1
    client.hand_in(asking(), command_id="run-2")
    assert client.find_task("task-1").attempts == 2


def test_everything_that_is_made_is_made_once_under_its_command(clients: Clients) -> None:
    """A task without an id of its own, a notification, a policy."""
    client = clients.agent()
    tasks = [client.create_task("Login", command_id="cmd_a") for _ in range(2)]
    told = [client.add_notification("plan", "p", [DATABASE], command_id="cmd_b") for _ in range(2)]
    policies = [
        clients.person().set_policy({"scopeChanges": "automated"}, is_unattended=True, command_id="c")
    ]
    clients.person().set_policy({"scopeChanges": "requires_approval"})
    policies += [
        clients.person().set_policy({"scopeChanges": "automated"}, is_unattended=True, command_id="c")
    ]
    assert tasks[0] == tasks[1]
    assert told[0] == told[1]
    assert policies[1].policy.scope_changes == "requires_approval"
    clients.person().dismiss(told[0].notification_id)
    assert not client.add_notification("plan", "p", [DATABASE], command_id="cmd_b").is_open


# Notifications


@pytest.mark.parametrize(
    ("kind", "prefix", "error_code"),
    [
        ("open_question", "oq", None),
        ("api_blocked", "ab", "auth"),
        ("hil_approval", "hil", None),
        ("agent_failed", "af", None),
    ],
    ids=["oq", "ab", "hil", "af"],
)
def test_notification_of_each_kind_is_told_by_its_id(
    clients: Clients, kind: str, prefix: str, error_code: str | None
) -> None:
    """Q-U2, Q-U3; only a question asks."""
    told = clients.agent().add_notification("execute", "t", ["Look."], kind=kind, error_code=error_code)
    assert re.fullmatch(rf"{prefix}-[0-9a-f]{{8}}", told.notification_id)
    assert (told.kind, told.error_code) == (kind, error_code)
    assert len(clients.person().inbox()) == (kind == "open_question")


def test_notifications_are_listed_newest_first_and_by_project(clients: Clients) -> None:
    """Q-U4: the open ones of a project, of all, and how many."""
    first, second = (clients.agent().add_notification("prd", name, ["Look?"]) for name in ("a", "b"))
    other = clients.agent(project="other").add_notification("prd", "c", ["Look?"])
    person = clients.person()
    assert person.notifications() == [second, first]
    assert {each.notification_id for each in person.notifications(all_projects=True)} == {
        each.notification_id for each in (first, second, other)
    }
    assert (person.count_notifications(), person.count_notifications(all_projects=True)) == (2, 3)
    with pytest.raises(NotFoundError):
        person.find_notification(other.notification_id)
    with pytest.raises(NotFoundError):
        person.resolve(other.notification_id, "SQLite")
    with pytest.raises(NotFoundError):
        person.dismiss(other.notification_id)


# Tasks


def test_ready_tasks_are_those_that_can_be_done_in_the_order_of_their_priority(clients: Clients) -> None:
    """Q-U7: no epic, nothing in a blocked epic, nothing that waits for another."""
    client = clients.agent()
    client.create_task("Epic", task_id="e", is_epic=True)
    client.create_task("In it", task_id="in", parent="e", priority=3)
    client.create_task("Later", task_id="later", dependencies=["first"], priority=0)
    client.create_task("First", task_id="first", priority=1)
    assert [task.task_id for task in client.ready()] == ["first", "in"]
    client.update_task("first", status="closed")
    assert [task.task_id for task in client.ready()] == ["later", "in"]
    clients.person().block_task("e", "Not now")
    assert [task.task_id for task in client.ready()] == ["later"]


def test_cycle_of_dependencies_is_refused_and_leaves_nothing(clients: Clients) -> None:
    """At creation, at a change, over parents, and of any length."""
    client = clients.agent()
    client.create_task("A", task_id="a", dependencies=["c"])
    client.create_task("B", task_id="b", dependencies=["a"])
    before = happened(clients.store.agent())
    with pytest.raises(BadRequestError, match="wait for each other"):
        client.create_task("C", task_id="c", dependencies=["b"])
    client.create_task("C", task_id="c")
    with pytest.raises(BadRequestError):
        client.update_task("c", dependencies=["b"])
    with pytest.raises(BadRequestError):
        client.update_task("c", dependencies=["c"])
    assert happened(clients.store.agent()) == [*before, "task.created"]
    assert [task.task_id for task in client.ready()] == ["c"]


def test_task_of_another_project_is_not_there(clients: Clients) -> None:
    """Foreign and missing look alike."""
    clients.agent(project="other").create_task("Login", task_id="task-1")
    client = clients.agent()
    for task_id in ("task-1", "never"):
        with pytest.raises(NotFoundError, match="There is no task"):
            client.find_task(task_id)
        with pytest.raises(NotFoundError):
            client.update_task(task_id, title="x")
    assert client.tasks() == []


def test_no_to_an_approval_carries_its_words_by_its_notification_too(clients: Clients) -> None:
    """With a yes, or alone, words are refused, and nothing has changed."""
    agent, ana = clients.agent(), clients.person("ana", Assurance.TERMINAL)
    with pytest.raises(StillOpen):
        agent.approve("Drop users", action={"drop": "users"}, wait=0)
    [told] = ana.notifications()
    assert told.ask_id is not None
    for wrong in ({"approved": True, "reason": "fine"}, {"reason": "not on a Friday"}):
        with pytest.raises(BadRequestError, match="A reason"):
            ana.resolve(told.notification_id, wrong)
    assert agent.show(told.ask_id).is_open
    ana.resolve(told.notification_id, {"approved": False, "reason": "not on a Friday"})
    answer = agent.show(told.ask_id).answer
    assert answer is not None
    assert (answer.values, answer.reason) == ({"approve": ("Reject",)}, "not on a Friday")
