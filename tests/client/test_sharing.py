"""One client for many threads, forks and event loops."""

import asyncio
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from assent.client.async_client import AsyncClient
from assent.client.client import Client
from assent.protocol.ask import State
from assent.protocol.error import ConflictError, StillOpen, StoreError
from assent.testing import ThrowawayStore
from tests.client.both import only_on_a_file
from tests.patience import PATIENCE

__all__: list[str] = []

OPTIONS = ["red fox", "blue fox"]


def run_all(threads: list[threading.Thread]) -> None:
    """Run threads to their end, in bounded time."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_many_threads_share_one_client(store: ThrowawayStore) -> None:
    """Each gets the answer to its own question."""
    agent, answers = store.agent(), {}

    def ask(number: int) -> None:
        answers[number] = agent.ask(f"Number {number}?", key=f"k{number}", wait=PATIENCE)

    with store.scripted_person() as person:
        for _ in range(24):
            person.will_answer("Number", lambda ask: ask.prompt.title.removeprefix("Number "))
        run_all([threading.Thread(target=ask, args=(number,)) for number in range(24)])
    assert answers == {number: f"{number}?" for number in range(24)}
    assert store.person().verify().problems == ()


def test_threads_that_use_one_key_share_one_ask(store: ThrowawayStore) -> None:
    """However many come at once, a person is asked once."""
    agent, ids = store.agent(), []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait(PATIENCE)
        ids.append(agent.open("Which?", OPTIONS, key="k").ask_id)

    run_all([threading.Thread(target=ask) for _ in range(8)])
    assert len(ids) == 8
    assert len(set(ids)) == 1
    assert len(agent.log()) == 1


def test_people_who_answer_at_once_have_one_winner(store: ThrowawayStore) -> None:
    """All others are told who it was; row, log and replies agree."""
    agent = store.agent()
    people = [store.person(f"p{number}") for number in range(6)]
    for _ in range(5):
        ask = agent.open("Which?", OPTIONS).ask
        start = threading.Barrier(len(people))
        won: list[str] = []
        lost: list[ConflictError] = []

        def answer(
            person: Client,
            ask_id: str = ask.ask_id,
            start: threading.Barrier = start,
            won: list[str] = won,
            lost: list[ConflictError] = lost,
        ) -> None:
            start.wait(PATIENCE)
            try:
                won.append(str(person.answer(ask_id, "1").answer.by))  # type: ignore[union-attr]  # it was answered
            except ConflictError as error:
                lost.append(error)

        run_all([threading.Thread(target=answer, args=(person,)) for person in people])
        kept = agent.show(ask.ask_id)
        assert kept.answer is not None
        assert won == [kept.answer.by]
        assert len(lost) == len(people) - 1
        assert all(conflict.ask == kept for conflict in lost)
    assert store.person().verify().problems == ()


def test_one_client_serves_several_event_loops(store: ThrowawayStore) -> None:
    """Each loop's tasks wake in their own loop, also one after the other has closed."""
    agent, person = store.async_agent(), store.person()

    async def ask(name: str) -> object:
        handle = await agent.open(f"{name}?", OPTIONS)
        waiting = asyncio.create_task(handle.value(PATIENCE))
        await asyncio.to_thread(person.answer, handle.ask_id, "2")
        return await waiting

    answers: list[object] = []
    run_all([threading.Thread(target=lambda: answers.append(asyncio.run(ask("t")))) for _ in range(4)])
    answers.append(asyncio.run(ask("again")))
    assert answers == ["blue fox"] * 5


def test_loop_goes_on_while_its_tasks_wait(store: ThrowawayStore) -> None:
    """A thousand waits cost no thread each and block nothing."""

    async def wait_for_many(agent: AsyncClient) -> int:
        asks = await asyncio.gather(*(agent.open("Which?", OPTIONS, key=f"k{n}") for n in range(100)))
        before = threading.active_count()
        waits = [asyncio.create_task(handle.wait(PATIENCE)) for handle in asks]
        await asyncio.sleep(0)
        assert threading.active_count() <= before + 1
        person = store.async_person()
        await asyncio.gather(*(person.answer(handle.ask_id, "1") for handle in asks))
        return sum(ask.state is State.ANSWERED for ask in await asyncio.gather(*waits))

    assert asyncio.run(wait_for_many(store.async_agent())) == 100


def test_cancelled_answer_is_done_or_not_done_but_never_half(store: ThrowawayStore) -> None:
    """A task may be cancelled while its command is on its way; the store stays whole."""

    async def cancel() -> None:
        agent, person = store.async_agent(), store.async_person()
        for _ in range(10):
            handle = await agent.open("Which?", OPTIONS)
            task = asyncio.create_task(person.answer(handle.ask_id, "1"))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(cancel())
    agent = store.agent()
    assert {ask.state for ask in agent.inbox(all_states=True)} <= {State.OPEN, State.ANSWERED}
    assert store.person().verify().problems == ()


@only_on_a_file
def test_closed_client_tells_who_waits(store: ThrowawayStore) -> None:
    """Another thread's wait ends with a sentence; the ask stays open."""
    agent = store.agent()
    handle = agent.open("Which?", OPTIONS)
    told: list[StoreError] = []
    begun = threading.Event()

    def wait() -> None:
        begun.set()
        try:
            handle.wait(PATIENCE)
        except StoreError as error:
            told.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert begun.wait(PATIENCE)
    while handle.ask_id not in agent.hub.waiters._waiting:
        threading.Event().wait(0.001)
    agent.close()
    thread.join(PATIENCE)
    assert len(told) == 1
    with pytest.raises(StillOpen):
        store.agent().wait(handle.ask_id, 0)


FORKS = """
    import os, sys, threading
    from assent.testing import throwaway

    def child(agent, ask_id, number, ending):
        # The client is the parent's: same object, its threads and handles are not here.
        mine = agent.open(f"From child {number}?", ["yes", "no"], key=f"child-{number}")
        assert agent.wait(ask_id, 20).state == "answered"
        assert mine.value(20) == "yes"
        assert agent.count() >= 0
        if ending == "exit":
            os._exit(0)

    with throwaway() as store:
        agent, person = store.agent(), store.person()
        handle = agent.open("Before the forks?", ["yes", "no"])
        is_over = threading.Event()

        def work(number):
            turn = 0
            while not is_over.is_set():
                agent.open("Busy?", ["yes", "no"], key=f"busy-{number}-{turn}")
                turn += 1

        workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        agent.hub.wait(handle.ask_id, "test")
        children = []
        for number in range(4):
            pid = os.fork()
            if pid == 0:
                try:
                    child(agent, handle.ask_id, number, "exit" if number % 2 else "return")
                except BaseException as error:
                    print(repr(error), file=sys.stderr, flush=True)
                    os._exit(1)
                sys.exit(0) if number != 2 else os._exit(0)
            children.append(pid)
        person.answer(handle.ask_id, "1")
        answered = 0
        for record in person.follow():
            if record.type == "ask.opened":
                ask = person.show(record.subject)
                if "child" in ask.prompt.title:
                    person.answer(ask.ask_id, "1")
                    answered += 1
            if answered == 4:
                break
        statuses = [os.waitpid(pid, 0)[1] for pid in children]
        is_over.set()
        for worker in workers:
            worker.join()
        assert handle.value(10) == "yes"
        audit = agent.verify()
        print(statuses, audit.problems, flush=True)
"""


def test_client_is_used_after_forks(tmp_path: Path) -> None:
    """Children of a busy program ask and wait with the client that they inherited; nobody's data is harmed."""
    script = tmp_path / "forks.py"
    script.write_text(textwrap.dedent(FORKS))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[0, 0, 0, 0] ()", "")


PARENT_CLOSES = """
    import os
    from pathlib import Path
    from assent.testing import throwaway

    with throwaway() as store:
        agent = store.agent()
        agent.open("From the parent?")
        agent.inbox()
        ready, go = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            agent.open("First of the child?")
            os.write(ready[1], b".")
            os.read(go[0], 1)
            agent.open("Second of the child?")
            os._exit(0 if len(agent.inbox()) == 3 else 1)
        os.read(ready[0], 1)
        agent.close()
        os.write(go[1], b".")
        status = os.waitpid(pid, 0)[1]
        audit = store.agent().verify()
        print(status, audit.asks, audit.problems, flush=True)
"""


def test_parent_that_closes_takes_nothing_from_its_child(tmp_path: Path) -> None:
    """The last one to close removes the write-ahead log: it must know that a forked child still writes to it."""
    script = tmp_path / "parent.py"
    script.write_text(textwrap.dedent(PARENT_CLOSES))
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("0 3 ()", "")
