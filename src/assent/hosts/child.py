"""One iteration's command as a child process: started in a session of its own, listened to, and ended whole."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress

from assent.hosts.ear import Ear
from assent.hosts.leftover import Leftovers
from assent.hosts.output import Echo, Keeper, SignalScan
from assent.hosts.tail import Teller

__all__ = ["Child", "Sinks"]

_PIECE = 1 << 16
_MAX_PIECES = 64
_LOOK_SECONDS = 0.1
"""How often a child is looked at where its end cannot be waited for."""


class Sinks:
    """Where a child's output goes."""

    def __init__(
        self, out: Echo, err: Echo, keeper: Keeper, scan: SignalScan, teller: Teller | None = None
    ) -> None:
        self.out = out
        self.err = err
        self.keeper = keeper
        self.scan = scan
        self.teller = teller

    @property
    def pending(self) -> list[int]:
        """The streams that wait for room."""
        echoes = (self.out, self.err)
        return [echo.descriptor for echo in echoes if echo.is_pending and echo.descriptor is not None]

    def pass_on(self) -> None:
        """Show what there is room for."""
        self.out.pass_on()
        self.err.pass_on()

    def close(self) -> None:
        """Everything is out."""
        self.scan.close()
        self.keeper.close()
        self.out.finish_line()
        self.err.finish_line()


class Child:
    """A command that runs."""

    def __init__(
        self, command: Sequence[str], environ: Mapping[str, str], prompt: bytes | None, sinks: Sinks
    ) -> None:
        """Start `command`; its standard input is the prompt, or empty.

        Raises:
            OSError: it cannot be started.
        """
        self._sinks = sinks
        # A file and not a pipe: a command that never reads its prompt must not hold us up.
        with tempfile.TemporaryFile() as paper:
            paper.write(prompt or b"")
            paper.seek(0)
            self._popen = subprocess.Popen(  # noqa: S603 - running this command is what we were asked for
                command,
                stdin=paper,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environ),
                start_new_session=True,
                bufsize=0,
            )
        assert self._popen.stdout is not None and self._popen.stderr is not None  # noqa: S101, PT018 - pipes, as asked
        self._streams = {self._popen.stdout.fileno(): sinks.out, self._popen.stderr.fileno(): sinks.err}
        self._out = self._popen.stdout.fileno()
        for descriptor in self._streams:
            os.set_blocking(descriptor, False)
        self._grip = -1
        with suppress(OSError, AttributeError):
            self._grip = os.pidfd_open(self._popen.pid)

    @property
    def pid(self) -> int:
        """Its process id, and its group's."""
        return self._popen.pid

    def attend(self, ear: Ear) -> int | None:
        """Pass output on until the command has ended or the ear heard something; return its status once it ended.

        Only the command itself is waited for. What it leaves running in the background may keep its pipes open.
        """
        grip = [self._grip] if self._grip >= 0 else []
        # Whoever does not read us slows the command down, as if it wrote to them itself.
        streams = [descriptor for descriptor, echo in self._streams.items() if not echo.is_backed_up]
        ready = ear.listen([*streams, *grip], None if grip else _LOOK_SECONDS, into=self._sinks.pending)
        self._sinks.pass_on()
        status = self._popen.poll()
        for descriptor in list(self._streams) if status is not None else ready:
            if descriptor in self._streams:
                self._pass_on(descriptor, is_whole=status is not None)
        return status

    def end(self, leftovers: Leftovers, grace_seconds: float, ear: Ear) -> bool:
        """End the command and all that it started; say whether nothing is left."""
        stops = ear.stops

        def is_impatient() -> bool:
            self._sinks.pass_on()
            self._drain()
            self._popen.poll()
            return ear.stops > stops

        is_gone = leftovers.end(grace_seconds, group=self.pid, is_impatient=is_impatient)
        self._popen.poll()
        self._drain()
        return is_gone

    def close(self) -> None:
        """Let go of the pipes."""
        if self._grip >= 0:
            os.close(self._grip)
            self._grip = -1
        for stream in (self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()
        self._streams.clear()

    def _drain(self) -> None:
        # What is being ended may write without end, and whoever reads along may have stopped: no more than fits.
        for descriptor, echo in list(self._streams.items()):
            if not echo.is_backed_up:
                self._pass_on(descriptor, is_whole=True)

    def _pass_on(self, descriptor: int, *, is_whole: bool) -> None:
        # Bounded, as what runs on in the background may write without end.
        for _ in range(_MAX_PIECES if is_whole else 1):
            try:
                piece = os.read(descriptor, _PIECE)
            except BlockingIOError:
                return
            if not piece:
                del self._streams[descriptor]
                return
            self._sinks.keeper.write(piece)
            if self._sinks.teller is not None:
                self._sinks.teller.write(piece, is_error=descriptor != self._out)
            if descriptor == self._out:
                self._sinks.scan.feed(piece)
            self._streams[descriptor].write(piece)
