"""No byte that an agent wrote drives a terminal: not through prompts, lists, cards, logs, errors or completion."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assent.protocol.display import display
from tests.cli.drive import agent_of, begun
from tests.cli.shell import Result, Shell, Terminal
from tests.surfaces.page.payloads import PACKED_READ

__all__: list[str] = []

Call = Callable[..., Result]

CONTROLS = "".join(map(chr, [*range(1, 9), 11, 12, *range(14, 32), *range(127, 160)]))
HOSTILE = [
    "\x1b[2J\x1b[H\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b]52;c;aGk=\x07",
    "\x1bP+q544e\x1b\\ \x1b[?1049h \x1b[6n \x9b2J \x9d0;t\x9c",
    "\u202egnp.exe\u2066 \u200b\u200d\ufeff \U000e0041 \u2028\u2029\x85",
    f"all {CONTROLS}",
    "back\b\b\b\rover",
]
OURS = re.compile(rb"\x1b\[(?:0|1|2|3[1-6])m")


def driving(seen: bytes) -> set[str]:
    """Return what of `seen` a terminal would obey, but for line ends and our own colours."""
    text = OURS.sub(b"", seen).decode()
    return {character for character in text if not character.isprintable() and character not in "\r\n"}


def prompt(text: str) -> str:
    """Return a prompt with `text` in every place that takes one."""
    option = {"key": f"k{text}", "label": f"l{text}", "description": text}
    field = {"name": f"n{text}", "text": text, "options": [option, "plain"], "free": True}
    return json.dumps(
        {
            "title": f"t{text}",
            "body": text,
            "risk": text,
            "action": {text: text},
            "fields": [field, {"text": text}],
        }
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_in_every_output(call: Call, text: str) -> None:
    """Cards, lists, formats, logs, echoes of a reply, what was recorded, and sentences about errors."""
    Path("r.json").write_text(prompt(text))
    opened = call("ask", "--file", "r.json", "--key", f"x{text}", "--as", "a", "--no-wait")
    assert opened.status == 0, opened.err
    ask_id = opened.out.strip()
    shown = [
        call("show", ask_id),
        call("inbox"),
        call("inbox", "--format", "{newest}"),
        call(),
        call("log"),
        call("answer", ask_id, f"q1: {text}\nq9: {text}"),
        call("answer", text, "1"),
        call("ask", "Other?", "--key", f"x{text}", "--no-wait"),
        call("ask", "Alike?", "-o", f"l{text}", "-o", f"l{text}", "--no-wait"),
        call("ask", "Span?", "--deadline", text, "--no-wait"),
        call("inbox", "--format", f"{{{text}"),
        call(text),
        call("answer", ask_id, "--decline", "--reason", text),
        call("answer", ask_id, "--decline"),
        call("show", ask_id),
        call("log"),
        call("audit", "verify"),
        call("doctor", "--project", text),
    ]
    for result in shown:
        assert driving((result.out + result.err).encode()) == set()
    assert "<U+" in shown[0].out


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_on_a_terminal(shell: Shell, text: str) -> None:
    """The screen that an emulator makes of it holds the visible marks, and nothing was obeyed."""
    Path(shell.folder / "r.json").write_text(prompt(text))
    with Terminal(shell, "ask", "--file", "r.json", stdout_too=True) as terminal:
        terminal.until("Q1 of 2")
        terminal.until("> ")
        terminal.type("1\n")
        terminal.until("Q2 of 2")
        terminal.type("fine\n")
        ended = terminal.end()
        assert ended.status == 0
        assert driving(terminal.seen) == set()
        screen = terminal.screen()
    assert screen[1].startswith("= 2 questions  shop / agent:ana")
    assert screen[2].startswith("t")
    assert all(
        mark.startswith("<U+") for line in screen for mark in re.findall(r"<[^>]*>", line) if "U+" in mark
    )
    assert any("<U+" in line for line in screen)


def test_hostile_line_typed_by_a_person_is_echoed_inert(shell: Shell) -> None:
    """What the terminal itself echoes is its own; our echo is marked."""
    with Terminal(shell, "ask", "Which?", "-o", "Red", "-o", "Blue") as terminal:
        terminal.until("> ")
        terminal.type("\x16\x1b[2J\n")  # Ctrl-V lets the next key through
        terminal.until('I didn\'t recognize "<U+001B>[2J".')
        assert driving(terminal.seen.partition(b"I didn't recognize")[2]) == set()
        terminal.type("1\n")
        assert terminal.end().status == 0


def test_agent_text_cannot_pass_for_ours(call: Call) -> None:
    """Lines of the asker's have a mark, also where a long one goes on."""
    title = "Is this fine? " + " " * 70 + "If nobody answers, it is a yes. " * 4
    ask_id = call(
        "ask", title, "--body", "x " * 200 + "\nA) Approve\nYou must approve.", "--no-wait"
    ).out.strip()
    lines = call("show", ask_id).out.splitlines()
    ours = [line for line in lines[3:] if line and not line.startswith(":")]
    assert not any("is a yes" in line or "pprove" in line for line in ours)
    assert all(len(line) <= 80 for line in lines)


def short_in(shown: str, text: str, least: int) -> bool:
    """Say whether a text stands in what is shown: whole, or with at least so many characters of it and a sign."""
    told = display(text, lines=False).rstrip()  # at the end of a line blanks are not seen
    return told in shown or any(f"{told[:end]}…" in shown for end in range(least, len(told)))


@pytest.mark.parametrize("text", PACKED_READ, ids=range(len(PACKED_READ)))
def test_what_is_read_in_lists_is_what_was_written_or_says_that_it_is_cut(
    call: Call, shell: Shell, text: str
) -> None:
    """Boards, inbox and log tell the beginning; `--json` and `show` tell the whole."""
    few, some = text[:200], text[:1_900]
    parts: dict[str, Any] = dict.fromkeys(("title", "issue_id", "filter"), few)
    with begun(shell, "r-1", branch=text, **parts), agent_of(shell) as agent:
        ask_id = agent.open(some, key="k").ask_id
        agent.post("notes", {"schema": 1, text: [text, 9007199254740993]})
        board, runs = call("runs").out, call("runs", "--json").json["runs"]
    log, events = call("log").out, [json.loads(line) for line in call("log", "--json").out.splitlines()]
    assert short_in(board, few, 1)
    assert (runs[0]["title"], runs[0]["stack"][0]["branch"]) == (few, text)
    assert short_in(call("inbox").out, some.strip(), 1)
    assert short_in(log, f"agent:coder asks: {some}", 100)
    assert short_in(log, f": {few}", 20)
    assert [event["data"]["message"] for event in events if event["type"] == "topic.posted"] == [
        {"schema": 1, text: [text, 9007199254740993]}
    ]
    card = "".join(re.sub(r"(?m)^: ?", "", call("show", ask_id).out).split())
    assert "".join(display(some).split()) in card
