"""The pages that the code can tell are what the code tells."""

import pytest

from assent.cli.table import COMMANDS
from assent.engine.ask import TRANSITIONS
from assent.protocol import error
from tools import reference
from tools.reference_error import every_error

__all__: list[str] = []


@pytest.mark.parametrize("name", reference.PAGES)
def test_generated_page_is_up_to_date(name: str) -> None:
    """`make docs` was run after the last change."""
    assert reference.stale(name) == ""


def test_page_that_lags_behind_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twin of the test above."""
    name = "docs/reference/errors.md"
    monkeypatch.setitem(reference.PAGES, name, lambda: "# Errors\n\nNone.\n")
    assert "+None." in reference.stale(name)
    monkeypatch.setattr(reference, "PAGES", {name: reference.PAGES[name]})
    assert reference.main(["--check"]) == 1


def test_reference_leaves_nothing_out() -> None:
    """Every command, error and state of the code has its place on a page."""
    cli, errors, states = (
        reference.render(f"docs/reference/{name}.md") for name in ("cli", "errors", "ask-states")
    )
    assert [name for name in COMMANDS if f"### assent {name}\n" not in cli] == []
    assert {kind.__name__ for _, kind in every_error()} == set(error.__all__)
    assert [name for name in error.__all__ if f"`{name}`" not in errors] == []
    assert [state for state in TRANSITIONS if state and f"`{state}`" not in states] == []
