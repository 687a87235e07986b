"""What a server counts is told to Prometheus: true, in few labels, without a text of anybody's, and not to just anyone."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Self

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from assent.hub.hub import Hub
from assent.hub.watch import Transacted
from assent.protocol.error import AssentError, StoreFullError
from assent.protocol.principal import Role
from assent.surfaces.http import scrape
from assent.surfaces.http.metrics import Metrics
from assent.surfaces.http.watch import Watches
from assent.testing import FakeClock, throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tests.surfaces.http.hostile import speak, write_head

__all__: list[str] = []

SECRET = "zugzwang"
"""A word that agents and people use in these tests, and no label may have."""


class Samples(dict[str, float]):
    """Every sample that was told, under its name and labels: `name{kind="question"}`, the labels by name."""

    def of(self, name: str, **labels: str) -> float:
        """Return one; what was never counted is 0."""
        return self.get(_key(f"assent_{name}", labels), 0.0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read them as Prometheus' own parser does."""
        families = text_string_to_metric_families(text)
        told = [sample for family in families for sample in family.samples]
        return cls({_key(sample.name, sample.labels): sample.value for sample in told})


def _key(name: str, labels: Mapping[str, str]) -> str:
    return f"{name}{sorted(labels.items())}"


@contextmanager
def a_counted_server(clock: FakeClock | None = None) -> Iterator[ThrowawayServer]:
    """Give a server that counts."""
    metrics = Metrics()
    with (
        throwaway(clock=clock) as store,
        ThrowawayServer(store, watch=Watches(metrics), scrape=metrics) as server,
    ):
        yield server


def fetch(server: ThrowawayServer, secret: str, path: str = "/metrics") -> httpx2.Response:
    """Ask for the metrics with a token; an empty one is none."""
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    return httpx2.get(f"{server.url}{path}", headers=headers, trust_env=False, timeout=PATIENCE)


def read(server: ThrowawayServer) -> Samples:
    """Return what is told to an observer."""
    reply = fetch(server, server.token(Role.OBSERVER, "prometheus"))
    assert reply.status_code == 200, reply.text
    assert reply.headers["content-type"].startswith("text/plain; version=")
    return Samples.parse(reply.text)


def read_until(server: ThrowawayServer, is_so: Callable[[Samples], bool]) -> Samples:
    """Return the first samples of which this is true."""
    until = time.monotonic() + PATIENCE
    while not is_so(samples := read(server)):
        assert time.monotonic() < until, samples
    return samples


def test_asks_are_counted_by_kind_and_outcome() -> None:
    """Opened, answered, declined and withdrawn; how long the answer took is by the store's clock."""
    clock = FakeClock()
    with a_counted_server(clock) as server:
        agent, person = server.agent(), server.person()
        answered, declined, withdrawn = (agent.open(f"{SECRET} {number}?") for number in range(3))
        clock.advance(timedelta(seconds=100))
        person.answer(answered.ask_id, SECRET)
        person.decline(declined.ask_id, SECRET)
        agent.withdraw(withdrawn.ask_id)
        agent.open("And this?")
        samples = read(server)
    assert samples.of("asks_opened_total", kind="question") == 4
    for outcome in ("answered", "declined", "withdrawn"):
        assert samples.of("asks_ended_total", kind="question", outcome=outcome) == 1
    assert samples.of("ask_answer_seconds_count", kind="question") == 2
    assert samples.of("ask_answer_seconds_sum", kind="question") == 200
    assert samples.of("open_asks") == 1
    assert samples.of("project_open_asks", project="test") == 1


def test_commands_are_counted_by_verb_and_result_and_transactions_by_size() -> None:
    """What was refused counts under the code of its refusal; every command is in one transaction."""
    with a_counted_server() as server:
        agent = server.agent()
        agent.open("Which?", key="a")
        with pytest.raises(AssentError, match="key"):
            agent.open("Which else?", key="a")
        samples = read(server)
    commands = [number for name, number in samples.items() if name.startswith("assent_commands_total")]
    assert samples.of("commands_total", verb="OpenAsk", result="done") == 1
    assert samples.of("commands_total", verb="OpenAsk", result="key_reused") == 1
    assert samples.of("transaction_commands_sum") == sum(commands)
    assert samples.of("transaction_seconds_count") == samples.of("transaction_commands_count")
    assert samples.of("requests_total", verb="open_ask", status="201") == 1
    assert samples.of("requests_total", verb="open_ask", status="409") == 1


def test_store_that_fails_is_counted_by_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender is told as ever."""
    with a_counted_server() as server:
        agent = server.agent()
        read(server)  # its token is made while the store is well
        with monkeypatch.context() as patched:

            def full(*_: object, **__: object) -> None:
                raise StoreFullError

            patched.setattr("assent.storage.sqlite.store.SqliteStore.transaction", full)
            with pytest.raises(StoreFullError):
                agent.open("Which?")
        samples = read(server)
    assert samples.of("store_errors_total", code="store_full") == 1
    assert samples.of("commands_total", verb="OpenAsk", result="store_full") == 1


def test_whoever_waits_or_follows_is_counted_as_long_as_they_do() -> None:
    """A long poll is a waiting request and a wait; a stream is a client of the events; a run that is driven a lease."""
    with a_counted_server() as server:
        agent, person = server.agent(), server.person()
        ask = agent.open("Which?")
        waiting = threading.Thread(target=lambda: agent.wait(ask.ask_id, PATIENCE), daemon=True)
        waiting.start()
        url = f"{server.url}/projects/test/events?after=0"
        headers = {"authorization": f"Bearer {server.token(Role.OBSERVER, 'eve')}"}
        with httpx2.stream("GET", url, headers=headers, trust_env=False, timeout=PATIENCE) as stream:
            lines = stream.iter_lines()
            while "ask.opened" not in next(lines):
                pass
            samples = read_until(server, lambda now: now.of("waits") == now.of("waiting_requests") == 1)
            person.answer(ask.ask_id, "yes")
        waiting.join(PATIENCE)
        assert not waiting.is_alive()
        with agent.run(mode="loop", max=1) as run:
            driven = read(server).of("leases")
            list(run)
        after = read_until(
            server, lambda now: not now.of("event_clients")
        )  # it has seen that the stream was left
    assert samples.of("waiting_requests") == 1
    assert samples.of("event_clients") == 1
    assert driven == 1
    assert after.of("waiting_requests") == after.of("waits") == after.of("leases") == 0


def test_wakes_are_counted_by_what_brought_them() -> None:
    """An answer from another process of the machine comes by its ring."""
    with a_counted_server() as server:
        agent = server.agent()
        ask = agent.open("Which?")
        waiting = threading.Thread(target=lambda: agent.wait(ask.ask_id, PATIENCE), daemon=True)
        waiting.start()
        read_until(server, lambda now: now.of("waits") == 1)
        server.store.person().answer(ask.ask_id, "yes")  # by a hub of its own, as another process has
        waiting.join(PATIENCE)
        samples = read(server)
    assert samples.of("wakes_total", by="ring") + samples.of("wakes_total", by="clock") == 1


def test_no_text_of_anybody_is_in_the_metrics() -> None:
    """Questions, answers, reasons, keys and names stay where they are; so does what a stranger puts into a path."""
    with a_counted_server() as server:
        agent, person = server.agent(SECRET), server.person(SECRET)
        ask = agent.open(SECRET, [SECRET, "No"], body=SECRET, key=SECRET)
        person.answer(ask.ask_id, SECRET)
        person.decline(agent.open(f"{SECRET}!").ask_id, SECRET)
        fetch(server, "", f"/projects/{SECRET}/asks")
        fetch(server, server.token(Role.OBSERVER), f"/projects/{SECRET}/asks/{SECRET}")
        fetch(server, server.token(Role.OBSERVER), f"/{SECRET}")
        text = fetch(server, server.token(Role.OBSERVER)).text
    assert "assent_asks_opened_total" in text
    assert SECRET not in text


def test_projects_are_labels_only_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in which something happened last have one; the sum has all."""
    monkeypatch.setattr("assent.client.embedded.MAX_COUNTED_PROJECTS", 2)
    clock = FakeClock()
    with a_counted_server(clock) as server:
        reader = server.token(Role.OBSERVER)
        for number in range(4):
            clock.advance(timedelta(seconds=1))
            server.store.agent(project=f"p{number}").open("Which?")
        reply = fetch(server, reader).text
    named = [line for line in reply.splitlines() if line.startswith("assent_project_open_asks{")]
    assert named == [f'assent_project_open_asks{{project="p{number}"}} 1.0' for number in (3, 2)]
    assert "\nassent_open_asks 4.0\n" in reply


@pytest.mark.parametrize("role", list(Role), ids=[role.value for role in Role])
def test_metrics_are_for_those_who_watch_over_all_projects(role: Role) -> None:
    """A person, an operator or an observer of every project; no agent, and nobody who reaches only some."""
    with a_counted_server() as server:
        everywhere = fetch(server, server.token(role, "ana"))
        somewhere = fetch(server, server.token(role, "bob", projects=("test",)))
    assert everywhere.status_code == (403 if role is Role.AGENT else 200)
    assert somewhere.status_code == 403


def test_metrics_without_a_good_token_or_for_another_host_are_not_told() -> None:
    """To be on this machine opens nothing; the guard stands before it as before every route."""
    with a_counted_server() as server:
        secret = server.token(Role.OBSERVER)
        assert fetch(server, "").status_code == 401
        assert fetch(server, "assent_" + 64 * "0").status_code == 401
        headers: dict[str, str | None] = {"Authorization": f"Bearer {secret}"}
        foreign = speak(server.port, write_head("GET", "/metrics", "evil.example", headers))
        framed = {**headers, "Origin": "https://evil.example"}
        elsewhere = speak(server.port, write_head("GET", "/metrics", f"127.0.0.1:{server.port}", framed))
        assert (foreign.status, elsewhere.status) == (421, 403)
        assert fetch(server, secret, "/metrics?x=1").status_code == 400
        assert fetch(server, secret).status_code == 200


def test_server_without_the_extra_says_what_it_lacks() -> None:
    """One plain sentence, and only to whoever might read them."""
    with throwaway() as store, ThrowawayServer(store) as server:
        told = fetch(server, server.token(Role.OBSERVER))
        stranger = fetch(server, "")
    assert told.status_code == 404
    assert told.json()["error"]["message"] == scrape._LACKING
    assert stranger.status_code == 401


def test_watch_that_fails_costs_nobody_a_reply() -> None:
    """The command is saved, and its sender learns so."""

    class Broken:
        calls = 0
        is_awake = True

        def sender(self) -> None:
            """Know nobody."""

        def transacted(self, seen: Transacted) -> None:
            self.calls += len(seen.commands)
            raise RuntimeError("out of order")

    with throwaway() as store:
        agent = store.agent()
        hub = agent.door.hub  # type: ignore[attr-defined]  # it is an embedded one
        assert isinstance(hub, Hub)
        hub.watch = watch = Broken()
        assert agent.open("Which?").ask.is_open
    assert watch.calls == 1
