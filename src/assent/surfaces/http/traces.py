"""Every request as a span of OpenTelemetry, in the trace that its sender names in `traceparent`; see `client/traces.py`."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry import context, trace

from assent.client.traces import PROPAGATOR, Traces
from assent.client.verbs import Verb
from assent.surfaces.http.watch import End

__all__ = ["ServerTraces"]

_FAILED = 500


class ServerTraces(Traces):
    """Fits `SiteWatch`: the commands of a request are spans within its own."""

    def request(self, verb: Verb, headers: Mapping[str, str]) -> End:
        """Begin the span of a request; its end is told on the same task."""
        tracer = self.find_tracer()
        if tracer is None:
            return _nothing
        named = {"traceparent": headers.get("traceparent", "")}
        sender = PROPAGATOR.extract(named, context.Context())
        span = tracer.start_span(
            f"{verb.method} {verb.path}",
            sender,
            trace.SpanKind.SERVER,
            {"http.request.method": verb.method, "http.route": verb.path, "assent.verb": verb.name},
        )
        place = context.attach(trace.set_span_in_context(span, sender))

        def end(status: int, project: str) -> None:
            context.detach(place)
            span.set_attribute("http.response.status_code", status)
            if project:
                span.set_attribute("assent.project", project)
            if status >= _FAILED:
                span.set_status(trace.StatusCode.ERROR)
            span.end()

        return end


def _nothing(status: int, project: str) -> None:
    """Nobody listens."""
