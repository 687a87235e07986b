"""What a hub and a client do, as spans of OpenTelemetry: one for each ask until its end, and one for each command.

Rule 1: a span has names of ours, ids, counts and codes, and no text of an agent or a person.
Rule 2: without a provider nothing is made. One may be set at any time, also after a client was opened: it is noticed
        within a second.
Rule 3: a trace crosses processes by the header `traceparent` (W3C Trace Context), and by nothing else.
"""

from __future__ import annotations

import time
from contextvars import Token
from importlib.metadata import version
from typing import Self

from opentelemetry import context, trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from assent.hub.watch import Transacted
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError

__all__ = ["PROPAGATOR", "TRACES", "Traces"]

PROPAGATOR = TraceContextTextMapPropagator()
_LOOK_SECONDS = 1.0


class Traces:
    """Fits `hub.watch.Watch`."""

    def __init__(self) -> None:
        self._provider: trace.TracerProvider | None = None
        self._tracer: trace.Tracer | None = None
        self._look_at = 0.0

    def find_tracer(self) -> trace.Tracer | None:
        """Return the tracer of the provider that is set now; None where none is."""
        now = time.monotonic()
        if now < self._look_at:
            return None
        provider = trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider):  # it stands for one that is not there yet
            self._look_at = now + _LOOK_SECONDS  # to find that out takes longer than all the rest
            return None
        if provider is not self._provider:
            self._tracer = provider.get_tracer("assent", version("assent"))
            self._provider = provider
        return self._tracer

    @property
    def is_awake(self) -> bool:
        """Somebody has set a provider."""
        return self.find_tracer() is not None

    def sender(self) -> object:
        """Return of which trace a command is."""
        return None if self.find_tracer() is None else context.get_current()

    def transacted(self, seen: Transacted) -> None:
        """Tell of every command of a transaction; those that share one share their time, too."""
        tracer = self.find_tracer()
        if tracer is None:
            return
        began = seen.began_at * 1_000
        for went in seen.commands:
            if not isinstance(went.sender, context.Context):
                continue  # the hub's own
            span = tracer.start_span(
                f"assent {went.verb}",
                went.sender,
                attributes={
                    "assent.command": went.verb,
                    "assent.project": went.project,
                    "assent.group_size": len(seen.commands),
                    "assent.result": went.code or "done",
                },
                start_time=began,
            )
            if seen.store_error:
                span.set_status(trace.StatusCode.ERROR, seen.store_error)
            span.end(began + round(seen.seconds * 1e9))

    def asking(self, project: str) -> AskTrace | None:
        """Begin the span of an ask; None where nobody listens."""
        tracer = self.find_tracer()
        return None if tracer is None else AskTrace(tracer, project)

    def headers(self) -> dict[str, str]:
        """Return what tells a server of which trace a request is."""
        if not trace.get_current_span().get_span_context().is_valid:
            return {}
        carried: dict[str, str] = {}
        PROPAGATOR.inject(carried)
        return {"traceparent": carried["traceparent"]}


class AskTrace:
    """Fits `client.tracing.AskSpan`: the current span for as long as the ask waits."""

    def __init__(self, tracer: trace.Tracer, project: str) -> None:
        self._span = tracer.start_span(
            "assent ask", kind=trace.SpanKind.CLIENT, attributes={"assent.project": project}
        )
        self._place: Token[context.Context] | None = None

    def tell(self, ended: Ask) -> None:
        """Say which ask it was, and how it ended."""
        self._span.set_attributes(
            {
                "assent.ask_id": ended.ask_id,
                "assent.kind": ended.kind.value,
                "assent.outcome": ended.state.value,
            }
        )

    def __enter__(self) -> Self:
        self._place = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace_: object) -> None:
        if self._place is not None:
            context.detach(self._place)
        if isinstance(error, AssentError):
            self._span.set_attribute("assent.outcome", error.code)
        self._span.end()


TRACES = Traces()
"""Of this process."""
