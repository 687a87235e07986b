"""The throw-away store: real, separate, and gone afterwards."""

import asyncio
import os
import threading

import pytest

from assent.client.identity import AGENT_MARKS
from assent.protocol.ask import Kind
from assent.protocol.principal import Assurance
from assent.testing import ThrowawayStore, throwaway

__all__: list[str] = []


def test_store_is_gone_after_its_block() -> None:
    """No file, no folder, no thread is left behind."""
    before = {thread.name for thread in threading.enumerate()}
    with throwaway() as store:
        handle = store.agent().open("Which?", ["red fox", "blue fox"])
        with store.scripted_person() as person:
            person.will_answer("Which", "1")
            assert handle.value(10) == "red fox"
        assert store.path.is_file()
    assert not store.path.parent.exists()
    assert {thread.name for thread in threading.enumerate()} <= before


def test_stores_know_nothing_of_each_other() -> None:
    """Tests can run side by side."""
    with throwaway() as one, ThrowawayStore() as other:
        one.agent().open("Which?", ["red fox", "blue fox"])
        assert (one.agent().count(), other.agent().count()) == (1, 0)


def test_person_can_answer_where_an_agents_host_runs_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The marks keep agents from answering real asks, not from testing; and no store is noted in the home."""
    for mark in AGENT_MARKS:
        monkeypatch.setenv(mark, "1")
    with throwaway() as store:
        ask = store.agent().open("Drop it?", ["drop it", "keep it"], kind=Kind.APPROVAL).ask
        answered = store.person(assurance=Assurance.TERMINAL).answer(ask.ask_id, "2")
        assert answered.answer is not None


def test_names_and_projects_can_be_chosen() -> None:
    """Several agents, people and projects on one store."""
    with throwaway(project="shop") as store:
        store.agent("builder").open("Which?", ["red fox", "blue fox"])
        store.agent("builder", project="garden").open("Which?", ["red fox", "blue fox"])
        [ask] = store.person("bob").inbox()
        assert (ask.asker, ask.project) == ("agent:builder", "shop")
        assert len(store.person("bob", project="garden").inbox()) == 1


def test_async_clients_work_on_the_same_store() -> None:
    """Tasks and threads side by side."""

    async def ask(store: ThrowawayStore) -> object:
        handle = await store.async_agent().open("Which?", ["red fox", "blue fox"])
        waiting = asyncio.create_task(handle.value(10))
        await store.async_person().answer(handle.ask_id, "2")
        return await waiting

    with throwaway() as store:
        assert asyncio.run(ask(store)) == "blue fox"
        assert store.agent().count() == 0


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_leaves_the_folder_to_its_parent() -> None:
    """A child that leaves the block by itself must not take the store away."""
    with throwaway() as store:
        store.agent().open("Which?", ["red fox", "blue fox"])
        pid = os.fork()
        if pid == 0:
            store.close()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
        assert store.agent().count() == 1
