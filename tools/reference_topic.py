"""The page of topics and messages. Its messages are not typed in: a hub on a still clock says them while it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from assent.client.client import Client
from assent.protocol.completion import SIGNALS
from assent.protocol.control import DEDUP_SECONDS, EXPIRY_SECONDS, Code, ControlMessage
from assent.protocol.run import DEFAULT_MAX, AbortReason, DoneReason, Frame, StateMessage
from assent.protocol.topic import CONTROL_TOPIC, CURRENT_TOPIC, Message, render_message
from assent.testing import FakeClock, throwaway
from tools.reference_json import rows
from tools.source import table

__all__ = ["render_topics"]

_NINE = datetime(2030, 1, 1, 9, 0, tzinfo=UTC)
_CODES: dict[Code, str] = {
    Code.NOT_FOUND: "There is no such run, or it has ended. No ACK",
    Code.INVALID_STATE: "The run cannot be steered that way now; [which way when](run-states.md#what-a-command-does). "
    "After an ACK",
    Code.DUPLICATE: "The id was used before; see [below](#again-and-too-late). No ACK",
    Code.BAD_REQUEST: "It is no REQUEST that anybody could execute; `message` says why. No ACK, and the id stays free",
}
_DONE: dict[DoneReason, str] = {
    DoneReason.COMPLETE: "The work is done: a completion signal, or a program that says so",
    DoneReason.MAX_ITERATIONS: "The limit was reached",
    DoneReason.NO_MORE_ISSUES: "A `grind` has nothing left to do",
    DoneReason.MAX_ISSUES: "A `grind` reached its limit",
    DoneReason.STUCK: "The agent says that it cannot get on",
}
_ABORT: dict[AbortReason, str] = {
    AbortReason.USER_CANCELLED: "Somebody cancelled it",
    AbortReason.ERROR: "It cannot go on: its command failed, its program raised, or an ask with `end-run` expired",
}
_PAYLOADS = [
    ("REQUEST `pause`, `resume`, `cancel`", "`{}`"),
    ("REQUEST `escalate`", "`model` (string), and `reason` (string) where there is one"),
    ("ACK", "`{}`"),
    (
        "RESULT, success",
        '`"status": "success"`; for `pause` and `resume` a `message`, for `escalate` `previous_model`, `new_model`',
    ),
    ("RESULT, failure", '`"status": "failure"`, `code`, `message`'),
]


class _Talk:
    """Everything that two short runs and their people said."""

    def __init__(self) -> None:
        clock = FakeClock(_NINE)
        with throwaway(clock=clock) as store:
            agent, ana = store.agent(), store.person()
            self._drive(agent, ana, clock)
            self.control = [json.loads(render_message(message)) for message in ana.read(CONTROL_TOPIC)]
            self.current = [json.loads(render_message(message)) for message in ana.read(CURRENT_TOPIC)]

    @staticmethod
    def _drive(agent: Client, ana: Client, clock: FakeClock) -> None:
        with agent.run("issue", run_id="night", issue_id="auth-123", model="haiku", max=10) as run:
            for turn in run:
                clock.advance(60)
                if turn.number == 4:
                    break
            ana.control("night", "pause", issue_id="auth-123", request_id="req-pause-1")
            clock.advance(timedelta(minutes=5))
            ana.control("night", "resume", request_id="req-resume-1")
            ana.control(
                "night", "escalate", model="opus", reason="Stuck on types", request_id="req-escalate-1"
            )
            ana.control("night", "resume", request_id="req-resume-2")
            clock.advance(60)
            ana.control("night", "cancel", request_id="req-cancel-1")
            ana.control("night", "pause", request_id="req-pause-2")
        with agent.run("grind", run_id="morning", max=2) as run:
            run.finish("NO_MORE_ISSUES")

    def about(self, request_id: str) -> list[object]:
        """Return the bodies on `loop:control` for one request."""
        return [told["body"] for told in self.control if told["body"]["request_id"] == request_id]

    def result(self, request_id: str) -> object:
        """Return a request's RESULT."""
        return self.about(request_id)[-1]

    def states(self, **wanted: object) -> list[object]:
        """Return the bodies on `loop:current` that have these fields."""
        bodies = [told["body"] for told in self.current]
        return [body for body in bodies if all(body.get(name) == value for name, value in wanted.items())]


def _json(*bodies: object) -> str:
    return "```json\n" + "\n".join(json.dumps(body, ensure_ascii=False) for body in bodies) + "\n```\n"


def _enumerate(notes: Mapping[str, str]) -> str:
    return table(("reason", "meaning"), [(f"`{name}`", note) for name, note in notes.items()])


def render_topics() -> str:
    """Return the page."""
    talk = _Talk()
    head = ("field", "type", "meaning")
    escalated = next(body for body in talk.states(event="STATE") if "escalation_reason" in str(body))
    signals = [
        (f"`{signal}`", ", ".join(f"`{mode}`" for mode in modes), f"`{next(iter(modes.values()))}`")
        for signal, modes in SIGNALS.items()
    ]
    limits = ", ".join(f"{limit} for `{mode}`" for mode, limit in DEFAULT_MAX.items())
    parts = [
        _HEAD,
        table(head, [row for row in rows(Message) if row[0] != "`by`"]),  # not printed
        _json(talk.control[1]),
        _TOPICS,
        _CONTROL,
        table(head, rows(ControlMessage)),
        "What `payload` holds:\n",
        table(("message", "payload"), _PAYLOADS),
        "A pause, from REQUEST to RESULT:\n",
        _json(*talk.about("req-pause-1")),
        "The RESULT of an escalation, of a cancellation, and of a resume that was not possible:\n",
        _json(*(talk.result(name) for name in ("req-escalate-1", "req-cancel-1", "req-resume-2"))),
        "A pause that came after the end:\n",
        _json(*talk.about("req-pause-2")),
        "### Codes\n\nThere are no others, and no other status than `success` and `failure`.\n",
        table(("code", "when"), [(f"`{code}`", note) for code, note in _CODES.items()]),
        _MALFORMED,
        _AGAIN,
        _CURRENT,
        table(head, rows(StateMessage)),
        "Running, paused, and escalated:\n",
        _json(talk.states(event="STATE", run_id="night")[1], talk.states(status="paused")[0], escalated),
        "The last message of one run, and of another:\n",
        _json(talk.states(event="ABORT")[0], talk.states(event="DONE")[0]),
        "### Why a run is done\n",
        _enumerate({reason.value: note for reason, note in _DONE.items()}),
        "### Why a run was aborted\n",
        _enumerate({reason.value: note for reason, note in _ABORT.items()}),
        _FRAME.format(limits=limits),
        table(head, rows(Frame)),
        _SIGNALS,
        table(("a line of standard output", "in a loop of mode", "means"), signals),
        _SIGNALS_MORE,
    ]
    return "\n".join(parts)


_HEAD = """\
# Topics and messages

A topic is a named part of a project's log. It needs no creation: whoever posts first makes it. Programs in any language
can take part through two commands, and Python has `client.post`, `client.read` and `client.follow_topic`.

```sh
assent post project:shop '{"note": "the demo is on Friday"}'
assent read project:shop
assent read loop:current --after 120 --follow
```

## A message

`assent read` prints one object a line, oldest first, from the topic's first message or after the number that `--after`
gives. `--follow` goes on with new ones as they come. Keep the last `sequence` that you have seen, and nothing is missed
and nothing read twice.
"""

_TOPICS = f"""\
| topic | who posts | what |
| --- | --- | --- |
| `{CONTROL_TOPIC}` | people post REQUESTs; Assent itself posts ACK and RESULT | commands to runs and what came of them |
| `{CURRENT_TOPIC}` | runs only | what runs say of themselves |
| `execute:<task>` | Assent itself posts answers; people and agents | the chat of a task: objects with a `text`. What a person said last is told to the next run of its agent |
| any other | people and agents | whatever JSON you like |

An agent that posts on `{CONTROL_TOPIC}` is refused with exit status 4: one that could resume its own run would not be
paused. `assent pause`, `resume`, `cancel` and `escalate` post the REQUEST for you.
"""

_CONTROL = f"""\
## Commands and what came of them

The topic is `{CONTROL_TOPIC}`, `schema` is 0. A REQUEST is acknowledged and executed before `assent post` returns, by the
process that posts it; the loop is bound by what is recorded then, and is never asked. All fields are required. Fields
that are not listed are ignored.
"""

_MALFORMED = """\
A REQUEST is malformed when it is no JSON object, a field is missing or of the wrong type, `schema` is not 0, the command
is not known, `timestamp` is no moment in UTC, `escalate` names no model, or the run declared its models and this is none
of them. The RESULT repeats what could be read and has `""` for the rest. Without a `request_id` nobody could be answered:
nothing is posted, `assent post` ends with exit status 2, and the log has it as `control.malformed`.
"""

_AGAIN = f"""\
### Again, and too late

A request is executed at most once, ever, also after restarts. Send it again under its `request_id` as often as you like:

| the id | what comes |
| --- | --- |
| was never seen | it is processed |
| has a RESULT, not yet {DEDUP_SECONDS // 60} minutes old, for the same command, target and payload | the same RESULT again, with a new `timestamp`; nothing is executed |
| was acknowledged, and has no RESULT yet | RESULT failure `duplicate`: it is still pending, wait for the real one |
| has an older RESULT, or one for another command, target or payload | RESULT failure `duplicate`, `Request ID was already processed` |
| expired | as if it had never been seen |

A REQUEST expires when nobody took it up within {EXPIRY_SECONDS} seconds. That is measured by the store's clock from the
moment at which it was posted, and never by its own `timestamp`. It is then never executed, gets no reply, and the log has
it as `control.expired`. Through the commands and the client this hardly happens, since whoever posts takes it up; a
command that could not reach the store in time says so and ends with exit status 5. Through a server it is the same:
[in time, or not at all](wire-format.md#in-time-or-not-at-all).
"""

_CURRENT = f"""\
## What runs say

The topic is `{CURRENT_TOPIC}`, `schema` is 1. Runs of a project share it: what a run is now is the last message with its
`run_id`. The state event that a command causes has a higher number than its RESULT. `status` is left out while a run is
running; so is every other field that has nothing to say.
"""

_FRAME = """\
### A frame

One loop of the stack. Without a `--max` the limit is {limits}. A field that is not known is left out.
"""

_SIGNALS = """\
## Completion signals

How the command of `assent loop` says that its loop is over.
"""

_SIGNALS_MORE = """\
A signal stands alone on a line that is not indented. Only standard output counts, the last signal wins, and it counts when
the iteration is over. That of a command which failed counts only with `--keep-going`. In a loop inside a loop it ends the
inner one.
"""
