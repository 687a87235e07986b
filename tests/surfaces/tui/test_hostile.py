"""Agent text never drives the terminal: a fortieth of five thousand hostile ones here, all of them in `make torture`."""

import re
import shlex
from typing import Any

import msgspec
import pytest

from assent.protocol.display import display, display_exact
from assent.protocol.run import Status
from assent.protocol.tail import Tail
from assent.protocol.topic import CONTROL_TOPIC, Message
from assent.surfaces.board import BoardRun
from assent.surfaces.tui.screen import compose
from assent.surfaces.tui.view import Mode, RunDetail, View
from tests.run_samples import new_frame, new_run
from tests.surfaces.page.payloads import READ
from tests.surfaces.tui.hostile import COUNT, controls_in, hostile_texts, hostile_views
from tests.surfaces.tui.on_a_pty import UNDRAWN, obeyed_in, read_cards, sit
from tests.surfaces.tui.sights import NOW

__all__: list[str] = []

WIDE = 60_000
SIZES = ((120, 36), (80, 24), (40, 12), (40, 10))


def test_hostile_texts_are_five_thousand_different_ones() -> None:
    """The count that is promised, and no padding in it; nearly all hold something that a terminal would obey."""
    texts = hostile_texts()
    assert len(set(texts)) == len(texts) == COUNT
    assert sum(bool(controls_in(text)) for text in texts) > COUNT * 4 // 5


@pytest.mark.parametrize("share", range(4))
def test_hostile_text_in_every_field_never_reaches_a_line(share: int) -> None:
    """In every card, list and run, in four sizes: no control, no escape, nothing that turns or hides."""
    texts = hostile_texts()[: COUNT // 40][share::4]
    assert texts
    for text in texts:
        for view in hostile_views(text):
            lines = compose(view, *SIZES[share])
            shown = "".join(line.text for line in lines)
            assert controls_in(shown) == [], repr(text)
            assert [line.width for line in lines] == [SIZES[share][0]] * SIZES[share][1], repr(text)


def test_bytes_that_a_terminal_obeys_are_noticed() -> None:
    """Twin of the test below: what is not on the list is found, and so is a text that was let through."""
    assert obeyed_in(b"\x1b[1;31mred\x1b[0m\x1b[3;4H") == []
    assert obeyed_in(b"\x1b[2J")
    assert obeyed_in(b"a\x07b")
    assert obeyed_in(b"over\rit")
    assert obeyed_in(b"\x1b]0;owned\x07")
    assert obeyed_in(b"\x1b]52;c;cm0gLXJm\x07")
    assert obeyed_in("\x9b31m".encode())
    assert obeyed_in("Approve\u202e".encode())


def test_hostile_texts_on_a_real_terminal_write_nothing_but_what_textual_writes() -> None:
    """The program itself on a pty, with keys: every byte is text, or one of the sequences on the list."""
    texts = hostile_texts()[: COUNT // 40]
    seen = sit(texts)
    assert seen.asks >= len(texts) // seen.packed
    assert obeyed_in(seen.written) == []


def laid(shown: str) -> str:
    """Return a text as rows can tell it: a line end as a blank, a tab as four."""
    shown = shown.translate(UNDRAWN)
    return re.sub(r" *\n", " ", shown.replace("<U+000A>\n", "<U+000A> ").replace("\t", "    ")).rstrip()


def test_what_is_read_on_a_terminal_is_what_was_written() -> None:
    """On a real terminal, in every part of an approval; of what will run to the last blank, with line ends as marks."""
    cards = read_cards(list(READ.values()))
    assert sorted(cards) == list(range(1, len(READ) + 1))
    seen = 0
    for number, (name, text) in enumerate(READ.items(), start=1):
        card, few, exact = cards[number], text[:400], display_exact(text[:400])
        argv, command = display_exact(shlex.join([few, few])), display_exact(text)
        values = f'["{exact}", 9007199254740993, false] big: 18446744073709551615 text: "true" true: true value: "{exact}"'
        for wanted, found in (
            (f"{argv}\n$ {command}", card.read("$ ", "  ", "$ ")),
            (values, card.read(": list: ", ": ")),
        ):
            assert laid(found) == laid(wanted), name
            seen += 2 + 4 * (wanted is values)
        for wanted, found in (
            (few.strip(), card.read("T ", ": ", is_exact=False)),
            (few, card.read("! ", "! ", is_exact=False).removesuffix("(declared by the asker)")),
            (few, card.read("-- agent:coder wrote", ": ", is_exact=False)),
        ):
            shown = display(wanted).translate(UNDRAWN)
            assert "".join(found.split()).endswith("".join(shown.split())), name
            seen += 1
    assert seen == 11 * len(READ)


def read_run(text: str) -> tuple[View, list[str]]:
    """Return a run with a text in each part, and what should be read; each begins with a letter of its own."""
    few, some = text[:190], text[:1_900]
    parts = {"model": f"m{few}", "issue_id": f"i{few}", "filter": f"f{few}"}
    parts |= {"branch": f"b{text}", "escalation_reason": f"e{some}"}
    ended: dict[str, Any] = {"reason": "ERROR", "ended_at": NOW, "status": Status.ABORTED}
    run = new_run(new_frame(**parts), title=f"t{few}", note=f"n{some}", **ended)
    payload = {"model": f"p{few}", "reason": f"r{some}"}
    asked = {"type": "REQUEST", "request_id": "r", "command": "escalate", "payload": payload}
    message = Message(1, CONTROL_TOPIC, NOW, msgspec.Raw(msgspec.json.encode(asked)), "human:ana")
    detail = RunDetail((message,), Tail(f"o{text}", 0, len(text), NOW))
    view = View(runs=(BoardRun(run, is_driven=True),), detail=detail, who="ana", now=NOW, mode=Mode.RUN)
    told = f"escalate, model p{few}, reason r{some}, by ana"
    wanted = [display(each, lines=False) for each in (*parts.values(), run.title, run.note, told)]
    return view, [*wanted, *display(f"o{text}").replace("\t", "    ").split("\n")]


def test_what_is_read_of_a_run_is_what_was_written() -> None:
    """What the board cuts stands whole below it: on a wide screen to the last blank, on a usual one in several rows."""
    for name, text in READ.items():
        view, wanted = read_run(text)
        wide = [line.text for line in compose(view, WIDE, 60)]
        usual = unlaid("".join(line.text for line in compose(view, 80, 900)))
        for each in wanted:
            assert any(each.rstrip() in row for row in wide), name
            assert unlaid(each) in usual, name


def unlaid(shown: str) -> str:
    """Return what is left of rows: neither blanks nor the sign of a row that goes on."""
    return "".join(shown.split()).replace(":", "")
