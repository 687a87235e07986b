"""Completion signals: how the command of an iteration says that its loop is over (I-U8).

A signal stands alone on an unindented line of standard output. Anything else is talk about a signal.
"""

from __future__ import annotations

from assent.protocol.run import DoneReason, Mode

__all__ = ["LONGEST_SIGNAL", "SIGNALS", "recognise_signal"]

SIGNALS: dict[str, dict[Mode, DoneReason]] = {
    "<loop-done>COMPLETE</loop-done>": dict.fromkeys((Mode.LOOP, Mode.ISSUE), DoneReason.COMPLETE),
    "<loop-done>MAX_ITERATIONS</loop-done>": dict.fromkeys(
        (Mode.LOOP, Mode.ISSUE), DoneReason.MAX_ITERATIONS
    ),
    "<loop-done>STUCK</loop-done>": dict.fromkeys((Mode.LOOP, Mode.ISSUE), DoneReason.STUCK),
    "<issue-complete>DONE</issue-complete>": {Mode.ISSUE: DoneReason.COMPLETE},
    "<grind-done>NO_MORE_ISSUES</grind-done>": {Mode.GRIND: DoneReason.NO_MORE_ISSUES},
    "<grind-done>MAX_ISSUES</grind-done>": {Mode.GRIND: DoneReason.MAX_ISSUES},
}
LONGEST_SIGNAL = max(len(signal) for signal in SIGNALS)


def recognise_signal(line: str, mode: Mode) -> DoneReason | None:
    """Return what `line` says about a loop of this mode, if anything; blanks behind the signal do not count."""
    return SIGNALS.get(line.rstrip(), {}).get(mode)
