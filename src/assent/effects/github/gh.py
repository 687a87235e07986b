"""GitHub through its own command, `gh api`: for people who are logged in there and keep no token in the environment.

No shell is involved. What is sent goes in by a file, so that no text of an agent becomes an argument.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from assent.effects.child import child_of
from assent.effects.github.channel import (
    HEADERS,
    MAX_ANSWER_BYTES,
    REQUEST_SECONDS,
    check_request,
    parse_answer,
    refusal,
)
from assent.protocol.canonical import Json
from assent.protocol.display import quote
from assent.protocol.error import GitHubError

__all__ = ["GhChannel", "gh_channel"]

_SECONDS = 2 * REQUEST_SECONDS
"""The command starts, and may have to ask a key ring first."""
_MAX_COMPLAINT = 4_096
_QUIET = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
_LOUD = ("GH_DEBUG", "DEBUG", "GH_FORCE_TTY", "CLICOLOR_FORCE")
"""These put other things than the answer on its output."""
_STATUS = re.compile(rb"HTTP/[0-9.]+ ([0-9]{3})[^\r\n]*\r?\n")
_TOLD_STATUS = re.compile(r"\(HTTP ([0-9]{3})\)")
_END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")


def gh_channel(environ: Mapping[str, str]) -> GhChannel | None:
    """Return the way through `gh`, if there is such a command."""
    found = shutil.which("gh", path=environ.get("PATH", ""))
    # A relative entry of PATH would run whatever a repository calls gh.
    return GhChannel(found, environ) if found and Path(found).is_absolute() else None


class GhChannel:
    """The `gh` command at one place."""

    def __init__(self, command: str, environ: Mapping[str, str], seconds: float = _SECONDS) -> None:
        self._command = command
        self._environ = {name: value for name, value in environ.items() if name not in _LOUD} | _QUIET
        self._seconds = seconds

    def request(self, method: str, path: str, body: Json = None) -> Json:
        """Ask once."""
        check_request(method, path)
        arguments = [self._command, "api", "--method", method, "--include"]
        for name, value in HEADERS.items():
            arguments += ["--header", f"{name}: {value}"]
        with tempfile.TemporaryFile() as sent, tempfile.TemporaryFile() as complaint:
            if body is not None:
                sent.write(msgspec.json.encode(body))
                sent.seek(0)
                arguments += ["--input", "-"]
            text, code = self._run([*arguments, path], sent, complaint)
            complaint.seek(0)
            told = complaint.read(_MAX_COMPLAINT).decode(errors="replace").strip()
        return _parse(text, code, told)

    def _run(self, arguments: list[str], sent: IO[bytes], complaint: IO[bytes]) -> tuple[bytes, int]:
        is_late = threading.Event()
        text, code = b"", 0
        try:
            with child_of(arguments, self._environ, stdin=sent, stderr=complaint) as child:

                def end() -> None:
                    is_late.set()
                    with suppress(ProcessLookupError):
                        os.killpg(child.pid, signal.SIGKILL)

                watch = threading.Timer(self._seconds, end)
                watch.start()
                try:
                    assert child.stdout is not None  # noqa: S101 - it is a pipe
                    text = child.stdout.read(MAX_ANSWER_BYTES + 1)
                    if len(text) <= MAX_ANSWER_BYTES:
                        code = child.wait()
                finally:
                    watch.cancel()
        except OSError as error:
            raise GitHubError(f"gh cannot be started: {error.strerror}.") from error
        if is_late.is_set():
            raise GitHubError(f"gh did not answer within {self._seconds:g} seconds.")
        if len(text) > MAX_ANSWER_BYTES:
            raise GitHubError("GitHub's answer is too long.")
        return text, code


def _parse(text: bytes, code: int, told: str) -> Json:
    first = _STATUS.match(text)
    if first is None:
        if status := _TOLD_STATUS.search(told):
            raise refusal(int(status[1]), {}, {"message": told.splitlines()[0]})
        reason = quote(told.splitlines()[0]) if told else f"it ended with status {code}"
        raise GitHubError(f"gh could not ask GitHub: {reason}.")
    end = _END_OF_HEADERS.search(text, first.end() - 2)
    head, rest = (text[first.end() : end.start()], text[end.end() :]) if end else (text[first.end() :], b"")
    headers = {}
    for line in head.decode("latin-1").splitlines():
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    answer = parse_answer(int(first[1]), headers, rest)
    if code:
        raise GitHubError(f"gh ended with status {code}: {quote(told)}.")
    return answer
