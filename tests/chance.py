"""How many random examples a property is tried with.

A property names the count of a long run. `make test` does a share of it, and `make torture` several times as many: see
`SHARE`, which the environment sets with ASSENT_EXAMPLES. Up to the full count the examples are the same in every run and on
every machine, so that a change is judged by what it changed; the longer runs of `make torture` try new ones each time.
"""

import os
from collections.abc import Callable
from typing import Any

from hypothesis import seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

__all__ = ["SHARE", "examples", "run_until"]

SHARE = float(os.environ.get("ASSENT_EXAMPLES", "0.2"))
_LEAST = 5
_MOST_ROUNDS = 12


def examples(count: int, **more: Any) -> settings:
    """Return Hypothesis' settings for this share of `count` examples."""
    return settings(max_examples=max(_LEAST, round(count * SHARE)), **more)


def run_until(machine: type[RuleBasedStateMachine], bounds: settings, is_enough: Callable[[], bool]) -> None:
    """Run a model again and again until the rarest of its events has come: chance decides when."""
    for number in range(_MOST_ROUNDS):
        seed(number)(machine)  # other examples in each round
        run_state_machine_as_test(machine, settings=bounds)
        if is_enough():
            return
    raise AssertionError("the examples do not go far enough")


# A busy machine must not turn a slow example into a failure; pytest bounds the whole test.
settings.register_profile(
    "assent", parent=examples(100), deadline=None, print_blob=True, derandomize=SHARE <= 1, database=None
)
settings.load_profile("assent")
