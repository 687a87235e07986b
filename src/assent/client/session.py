"""Review sessions from Python: people answer from anywhere, and the call returns when they came to an end.

A function that takes a client, and not its method: who only asks a question does not pay for loading it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from assent.client.async_client import awaiting
from assent.client.calls import Calls
from assent.client.client import blocking
from assent.client.door import Call, until
from assent.client.named import named
from assent.client.place import find_root
from assent.client.stored import Count, drive_stored
from assent.effects.deep_dive import Dive, deep_dive_performers
from assent.effects.direct import Direct
from assent.effects.github.find import posting_performers
from assent.effects.kept import STATE, Kept, kept_performers
from assent.effects.performer import Performers
from assent.flows.session.effect import Discover
from assent.flows.session.finding import Session
from assent.flows.session.session import review_session
from assent.flows.session.state import parse_state
from assent.flows.session.talk import Closing, Opening
from assent.protocol.error import BadRequestError, NotFoundError
from assent.protocol.review import Review, parse_review

__all__ = ["hold_session", "hold_session_async"]


def _session(
    calls: Calls,
    review: Review | Mapping[str, Any],
    *,
    resume: bool = False,
    deep_dive: Dive | None = None,
    folder: str | os.PathLike[str] | None = None,
    say: Callable[[str], None] | None = None,
    wait: float | None = None,
) -> Call[Closing]:
    """Go through a code review with people, who answer from anywhere; return what came of it.

    `review` is what `assent session` reads as FINDINGS.json. `deep_dive` gets the label of an action and a finding, and
    returns what is shown. What is marked is posted to GitHub, with GH_TOKEN or through `gh`.

    Raises:
        BadRequestError: it is no review.
        NotFoundError: there is no saved session to `resume`.
        StillOpen: `wait` lapsed; the gate stays open, and the session can be resumed.
        FlowTakenError: another process goes through a session of this project.
    """
    try:
        whole = parse_review(msgspec.json.encode(review))
    except (TypeError, UnicodeEncodeError) as error:
        raise BadRequestError(f"The review cannot be written as JSON: {error}.") from None
    place = Path(folder) if folder is not None else find_root(Path.cwd()) / ".assent"
    saved = _saved(place) if resume else None
    started = calls.door.now().isoformat()
    opening = Opening(started, whole, saved, is_resuming=saved is not None, is_headless=True)
    count = Count(saved.asked if saved else 0)

    def discover(_: Discover) -> str | None:
        return whole.visual.summary if whole.visual else None

    performers: Performers = {
        **kept_performers(place, calls.door.now, lambda: count.asked),
        **deep_dive_performers(deep_dive),
        Discover: Direct(Discover, discover),
        **posting_performers(os.environ),
    }
    name = f"session:{(saved or whole).pull_request}:{saved.started if saved else started}"
    # Two that go on from the same answer would do everything twice, and post it twice.
    hold = yield from until(calls.door.hold(calls.project, "session"))
    try:
        flow = review_session(opening)
        return (yield from drive_stored(calls, flow, performers, name=name, count=count, say=say, wait=wait))
    finally:
        hold.release()


def _saved(folder: Path) -> Session:
    document = Kept(folder).read(STATE)
    if document.digest is None:
        raise NotFoundError("There is no saved session to resume.")
    return parse_state(document.content)


hold_session = named(blocking(_session), "hold_session")
hold_session_async = named(awaiting(_session), "hold_session_async")
