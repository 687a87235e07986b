"""Group commit: who does the work, in which groups, and what an interrupted caller may not take along."""

import threading
from collections.abc import Callable, Iterator

import pytest

from assent.storage import writer as writer_module
from assent.storage.writer import LARGEST_GROUP, Writer
from tests.patience import PATIENCE

__all__: list[str] = []


class Works:
    """A `perform` that remembers its groups, and can be held or made to fail."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.threads: list[str] = []
        self.waits: list[bool] = []
        self.failure: BaseException | None = None
        self.is_busy = False
        self.gate = threading.Event()
        self.gate.set()
        self.inside = threading.Event()
        self._news = threading.Condition()

    def perform(self, group: list[str], may_wait: bool) -> bool:
        """Do a group, or say busy where waiting is not allowed."""
        self.inside.set()
        assert self.gate.wait(PATIENCE)
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure
        if self.is_busy and not may_wait:
            return False
        with self._news:
            self.groups.append(list(group))
            self.threads.append(threading.current_thread().name)
            self.waits.append(may_wait)
            self._news.notify_all()
        return True

    @property
    def done(self) -> list[str]:
        """All that was done, in order."""
        return [work for group in self.groups for work in group]

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the works done fit."""
        with self._news:
            assert self._news.wait_for(condition, PATIENCE)


@pytest.fixture
def works() -> Works:
    """Give a fresh `perform`."""
    return Works()


@pytest.fixture
def writer(works: Works) -> Iterator[Writer[str]]:
    """Give a writer that does `works`."""
    writer: Writer[str] = Writer(threading.Lock(), works.perform)
    yield writer
    works.gate.set()
    writer.close()


def writer_threads() -> int:
    """Count the writer threads of this process."""
    return sum(thread.name == "assent-writer" for thread in threading.enumerate())


def test_lone_caller_commits_on_its_own_thread(works: Works, writer: Writer[str]) -> None:
    """No hand-over, and no thread for a program that never needs one."""
    before = writer_threads()
    for name in "abc":
        writer.submit(name, may_lead=True)
    assert works.groups == [["a"], ["b"], ["c"]]
    assert set(works.threads) == {threading.current_thread().name}
    assert writer_threads() == before


def test_caller_that_may_not_lead_leaves_it_to_the_thread(works: Works, writer: Writer[str]) -> None:
    """An event loop never commits by itself."""
    writer.submit("a", may_lead=False)
    works.until(lambda: works.done == ["a"])
    assert works.threads == ["assent-writer"]
    assert works.waits == [True]


def test_callers_that_come_during_a_commit_share_the_next_one(works: Works, writer: Writer[str]) -> None:
    """No timer fills a group: it holds what came in meanwhile."""
    works.gate.clear()
    leader = threading.Thread(target=writer.submit, args=("first",), kwargs={"may_lead": True})
    leader.start()
    assert works.inside.wait(PATIENCE)
    for number in range(20):
        writer.submit(f"next{number}", may_lead=True)
    works.gate.set()
    works.until(lambda: len(works.done) == 21)
    leader.join(PATIENCE)
    assert works.groups == [["first"], [f"next{number}" for number in range(20)]]
    assert works.threads[1] == "assent-writer"


def test_group_has_a_largest_size(works: Works, writer: Writer[str]) -> None:
    """A flood is cut into transactions of bearable length, in order and with nothing left."""
    works.gate.clear()
    writer.submit("first", may_lead=False)
    assert works.inside.wait(PATIENCE)
    flood = [str(number) for number in range(2 * LARGEST_GROUP + 5)]
    for work in flood:
        writer.submit(work, may_lead=False)
    works.gate.set()
    works.until(lambda: len(works.done) == len(flood) + 1)
    assert works.done == ["first", *flood]
    assert max(len(group) for group in works.groups) == LARGEST_GROUP


def test_leader_that_finds_the_store_busy_leaves_it_to_the_thread(works: Works, writer: Writer[str]) -> None:
    """The thread may wait for another process; a caller may not be stuck there."""
    works.is_busy = True
    writer.submit("a", may_lead=True)
    works.until(lambda: works.done == ["a"])
    assert works.threads == ["assent-writer"]
    assert works.waits == [True]


def test_interrupted_leader_loses_nobody_elses_work(works: Works, writer: Writer[str]) -> None:
    """Ctrl-C may hit a caller in the middle of its commit; those who queued behind it are still served."""
    works.gate.clear()
    works.failure = KeyboardInterrupt()
    raised: list[type[BaseException]] = []

    def lead() -> None:
        try:
            writer.submit("interrupted", may_lead=True)
        except KeyboardInterrupt as interrupt:
            raised.append(type(interrupt))

    leader = threading.Thread(target=lead)
    leader.start()
    assert works.inside.wait(PATIENCE)
    for name in "abc":
        writer.submit(name, may_lead=True)
    works.gate.set()
    works.until(lambda: sorted(works.done) == ["a", "b", "c"])
    leader.join(PATIENCE)
    assert raised == [KeyboardInterrupt]
    writer.submit("d", may_lead=True)
    works.until(lambda: works.done[-1] == "d")


def test_interrupt_while_the_thread_starts_loses_no_work(
    works: Works, writer: Writer[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next caller starts it again, and closing in between is harmless."""

    def interrupt(_: threading.Thread) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupt)
        with pytest.raises(KeyboardInterrupt):
            writer.submit("a", may_lead=False)
    writer.close()
    writer.submit("b", may_lead=True)
    works.until(lambda: works.done == ["a", "b"])


def test_close_finishes_what_was_submitted(works: Works, writer: Writer[str]) -> None:
    """Nothing that was taken in is dropped, and no thread is left behind."""
    before = writer_threads()
    works.gate.clear()
    writer.submit("first", may_lead=False)
    assert works.inside.wait(PATIENCE)
    for name in "abc":
        writer.submit(name, may_lead=False)
    works.gate.set()
    writer.close()
    assert works.done == ["first", "a", "b", "c"]
    assert writer_threads() == before


def test_writer_works_again_after_a_close(works: Works, writer: Writer[str]) -> None:
    """The thread comes back with the next work that needs it."""
    writer.submit("a", may_lead=False)
    writer.close()
    writer.close()
    writer.submit("b", may_lead=False)
    works.until(lambda: works.done == ["a", "b"])


def test_many_threads_lose_and_double_nothing(works: Works, writer: Writer[str]) -> None:
    """Leaders and queue side by side: everything exactly once."""
    start = threading.Barrier(8)

    def submit(number: int) -> None:
        start.wait(PATIENCE)
        for turn in range(200):
            writer.submit(f"{number}-{turn}", may_lead=bool((number + turn) % 3))

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    works.until(lambda: len(works.done) == 1_600)
    assert len(set(works.done)) == 1_600


def test_thread_that_nobody_needs_for_a_while_leaves_and_the_next_work_has_one(
    works: Works, writer: Writer[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database has a writer for every project, and there may be thousands."""
    monkeypatch.setattr(writer_module, "_IDLE_SECONDS", 0.01)
    writer.submit_all(["a"])
    works.until(lambda: works.groups == [["a"]])
    thread = writer._thread
    if thread is not None:
        thread.join(PATIENCE)
    assert writer._thread is None
    writer.submit_all(["b"])
    works.until(lambda: works.groups == [["a"], ["b"]])
