"""A pytest plugin: a run that leaves something behind fails, and says what and of which test.

Looked at when the tests of a process are over: other processes, threads, listening sockets, temporary files and folders;
and once per run the repository. What is left is ended or removed after it was told.

Rule 1: a process is ours if it descends from ours, or has our mark in its environment: its parent may be gone.
Rule 2: fixtures that several tests share are over by then, so nothing is excused but what is in EXCUSED.
Rule 3: after each test only what costs microseconds is noted: whose test saw a thread or a process first.
"""

import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

__all__ = ["EXCUSED", "MARK", "SETTLE", "pytest_configure", "pytest_worker_begins"]

MARK = "TESTS_OF_ASSENT"
"""A variable that every process has that the tests of one process started."""
EXCUSED = {
    "process tools.warm": "programs are forked from it until the interpreter ends, and it ends with it",
    "thread pytest_timeout": "bounds the test",
    "thread tqdm_monitor": "a library's own, and it sleeps",
    "file pytest-of-": "pytest keeps the folders of its last runs, also of one that a test started",
    "file .org.chromium.": "Chromium's own, when it was killed",
    "file node-compile-cache": "Node's own, for its next start",
    "file assent-test-": "the throw-away store of a program that a test killed",
    f"file assent-{os.getuid()}": "where sockets are, in a program that was told of no runtime folder",
}
"""What may be left: its kind with the beginning of its name, or a part of its command line; and why."""
SETTLE = "TESTS_SETTLE_SECONDS"
_SETTLE_SECONDS = float(os.environ.get(SETTLE, "60"))
"""What was told to end has so long to do it; nothing waits where nothing is left."""
_ROOT = Path(__file__).resolve().parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Watch the run, and the process that runs the tests: this one, or each worker of a pool."""
    config.pluginmanager.register(_Run(config.rootpath), "leftovers-run")
    if not getattr(config.option, "jobs", 0):
        pytest_worker_begins(config)


@pytest.hookimpl(optionalhook=True)
def pytest_worker_begins(config: pytest.Config) -> None:
    """Watch this process."""
    config.pluginmanager.register(_Watch(), "leftovers-watch")


def _is_excused(kind: str, name: str) -> bool:
    return any(kind == known.partition(" ")[0] and known.partition(" ")[2] in name for known in EXCUSED)


def _test() -> str:
    """Return the test that runs now."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


def _tell(what: str, test: str) -> str:
    return f"{what}, of {test}" if test else what


class _Watch:
    """Watches the process that runs tests."""

    def __init__(self) -> None:
        self._mark = f"{os.getpid()}.{time.monotonic_ns()}"
        os.environ[MARK] = self._mark
        self._known = {thread.ident for thread in threading.enumerate()}
        self._first: dict[tuple[str, int], str] = {}
        """Kind and number of what was first seen after which test."""
        self._made: dict[Path, str] = {}
        """Temporary files and folders, and the tests that made them."""
        # Ours is kept in mind by `tempfile`; programs make theirs where nobody else does.
        self._shared = Path(tempfile.gettempdir())
        self._folder = Path(tempfile.mkdtemp(prefix="as-"))
        self._folder.chmod(0o711)  # PostgreSQL runs as somebody else
        os.environ["TMPDIR"] = str(self._folder)
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(tempfile, "mkdtemp", partial(self._make, tempfile.mkdtemp, lambda made: made))
        self._patch.setattr(tempfile, "mkstemp", partial(self._make, tempfile.mkstemp, lambda made: made[1]))

    def _make(self, make: Callable[..., Any], path: Callable[[Any], str], *given: Any, **named: Any) -> Any:
        made = make(*given, **named)
        self._made[Path(path(made))] = _test()
        return made

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note after each test what was not there before it."""
        result = yield
        for thread in threading.enumerate():
            if thread.ident not in self._known:
                self._first.setdefault(("thread", thread.ident or 0), item.nodeid)
        for pid in _children(os.getpid()):
            self._first.setdefault(("process", pid), item.nodeid)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Look for what is left."""
        run = session.config.pluginmanager.get_plugin("leftovers-run")
        assert isinstance(run, _Run)
        run.pytest_worker_told(self.pytest_worker_ends())

    @pytest.hookimpl(optionalhook=True)
    def pytest_worker_ends(self) -> list[str]:
        """Look for what is left of a worker's tests."""
        until = time.monotonic() + _SETTLE_SECONDS
        left = [*self._processes(until), *self._threads(until), *_sockets(), *self._files()]
        self._patch.undo()
        return left

    def _processes(self, until: float) -> list[str]:
        psutil.wait_procs(self._ours(), timeout=max(0.0, until - time.monotonic()))
        told = []
        for process in self._ours():
            try:
                words, test = " ".join(process.cmdline()), process.environ().get("PYTEST_CURRENT_TEST", "")
            except psutil.Error:
                continue  # over by now
            test = self._first.get(("process", process.pid)) or test.rpartition(" ")[0]
            told.append(_tell(f"process {process.pid}: {words[:300]}", test))
            process.kill()
        return told

    def _ours(self) -> list[psutil.Process]:
        me = psutil.Process()
        parents = {me.pid, *(parent.pid for parent in me.parents())}
        found = {process.pid: process for process in me.children(recursive=True)}
        wanted = f"{MARK}={self._mark}".encode()
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal() and int(entry.name) not in parents:
                try:
                    if wanted in Path(entry.path, "environ").read_bytes().split(b"\0"):
                        found.setdefault(int(entry.name), psutil.Process(int(entry.name)))
                except (OSError, psutil.Error):
                    continue  # somebody else's, or over by now
        return [process for process in found.values() if _is_alive(process) and not _is_shared(process)]

    def _threads(self, until: float) -> list[str]:
        told = []
        for thread in threading.enumerate():
            if thread.ident in self._known or _is_excused("thread", thread.name):
                continue
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                kind = "daemon thread" if thread.daemon else "thread"
                told.append(
                    _tell(f"{kind} {thread.name}", self._first.get(("thread", thread.ident or 0), ""))
                )
        return told

    def _files(self) -> list[str]:
        made = {path: test for path, test in self._made.items() if os.path.lexists(path)}
        made |= {path: "" for path in self._folder.iterdir() if path not in made}
        told = [
            _tell(f"file {path}", test) for path, test in made.items() if not _is_excused("file", path.name)
        ]
        for path in (*made, self._folder):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return told


class _Run:
    """Looks at the repository before and after, and makes the run fail for what is left."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._before = _untracked(root)
        self.left: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_worker_told(self, lines: list[str]) -> None:
        """Take what a worker of the pool has left; one that crashed cannot say."""
        self.left += lines

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Fail where something is left; after the watch has looked, and before the summary is written."""
        yield
        self.left += [
            f"file {name} in the repository" for name in sorted(_untracked(self._root) - self._before)
        ]
        if self.left and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what is left."""
        if self.left:
            terminalreporter.section("left behind", red=True, bold=True)
            for line in self.left:
                terminalreporter.write_line(f"LEFT {line}")


def _children(pid: int) -> Iterator[int]:
    """Give a process's children, and those of the warm Python, as cheaply as can be."""
    try:
        told = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return
    for child in (int(number) for line in told for number in line.split()):
        yield child
        if pid == os.getpid():
            yield from _children(child)


def _is_alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _is_shared(process: psutil.Process) -> bool:
    """Say whether it is a child of ours that all tests share: what it started is not."""
    try:
        return process.ppid() == os.getpid() and _is_excused("process", " ".join(process.cmdline()))
    except psutil.Error:
        return True


def _sockets() -> list[str]:
    found = psutil.Process().net_connections("inet")
    return [f"socket that listens on port {each.laddr.port}" for each in found if each.status == "LISTEN"]


def _untracked(root: Path) -> set[str]:
    """Return the files of a repository that git neither keeps nor ignores; none where there is no git."""
    try:
        told = subprocess.run(
            ["git", "status", "--porcelain", "-z", "--untracked-files=all"],
            cwd=root,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {line[3:] for line in told.split("\0") if line.startswith("??")}
