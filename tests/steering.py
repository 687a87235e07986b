"""How tests drive and steer runs through a hub, and read what stands on its topics."""

import json
from typing import Any

from assent.hub.command import DriverCommand, ExecuteControl, Posted, PostMessage, Request, Told
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.protocol.control import Control
from assent.protocol.principal import Principal
from assent.protocol.run import Run, RunId
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from tests.patience import PATIENCE
from tests.run_samples import RUN_ID
from tests.samples import AGENT, ANA

__all__ = ["PROJECT", "Told", "drive", "execute", "find_control", "find_run", "post", "said", "tell", "topic"]

PROJECT = "test"


def tell(hub: Hub, request: Request, by: Principal, project: str = PROJECT) -> Told:
    """Send one request and return what its sender is told."""
    future = hub.handle(request, project=project, principal=by)
    assert isinstance(future, LightFuture)
    assert future.wait(PATIENCE)
    return future.result()


def post(
    hub: Hub, text: bytes, by: Principal = ANA, *, is_left: bool = False, project: str = PROJECT
) -> Posted:
    """Post a text on `loop:control`: the first of the two transactions."""
    told = tell(hub, PostMessage(CONTROL_TOPIC, text, is_left), by, project)
    assert isinstance(told, Posted)
    return told


def execute(hub: Hub, request_id: str, by: Principal = ANA, project: str = PROJECT) -> Control:
    """Execute what was accepted: the second transaction."""
    told = tell(hub, ExecuteControl(request_id), by, project)
    assert isinstance(told, Control)
    return told


def drive(hub: Hub, command: DriverCommand, by: Principal = AGENT, project: str = PROJECT) -> Run:
    """Send a driver's command and return the run."""
    told = tell(hub, command, by, project)
    assert isinstance(told, Run)
    return told


def find_run(hub: Hub, run_id: str = RUN_ID, project: str = PROJECT) -> Run:
    """Return a run as the store has it; looking executes nothing."""
    with hub.store.reading() as reader:
        run = reader.run(project, RunId(run_id))
    assert run is not None
    return run


def find_control(hub: Hub, request_id: str, project: str = PROJECT) -> Control:
    """Return a control as the store has it; looking executes nothing."""
    with hub.store.reading() as reader:
        [control] = [known for known in reader.controls(project) if known.request.request_id == request_id]
    return control


def topic(hub: Hub, name: str = CONTROL_TOPIC, project: str = PROJECT) -> list[tuple[int, dict[str, Any]]]:
    """Return a topic's messages with their numbers; looking executes nothing."""
    with hub.store.reading() as reader:
        found = reader.messages(project, name, 0, 1_000)
    return [(message.sequence, json.loads(bytes(message.body))) for message in found]


def said(hub: Hub, project: str = PROJECT) -> list[str]:
    """Return what stands on both topics, in the order of its numbers, a word or two each."""
    both = topic(hub, CONTROL_TOPIC, project) + topic(hub, CURRENT_TOPIC, project)
    return [_word(body) for _, body in sorted(both, key=lambda message: message[0])]


def _word(body: dict[str, Any]) -> str:
    if body["schema"] == 0:
        code = body.get("payload", {}).get("code") or body.get("payload", {}).get("status")
        return f"{body['type']} {code}" if code else str(body["type"])
    return f"{body['event']} {body.get('reason') or body.get('status') or ''}".strip()
