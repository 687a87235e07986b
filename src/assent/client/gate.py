"""Gates and review sessions from Python. A call returns when a person has answered, and not before.

Functions that take a client, and not its methods: who only asks a question does not pay for loading them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assent.client.async_client import awaiting
from assent.client.calls import Calls, ended_otherwise
from assent.client.client import blocking
from assent.client.door import Call
from assent.client.place import find_root
from assent.client.stored import Count, drive_stored
from assent.effects.deep_dive import Dive, deep_dive_performers
from assent.effects.direct import Direct
from assent.effects.kept import STATE, Kept, kept_performers
from assent.effects.performer import Performers
from assent.flows import gate as gate_flow
from assent.flows.gate import AddTodo
from assent.flows.session.effect import Discover
from assent.flows.session.finding import Session
from assent.flows.session.session import review_session
from assent.flows.session.state import parse_state
from assent.flows.session.talk import Closing, Opening
from assent.flows.step import Ended
from assent.protocol.canonical import convert
from assent.protocol.error import EffectError
from assent.protocol.gate import CONTEXTS, Choice, Context, Gate, find_context
from assent.protocol.review import Review, check_review

__all__ = ["hold_session", "hold_session_async", "pass_gate", "pass_gate_async"]


def _gate(  # noqa: PLR0913 - the public call: every part of a gate has a name
    calls: Calls,
    context: str | Context,
    summary: str,
    *,
    ids: Sequence[str] = (),
    chunks: int = 0,
    contexts: Mapping[str, Context] = CONTEXTS,
    key: str | None = None,
    keep: Callable[[str], None] | None = None,
    wait: float | None = None,
) -> Call[Choice]:
    """Stop at a gate until a person chose; return the choice, confirmed where that is needed.

    `ids` are the findings that commands may name, `chunks` the last number of a chunk. `keep` gets each task that
    is typed as `todo: …`; without it the project's own list does. With a `key`, whoever comes again finds what was chosen.

    Raises:
        NoAnswer: the gate ended without an answer.
        StillOpen: `wait` lapsed; the gate stays open.
    """
    found = context if isinstance(context, Context) else find_context(context, contexts)
    flow = gate_flow.pass_gate(Gate(found, summary, tuple(ids), chunks))
    performers: Performers = kept_performers(find_root(Path.cwd()) / ".assent", calls.door.now)
    if keep is not None:
        performers = {AddTodo: Direct(AddTodo, lambda effect: keep(effect.text))}
    chosen = yield from drive_stored(calls, flow, performers, name=key, wait=wait)
    if isinstance(chosen, Ended):
        raise ended_otherwise(chosen.state, chosen.reason)
    return chosen


def _session(  # noqa: PLR0913 - the public call
    calls: Calls,
    review: Review | Mapping[str, Any],
    *,
    resume: bool = False,
    deep_dive: Dive | None = None,
    performers: Performers | None = None,
    folder: str | os.PathLike[str] | None = None,
    say: Callable[[str], None] | None = None,
    wait: float | None = None,
) -> Call[Closing]:
    """Go through a code review with people, who answer from anywhere; return what came of it.

    `review` is what `assent session` reads as FINDINGS.json. `deep_dive` gets the label of an action and a finding, and
    returns what is shown. `performers` does what is not done here: posting, above all.
    """
    whole = review if isinstance(review, Review) else convert(review, Review)
    check_review(whole)
    place = Path(folder) if folder is not None else find_root(Path.cwd()) / ".assent"
    saved = _saved(place) if resume else None
    started = calls.door.now().isoformat()
    opening = Opening(started, whole, saved, is_resuming=saved is not None, is_headless=True)
    count = Count(saved.asked if saved else 0)

    def discover(_: Discover) -> str | None:
        return whole.visual.summary if whole.visual else None

    does: dict[Any, Any] = {
        **kept_performers(place, calls.door.now, lambda: count.asked),
        **deep_dive_performers(deep_dive),
        Discover: Direct(Discover, discover),
        **(performers or {}),
    }
    name = f"session:{whole.pull_request}:{saved.started if saved else started}"
    return (
        yield from drive_stored(
            calls, review_session(opening), does, name=name, count=count, say=say, wait=wait
        )
    )


def _saved(folder: Path) -> Session:
    document = Kept(folder).read(STATE)
    if document.digest is None:
        raise EffectError("There is no saved session to resume.")
    return parse_state(document.content)


pass_gate = blocking(_gate)
pass_gate_async = awaiting(_gate)
hold_session = blocking(_session)
hold_session_async = awaiting(_session)
