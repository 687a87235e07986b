"""A shell whose Python programs are forked from a warm Python, in the session of the shell.

    process = start(["bash", "-i"], folder, env, stdin=slave, stdout=slave, stderr=slave, has_terminal=True)

`folder` gets a small program for each of `assent` and `python`, and stands first in the shell's path. Such a program asks a
process beside the shell for a fork, which has its arguments, environment, folder and streams, and is of its process group:
Ctrl-C, a hang-up and a kill of the group reach both. It ends as the fork ends.

    with programs() as folder: …

The same programs for whoever starts them by their path. Such a fork has a session of its own, and is killed with its program.

Rule 1: what the fork could not do as a new Python does is started as it would be without us.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from tools import warm

__all__ = ["programs", "start"]

_ASSENT = Path(sys.executable).parent / "assent"
_SOCKET = "warm"
_STREAMS = 3
_LENGTH = 8
"""Digits that say how long what follows is."""
_YES = b"\0"

# As little as can be: it starts in a fiftieth of a second. A signal that only it gets is handed on; the terminal's go to both.
_PROGRAM = """\
#!{python} -IS
import _signal, _socket, os, sys
old = {{number: _signal.signal(number, _signal.SIG_IGN) for number in (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGHUP)}}
ignores = b"".join(bytes([number]) for number in old if old[number] == _signal.SIG_IGN)
words = [*{words!r}, *sys.argv[1:]]
body = b"\\0".join([b"%d" % os.getsid(0), b"%d" % os.getpgrp(), ignores, os.getcwdb(), b"%d" % len(words), *map(os.fsencode, words)]
    + [name + b"=" + value for name, value in os.environb.items()])
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
status = b""
try:
    line.connect({socket!r})
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    line.sendmsg([b"%0{length}d" % len(body)], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    line.sendall(body)
    status = line.recv(1)
except OSError:
    pass
if not status:
    for number in old:
        _signal.signal(number, old[number])
    os.execv({python!r}, [{python!r}, *words])
_signal.signal(_signal.SIGTERM, lambda number, _: line.send(bytes([number])))
status = int(line.recv(16) or b"9")
if os.WIFSIGNALED(status):
    number = os.WTERMSIG(status)
    if number != _signal.SIGKILL:
        _signal.signal(number, _signal.SIG_DFL)
    os.kill(os.getpid(), number)
os._exit(os.WEXITSTATUS(status))
"""


@contextlib.contextmanager
def programs() -> Iterator[Path]:
    """Give a folder with `assent` and `python`, for programs that are no shell's."""
    with tempfile.TemporaryDirectory(prefix="as-") as name:
        folder = Path(name)
        for each in (_ASSENT, _ASSENT.with_name("python")):  # where nothing is forked
            _write(folder / each.name, f'#!/bin/sh\nexec "{each}" "$@"\n')
        with start(["cat"], folder, os.environ, serves_all=True, stdin=subprocess.PIPE):
            yield folder


def start(
    words: Sequence[str], folder: Path, env: Mapping[str, str], *, serves_all: bool = False, **options: Any
) -> subprocess.Popen[Any]:
    """Start a shell as `tools.warm.spawn` does; its programs are put into `folder`.

    With `serves_all` also those outside of its session can be forked.
    """
    env = {**env, "PATH": f"{folder}{os.pathsep}{env['PATH']}"}
    if sys.platform != "linux" or os.environ.get(warm.COLD):
        return warm.spawn(words, env=env, **options)
    for name, first in (("assent", [str(_ASSENT)]), ("python", []), ("python3", [])):
        text = _PROGRAM.format(
            python=sys.executable, words=first, socket=str(folder / _SOCKET), length=_LENGTH
        )
        _write(folder / name, text)
    serves = "import sys; from tools.warm_shell import main; main(sys.argv[1], sys.argv[2], sys.argv[3:])"
    given = [str(folder / _SOCKET), "all" if serves_all else "own"]
    return warm.spawn([sys.executable, "-c", serves, *given, *words], env=env, **options)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def main(path: str, whose: str, words: Sequence[str]) -> None:
    """Become the shell, with a child that forks its programs; return in each of these."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    if os.fork():
        os.execvp(words[0], list(words))
    os.setpgid(0, 0)  # the terminal's signals are not for it
    _Door(listening, serves_all=whose == "all").serve()


class _Door:
    """Where the programs of one shell ask for a fork."""

    def __init__(self, listening: socket.socket, *, serves_all: bool) -> None:
        self._listening = listening
        self._serves_all = serves_all
        self._shell = os.pidfd_open(os.getppid())
        self._asked: dict[int, tuple[socket.socket, int]] = {}
        """For the end of each fork: who waits for it, and its pid."""

    def serve(self) -> NoReturn:
        """Fork for whoever asks, until the shell is gone."""
        while True:
            lines: dict[Any, int] = dict(self._asked.values())
            ready, _, _ = select.select([self._shell, self._listening, *self._asked, *lines], [], [])
            if self._shell in ready:
                os._exit(0)
            for end in ready:
                if end in self._asked:
                    self._tell(end)
            for line in ready:
                if line in lines:
                    self._hand_on(line, lines[line])
            if self._listening in ready:
                self._fork()

    def _tell(self, end: int) -> None:
        line, pid = self._asked.pop(end)
        os.close(end)
        _, status = os.waitpid(pid, 0)
        with line, contextlib.suppress(OSError):
            line.sendall(b"%d" % status)

    def _hand_on(self, line: socket.socket, pid: int) -> None:
        """Send the fork the signal that its program got; where the program is gone, so is the fork."""
        if line.fileno() == -1:
            return  # it was just told
        try:
            told = line.recv(1)
        except OSError:
            told = b""
        os.kill(pid, told[0] if told else signal.SIGKILL)
        if not told:
            ((end, _),) = [each for each in self._asked.items() if each[1][1] == pid]
            os.waitpid(pid, 0)
            del self._asked[end]
            os.close(end)
            line.close()

    def _fork(self) -> None:
        line, _ = self._listening.accept()
        head, streams, _, _ = socket.recv_fds(line, _LENGTH, _STREAMS)
        body = b""
        while head and len(body) < int(head):
            body += line.recv(int(head) - len(body))
        session, group, ignores, folder, count, *rest = body.decode(errors="surrogateescape").split("\0")
        words, variables = rest[: int(count)], rest[int(count) :]
        env = dict(each.split("=", 1) for each in variables)
        is_ours = warm.is_program(words) or words[:1] == [str(_ASSENT)]
        # Only who is of our session can share its process group with a fork of ours.
        is_near = int(session) == os.getsid(0)
        is_ours = is_ours and (is_near or self._serves_all)
        if is_ours and warm.at_start(env) == warm.at_start(os.environ):
            warm.load(warm.frameworks_of(words, Path(folder)))
            pid = os.fork()
            if pid == 0:
                if is_near:
                    os.setpgid(0, int(group))
                order = warm.Order(words, folder, env, has_session=not is_near, ignores=[*map(ord, ignores)])
                warm.be(order, streams)
            self._asked[os.pidfd_open(pid)] = (line, pid)
            line.sendall(_YES)
        else:
            line.close()
        for stream in streams:
            os.close(stream)
