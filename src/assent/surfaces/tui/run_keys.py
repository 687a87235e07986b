"""What the keys mean where runs are listed or one is shown: walk, look, and steer.

Rule 1: a line that is typed to steer is for the run that was under the cursor when it was begun, whatever came since.
Rule 2: a run is cancelled only by somebody who types its mode.
"""

from __future__ import annotations

from assent.surfaces.board import BoardRun
from assent.surfaces.tui.purpose import CANCEL, ESCALATE
from assent.surfaces.tui.tray import Tray
from assent.surfaces.tui.view import Mode, RunDetail
from assent.surfaces.tui.wish import Control, Copy, Stay, Wish, Write

__all__ = ["RunKeys"]


class RunKeys:
    """Does what keys mean on runs."""

    def __init__(self, tray: Tray) -> None:
        self._tray = tray
        self._steered: BoardRun | None = None
        """The run that a line is being typed for."""

    def press(self, key: str) -> Wish | None:
        """Do what a key means here."""
        tray, view = self._tray, self._tray.view
        if key in ("escape", "q", "tab"):
            is_run = view.mode is Mode.RUN and key == "escape"
            tray.show(Mode.RUNS if is_run else Mode.LIST)
        elif key == "question_mark":
            tray.show(Mode.HELP)
        elif key in ("j", "k", "down", "up"):
            if view.mode is Mode.RUNS:
                by = 1 if key in ("j", "down") else -1
                tray.change(run_at=max(0, min(len(view.runs) - 1, view.run_at + by)), problem="")
                tray.arm()
        elif key == "enter":
            if view.mode is Mode.RUNS and view.run is not None:
                tray.change(detail=RunDetail())
                tray.show(Mode.RUN)
        elif key == "y" and view.run is not None:
            return Copy(view.run.run.run_id)
        else:
            return self._begin(key)
        return None

    def _begin(self, key: str) -> Wish | None:
        tray, seen = self._tray, self._tray.view.run
        if seen is None or not tray.is_armed():
            return None
        self._steered = seen
        match key:
            case "p" | "r":
                return tray.act(Control(seen.run, "pause" if key == "p" else "resume"))
            case "e":
                return tray.act(Write(ESCALATE, "Escalate to which model, and why? model: reason"))
            case "x":
                mode = seen.run.top.frame.mode
                return tray.act(Write(CANCEL, f"Cancel this run for good? Type its mode to confirm: {mode}"))
            case _:
                return None

    def steer(self, purpose: str, text: str) -> Wish | None:
        """Take the line that was typed for a run."""
        tray, seen = self._tray, self._steered
        if seen is None:
            return None
        if purpose == ESCALATE:
            model, _, reason = text.partition(": ") if ": " in text else text.partition(":")
            if text.strip():
                return (
                    tray.act(Control(seen.run, "escalate", model.strip() or None, reason.strip())) or Stay()
                )
            tray.change(problem="Not escalated: say to which model, or why.")
        elif text.strip() == str(seen.run.top.frame.mode):
            return tray.act(Control(seen.run, "cancel")) or Stay()
        else:
            tray.change(problem="Not cancelled: that is not its mode.")
        return None
