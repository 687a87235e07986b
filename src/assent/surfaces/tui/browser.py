"""The person's own browser, opened from a terminal that is in use.

Rule 1: what is started gets nothing of the terminal: no keys, no screen, no job control. Browsers print as they like.
Rule 2: nothing is said to be open that was refused; whoever has no browser here is told the address.
"""

from __future__ import annotations

import os
import subprocess
import sys

__all__ = ["open_page"]

_OPEN = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"
_BROWSER_SECONDS = 5.0
"""What has not ended by then is a browser that stays: it was started, and says no more."""


def open_page(address: str) -> str:
    """Open an address; return what came of it, in a sentence. It may take a while."""
    if not _has_browser():
        return f"There is no browser here: {address}"
    try:
        started = subprocess.Popen(  # noqa: S603 - the person's own browser
            [sys.executable, "-c", _OPEN, address],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        is_open = not started.wait(_BROWSER_SECONDS)
    except subprocess.TimeoutExpired:
        is_open = True
    except OSError:
        is_open = False
    return f"Opened in the browser: {address}" if is_open else f"The browser did not open: {address}"


def _has_browser() -> bool:
    """Say whether one was named, or would have a window of its own: one for terminals would take this one."""
    named = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in named)
