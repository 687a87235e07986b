"""A person who replies anything that is recognised, in any order, and is cut off now and then: what never happens."""

import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.flows.session.effect import SaveSession
from assent.flows.session.finding import ChunkStatus
from assent.flows.session.posting import PostReview
from assent.flows.session.talk import Closing, How, Opening
from assent.flows.step import Ask, Ended
from assent.protocol.command import parse_command
from assent.protocol.error import StillOpen
from assent.protocol.gate import CONTEXTS
from assent.protocol.prompt import Prompt
from assent.protocol.reply import recognise
from tests.chance import examples
from tests.flows.session.seat import PULL, REVIEW, STARTED, VISUAL, Seat, opening

__all__: list[str] = []

STEPS, LEGS = 200, 4
POSTING = ("post all marked", "post only action required")
BESIDE = ("Deep-dive",)
"""A gate that a session is not resumed at: its finding's chunk, or the synthesis, is."""
_boxes = re.compile(r"^- \[(?P<mark>[x ])\] (?P<id>[HML][0-9]+) +(?P<title>.*)$", re.MULTILINE).finditer


def replies_to(prompt: Prompt, chance: random.Random) -> Iterator[str]:
    """Yield replies that a prompt recognises: each option, and each command with something to name."""
    for number, option in enumerate(prompt.fields[0].options, start=1):
        yield option.label
        yield str(number)
    for spec in prompt.commands:
        command = parse_command(spec)
        if command.is_list and command.values:
            count = chance.randint(1, len(command.values)) if command.is_plural else 1
            yield f"{command.head} {', '.join(chance.sample(command.values, count))}".strip()
        elif command.name == "text":
            yield f"{command.head}: task {chance.randint(1, 3)}"
        elif not command.name:
            yield command.head
        elif command.name == "reply":
            yield chance.choice(["perhaps", ""])


class Walker(Seat):
    """Somebody at a session who never stops choosing, and who watches what it does."""

    def __init__(self, chance: random.Random, steps: int) -> None:
        super().__init__()
        self.chance = chance
        self.steps = steps
        self.chose: list[tuple[str, str]] = []
        self.marked: set[str] = set()
        self.named: dict[str, str] = {}
        self.is_kept = True
        self.lags = False
        """In the quick mode, what is saved is still the gate before it."""

    def present(self, ask: Ask) -> None:
        super().present(ask)
        for box in _boxes(ask.prompt.body):
            assert self.named.setdefault(box["id"], box["title"]) == box["title"], "an id was used again"
        if ask.prompt.title in ("Synthesis", "Post-only"):
            self.marked = {box["id"] for box in _boxes(ask.prompt.body) if box["mark"] == "x"}
        if self.state is not None and not self.lags:
            busy = [part for part in self.session.parts if part.status is ChunkStatus.IN_PROGRESS]
            assert len(busy) <= 1
            assert (ask.prompt.title == "Chunk Loop") <= (len(busy) == 1)

    def read(self) -> str | Ended | None:
        if self.steps == 0:
            return None
        self.steps -= 1
        prompt = self.asks[-1].prompt
        reply = self.chance.choice(list(replies_to(prompt, self.chance)))
        values = recognise(prompt, reply)  # it must be: an echo would hide that nothing was tried
        ((chosen,),) = values.values()
        self.chose.append((prompt.title, chosen.casefold()))
        self.lags |= chosen == "Quick mode" and not self.is_kept
        self.replies = [reply]
        return super().read()

    def _save(self, effect: SaveSession) -> None:
        super()._save(effect)
        self.lags = False

    def _post(self, effect: PostReview) -> object:  # type: ignore[override]  # JSON, as far as the driver sees
        ids = {each.finding_id for each in effect.comments} | {each.finding_id for each in effect.replies}
        assert ids <= self.marked, "something was posted that was not marked"
        gates = [(gate, chosen) for gate, chosen in self.chose if gate in ("Synthesis", "Post-only")]
        assert gates[-1][1] in POSTING, "something was posted that nobody chose to post"
        since = self.chose[self.chose.index(gates[-1]) :][-1]
        assert since == gates[-1] or since[1] in ("y", "yes"), "an open task was not asked about"
        return super()._post(effect)

    def resumed_at(self) -> str:
        """Return the gate that a resumed session would stand at."""
        if self.lags:
            return "Phase Gate"  # from where the replies, which the store has, lead on again
        main = [gate for gate in self.gates if gate in CONTEXTS and gate not in BESIDE]
        return main[-1]


@examples(150)
@given(
    st.integers(0, 2**32),
    st.sampled_from([REVIEW, VISUAL]),
    st.booleans(),
    st.booleans(),
)
def test_whatever_is_replied_nothing_happens_that_nobody_chose(
    seed: int, review: object, is_headless: bool, is_post_only: bool
) -> None:
    """And whenever it is cut off, what was saved last resumes at the gate that stood open."""
    chance = random.Random(seed)
    walker = Walker(chance, 0)
    start = opening(review, is_headless=is_headless, is_post_only=is_post_only)  # type: ignore[arg-type]
    closing: Closing | None = None
    gate = ""
    for _ in range(LEGS):
        walker.steps = chance.randint(1, STEPS // LEGS)
        walker._is_waiting = False
        walker.is_kept = start.is_headless or start.is_resuming
        begun = len(walker.gates)
        try:
            closing = walker.drive(start)
        except StillOpen:
            closing = None
        if gate and not is_post_only:
            assert walker.gates[begun] == gate
        if (closing is not None and closing.how is not How.PAUSED) or walker.state is None:
            break
        gate = walker.resumed_at()
        if walker.lags:
            # Here nobody has the replies that the store would have, so the ids are given anew.
            walker.named, walker.lags = {}, False
        start = Opening(STARTED, None, walker.session, is_resuming=True, is_headless=is_headless)
    if closing is not None and closing.how in (How.POSTED, How.DISCARDED):
        assert walker.state is None
    assert len(walker.posted) == (closing is not None and closing.how is How.POSTED)


def test_walker_sees_a_gate_that_opens_while_another_is_open() -> None:
    """Twin: the watch above can fail."""
    walker = Walker(random.Random(1), 0)
    with pytest.raises(StillOpen):
        walker.drive(opening())
    with pytest.raises(AssertionError, match="a second gate"):
        walker.present(walker.asks[-1])


def test_walker_sees_something_posted_that_nobody_chose() -> None:
    """Twin of the walk's invariants on posting."""
    walker = Walker(random.Random(1), 0)
    walker.chose = [("Synthesis", "save locally")]
    with pytest.raises(AssertionError, match="nobody chose to post"):
        walker._post(PostReview(PULL, "COMMENT", "", (), (), "x"))  # type: ignore[arg-type]
