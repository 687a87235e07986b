"""The one door: retries, refusals, groups, and a store that is held elsewhere."""

import asyncio
import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta

import pytest

from assent.hub import hub as hub_module
from assent.hub.audit import verify
from assent.hub.command import (
    AnswerAsk,
    ClaimAsk,
    DeclineAsk,
    OpenAsk,
    ReportUndelivered,
    Request,
    Told,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.desk import Desk, Envelope
from assent.hub.hub import Hub
from assent.hub.record import Step
from assent.protocol.ask import Ask, AskId, Consequence, State
from assent.protocol.canonical import digest
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    FlowDivergedError,
    ForbiddenError,
    KeyReusedError,
    NotFoundError,
    StoreBusyError,
    UnrecognisedError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import check_prompt, question
from assent.storage.port import Transaction
from assent.testing import FakeClock, ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, send, send_group
from tests.patience import PATIENCE
from tests.samples import AGENT, ANA, BOB, NOON

__all__: list[str] = []

OTHER = question("Something else?", ["yes", "no"])


# Retries

ENDINGS: dict[str, tuple[Callable[[AskId], Request], Callable[[AskId], Request]]] = {
    "answer": (lambda ask_id: AnswerAsk(ask_id, "2"), lambda ask_id: AnswerAsk(ask_id, "1")),
    "decline": (lambda ask_id: DeclineAsk(ask_id, "no"), lambda ask_id: DeclineAsk(ask_id, "never")),
    "withdraw": (lambda ask_id: WithdrawAsk(ask_id, "old"), lambda ask_id: AnswerAsk(ask_id, "1")),
}


@pytest.mark.parametrize("case", ENDINGS)
def test_retry_after_a_lost_reply_gets_its_own_reply(hub: Hub, store: ThrowawayStore, case: str) -> None:
    """Not a conflict with oneself: not at once, not from another process, and not with other content."""
    ask = send(hub, opening())
    command, other = (make(ask.ask_id) for make in ENDINGS[case])
    first = send(hub, command, ANA, "cmd_mine")
    before = dump(hub)
    assert send(hub, command, ANA, "cmd_mine") == first
    assert send(store.hub(), command, ANA, "cmd_mine") == first
    with pytest.raises(ConflictError):
        send(hub, command, BOB, "cmd_theirs")
    with pytest.raises(CommandReusedError):
        send(hub, other, ANA, "cmd_mine")
    with pytest.raises(CommandReusedError):
        send(hub, command, BOB, "cmd_mine")
    assert dump(hub) == before


def test_retry_of_an_opening_finds_what_it_made(hub: Hub) -> None:
    """The id was minted by the caller; the same id with another prompt is a mistake."""
    command = opening(key="k")
    first = send(hub, command, AGENT, "cmd_1")
    before = dump(hub)
    again = send(hub, command, AGENT, "cmd_1")
    assert (again, again.replayed) == (first, False)
    for changed in (
        opening(OTHER, ask_id=command.ask_id),
        opening(OTHER, ask_id=command.ask_id, key="other"),
    ):
        with pytest.raises(CommandReusedError):
            send(hub, changed, AGENT, "cmd_1")
    assert dump(hub) == before


def test_id_of_another_project_is_refused(hub: Hub) -> None:
    """Neither project notices: no row is moved, no event told."""
    theirs = send(hub, opening(), project="theirs")
    before = dump(hub)
    for key in (None, "k"):
        with pytest.raises(CommandReusedError):
            send(hub, opening(ask_id=theirs.ask_id, key=key), project="mine")
    assert dump(hub) == before
    assert verify(hub.store).problems == ()


@pytest.mark.parametrize(
    "make", [ReportUndelivered, ClaimAsk, lambda _: WriteStep(Step("f", 0, "d", "done", b"{}"))]
)
def test_retry_of_a_command_that_ends_nothing_changes_nothing(
    hub: Hub, make: Callable[[AskId], Request]
) -> None:
    """These are told apart by what they say alone."""
    ask = send(hub, opening())
    request = make(ask.ask_id)
    hub.handle(request, project=PROJECT, principal=ANA, command_id="cmd_1").result()
    before = dump(hub)
    hub.handle(request, project=PROJECT, principal=ANA, command_id="cmd_1").result()
    assert dump(hub) == before


# Keys


def test_same_key_and_prompt_is_the_same_ask_with_its_answer(hub: Hub) -> None:
    """For ever, and marked as replayed."""
    first = send(hub, opening(key="k"))
    answered = send(hub, AnswerAsk(first.ask_id, "2"), ANA)
    again = send(hub, opening(key="k"))
    assert (again.ask_id, again.answer, again.replayed) == (first.ask_id, answered.answer, True)


def test_replacing_supersedes_and_takes_the_key(hub: Hub) -> None:
    """Both in one transaction: the older is told who took its place."""
    older = send(hub, opening(key="k"))
    with pytest.raises(KeyReusedError):
        send(hub, opening(OTHER, key="k"))
    newer = send(hub, opening(OTHER, key="k", is_replacing=True))
    with hub.reading() as reader:
        gone = reader.ask(older.ask_id)
        records = reader.records(PROJECT, 0, 10)
    assert gone is not None
    assert gone.outcome is not None
    assert (gone.state, gone.outcome.successor) == (State.SUPERSEDED, newer.ask_id)
    assert [record.type for record in records] == ["ask.opened", "ask.opened", "ask.superseded"]
    assert send(hub, opening(OTHER, key="k")).ask_id == newer.ask_id
    with pytest.raises(KeyReusedError):
        send(hub, opening(key="k"))


# Refusals


def test_refused_command_writes_nothing(hub: Hub) -> None:
    """A refusal has nothing to undo: no row, no event, no number, no project."""
    ask = send(hub, opening(key="k"))
    ended = send(hub, opening())
    send(hub, AnswerAsk(ended.ask_id, "2"), ANA)
    send_step = WriteStep(Step("f", 0, "d", "done", b"{}"))
    hub.handle(send_step, project=PROJECT, principal=AGENT).result()
    before = dump(hub)
    refused: list[tuple[Request, Principal, str, type[AssentError]]] = [
        (AnswerAsk(ask.ask_id, "zzz"), ANA, PROJECT, UnrecognisedError),
        (AnswerAsk(ended.ask_id, "2"), BOB, PROJECT, ConflictError),
        (AnswerAsk(ask.ask_id, "2"), ANA, "typo", NotFoundError),
        (ClaimAsk(ask.ask_id), ANA, "typo", NotFoundError),
        (ClaimAsk(ended.ask_id), ANA, PROJECT, ConflictError),
        (DeclineAsk(AskId("ask_none")), ANA, PROJECT, NotFoundError),
        (WithdrawAsk(ask.ask_id), Principal(Role.AGENT, "other"), PROJECT, ForbiddenError),
        (opening(OTHER, key="k"), AGENT, PROJECT, KeyReusedError),
        (opening(kind="gate", consequence="deny"), AGENT, "typo", BadRequestError),
        (WriteStep(Step("f", 0, "e", "done", b"{}")), AGENT, PROJECT, FlowDivergedError),
        (WriteStep(Step("f", 7, "d", "done", b"{}")), AGENT, PROJECT, FlowDivergedError),
    ]
    for request, by, project, error in refused:
        with pytest.raises(error):
            hub.handle(request, project=project, principal=by).result()
        assert dump(hub) == before, request


# Groups


def test_group_shares_one_transaction(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that come together are flushed together, each with its own reply."""
    send(hub, opening())
    transactions = []
    real = hub.store.transaction

    def transaction(*, may_wait: bool = True) -> AbstractContextManager[Transaction]:
        transactions.append(may_wait)
        return real(may_wait=may_wait)

    monkeypatch.setattr(hub.store, "transaction", transaction)
    replies = send_group(hub, *((opening(key=f"k{number}"), AGENT) for number in range(40)))
    assert len(transactions) == 1
    assert [reply.key for reply in replies if isinstance(reply, Ask)] == [
        f"k{number}" for number in range(40)
    ]


def test_refusals_in_a_group_leave_the_others_alone(hub: Hub) -> None:
    """Each command decides on what the one before it did."""
    ask = send(hub, opening())
    replies = send_group(
        hub,
        (AnswerAsk(ask.ask_id, "zzz"), ANA),
        (AnswerAsk(ask.ask_id, "2"), ANA),
        (AnswerAsk(ask.ask_id, "1"), BOB),
        (opening(key="k"), AGENT),
        (opening(OTHER, key="k"), AGENT),
        (opening(key="k"), AGENT),
    )
    kinds = [reply.state if isinstance(reply, Ask) else type(reply) for reply in replies]
    assert kinds == [
        UnrecognisedError,
        State.ANSWERED,
        ConflictError,
        State.OPEN,
        KeyReusedError,
        State.OPEN,
    ]
    assert verify(hub.store).problems == ()


def test_two_claims_in_a_group_are_one_claim_and_a_conflict(hub: Hub) -> None:
    """The second is told who has it."""
    ask = send(hub, opening())
    first, second = send_group(hub, (ClaimAsk(ask.ask_id), ANA), (ClaimAsk(ask.ask_id), BOB))
    assert isinstance(first, Ask)
    assert isinstance(second, ConflictError)
    assert "ana claimed it" in second.message


@pytest.mark.parametrize("off", [timedelta(days=365), -timedelta(days=365)])
def test_claim_of_a_clock_that_was_off_does_not_outlast_a_quarter_of_an_hour(
    hub: Hub, clock: FakeClock, off: timedelta
) -> None:
    """Else nobody else could claim it for a year."""
    ask = send(hub, opening())
    clock.set(NOON + off)
    send(hub, ClaimAsk(ask.ask_id), ANA)
    clock.set(NOON)
    claimed = send(hub, ClaimAsk(ask.ask_id), BOB)
    assert claimed.claim is not None
    assert (claimed.claim.by, claimed.claim.at) == (str(BOB), NOON)


def test_failing_write_in_a_group_fails_its_culprit_only(hub: Hub) -> None:
    """The group is rolled back and run again one by one; numbers stay dense."""
    theirs = send(hub, opening(), project="theirs")
    replies = send_group(
        hub,
        (opening(key="a"), AGENT),
        (opening(ask_id=theirs.ask_id, key="b"), AGENT),
        (opening(key="c"), AGENT),
    )
    assert [type(reply) for reply in replies] == [Ask, CommandReusedError, Ask]
    assert [reply.sequence for reply in replies if isinstance(reply, Ask)] == [1, 2]
    assert verify(hub.store).problems == ()


def test_unexpected_error_in_a_group_fails_its_culprit_only(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the fault is ours: the others are served, the culprit is told, the hub goes on."""
    real = Desk.perform

    def perform(self: Desk, envelope: Envelope) -> Told:
        reply = real(self, envelope)
        if isinstance(envelope.request, OpenAsk) and envelope.request.key == "bad":
            raise LookupError("planted")
        return reply

    monkeypatch.setattr(Desk, "perform", perform)
    replies = send_group(hub, *((opening(key=key), AGENT) for key in ("a", "bad", "c")))
    assert [type(reply) for reply in replies] == [Ask, AssentError, Ask]
    assert "planted" in str(replies[1])
    with hub.reading() as reader:
        assert {ask.key for ask in reader.asks(PROJECT, None, 9)} == {"a", "c"}
    assert verify(hub.store).problems == ()


# A store that is held elsewhere


@contextmanager
def held_elsewhere(store: ThrowawayStore) -> Iterator[None]:
    """Hold the file's lock as another process would: the lock belongs to the open file, not to the process."""
    descriptor = os.open(f"{store.path}-lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def test_command_that_was_given_up_is_never_done(
    store: ThrowawayStore, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever was told that the store is busy can rely on it: nothing happens later."""
    send(hub, opening(key="before"))
    with held_elsewhere(store), monkeypatch.context() as patch:
        patch.setattr(hub_module, "BUSY_SECONDS", 0.05)
        with pytest.raises(StoreBusyError):
            send(hub, opening(key="given up"))
    send(hub, opening(key="after"))
    with hub.reading() as reader:
        assert {ask.key for ask in reader.asks(PROJECT, None, 9)} == {"before", "after"}


def test_look_goes_on_while_a_due_deadline_cannot_be_applied(
    store: ThrowawayStore, hub: Hub, clock: FakeClock
) -> None:
    """Another process holds the file: the ask is shown as it stands on disk, at once and without an error."""
    ask = send(hub, opening(deadline=timedelta(minutes=1), consequence=Consequence.DENY))
    clock._now += 60_000_000  # nobody has looked yet
    with held_elsewhere(store), hub.reading() as reader:
        seen = reader.ask(ask.ask_id)
    assert seen is not None
    assert seen.is_open
    with hub.reading() as reader:
        ended = reader.ask(ask.ask_id)
    assert ended is not None
    assert ended.state is State.EXPIRED


def test_loop_is_not_blocked_by_a_store_that_is_held(store: ThrowawayStore, hub: Hub) -> None:
    """The command waits on the writer thread; the loop goes on and gets the reply later."""
    send(hub, opening(key="before"))

    async def ask() -> Told:
        with held_elsewhere(store):
            future = hub.handle(
                opening(key="k"), project=PROJECT, principal=AGENT, loop=asyncio.get_running_loop()
            )
            assert isinstance(future, asyncio.Future)
            done, _ = await asyncio.wait({future}, timeout=0.05)
            assert not done
        return await asyncio.wait_for(future, PATIENCE)

    reply = asyncio.run(ask())
    assert isinstance(reply, Ask)
    assert reply.key == "k"


def test_task_is_told_that_the_store_is_busy_as_a_thread_is(
    store: ThrowawayStore, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same limit for both, and nothing happens later here either."""
    send(hub, opening(key="before"))
    monkeypatch.setattr(hub_module, "BUSY_SECONDS", 0.05)

    async def ask() -> None:
        future = hub.handle(
            opening(key="given up"), project=PROJECT, principal=AGENT, loop=asyncio.get_running_loop()
        )
        assert isinstance(future, asyncio.Future)
        await asyncio.wait_for(future, PATIENCE)

    with held_elsewhere(store), pytest.raises(StoreBusyError):
        asyncio.run(ask())
    monkeypatch.undo()
    send(hub, opening(key="after"))
    with hub.reading() as reader:
        assert {ask.key for ask in reader.asks(PROJECT, None, 9)} == {"before", "after"}


def test_superseded_ask_in_a_group_does_not_take_its_key_back(hub: Hub) -> None:
    """A neighbour that names the old ask must not make the key lead to it again."""
    old = send(hub, opening(key="k"))
    other = question("Something else?", ["yes", "no"])
    replaced = OpenAsk(AskId("ask_new"), other, digest(check_prompt(other)), key="k", is_replacing=True)
    new = send(hub, replaced)
    again = OpenAsk(AskId("ask_again"), other, digest(check_prompt(other)), key="k")
    late, found = send_group(hub, (AnswerAsk(old.ask_id, "1"), ANA), (again, AGENT))
    assert isinstance(late, ConflictError)
    assert isinstance(found, Ask)
    assert (found.ask_id, found.replayed) == (new.ask_id, True)


# Interruptions and endings


def test_interrupt_after_the_commit_loses_no_wake(
    store: ThrowawayStore, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C between commit and delivery: the answer stands, the next command works, who waits is woken."""
    ask = send(hub, opening())
    waiting = hub.wait(ask.ask_id, PROJECT)
    elsewhere = store.hub().wait(ask.ask_id, PROJECT)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(hub.store.bell, "ring", interrupt)
        with pytest.raises(KeyboardInterrupt):
            hub.handle(AnswerAsk(ask.ask_id, "2"), project=PROJECT, principal=ANA)
    for future in (waiting, elsewhere):
        assert not isinstance(future, asyncio.Future)
        assert future.wait(PATIENCE)
        assert future.result().state is State.ANSWERED
    assert send(hub, opening()).is_open


def test_many_threads_and_loops_get_their_own_replies(hub: Hub) -> None:
    """One hub serves threads and event loops at once."""
    keys: dict[str, str | None] = {}

    def on_thread(name: str) -> None:
        for turn in range(10):
            keys[f"{name}-{turn}"] = send(hub, opening(key=f"{name}-{turn}")).key

    def on_loop(name: str) -> None:
        async def ask(turn: int) -> None:
            loop = asyncio.get_running_loop()
            future = hub.handle(opening(key=f"{name}-{turn}"), project=PROJECT, principal=AGENT, loop=loop)
            assert isinstance(future, asyncio.Future)
            reply = await asyncio.wait_for(future, PATIENCE)
            assert isinstance(reply, Ask)
            keys[f"{name}-{turn}"] = reply.key

        async def ask_all() -> None:
            await asyncio.gather(*map(ask, range(10)))

        asyncio.run(ask_all())

    threads = [
        threading.Thread(target=work, args=(f"{work.__name__}{number}",))
        for work in (on_thread, on_loop)
        for number in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(keys) == 60
    assert all(asked == answered for asked, answered in keys.items())
    audit = verify(hub.store)
    assert (audit.events, audit.problems) == (60, ())


def test_closed_hub_works_again_by_use(hub: Hub, store: ThrowawayStore) -> None:
    """Closing lets go of threads and files; commands, waits and feeds come back with the next use."""
    ask = send(hub, opening())
    hub.close()
    second = send(hub, opening())
    assert second.sequence == 2
    hub.close()
    future = hub.wait(ask.ask_id, PROJECT)
    store.person().answer(ask.ask_id, "2")
    assert not isinstance(future, asyncio.Future)
    assert future.wait(PATIENCE)
    assert future.result().state is State.ANSWERED
    with hub.follow(PROJECT, 0) as feed:
        assert len(feed.wait(PATIENCE)) == 3


def test_new_ask_under_the_id_of_an_old_one_is_refused(hub: Hub) -> None:
    """Ids are minted by callers: also beside a command that has loaded the old ask, it keeps its row."""
    old = send(hub, opening())
    other = question("Something else?", ["yes", "no"])
    crafted = OpenAsk(old.ask_id, other, digest(check_prompt(other)), key="fresh")
    claimed, refused = send_group(hub, (ClaimAsk(old.ask_id), ANA), (crafted, AGENT))
    assert isinstance(claimed, Ask)
    assert isinstance(refused, CommandReusedError)
    with hub.store.reading() as reader:
        [kept] = reader.asks(PROJECT, None, 9)
    assert kept.prompt == old.prompt
    assert verify(hub.store).problems == ()


def test_ring_that_fails_takes_nothing_from_what_was_saved(
    store: ThrowawayStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a hint, and whoever sent the command must learn that it is done."""
    agent = store.agent()

    def fail(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    assert isinstance(agent.hub, Hub)
    monkeypatch.setattr(agent.hub.store.bell, "ring", fail)
    ask = agent.open("Which?", ["a", "b"])
    assert [waiting.ask_id for waiting in store.person().inbox()] == [ask.ask_id]
