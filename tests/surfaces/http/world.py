"""A server with callers of every role, and for every verb a request that fits: what the tests from outside start from.

A request is built from the table of verbs: the parts of its path are things that are made when they are needed, by
whoever is going to call, over HTTP and nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx2
import msgspec

from assent.client.journal import make_step, render_opened
from assent.client.verbs import VERBS, Verb
from assent.flows.walk_through.walk_through import WALK_THROUGH, ReviewInputs
from assent.protocol.finding import Intake
from assent.protocol.principal import Assurance, Role
from assent.surfaces.http.events import EVENTS
from assent.testing import FakeClock, ThrowawayStore, throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE

__all__ = ["BODIES", "CALLS", "OPEN_REPLIES", "Place", "Sent", "Trial", "World", "a_world"]

CALLS: dict[str, Verb] = VERBS | {EVENTS.name: EVENTS}
"""Everything that is done with a token."""

OPEN_REPLIES = frozenset({"hold", EVENTS.name})
"""The verbs whose reply stays open."""
_ACTION = {"drop": "users.legacy_id"}


class Trial(msgspec.Struct, frozen=True):
    """A request that fits a verb."""

    verb: Verb
    path: str
    body: Any = None


class Sent(msgspec.Struct, frozen=True):
    """What came of a request."""

    status: int
    body: bytes
    media: str = ""

    @property
    def code(self) -> str:
        """The code of the error in it; empty where there is none of our shape."""
        try:
            return str(msgspec.json.decode(self.body)["error"]["code"])
        except (msgspec.DecodeError, KeyError, TypeError):
            return ""

    @property
    def message(self) -> str:
        """The sentence of the error in it."""
        return str(msgspec.json.decode(self.body)["error"]["message"])


class World:
    """A server, and who calls it."""

    def __init__(self, store: ThrowawayStore, server: ThrowawayServer) -> None:
        self.store, self.server = store, server
        self.tokens = {role: server.token(role, f"a-{role}") for role in Role}
        """A secret for each role, good in every project."""
        self.line = httpx2.Client(base_url=server.url, timeout=PATIENCE, trust_env=False)
        self._numbers = itertools.count(1)
        self._held = ExitStack()
        self._lines: list[Iterator[bytes]] = []
        self._looker = store.person("looker", assurance=Assurance.TERMINAL)

    def number(self) -> int:
        """Return a number that was not used before."""
        return next(self._numbers)

    def place(self, owner: Role = Role.HUMAN, project: str | None = None) -> Place:
        """Return a project of its own; what is made in it, `owner` makes."""
        return Place(self, project or f"p-{self.number():05}", self.tokens[owner])

    def send(self, trial: Trial, headers: dict[str, str]) -> Sent:
        """Send a request, and read of its reply what comes at once."""
        text = None if trial.body is None else msgspec.json.encode(trial.body)
        return self.send_text(trial, headers, text)

    def send_text(self, trial: Trial, headers: dict[str, str], text: bytes | None) -> Sent:
        """Send a request with this text as its body."""
        if text is not None:
            headers = {"content-type": "application/json"} | headers
        with (
            self._held.pop_all(),
            self.line.stream(trial.verb.method, trial.path, content=text, headers=headers) as reply,
        ):
            media = reply.headers.get("content-type", "")
            if trial.verb.name in OPEN_REPLIES and reply.is_success:
                return Sent(reply.status_code, next(reply.iter_raw()), media)
            return Sent(reply.status_code, reply.read(), media)

    def send_as(self, trial: Trial, secret: str) -> Sent:
        """Send a request with this secret."""
        return self.send(trial, {"authorization": f"Bearer {secret}"})

    def hold(self, place: Place, run_id: str) -> None:
        """Hold a run, under its own name as the key, until the next request has been answered."""
        headers = {
            "authorization": f"Bearer {place.secret}",
            "content-type": "application/json",
            "idempotency-key": run_id,
        }
        text = msgspec.json.encode({"run_id": run_id})
        path = place.path(VERBS["hold"])
        reply = self._held.enter_context(self.line.stream("POST", path, content=text, headers=headers))
        self._lines.append(reply.iter_raw())  # kept, for it hangs up when it goes
        assert next(self._lines[-1]) == b"held\n"

    def look(self) -> dict[str, int]:
        """Return how many events each project has."""
        hub = self._looker.hub
        with hub.reading() as reader:
            return {head.project: head.sequence for head in reader.heads()}

    def close(self) -> None:
        """Hang up."""
        self._held.close()
        self.line.close()


class Place:
    """A project, and somebody who makes things in it."""

    def __init__(self, world: World, project: str, secret: str) -> None:
        self.world, self.project, self.secret = world, project, secret

    def make(self, name: str, body: object, **parts: str) -> dict[str, Any]:
        """Use a verb that makes something; return what it says."""
        trial = Trial(VERBS[name], self.path(VERBS[name], **parts), body)
        sent = self.world.send_as(trial, self.secret)
        assert sent.status == VERBS[name].status, (name, sent)
        made: dict[str, Any] = msgspec.json.decode(sent.body)
        return made

    def parts(self, verb: Verb, **given: str) -> dict[str, str]:
        """Return what the path of a verb names; what is not given is made."""
        path = verb.path.replace(":path}", "}")
        return given | {
            name: make(self) for name, make in PARTS.items() if f"{{{name}}}" in path and name not in given
        }

    def path(self, verb: Verb, **given: str) -> str:
        """Return the path of a verb; what is not given of it is made."""
        return verb.path.replace(":path}", "}").format(**self.parts(verb, **given))

    def trial(self, name: str, **parts: str) -> Trial:
        """Return a request that fits a verb."""
        verb = CALLS[name]
        make = BODIES.get(name)
        body = make(self) if make else None
        if name in ("drive_run", "write_step"):  # the body is about what the path names
            parts = {"flow": _FLOW} | parts
        if name == "show_review":
            parts = {"flow": _review(self)} | parts
        return Trial(verb, self.path(verb, **parts), body)


_FLOW = "review:1"


def _review(place: Place) -> str:
    flow_id = f"review:{place.world.number()}"
    inputs = ReviewInputs(Intake(), "plan.md", "2026-11-16")
    step = make_step(flow_id, 0, render_opened(WALK_THROUGH, inputs))
    body = msgspec.to_builtins(step) | {"by": ""}
    place.make("write_step", body, flow=flow_id)
    return flow_id


def _ask(place: Place) -> str:
    return str(place.make("open_ask", BODIES["open_ask"](place))["ask_id"])


def _receipt(place: Place) -> str:
    place.world.place(Role.HUMAN, place.project).make(
        "set_policy", {"hilConfig": {"scopeChanges": "automated"}}
    )
    told = place.make("request_approval", BODIES["request_approval"](place))
    return str(told["receipt"]["receipt_id"])


def _run(place: Place) -> str:
    return str(place.make("start_run", _start(place))["run_id"])


def _start(place: Place) -> dict[str, Any]:
    run_id = f"run-{place.world.number()}"
    place.world.hold(place, run_id)
    frame = {"id": "loop-1", "mode": "loop", "iter": 0, "max": 3}
    return {"run_id": run_id, "frame": frame, "driver": "host:1"}


def _hold(place: Place) -> str:
    return str(_start(place)["run_id"])


def _notification(place: Place) -> str:
    return str(place.make("add_notification", BODIES["add_notification"](place))["id"])


def _task(place: Place) -> str:
    return str(place.make("create_task", BODIES["create_task"](place))["task_id"])


def _token(place: Place) -> str:
    person = place.world.place(Role.HUMAN, place.project)
    return str(person.make("create_token", {"role": "observer", "name": "eve"})["token_id"])


PARTS: dict[str, Callable[[Place], str]] = {
    "project": lambda place: place.project,
    "ask": _ask,
    "receipt": _receipt,
    "topic": lambda place: f"notes:{place.world.number()}",
    "run": _run,
    "hold": _hold,
    "flow": lambda _: _FLOW,
    "notification": _notification,
    "task": _task,
    "token": _token,
}
"""How to make what stands in a path."""

BODIES: dict[str, Callable[[Place], Any]] = {
    "open_ask": lambda place: {"prompt": f"Which {place.world.number()}?", "options": ["A", "B"]},
    "answer_ask": lambda _: {"text": "1"},
    "report_undelivered": lambda _: {"reason": "No screen"},
    "request_approval": lambda place: {
        "title": f"Drop {place.world.number()}",
        "action": _ACTION,
        "category": "scopeChanges",
    },
    "redeem_receipt": lambda _: {"action": _ACTION},
    "post_message": lambda _: {"note": "Friday"},
    "control_run": lambda _: {"command": "pause"},
    "start_run": _start,
    "drive_run": lambda _: {"command": "begin", "fence": 1},
    "tell_output": lambda _: {"text": "3 passed\n", "fence": 1},
    "hold": lambda place: {"flow_id": f"review:{place.world.number()}"},
    "write_step": lambda _: {"flow_id": _FLOW, "step": 0, "digest": "d", "state": "done", "content": "e30="},
    "hand_in": lambda _: {
        "agent": "Coder",
        "sourceId": "T-1",
        "status": "failed",
        "open_questions": [{"text": "Which?"}],
    },
    "add_notification": lambda place: {
        "source": "plan",
        "sourceId": f"plan-{place.world.number()}",
        "questions": ["Which?"],
    },
    "resolve_notification": lambda _: {},
    "create_task": lambda place: {"title": f"Build {place.world.number()}"},
    "update_task": lambda _: {"priority": 3},
    "say_in_chat": lambda _: {"text": "Use B"},
    "set_policy": lambda _: {"hilConfig": {"architectureDecisions": "notify_and_proceed"}},
    "create_token": lambda _: {"role": "observer", "name": "bob"},
    "look": lambda place: {"page": "page-0001", "project": place.project},
}
"""A body that fits, for every verb that has one."""


@contextmanager
def a_world(clock: FakeClock | None = None) -> Iterator[World]:
    """Give a server with callers, and take it away again."""
    with throwaway(clock=clock) as store, ThrowawayServer(store) as server:
        world = World(store, server)
        try:
            yield world
        finally:
            world.close()
