"""`assent gate` on a real terminal: the block to the byte, every option and command by the keyboard, and no default."""

import json
import re
import signal
import sys
from typing import Any

import pytest

from assent.protocol.gate import CONTEXTS, Context
from tests.cli.gates import CHOICES, SPELLINGS, spell, write_review
from tests.cli.shell import Shell, Terminal
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

LAST_LINE = "*Type a number or command to proceed.*"
SUMMARY = "Chunk 2 of 5, payment retries. This line is longer than forty columns."
BLOCK = [
    "### \N{OCTAGONAL SIGN} REVIEW GATEWAY: Chunk Loop",
    "",
    SUMMARY,
    "",
    "Commands: `discard`, `todo: {text}`, `deselect {IDs}`",
    "",
    "**Select an action:**",
    "1. Continue",
    "2. Deep-dive",
    "3. Pause & save",
    "4. Skip to synthesis",
    "",
    LAST_LINE,
]
LOOP = ("gate", "chunk-loop", "--summary", SUMMARY)

# One gate after the other on one terminal; what each came to is a line of standard output.
_ALL_GATES = """
import json, os, sys
from assent.cli.place import now
from assent.client.connect import connect
from assent.client.drive import drive
from assent.flows.gate import pass_gate
from assent.protocol.gate import CONTEXTS, Gate
from assent.surfaces.meeting import Meeting
from assent.surfaces.terminal import TerminalSurface

with connect(principal="agent:coder") as agent, connect(principal="human:ana") as typist:
    with TerminalSurface(now, os.environ) as terminal:
        meeting = Meeting(agent, typist, terminal)
        for number, name in enumerate(json.loads(sys.argv[1])):
            gate = Gate(CONTEXTS[name], f"Gate number {number}.", ("H1", "M1"), 3)
            print(drive(pass_gate(gate), meeting).label, flush=True)
"""
_SGR = re.compile(rb"\x1b\[[0-9;]*m")


@proves("G8", "G36", "G37", "G28", "G29", "G30", "G31", "G32", "G33", "G34", "G35")
def test_every_option_of_every_gate_is_typed_at_a_terminal(shell: Shell) -> None:
    """In each spelling, one gate after the other."""
    wanted = [(context, number, spelling) for context, number in CHOICES for spelling in SPELLINGS]
    names = json.dumps([context.name for context, _, _ in wanted])
    with Terminal(shell, program=(sys.executable, "-c", _ALL_GATES, names)) as terminal:
        for turn, (context, number, spelling) in enumerate(wanted):
            terminal.until(f"Gate number {turn}.")
            terminal.until(LAST_LINE, turn + 1)
            terminal.type(f"{spell(context, number, spelling)}\n")
        ended = terminal.end()
    assert ended.out.splitlines() == [context.options[number - 1] for context, number, _ in wanted]
    assert "I didn't recognize" not in ended.err


@proves("G16", "G17", "G18", "G19", "G20", "G21")
@pytest.mark.parametrize("context", CONTEXTS.values(), ids=lambda context: context.name)
def test_wrong_input_at_a_terminal_is_asked_again_for_ever(shell: Shell, context: Context) -> None:
    """One wrong reply after the other; then the gate's last option by its label, and it is the answer."""
    first = context.options[0]
    wrong = [
        "",
        "  ",
        "0",
        f"{len(context.options) + 1}",
        "A",
        "yes",
        first[:-1],
        first.split()[0][:3],
        "select",
    ]
    brief = [f"{number}. {label}" for number, label in enumerate(context.options, 1)]
    with Terminal(shell, "gate", context.name, "--summary", "Where we are.", NO_COLOR="1") as terminal:
        terminal.until("> ")
        for times, reply in enumerate(wrong, start=1):
            terminal.type(f"{reply}\n")
            terminal.until(f"{brief[-1]}\r\n> ", times)
            screen = [line for line in terminal.screen() if line]
            assert screen[-len(brief) - 2 : -1] == [f'I didn\'t recognize "{reply}".'.rstrip(), *brief]
        assert shell.only_open().is_open
        terminal.type(f"{context.options[-1].upper()}\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, f"{context.options[-1]}\n")
    assert ended.err.count("REVIEW GATEWAY") == 1


@proves("G9", "G10", "G11", "G14")
@pytest.mark.parametrize(
    ("changes", "columns", "is_coloured"),
    [
        ({}, 80, True),
        ({}, 40, True),
        ({"NO_COLOR": "1"}, 40, False),
        ({"TERM": "dumb"}, 80, False),
    ],
)
def test_block_is_the_same_bytes_on_every_terminal(
    shell: Shell, changes: dict[str, Any], columns: int, *, is_coloured: bool
) -> None:
    """Colour goes round whole lines, no line is wrapped by us, and after the last one there is only the sign."""
    with Terminal(shell, *LOOP, columns=columns, **changes) as terminal:
        terminal.until("> ")
        seen = terminal.seen
        assert (b"\x1b" in seen) is is_coloured
        block = "\r\n".join([*BLOCK, "> "]).encode()
        assert _SGR.sub(b"", seen).endswith(b"\r\n\r\n" + block)
        for line in seen.split(b"\r\n")[-len(BLOCK) - 1 : -1]:
            assert re.fullmatch(rb"(\x1b\[[0-9]+m[^\x1b]+\x1b\[0m)|[^\x1b]*", line)
        terminal.type("1\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "Continue\n")
    assert ended.err == seen.decode() + "1\r\n"


@proves("G22", "G23", "G25", "G26", "G38", "G39", "G40")
def test_whole_talk_at_a_terminal(shell: Shell) -> None:
    """A task, a single and a bulk deselect, checks with every kind of reply, and a finding to look into."""
    arguments = (*LOOP, "--findings", write_review(shell.folder), "--json")
    remove = "This will remove 3 findings from this chunk. They won't be recoverable. Proceed? [y/n]"
    unmark = "This will unmark 2 findings. They won't be posted. Proceed? [y/n]"
    with Terminal(shell, *arguments, NO_COLOR="1") as terminal:
        gates = 1
        terminal.until(f"{LAST_LINE}\r\n> ", gates)
        for command, question, reply in [
            ("todo: ask ops", "", ""),
            ("deselect l1", "", ""),
            ("discard", remove, "n"),
            ("discard", remove, "maybe"),
            ("discard", remove, ""),
            ("deselect h1, m1", unmark, "N"),
            ("DESELECT h1 m1", unmark, "Y"),
            ("2", "Which finding? Or back.", "back"),
        ]:
            terminal.type(f"{command}\n")
            if question:
                terminal.until(f"{question}\r\n> ", terminal.seen.decode().count(f"{question}\r\n> ") + 1)
                terminal.type(f"{reply}\n")
            gates += 1
            terminal.until(f"{LAST_LINE}\r\n> ", gates)
        terminal.type("deep-dive L1\n")
        ended = terminal.end()
    assert ended.status == 0
    assert ended.json["choice"] == "Deep-dive"
    assert (ended.json["arguments"], ended.json["marked"]) == (["L1"], [])
    assert (ended.json["by"], ended.json["via"], ended.json["assurance"]) == (
        "human:ana",
        "terminal",
        "terminal",
    )
    assert 'Kept for later: "ask ops".' in ended.err
    assert "Marked for posting: H1, M1." in ended.err
    assert ended.err.count('I didn\'t recognize "maybe".') == 1
    assert ended.err.count('I didn\'t recognize "".') == 1
    assert "Nothing is marked for posting." in ended.err


@proves("G12", "G13")
@pytest.mark.parametrize(
    ("key", "name"),
    [("\x03", "Ctrl-C"), ("\x04", "Ctrl-D"), ("1\x04\x04", "half a line"), ("1\x03", "Ctrl-C late")],
)
def test_leaving_the_gate_decides_nothing(shell: Shell, key: str, name: str) -> None:
    """Status 3, nothing printed, the ask open, and one sentence on how to answer it later."""
    with Terminal(shell, *LOOP) as terminal:
        terminal.until("> ")
        ask_id = shell.only_open().ask_id
        terminal.type(key)
        ended = terminal.end()
    assert (ended.status, ended.out) == (3, ""), name
    assert "Nothing was decided; the gate stays open." in ended.err
    assert f"assent answer {ask_id[-6:]} …" in ended.err
    assert shell.only_open().ask_id == ask_id


@proves("G13")
def test_closed_terminal_leaves_the_gate_open(shell: Shell) -> None:
    """A hang-up ends the command, not the ask."""
    with Terminal(shell, *LOOP) as terminal:
        terminal.until("> ")
        terminal.hang_up()
        assert terminal.process.wait(PATIENCE) in (3, -signal.SIGHUP)
    assert shell.only_open().is_open


def test_line_editing_works_and_arrow_keys_are_no_text(shell: Shell) -> None:
    """Backspace and Ctrl-U take back what was typed; an arrow by mistake is shown as a mark and asked again."""
    with Terminal(shell, *LOOP) as terminal:
        terminal.until("> ")
        terminal.type("todo: \x1b[Dfix it\n")
        terminal.until(
            'I didn\'t recognize "todo: <U+001B>[Dfix it". There are keys in it that type no text.'
        )
        terminal.type("1\x1b[A\n")
        terminal.until('I didn\'t recognize "1<U+001B>[A".')
        terminal.type("nonsense\x15Continux\x7fe\n")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "Continue\n")
    assert not (shell.folder / ".assent" / "review-todo.md").exists()


@proves("G12")
def test_agents_terminal_is_shown_the_gate_and_not_read(shell: Shell) -> None:
    """An agent that has a terminal cannot pass its own gate by typing."""
    with Terminal(shell, *LOOP, CLAUDECODE="1", NO_COLOR="1") as terminal:
        terminal.until(LAST_LINE)
        terminal.type("1\n")
        assert "CLAUDECODE is set" in terminal.seen.decode()
        shell.answer(shell.only_open().ask_id, "4")
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "Skip to synthesis\n")


@proves("G44")
def test_answer_from_elsewhere_ends_the_gate_with_half_a_line_typed(shell: Shell) -> None:
    """The terminal says who was first, and what was half typed is thrown away."""
    with Terminal(shell, *LOOP) as terminal:
        terminal.until("> ")
        ask_id = shell.only_open().ask_id
        terminal.type("disca")
        assert shell.run("answer", ask_id[-6:], "3.").status == 0
        ended = terminal.end()
    assert (ended.status, ended.out) == (0, "Pause & save\n")
    assert "Answered elsewhere: ana answered at " in ended.err


def test_hostile_summary_cannot_move_the_cursor_or_follow_the_block(shell: Shell) -> None:
    """Its escapes are marks, and its fake options stand above ours."""
    hostile = f"ok\x1b[2J\x1b[H\r\x07\n1. Approve all\n{LAST_LINE}\u202e"
    with Terminal(shell, "gate", "phase-gate", "--summary", hostile, NO_COLOR="1") as terminal:
        terminal.until("4. Cancel\r\n\r\n" + LAST_LINE)
        terminal.until("> ")
        assert b"\x1b" not in terminal.seen
        assert b"ok<U+001B>[2J<U+001B>[H<U+000D><U+0007>" in terminal.seen
        terminal.type("1. Approve all\n")
        terminal.until("I didn't recognize")
        terminal.type("cancel\n")
        assert terminal.end().out == "Cancel\n"
