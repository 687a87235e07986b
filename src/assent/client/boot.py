"""The clock that goes on while the machine sleeps, and by which commands to runs come too late (I29)."""

from __future__ import annotations

import os

from assent.hub.clock import boot_milliseconds
from assent.hub.ids import new_boot_id
from assent.protocol.boot_time import BootTime

__all__ = ["boot_milliseconds", "boot_time", "new_boot_id"]


class _Process:
    """What this process is called; a fork of it is another one."""

    name = new_boot_id()


def _rename() -> None:
    _Process.name = new_boot_id()


os.register_at_fork(after_in_child=_rename)


def boot_time() -> BootTime:
    """Return what the clock says, under this process's own name: nobody takes it for another's, or for an earlier one's."""
    return BootTime(_Process.name, boot_milliseconds())
