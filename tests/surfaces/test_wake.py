"""Waiting that misses neither another thread nor a signal."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from assent.surfaces.wake import Wake

__all__: list[str] = []


@pytest.fixture
def wake() -> Iterator[Wake]:
    """Give something to wait on."""
    with Wake() as wake:
        yield wake


def test_call_ends_the_wait_and_the_next_one(wake: Wake) -> None:
    """Before or while somebody waits, from any thread."""
    wake.call()
    assert wake.wait() is None
    threading.Timer(0.02, wake.call).start()
    assert wake.wait() is None


def test_wait_tells_which_descriptors_can_be_read(wake: Wake) -> None:
    """And nothing when the time is over."""
    reading, writing = os.pipe()
    assert wake.wait([reading], 0.01) == []
    os.write(writing, b"x")
    assert wake.wait([reading]) == [reading]
    os.close(reading)
    os.close(writing)


def test_rest_forgets_calls(wake: Wake) -> None:
    """What came too late is not for the next wait."""
    wake.call()
    assert wake.rest()
    assert not wake.rest()
    assert wake.wait([], 0.01) == []


def test_signal_ends_the_wait_without_being_taken_for_a_call(wake: Wake) -> None:
    """Its handler has run; whoever waits may wait again."""
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    try:
        threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        assert wake.wait([], 20) == []
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [signal.SIGUSR1]


def test_interrupt_ends_the_wait(wake: Wake) -> None:
    """Ctrl-C is an exception at the place where a person waits."""
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        wake.wait([], 20)


def test_call_after_close_does_nothing() -> None:
    """A thread may come late."""
    wake = Wake()
    wake.close()
    wake.call()
