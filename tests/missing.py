"""Programs that a machine may lack: what a test could not try without one is told at the end of the run.

A test says it with `record_property(MISSING, "tmux, so …")`, and tries what it can; nothing is skipped.
"""

from collections.abc import Callable

__all__ = ["MISSING", "RecordProperty"]

MISSING = "missing"
RecordProperty = Callable[[str, object], None]
