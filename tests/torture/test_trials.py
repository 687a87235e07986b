"""The fault trials at a tenth of their counts or less, and a twin of each, which must turn it red.

`make torture` runs the same trials in full, and all of their twins. What is counted and what must stay at zero is in each
trial's file.
"""

import sys

import pytest

from torture.__main__ import TRIALS
from torture.trial import Plan, Trial, Twin

__all__: list[str] = []

MUTE = "mute-bell"
FIRST = {trial.name: [twin.name for twin in trial.twins if twin.name != MUTE][:1] for trial in TRIALS}
"""The twin of each trial that is run here; the bell's has a test of its own below."""
TWINS = {
    f"{trial.name}-{name}": (trial, [twin for twin in trial.twins if twin.name == name])
    for trial in TRIALS
    for name in FIRST[trial.name]
}
"""By trial and missing guard: all faults by which the same run must notice."""


@pytest.mark.parametrize("trial", TRIALS, ids=[trial.name for trial in TRIALS])
def test_trial_at_a_share_of_its_count_breaks_no_promise(trial: Trial) -> None:
    """Every promise of the heart holds under its attack, in a run that was not empty."""
    verdict = trial.run(Plan(trial.share, is_quiet=True))
    sys.stdout.write(f"{trial.name}: {verdict.render()}\n")
    assert verdict.is_green, "\n".join([verdict.render(), *verdict.details])


@pytest.mark.parametrize(("trial", "twins"), TWINS.values(), ids=TWINS)
def test_trial_without_its_guard_turns_red(trial: Trial, twins: list[Twin]) -> None:
    """Twin: the same trial with one guard taken away inside its workers notices exactly that."""
    scale = max(twin.scale for twin in twins)
    verdict = trial.run(Plan(scale, twin=twins[0].name, is_quiet=True))
    sys.stdout.write(f"{trial.name} without {twins[0].name}: {verdict.render()}\n")
    assert [twin.shows for twin in twins if not verdict.faults[twin.shows]] == [], verdict.render()


def test_wakes_without_the_bell_come_by_the_net_within_a_second() -> None:
    """A lost ring costs half a second and never an answer; and the trial notices that nobody was rung for."""
    (wakes, mute) = next((trial, twin) for trial in TRIALS for twin in trial.twins if twin.name == MUTE)
    verdict = wakes.run(Plan(mute.scale, twin=MUTE, is_quiet=True))
    assert (verdict.faults["late"], verdict.faults["never woken"]) == (0, 0), verdict.details
    assert verdict.counts["wakes that the net found first"]
    assert verdict.faults[mute.shows] > 0, verdict.render()
