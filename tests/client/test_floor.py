"""The stop rule, attacked: while a gate is open nobody says, does or asks anything, whoever tries and however.

That no deadline of a gate in a store decides anything is proved by `tests/engine/test_ask.py`
(`test_no_consequence_of_a_deadline_is_an_answer`, `test_consequence_is_checked_against_the_kind`).
"""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from assent.client.drive import Floor, drive, drive_on
from assent.effects.performer import Intention, Performers, World
from assent.flows.gate import pass_gate
from assent.flows.step import Answered, Ask, Effect, Ended, Flow, ask, do, say
from assent.protocol.ask import Kind, State
from assent.protocol.error import AssentError, BadPromptError, GateOpenError, StillOpen
from assent.protocol.gate import CONTEXTS, Choice, Gate, check_question
from assent.protocol.prompt import Prompt, question
from assent.testing import FakeClock, throwaway
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

GATE = Gate(CONTEXTS["Phase Gate"], "Twelve files.")
ASK = Ask(GATE.prompt, Kind.GATE)


class Fetch(Effect, frozen=True, tag="test_fetch"):
    """Get something from somewhere."""

    what: str = "x"


class Fetcher:
    """Fetches, and calls a hook on the way."""

    def __init__(
        self,
        seen: list[str],
        *,
        on_intend: Callable[[], object] = list,
        on_perform: Callable[[], object] = list,
    ) -> None:
        self.seen = seen
        self.on_intend, self.on_perform = on_intend, on_perform

    def intend(self, effect: Fetch) -> Intention:
        self.seen.append(f"looked for {effect.what}")
        self.on_intend()
        return Intention(effect.what)

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - the world is always as before
        return World.BEFORE

    def perform(self, intention: Intention) -> None:
        self.seen.append(f"fetched {intention.path}")
        self.on_perform()


class Stage:
    """A surface that keeps what happened in order; `attacks` are made while it waits for a reply."""

    def __init__(self, *replies: str | Answered | Ended | None) -> None:
        self.seen: list[str] = []
        self.replies = list(replies)
        self.attacks: list[Callable[[], object]] = []

    def present(self, ask: Ask) -> None:
        self.seen.append(f"gate {ask.prompt.title}")

    def read(self) -> str | Answered | Ended | None:
        for attack in self.attacks:
            attack()
        reply = self.replies.pop(0) if self.replies else None
        self.seen.append("reply" if reply is not None else "no reply")
        return reply

    def echo(self, ask: Ask, refusal: AssentError) -> None:  # noqa: ARG002 - the gate is always the same
        self.seen.append("echo")

    def say(self, markdown: str) -> None:
        self.seen.append(f"say {markdown}")


def on_a_thread(act: Callable[[], object]) -> list[BaseException]:
    """Do something on a thread of its own, to its end; return what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001 - it is looked at by the test
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it waits, and was to be refused"
    return raised


def talk() -> Flow[str]:
    yield from say("hello")
    return "talked"


def attempts(floor: Floor) -> dict[str, Callable[[], object]]:
    """Every way to get at the person or the world."""
    return {
        "say": lambda: floor.say("one more thing"),
        "perform": lambda: floor.perform(Fetch()),
        "ask": lambda: floor.ask(ASK),
        "check": lambda: floor.ask(Ask(check_question("Sure? [y/n]"), Kind.GATE)),
        "drive a flow that talks": lambda: drive_on(floor, talk()),
        "drive another gate": lambda: drive_on(floor, pass_gate(GATE)),
    }


def set_up(*replies: str | Answered | Ended | None) -> tuple[Stage, Floor]:
    stage = Stage(*replies)
    performers: Performers = {Fetch: Fetcher(stage.seen)}
    return stage, Floor(stage, performers)


WAYS = list(attempts(set_up()[1]))


# While a gate is open


@proves("G11", "G14", "G15")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_on_a_thread", [True, False], ids=["another thread", "the same thread"])
def test_everything_is_refused_while_a_gate_is_open(way: str, is_on_a_thread: bool) -> None:
    """G15: any emit or fetch before a reply arrives is refused, and leaves no trace; the gate goes on."""
    stage, floor = set_up("nonsense", "1")
    attempt = attempts(floor)[way]
    refusals: list[BaseException] = []

    def attack() -> None:
        assert floor.is_open
        if is_on_a_thread:
            refusals.extend(on_a_thread(attempt))
        else:
            with pytest.raises(GateOpenError) as caught:
                attempt()
            refusals.append(caught.value)

    stage.attacks = [attack]
    assert drive_on(floor, pass_gate(GATE)) == Choice("Proceed")
    assert stage.seen == ["gate Phase Gate", "reply", "echo", "reply"]
    assert [type(refusal) for refusal in refusals] == [GateOpenError] * 2


@proves("G27")
@pytest.mark.parametrize("way", WAYS)
def test_everything_is_refused_while_a_check_is_open(way: str) -> None:
    """G27: the [y/n] question is stopped at as well."""
    stage, floor = set_up("discard", "y")
    gate = Gate(CONTEXTS["Synthesis"], "Done.", ("H1",))
    refusals: list[BaseException] = []
    stage.attacks = [lambda: refusals.extend(on_a_thread(attempts(floor)[way]))]
    assert drive_on(floor, pass_gate(gate)) == Choice("discard")
    assert len(stage.seen) == 4
    assert [type(refusal) for refusal in refusals] == [GateOpenError] * 2


@pytest.mark.parametrize("way", WAYS)
def test_everything_is_allowed_before_and_after_a_gate(way: str) -> None:
    """Twin: the floor is not simply closed for good."""
    stage, floor = set_up("1", "1", "1")
    attempts(floor)[way]()
    drive_on(floor, pass_gate(GATE))
    count = len(stage.seen)
    assert not floor.is_open
    attempts(floor)[way]()
    assert len(stage.seen) > count


@proves("G15")
def test_thread_that_a_performer_left_behind_is_refused() -> None:
    """A callback starts something that goes on for itself: at the gate it gets nowhere."""
    stage = Stage("1")
    is_open, tried = threading.Event(), threading.Event()
    refusals: list[str] = []
    threads: list[threading.Thread] = []

    def linger() -> None:
        assert is_open.wait(PATIENCE)
        for attempt in attempts(floor).values():
            try:
                attempt()
            except GateOpenError as refusal:
                refusals.append(refusal.code)
        tried.set()

    def leave_behind() -> None:
        threads.append(threading.Thread(target=linger, daemon=True))
        threads[0].start()

    floor = Floor(stage, {Fetch: Fetcher(stage.seen, on_perform=leave_behind)})
    stage.attacks = [is_open.set, lambda: tried.wait(PATIENCE)]

    def flow() -> Flow[str]:
        yield from do(Fetch("diff"))
        yield from ask(GATE.prompt, Kind.GATE)
        yield from say("next phase")
        return "done"

    assert drive_on(floor, flow()) == "done"
    threads[0].join(PATIENCE)
    assert refusals == ["gate_open"] * len(WAYS)
    assert stage.seen == ["looked for diff", "fetched diff", "gate Phase Gate", "reply", "say next phase"]


@proves("G14")
def test_next_phase_is_not_shown_before_the_reply() -> None:
    """G14: what the flow says next comes after a person has spoken."""
    stage = Stage("1")

    def flow() -> Flow[None]:
        yield from ask(GATE.prompt, Kind.GATE)
        yield from say("chunk plan")

    drive(flow(), stage)
    assert stage.seen == ["gate Phase Gate", "reply", "say chunk plan"]


@proves("G15")
def test_words_that_were_begun_before_the_gate_end_before_it() -> None:
    """Nobody's words come between a gate and its reply, also when two threads are at it at once."""
    is_saying, is_shown = threading.Event(), threading.Event()

    class Slow(Stage):
        def say(self, markdown: str) -> None:
            is_saying.set()
            is_shown.wait(0.2)  # as long as a gate would need to come in between
            super().say(markdown)

        def present(self, ask: Ask) -> None:
            super().present(ask)
            is_shown.set()

    stage = Slow("1")
    floor = Floor(stage)
    speaker = threading.Thread(target=floor.say, args=("almost done",), daemon=True)
    speaker.start()
    assert is_saying.wait(PATIENCE)
    drive_on(floor, pass_gate(GATE))
    speaker.join(PATIENCE)
    assert stage.seen == ["say almost done", "gate Phase Gate", "reply"]


@proves("G15")
def test_effect_that_only_looked_before_the_gate_is_not_done_after_it() -> None:
    """Between looking and doing, another thread asked: nothing is done any more."""
    is_shown, may_reply = threading.Event(), threading.Event()

    class Waiting(Stage):
        def present(self, ask: Ask) -> None:
            super().present(ask)
            is_shown.set()

        def read(self) -> str | Answered | Ended | None:
            assert may_reply.wait(PATIENCE)
            return super().read()

    stage = Waiting("1")
    threads: list[threading.Thread] = []

    def ask_elsewhere() -> None:
        threads.append(threading.Thread(target=floor.ask, args=(ASK,), daemon=True))
        threads[0].start()
        assert is_shown.wait(PATIENCE)

    floor = Floor(stage, {Fetch: Fetcher(stage.seen, on_intend=ask_elsewhere)})
    with pytest.raises(GateOpenError):
        floor.perform(Fetch())
    may_reply.set()
    threads[0].join(PATIENCE)
    assert stage.seen == ["looked for x", "gate Phase Gate", "reply"]


# Flows that try it themselves


@proves("G11", "G15")
@pytest.mark.parametrize("step", ["say", "perform", "ask"])
def test_flow_that_goes_on_while_it_is_closed_gets_nowhere(step: str) -> None:
    """No reply came: what it yields on its way out is neither shown nor done."""
    stage, floor = set_up(None)

    def flow() -> Flow[None]:
        try:
            yield from ask(GATE.prompt, Kind.GATE)
        finally:
            match step:
                case "say":
                    yield from say("by the way")
                case "perform":
                    yield from do(Fetch())
                case _:
                    yield from ask(GATE.prompt, Kind.GATE)

    with pytest.raises(RuntimeError, match="GeneratorExit"):
        drive_on(floor, flow())
    assert stage.seen == ["gate Phase Gate", "no reply"]
    assert floor.is_open


@proves("G12")
def test_flow_that_catches_its_end_is_not_told_of_an_answer() -> None:
    """It may return what it likes; nobody takes it for a choice."""
    stage, floor = set_up(None)

    def flow() -> Flow[str]:
        try:
            yield from ask(GATE.prompt, Kind.GATE)
        except GeneratorExit:
            return "Proceed"
        return "never"

    with pytest.raises(StillOpen):
        drive_on(floor, flow())
    assert stage.seen == ["gate Phase Gate", "no reply"]


@proves("G12", "G15")
def test_flow_that_answers_itself_gets_nowhere() -> None:
    """A generator cannot be sent into while it runs."""
    stage, floor = set_up("1")
    itself: list[Flow[None]] = []

    def flow() -> Flow[None]:
        itself[0].send(Answered({"action": ("Proceed",)}))
        yield from say("went on")

    itself.append(flow())
    with pytest.raises(ValueError, match="already executing"):
        drive_on(floor, itself[0])
    assert stage.seen == []


@proves("G12", "G15")
def test_answer_that_a_thread_forges_makes_nothing_heard() -> None:
    """Whoever holds the generator can move it, but not make it speak; the person's reply then finds it elsewhere."""
    stage, floor = set_up("4")

    def flow() -> Flow[str]:
        yield from ask(GATE.prompt, Kind.GATE)
        yield from say("went on")
        yield from do(Fetch())
        return "done"

    played = flow()

    def forge() -> None:
        step = played.send(Answered({"action": ("Proceed",)}))
        floor.say(str(step))

    stage.attacks = [lambda: on_a_thread(forge)]
    with pytest.raises(TypeError):
        drive_on(floor, played)
    assert stage.seen == ["gate Phase Gate", "reply"]


def test_flow_driven_by_a_performer_plays_on_the_same_floor() -> None:
    """Twin: as long as nothing is open, a callback may ask and talk, too."""
    stage = Stage("1", "4")

    def ask_inside() -> None:
        assert drive_on(floor, pass_gate(GATE)) == Choice("Proceed")

    floor = Floor(stage, {Fetch: Fetcher(stage.seen, on_perform=ask_inside)})

    def flow() -> Flow[None]:
        yield from do(Fetch())
        yield from ask(GATE.prompt, Kind.GATE)

    drive_on(floor, flow())
    assert stage.seen == ["looked for x", "fetched x", *["gate Phase Gate", "reply"] * 2]


# Without a reply


@proves("G12", "G13", "G15")
@pytest.mark.parametrize("way", WAYS)
def test_floor_stays_the_persons_when_no_reply_comes(way: str) -> None:
    """End of input decides nothing and frees nothing."""
    stage, floor = set_up(None)
    with pytest.raises(StillOpen):
        drive_on(floor, pass_gate(GATE))
    assert floor.is_open
    with pytest.raises(GateOpenError):
        attempts(floor)[way]()
    assert stage.seen == ["gate Phase Gate", "no reply"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("place", ["present", "read"])
def test_floor_stays_the_persons_when_the_surface_breaks(
    error: type[BaseException], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C or a closed terminal is no answer; what was being shown may have been seen."""
    stage, floor = set_up("1")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(stage, place, fail)
    with pytest.raises(error):
        drive_on(floor, pass_gate(GATE))
    with pytest.raises(GateOpenError):
        floor.say("anyway")
    assert "say anyway" not in stage.seen


def test_ask_that_cannot_be_shown_opens_nothing() -> None:
    """It was refused before anybody saw it, so the floor is free."""
    stage, floor = set_up()
    with pytest.raises(BadPromptError):
        floor.ask(Ask(Prompt("?")))
    floor.say("sorry")
    assert stage.seen == ["say sorry"]


@proves("G13", "G20")
def test_thousand_tries_answer_nothing_and_open_nothing() -> None:
    """G13: nothing wears the gate out; it is read once for each reply and for nothing else."""
    stage, floor = set_up("2")
    refusals: list[BaseException] = []

    def tick() -> None:
        for _ in range(1_000):
            try:
                floor.say("tick")
            except GateOpenError as refusal:
                refusals.append(refusal)

    stage.attacks = [lambda: on_a_thread(tick)]
    assert drive_on(floor, pass_gate(GATE)) == Choice("Set focus")
    assert len(refusals) == 1_000
    assert stage.seen == ["gate Phase Gate", "reply"]


@proves("G13")
@pytest.mark.parametrize("deadline", [None, timedelta(minutes=5)], ids=["without", "with a deadline"])
def test_year_answers_no_gate_in_a_store(deadline: timedelta | None) -> None:
    """G13: a gate waits without limit; a deadline can only remind, and then a person still answers."""
    clock = FakeClock()
    with throwaway(clock=clock) as store:
        gate = store.agent().open(GATE.prompt, kind=Kind.GATE, deadline=deadline)
        opened = store.person().show(gate.ask_id)
        for _ in range(1_000):
            clock.advance(1)
        clock.advance(timedelta(days=365))
        waiting = store.person().show(gate.ask_id)
        assert (waiting.state, waiting.answer, waiting.outcome) == (State.OPEN, None, None)
        assert waiting.prompt == opened.prompt
        types = [record.type for record in store.person().log()]
        assert types == ["ask.opened"] + ["ask.overdue"] * (deadline is not None)
        assert store.person().answer(gate.ask_id, "2").answer is not None


def test_question_that_is_no_gate_holds_the_floor_as_well() -> None:
    """The rule is for whatever waits for a person."""
    stage, floor = set_up("b")
    stage.attacks = [lambda: on_a_thread(lambda: floor.say("psst"))]
    came = floor.ask(Ask(question("Which?", ["red", "blue"])), "human:ana")
    assert came == Answered({"q1": ("blue",)}, "b", "human:ana")
    assert stage.seen == ["gate Which?", "reply"]
