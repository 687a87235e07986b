"""What a store promises of holds: one holder in the world, until it lets go or dies."""

import gc
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from assent.protocol.error import FlowTakenError
from tests.contract.conftest import MakeStore
from tests.patience import PATIENCE

__all__: list[str] = []


def test_hold_is_refused_while_somebody_has_it(make_store: MakeStore) -> None:
    """Two store objects of one process exclude each other as two processes do."""
    store, other = make_store(), make_store()
    held = store.hold("flow")
    for taken in (store, other):
        with pytest.raises(FlowTakenError, match=str(os.getpid())):
            taken.hold("flow")
    held.release()
    assert not held.is_held
    other.hold("flow").release()


def test_holds_of_other_names_are_independent(make_store: MakeStore) -> None:
    """Many flows are driven at once."""
    store = make_store()
    held = [store.hold(f"flow {number}") for number in range(20)]
    for hold in held:
        hold.release()


def test_hold_that_is_released_twice_lets_nobody_else_go(make_store: MakeStore) -> None:
    """The second release must not take the next holder's right away."""
    store = make_store()
    first = store.hold("flow")
    first.release()
    second = store.hold("flow")
    first.release()
    with pytest.raises(FlowTakenError):
        store.hold("flow")
    second.release()


def test_holds_leave_nothing_behind(make_store: MakeStore, tmp_path: Path) -> None:
    """A thousand flows a day must not fill a folder."""
    store = make_store()
    before = sorted(tmp_path.iterdir())
    for number in range(10):
        store.hold(f"flow {number}").release()
    assert sorted(tmp_path.iterdir()) == before


def _fight(make_store: MakeStore, marker: Path, wins: int) -> None:
    """Take the hold so many times; fail if somebody else is inside at the same time."""
    store = make_store()
    while wins:
        try:
            hold = store.hold("flow")
        except FlowTakenError:
            continue
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        marker.unlink()
        hold.release()
        wins -= 1


def test_processes_that_fight_for_a_hold_have_it_one_at_a_time(make_store: MakeStore, tmp_path: Path) -> None:
    """The moment between taking the side file away and letting go is where a careless lock is held twice."""
    context = multiprocessing.get_context("fork")
    fighters = [context.Process(target=_fight, args=(make_store, tmp_path / "inside", 300)) for _ in range(3)]
    for fighter in fighters:
        fighter.start()
    for fighter in fighters:
        fighter.join(PATIENCE)
    assert [fighter.exitcode for fighter in fighters] == [0, 0, 0]


def test_hold_of_a_dead_process_can_be_taken_at_once(make_store: MakeStore) -> None:
    """The kernel frees it, whatever killed its holder."""
    store = make_store()
    context = multiprocessing.get_context("fork")
    ready = context.Event()

    def take_and_stay() -> None:
        gc.disable()
        held = make_store().hold("flow")
        ready.set()
        threading.Event().wait(60)
        held.release()

    holder = context.Process(target=take_and_stay)
    holder.start()
    assert ready.wait(PATIENCE)
    with pytest.raises(FlowTakenError, match=str(holder.pid)):
        store.hold("flow")
    holder.kill()
    holder.join(PATIENCE)
    store.hold("flow").release()


def test_forked_child_holds_nothing_and_keeps_nothing(make_store: MakeStore) -> None:
    """A child that outlives its parent must not keep the parent's flows, nor drive them on."""
    store = make_store()
    held = store.hold("flow")
    context = multiprocessing.get_context("fork")
    told, go = context.Pipe(), context.Event()

    def child() -> None:
        told[1].send(held.is_held)
        held.release()  # not its own: nothing happens
        go.wait(PATIENCE)

    fork = context.Process(target=child)
    fork.start()
    assert told[0].poll(20)
    assert told[0].recv() is False
    assert held.is_held
    with pytest.raises(FlowTakenError):
        store.hold("flow")
    held.release()
    store.hold("flow").release()
    go.set()
    fork.join(PATIENCE)
    assert fork.exitcode == 0


def test_hold_is_seen_by_whoever_asks_for_as_long_as_it_is_held(make_store: MakeStore) -> None:
    """In any store object; asking takes nothing away and leaves nothing behind."""
    store, other = make_store(), make_store()
    assert not store.is_held("run")
    held = store.hold("run")
    assert store.is_held("run")
    assert other.is_held("run")
    assert held.is_held
    assert not other.is_held("another")
    held.release()
    assert not store.is_held("run")
    assert not other.is_held("run")
    other.hold("run").release()


def test_hold_of_a_dead_process_is_not_held(make_store: MakeStore) -> None:
    """Whatever killed it, and although its side file is still there."""
    store = make_store()
    context = multiprocessing.get_context("fork")
    ready = context.Event()

    def take_and_stay() -> None:
        gc.disable()
        held = make_store().hold("run")
        ready.set()
        threading.Event().wait(60)
        held.release()

    holder = context.Process(target=take_and_stay)
    holder.start()
    assert ready.wait(PATIENCE)
    assert store.is_held("run")
    holder.kill()
    holder.join(PATIENCE)
    assert not store.is_held("run")


def test_asking_never_keeps_anybody_from_taking_a_hold(make_store: MakeStore) -> None:
    """A board that looks ten times a second must not stop a driver."""
    store, curious = make_store(), make_store()
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            curious.is_held("run")

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        for _ in range(300):
            store.hold("run").release()
    finally:
        over.set()
        asker.join(PATIENCE)
