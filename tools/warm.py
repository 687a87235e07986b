"""A Python that has loaded the package, and forks a real process for each command that it is told.

    with spawn([sys.executable, "-m", "assent", "inbox"], cwd=…, env=…, stdout=PIPE) as process: …

`spawn` takes what `subprocess.Popen` takes and returns a `Popen`. `python -m MODULE`, `python -c CODE` and `python FILE.py`
are forked from the warm Python, which saves the start of an interpreter and the import of the package: an `assent inbox`
takes about a tenth of the time. The process has a pid, an environment, a folder, a session and a terminal of its own, and ends as every
Python does. Everything else is started as `Popen` starts it, and so is everything where ASSENT_COLD is set or the machine is no Linux.

Rule 1: the warm Python has one thread, opens no store and reads no setting, so a fork copies loaded modules only.
Rule 2: what a start of Python would take from its environment (PYTHON…, the locale's encoding) must be that of the warm
        one, or the process is started the other way.
Rule 3: a test of what is loaded, and when, uses `subprocess` itself.
Rule 4: a framework of others is loaded only in a warm Python of its own, from which only those are forked who name it.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import fcntl
import gc
import importlib
import io
import os
import pkgutil
import random
import re
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import msgspec

from assent.storage.migration import load_migrations
from assent.storage.queries import load_queries

__all__ = ["COLD", "PYTHON", "Order", "at_start", "be", "frameworks_of", "is_program", "load", "run", "spawn"]

PACKAGE = "assent"
COLD = "ASSENT_COLD"
"""A setting of the tests: with any value nothing is forked."""
PYTHON = "TESTS_OF_ASSENT_PYTHON"
"""A setting of forked processes: what they start as Python, such as that of `tools.warm_shell.programs`."""
ROOT = Path(__file__).resolve().parents[1]
_HEAD = struct.Struct("=II")
_STATUS = struct.Struct("=i")
_MOST_DESCRIPTORS = 64
_NOT_FLUSHED = 120
"""The status of a Python whose last words could not be written."""
_OPTIONS = frozenset({"args", "cwd", "env", "pass_fds", "start_new_session"})
_PIPES = frozenset({"stdin", "stdout", "stderr", "text", "encoding", "errors", "bufsize"})
"""What `Popen` does on our side, however the process begins."""
_LATER = frozenset({"PYTHONFAULTHANDLER", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"})
"""Of the variables that a Python reads once, when it starts, those that we see to."""
_LOCALE = ("LC_ALL", "LC_CTYPE", "LANG")
"""The first of them that is set decides the encoding."""
_FRAMEWORKS = frozenset({"acp", "agents", "langchain", "langgraph", "pydantic_ai"})
"""What takes more than a second to load."""
_IMPORT = re.compile(r"^(?:from|import) (([a-z_]+)[\w.]*)", re.MULTILINE)
_OF_COMMANDS = {
    "mcp": ["assent.hosts.mcp.http", "assent.hosts.mcp.server", "mcp.server.stdio", "uvicorn"],
    "host acp": ["acp", "assent.hosts.acp.session"],
}
"""What commands of `assent` load of frameworks."""
_NOT_LOADED = ("assent.hosts", "assent.client.traces", "assent.surfaces.http.traces", "assent.__main__")
"""Frameworks of others, and what must stay unloaded until somebody wants it."""

# Run first in a new session: the pty becomes its controlling terminal, as a login makes it.
_TAKE_TERMINAL = """
import fcntl, os, signal, sys, termios
if sys.argv[1]:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for number in filter(None, sys.argv[2].split(",")):
    signal.signal(int(number), signal.SIG_IGN)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class Order(msgspec.Struct):
    """What a process is to be."""

    words: list[str]
    cwd: str
    env: dict[str, str]
    descriptors: list[int] = []
    has_session: bool = False
    has_terminal: bool = False
    ignores: list[int] = []


def spawn(
    words: Sequence[str],
    *,
    has_terminal: bool = False,
    ignores: Sequence[int] = (),
    loaded: str = PACKAGE,
    **options: Any,
) -> subprocess.Popen[Any]:
    """Start a program as `subprocess.Popen` does.

    With `has_terminal` its standard input becomes the terminal that controls its session; signals in `ignores` are
    ignored from its first moment on. `loaded` names a module that the warm Python has loaded in place of the whole package.
    """
    if _can_fork(words, options):
        with contextlib.suppress(_NotHereError):
            return _Forked(words, has_terminal, ignores, loaded, options)
    if has_terminal or ignores:
        prelude = [*(sys.executable, "-S", "-c", _TAKE_TERMINAL), "x" * has_terminal]
        words = [*prelude, ",".join(str(int(number)) for number in ignores), *words]
    return subprocess.Popen(words, **options)


def run(
    words: Sequence[str],
    *,
    input: Any = None,  # noqa: A002 - as `subprocess.run` calls it
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end as `subprocess.run` does."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with spawn(words, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


class _NotHereError(Exception):
    """The warm Python cannot do this; the ordinary way can."""


def _can_fork(words: Sequence[str], options: Mapping[str, Any]) -> bool:
    """Tell whether a process forked from ours would be the same as a new one."""
    if sys.platform != "linux" or os.environ.get(COLD) or not options.keys() <= _OPTIONS | _PIPES:
        return False
    if list(words[:1]) != [sys.executable] or not is_program(words[1:]):
        return False
    env = options.get("env")
    return (env is None or at_start(env) == at_start(os.environ)) and Path(options.get("cwd") or ".").is_dir()


def is_program(words: Sequence[str]) -> bool:
    """Tell whether a forked Python can run what stands behind `python`; pytest wants to load its plugins itself."""
    match words:
        case ["-m", name, *_]:
            return name != "pytest"
        case ["-c", _, *_]:
            return True
        case [name, *_]:
            return name.endswith(".py")
    return False


def at_start(env: Mapping[str, str]) -> dict[str, str]:
    """Return what a Python takes from its environment once, when it starts."""
    taken = {name: value for name, value in env.items() if name.startswith("PYTHON") and name not in _LATER}
    locale = next((env[name] for name in _LOCALE if env.get(name)), "")
    encoding = locale.rpartition(".")[2].lower().replace("-", "")
    return taken | {"locale": encoding if encoding == "utf8" else locale}


def frameworks_of(words: Sequence[str], folder: Path) -> list[str]:
    """Return the modules of frameworks that what stands behind `python` is going to load."""
    if list(words[:2]) == ["-m", "assent"] or Path(words[0]).name == "assent":
        rest = words[1 + (words[0] == "-m") :]
        return _OF_COMMANDS.get(" ".join(rest[:1]), []) or _OF_COMMANDS.get(" ".join(rest[:2]), [])
    if not words[0].endswith(".py"):
        return []
    try:
        found = _IMPORT.findall((folder / words[0]).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return []
    if _FRAMEWORKS.isdisjoint(first for _, first in found):
        return []
    return sorted({name for name, first in found if first in _FRAMEWORKS or name.startswith("assent.hosts.")})


class _Forked(subprocess.Popen[Any]):
    """A process that is the warm Python's child; its end is heard of through a pipe.

    What is overridden here is private to `Popen`, and the same in Python 3.11 to 3.14.
    """

    _close_pipe_fds: Callable[..., None]
    _handle_exitstatus: Callable[[int], None]
    _waitpid_lock: threading.Lock

    def __init__(
        self,
        words: Sequence[str],
        has_terminal: bool,
        ignores: Sequence[int],
        loaded: str,
        options: Mapping[str, Any],
    ) -> None:
        self._order = (has_terminal, [int(number) for number in ignores], loaded, options)
        self._ended = -1
        super().__init__(list(words), **options)

    def _execute_child(self, words: list[str], *rest: Any) -> None:
        has_terminal, ignores, loaded, options = self._order
        pipes = rest[9:15]  # ours and theirs: in, out, err
        given = (pipes[0], pipes[3], pipes[5])
        standard = [own if number == -1 else number for own, number in enumerate(given)]
        passed = sorted(options.get("pass_fds", ()))
        env = os.environ if options.get("env") is None else options["env"]
        order = Order(
            words=list(words[1:]),
            cwd=os.fspath(options.get("cwd") or Path.cwd()),
            env={os.fsdecode(name): os.fsdecode(value) for name, value in env.items()},
            descriptors=passed,
            has_session=bool(options.get("start_new_session")),
            has_terminal=has_terminal,
            ignores=ignores,
        )
        loads = [loaded, *frameworks_of(order.words, Path(order.cwd))]
        self._ended, self.pid = _warm(loads).start(order, [*standard, *passed])
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        """Return the pid and the status, as `waitpid` would."""
        if wait_flags & os.WNOHANG and not select.select([self._ended], [], [], 0)[0]:
            return 0, 0
        told = os.read(self._ended, _STATUS.size)
        os.close(self._ended)
        # Nothing: the warm Python is gone, and so is whoever could know.
        return self.pid, _STATUS.unpack(told)[0] if told else signal.SIGKILL

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None and self._waitpid_lock.acquire(False):
            try:
                pid, status = self._try_wait(os.WNOHANG)
                if pid == self.pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        """Wait for the word of its end; `Popen` would look every 50 ms."""
        if self.returncode is None and timeout is not None:
            select.select([self._ended], [], [], max(0.0, timeout))
        return super()._wait(timeout)  # type: ignore[misc, no-any-return]


class _Warm:
    """A warm Python, seen from the tests."""

    def __init__(self, loads: Sequence[str]) -> None:
        self._control, theirs = socket.socketpair()
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tools.warm", str(theirs.fileno()), *loads],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self.owner = os.getpid()
        atexit.register(self.close)

    def start(self, order: Order, descriptors: Sequence[int]) -> tuple[int, int]:
        """Return where the end of a new process will be told, and its pid."""
        ours, theirs = os.pipe()
        body = msgspec.json.encode(order)
        try:
            with self._lock:
                head = _HEAD.pack(len(body), 1 + len(descriptors))
                socket.send_fds(self._control, [head], [theirs, *descriptors])
                self._control.sendall(body)
        except OSError as error:  # a standard stream of ours is closed, or the warm Python is gone
            os.close(ours)
            raise _NotHereError from error
        finally:
            os.close(theirs)
        told = os.read(ours, _STATUS.size)
        if not told:
            os.close(ours)
            raise _NotHereError
        return ours, _STATUS.unpack(told)[0]

    def close(self) -> None:
        """End it, where it is ours: a fork of this process has it only in its memory."""
        if os.getpid() == self.owner:
            self._control.close()
            self._process.wait()


_known: dict[tuple[str, ...], _Warm] = {}
_starting = threading.Lock()


def _warm(loads: Sequence[str]) -> _Warm:
    """Return the warm Python of this process that has loaded this."""
    with _starting:
        known = _known.get(tuple(loads))
        if known is None or known.owner != os.getpid():
            known = _known[tuple(loads)] = _Warm(loads)
        return known


# The warm Python itself


class _Received(NamedTuple):
    order: Order
    tell: int
    descriptors: list[int]


def _load_package() -> None:
    """Import the package, but for what belongs to frameworks of others."""
    package = importlib.import_module(PACKAGE)
    for found in pkgutil.walk_packages(package.__path__, f"{PACKAGE}."):
        if not found.name.startswith(_NOT_LOADED):
            importlib.import_module(found.name)
    for store in ("assent.storage.postgres", "assent.storage.sqlite"):
        load_queries(store, "queries.sql")
        load_migrations(store)


def load(names: Sequence[str]) -> None:
    """Import this where it is not loaded yet: those who are forked then have it."""
    if not sys.modules.keys() >= set(names) or not gc.get_freeze_count():
        for name in names:
            importlib.import_module(name)
        assert threading.active_count() == 1
        gc.collect()
        gc.freeze()


def _serve(control: socket.socket) -> _Received | None:
    """Fork for every order; return in the child with what it is to be, and in the parent when nobody orders any more."""
    ours, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control.fileno(), ours], [], [])
        if ours in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(ours, 65_536)
            _bury(children)
        if control.fileno() not in ready:
            continue
        received = _receive(control)
        if received is None:
            return None
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            return received
        children[child] = received.tell
        os.write(received.tell, _STATUS.pack(child))
        for descriptor in received.descriptors:
            os.close(descriptor)


def _receive(control: socket.socket) -> _Received | None:
    head, descriptors, _, _ = socket.recv_fds(control, _HEAD.size, _MOST_DESCRIPTORS)
    if not head:
        return None
    length, count = _HEAD.unpack(head)
    body = b""
    while len(body) < length:
        body += control.recv(length - len(body))
    assert len(descriptors) == count, "descriptors got lost"
    return _Received(msgspec.json.decode(body, type=Order), descriptors[0], descriptors[1:])


def _bury(children: dict[int, int]) -> None:
    while children:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        tell = children.pop(child, -1)
        if tell != -1:
            with contextlib.suppress(BrokenPipeError):
                os.write(tell, _STATUS.pack(status))
            os.close(tell)


def be(order: Order, descriptors: Sequence[int]) -> NoReturn:
    """Be what was ordered, in a process that was forked for it."""
    _become(order, descriptors)
    _end(_live(order.words))


def _become(order: Order, descriptors: Sequence[int]) -> None:
    """Be what was ordered, up to the first line of its code."""
    if order.has_session:
        os.setsid()
    _take_descriptors(order, descriptors)
    if order.has_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in order.ignores:
        signal.signal(number, signal.SIG_IGN)
    os.environ.clear()
    os.environ.update(order.env)
    sys.executable = order.env.get(PYTHON, sys.executable)
    os.chdir(order.cwd)
    time.tzset()
    random.seed()
    sys.dont_write_bytecode = bool(order.env.get("PYTHONDONTWRITEBYTECODE"))
    _open_standard_streams(is_unbuffered=bool(order.env.get("PYTHONUNBUFFERED")))
    if order.env.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    else:
        faulthandler.disable()


def _take_descriptors(order: Order, received: Sequence[int]) -> None:
    """Have each descriptor under its number, and no other."""
    wanted = [0, 1, 2, *order.descriptors]
    above = max(*wanted, *received) + 1
    moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, above) for descriptor in received]
    for number, descriptor in zip(wanted, moved, strict=True):
        os.dup2(descriptor, number)
    begin = 3
    for number in [*order.descriptors, os.sysconf("SC_OPEN_MAX")]:
        os.closerange(begin, min(number, 65_536))
        begin = number + 1


def _open_standard_streams(*, is_unbuffered: bool) -> None:
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        old = getattr(sys, name)
        buffering = 0 if is_unbuffered and mode == "w" else -1
        # It lives as long as the process.
        buffer = open(number, f"{mode}b", buffering, closefd=False)  # noqa: SIM115
        stream = io.TextIOWrapper(
            buffer,
            encoding=old.encoding,
            errors=old.errors,
            line_buffering=number == 2 or (number == 1 and os.isatty(1)),
            write_through=is_unbuffered,
        )
        stream.mode = mode  # type: ignore[misc]  # as the interpreter sets it
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _live(words: Sequence[str]) -> int:
    """Run what stands behind `python`, as the interpreter does; return its exit status."""
    try:
        _run(words)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException as error:  # noqa: BLE001 - the interpreter prints whatever it is
        sys.excepthook(type(error), error, error.__traceback__)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _run(words: Sequence[str]) -> None:
    kind, rest = words[0], list(words[1:])
    sys.orig_argv = [sys.executable, *words]
    if kind == "-m":
        sys.path[0] = str(Path.cwd())
        sys.argv = rest
        for name in (rest[0], f"{rest[0]}.__main__"):  # which a start of Python has not loaded yet
            if not hasattr(sys.modules.get(name), "__path__"):
                sys.modules.pop(name, None)
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    if kind == "-c":
        sys.path[0] = ""
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), module.__dict__)
        return
    sys.path[0] = str(Path(kind).resolve().parent)
    sys.argv = list(words)
    module.__file__ = str(Path.cwd() / kind)
    exec(compile(Path(kind).read_bytes(), kind, "exec"), module.__dict__)


def _end(status: int) -> NoReturn:
    """End as the interpreter does, but for freeing what was loaded: that would copy every page of it first."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads that are no daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream.closed:
            continue
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            sys.stderr.write(f"Exception ignored in: {stream!r}\n{type(error).__name__}: {error}\n")
            status = status or _NOT_FLUSHED
    if status == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


if __name__ == "__main__":
    faulthandler.enable()
    if PACKAGE in sys.argv[2:]:
        _load_package()
    load(sys.argv[2:])
    received = _serve(socket.socket(fileno=int(sys.argv[1])))
    if received is not None:
        be(received.order, received.descriptors)
