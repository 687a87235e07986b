"""Menus through selection tools, and what happens where the tool loads, fails or is missing (W3-W5)."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from assent.client.drive import drive
from assent.flows.step import Answered, Ask, Ended, Flow, ask, say
from assent.protocol.capability import CAPABILITIES, Capability
from assent.protocol.dialog import Dialog, Given, unfold
from assent.protocol.folding import fold_prompt
from assent.protocol.prompt import Prompt
from assent.protocol.reply import recognise
from assent.surfaces.detect import Availability, Lookup, Means, availability, rank
from assent.surfaces.plain import PlainSurface
from assent.surfaces.tool import FallbackSurface, Load, ToolFailedError, ToolSurface
from tests.proves import proves
from tests.surfaces.menus import BLOCK, FINDING, FINDING_LINES, MENUS, ROUTING, ROUTING_LINES, WITHOUT_B
from tests.surfaces.tools import AcpPermission, ClaudeCode, Codex, McpForm, Person, Tool

__all__: list[str] = []

CLAUDE = CAPABILITIES["claude-code"]
CAPABLE = sorted(set(CAPABILITIES) - {"stdio", "github-comment"})


def play(prompt: Prompt) -> Flow[Answered | Ended]:
    """Ask once, and say what came."""
    came = yield from ask(prompt)
    yield from say("→ Skipped.")
    return came


class Host:
    """A host with a tool that may have to be loaded, and plain text beside it."""

    def __init__(self, *inputs: Given, load: Load | None = None) -> None:
        self.tool = ClaudeCode(Person(*inputs))
        self.written: list[str] = []
        self.typed: list[str] = []
        self.tool_surface = ToolSurface(
            self.tool.select, self.tool.capability, self.written.append, load=load
        )
        plain = PlainSurface(self.written.append, lambda: self.typed.pop(0) if self.typed else None)
        self.surface = FallbackSurface([self.tool_surface, plain])


@proves("W29")
def test_block_is_said_and_the_dialog_holds_the_question_alone() -> None:
    """The rows carry the labels, and the recommended word; nothing is said again after a slip."""
    host = Host("maybe", "3. Skip — don't apply, don't append (recommended)")
    came = drive(play(FINDING), host.surface)
    assert isinstance(came, Answered)
    assert came.values == {"decision": ("Skip",)}
    assert host.written == ["\n".join(BLOCK), "→ Skipped."]
    first, second = host.tool.person.seen
    assert first.text.split("\n") == FINDING_LINES[:2]
    assert first.header == "Finding 2 o…"
    assert [row.label for row in first.rows] == [
        "1. Apply the proposed fix",
        "2. Defer — append to the doc's Open Questions section",
        "3. Skip — don't apply, don't append (recommended)",
        "4. LFG the rest — apply the agent's best judgment to this and remaining findings",
    ]
    assert second.text == 'I didn\'t recognize "maybe".'


def test_menu_without_a_block_says_nothing_before_the_dialog() -> None:
    """The routing question has none."""
    host = Host("1. " + ROUTING_LINES[1][3:])
    drive(play(ROUTING), host.surface)
    assert host.written == ["→ Skipped."]
    assert host.tool.person.seen[0].text == ROUTING_LINES[0]


@proves("W3", "W29")
@pytest.mark.parametrize("name", CAPABLE)
@pytest.mark.parametrize("prompt", MENUS.values(), ids=MENUS)
def test_every_menu_fits_every_tool_on_one_page(prompt: Prompt, name: str) -> None:
    """Four rows at most, no page to turn; the text begins with the stem and holds nothing of the block."""
    (dialog,) = fold_prompt(prompt, CAPABILITIES[name])
    assert dialog.text.startswith(prompt.title)
    if prompt.body:
        assert prompt.body not in dialog.text
    assert "<U+000A>" not in dialog.header
    options = prompt.fields[0].options
    for number, option in enumerate(options, start=1):
        row = next((row.label for row in dialog.rows if row.label.startswith(f"{number}. ")), None)
        assert row or f"{number}. {option.label}" in dialog.text
        chosen = unfold(dialog, row or str(number))
        assert recognise(prompt, str(chosen)) == {"decision": (option.key,)}
        if option.recommended:
            assert row == f"{number}. {option.label} (recommended)"


@pytest.mark.parametrize("kind", [ClaudeCode, Codex, McpForm, AcpPermission])
@pytest.mark.parametrize("wanted", ["1", "2", "3"])
def test_strict_tools_give_each_option_of_a_list_that_lacks_one(kind: type[Tool], wanted: str) -> None:
    """By its number among what is shown."""
    tool = kind(Person(wanted))
    said: list[str] = []
    came = drive(play(WITHOUT_B), ToolSurface(tool.select, tool.capability, said.append))
    assert isinstance(came, Answered)
    assert came.values == {"decision": (("Apply", "Skip", "LFG the rest")[int(wanted) - 1],)}


# Loading is not missing.


@proves("W3")
def test_tool_that_must_be_loaded_is_looked_up_by_its_name_and_then_asked() -> None:
    """With the query that the loader understands, once, and before anything is shown."""
    looked_up: list[str] = []

    def load() -> bool:
        assert host.written == []
        looked_up.append(CLAUDE.query)
        return True

    host = Host("3. Skip — don't apply, don't append (recommended)", "1. " + ROUTING_LINES[1][3:], load=load)
    drive(play(FINDING), host.surface)
    drive(play(ROUTING), host.surface)
    assert (CLAUDE.loader, looked_up) == ("ToolSearch", ["select:AskUserQuestion"])
    assert len(host.tool.requests) == 2
    assert host.written == ["\n".join(BLOCK), "→ Skipped.", "→ Skipped."]


def missing() -> bool:
    """Find nothing."""
    return False


def broken() -> bool:
    """Fail."""
    raise OSError("no loader")


@proves("W4", "W5", "W47")
@pytest.mark.parametrize("load", [missing, broken])
def test_tool_that_is_truly_missing_gives_way_to_the_numbered_list(load: Load) -> None:
    """The question is never skipped, and shown once."""
    host = Host(load=load)
    host.typed = ["4"]
    came = drive(play(FINDING), host.surface)
    assert came == Answered({"decision": ("LFG the rest",)}, "4")
    assert host.written[0].split("\n") == BLOCK
    assert host.written[1].split("\n")[-1].startswith("4. LFG the rest")
    assert host.tool.requests == []


@proves("W4", "W5", "W47")
def test_tool_whose_call_fails_gives_way_to_the_numbered_list() -> None:
    """The same question, with nothing lost; the next one is tried with the tool again."""
    host = Host("1. " + ROUTING_LINES[1][3:])
    select: Callable[[Sequence[Dialog]], Sequence[Given] | None] = host.tool.select
    calls: list[int] = []

    def fail_once(dialogs: Sequence[Dialog]) -> Sequence[Given] | None:
        calls.append(len(dialogs))
        if len(calls) == 1:
            raise ConnectionError("gone")
        return select(dialogs)

    tool_surface = ToolSurface(fail_once, host.tool.capability, host.written.append)
    plain = PlainSurface(host.written.append, lambda: host.typed.pop(0) if host.typed else None)
    surface = FallbackSurface([tool_surface, plain])
    host.typed = ["nothing", "B"]
    assert drive(play(FINDING), surface) == Answered({"decision": ("Defer",)}, "B")
    assert host.written[2].split("\n")[2].startswith("1. Apply the proposed fix")
    drive(play(ROUTING), surface)
    assert calls == [1, 1]


@proves("W4")
def test_dialog_that_is_cancelled_is_no_reason_for_the_list() -> None:
    """A person who closes it has not decided, and gets no second question."""
    host = Host()
    host.typed = ["1"]
    host.surface.present(Ask(ROUTING))
    assert host.surface.read() is None
    assert host.written == []


def test_tool_that_could_not_be_loaded_is_looked_up_again_for_the_next_ask() -> None:
    """It may be there by then."""
    found = [False, True]
    surface = ToolSurface(
        lambda _: None, CAPABILITIES["claude-code"], lambda _: None, load=lambda: found.pop(0)
    )
    with pytest.raises(ToolFailedError, match="has no such tool"):
        surface.present(Ask(ROUTING))
    surface.present(Ask(ROUTING))
    assert found == []


@proves("W3", "W4")
@pytest.mark.parametrize(
    ("host", "exposed", "lookup", "expected"),
    [
        (CLAUDE, ["AskUserQuestion"], Lookup.PENDING, Availability.AVAILABLE),
        (CLAUDE, ["ToolSearch", "AskUserQuestion"], Lookup.NO_MATCH, Availability.AVAILABLE),
        (CLAUDE, ["ToolSearch"], Lookup.PENDING, Availability.LOADING),
        (CLAUDE, ["ToolSearch"], Lookup.FOUND, Availability.AVAILABLE),
        (CLAUDE, ["ToolSearch"], Lookup.NO_MATCH, Availability.MISSING),
        (CLAUDE, ["ToolSearch"], Lookup.FAILED, Availability.FAILED),
        (CLAUDE, ["Bash"], Lookup.PENDING, Availability.MISSING),
        (CAPABILITIES["codex"], ["request_user_input"], Lookup.PENDING, Availability.AVAILABLE),
        (CAPABILITIES["codex"], [], Lookup.PENDING, Availability.MISSING),
        (CAPABILITIES["gemini"], ["ask_user"], Lookup.PENDING, Availability.AVAILABLE),
    ],
)
def test_availability_falls_to_missing_only_by_a_lookup_or_a_mode_without_it(
    host: Capability, exposed: list[str], lookup: Lookup, expected: Availability
) -> None:
    """A pending load is waited for: nothing else presents meanwhile."""
    found = availability(host, exposed, lookup)
    assert found is expected
    first = rank([(host.name, found)], is_interactive=True, remote=Availability.MISSING)[0]
    is_tool = expected in (Availability.AVAILABLE, Availability.LOADING)
    assert first.means is (Means.TOOL if is_tool else Means.STDIO)
    assert first.is_loading == (expected is Availability.LOADING)


def test_letters_given_to_an_approval_leave_its_action_in_the_dialog() -> None:
    """It is no menu then, and everything stands in the dialog."""
    (dialog,) = fold_prompt(replace(FINDING, action={"command": "rm"}), CAPABILITIES["claude-code"])
    assert '"command": "rm"' in dialog.text
    assert BLOCK[0] in dialog.text
