"""Gates and menus in a host's own forms: numbered, in two parts, the brief list again; and the list where there is no form.

Everything goes through the MCP server, as an agent's host meets it.
"""

from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequestFormParams, ElicitResult

from tests.cli.reviews import DOCUMENT, LIFETIME, ROLLBACK, reviewer
from tests.hosts.mcp.world import ERAS, LEGACY, World, text_of
from tests.proves import proves

__all__: list[str] = []

GATE: dict[str, Any] = {"context": "chunk-loop", "summary": "Chunk 2 of 5. 3 findings.", "ids": ["H1", "M1"]}
NUMBERED = ["1. Continue", "2. Deep-dive", "3. Pause & save", "4. Skip to synthesis"]
STEM = "What should the agent do with the remaining 2 findings?"
ROUTING = [
    "1. Review each finding one by one — accept the recommendation or choose another action",
    "2. LFG. Apply the agent's best-judgment action per finding",
    "3. Append findings to the doc's Open Questions section and proceed",
    "4. Report only — take no further action",
]


def titles(form: ElicitRequestFormParams) -> list[str]:
    """Return what a person can choose in a form."""
    return [choice["title"] for choice in form.requested_schema["properties"]["answer"]["oneOf"]]


def question(form: ElicitRequestFormParams) -> str:
    """Return what stands at the field."""
    return str(form.requested_schema["properties"]["answer"]["description"])


def accepting(*answers: dict[str, Any]) -> Any:
    """Return a dialog that somebody fills in like this, one form after the other."""
    left = list(answers)

    async def fill(_: ElicitRequestFormParams) -> ElicitResult:
        return ElicitResult(action="accept", content=left.pop(0)) if left else ElicitResult(action="cancel")

    return fill


@proves("G4", "G5", "G6", "G7", "G39", "G44")
@pytest.mark.parametrize("era", ERAS)
def test_gate_in_a_form_is_numbered_and_its_commands_are_typed(world: World, era: str) -> None:
    """Each option has its number and its place; what is no option has a line to type it in, and means the same."""

    async def story() -> None:
        typed = {"answer": "Type a command below", "answer_text": "deep-dive M1"}
        async with world.host(era, accepting(typed)) as host:
            told = await host.told("open_gate", **GATE)
        (form,) = world.forms
        assert titles(form) == [*NUMBERED, "Type a command below"]
        assert "`discard`, `todo: {text}`, `deselect {IDs}`" in form.message
        assert (told["choice"], told["arguments"]) == ("Deep-dive", ["M1"])

    anyio.run(story)


@proves("G17", "G18", "G19", "G20", "G21")
@pytest.mark.parametrize("era", ERAS)
def test_unrecognised_reply_in_a_form_brings_the_echo_and_the_list_alone(world: World, era: str) -> None:
    """Twice, and then it is recognised; the summary is not said again."""

    async def story() -> None:
        wrong = [
            {"answer": "Type a command below", "answer_text": text} for text in ("toggle H1", "deselect H9")
        ]
        async with world.host(era, accepting(*wrong, {"answer": "Continue"})) as host:
            told = await host.told("open_gate", **GATE)
        first, *again = world.forms
        assert "3 findings" in first.message
        for text, form in zip(("toggle H1", "deselect H9"), again, strict=True):
            assert form.message.startswith(f'I didn\'t recognize "{text}".')
            assert form.message.endswith("\n\n" + "\n".join(NUMBERED))
            assert "3 findings" not in form.message
            assert titles(form) == titles(first)
        assert told["choice"] == "Continue"

    anyio.run(story)


@proves("W3", "W6", "W7", "W29", "W30", "W39")
@pytest.mark.parametrize("era", ERAS)
def test_walk_through_is_asked_in_the_hosts_dialog_block_first(world: World, era: str) -> None:
    """The routing question, and of a finding the block as the message and the question at its field."""
    (world.folder / "plan.md").write_text(DOCUMENT)

    async def story() -> None:
        async with world.host(era, accepting({"answer": _label(ROUTING[0])})) as host:
            await host.told(
                "review_findings", findings=[reviewer("critic", LIFETIME, ROLLBACK)], document="plan.md"
            )
        routing, finding = world.forms
        assert (routing.message, question(routing)) == ("Review of plan.md", STEM)
        assert titles(routing) == ROUTING
        assert finding.message.startswith("## Finding 1 of 2 — ")
        for part in ("\n\n**What's wrong**\n\n", "\n\n**Proposed fix**\n\n", "\n\n**Why it works**\n\n"):
            assert part in finding.message
        stem = question(finding).split("\n")
        assert stem[0].startswith("Finding 1 of 2 — ")
        assert stem[1].endswith("?")
        assert stem[0] not in finding.message.replace("## ", "", 1).split("\n", 1)[1]

    anyio.run(story)


def _label(title: str) -> str:
    return title.partition(". ")[2]


@proves("W4", "W5", "W47")
@pytest.mark.parametrize("way", ["missing", "failing"])
def test_menu_is_a_numbered_list_where_the_host_has_no_dialog_or_its_dialog_fails(
    world: World, way: str
) -> None:
    """The agent is handed the list, never prose alone; and nothing was decided."""
    (world.folder / "plan.md").write_text(DOCUMENT)

    async def fail(_: ElicitRequestFormParams) -> ElicitResult:
        raise MCPError(-32603, "the dialog broke")

    async def story() -> None:
        async with world.host(LEGACY, fail if way == "failing" else None) as host:
            result = await host.call(
                "review_findings", findings=[reviewer("critic", LIFETIME, ROLLBACK)], document="plan.md"
            )
        lines = text_of(result).split("\n")
        assert lines[:7] == [": Review of plan.md", "", STEM, *ROUTING]
        assert "STOP: nobody has answered yet" in lines[8]
        assert [ask.is_open for ask in world.open()] == [True]
        assert len(world.forms) == (way == "failing")

    anyio.run(story)


@proves("W4", "G12", "G13")
@pytest.mark.parametrize("era", ERAS)
def test_dialog_that_somebody_closed_is_not_shown_again_and_decides_nothing(world: World, era: str) -> None:
    """Its call says that the ask is open; the hub's surfaces have it."""
    (world.folder / "plan.md").write_text(DOCUMENT)

    async def story() -> None:
        async with world.host(era, accepting()) as host:
            told = await host.told(
                "review_findings", findings=[reviewer("critic", LIFETIME)], document="plan.md"
            )
        assert told["state"] == "open"
        assert len(world.forms) == 1
        assert (world.folder / "plan.md").read_text() == DOCUMENT

    anyio.run(story)


@proves("C6", "C7", "C9", "C11")
@pytest.mark.parametrize("allow_other", [False, True])
@pytest.mark.parametrize("era", ERAS)
def test_question_in_a_form_has_the_same_content_and_one_place_for_own_words(
    world: World, era: str, *, allow_other: bool
) -> None:
    """A closed one has none; and the form, which has no such place by itself, gets one where it is wanted."""

    async def story() -> None:
        options = ["PostgreSQL", "SQLite"]
        async with world.host(era, accepting({"answer": "SQLite"})) as host:
            told = await host.told(
                "ask_user", question="Which database?", options=options, allow_other=allow_other
            )
        (form,) = world.forms
        assert form.message == "Which database?"
        assert titles(form) == ["1. PostgreSQL", "2. SQLite", *(["Other: type your answer"] * allow_other)]
        assert ("answer_text" in form.requested_schema["properties"]) is allow_other
        assert told["answer"] == "SQLite"

    anyio.run(story)
