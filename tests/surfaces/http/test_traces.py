"""Spans for OpenTelemetry, from an agent's ask over the server's request to the hub's command; nothing where nobody listens."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import httpx2
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, SpanKind, StatusCode

from assent.client.traces import TRACES, Traces
from assent.client.tracing import trace_ask, trace_headers
from assent.protocol.error import StillOpen, StoreFullError
from assent.protocol.principal import Role
from assent.surfaces.http.traces import ServerTraces
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE

__all__: list[str] = []

SECRET = "zugzwang"
"""A word that agents and people use in these tests, and no span may have."""
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SPAN_ID = "b7ad6b7169203331"


@pytest.fixture(name="exporter")
def _exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Set a provider for one test, which keeps what it is told."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # It can be set once a process, and never taken away again.
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    monkeypatch.setattr(TRACES, "_look_at", 0.0)
    return exporter


@contextmanager
def a_traced_server() -> Iterator[ThrowawayServer]:
    """Give a server whose requests are spans."""
    with throwaway() as store, ThrowawayServer(store, watch=ServerTraces()) as server:
        yield server


def find(exporter: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    """Return the spans of this name that are over; those of a reply may end a moment after it was read."""
    until = time.monotonic() + PATIENCE
    while True:
        found = [span for span in exporter.get_finished_spans() if span.name == name]
        if found or time.monotonic() > until:
            return found


def only(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    """Return the one span of this name."""
    (span,) = find(exporter, name)
    return span


def facts(span: ReadableSpan) -> dict[str, object]:
    """Return the attributes of a span."""
    return dict(span.attributes or {})


def parent_of(span: ReadableSpan) -> int | None:
    """Return the id of the span in which it is."""
    return None if span.parent is None else span.parent.span_id


def context_of(span: ReadableSpan) -> SpanContext:
    """Return where it stands."""
    found = span.get_span_context()
    assert found is not None
    return found


def id_of(span: ReadableSpan) -> int:
    """Return its own id."""
    return context_of(span).span_id


def test_ask_is_one_trace_from_the_agent_to_the_commit(exporter: InMemorySpanExporter) -> None:
    """Ask, request and command are in each other, over the wire; the ask's span ends with the answer."""
    with a_traced_server() as server:
        agent, person = server.agent(), server.person()
        told: list[object] = []
        asking = threading.Thread(
            target=lambda: told.append(agent.ask(f"{SECRET}?", ["A", "B"], wait=PATIENCE)), daemon=True
        )
        asking.start()
        (command,) = find(exporter, "assent OpenAsk")
        assert [span for span in exporter.get_finished_spans() if span.name == "assent ask"] == []
        (ask,) = person.inbox()
        person.answer(ask.ask_id, "1")
        asking.join(PATIENCE)
    assert told == ["A"]
    asked, request = only(exporter, "assent ask"), only(exporter, "POST /projects/{project}/asks")
    assert parent_of(asked) is None
    assert parent_of(request) == id_of(asked)
    assert parent_of(command) == id_of(request)
    assert {context_of(span).trace_id for span in (asked, request, command)} == {context_of(asked).trace_id}
    assert (asked.kind, request.kind) == (SpanKind.CLIENT, SpanKind.SERVER)
    assert facts(asked) == {
        "assent.project": "test",
        "assent.ask_id": ask.ask_id,
        "assent.kind": "question",
        "assent.outcome": "answered",
    }
    assert facts(request) == {
        "http.request.method": "POST",
        "http.route": "/projects/{project}/asks",
        "http.response.status_code": 201,
        "assent.verb": "open_ask",
        "assent.project": "test",
    }
    assert facts(command) == {
        "assent.command": "OpenAsk",
        "assent.project": "test",
        "assent.group_size": 1,
        "assent.result": "done",
    }
    assert command.start_time is not None
    assert command.end_time is not None
    assert request.start_time is not None
    assert request.start_time <= command.start_time + 10_000_000 <= command.end_time + 10_000_000


def test_request_is_in_the_trace_that_its_header_names(exporter: InMemorySpanExporter) -> None:
    """W3C Trace Context; what is no such header begins a trace of its own."""
    with a_traced_server() as server:
        headers = {"authorization": f"Bearer {server.token(Role.OBSERVER)}"}
        for value in (f"00-{TRACE_ID}-{SPAN_ID}-01", f"00-{SECRET}-01", f"00-{32 * '0'}-{SPAN_ID}-01"):
            url = f"{server.url}/projects/test/asks"
            reply = httpx2.get(url, headers={**headers, "traceparent": value}, trust_env=False)
            assert reply.status_code == 200
        named, *others = find(exporter, "GET /projects/{project}/asks")
    assert context_of(named).trace_id == int(TRACE_ID, 16)
    assert parent_of(named) == int(SPAN_ID, 16)
    assert [parent_of(span) for span in others] == [None, None]


def test_project_of_a_stranger_is_in_no_span(exporter: InMemorySpanExporter) -> None:
    """Whoever is not let in can write nothing into the traces but which verb they tried."""
    with a_traced_server() as server:
        url = f"{server.url}/projects/{SECRET}/asks/{SECRET}"
        assert httpx2.get(url, trust_env=False).status_code == 401
        span = only(exporter, "GET /projects/{project}/asks/{ask}")
    assert facts(span)["http.response.status_code"] == 401
    assert SECRET not in span.to_json()


def test_no_text_of_anybody_is_in_a_span(exporter: InMemorySpanExporter) -> None:
    """Questions, answers, reasons, keys and names stay where they are."""
    with a_traced_server() as server:
        agent, person = server.agent(SECRET), server.person(SECRET)
        ask = agent.open(SECRET, [SECRET, "No"], body=SECRET, key=SECRET)
        person.answer(ask.ask_id, SECRET)
        assert agent.ask(SECRET, [SECRET, "No"], body=SECRET, key=SECRET, wait=0) == SECRET
        only(exporter, "assent ask")
    spans = exporter.get_finished_spans()
    assert {"assent OpenAsk", "assent AnswerAsk", "assent ask"} <= {span.name for span in spans}
    assert [span.name for span in spans if SECRET in span.to_json()] == []


def test_ask_that_nobody_answers_in_time_ends_its_span_as_still_open(exporter: InMemorySpanExporter) -> None:
    """The wait lapsed: the span says so."""
    with throwaway() as store, pytest.raises(StillOpen):
        store.agent().ask("Which?", wait=0)
    assert facts(only(exporter, "assent ask"))["assent.outcome"] == "still_open"


def test_command_that_the_store_cannot_save_is_an_error(
    exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refusal is a result like others; a store that fails is a fault."""
    with a_traced_server() as server:
        agent = server.agent()
        with monkeypatch.context() as patched:

            def full(*_: object, **__: object) -> None:
                raise StoreFullError

            patched.setattr("assent.storage.sqlite.store.SqliteStore.transaction", full)
            with pytest.raises(StoreFullError):
                agent.open("Which?")
        span = only(exporter, "assent OpenAsk")
    assert span.status.status_code is StatusCode.ERROR
    assert facts(span)["assent.result"] == "store_full"


def test_client_that_connects_where_opentelemetry_is_loaded_is_traced(
    exporter: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    """Without a server, too: the command is within the ask."""
    monkeypatch.setenv("ASSENT_STORE", f"sqlite:///{tmp_path}/assent.db")
    program = sys.modules["assent"].connect(project="test")
    with program as client, pytest.raises(StillOpen):
        client.ask("Which?", wait=0)
    assert parent_of(only(exporter, "assent OpenAsk")) == id_of(only(exporter, "assent ask"))


def test_nothing_of_opentelemetry_or_prometheus_is_loaded_by_asking(tmp_path: object) -> None:
    """Whoever did not load it does not pay for it, though it is installed."""
    script = (
        "import sys, assent\n"
        f"client = assent.connect('sqlite:///{tmp_path}/assent.db', project='test')\n"
        "ask = client.open('Which?')\n"
        "assert ask.ask.is_open\n"
        "client.close()\n"
        "print(*[name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus'))])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.split() == []


def test_without_a_provider_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """No span, no header, and no context is kept."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    assert TRACES.find_tracer() is None
    assert TRACES.sender() is None
    assert TRACES.asking("test") is None
    assert dict(trace_headers()) == {}
    with trace_ask("test") as first, trace_ask("test") as second:
        assert first is second


def test_provider_that_is_set_later_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a second, and not before it was there."""
    traces = Traces()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    assert traces.sender() is None
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", TracerProvider(shutdown_on_exit=False))
    until = time.monotonic() + PATIENCE
    while not traces.is_awake:
        assert time.monotonic() < until
    assert traces.sender() is not None


def test_command_makes_a_call_or_two_more_where_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a command meets on its way, loaded or not; the library itself is asked once a second and no oftener."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    traces = Traces()
    began = time.monotonic()
    ours, theirs = _count_calls(lambda: traces.sender() is None and not traces.is_awake)
    asked = time.monotonic() - began + 1
    assert ours <= 4 * _ROUNDS + 10 * asked, (ours, theirs)
    assert theirs <= 5 * asked, (ours, theirs)
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    ours, theirs = _count_calls(lambda: not trace_headers())
    assert (ours <= 2 * _ROUNDS, theirs) == (True, 0), (ours, theirs)


_ROUNDS = 1_000


def _count_calls(is_quiet: Callable[[], bool]) -> tuple[int, int]:
    """Return how many functions of ours and of the library are called, as the hub looks when a command is sent and saved."""
    files: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            files[frame.f_code.co_filename] += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        quiet = [is_quiet() for _ in range(_ROUNDS)]
    finally:
        sys.setprofile(before)
    assert all(quiet)
    ours = sum(count for name, count in files.items() if "/assent/" in name)
    return ours, sum(count for name, count in files.items() if "/opentelemetry/" in name)
