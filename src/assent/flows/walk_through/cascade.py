"""What falls with a root: a finding that questions a premise, and was skipped or deferred (W20-W27).

Rule 1: the root's own action is complete before anything is said of its dependents (W-X12).
Rule 2: an applied root takes nothing with it: its premise held (W27, W-X7).
Rule 3: what is decided already is never touched.
"""

from __future__ import annotations

from collections import Counter

from assent.flows.step import Flow, say
from assent.flows.walk_through.defer import defer
from assent.flows.walk_through.menu import CASCADE, cascade_prompt
from assent.flows.walk_through.prose import one_line
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
    dependents = walk.dependents_of(root)
    if not dependents:
        return
    chosen = yield from choose(cascade_prompt(root, walk.place_of(root), action, dependents))
    if chosen != CASCADE:
        return
    note = f"cascaded from {one_line(root.title)}"
    came: Counter[Verb] = Counter()
    for finding in dependents:
        if action is Action.SKIP:
            walk.decide(Decision(finding, Verb.SKIPPED, note))
            came[Verb.SKIPPED] += 1
        else:
            deferred = yield from defer(walk, finding, note, is_told=False)
            came[Verb.DEFERRED if deferred is Action.DEFER else Verb.SKIPPED] += 1
    done = (f"{count(number, 'dependent finding')} {verb.lower()}" for verb, number in came.items())
    yield from say(f"→ Cascaded. {', '.join(done)}.")
