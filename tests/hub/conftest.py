"""A throw-away store on a clock of our own, and what the hub's tests do with it."""

import asyncio
from collections.abc import Iterator

import pytest

from assent.hub.command import OpenAsk, Request, Told
from assent.hub.future import LightFuture
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id
from assent.protocol.ask import Ask, AskId
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal
from assent.protocol.prompt import Prompt
from assent.testing import FakeClock, ThrowawayStore, throwaway
from tests.patience import PATIENCE
from tests.samples import AGENT, NOON, WHICH, digest_of

__all__ = ["PROJECT", "clock", "dump", "hub", "opening", "send", "send_group", "store", "tell", "tell_group"]

PROJECT = "test"
ON_EACH_STORE = {
    "test_feed",
    "test_hub",
    "test_outbox",
    "test_receipts",
    "test_replay",
    "test_steering",
    "test_waiters",
}
"""The files whose tests run on SQLite and on PostgreSQL."""
ON_A_FILE = {
    "test_command_that_was_given_up_is_never_done",
    "test_look_goes_on_while_a_due_deadline_cannot_be_applied",
    "test_loop_is_not_blocked_by_a_store_that_is_held",
    "test_notifications_are_read_by_plain_sql_from_open_questions",
    "test_strict_hub_takes_only_uuids",
    "test_tampering_with_a_receipt_is_found",
    "test_task_is_told_that_the_store_is_busy_as_a_thread_is",
}
"""Those of their tests that take hold of the file itself, as does every one that asks for its `path`."""


@pytest.fixture
def clock() -> FakeClock:
    """Give a clock that stands at noon."""
    return FakeClock(NOON)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Have the tests of some files run on each store."""
    is_wanted = metafunc.module.__name__.rpartition(".")[2] in ON_EACH_STORE
    is_on_file = metafunc.function.__name__ in ON_A_FILE or "path" in metafunc.fixturenames
    if is_wanted and not is_on_file and "store_kind" in metafunc.fixturenames:
        metafunc.parametrize("store_kind", ["sqlite", "postgres"])


@pytest.fixture
def store_kind() -> str:
    """Say which store a test stands on."""
    return "sqlite"


@pytest.fixture
def store(clock: FakeClock, store_kind: str, request: pytest.FixtureRequest) -> Iterator[ThrowawayStore]:
    """Give an empty store on `clock`."""
    database = request.getfixturevalue("database") if store_kind == "postgres" else None
    with throwaway(project=PROJECT, clock=clock, database=database) as made:
        yield made


@pytest.fixture
def hub(store: ThrowawayStore) -> Hub:
    """Give a hub on `store`."""
    return store.hub()


def opening(
    prompt: Prompt = WHICH, *, ask_id: AskId | None = None, key: str | None = None, **parts: object
) -> OpenAsk:
    """Return the command that asks `prompt`."""
    return OpenAsk(ask_id or new_ask_id(), prompt, digest_of(prompt), key=key, **parts)  # type: ignore[arg-type]  # fields by name


def send(
    hub: Hub, request: Request, by: Principal = AGENT, command_id: str | None = None, project: str = PROJECT
) -> Ask:
    """Send one request and return the ask that it is about."""
    ask = tell(hub, request, by, command_id, project)
    assert isinstance(ask, Ask)
    return ask


def tell(
    hub: Hub, request: Request, by: Principal = AGENT, command_id: str | None = None, project: str = PROJECT
) -> Told:
    """Send one request and return what its sender is told."""
    future = hub.handle(request, project=project, principal=by, command_id=command_id)
    assert isinstance(future, LightFuture)
    assert future.wait(PATIENCE)
    return future.result()


def send_group(hub: Hub, *requests: tuple[Request, Principal]) -> list[Ask | AssentError]:
    """Send requests about asks so that they share one transaction; return each one's reply."""
    told = [reply for reply in tell_group(hub, *requests) if isinstance(reply, Ask | AssentError)]
    assert len(told) == len(requests)
    return told


def tell_group(hub: Hub, *requests: tuple[Request, Principal]) -> list[Told | AssentError]:
    """Send requests so that they share one transaction; return what each sender is told."""

    async def tell_all() -> list[Told | BaseException]:
        loop = asyncio.get_running_loop()
        with hub.store.mutex_of(PROJECT):  # the writer thread waits here until all of them are queued
            futures = [
                hub.handle(request, project=PROJECT, principal=by, loop=loop) for request, by in requests
            ]
        loops = [future for future in futures if isinstance(future, asyncio.Future)]
        return await asyncio.wait_for(asyncio.gather(*loops, return_exceptions=True), PATIENCE)

    replies = asyncio.run(tell_all())
    told = [reply for reply in replies if isinstance(reply, Told | AssentError)]
    assert len(told) == len(requests), replies
    return told


def dump(hub: Hub) -> object:
    """Return everything that a store holds, for a comparison of before and after."""
    with hub.store.reading() as reader:
        heads = [(head.project, head.sequence, head.hash, head.at) for head in reader.heads()]
        asks = reader.asks(None, None, 1_000)
        records = [reader.records(project, 0, 1_000) for project, *_ in heads]
        steps = [reader.steps(project) for project, *_ in heads]
        work = (
            reader.notifications(None, 1_000, is_open=False),
            reader.tasks(None, 1_000, is_live=False),
            [reader.policy(project) for project, *_ in heads],
            reader.tokens(None, 1_000),
            [receipt for project, *_ in heads for receipt in reader.receipts(project, 1_000)],
        )
    return heads, asks, records, steps, work
