"""Apply was picked, and there is no fix, or none that can be applied: a person says what is to happen (W49, W53-W60)."""

from __future__ import annotations

from assent.flows.step import Flow, say
from assent.flows.walk_through.defer import defer
from assent.flows.walk_through.menu import DEFER, SKIP, no_fix_prompt
from assent.flows.walk_through.walk import Walk, choose
from assent.protocol.decision import Decision, Verb
from assent.protocol.finding import Action, Finding

__all__ = ["ask_without_fix"]


def ask_without_fix(walk: Walk, finding: Finding) -> Flow[Action | None]:
    """Decide the finding; return what its dependents may follow: Defer or Skip, nothing where it is acknowledged."""
    why = walk.obstacle(finding)
    chosen = yield from choose(no_fix_prompt(finding, walk.place_of(finding), walk.unavailable, why))
    redirected = f"redirected from Apply — {why}"
    if chosen == DEFER:
        return (yield from defer(walk, finding, redirected))
    if chosen == SKIP:
        walk.decide(Decision(finding, Verb.SKIPPED, redirected))
        yield from say("→ Skipped.")
        return Action.SKIP
    walk.decide(Decision(finding, Verb.ACKNOWLEDGED, reason=f"Apply picked but {why} — no edit dispatched"))
    yield from say("→ Acknowledged. No document edit.")
    return None
