"""The hub keeps the tail of a run's output: for its driver only, once, and outside the log."""

import pytest

from assent.hub.audit import verify
from assent.hub.command import FinishRun, StartRun, TellOutput
from assent.hub.hub import Hub
from assent.protocol.error import AssentError, BadRequestError, NotFoundError, RunTakenError
from assent.protocol.run import RunId
from assent.protocol.tail import MAX_TAIL_BYTES, MAX_WRITTEN_BYTES, Tail
from tests.hub.conftest import PROJECT, dump, tell, tell_group
from tests.run_samples import RUN_ID, new_frame
from tests.samples import AGENT, NOON

__all__: list[str] = []


@pytest.fixture(autouse=True)
def started(hub: Hub) -> None:
    """Begin the run."""
    tell(hub, StartRun(RUN_ID, new_frame(), "host:1"))


def read(hub: Hub, after: int = 0) -> Tail:
    """Return the tail as it is."""
    with hub.reading() as reader:
        return reader.tail(PROJECT, RUN_ID, after)


def test_output_is_kept_and_the_log_knows_nothing_of_it(hub: Hub) -> None:
    """Volatile: the same events, the same chain, and the audit finds nothing wrong."""
    before = dump(hub)
    told = tell(hub, TellOutput(RUN_ID, 1, b"one\n"))
    tell(hub, TellOutput(RUN_ID, 1, b"two\n"))
    assert told == Tail("", 4, 4, NOON)
    assert read(hub) == Tail("one\ntwo\n", 0, 8, NOON)
    assert dump(hub) == before
    assert not verify(hub.store).problems


def test_output_of_a_driver_whose_run_was_taken_is_refused(hub: Hub) -> None:
    """A stale fence: the sentence says who drives it now."""
    tell(hub, StartRun(RUN_ID, new_frame(), "host:2"))
    with pytest.raises(RunTakenError, match="host:2 drives"):
        tell(hub, TellOutput(RUN_ID, 1, b"late"))
    assert read(hub).written == 0
    tell(hub, TellOutput(RUN_ID, 2, b"new"))
    assert read(hub).text == "new"


def test_output_of_no_run_is_refused(hub: Hub) -> None:
    """Nothing is kept under a name that nobody began."""
    with pytest.raises(NotFoundError):
        tell(hub, TellOutput(RunId("nobody"), 1, b"x"))


@pytest.mark.parametrize(
    ("text", "skipped"),
    [(b"x" * (MAX_TAIL_BYTES + 1), 0), (b"x", -1), (b"x", MAX_WRITTEN_BYTES)],
    ids=["too-long", "negative", "beyond-counting"],
)
def test_output_that_is_too_much_or_cannot_be_counted_is_refused(hub: Hub, text: bytes, skipped: int) -> None:
    """And what was kept before stays."""
    tell(hub, TellOutput(RUN_ID, 1, b"before"))
    with pytest.raises(BadRequestError):
        tell(hub, TellOutput(RUN_ID, 1, text, skipped))
    assert read(hub).text == "before"


def test_output_that_is_sent_again_is_kept_once(hub: Hub) -> None:
    """A reply may be lost on its way."""
    first = tell(hub, TellOutput(RUN_ID, 1, b"once\n"), command_id="key-1")
    again = tell(hub, TellOutput(RUN_ID, 1, b"once\n"), command_id="key-1")
    assert first == again
    assert read(hub).text == "once\n"


def test_run_that_has_ended_takes_its_drivers_last_words(hub: Hub) -> None:
    """They are what people look for; the run stays as it ended."""
    tell(hub, FinishRun(RUN_ID, 1))
    before = dump(hub)
    tell(hub, TellOutput(RUN_ID, 1, b"Traceback\n"))
    assert read(hub).text == "Traceback\n"
    assert dump(hub) == before


def test_commands_of_one_group_write_one_behind_the_other(hub: Hub) -> None:
    """And one that is refused takes none of its neighbours along."""
    told = tell_group(
        hub,
        (TellOutput(RUN_ID, 1, b"a"), AGENT),
        (TellOutput(RUN_ID, 7, b"-"), AGENT),
        (TellOutput(RUN_ID, 1, b"b"), AGENT),
    )
    assert [isinstance(reply, AssentError) for reply in told] == [False, True, False]
    assert read(hub).text == "ab"
