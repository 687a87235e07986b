"""Driving a flow with a journal: its asks can be answered anywhere, and whoever drives it again goes on where it stopped.

Rule 1: what the journal holds is not done again. The flow runs from its start, on the inputs that it began with; each
        thing that it yields is compared with the entry at that step. Same digest: the kept result is sent in.
Rule 2: another digest stops the flow with `flow_diverged`. Nothing is guessed: replaying by place or by key alone
        gives an answer to the wrong question.
Rule 3: an ask goes by the key `<flow id>:<step>`, or by its name in place of the step, so that a crash before its end was noted finds the same ask.
Rule 4: an effect is noted before it is performed, and again when it is done. Found only noted, the world is looked at.
Rule 5: over a server, what another agent wrote into a journal is not believed: not its answers, nor its inputs, nor what
        it intends.
Rule 6: one driver at a time, as long as it lives. After a crash something may be said again; nothing else may happen
        twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, assert_never

from assent.client.calls import MAX_KEY, Calls
from assent.client.door import Call, until
from assent.client.drive import NOBODY_PERFORMS, Finished, advance
from assent.client.grip import Grip
from assent.client.journal import (
    Entry,
    Intended,
    Opened,
    Returned,
    Settled,
    decode_entry,
    end_of,
    make_step,
    read_back,
    render_opened,
    render_returned,
)
from assent.effects.performer import Performers, find_performer, intend, settle
from assent.flows.kind import FlowKind
from assent.flows.step import Answered, Ask, Effect, Ended, Failed, Result, Said, Say, Step, step_digest
from assent.hub.record import Step as JournalStep
from assent.protocol.ask import Ask as StoredAsk
from assent.protocol.error import BadRequestError, FlowDivergedError, KeyReusedError
from assent.protocol.principal import Role

__all__ = ["MAX_FLOW_ID", "Driver", "Hear", "Meet", "drive_durably", "result_of"]

MAX_FLOW_ID = MAX_KEY - 20
"""Its asks' keys have a step's number behind it."""

I = TypeVar("I")  # noqa: E741 - inputs
R = TypeVar("R")
E = TypeVar("E", bound=Entry)

Hear = Callable[[str], None]
"""Gets what the flow says, as Markdown."""
Meet = Callable[[StoredAsk], None]
"""Gets each ask that waits, and may stay until it has ended, here or elsewhere."""


def result_of(ask: StoredAsk) -> Answered | Ended:
    """Return what a flow receives for a stored ask that has ended."""
    if ask.answer is not None:
        return Answered(ask.answer.values, ask.answer.text, ask.answer.by)
    assert ask.outcome is not None  # noqa: S101 - it has ended, and not with an answer
    return Ended(ask.state, ask.outcome.reason, ask.outcome.by)


def drive_durably(  # noqa: PLR0913 - the public call
    calls: Calls,
    flow_id: str,
    kind: FlowKind[I, R],
    inputs: I,
    performers: Performers = NOBODY_PERFORMS,
    *,
    say: Hear | None = None,
    present: Meet | None = None,
    wait: float | None = None,
) -> Call[R]:
    """Drive the flow that goes by `flow_id`, from its start or from where it stopped; return what it returns.

    A flow that was begun goes on with the inputs that it began with, and one that is over just returns. `wait` limits
    the wait for each answer, in seconds; without it there is no limit.

    Raises:
        StillOpen: `wait` lapsed; the ask stays open and the flow can be driven again.
        FlowTakenError: somebody alive drives it.
        FlowDivergedError: it is not the flow that it was when it began.
    """
    return (yield from Driver(calls, flow_id, kind, performers, say, present, wait).run(inputs))


class Driver(Generic[I, R]):
    """Drives one flow, once."""

    def __init__(
        self,
        calls: Calls,
        flow_id: str,
        kind: FlowKind[I, R],
        performers: Performers,
        say: Hear | None,
        present: Meet | None,
        wait: float | None,
    ) -> None:
        if not 1 <= len(flow_id) <= MAX_FLOW_ID or not flow_id.isprintable():
            raise BadRequestError(
                f"A flow id has 1 to {MAX_FLOW_ID} characters, and none that cannot be seen."
            )
        self._calls = calls
        self._flow_id = flow_id
        self._kind = kind
        self._performers = performers
        self._say = say
        self._present = present
        self._wait = wait
        self._journal: dict[int, JournalStep] = {}
        self._grip: Grip

    def run(self, inputs: I) -> Call[R]:
        """Drive it to its end."""
        end = yield from self._look_up()
        if end is not None:
            yield from self._check_writers()
        else:
            self._grip = Grip((yield from until(self._calls.door.hold(self._calls.project, self._flow_id))))
            try:
                # Again: only now does nobody else write there.
                end = yield from self._look_up()
                yield from self._check_writers()
                end = end or (yield from self._play(inputs))
            finally:
                self._grip.leave()
        return read_back(end.value, self._kind.result, self._flow_id)

    def _look_up(self) -> Call[Returned | None]:
        """Read the journal; return the flow's end if it is over."""
        steps = yield from self._calls.steps(self._flow_id)
        self._journal = {step.step: step for step in steps}
        if not steps:
            return None
        first = decode_entry(steps[0], Opened)
        if (first.kind, first.version) != (self._kind.name, self._kind.version):
            raise FlowDivergedError(
                f"{self._flow_id} began as {first.kind} version {first.version}, "
                f"and this is {self._kind.name} version {self._kind.version}."
            )
        return end_of(steps)

    def _check_writers(self) -> Call[None]:
        """Refuse a journal that another agent has written in: its inputs, results and intentions would be done here."""
        who = yield from until(self._calls.door.who())
        if who is None:
            return  # on a file everybody can write whatever they like, and under any name
        for step in self._journal.values():
            if step.by not in ("", str(who)) and step.by.startswith(f"{Role.AGENT}:"):
                raise FlowDivergedError(f"{step.by} wrote in the journal of {self._flow_id}, and not {who}.")

    def _play(self, inputs: I) -> Call[Returned]:
        begun = self._journal.get(0)
        if begun is None:
            first = yield from self._write(0, render_opened(self._kind, inputs))
        else:
            first = decode_entry(begun, Opened)
        flow = self._kind.start(read_back(first.inputs, self._kind.inputs, self._flow_id))
        number, result = 0, None
        try:
            while True:
                step = advance(flow, result)
                number += 1
                if isinstance(step, Finished):
                    return (yield from self._finish(number, step.value))
                result = yield from self._step(number, step)
        finally:
            flow.close()

    def _finish(self, number: int, value: R) -> Call[Returned]:
        if number in self._journal:
            raise self._diverged(number)
        return (yield from self._write(number, render_returned(value)))

    def _step(self, number: int, step: Step) -> Call[Result]:
        yielded = step_digest(step)
        kept = self._journal.get(number)
        if kept is not None and kept.digest != yielded:
            raise self._diverged(number)
        if kept is not None and kept.state == "done":
            result = decode_entry(kept, Settled).result
            # An agent may write a journal, but how an ask ended is not its word: the ask itself has the last one.
            if isinstance(step, Ask) and result != (yield from self._ask(number, step)):
                raise self._diverged(number)
            return result
        result = yield from self._happen(number, step, yielded)
        return (yield from self._write(number, Settled(result), yielded)).result

    def _happen(self, number: int, step: Step, yielded: str) -> Call[Result]:
        match step:
            case Ask():
                return (yield from self._ask(number, step))
            case Say():
                if self._say is not None:
                    self._say(step.markdown)
                return Said()
            case Effect():
                return (yield from self._effect(number, step, yielded))
            case _:
                assert_never(step)

    def _ask(self, number: int, step: Ask) -> Call[Answered | Ended]:
        try:
            key = f"{self._flow_id}:{step.name or number}"
            ask = yield from self._calls.open(step.prompt, kind=step.kind, key=key)
        except KeyReusedError as reused:
            raise self._diverged(number) from reused
        if ask.kind is not step.kind:
            raise self._diverged(number)
        if ask.is_open:
            if self._present is not None:
                self._present(ask)
            ask = yield from self._calls.wait(ask.ask_id, self._wait)
        return result_of(ask)

    def _effect(self, number: int, effect: Effect, yielded: str) -> Call[Result]:
        performer = find_performer(self._performers, effect)
        kept = self._journal.get(number)
        if kept is not None:
            intention = decode_entry(kept, Intended).intention
        else:
            planned = yield from until(self._grip.work(lambda: intend(performer, effect)))
            if isinstance(planned, Failed):
                return planned
            intention = (yield from self._write(number, Intended(planned), yielded)).intention
        return (yield from until(self._grip.work(lambda: settle(performer, intention))))

    def _write(self, number: int, entry: E, yielded: str | None = None) -> Call[E]:
        """Keep an entry; return it as the journal gives it back."""
        self._grip.check()
        step = make_step(self._flow_id, number, entry, yielded)
        yield from self._calls.write_step(step)
        return decode_entry(step, type(entry))

    def _diverged(self, number: int) -> FlowDivergedError:
        return FlowDivergedError(
            f"At step {number}, {self._flow_id} wants something else than it did when it came there first."
        )
