"""Ctrl-C that is held back for a moment."""

import os
import signal

import pytest

from assent.effects.interrupt import uninterrupted

__all__: list[str] = []


def test_interrupt_is_held_back_and_strikes_at_the_end() -> None:
    """Never in the middle, never lost."""
    done: list[str] = []

    def store() -> None:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("stored")

    with pytest.raises(KeyboardInterrupt):
        store()
    assert done == ["stored"]


def test_interrupt_after_something_final_is_forgotten() -> None:
    """What was done is told; nobody is left in doubt."""
    with uninterrupted(is_final=True):
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
