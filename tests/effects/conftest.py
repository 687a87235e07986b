"""What the tests of effects share."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.effects.processes import Alive

__all__ = ["left_behind"]


@pytest.fixture
def left_behind(tmp_path: Path) -> Iterator[Alive]:
    """Give what is still alive of the processes that wrote their number into a file of the folder."""

    def alive() -> list[psutil.Process]:
        numbers = [int(path.name.removeprefix("pid-")) for path in tmp_path.glob("pid-*")]
        found = [psutil.Process(number) for number in numbers if psutil.pid_exists(number)]
        return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]

    yield alive
    for process in alive():
        process.send_signal(signal.SIGKILL)
