"""What falls with a root: a finding that questions a premise, and was skipped or deferred (W20-W27).

Rule 1: the root's own action is complete before anything is said of its dependents (W-X12).
Rule 2: an applied root takes nothing with it: its premise held (W27, W-X7).
Rule 3: what is decided already is never touched.
"""

from __future__ import annotations

from assent.flows.step import Flow, say
from assent.flows.walk_through.block import handle_of
from assent.flows.walk_through.defer import defer
from assent.flows.walk_through.menu import CASCADE, cascade_prompt
from assent.flows.walk_through.walk import Walk, choose
from assent.protocol.decision import Decision, Verb
from assent.protocol.error import BadRequestError
from assent.protocol.finding import Action, Finding
from assent.protocol.words import count

__all__ = ["cascade"]


def cascade(walk: Walk, root: Finding, action: Action) -> Flow[None]:
    """Offer to do with all undecided dependents of `root` what was done with it.

    Raises:
        BadRequestError: the action is Apply, which never cascades.
        LeftError: the question ended without an answer.
    """
    if action is Action.APPLY:
        raise BadRequestError("Apply on a root never cascades.")
    named = set(root.dependents)
    dependents = [finding for finding in walk.undecided if finding.finding_id in named]
    if not dependents:
        return
    chosen = yield from choose(cascade_prompt(root, walk.place_of(root), action, dependents))
    if chosen != CASCADE:
        return
    note = f"cascaded from {handle_of(root)}"
    for finding in dependents:
        if action is Action.DEFER:
            yield from defer(walk, finding, note, is_told=False)
        else:
            walk.decide(Decision(finding, Verb.SKIPPED, note))
    done = "skipped" if action is Action.SKIP else "deferred"
    yield from say(f"→ Cascaded. {count(len(dependents), 'dependent finding')} {done}.")
