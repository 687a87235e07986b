"""What the host has written down of a session: whether a call came alone, or with others in one message.

The host puts off a call that came alone. Of several that came at once it puts off none, takes no notice of being told
to, and lets those happen that its own rules allow. So whoever wants to put a call off looks here first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["is_alone"]

_TAIL_BYTES = 8 << 20
"""The call that a hook is asked about is among the last things that were written."""
_PATIENCE_SECONDS = 3.0
_LOOK_SECONDS = 0.1


def is_alone(event: Mapping[str, Any], *, is_hosted: bool) -> bool:
    """Say whether the call of this event came alone. What the host has not written down did not, as far as is known."""
    path, call = event.get("transcript_path"), event.get("tool_use_id")
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            lines = _last_lines(Path(str(path))) if path else None
        except OSError:
            lines = None
        if lines is None:
            return not is_hosted  # no session is kept there; an event that no host has sent has none, either
        for line in lines:
            calls = _calls(line)
            if call in calls:
                return len(calls) == 1
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK_SECONDS)


def _last_lines(path: Path) -> list[bytes]:
    """Return the last lines of a file, the last one first."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        return file.read(_TAIL_BYTES).splitlines()[::-1]


def _calls(line: bytes) -> list[object]:
    """Return the ids of the calls that one entry holds."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return []  # it is still being written, or its beginning lies too far back
    return list(_ids(entry))


def _ids(entry: Any) -> Iterator[object]:
    message = entry.get("message") if isinstance(entry, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "tool_use":
            yield part.get("id")
