"""One finding after the other: explained, asked about, decided (W15-W61).

Rule 1: nothing is edited here. What is to be applied waits for the end (W48); what cannot be is not said to be.
Rule 2: only the preset actions can be chosen. Whoever wants another fix skips, or defers, and edits themselves (W61).
"""

from __future__ import annotations

from assent.flows.step import Flow, say
from assent.flows.walk_through.cascade import cascade
from assent.flows.walk_through.defer import defer
from assent.flows.walk_through.menu import APPLY, DEFER, LFG_THE_REST, finding_prompt
from assent.flows.walk_through.no_fix import ask_without_fix
from assent.flows.walk_through.preview import carry_out, make_plan, preview
from assent.flows.walk_through.prose import one_line
from assent.flows.walk_through.walk import Walk, choose
from assent.protocol.decision import Decision, Verb, Way
from assent.protocol.finding import Action, Finding
from assent.protocol.prompt import Prompt
from assent.protocol.words import count

__all__ = ["walk_findings"]


def walk_findings(walk: Walk) -> Flow[Way]:
    """Have each finding decided; return whether it went one by one to the end."""
    for finding in walk.findings:
        while not walk.is_decided(finding):  # a cascade may have decided it; a cancelled preview has not
            chosen = yield from choose(_question(walk, finding))
            if chosen == LFG_THE_REST:
                if (yield from _lfg_the_rest(walk)):
                    return Way.LFG_THE_REST
                continue
            follows = yield from _decide(walk, finding, chosen)
            if follows is not None:
                yield from cascade(walk, finding, follows)
    return Way.WALK_THROUGH


def _question(walk: Walk, finding: Finding) -> Prompt:
    return finding_prompt(
        finding, walk.place_of(finding), walk.recommended(finding), walk.unavailable, walk.obstacle(finding)
    )


def _decide(walk: Walk, finding: Finding, chosen: str) -> Flow[Action | None]:
    """Decide a finding as it was chosen; return what its dependents may follow."""
    if chosen == APPLY and walk.obstacle(finding):
        return (yield from ask_without_fix(walk, finding))
    if chosen == APPLY:
        walk.decide(Decision(finding, Verb.APPLIED))
        yield from say(f'→ Applied. Edit staged at "{one_line(finding.section)}" section.')
        return None
    if chosen == DEFER:
        return (yield from defer(walk, finding))
    walk.decide(Decision(finding, Verb.SKIPPED))
    yield from say("→ Skipped.")
    return Action.SKIP


def _lfg_the_rest(walk: Walk) -> Flow[bool]:
    """Offer to decide this and all that is left together; return whether that was done (W52)."""
    plan = make_plan(walk)
    title = f"Plan for the remaining {count(len(plan), 'finding')} ({len(walk.decisions)} already decided):"
    if not (yield from preview(walk, plan, title)):
        return False
    yield from carry_out(walk, plan)
    return True
