"""What a server counts, in the words of Prometheus. Each process counts what it did itself; the sum is the fleet's.

Rule 1: a label has few values, and all are ours: kinds, outcomes, verbs, codes, statuses. No text of an agent or a
        person is in any; the names of projects are in one gauge, of `MAX_COUNTED_PROJECTS` at most.
Rule 2: times are in seconds. A time to answer is by the store's clock, all others by the one that never jumps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from assent.client.verbs import Verb
from assent.client.watch import Transacted
from assent.protocol.ask import State
from assent.surfaces.http.watch import End, Now

__all__ = ["Metrics"]

_ANSWER_BUCKETS = (1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 604_800)
"""From somebody who looks at it to somebody on holiday."""
_SECONDS_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)
_GROUP_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_DONE = "done"


class Metrics:
    """Fits `SiteWatch` and `Scrape`."""

    media = CONTENT_TYPE_LATEST
    is_awake = True

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._opened = Counter("assent_asks_opened", "Asks that were opened.", ["kind"], registry=registry)
        self._ended = Counter(
            "assent_asks_ended", "Asks that ended, and how.", ["kind", "outcome"], registry=registry
        )
        self._answer_seconds = Histogram(
            "assent_ask_answer_seconds",
            "From opening an ask to its answer or its decline.",
            ["kind"],
            buckets=_ANSWER_BUCKETS,
            registry=registry,
        )
        self._commands = Counter(
            "assent_commands", "Commands, and what came of them.", ["verb", "result"], registry=registry
        )
        self._transaction_seconds = Histogram(
            "assent_transaction_seconds",
            "How long transactions took, with the tries before them.",
            buckets=_SECONDS_BUCKETS,
            registry=registry,
        )
        self._group_size = Histogram(
            "assent_transaction_commands",
            "How many commands shared a transaction.",
            buckets=_GROUP_BUCKETS,
            registry=registry,
        )
        self._store_errors = Counter(
            "assent_store_errors",
            "Transactions that the store could not save, by the code of the error.",
            ["code"],
            registry=registry,
        )
        self._requests = Counter(
            "assent_requests", "Requests, by verb and status.", ["verb", "status"], registry=registry
        )
        self._standing = _Standing()
        registry.register(self._standing)

    def sender(self) -> None:
        """Remember nothing of who sends: what is counted has no sender."""

    def transacted(self, seen: Transacted) -> None:
        """Count a transaction."""
        self._transaction_seconds.observe(seen.seconds)
        self._group_size.observe(len(seen.commands))
        if seen.store_error:
            self._store_errors.labels(seen.store_error).inc()
        for went in seen.commands:
            self._commands.labels(went.verb, went.code or _DONE).inc()
        for kind in seen.opened:
            self._opened.labels(kind.value).inc()
        for end in seen.ended:
            self._ended.labels(end.kind.value, end.outcome.value).inc()
            if end.outcome in (State.ANSWERED, State.DECLINED):
                self._answer_seconds.labels(end.kind.value).observe(end.seconds)

    def request(self, verb: Verb, headers: Mapping[str, str]) -> End:  # noqa: ARG002 - nothing in them is counted
        """Count a request once it is over."""

        def end(status: int, project: str) -> None:  # noqa: ARG001 - it would be a label too many
            self._requests.labels(verb.name, f"{status}").inc()

        return end

    def render(self, now: Now) -> bytes:
        """Return all that was counted, with how the server stands now."""
        self._standing.now = now
        return generate_latest(self._registry)


class _Standing(Collector):
    """What is not counted as it happens, but looked up."""

    now: Now | None = None

    def collect(self) -> Iterable[Metric]:
        if self.now is None:
            return
        now, figures = self.now, self.now.figures
        gauges = {
            "assent_open_asks": ("Asks that wait for a person, in all projects.", figures.open_asks),
            "assent_waits": ("Who in this process waits for an ask or a run.", figures.waits),
            "assent_waiting_requests": ("Requests that are kept waiting.", now.waits),
            "assent_event_clients": ("Sockets and streams that are told of events.", now.streams),
            "assent_store_connections_in_use": ("Connections to the database at work.", figures.connections),
            "assent_leases": ("What clients drive alone, by this server.", now.leases),
        }
        for name, (sentence, number) in gauges.items():
            yield GaugeMetricFamily(name, sentence, number)
        by_project = GaugeMetricFamily(
            "assent_project_open_asks",
            "Asks that wait, in the projects in which something happened last.",
            labels=["project"],
        )
        for project, count in figures.open_by_project.items():
            by_project.add_metric([project], count)
        yield by_project
        wakes = CounterMetricFamily(
            "assent_wakes", "Waits that were over by a ring, or found by the clock.", labels=["by"]
        )
        wakes.add_metric(["ring"], figures.ring_wakes)
        wakes.add_metric(["clock"], figures.clock_wakes)
        yield wakes
        messages = CounterMetricFamily(
            "assent_messages",
            "Messages to targets: delivered, tries that failed, given up.",
            labels=["result"],
        )
        for result, count in now.messages.items():
            messages.add_metric([result], count)
        yield messages
