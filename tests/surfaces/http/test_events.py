"""A project's events over a WebSocket: who may follow, from where on, and what is told."""

import threading
from collections.abc import Iterator

import httpx2
import pytest

from assent.protocol.principal import Role
from assent.surfaces.http.session import PROTOCOL
from assent.surfaces.http.telling import Ending
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.listening import Heard, Listener, Reader, ask_two, post_many, refusal, serving
from tests.surfaces.http.signing import SESSION, SOCKET, offer, sign_in

__all__: list[str] = []


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    """Give a server on an empty store."""
    with serving() as made:
        yield made


def numbers(heard: list[Heard]) -> list[int]:
    """Return the numbers of events."""
    return [event.sequence for event in heard]


@pytest.mark.parametrize("role", sorted(Role))
def test_everybody_with_a_token_of_the_project_is_told_from_the_beginning(
    server: ThrowawayServer, role: Role
) -> None:
    """Whoever may look may follow; 0 is the beginning, and every event has its number, type, moment and data."""
    agent = server.agent()
    ask = agent.open("Which database?", ["PostgreSQL", "SQLite"]).ask
    token = server.token(role, projects=("test",))
    with Listener(server, token, after=0) as listener:
        heard = listener.until("ask.opened")
    assert numbers(heard) == list(range(1, len(heard) + 1))
    assert heard[-1].data["ask_id"] == ask.ask_id
    assert heard[-1].data["prompt"]["title"] == "Which database?"
    assert heard[-1].at.endswith("Z")
    assert "type" not in heard[-1].data


def test_listener_without_a_number_is_told_what_happens_from_then_on(server: ThrowawayServer) -> None:
    """The past is not told; what happens once the socket is open is."""
    agent = server.agent()
    post_many(agent, 3)
    with Listener(server, server.token("observer")) as listener:
        last = agent.log()[-1].sequence
        post_many(agent, 2, topic="later")
        heard = listener.take(2)
    assert [(event.sequence, event.data["topic"]) for event in heard] == [
        (last + 1, "later"),
        (last + 2, "later"),
    ]


def test_listener_ahead_of_the_log_is_told_nothing_up_to_its_number(server: ThrowawayServer) -> None:
    """A number that the log has not reached is waited for."""
    agent = server.agent()
    token = server.token("observer")
    last = agent.log()[-1].sequence
    with Listener(server, token, after=last + 3) as listener:
        post_many(agent, 5)
        heard = listener.take(2)
    assert numbers(heard) == [last + 4, last + 5]


def test_only_that_projects_events_are_told(server: ThrowawayServer) -> None:
    """Two projects on one server: each listener hears its own."""
    token = server.token("observer")
    here, there = server.agent(), server.agent("other", project="there")
    with Listener(server, token) as listener, Listener(server, token, project="there") as other:
        post_many(there, 3, topic="there")
        post_many(here, 2, topic="here")
        heard, elsewhere = listener.take(2), other.take(3)
    assert {event.data["topic"] for event in heard} == {"here"}
    assert {event.data["topic"] for event in elsewhere} == {"there"}


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({}, id="none"),
        pytest.param({"Authorization": "Bearer"}, id="empty"),
        pytest.param({"Authorization": "Bearer hunter2"}, id="garbage"),
        pytest.param({"Authorization": "Bearer assent_" + 64 * "0"}, id="unknown"),
        pytest.param({"Authorization": "Basic YTpi"}, id="scheme"),
        pytest.param({"Assent-Session": "hunter2"}, id="session"),
    ],
)
def test_listener_without_a_good_token_is_refused_before_the_socket_opens(
    server: ThrowawayServer, headers: dict[str, str]
) -> None:
    """The handshake itself is answered with 401, in the shape of every error; so is the stream."""
    status, body = refusal(server, headers)
    assert (status, body["error"]["code"]) == (401, "unauthorised")
    streamed = httpx2.get(f"{server.url}/projects/test/events", headers=headers, timeout=PATIENCE)
    assert (streamed.status_code, streamed.json()) == (401, body)


def test_foreign_and_missing_projects_look_alike(server: ThrowawayServer) -> None:
    """Whoever has no business in a project does not learn whether it exists."""
    server.agent("other", project="foreign").create_task("Work")
    headers = {"Authorization": f"Bearer {server.token('human', projects=('test',))}"}
    foreign, missing = (
        refusal(server, headers, project="foreign"),
        refusal(server, headers, project="no-such"),
    )
    no_name = refusal(server, headers, project="%00")
    assert foreign == missing == no_name
    assert foreign[0] == 404
    for project in ("foreign", "no-such"):
        streamed = httpx2.get(f"{server.url}/projects/{project}/events", headers=headers, timeout=PATIENCE)
        assert (streamed.status_code, streamed.json()) == foreign


def test_session_opens_a_socket(server: ThrowawayServer) -> None:
    """A page cannot set a header on its socket: it offers its signature as a subprotocol, which is not the one that is chosen."""
    agent = server.agent()
    with Listener(server, server.token("human"), is_browser=True) as listener:
        post_many(agent, 1)
        [heard] = listener.take(1)
        assert listener.connection.subprotocol == PROTOCOL
    assert heard.type == "topic.posted"


def test_socket_that_offers_nothing_is_answered_with_nothing(server: ThrowawayServer) -> None:
    """Twin of the test above: a client that shows a token need not know of subprotocols."""
    with Listener(server, server.token("human")) as listener:
        assert listener.connection.subprotocol is None


@pytest.mark.parametrize("place", ["nowhere", "in a header", "twice", "with nothing before it"])
def test_socket_whose_signature_is_elsewhere_is_refused(server: ThrowawayServer, place: str) -> None:
    """Where no browser could put it, or twice."""
    shown = sign_in(server.url, token=server.token("human")).sign(SOCKET, "/projects/test/events")
    offered = "sec-websocket-protocol"
    headers = {
        "nowhere": {offered: PROTOCOL},
        "in a header": {SESSION: shown},
        "twice": {offered: f"{offer(shown)}, signed.{shown}"},
        "with nothing before it": {offered: f"{PROTOCOL}, {shown}"},
    }[place]
    status, body = refusal(server, headers | {"Origin": server.url})
    assert (status, body["error"]["code"]) == (401, "unauthorised")


@pytest.mark.parametrize(
    "query", ["?after=-1", "?after=x", "?after=1.5", "?after=1&after=2", "?before=1", f"?after={10**30}x"]
)
def test_number_that_is_none_is_refused(server: ThrowawayServer, query: str) -> None:
    """A query that cannot be read is refused on both doors, and in the same words."""
    headers = {"Authorization": f"Bearer {server.token('human')}"}
    status, body = refusal(server, headers, query=query)
    assert (status, body["error"]["code"]) == (400, "bad_request")
    streamed = httpx2.get(f"{server.url}/projects/test/events{query}", headers=headers, timeout=PATIENCE)
    assert (streamed.status_code, streamed.json()) == (400, body)


def test_listener_who_speaks_is_shown_out(server: ThrowawayServer) -> None:
    """A socket goes one way."""
    with Listener(server, server.token("human"), after=10_000) as listener:
        listener.connection.send("subscribe")
        assert listener.rest() == ([], Ending.ONE_WAY)


def test_hostile_message_forges_no_event(server: ThrowawayServer) -> None:
    """What looks like lines of a stream comes through as data, on both doors, and as nothing else."""
    agent = server.agent()
    token = server.token("observer")
    last = agent.log()[-1].sequence
    hostile = "x\r\n\r\nid: 99\nevent: ask.answered\ndata: {}\n\n\u2028\x85\x00"
    agent.post("news", {hostile: hostile})
    post_many(agent, 1)
    with Listener(server, token, after=last) as listener, Reader.on(server, token, after=last) as reader:
        heard = listener.take(2)
        assert reader.take(2) == heard
    assert heard[0].data["message"] == {hostile: hostile}
    assert numbers(heard) == [last + 1, last + 2]


def test_no_event_has_the_digest_of_a_secret_or_a_foreign_project(server: ThrowawayServer) -> None:
    """A token's making is told to everybody, so neither its digest nor where else it reaches is."""
    observer = server.token("observer", projects=("test",))
    server.token("human", "bo", projects=("test", "secret-plans"))
    notification_id = ask_two(server.agent())
    server.person().resolve(notification_id, "SQLite")
    with Listener(server, observer, after=0) as listener:
        heard = listener.until("notification.resolved")
    told = [event for event in heard if event.type == "token.created"]
    assert {"observer", "human"} <= {event.data["role"] for event in told}
    stored = [token.digest for token in server.store.person().tokens()]
    assert stored
    text = repr(heard)
    assert not [digest for digest in stored if digest in text]
    assert "secret-plans" not in text
    assert not {"digest", "command_id", "commandId"} & {name for event in heard for name in event.data}


def test_twenty_sockets_under_concurrent_writes_hear_the_same_without_gap_or_double(
    server: ThrowawayServer,
) -> None:
    """Writers in four threads, listeners from several numbers: dense, in order, nothing twice."""
    observer = server.token("observer")
    writers = [server.agent(f"writer-{number}") for number in range(4)]
    begin = server.store.person().log()[-1].sequence
    count = 25
    listeners = [Listener(server, observer, after=begin if number % 2 else 0) for number in range(20)]
    threads = [threading.Thread(target=post_many, args=(writer, count)) for writer in writers]
    for thread in threads:
        thread.start()
    end = begin + count * len(writers)
    try:
        heard = [
            listener.take(end - (begin if number % 2 else 0)) for number, listener in enumerate(listeners)
        ]
    finally:
        for thread in threads:
            thread.join(PATIENCE)
        for listener in listeners:
            listener.close()
    for number, events in enumerate(heard):
        assert numbers(events) == list(range((begin if number % 2 else 0) + 1, end + 1))
    assert len({repr(events[-100:]) for events in heard}) == 1
