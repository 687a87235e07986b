"""Requests made at random from the server's own OpenAPI document, and whether the replies keep what it promises.

A request is wild (everything at random), or tame: its path names things that exist and belong to whoever calls, and then
its body may be one that fits, with some fields at random. Half of all break the document on purpose. Nothing that comes back may be a server error, a status that is not declared, or
a body of another shape than declared.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import msgspec
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from assent.client.verbs import VERBS
from assent.protocol.principal import Role
from tests.patience import PATIENCE
from tests.surfaces.http.world import BODIES, OPEN_REPLIES, Place, World

__all__ = ["Findings", "fuzz"]

_CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
_LONGEST_WAIT = 0.02
"""Seconds: a long poll that nobody answers would hold up everything else."""
_MOST_FIELDS = 20
"""No body of ours has more."""


class Findings(msgspec.Struct):
    """What was sent, and what was wrong with the replies."""

    problems: list[str] = []
    statuses: Counter[int] = msgspec.field(default_factory=Counter)
    succeeded: set[str] = msgspec.field(default_factory=set)
    """The operations that did at least once what they were asked."""

    @property
    def sent(self) -> int:
        """How many requests."""
        return self.statuses.total()


def fuzz(world: World, examples: int, chance: int = 0, only: str = "") -> Findings:
    """Send `examples` requests to every operation of the document, or to one, by callers of every role and by nobody."""
    document = world.line.get("/openapi.json").json()
    schema = schemathesis.openapi.from_dict(document)
    findings = Findings()
    with requests.Session() as session:
        session.trust_env = False
        for found in schema.get_all_operations():
            assert isinstance(found, Ok)
            operation = found.ok()
            if only in ("", operation.definition.raw["operationId"]):
                _fuzz_operation(world, session, operation, findings, examples, chance)
    return findings


def _fuzz_operation(
    world: World, session: requests.Session, operation: Any, findings: Findings, examples: int, chance: int
) -> None:
    name = operation.definition.raw["operationId"]
    modes = schemathesis.GenerationMode
    callers: st.SearchStrategy[Role | None] = st.sampled_from([*Role, Role.HUMAN, Role.AGENT, None])

    @seed(chance)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        case=st.one_of(operation.as_strategy(modes.POSITIVE), operation.as_strategy(modes.NEGATIVE)),
        caller=callers,
        how=st.sampled_from(["wild", "tame", "fitting"]),
        choices=st.lists(st.booleans(), min_size=_MOST_FIELDS, max_size=_MOST_FIELDS),
    )
    def send(case: Any, caller: Role | None, how: str, choices: list[bool]) -> None:
        if how != "wild" and name in VERBS:
            place = _tame(world, case, name, caller)
            if how == "fitting" and name in BODIES:
                case.body = _mix(BODIES[name](place), case.body, choices)
        with suppress(AttributeError, TypeError, ValueError, KeyError):
            case.query["wait"] = str(min(float(case.query["wait"]), _LONGEST_WAIT))
        headers = {} if caller is None else {"Authorization": f"Bearer {world.tokens[caller]}"}
        try:
            reply = _call(world, session, case, headers)
        except requests.RequestException as error:
            findings.problems.append(f"{name}: {error!r}")
            return
        findings.statuses[reply.status_code] += 1
        if reply.ok:
            findings.succeeded.add(name)
        try:
            case.validate_response(reply, checks=_CHECKS, headers=headers)
        except FailureGroup as group:
            findings.problems += [f"{name}: {failure}" for failure in group.exceptions]

    send()


def _tame(world: World, case: Any, name: str, caller: Role | None) -> Place:
    """Let the path name things that exist, and that the caller may have made."""
    place = world.place(Role.HUMAN if caller in (None, Role.OBSERVER) else caller)
    case.path_parameters = dict(case.path_parameters or {}) | place.parts(VERBS[name])
    return place


def _mix(fitting: dict[str, Any], made: object, choices: list[bool]) -> dict[str, Any]:
    """Return a body that fits, with some of the fields of one that was made."""
    if not isinstance(made, dict):
        return fitting
    return fitting | {key: value for (key, value), is_in in zip(made.items(), choices, strict=False) if is_in}


def _call(world: World, session: requests.Session, case: Any, headers: dict[str, str]) -> requests.Response:
    request = case.as_transport_kwargs(base_url=world.server.url)
    request["headers"].update(
        headers
    )  # also where the case leaves its credential out: there are callers without one
    if case.operation.definition.raw["operationId"] not in OPEN_REPLIES:
        return session.request(**request, timeout=PATIENCE)
    with requests.Session() as alone:  # its connection must not be used again
        alone.trust_env = False
        reply = alone.request(**request, timeout=PATIENCE, stream=True)
        reply._content = next(reply.iter_content(None)) if reply.ok else reply.content
        return reply
