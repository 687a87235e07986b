"""Programs that we start, and that never outlive the reason for it.

Ctrl-C may strike between any two steps of ours, also while a program is being started: whoever is interrupted there has
nothing to end it by. So it is held back until the program's end is certain, and while it is ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from assent.effects.interrupt import uninterrupted

__all__ = ["child_of"]

Stream = int | IO[bytes]


@contextmanager
def child_of(
    command: Sequence[str],
    environ: Mapping[str, str] | None,
    *,
    stdin: Stream = subprocess.PIPE,
    stderr: Stream,
    folder: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a program in a group of its own; however this ends, it is ended with all that it started.

    Raises:
        OSError: it cannot be started.
    """
    with ExitStack() as stack:
        with uninterrupted():
            child = subprocess.Popen(  # noqa: S603 - no shell: a list of words
                list(command),
                cwd=folder,
                env=None if environ is None else dict(environ),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
            stack.callback(_end, child)
        yield child


def _wait(child: subprocess.Popen[bytes]) -> None:
    """Wait for its end, without the lock of `Popen.wait`: Ctrl-C may have struck where nobody gave that back."""
    if child.returncode is None:
        with suppress(ChildProcessError):
            child.returncode = os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])


def _end(child: subprocess.Popen[bytes]) -> None:
    with uninterrupted():
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
        _wait(child)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
