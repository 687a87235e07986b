"""The conversation of a code review, from its first gate to its end.

    overview -> Phase Gate -> Visual Discovery -> Chunk Plan -> Chunk Loop ... -> Synthesis -> posted, saved, discarded
                                                                  | ^
                                                                  v |
                                                               Deep-dive

Every way from one phase to the next goes through a gate that a person answered.
"""

from __future__ import annotations

from assent.flows.session.closing import post_only, synthesis
from assent.flows.session.finding import Phase
from assent.flows.session.loop import chunk_loop
from assent.flows.session.opening import chunk_plan, find_session, phase_gate, visual_discovery
from assent.flows.session.talk import Closing, Left, Opening, Talk
from assent.flows.step import Flow

__all__ = ["review_session"]

_BEFORE = {
    Phase.OVERVIEW: phase_gate,
    Phase.VISUAL: visual_discovery,
    Phase.PLAN: chunk_plan,
}
"""What leads on from each phase; a resumed session begins at its own."""


def review_session(opening: Opening) -> Flow[Closing]:
    """Go through a review with a person; return what came of it."""
    talk = Talk(opening)
    try:
        if opening.is_post_only:
            return (yield from post_only(talk))
        yield from find_session(talk)
        while talk.session.phase is not Phase.REVIEW:
            yield from _BEFORE[talk.session.phase](talk)
        yield from chunk_loop(talk)
        return (yield from synthesis(talk))
    except Left as left:
        return left.closing
