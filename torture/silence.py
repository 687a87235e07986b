"""Silence is never a yes: no way of saying nothing answers an ask, and no typo chooses an option."""

from __future__ import annotations

import random

import msgspec

from assent.protocol.error import AssentError
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.reply import recognise
from torture.look import Look, look
from torture.nest import Nest
from torture.nursery import Wire
from torture.silence_roles import KINDS, Silence
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "fuzzer", "run"]

ASKS = 1_000
REPLIES = 10_000


def run(plan: Plan) -> Verdict:
    """Say nothing to every ask, then type nonsense at prompts of every shape."""
    tally = Tally(
        (
            "silences taken for answers",
            "wrong outcomes",
            "told otherwise",
            "options not typed",
            "audit problems",
        )
    )
    asks = plan.count(ASKS, 2 * len(KINDS))
    silences: list[Silence] = []
    with Nest(plan.twin, in_memory=True) as nest:
        workers = [nest.start("torture.silence_roles:mute", store=str(nest.store)) for _ in range(2)]
        names = list(KINDS)
        for number in range(0, asks, len(workers)):
            for place, worker in enumerate(workers):
                worker.say(kind=names[(number + place) % len(names)])
            silences += [msgspec.convert(worker.hear()["silence"], Silence) for worker in workers]
            if number % 250 < len(workers) <= number:
                plan.progress(f"{number} of {asks} asks")
        found = look(nest)
        fuzzer = nest.start("torture.silence:fuzzer", seed=plan.seed, count=plan.count(REPLIES, 1_000))
        heard = fuzzer.hear(300)
    _compare(tally, silences, found)
    tally.add("replies tried", heard["tried"])
    tally.add("recognised", heard["recognised"])
    for detail in heard["wrong"]:
        tally.fault("options not typed", detail)
    tally.require("asks", asks)
    tally.require("replies tried", plan.count(REPLIES, 1_000))
    tally.require("recognised", plan.count(REPLIES, 1_000) // 20)
    tally.require("kinds of silence", len(KINDS))
    return tally.verdict()


def _compare(tally: Tally, silences: list[Silence], found: Look) -> None:
    rows = {row.key: row for row in found.rows.values()}
    tally.add("kinds of silence", len({silence.kind for silence in silences}))
    for silence in silences:
        tally.add("asks")
        row = rows.get(silence.key)
        state = row.state if row else "missing"
        tally.add(f"now {state}")
        tally.check(state != "answered", "silences taken for answers", silence)
        tally.check(state in (silence.state, "answered"), "wrong outcomes", (silence, state))
        tally.check(silence.told in silence.expected, "told otherwise", silence)
    for events in found.events.values():
        for event in events:
            tally.check(event.type != "ask.answered", "silences taken for answers", event)
    for problem in found.problems:
        tally.fault("audit problems", problem)


# Nonsense at prompts. What counts as typed is written down here once more, in other words than the product's.

_LABELS = ("Delete it", "Keep it", "Ask again tomorrow", "Ship 2 copies", "Größe XL", "はい", "Pause & save")
_NOISE = "aAbBcC123.,) (:;-_?!\u200b\u00a0\t\n０１ⅠαА✓"


def _spelled(text: str) -> str:
    return " ".join(text.split()).casefold()


def _spellings(options: tuple[Option, ...], place: int) -> set[str]:
    """Return every text that types the option at `place`."""
    option = options[place]
    letter, number = "abcdefghijklmnopqrstuvwxyz"[place], str(place + 1)
    names = {_spelled(option.label), _spelled(option.key)}
    marks = {mark + close for mark in (letter, number) for close in ("", ".", ")")}
    shown = {
        f"{mark}{close} {name}" for mark in (letter, number) for close in (")", ".", ":") for name in names
    }
    shown |= {f"{mark}){name}" for mark in (letter, number) for name in names}
    return names | marks | shown


def _is_typed(field: Field, key: str, part: str) -> bool:
    keys = [option.key for option in field.options]
    spellings = _spellings(field.options, keys.index(key))
    words = _spelled(part)
    mine = chr(ord("a") + len(keys))
    if field.free:
        # "D) Keep it", where D stands for words of one's own, types the option by its label.
        for mark in (mine, str(len(keys) + 1)):
            for close in (") ", ")", ". ", ": "):
                words = words.removeprefix(mark + close)
    return words in spellings


def _wrong(field: Field, reply: str, values: tuple[str, ...]) -> bool:
    keys = {option.key for option in field.options}
    parts = reply.split(",") if field.multiple else [reply]
    for value in values:
        if value in keys and not any(_is_typed(field, value, part) for part in [*parts, reply]):
            return True
        if value not in keys and not (field.free and value.strip() and value in reply):
            return True
    return False


def _make_field(chance: random.Random) -> Field:
    labels = chance.sample(_LABELS, chance.randint(2, 5))
    options = tuple(Option(chance.choice((label, f"key {label}")), label) for label in labels)
    return Field("q1", "", options, multiple=chance.random() < 0.3, free=chance.random() < 0.3)


def _make_reply(field: Field, chance: random.Random) -> str:
    option = chance.choice(field.options)
    piece = chance.choice((option.label, option.key, chance.choice("ABCDEFxyz0123456789")))
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        at = chance.randrange(len(piece) + 1)
        cut = chance.randint(0, 3)
        noise = "".join(chance.choices(_NOISE, k=chance.randint(0, 2)))
        piece = piece[:at] + noise + piece[at + cut :]
    if chance.random() < 0.2:
        piece = f"{piece}, {chance.choice(field.options).label[: chance.randint(1, 12)]}"
    return chance.choice((piece, piece.upper(), f"  {piece} ", piece.replace(" ", "  ")))


def fuzzer(wire: Wire, seed: int, count: int) -> None:
    """Type `count` replies at prompts of all shapes; tell which ones chose what was not typed."""
    chance = random.Random(seed)
    recognised, wrong = 0, []
    for _ in range(count):
        field = _make_field(chance)
        reply = _make_reply(field, chance)
        try:
            values = recognise(Prompt("Which?", "", (field,)), reply)["q1"]
        except AssentError:
            continue
        recognised += 1
        if _wrong(field, reply, values):
            wrong.append(f"{reply!r} chose {values} of {[option.label for option in field.options]}")
    wire.say(tried=count, recognised=recognised, wrong=wrong)


TRIAL = Trial(
    "silence",
    "closed terminal, end of input, empty or unknown reply, deadline, dead asker: never an answer",
    run,
    (
        Twin(
            "first-option-by-default",
            "an unrecognised reply chooses nothing",
            "silences taken for answers",
            0.04,
        ),
        Twin("first-option-by-default", "an unrecognised reply chooses nothing", "options not typed", 0.04),
        Twin("deadline-answers", "no consequence of a deadline answers", "silences taken for answers", 0.04),
    ),
)
