"""The fault trials at a few percent of their counts, and a twin of each, which must turn it red.

`make torture` runs the same trials in full, and all of their twins. What is counted and what must stay at zero is in each
trial's file.
"""

import sys

import pytest

from torture.__main__ import TRIALS
from torture.trial import Plan, Trial, Twin

__all__: list[str] = []

MUTE = "mute-bell"
HERE = [trial for trial in TRIALS if trial.share]
"""What no other test claims."""
FIRST = {
    f"{trial.name}-{twin.name}": (trial, twin)
    for trial in HERE
    for twin in [twin for twin in trial.twins if twin.name != MUTE][:1]
}
"""The twin of each trial that is run here; the bell's has a test of its own below."""


@pytest.mark.parametrize("trial", HERE, ids=[trial.name for trial in HERE])
def test_trial_at_a_share_of_its_count_breaks_no_promise(trial: Trial) -> None:
    """Every promise of the heart holds under its attack, in a run that was not empty."""
    verdict = trial.run(Plan(trial.share, is_quiet=True))
    sys.stdout.write(f"{trial.name}: {verdict.render()}\n")
    assert verdict.is_green, "\n".join([verdict.render(), *verdict.details])


@pytest.mark.parametrize(("trial", "twin"), FIRST.values(), ids=FIRST)
def test_trial_without_its_guard_turns_red(trial: Trial, twin: Twin) -> None:
    """Twin: the same trial with one guard taken away inside its workers notices exactly that."""
    verdict = trial.run(Plan(twin.scale, twin=twin.name, is_quiet=True))
    sys.stdout.write(f"{trial.name} without {twin.name}: {verdict.render()}\n")
    assert verdict.faults[twin.shows] > 0, verdict.render()


def test_wakes_without_the_bell_come_by_the_net_within_a_second() -> None:
    """A lost ring costs half a second and never an answer; and the trial notices that nobody was rung for."""
    (wakes, mute) = next((trial, twin) for trial in TRIALS for twin in trial.twins if twin.name == MUTE)
    verdict = wakes.run(Plan(mute.scale, twin=MUTE, is_quiet=True))
    assert (verdict.faults["late"], verdict.faults["never woken"]) == (0, 0), verdict.details
    assert verdict.counts["wakes that the net found first"]
    assert verdict.faults[mute.shows] > 0, verdict.render()
