"""The broadcasts of open questions: who hears of them, in which order, and what they carry (Q-U5, Q-X9)."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from assent.protocol.json_text import Json
from assent.protocol.notification import NotificationId
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.proves import proves
from tests.surfaces.http.listening import Listener, ask_two, serving

__all__: list[str] = []


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on an empty store."""
    with serving() as made:
        yield made


def patch(
    server: ThrowawayServer, token: str, notification_id: str, body: Any = None, project: str = "test"
) -> httpx2.Response:
    """Resolve a notification by its route."""
    url = f"{server.url}/projects/{project}/notifications/{notification_id}"
    headers = {"Authorization": f"Bearer {token}"}
    if body is None:
        return httpx2.patch(url, headers=headers, timeout=PATIENCE)
    return httpx2.patch(url, headers=headers, json=body, timeout=PATIENCE)


RESPONSES = {
    "responses": [{"questionId": "q1", "answer": "SQLite"}, {"questionId": "q2", "answer": "No pages."}]
}


@proves("Q17")
def test_added_notification_is_broadcast_to_that_projects_clients_only(server: ThrowawayServer) -> None:
    """Three sockets: two of the project hear the whole notification, the one of another project nothing of it."""
    agent, token = server.agent(), server.token("human")
    with (
        Listener(server, token) as one,
        Listener(server, server.token("observer")) as two,
        Listener(server, token, project="there") as other,
    ):
        notification_id = ask_two(agent)
        server.agent("other", project="there").create_task("Work", task_id="elsewhere")
        heard = one.until("notification.added")[-1]
        assert two.until("notification.added")[-1] == heard
        first_there = other.until("task.created")
    assert heard.data == httpx2.get(
        f"{server.url}/projects/test/notifications/{notification_id}",
        headers={"Authorization": f"Bearer {token}"},
        timeout=PATIENCE,
    ).json() | {"sequence": heard.sequence}
    assert {"id", "projectId", "source", "sourceId", "questions", "status", "createdAt", "kind"} <= set(
        heard.data
    )
    assert (heard.data["id"], heard.data["projectId"]) == (notification_id, "test")
    assert (heard.data["source"], heard.data["sourceId"]) == ("execute", "T-1")
    assert (heard.data["status"], heard.data["resolvedAt"]) == ("open", None)
    assert [question["text"] for question in heard.data["questions"]] == ["Which database?", "Pages?"]
    assert "notification.added" not in [event.type for event in first_there]


@proves("Q20")
def test_added_is_broadcast_before_the_task_is_blocked(server: ThrowawayServer) -> None:
    """Q-X9: the notification first, then the task that it blocks."""
    agent = server.agent()
    with Listener(server, server.token("human")) as listener:
        ask_two(agent)
        heard = [event for event in listener.until("task.updated") if not event.type.startswith("token.")]
    assert [event.type for event in heard] == [
        "task.created",
        "notification.added",
        "ask.opened",
        "task.updated",
    ]
    blocked = heard[-1].data
    assert (blocked["taskId"], blocked["status"]) == ("T-1", "blocked")
    assert (blocked["assignee"], blocked["blockReason"]) == (None, "Open Question")


@proves("Q18", "Q26")
def test_resolving_is_broadcast_before_the_task_that_it_unblocks(server: ThrowawayServer) -> None:
    """Both changes are written, then `notification.resolved` is heard, then `task.updated`; the task is ready."""
    agent, token = server.agent(), server.token("human")
    notification_id = ask_two(agent)
    assert agent.ready() == []
    with Listener(server, token) as listener:
        assert patch(server, token, notification_id, RESPONSES).status_code == 200
        heard = listener.until("task.updated")
    types = [event.type for event in heard]
    assert types == ["ask.answered", "topic.posted", "notification.resolved", "task.updated"]
    resolved, updated = heard[-2], heard[-1]
    assert resolved.data == {
        "notificationId": notification_id,
        "projectId": "test",
        "source": "execute",
        "sourceId": "T-1",
    }
    assert (updated.data["taskId"], updated.data["status"]) == ("T-1", "open")
    assert (updated.data["assignee"], updated.data["blockReason"]) == (None, None)
    assert [task.task_id for task in agent.ready()] == ["T-1"]


def test_past_broadcast_tells_the_notification_as_it_was_when_added(server: ThrowawayServer) -> None:
    """Whoever comes late hears the same: open and without responses, although it is resolved by now."""
    agent, token = server.agent(), server.token("human")
    with Listener(server, token) as listener:
        notification_id = ask_two(agent)
        live = listener.until("notification.added")[-1]
    assert patch(server, token, notification_id, RESPONSES).status_code == 200
    with Listener(server, token, after=live.sequence - 1) as late:
        assert late.hear() == live
    assert "responses" not in live.data


@proves("Q24")
def test_patch_resolves_once_and_tells_others_the_winner(server: ThrowawayServer) -> None:
    """200 with the notification; the same again 200 without a broadcast; other responses 409 with the winner."""
    agent, token = server.agent(), server.token("human")
    notification_id = ask_two(agent)
    first = patch(server, token, notification_id, RESPONSES)
    assert first.status_code == 200
    assert first.json()["status"] == "resolved"
    assert first.json()["responses"] == RESPONSES["responses"]
    last = agent.log()[-1].sequence
    for again in (RESPONSES, None):
        same = patch(server, server.token("human", "bo", project="elsewhere"), notification_id, again)
        assert (same.status_code, same.json()) == (200, first.json())
    other = {"responses": [{"questionId": "q1", "answer": "MySQL"}, {"questionId": "q2", "answer": "Ten."}]}
    lost = patch(server, token, notification_id, other)
    assert lost.status_code == 409
    assert "SQLite" in lost.text
    assert "human:ana" in lost.text
    assert agent.log()[-1].sequence == last


@proves("Q24")
def test_patch_of_another_projects_notification_finds_nothing(server: ThrowawayServer) -> None:
    """Q-X1: the project of the path must be the notification's; foreign and missing look alike."""
    agent, token = server.agent(), server.token("human")
    notification_id = ask_two(agent)
    foreign = patch(server, token, notification_id, RESPONSES, project="there")
    missing = patch(server, token, "oq-00000000", RESPONSES, project="there")
    unreached = patch(server, server.token("human", "bo", projects=("there",)), notification_id, RESPONSES)
    assert (foreign.status_code, missing.status_code, unreached.status_code) == (404, 404, 404)
    assert foreign.json()["error"]["code"] == missing.json()["error"]["code"]
    assert patch(server, server.token("agent", "coder"), notification_id, RESPONSES).status_code == 403
    assert agent.ready() == []


@proves("Q18")
def test_dismissing_is_broadcast_and_unblocks_all_the_same(server: ThrowawayServer) -> None:
    """Q-X12: a PATCH without a body resolves without an answer."""
    agent, token = server.agent(), server.token("human")
    notification_id = ask_two(agent)
    with Listener(server, token) as listener:
        dismissed = patch(server, token, notification_id)
        heard = listener.until("task.updated")
    assert (dismissed.status_code, dismissed.json()["dismissed"]) == (200, True)
    assert [event.type for event in heard][-2:] == ["notification.resolved", "task.updated"]
    assert agent.ready()[0].task_id == "T-1"


def send(server: ThrowawayServer, token: str, method: str, path: str, body: Any = None) -> httpx2.Response:
    """Send one request about the project."""
    url, headers = f"{server.url}/projects/test/{path}", {"Authorization": f"Bearer {token}"}
    if body is None:
        return httpx2.request(method, url, headers=headers, timeout=PATIENCE)
    return httpx2.request(method, url, headers=headers, json=body, timeout=PATIENCE)


DROP = "May I drop the production table users?"


def ask_about(server: ThrowawayServer, *texts: str) -> list[NotificationId]:
    """Let the coder of a task ask, each question by itself; return the notifications."""
    agent = server.agent()
    agent.create_task("Login", task_id="T-2")
    told = []
    for text in texts:
        asked: Json = [{"text": text}]
        body: dict[str, Json] = {
            "agent": "Coder",
            "sourceId": "T-2",
            "status": "failed",
            "open_questions": asked,
        }
        handed = agent.hand_in(body).notification
        assert handed is not None
        told.append(handed.notification_id)
    return told


def shown(server: ThrowawayServer, token: str) -> list[tuple[str, str | None, str]]:
    """Return what the next run of the coder is told of each question."""
    chat = send(server, token, "GET", "tasks/T-2/chat").json()
    return [(each["text"], each["answer"], each["state"]) for each in chat["answers"]]


@pytest.mark.parametrize("way", ["no body", "an empty body", "said so", "DELETE"])
def test_dismissing_by_any_route_answers_nothing(server: ThrowawayServer, way: str) -> None:
    """Decision 13: neither with the copy of another answer, nor with another person's line."""
    ana, bob, coder = server.token("human"), server.token("human", "bob"), server.token("agent", "coder")
    first, second = ask_about(server, "May I add an index?", DROP)
    assert patch(server, ana, first, {"responses": answers_to(server, ana, first, "yes")}).status_code == 200
    lines = [(ana, "yes", None), (ana, "yes", first), (bob, "yes", second), (coder, "yes", second)]
    for token, text, about in lines:
        line = {"text": text} | ({} if about is None else {"notificationId": about})
        assert send(server, token, "POST", "tasks/T-2/chat", line).status_code == 201
    if way == "DELETE":
        assert send(server, ana, "DELETE", "notifications").json()["deletedCount"] == 1
    else:
        body = {"no body": None, "an empty body": {}, "said so": {"dismissed": True}}[way]
        assert patch(server, ana, second, body).json()["dismissed"] is True
    chat = send(server, coder, "GET", "tasks/T-2/chat").json()
    assert shown(server, coder) == [("May I add an index?", "yes", "answered"), (DROP, None, "declined")]
    assert chat["answers"][1]["reason"] == "dismissed"
    assert chat["answers"][1]["notificationId"] == second
    assert chat["clarification"].splitlines()[1].endswith("-> no answer (declined)")
    types = [record.type for record in server.agent().log()]
    assert (types.count("ask.answered"), types.count("ask.declined")) == (1, 1)
    assert server.agent().find_task("T-2").status == "open"


def answers_to(server: ThrowawayServer, token: str, told: str, text: str) -> list[dict[str, str]]:
    """Return `text` as the responses to a notification."""
    questions = send(server, token, "GET", f"notifications/{told}").json()["questions"]
    return [{"questionId": each["id"], "answer": text} for each in questions]


@proves("Q23", "Q24")
def test_reply_in_the_chat_and_a_patch_by_the_same_person_answer(server: ThrowawayServer) -> None:
    """The text's own two calls: by the person's token, seen by this server, and of nobody else."""
    ana, bob, coder = server.token("human"), server.token("human", "bob"), server.token("agent", "coder")
    first, second = ask_about(server, "Which database?", DROP)
    for token, text, about in [(ana, "SQLite", first), (bob, "yes", second), (ana, "no", second)]:
        said = {"text": text, "notificationId": about}
        assert send(server, token, "POST", "tasks/T-2/chat", said).status_code == 201
    assert patch(server, ana, first).json()["responses"][0]["answer"] == "SQLite"
    assert server.agent().find_task("T-2").status == "blocked"
    assert patch(server, ana, second).json()["responses"][0]["answer"] == "no"
    assert server.agent().find_task("T-2").status == "open"
    assert shown(server, coder) == [("Which database?", "SQLite", "answered"), (DROP, "no", "answered")]
    texts = [line["text"] for line in send(server, coder, "GET", "tasks/T-2/chat").json()["messages"]]
    assert texts == ["SQLite", "yes", "no"]
    for told in (first, second):
        ask = server.agent().show(send(server, ana, "GET", f"notifications/{told}").json()["askId"])
        assert ask.answer is not None
        assert (ask.answer.by, ask.answer.assurance, ask.answer.via) == ("human:ana", "token", "http")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": "yes", "notificationId": "oq-00000000"}, 404),
        ({"text": " ", "notificationId": None}, 400),
        ({"text": "x" * 70_000, "notificationId": None}, 413),
        ({"text": "yes", "notificationId": 7}, 400),
    ],
    ids=["unknown", "blank", "too long", "no text"],
)
def test_reply_that_could_not_answer_is_not_posted(
    server: ThrowawayServer, body: dict[str, Any], status: int
) -> None:
    """One sentence, and the chat stays as it was; nor is one posted in the chat of another task."""
    ana = server.token("human")
    [told] = ask_about(server, DROP)
    said = body | ({"notificationId": told} if body["notificationId"] is None else {})
    refused = send(server, ana, "POST", "tasks/T-2/chat", said)
    assert refused.status_code == status
    assert refused.json()["error"]["message"].endswith(".")
    astray = send(server, ana, "POST", "tasks/T-3/chat", {"text": "yes", "notificationId": told})
    assert astray.status_code == 400
    assert send(server, ana, "GET", "tasks/T-2/chat").json()["messages"] == []
