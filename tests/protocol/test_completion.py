"""Completion signals: which line ends which loop, and which only talks about it."""

import pytest

from assent.protocol.completion import LONGEST_SIGNAL, SIGNALS, recognise_signal
from assent.protocol.run import DoneReason, Mode

__all__: list[str] = []

TABLE = [
    ("<loop-done>COMPLETE</loop-done>", DoneReason.COMPLETE, "loop issue"),
    ("<loop-done>MAX_ITERATIONS</loop-done>", DoneReason.MAX_ITERATIONS, "loop issue"),
    ("<loop-done>STUCK</loop-done>", DoneReason.STUCK, "loop issue"),
    ("<issue-complete>DONE</issue-complete>", DoneReason.COMPLETE, "issue"),
    ("<grind-done>NO_MORE_ISSUES</grind-done>", DoneReason.NO_MORE_ISSUES, "grind"),
    ("<grind-done>MAX_ISSUES</grind-done>", DoneReason.MAX_ISSUES, "grind"),
]
"""I-U8: the line, what it says, and the modes in which it says it."""


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(("line", "reason", "modes"), TABLE)
def test_signal_ends_a_loop_of_its_modes_only(line: str, reason: DoneReason, modes: str, mode: Mode) -> None:
    """All six signals in all three modes."""
    assert recognise_signal(line, mode) == (reason if mode in modes.split() else None)


def test_table_names_every_signal_and_every_reason() -> None:
    """A signal that nobody lists here would go untested; the five reasons can all be said."""
    assert {line for line, _, _ in TABLE} == set(SIGNALS)
    assert {reason for _, reason, _ in TABLE} == set(DoneReason)
    assert max(len(line) for line, _, _ in TABLE) == LONGEST_SIGNAL


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "  ", "\t\n"])
def test_blanks_behind_a_signal_do_not_count(end: str) -> None:
    """Terminals and pipes leave them there."""
    assert recognise_signal("<loop-done>COMPLETE</loop-done>" + end, Mode.LOOP) is DoneReason.COMPLETE


@pytest.mark.parametrize(
    "line",
    [
        "",
        " <loop-done>COMPLETE</loop-done>",
        "\t<loop-done>COMPLETE</loop-done>",
        "> <loop-done>COMPLETE</loop-done>",
        "<loop-done>COMPLETE</loop-done>.",
        "I will print <loop-done>COMPLETE</loop-done>",
        "<loop-done>COMPLETE</loop-done> when ready",
        "<loop-done>COMPLETE</loop-done><loop-done>COMPLETE</loop-done>",
        "<loop-done>complete</loop-done>",
        "<LOOP-DONE>COMPLETE</LOOP-DONE>",
        "<loop-done> COMPLETE </loop-done>",
        "<loop-done>NO_MORE_ISSUES</loop-done>",
        "<loop-done>DONE</loop-done>",
        "<issue-complete>COMPLETE</issue-complete>",
        "<loop-done>COMPLETE",
        "COMPLETE",
        "\u200b<loop-done>COMPLETE</loop-done>",
    ],
)
@pytest.mark.parametrize("mode", list(Mode))
def test_line_that_only_talks_about_a_signal_ends_nothing(line: str, mode: Mode) -> None:
    """Alone on an unindented line, to the letter."""
    assert recognise_signal(line, mode) is None
