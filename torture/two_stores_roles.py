"""A worker that drives a hub on a file and one on a database side by side, as the tests do, for as many examples as told."""

from __future__ import annotations

import traceback
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, core, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.hub.test_two_stores import TwoStores
from torture.nursery import Wire

__all__ = ["compare"]

_LONGEST = 3_000
"""Characters of what differed, and of how it came to that."""


class _Lender:
    """Fits what the machine wants of a server; the databases are the trial's, which outlives this worker."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def lend_database(self) -> str:
        """Return the address of a database with an empty store in it."""
        self._wire.say(lend=True)
        return str(self._wire.hear()["url"])

    def take_back(self, url: str) -> None:
        """Give one back."""
        self._wire.say(back=url)


class _Counted(TwoStores):
    """The machine of the tests, which counts."""

    examples: ClassVar[int] = 0
    commands: ClassVar[int] = 0

    def teardown(self) -> None:
        """Count before the last comparison: what differs there is an example, too."""
        _Counted.examples += 1
        _Counted.commands += self.sent
        super().teardown()


def _go_on_a_tour() -> None:
    """Let one example pass by every kind of event: chance alone may not, in a run of few examples."""
    machine = _Counted()
    try:
        machine.begin()
        machine.tour()
    finally:
        machine.teardown()


def compare(wire: Wire, examples: int, steps: int, seed: int, is_hasty: bool) -> None:
    """Go through so many examples; tell what differed, if anything did, and how much there was to compare."""
    lender: Any = _Lender(wire)
    TwoStores.server = lender
    core.global_force_seed = seed  # type: ignore[assignment]  # as its plugin for pytest does
    told = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
        # The shortest example is worth its time where somebody will read it.
        phases=(Phase.generate,) if is_hasty else (Phase.generate, Phase.shrink),
    )
    difference = ""
    try:
        _go_on_a_tour()
        run_state_machine_as_test(_Counted, settings=told)
    except Exception as error:  # noqa: BLE001 - whatever it is, the trial must hear of it
        # What differed, where, and the steps that lead there.
        where = traceback.format_tb(error.__traceback__)[-1]
        steps_there = "\n".join(getattr(error, "__notes__", ()))
        difference = f"{error!r} {error.__cause__ or ''}"[:_LONGEST] + f"\n{where}{steps_there[-_LONGEST:]}"
    reached = sorted(TwoStores.reached)
    wire.say(difference=difference, examples=_Counted.examples, commands=_Counted.commands, reached=reached)
