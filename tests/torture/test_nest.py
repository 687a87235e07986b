"""What a trial hears of a worker that is gone: a death that nobody wanted must be explained by the run that met it."""

import signal
import time

import pytest

from torture.nest import Nest, WorkerLostError
from torture.nursery import Wire


def crash(wire: Wire, number: int) -> None:
    """Die as from a fault in somebody's C code, or by somebody's hand."""
    wire.say(ready=True)
    signal.raise_signal(number)
    time.sleep(600)


def fail(wire: Wire) -> None:
    """Raise what nobody catches."""
    wire.say(ready=True)
    raise ValueError("The sky is green.")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGALRM])
def test_worker_that_dies_is_told_with_the_signal_that_killed_it(number: signal.Signals) -> None:
    with Nest() as nest:
        worker = nest.start("tests.torture.test_nest:crash", number=int(number))
        worker.hear()
        with pytest.raises(
            WorkerLostError, match=f"worker {worker.pid} ended with -{int(number)}\n"
        ) as caught:
            worker.hear()
    if number == signal.SIGSEGV:
        assert "in crash" in str(caught.value)


def test_worker_that_fails_is_told_with_its_error() -> None:
    with Nest() as nest:
        worker = nest.start("tests.torture.test_nest:fail")
        worker.hear()
        with pytest.raises(WorkerLostError, match=r"The sky is green\.[\s\S]*ended with 1\n"):
            worker.hear()
