"""Which surface presents: a tool first, a comment only where nobody can type, standard input and output at the end."""

from itertools import product

import pytest

from assent.surfaces.detect import Availability, Decision, Means, choose, rank
from tests.proves import proves

__all__: list[str] = []

AVAILABLE, LOADING, MISSING, FAILED = Availability
STDIO, COMMENT = Decision(Means.STDIO), Decision(Means.COMMENT)
FIRST, SECOND = Decision(Means.TOOL, "first"), Decision(Means.TOOL, "second")
EVERY = [
    (first, second, remote, is_interactive)
    for first, second, remote in product(Availability, repeat=3)
    for is_interactive in (True, False)
]


@proves("G2", "G3", "G4", "G8")
@pytest.mark.parametrize(("first", "second", "remote", "is_interactive"), EVERY)
def test_surface_is_decided_for_every_combination(
    first: Availability, second: Availability, remote: Availability, *, is_interactive: bool
) -> None:
    """Written down a second time: what is missing or failed is passed by, and the rest goes by rank (G-X2)."""
    tools = [("first", first), ("second", second)]
    decision = choose(tools, is_interactive=is_interactive, remote=remote)
    is_out = {MISSING, FAILED}
    if first not in is_out:
        expected, status = FIRST, first
    elif second not in is_out:
        expected, status = SECOND, second
    elif not is_interactive and remote not in is_out:
        expected, status = COMMENT, remote
    else:
        expected, status = STDIO, AVAILABLE
    assert (decision.means, decision.tool) == (expected.means, expected.tool)
    assert decision.is_loading == (status is LOADING)


@proves("G4")
@pytest.mark.parametrize("is_interactive", [True, False])
@pytest.mark.parametrize("remote", Availability)
def test_loading_tool_is_waited_for_and_nothing_else_presents(
    remote: Availability, *, is_interactive: bool
) -> None:
    """A tool that is about to be there is never passed by."""
    tools = [("first", LOADING), ("second", AVAILABLE)]
    assert rank(tools, is_interactive=is_interactive, remote=remote) == (
        Decision(Means.TOOL, "first", is_loading=True),
    )


@pytest.mark.parametrize(("first", "second", "remote", "is_interactive"), EVERY)
def test_what_comes_after_a_failure_is_what_would_have_been_chosen_without_it(
    first: Availability, second: Availability, remote: Availability, *, is_interactive: bool
) -> None:
    """The order is the choice made again, each time without the one that failed."""
    tools, elsewhere = {"first": first, "second": second}, remote
    expected = []
    while True:
        decision = choose(list(tools.items()), is_interactive=is_interactive, remote=elsewhere)
        expected.append(decision)
        if decision.is_loading or decision.means is Means.STDIO:
            break
        if decision.means is Means.COMMENT:
            elsewhere = FAILED
        else:
            tools[decision.tool] = FAILED
    ranked = rank([("first", first), ("second", second)], is_interactive=is_interactive, remote=remote)
    assert list(ranked) == expected


@proves("G3")
def test_standard_input_and_output_are_there_without_any_tool() -> None:
    """The universal fallback."""
    assert choose([], is_interactive=True, remote=AVAILABLE) == STDIO
    assert choose([], is_interactive=False, remote=MISSING) == STDIO
    assert choose([], is_interactive=False, remote=AVAILABLE) == COMMENT
