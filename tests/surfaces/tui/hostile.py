"""Five thousand texts that an attacker may write to drive a terminal, and an inbox that has one of them in every field.

Rule 1: no two are the same; a test counts them.
Rule 2: the families are mixed, so that every tenth of the list has something of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from itertools import chain, zip_longest
from typing import Any

import msgspec
from msgspec.structs import replace

from assent.protocol.answer import Answer
from assent.protocol.approval import approval_prompt
from assent.protocol.ask import Ask, AskId, Claim, Consequence, Kind, Outcome, State
from assent.protocol.principal import Assurance
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.run import RunId, Status
from assent.protocol.tail import Tail
from assent.protocol.topic import CONTROL_TOPIC, Message
from assent.surfaces.board import BoardRun
from assent.surfaces.tui.order import order
from assent.surfaces.tui.reply import FieldReply, Reply
from assent.surfaces.tui.view import Fate, Mode, RunDetail, View
from tests.run_samples import new_frame, new_run
from tests.samples import new_ask
from tests.surfaces.page.payloads import PAYLOADS
from tests.surfaces.tui.sights import NOW
from torture.hostile_cases import hidden_in, texts, without_joints

__all__ = [
    "COUNT",
    "controls_in",
    "hostile_asks",
    "hostile_detail",
    "hostile_runs",
    "hostile_texts",
    "hostile_views",
    "read_ask",
]

COUNT = 5_000
_FEW = 400
_FINALS = "ABCDEFGHIJKLMPSTXZ`abcdefghijklmnpqrstuvwxyz{|}~@"
_OPENERS = ("\x1b", "\x1b\x1b", "a\x1b", "\x00\x1b", "\u200b\x1b", "\r\x1b", "\n\x1b", "\x1b\\\x1b")
_STRINGS = {"P": "+q544e", "X": "note", "^": "note", "_": "Gf=100;AAAA", "]": "0;owned", "k": "title"}
_ENDS = ("\x07", "\x1b\\", "\x9c", "", "\n")


def _sequences() -> Iterator[str]:
    """Give every sort of sequence that a terminal obeys, in both spellings."""
    numbers = ("", "0", "1", "2", "999999", "1;1", "?25", "?1049", "?2004", ">1", "38;5;1", "6", "22;2", "=1")
    for number, final in ((number, final) for number in numbers for final in _FINALS):
        yield f"before \x1b[{number}{final} after"
        yield f"\x9b{number}{final}Approved"
    for code in (*range(24), 50, 52, 104, 110, 133, 633, 777, 1337, 9, 8, 7, 99):
        for end in _ENDS:
            yield f"\x1b]{code};c;cm0gLXJm{end}shown"
            yield f"\x9d{code};http://evil.invalid{end}shown"
    for opener in _OPENERS:
        for sign, said in _STRINGS.items():
            for end in _ENDS:
                yield f"{opener}{sign}{said}{end}!"
    for sign in (chr(point) for point in range(0x20, 0x7F)):
        yield f"\x1b{sign}short"
        yield f"\x1b({sign}charset"
        yield f"\x1b#{sign}lines"


def _controls() -> Iterator[str]:
    """Give every control and every character that turns, joins or hides, alone, doubled and among words."""
    points = [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F)]
    points += [
        *range(0x2060, 0x2070),
        0xFEFF,
        *range(0xFFF9, 0xFFFC),
        0x180E,
        0x3164,
        0x2800,
        0xE0001,
        0xE0041,
    ]
    for character in map(chr, points):
        yield from (
            character,
            character * 2,
            f"a{character}b",
            f"{character} Keys ready.",
            f"word {character}",
        )
        yield from (
            f"{character}\x1b[2J",
            f"\U0001f6d1{character}",
            f"line\n{character}> [x] A) Yes",
            f"{character * 90}end",
        )


def _forgeries() -> Iterator[str]:
    """Give lines that would pass for ours."""
    ours = (
        "Keys ready.",
        "> [x] A) Approve    marked",
        "-- ana wrote, checked by Assent --",
        "<> sam-k was first, your answer was not used.",
        "OFFLINE since 00:00:00",
        "Enter send  ? keys",
        "┌ Inbox ─┬─┐",
        "│",
        "If nobody answers, it waits.",
        "$ ls",
        "! harmless",
        "+11 ms  RESULT   success",
    )
    for said in ours:
        for before in (
            "",
            "\n",
            "\n\n",
            "\r",
            "\x0b",
            "\x0c",
            "\u2028",
            "\x85",
            "\t",
            " " * 200,
            "x" * 37,
            "x" * 77,
            "\x1b[99B",
        ):
            yield f"{before}{said}"


@cache
def hostile_texts() -> tuple[str, ...]:
    """Return all of them."""
    families = (PAYLOADS, texts(), list(_sequences()), list(_controls()), list(_forgeries()))
    mixed = chain.from_iterable(zip_longest(*families))
    # A half of a pair can be stored nowhere; it is refused long before.
    kept = dict.fromkeys(text for text in mixed if text and text.isascii() | _is_whole(text))
    number = 0
    while len(kept) < COUNT:
        number += 1
        kept.setdefault(f"{number}\x1b[{number % 97};{number}H\x07\x9b{number}m")
    every = list(kept)[:COUNT]
    return tuple(chain.from_iterable(every[start::10] for start in range(10)))


def _is_whole(text: str) -> bool:
    return not any(0xD800 <= ord(character) <= 0xDFFF for character in text)


def controls_in(shown: str) -> list[str]:
    """Return what a terminal would obey, or a reader not see, in a line that is drawn."""
    return sorted(found for character in set(without_joints(shown)) for found in _judge(character))


@cache
def _judge(character: str) -> list[str]:
    return hidden_in(character, allowed="")


# An inbox with one text in every field


def _prompt(text: str) -> Prompt:
    option = Option(text, text, description=text)
    fields = (
        Field("q1", text, (option, Option("b", f"{text} b")), multiple=True, free=True, other=text),
        Field("q2", text, free=True),
    )
    return Prompt(text, text, fields, {text: text}, text, (text, f"do {{{text}}}"))


def _action(text: str) -> dict[str, Any]:
    diff = f"--- a\n+++ b\n@@ -1,2 +1,2 @@ {text}\n-{text}\n+{text}\n {text}\n"
    return {
        "command": text,
        "argv": [text, text],
        text: text,
        "deep": [{text: [text, {"path": text, "diff": diff}]}, {"path": text, "text": diff}],
    }


def hostile_asks(text: str, number: int = 1) -> list[Ask]:
    """Return asks with a text wherever one can stand, and more than any store would let in."""
    names: dict[str, Any] = {"asker": f"agent:{text}", "run_id": text, "key": text, "opened_at": NOW}
    answer = Answer({"q1": (text,), "q2": (text,)}, text, f"human:{text}", text, Assurance.TOKEN, NOW)
    declined = Outcome(State.DECLINED, NOW, f"human:{text}", text, reason=text)
    anew = Outcome(State.SUPERSEDED, NOW, f"human:{text}", text, successor=AskId(text))
    plain = replace(_prompt(text), commands=())
    free = Prompt(
        f"Confirm (human) phase {text}: {text}. When=before. x", text, (Field("confirm", text, free=True),)
    )
    approval = approval_prompt(text, _action(text), body=text, risk=text)
    late: dict[str, Any] = {
        "deadline": NOW + timedelta(hours=9),
        "consequence": Consequence.ESCALATE,
        "escalate_to": f"human:{text}",
        "claim": Claim(f"human:{text}", NOW),
    }
    first = number * 10
    return [
        new_ask(first, text, prompt=plain, **names, **late),
        new_ask(first + 1, text, kind=Kind.GATE, prompt=_prompt(text), **names),
        new_ask(first + 2, text, kind=Kind.APPROVAL, prompt=approval, digest=text, **names),
        new_ask(first + 3, text, kind=Kind.CONFIRM, prompt=free, **names),
        new_ask(first + 4, text, kind=Kind.OPEN_QUESTION, prompt=plain, **names),
        new_ask(first + 5, text, prompt=plain, state=State.ANSWERED, answer=answer, **names),
        new_ask(first + 6, text, prompt=plain, state=State.DECLINED, outcome=declined, **names),
        new_ask(first + 7, text, prompt=plain, state=State.SUPERSEDED, outcome=anew, **names),
        new_ask(first + 8, text, prompt=plain, ask_id=AskId(text), **names),
    ]


def read_ask(text: str, number: int) -> Ask:
    """Return an approval with a text in each part, as a store would let it in; one that fills a screen is in one only."""
    few = text[:_FEW]
    action: dict[str, Any] = {
        "argv": [few, few],
        "command": text,
        "list": [few, 9007199254740993, False],
        "numbers": {"big": 18446744073709551615, "text": "true", "true": True},
        "value": few,
    }
    prompt = approval_prompt(f"T {few}", action, body=few, risk=few)
    return new_ask(number, "shop", kind=Kind.APPROVAL, prompt=prompt, asker="agent:coder", opened_at=NOW)


def hostile_runs(text: str) -> tuple[BoardRun, ...]:
    """Return runs with a text wherever one can stand."""
    frame = new_frame(id=text, model=text, branch=text, issue_id=text, filter=text, escalation_reason=text)
    run = new_run(frame, run_id=RunId(text), project=text, title=text, paused_by=f"human:{text}", note=text)
    ended = replace(run, reason=text, ended_at=NOW, ended_by=f"human:{text}", status=Status.ABORTED)
    return BoardRun(run, is_driven=True, waits=2), BoardRun(ended, is_driven=False)


def hostile_detail(text: str) -> RunDetail:
    """Return what a run was told and printed."""
    told = [
        {"type": "REQUEST", "request_id": text, "command": text, "payload": {text: text}},
        {"type": text, "request_id": text, "payload": text},
        {"type": "RESULT", "request_id": text, "payload": {"status": text, "message": text, "code": text}},
    ]
    messages = [
        Message(number, CONTROL_TOPIC, NOW, msgspec.Raw(msgspec.json.encode(body)), f"human:{text}")
        for number, body in enumerate(told)
    ]
    return RunDetail(tuple(messages), Tail(f"{text}\n{text}\r\n{text}", 0, 10, NOW))


def hostile_views(text: str) -> Iterator[View]:
    """Give a view of every card, of the list, of the runs and of one run."""
    asks = hostile_asks(text)
    reply = Reply(
        {"q1": FieldReply((text,), text, is_own=True), "confirm": FieldReply(("changes",), text)}, text
    )
    base = View(
        groups=order(asks),
        reply=reply,
        runs=hostile_runs(text),
        detail=hostile_detail(text),
        who=text,
        now=NOW,
        is_armed=True,
    )
    for ask in asks:
        fate = Fate.LOST if ask.answer else None
        fates = {ask.ask_id: fate} if fate else {}
        yield replace(base, current=ask.ask_id, mode=Mode.ASK, fates=fates)
    yield replace(base, current=asks[2].ask_id, mode=Mode.WHOLE, is_raw=True)
    yield replace(base, current=asks[0].ask_id, mode=Mode.LIST, words=text, troubles=(text,))
    yield replace(base, current=asks[1].ask_id, mode=Mode.ASK, problem=text)
    yield replace(base, mode=Mode.RUNS)
    yield replace(base, mode=Mode.RUN)
