"""The pages that the code can tell are what the code tells."""

from typing import Any, get_args

import msgspec
import pytest

from assent.cli.runs import encode_run
from assent.cli.table import COMMANDS
from assent.client.verbs import VERBS
from assent.engine import control, run
from assent.engine.ask import TRANSITIONS
from assent.flows.session.talk import How
from assent.hub.record import Recorded
from assent.protocol import error
from assent.protocol.capability import CAPABILITIES
from assent.protocol.completion import SIGNALS
from assent.protocol.control import Code, ControlCommand
from assent.protocol.gate import CONTEXTS
from assent.protocol.review import Category, Chunk, Comment, Finding, PullRequest, Review, Severity, Visual
from assent.protocol.run import AbortReason, DoneReason
from assent.surfaces.board import BoardRun
from assent.surfaces.http.telling import Ending
from assent.testing import FakeClock, throwaway
from tools import reference
from tools.page import ROOT
from tools.reference_error import every_error
from tools.reference_notes import RUN_FIELDS

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


def test_reference_of_json_leaves_no_event_out() -> None:
    """Whoever follows a project finds every type of event that can come."""
    page = reference.render("docs/reference/json.md")
    types = [str(kind.__struct_config__.tag) for kind in get_args(Recorded)]
    assert [name for name in types if f"### {name}\n" not in page] == []


def test_page_of_the_wire_format_leaves_nothing_out() -> None:
    """Every verb, every body that is sent, every error code and every code that a socket is closed with."""
    page = (ROOT / "docs" / "reference" / "wire-format.md").read_text()  # which is up to date, see above
    routes = [f"`{verb.method} {verb.path.replace(':path', '')}`" for verb in VERBS.values()]
    assert [route for route in routes if f"| {route}: " not in page] == []
    bodies = {verb.body for verb in VERBS.values()} - {None, Any}
    fields = [field.encode_name for body in bodies for field in msgspec.structs.fields(body)]
    assert [name for name in fields if f"- `{name}`" not in page] == []
    assert [kind.code for _, kind in every_error() if f"`{kind.code}`" not in page] == []
    assert [ending for ending in Ending if f"| {ending.value} |" not in page] == []


def test_reference_of_runs_leaves_nothing_out() -> None:
    """Every state, command, code, reason and completion signal of the code has its place on a page."""
    states, topics = (reference.render(f"docs/reference/{name}.md") for name in ("run-states", "topics"))
    machines = [*run.TRANSITIONS, *control.TRANSITIONS, *ControlCommand]
    assert [word for word in machines if word and f"`{word}`" not in states] == []
    words = [*ControlCommand, *Code, *DoneReason, *AbortReason, *SIGNALS]
    assert [word for word in words if f"`{word}`" not in topics] == []


def test_reference_of_gates_leaves_nothing_out() -> None:
    """Every standard gate with its options, typed commands and checks, and every kind of surface."""
    gates, surfaces = (reference.render(f"docs/reference/{name}.md") for name in ("gates", "capabilities"))
    texts = [
        text
        for context in CONTEXTS.values()
        for text in (
            *context.options,
            *context.commands,
            *context.accepts,
            *(check.text for check in context.checks),
        )
    ]
    assert [name for name in CONTEXTS if f"### {name}\n" not in gates] == []
    assert [text for text in texts if f"`{text}`" not in gates] == []
    assert [name for name in CAPABILITIES if f"| `{name}` |" not in surfaces] == []


def test_reference_of_sessions_leaves_nothing_out() -> None:
    """Every field of the input, every severity and category, and every way in which a session ends."""
    page = reference.render("docs/reference/session.md")
    shapes = (Review, PullRequest, Chunk, Finding, Comment, Visual)
    names = [name for shape in shapes for name in shape.__struct_fields__]
    assert [word for word in (*names, *Severity, *Category, *How) if f"| `{word}` |" not in page] == []


def test_reference_of_runs_has_the_fields_that_are_printed() -> None:
    """`assent runs --json` prints what the page lists, in that order."""
    clock = FakeClock()
    with throwaway(clock=clock) as store, store.agent().run(run_id="night") as driven:
        seen = BoardRun(driven.state, is_driven=True)
    assert list(encode_run(seen, clock.at)) == list(RUN_FIELDS)
