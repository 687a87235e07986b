"""What a loop hands on of its command's output: at most twice a second, at the end, and never at the loop's cost."""

import threading
import time
from collections.abc import Callable
from typing import cast

import pytest

from assent.client.door import Call
from assent.client.output import Output
from assent.client.wheel import Wheel
from assent.hosts.tail import TELL_SECONDS, Teller
from assent.protocol.error import RunTakenError, StoreBusyError
from assent.protocol.tail import MAX_TAIL_BYTES, Tail

__all__: list[str] = []

BOUND = 10.0


class FakeWheel:
    """Takes output, or fails as it is told to; remembers when what came."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.came: list[tuple[float, Output]] = []
        self.tried: list[Output] = []
        self.news = threading.Condition()

    def tell(self, output: Output) -> Call[Tail]:
        """Fit `Wheel.tell`."""
        yield from ()
        with self.news:
            self.tried.append(output)
            self.news.notify_all()
            if self.failures:
                raise self.failures.pop(0)
            self.came.append((time.monotonic(), output))
        return Tail("", 0, 0, None)

    @property
    def text(self) -> bytes:
        """All that came."""
        return b"".join(output.text for _, output in self.came)

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait for what the teller's thread does."""
        with self.news:
            assert self.news.wait_for(condition, BOUND)


def teller_on(wheel: FakeWheel) -> Teller:
    """Return a teller that tells `wheel`."""
    return Teller(cast(Wheel, wheel))


def test_output_is_handed_on_at_most_twice_a_second_and_wholly_at_the_end() -> None:
    """A command that prints without end costs two commits a second, and the last line is never missing."""
    wheel = FakeWheel()
    teller = teller_on(wheel)
    teller.write(b"first\n")
    wheel.wait_for(lambda: len(wheel.came) == 1)
    teller.write(b"second\n")
    teller.write(b"third\n")
    wheel.wait_for(lambda: len(wheel.came) == 2)
    teller.write(b"last")
    teller.close()
    assert [output.text for _, output in wheel.came] == [b"first\n", b"second\nthird\n", b"last"]
    assert wheel.came[1][0] - wheel.came[0][0] >= TELL_SECONDS * 0.9


def test_characters_of_two_streams_are_put_together_each_for_itself() -> None:
    """Both may be cut in the middle of one."""
    wheel = FakeWheel()
    teller = teller_on(wheel)
    teller.write(b"\xc3")
    teller.write(b"\xe2\x82", is_error=True)
    teller.write(b"\xb6")
    teller.write(b"\xac\xff", is_error=True)
    teller.close()
    assert wheel.text.decode() == "ö€\ufffd"


def test_output_that_the_store_could_not_take_is_sent_again_under_its_id() -> None:
    """It is kept once, also where only the reply was lost; what came meanwhile comes behind it."""
    wheel = FakeWheel(StoreBusyError(), OSError("away"))
    teller = teller_on(wheel)
    teller.write(b"one ")
    wheel.wait_for(lambda: len(wheel.tried) == 1)
    teller.write(b"two")
    wheel.wait_for(lambda: len(wheel.came) == 2)
    teller.close()
    assert wheel.text == b"one two"
    assert len({output.command_id for output in wheel.tried[:3]}) == 1


def test_more_than_is_kept_is_counted_and_not_sent() -> None:
    """However much a command prints while the store is away, the loop's memory stays small."""
    wheel = FakeWheel(OSError("away"))
    teller = teller_on(wheel)
    teller.write(b"x")
    wheel.wait_for(lambda: len(wheel.tried) == 1)
    for _ in range(40):
        teller.write("é".encode() * (MAX_TAIL_BYTES // 4))
    teller.close()
    last = wheel.came[-1][1]
    assert len(last.text) == MAX_TAIL_BYTES
    assert last.skipped + len(last.text) == 40 * (MAX_TAIL_BYTES // 2)


def test_refused_output_is_given_up_and_the_loop_is_not_told() -> None:
    """Somebody else drives the run: the loop hears that in its own way."""
    wheel = FakeWheel(RunTakenError())
    teller = teller_on(wheel)
    teller.write(b"one")
    wheel.wait_for(lambda: len(wheel.tried) == 1)
    teller.write(b"two")
    teller.close()
    assert len(wheel.tried) == 1
    assert wheel.came == []


def test_end_of_a_loop_waits_for_its_last_words_only_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is away for ever holds up nobody."""
    monkeypatch.setattr("assent.hosts.tail._LAST_SECONDS", 0.2)
    wheel = FakeWheel(*(OSError("away") for _ in range(1_000)))
    teller = teller_on(wheel)
    teller.write(b"one")
    begun = time.monotonic()
    teller.close()
    assert time.monotonic() - begun < BOUND / 2
    assert wheel.came == []


def test_machine_without_room_for_a_thread_goes_on_without_a_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs the tail, and not the run."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    teller = teller_on(FakeWheel())
    teller.write(b"one")
    teller.write(b"two")
    teller.close()
    assert teller._thread is None
