"""Many findings at once: what would happen with each is shown, and one word lets it happen (W12, W13, W52, W-U13).

Rule 1: a preview changes nothing. Cancel leads back to the question that it came from.
Rule 2: the group that a finding stands in is what is done with it (W55). Where that is not what its question would
        recommend, its line says so (W-X22); where that is not what synthesis recommended, it is said why.
Rule 3: each finding gets its own action; nothing cascades, and what is decided already is not here (W-X13).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assent.flows.step import Flow, say
from assent.flows.walk_through.block import handle_of
from assent.flows.walk_through.defer import defer
from assent.flows.walk_through.menu import PROCEED, preview_prompt
from assent.flows.walk_through.prose import one_line
from assent.flows.walk_through.walk import Walk, choose, first_sentence
from assent.protocol.ask import Kind
from assent.protocol.decision import Decision, Verb
from assent.protocol.dialog import clip
from assent.protocol.display import display
from assent.protocol.finding import Action, Finding
from assent.protocol.words import count

__all__ = ["Plan", "carry_out", "make_plan", "preview", "render_preview"]

Plan = dict[str, tuple[Finding, Action]]
"""By id: what would be done, in the order of the findings."""

_GROUPS = {
    Action.APPLY: "Applying",
    Action.DEFER: "Appending to Open Questions",
    Action.SKIP: "Skipping",
}
_WIDTH = 80
_LONG_PASS, _TOLD_EVERY = 50, 25
"""So many entries take a while, and every so many of them somebody is told."""


def make_plan(walk: Walk, action: Action | None = None) -> Plan:
    """Return what would be done with everything undecided: its own recommendation, or `action` with all of it."""
    return {finding.finding_id: (finding, action or walk.recommended(finding)) for finding in walk.undecided}


def preview(walk: Walk, plan: Plan, title: str) -> Flow[bool]:
    """Show a plan; return whether it may be carried out."""
    prompt = preview_prompt(render_preview(walk, plan, title), len(plan))
    return (yield from choose(prompt, Kind.QUESTION)) == PROCEED


def render_preview(walk: Walk, plan: Plan, title: str) -> str:
    """Return the plan as text, grouped by what would be done."""
    lines = [title, *_downgrades(walk, plan)]
    for action, heading in _GROUPS.items():
        group = [finding for finding, planned in plan.values() if planned is action]
        if group:
            lines += ["", f"{heading} ({len(group)}):", *_lines(walk, group, action)]
    return "\n".join(lines)


def _downgrades(walk: Walk, plan: Plan) -> list[str]:
    """Return why synthesis is not followed, and with how many findings, a line for each reason."""
    reasons: Counter[tuple[tuple[str, str], Action]] = Counter()
    for finding, action in plan.values():
        was = finding.recommended_action
        if action is was or action is not walk.recommended(finding):
            continue
        if was is Action.APPLY:
            why = f"Applying is unavailable — {walk.obstacle(finding)}.", "Apply"
        else:
            why = f"Appending is unavailable — {walk.unavailable}.", "Open Questions"
        reasons[why, action] += 1
    done = {Action.DEFER: "deferred", Action.SKIP: "skipped"}
    return [
        f"{why} {count(number, 'finding')} recommended for {place}: {done[action]} instead."
        for ((why, place), action), number in reasons.items()
    ]


def _lines(walk: Walk, group: Sequence[Finding], action: Action) -> list[str]:
    return [_line(finding, walk.recommended(finding), action) for finding in group]


def _line(finding: Finding, recommended: Action, action: Action) -> str:
    own = "" if recommended is action else f" (recommended: {recommended})"
    summary = first_sentence(display(finding.why_it_matters)) or handle_of(finding)
    section = clip(one_line(finding.section), _WIDTH // 2)
    return clip(f"[{finding.severity}] {section} — {summary}", _WIDTH - len(own)) + own


def carry_out(walk: Walk, plan: Plan) -> Flow[None]:
    """Decide everything as planned: fixes join the Apply set, entries are appended now (W12, W13, W52)."""
    deferred = 0
    total = sum(action is Action.DEFER for _, action in plan.values())
    for finding, action in plan.values():
        if action is Action.APPLY:
            walk.decide(Decision(finding, Verb.APPLIED))
        elif action is Action.SKIP:
            walk.decide(Decision(finding, Verb.SKIPPED))
        else:
            yield from defer(walk, finding, is_told=False)
            deferred += 1
            if total >= _LONG_PASS and deferred % _TOLD_EVERY == 0:
                yield from say(f"→ Deferred {deferred} of {total}.")
