"""Runs and topics through a client, the same for threads and for tasks."""

import asyncio
import fcntl
import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from assent.client.client import Client
from assent.client.driven import DrivenRun
from assent.client.turns import Turn
from assent.hub import hub as hub_module
from assent.protocol.ask import State
from assent.protocol.control import ControlMessage
from assent.protocol.error import (
    AssentError,
    BadJsonError,
    BadRequestError,
    ControlExpiredError,
    ForbiddenError,
    InvalidStateError,
    NotFoundError,
    RunEndedError,
    RunTakenError,
    StillOpen,
    StoreBusyError,
    Withdrawn,
)
from assent.protocol.json_text import Json
from assent.protocol.run import DoneReason, Status
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC
from assent.testing import ThrowawayStore
from tests.client.both import Clients, NewStore, only_on_a_file
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

RUN_ID = "loop-1703123456-12345"


@pytest.fixture
def agent(clients: Clients) -> Client:
    """Give a client that drives."""
    return clients.agent()


@pytest.fixture
def ana(clients: Clients) -> Client:
    """Give a client that steers."""
    return clients.person()


@contextmanager
def beside(story: Callable[[Client], None], store: ThrowawayStore) -> Iterator[None]:
    """Let a person do something on a thread of their own; whatever goes wrong there is raised here."""
    faults: list[BaseException] = []

    def live() -> None:
        try:
            story(store.person())
        except BaseException as error:  # noqa: BLE001 - handed on below
            faults.append(error)

    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    yield
    thread.join(PATIENCE)
    if faults:
        raise faults[0]
    assert not thread.is_alive()


def until_logged(client: Client, kind: str, count: int = 1) -> None:
    """Wait until the log has so many events of a kind."""
    until = time.monotonic() + PATIENCE
    with client.door.follow(client.project, 0) as feed:
        while count:
            records = feed.wait(until - time.monotonic())
            assert records, f"no {kind} was logged in time"
            count = max(0, count - sum(record.type == kind for record in records))


def events(client: Client) -> list[str]:
    """Return what stands on `loop:current`: the event with its reason or status."""
    bodies = [json.loads(bytes(message.body)) for message in client.read(CURRENT_TOPIC)]
    return [f"{body['event']} {body.get('reason') or body.get('status') or ''}".strip() for body in bodies]


def numbers(run: DrivenRun) -> list[int]:
    """Go through all turns of a run."""
    return [turn.number for turn in run]


# Driving


def test_run_gives_turns_up_to_its_limit(agent: Client) -> None:
    """And is done then, with the reason that the protocol has for it."""
    with agent.run(max=3, model="haiku", title="Tidy up") as run:
        turns = list(run)
        assert run.state.status is Status.DONE
    assert turns == [Turn(number, 3, "haiku") for number in (1, 2, 3)]
    kept = agent.find_run(run.run_id)
    assert (kept.status, kept.reason, kept.title) == (Status.DONE, "MAX_ITERATIONS", "Tidy up")
    assert events(agent) == ["STATE", "STATE", "STATE", "STATE", "DONE MAX_ITERATIONS"]


@pytest.mark.parametrize(("mode", "most"), [("loop", 10), ("issue", 10), ("grind", 100)])
def test_run_has_the_limit_of_its_mode_and_an_id_of_its_own(agent: Client, mode: str, most: int) -> None:
    """I-U4, I-U5: mode, epoch seconds and process id."""
    with agent.run(mode) as run, agent.run(mode) as other:
        assert run.state.top.frame.max == most
        kind, seconds, process = run.run_id.split("-")
        assert (kind, seconds.isdecimal(), process) == (mode, True, str(os.getpid()))
        assert run.run_id != other.run_id
        assert run.state.stack[0].id == run.run_id


def test_run_that_is_left_early_is_complete(agent: Client) -> None:
    """Who breaks out of the `for` has what they wanted."""
    with agent.run() as run:
        for turn in run:
            if turn.number == 2:
                break
    assert agent.find_run(run.run_id).reason == "COMPLETE"
    assert events(agent)[-1] == "DONE COMPLETE"


def test_run_without_a_turn_is_complete(agent: Client) -> None:
    """There was nothing to do."""
    with agent.run() as run:
        pass
    assert agent.find_run(run.run_id).reason == "COMPLETE"


@pytest.mark.parametrize("reason", list(DoneReason))
@pytest.mark.parametrize("is_inside", [True, False])
def test_run_is_finished_with_a_reason(agent: Client, reason: DoneReason, is_inside: bool) -> None:
    """All five; in a turn the `for` gives no further one, and leaving the block says nothing more."""
    with agent.run() as run:
        if is_inside:
            for _ in run:
                run.finish(reason)
        else:
            run.finish(reason.value)
    assert agent.find_run(run.run_id).reason == reason.value
    assert events(agent).count(f"DONE {reason.value}") == 1


def test_reason_that_the_protocol_does_not_have_is_refused(agent: Client) -> None:
    """The sentence lists those that there are."""
    with agent.run() as run, pytest.raises(BadRequestError, match="NO_MORE_ISSUES"):
        run.finish("TIRED")


def test_error_aborts_the_run_and_is_raised(agent: Client) -> None:
    """I-U1: with the error's own words in the record."""

    def work() -> None:
        with agent.run(run_id=RUN_ID) as run:
            for _ in run:
                raise ZeroDivisionError("by nothing")

    with pytest.raises(ZeroDivisionError):
        work()
    kept = agent.find_run(RUN_ID)
    assert (kept.status, kept.reason, kept.note) == (
        Status.ABORTED,
        "ERROR",
        "ZeroDivisionError: by nothing",
    )
    assert not agent.is_driven(kept)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_interrupted_run_is_left_open_and_gone_on_with(
    clients: Clients, agent: Client, kind: type[BaseException]
) -> None:
    """Ctrl-C is no failure: a second `with` goes on with the iteration that was interrupted, as attempt 2."""
    seen = []
    with suppress(kind), agent.run(run_id=RUN_ID, max=3) as run:
        for turn in run:
            if turn.number == 2:
                raise kind
    left = agent.find_run(RUN_ID)
    assert (left.status, left.top.is_open, agent.is_driven(left)) == (Status.RUNNING, True, False)
    with clients.agent().run(run_id=RUN_ID, max=3) as run:
        seen = [(turn.number, turn.attempt) for turn in run]
    assert seen == [(2, 2), (3, 1)]
    assert run.state.fence == 2


@pytest.mark.parametrize("is_paused", [True, False])
def test_task_that_is_cancelled_leaves_its_run_open(store: ThrowawayStore, is_paused: bool) -> None:
    """As Ctrl-C does: in the middle of a turn, or while it waits for a resume."""
    client, person = store.async_agent(), store.person()

    async def drive(begun: asyncio.Event) -> None:
        async with client.run(run_id=RUN_ID) as run:
            async for _ in run:
                if is_paused:
                    person.pause(RUN_ID)
                begun.set()
                if not is_paused:
                    await asyncio.Event().wait()

    async def cancel() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(drive(begun))
        await asyncio.wait_for(begun.wait(), PATIENCE)
        if is_paused:
            await asyncio.to_thread(until_logged, person, "run.turn_ended")
        task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)

    asyncio.run(cancel())
    left = person.find_run(RUN_ID)
    assert left.status is (Status.PAUSED if is_paused else Status.RUNNING)
    assert not person.is_driven(left)


def test_run_that_has_ended_gives_no_turns(agent: Client) -> None:
    """Whoever comes again with its id does nothing twice."""
    with agent.run(run_id=RUN_ID, max=1) as run:
        assert numbers(run) == [1]
    with agent.run(run_id=RUN_ID, max=1) as run:
        assert numbers(run) == []
        assert run.state.reason == "MAX_ITERATIONS"
    assert events(agent) == ["STATE", "STATE", "DONE MAX_ITERATIONS"]


def test_second_driver_is_refused(clients: Clients, agent: Client) -> None:
    """While the first one lives; afterwards the run is free."""
    with agent.run(run_id=RUN_ID) as run:
        other = clients.agent("other")
        with pytest.raises(RunTakenError, match=RUN_ID), other.run(run_id=RUN_ID):
            pass
        assert agent.is_driven(run.state)
        assert other.is_driven(run.state)
    assert not agent.is_driven(run.state)


def test_forked_child_does_not_drive_its_parents_run(store: ThrowawayStore) -> None:
    """It gets a refusal, and the parent goes on."""
    context = multiprocessing.get_context("fork")
    told = context.Pipe()
    with store.agent().run(max=2) as run:
        turns = iter(run)
        next(turns)

        def child() -> None:
            try:
                next(turns)
                told[1].send("a turn")
            except AssentError as error:
                told[1].send(error.code)
            os._exit(0)

        fork = context.Process(target=child)
        fork.start()
        assert told[0].poll(PATIENCE)
        assert told[0].recv() == "run_taken"
        fork.join(PATIENCE)
        assert [turn.number for turn in turns] == [2]


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"mode": "dance"}, "is not a mode"),
        ({"max": 0}, "1 to 1,000,000 iterations"),
        ({"max": -3}, "1 to 1,000,000 iterations"),
        ({"model": "opus", "models": ["haiku"]}, "none of those declared"),
        ({"run_id": "a b"}, "is no run id"),
        ({"run_id": ""}, "is no run id"),
    ],
)
def test_run_that_makes_no_sense_is_refused(agent: Client, parts: dict[str, object], sentence: str) -> None:
    """Before anything is written."""
    with pytest.raises(BadRequestError, match=sentence):
        agent.run(**parts)  # type: ignore[arg-type]  # fields by name
    assert agent.runs(all_states=True) == []


# Steering a run that is driven


@proves("I5", "I9", "I10")
def test_paused_run_waits_and_goes_on_when_it_is_resumed(clients: Clients, agent: Client) -> None:
    """The iteration under way finishes; the next begins only behind the resume."""
    order: list[str] = []

    def resume(person: Client) -> None:
        until_logged(person, "run.turn_ended")
        order.append("resume")
        person.resume(RUN_ID)

    with beside(resume, clients.store), agent.run(run_id=RUN_ID, max=2) as run:
        for turn in run:
            order.append(f"turn {turn.number}")
            if turn.number == 1:
                clients.store.person().pause(RUN_ID)
                order.append("paused")
    assert order == ["turn 1", "paused", "resume", "turn 2"]
    assert events(agent)[2:] == ["STATE paused", "STATE", "STATE", "DONE MAX_ITERATIONS"]


@proves("I9", "I10")
@pytest.mark.parametrize("reason", [None, "COMPLETE"])
def test_run_that_is_paused_in_its_last_turn_waits_and_is_done_when_it_is_resumed(
    clients: Clients, agent: Client, reason: str | None
) -> None:
    """Whether it came to its limit or said that it is over: no further turn, and DONE only behind the resume."""
    order: list[str] = []

    def resume(person: Client) -> None:
        until_logged(person, "run.held")
        order.append(person.find_run(RUN_ID).status)
        person.resume(RUN_ID)

    with beside(resume, clients.store), agent.run(run_id=RUN_ID, max=1 if reason is None else 5) as run:
        for turn in run:
            clients.store.person().pause(RUN_ID)
            order.append(f"turn {turn.number}")
            if reason is not None:
                run.finish(reason)
    assert order == ["turn 1", "paused"]
    assert (run.state.status, run.state.reason) == (Status.DONE, reason or "MAX_ITERATIONS")
    assert events(agent)[2:] == ["STATE paused", "STATE paused", "STATE", f"DONE {run.state.reason}"]


@proves("I9", "I44")
def test_run_that_is_left_while_it_is_paused_is_held_without_a_driver(agent: Client, ana: Client) -> None:
    """Whoever drives it again has no turn; a resume ends it, also where nobody drives it."""
    with agent.run(run_id=RUN_ID) as run:
        assert next(iter(run)).number == 1
        ana.pause(RUN_ID)
    assert agent.find_run(RUN_ID).held == "COMPLETE"
    with suppress(KeyboardInterrupt), agent.run(run_id=RUN_ID) as again:
        assert (again.state.status, again.state.held) == (Status.PAUSED, "COMPLETE")
        raise KeyboardInterrupt
    ana.resume(RUN_ID)
    kept = agent.find_run(RUN_ID)
    assert (kept.status, kept.reason, kept.ended_by) == (Status.DONE, "COMPLETE", "agent:coder")


@proves("I11")
def test_cancel_of_a_held_run_is_abort(agent: Client, ana: Client) -> None:
    """Though its work was over."""
    with agent.run(run_id=RUN_ID) as run:
        assert next(iter(run)).number == 1
        ana.pause(RUN_ID)
    ana.cancel(RUN_ID)
    assert (run.look().status, events(agent)[-1]) == (Status.ABORTED, "ABORT USER_CANCELLED")


@proves("I11")
def test_cancelled_run_ends_the_for(clients: Clients, agent: Client, ana: Client) -> None:
    """In the middle of a turn: it is the last one. Nothing is raised, and its asks are withdrawn."""
    with agent.run(run_id=RUN_ID) as run:
        asked = agent.open("Which?", ["a", "b"], run_id=run.run_id)
        for turn in run:
            assert turn.number == 1
            ana.cancel(RUN_ID)
    assert (run.state.status, run.state.reason) == (Status.ABORTED, "USER_CANCELLED")
    assert clients.store.agent().show(asked.ask_id).state is State.WITHDRAWN
    assert events(agent)[-1] == "ABORT USER_CANCELLED"


@proves("I11")
def test_cancel_ends_the_wait_of_a_paused_run(clients: Clients, agent: Client) -> None:
    """Somebody paused it and thought better of it."""

    def cancel(person: Client) -> None:
        until_logged(person, "run.turn_ended")
        person.cancel(RUN_ID)

    with beside(cancel, clients.store), agent.run(run_id=RUN_ID) as run:
        for _ in run:
            clients.store.person().pause(RUN_ID)
    assert run.state.reason == "USER_CANCELLED"


def test_long_turn_can_look_whether_its_run_was_cancelled(agent: Client, ana: Client) -> None:
    """`check` raises then; leaving the block with that error is no failure of its own."""

    def work() -> None:
        with agent.run(run_id=RUN_ID) as run:
            for _ in run:
                run.check()
                ana.cancel(RUN_ID)
                run.check()

    with pytest.raises(RunEndedError, match="USER_CANCELLED"):
        work()
    assert agent.find_run(RUN_ID).reason == "USER_CANCELLED"
    assert events(agent)[-1] == "ABORT USER_CANCELLED"


def test_ask_of_a_cancelled_run_ends_the_turn(clients: Clients, agent: Client) -> None:
    """An agent that waits for an answer learns from it that its run is over; what was cancelled stays cancelled."""

    def cancel(person: Client) -> None:
        until_logged(person, "ask.opened")
        person.cancel(RUN_ID)

    def work() -> None:
        with agent.run(run_id=RUN_ID) as run:
            for _ in run:
                agent.ask("Which?", ["a", "b"], run_id=RUN_ID, wait=PATIENCE)

    with beside(cancel, clients.store), pytest.raises(Withdrawn):
        work()
    assert agent.find_run(RUN_ID).reason == "USER_CANCELLED"
    with pytest.raises(RunEndedError):
        agent.open("Another?", ["a", "b"], run_id=RUN_ID)


@proves("I12", "I27")
def test_escalation_shows_in_the_next_turn(agent: Client, ana: Client) -> None:
    """The one under way keeps the model that it began with."""
    models = []
    with agent.run(run_id=RUN_ID, max=3, model="haiku", models=["haiku", "opus"]) as run:
        for turn in run:
            models.append(turn.model)
            if turn.number == 1:
                result = ana.escalate(RUN_ID, reason="stuck")
                assert result.payload == {
                    "status": "success",
                    "previous_model": "haiku",
                    "new_model": "opus",
                }
                assert (turn.model, run.look().model) == ("haiku", "opus")
    assert models == ["haiku", "opus", "opus"]


# Loops inside loops


def test_nested_loop_is_a_loop_of_its_own(agent: Client) -> None:
    """I-U3: pushed and popped; the outer one goes on where it was."""
    seen = []
    with agent.run("grind", max=2, run_id=RUN_ID, model="haiku") as run:
        for outer in run:
            with run.nested("issue", max=2, issue_id=f"auth-{outer.number}") as inner:
                for turn in inner:
                    stack = inner.state.stack
                    seen.append((outer.number, turn.number, turn.model, [frame.iter for frame in stack]))
                    assert stack[1].id.startswith(f"issue-auth-{outer.number}-")
                    assert (stack[0].id, stack[1].issue_id) == (RUN_ID, f"auth-{outer.number}")
    assert seen == [
        (1, 1, "haiku", [1, 1]),
        (1, 2, "haiku", [1, 2]),
        (2, 1, "haiku", [2, 1]),
        (2, 2, "haiku", [2, 2]),
    ]
    assert agent.find_run(RUN_ID).reason == "MAX_ISSUES"


def test_nested_loop_that_is_left_early_leaves_the_run_going(agent: Client) -> None:
    """Its break is its own."""
    with agent.run(max=2, run_id=RUN_ID) as run:
        for _ in run:
            with run.nested("issue") as inner:
                for _ in inner:
                    break
                assert len(run.look().levels) == 2
            assert len(run.look().levels) == 1
            assert run.state.status is Status.RUNNING
    assert agent.find_run(RUN_ID).reason == "MAX_ITERATIONS"


def test_error_inside_a_nested_loop_is_the_outer_ones_to_catch(agent: Client) -> None:
    """Caught, the run goes on; otherwise it is aborted once."""
    with agent.run(max=2, run_id=RUN_ID) as run:
        for _ in run:
            with suppress(LookupError), run.nested("issue") as inner:
                for _ in inner:
                    raise LookupError
    assert agent.find_run(RUN_ID).reason == "MAX_ITERATIONS"

    def work() -> None:
        with agent.run(run_id="other") as run:
            for _ in run:
                with run.nested("issue") as inner:
                    for _ in inner:
                        raise LookupError

    with pytest.raises(LookupError):
        work()
    assert agent.find_run("other").reason == "ERROR"


@proves("I11")
def test_cancel_ends_every_loop(agent: Client, ana: Client) -> None:
    """I-X14: inner and outer, and nothing is said behind ABORT."""
    with agent.run(run_id=RUN_ID) as run:
        for _ in run:
            with run.nested("issue") as inner:
                for _ in inner:
                    ana.cancel(RUN_ID)
    assert run.state.reason == "USER_CANCELLED"
    assert events(agent)[-1] == "ABORT USER_CANCELLED"
    assert events(agent).count("ABORT USER_CANCELLED") == 1


# Controls


@proves("I8", "I26", "I28", "I38", "I39")
def test_command_returns_its_result_or_raises_why_not(agent: Client, ana: Client) -> None:
    """Typed, with the sentence of the RESULT."""
    with agent.run(run_id=RUN_ID, model="haiku", models=["haiku", "opus"]) as run:
        next(iter(run))
        with pytest.raises(InvalidStateError, match="is not paused"):
            ana.resume(RUN_ID)
        assert ana.pause(RUN_ID).payload["message"] == "Loop paused at iteration 1"
        with pytest.raises(InvalidStateError, match="is paused already"):
            ana.pause(RUN_ID)
        assert ana.escalate(RUN_ID).payload["new_model"] == "opus"
        with pytest.raises(InvalidStateError, match="is on opus already"):
            ana.escalate(RUN_ID, "opus")
        with pytest.raises(BadRequestError, match="must be one of haiku, opus"):
            ana.escalate(RUN_ID, "sonnet")
        assert ana.resume(RUN_ID).is_success
        assert ana.cancel(RUN_ID).payload == {"status": "success"}
        with pytest.raises(NotFoundError, match=f"Run {RUN_ID} is not active"):
            ana.cancel(RUN_ID)
    with pytest.raises(NotFoundError, match="Run nobody is not active"):
        ana.pause("nobody")


@proves("I30", "I31", "I33")
def test_command_that_is_sent_again_is_executed_once(clients: Clients, agent: Client, ana: Client) -> None:
    """Under the same id, from another process, after the reply was lost."""
    with agent.run(run_id=RUN_ID):
        first = ana.control(RUN_ID, "pause", request_id="req-1")
        ana.resume(RUN_ID)
        again = clients.person("bob").control(RUN_ID, "pause", request_id="req-1")
        assert (first.is_success, again.payload) == (True, first.payload)
        assert agent.find_run(RUN_ID).status is Status.RUNNING
        other = ana.control(RUN_ID, "cancel", request_id="req-1")
        assert (other.is_success, other.code) == (False, "duplicate")
        assert agent.find_run(RUN_ID).is_active
    types = [json.loads(bytes(message.body))["type"] for message in ana.read(CONTROL_TOPIC)]
    assert types == ["REQUEST", "ACK", "RESULT"] * 2 + ["REQUEST", "RESULT"] * 2


@proves("I15", "I20")
def test_command_carries_an_id_and_a_moment_of_its_own(agent: Client, ana: Client) -> None:
    """A UUID v4, and the store's clock; the issue is repeated where one was named."""
    with agent.run(run_id=RUN_ID):
        results: list[ControlMessage] = [
            ana.control(RUN_ID, "pause", issue_id="auth-123"),
            ana.control(RUN_ID, "resume"),
        ]
    bodies = [json.loads(bytes(message.body)) for message in ana.read(CONTROL_TOPIC)]
    ids = [body["request_id"] for body in bodies]
    assert ids == [results[0].request_id] * 3 + [results[1].request_id] * 3
    assert all(len(id_) == 36 and id_[14] == "4" for id_ in ids)
    assert [body["target"] for body in bodies] == [{"run_id": RUN_ID, "issue_id": "auth-123"}] * 3 + [
        {"run_id": RUN_ID}
    ] * 3
    assert {body["timestamp"] for body in bodies} == {"2030-01-01T12:00:00Z"}


def test_command_that_is_none_is_refused(ana: Client) -> None:
    """Before anything is posted."""
    with pytest.raises(BadRequestError, match="pause, resume, cancel or escalate"):
        ana.control(RUN_ID, "dance")
    with pytest.raises(BadRequestError, match="is no run id"):
        ana.pause("a b")
    for model in ("", "x" * 201, "a\x1b[2J"):
        with pytest.raises(BadRequestError, match="A model's name"):
            ana.escalate(RUN_ID, model)
    assert ana.read(CONTROL_TOPIC) == []


def test_agent_cannot_steer(agent: Client) -> None:
    """Not its own run either."""
    with agent.run(run_id=RUN_ID):
        for steer in (agent.pause, agent.resume, agent.cancel, agent.escalate):
            with pytest.raises(ForbiddenError, match="only a person can steer"):
                steer(RUN_ID)
    assert agent.read(CONTROL_TOPIC) == []


@contextmanager
def held_elsewhere(store: ThrowawayStore) -> Iterator[None]:
    """Hold the file's lock as another process would."""
    descriptor = os.open(f"{store.path}-lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@only_on_a_file
@proves("I29", "I30", "I32")
def test_command_that_nobody_acknowledged_in_time_is_expired(
    clients: Clients, agent: Client, ana: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told apart from a failure; nothing is executed later, and the id is as good as new."""
    with agent.run(run_id=RUN_ID):
        with monkeypatch.context() as patch, held_elsewhere(clients.store):
            patch.setattr(hub_module, "BUSY_SECONDS", 0.05)
            with pytest.raises(ControlExpiredError, match="will not be executed"):
                ana.control(RUN_ID, "pause", request_id="req-1", wait=0.2)
        assert ana.read(CONTROL_TOPIC) == []
        assert ana.control(RUN_ID, "pause", request_id="req-1").is_success


@only_on_a_file
@proves("I30", "I32")
def test_command_is_sent_again_until_the_store_is_free(
    clients: Clients, agent: Client, ana: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A controller retries with the same id while its time lasts."""
    held, tries = ExitStack(), []
    give_up = hub_module._give_up

    def give_up_once(work: hub_module.Work) -> None:
        give_up(work)
        tries.append(work)
        held.close()  # whoever held the store is done with it

    with agent.run(run_id=RUN_ID):
        with held, monkeypatch.context() as patch:
            held.enter_context(held_elsewhere(clients.store))
            patch.setattr(hub_module, "BUSY_SECONDS", 0.05)
            patch.setattr(hub_module, "_give_up", give_up_once)
            assert ana.control(RUN_ID, "pause", wait=PATIENCE).is_success
        assert tries


# Looking


def test_runs_are_listed_and_found(clients: Clients, agent: Client, ana: Client) -> None:
    """Active ones, with the ended ones, of this project or of all."""
    with agent.run(run_id="first"):
        pass
    with agent.run(run_id="second"), clients.agent(project="elsewhere").run(run_id="third"):
        assert [run.run_id for run in ana.runs()] == ["second"]
        assert [run.run_id for run in ana.runs(all_states=True)] == ["second", "first"]
        assert {run.run_id for run in ana.runs(all_projects=True)} == {"second", "third"}
        assert ana.find_run("first").status is Status.DONE
        with pytest.raises(NotFoundError, match="no run third in project test"):
            ana.find_run("third")


def test_change_of_a_run_can_be_waited_for(clients: Clients, agent: Client, ana: Client) -> None:
    """From another process, or in vain."""
    with agent.run(run_id=RUN_ID) as run:
        after = run.state.sequence
        with pytest.raises(StillOpen):
            ana.wait_for_run(RUN_ID, after, 0.02)
        with beside(lambda person: void(person.pause(RUN_ID)), clients.store):
            assert ana.wait_for_run(RUN_ID, after, PATIENCE).status is Status.PAUSED


def void(_: object) -> None:
    """Take something and do nothing."""


# Topics


@proves("I4")
def test_message_is_posted_and_read_across_processes(clients: Clients, agent: Client, ana: Client) -> None:
    """I-U9: what one posts the other reads, in order, with its number."""
    first = agent.post("issue:auth-123", {"note": "begun", "n": 1})
    second = ana.post("issue:auth-123", ["done"])
    agent.post("issue:other", None)
    read = ana.read("issue:auth-123")
    assert [json.loads(bytes(message.body)) for message in read] == [{"note": "begun", "n": 1}, ["done"]]
    assert [message.sequence for message in read] == [first.sequence, second.sequence] == [1, 2]
    assert [message.sequence for message in ana.read("issue:auth-123", 1)] == [2]
    assert [message.sequence for message in ana.read("issue:auth-123", limit=1)] == [1]
    assert clients.agent(project="elsewhere").read("issue:auth-123") == []
    assert ana.read("issue:nobody") == []


def test_topic_is_followed_live(clients: Clients, agent: Client) -> None:
    """What was there and what comes, from another process."""
    agent.post("issue:1", 1)

    def write(person: Client) -> None:
        person.post("issue:2", "not ours")
        person.post("issue:1", 2)
        person.post("issue:1", 3)

    seen = []
    with beside(write, clients.store):
        for message in agent.follow_topic("issue:1"):
            seen.append(json.loads(bytes(message.body)))
            if len(seen) == 3:
                break
    assert seen == [1, 2, 3]
    later = agent.follow_topic("issue:1", 1)
    assert json.loads(bytes(next(later).body)) == 2


@proves("I4", "I6")
def test_request_that_is_posted_raw_is_executed(agent: Client, ana: Client) -> None:
    """Through whichever door: by the time the call returns, its RESULT is there."""
    request: dict[str, Json] = {
        "schema": 0,
        "type": "REQUEST",
        "request_id": "req-pause-001",
        "command": "pause",
        "target": {"run_id": RUN_ID},
        "timestamp": "2024-12-28T10:00:00Z",
        "payload": {},
    }
    with agent.run(run_id=RUN_ID) as run:
        message = ana.post(CONTROL_TOPIC, request)
        assert json.loads(bytes(message.body)) == request
        assert run.look().status is Status.PAUSED
        assert len(ana.read(CONTROL_TOPIC)) == 3
        ana.post(CONTROL_TOPIC, {**request, "target": {}})
        last = json.loads(bytes(ana.read(CONTROL_TOPIC)[-1].body))
        assert last["payload"]["code"] == "bad_request"


@pytest.mark.parametrize(
    ("topic", "text", "kind"),
    [
        (CURRENT_TOPIC, b'{"schema": 1}', ForbiddenError),
        (CONTROL_TOPIC, b"pause!", BadRequestError),
        (CONTROL_TOPIC, b"{}", BadRequestError),
        ("issue:1", b"pause!", BadJsonError),
        ("issue 1", b"{}", BadRequestError),
    ],
)
def test_message_that_cannot_be_posted_is_refused(
    ana: Client, topic: str, text: bytes, kind: type[AssentError]
) -> None:
    """With a sentence; no topic shows it."""
    with pytest.raises(kind):
        ana.post_text(topic, text)
    if topic != "issue 1":
        assert ana.read(topic) == []


def test_unreadable_topic_is_refused(ana: Client) -> None:
    """A name that cannot be typed is no topic."""
    with pytest.raises(BadRequestError, match="is no topic"):
        ana.read("a b")


@pytest.mark.parametrize(
    "parts",
    [
        {"max": 2.5},
        {"max": True},
        {"max": "3"},
        {"max": 0},
        {"model": ""},
        {"model": "a\nb"},
        {"issue_id": ["x"]},
        {"models": [1]},
        {"title": 5},
        {"title": "x" * 201},
    ],
)
def test_run_with_a_part_of_the_wrong_kind_is_refused_and_begins_nothing(
    new_store: NewStore, parts: dict[str, Any]
) -> None:
    """What could be written and not be read again would spoil the whole list of runs."""
    with new_store() as store:
        client = store.agent()
        with pytest.raises(BadRequestError):
            client.run(**parts)
        assert client.runs(all_states=True) == []


def test_error_whose_text_no_record_can_hold_still_aborts_the_run_and_comes_out(new_store: NewStore) -> None:
    """Whatever somebody else's error says of itself."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    with new_store() as store:
        client = store.agent()
        for error in (ValueError("caf\udce9"), MuteError()):
            with pytest.raises(type(error)), client.run() as run:
                raise error
            assert run.look().reason == "ERROR"


def test_inner_loop_that_raised_is_gone_before_the_next_one_begins(new_store: NewStore) -> None:
    """The outer loop may go on, and nothing stands on a dead loop."""
    with new_store() as store, store.agent().run(max=1) as run:
        for _ in run:
            with suppress(ValueError), run.nested() as inner:
                next(inner)
                raise ValueError
            with run.nested() as inner:
                assert len(inner.state.levels) == 2


def test_store_that_is_held_for_a_while_does_not_end_a_run(
    new_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver tries again: its work is worth waiting for."""
    with new_store() as store:
        client = store.agent()
        send, busy = client.calls.door.send, [StoreBusyError(), StoreBusyError()]

        def sometimes(*given: Any) -> Any:
            if busy:
                raise busy.pop()
            return send(*given)

        with client.run(max=1) as run:
            monkeypatch.setattr(client.calls.door, "send", sometimes)
            assert [turn.number for turn in run] == [1]
        assert busy == []
        assert run.state.reason == "MAX_ITERATIONS"
