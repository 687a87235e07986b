"""A pool for pytest: tests are collected once, and forked workers run them.

    pytest -p tools.pool --jobs 4

To collect this suite takes as long as some hundred of its tests, so it is done before the fork.

Rule 1: a worker takes the tests of a file after each other, since they share what is set up for it; a test with a bound
        of its own may take long, goes alone, and begins first. When no file is left, half of somebody's rest is taken.
Rule 2: a worker always knows its next test, so that it ends what that one does not need.
Rule 3: a worker that dies fails the test that it ran; another one runs the rest.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection, wait
from typing import Any

import pytest
from _pytest.capture import FDCapture

__all__ = ["pytest_addhooks", "pytest_addoption", "pytest_runtestloop"]

_FORK = multiprocessing.get_context("fork")
_ENDS_WITHIN = 60.0
"""Seconds that a worker has to end what its tests shared."""


class _Hooks:
    @pytest.hookspec
    def pytest_worker_begins(self, config: pytest.Config) -> None:
        """In a worker, before its first test."""

    @pytest.hookspec
    def pytest_worker_ends(self, config: pytest.Config) -> list[str]:  # type: ignore[empty-body]
        """In a worker, after its last test: return what is to be told."""

    @pytest.hookspec
    def pytest_worker_told(self, config: pytest.Config, lines: list[str]) -> None:
        """In the process that leads: what plugins told in a worker at its end."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Name what a plugin may do in a worker."""
    pluginmanager.add_hookspecs(_Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Have a way to say how many workers there are."""
    parser.addoption("--jobs", type=int, default=0, help="run tests in so many forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the tests in workers, if that is wanted; return whether they were run."""
    config = session.config
    if not config.option.jobs or config.option.collectonly or not session.items or session.testsfailed:
        return None
    pool = _Pool(session)
    try:
        pool.run()
    finally:
        pool.end()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


class _Worker:
    """A worker, as the process sees it that leads."""

    def __init__(self, session: pytest.Session, others: Sequence[_Worker]) -> None:
        self.line, theirs = _FORK.Pipe()
        ours = [self.line, *(other.line for other in others)]
        self.process = _FORK.Process(target=_work, args=(session, theirs, ours))
        self.process.start()
        theirs.close()
        self.rest: deque[int] = deque()
        """The tests that only this worker is to run, and has not been told of."""
        self.told: deque[int] = deque()
        """The test that it runs, and the next."""

    def end(self) -> None:
        """Wait until it has ended; a thread that was left behind would keep it for ever."""
        self.process.join(_ENDS_WITHIN)
        self.process.kill()
        self.process.join()


class _Pool:
    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._files = deque(_by_file(session.items))
        self._workers: list[_Worker] = []
        for _ in range(min(session.config.option.jobs, len(session.items))):
            self._add()

    def run(self) -> None:
        """Hand out tests, and report what came of them, until there is none."""
        while self._workers:
            ready = wait([worker.line for worker in self._workers])
            for worker in [each for each in self._workers if each.line in ready]:
                try:
                    told = worker.line.recv()
                except (EOFError, ConnectionError):
                    self._bury(worker)
                    continue
                if isinstance(told, list):
                    self._remove(worker)
                    self._session.config.hook.pytest_worker_told(config=self._session.config, lines=told)
                else:
                    self._report(worker.told.popleft(), told[1])
                    self._tell_next(worker)

    def end(self) -> None:
        """Let everybody end what they have begun, for whatever reason nothing is handed out any more."""
        for worker in self._workers:
            worker.line.close()
        for worker in self._workers:
            worker.end()

    def _add(self) -> None:
        worker = _Worker(self._session, self._workers)
        self._workers.append(worker)
        for _ in range(2):
            self._tell_next(worker)

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.line.close()
        worker.end()

    def _tell_next(self, worker: _Worker) -> None:
        """Tell a worker of one more test, or that there is none."""
        index = self._next(worker)
        if index is not None:
            worker.told.append(index)
        with suppress(ConnectionError):  # it died: that is seen when its line is read
            worker.line.send(index)

    def _next(self, worker: _Worker) -> int | None:
        if self._session.shouldfail or self._session.shouldstop:
            return None
        if not worker.rest and self._files:
            worker.rest = self._files.popleft()
        if not worker.rest:
            longest = max(self._workers, key=lambda each: len(each.rest))
            taken = [longest.rest.pop() for _ in range((len(longest.rest) + 1) // 2)]
            worker.rest.extend(reversed(taken))
        return worker.rest.popleft() if worker.rest else None

    def _report(self, index: int, reports: list[dict[str, Any]]) -> None:
        item, config = self._session.items[index], self._session.config
        config.hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for each in reports:
            report = config.hook.pytest_report_from_serializable(config=config, data=each)
            config.hook.pytest_runtest_logreport(report=report)
        config.hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _bury(self, worker: _Worker) -> None:
        """Tell of a worker that died, and let another one run what is left of its tests."""
        self._remove(worker)
        how = f"Its process ended with {worker.process.exitcode}, and said nothing more."
        if worker.told:
            item, hook = self._session.items[worker.told.popleft()], self._session.config.hook
            hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", how, "call")
            hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        else:
            self._session.shouldfail = f"A worker died after its last test. {how}"
        worker.rest.extendleft(reversed(worker.told))
        if worker.rest:
            self._files.appendleft(worker.rest)
            self._add()


def _by_file(items: list[pytest.Item]) -> Iterator[deque[int]]:
    """Give the numbers of the tests, those of a file together."""

    def place(numbered: tuple[int, pytest.Item]) -> tuple[str, int]:
        number, item = numbered
        return str(item.path), number if item.get_closest_marker("timeout") else -1

    for _, together in groupby(enumerate(items), key=place):
        yield deque(number for number, _ in together)


# In a worker


class _Reports:
    """Keeps the reports of the test that runs."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._kept: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what goes through a pipe."""
        told = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._kept.append(told)

    def take(self) -> list[dict[str, Any]]:
        """Return what was kept."""
        kept, self._kept = self._kept, []
        return kept


def _work(session: pytest.Session, line: Connection, ends_of_others: list[Connection]) -> None:
    """Run tests as they are told, until there is none or nobody listens any more."""
    for each in ends_of_others:
        each.close()
    config, reports = session.config, _Reports(session.config)
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(reports)
    _capture_alone(config)
    config.hook.pytest_worker_begins(config=config)
    try:
        _run(session, line, reports)
        line.send([told for each in config.hook.pytest_worker_ends(config=config) for told in each])
    except (EOFError, ConnectionError, KeyboardInterrupt):
        session._setupstate.teardown_exact(None)  # pytest has no other way to say that it is over
        config.hook.pytest_worker_ends(config=config)


def _capture_alone(config: pytest.Config) -> None:
    """Let what is captured go into files of this worker's own, under the numbers of those that all were forked with.

    To begin anew would close them, and libraries have taken `sys.stderr` when they were loaded.
    """
    manager = config.pluginmanager.get_plugin("capturemanager")
    capture = manager and manager._global_capturing  # pytest has no other way to reach them
    for each in (capture.out, capture.err) if capture else ():
        shared = getattr(each, "tmpfile", None)
        if isinstance(each, FDCapture) and shared is not None:
            with tempfile.TemporaryFile(buffering=0) as own:
                os.dup2(own.fileno(), shared.fileno(), inheritable=False)


def _run(session: pytest.Session, line: Connection, reports: _Reports) -> None:
    index = line.recv()
    while index is not None:
        following = line.recv()
        after = None if following is None else session.items[following]
        session.config.hook.pytest_runtest_protocol(item=session.items[index], nextitem=after)
        line.send((index, reports.take()))
        index = following
