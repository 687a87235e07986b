"""Prose typed at eight tabs of the page while asks arrive, end, expire, are replaced and pages are loaded anew.

On a clock of the page's own, at 20 to 200 ms a key with pauses for thought. Nothing is answered but what was marked and
sent on purpose inside that very ask, and no word is lost where a field was typed in when its ask ended.
"""

from __future__ import annotations

import random

from tests.surfaces.page.typist import FAULTS, TWINS, sit_down
from torture.nest import Nest
from torture.nursery import Wire
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run", "typist"]

_KEYS = 200_000
_AT_ONCE = 5_000
"""Keys that are typed at one site; asks pile up in it."""
_PATIENCE = 900.0


_LACKS = {
    "remembering": "marks of a yes are never kept",
    "restless": "keys rest where the field that was typed in has gone",
    "hasty": "the beat counts from the last key",
    "wordless": "a letter that means nothing begins the beat anew",
    "sending": "Enter in a field sends nothing",
    "folding": "a field that is typed in outlives its ask",
}


def run(plan: Plan) -> Verdict:
    """Let a worker with a browser of its own type every share."""
    tally = Tally(FAULTS)
    keys, chance = plan.count(_KEYS), plan.chance()
    while (left := keys - tally.counts["keys"]) > 0:
        with Nest("") as nest:
            worker = nest.start(
                "torture.typist:typist",
                keys=min(left, _AT_ONCE),
                seed=chance.randrange(1_000_000),
                lacks=plan.twin,
            )
            heard = worker.hear(_PATIENCE)
        for name, count in heard["counts"].items():
            tally.add(name, count)
        for kind, detail in heard["faults"]:
            tally.fault(kind, detail)
        plan.progress(f"{tally.counts['keys']:,} of {keys:,} keys")
    tally.require("keys", keys)
    return tally.verdict()


def typist(wire: Wire, keys: int, seed: int, lacks: str) -> None:
    """Type so many keys, and tell what came of it."""
    told = sit_down(keys, random.Random(seed), lacks)
    wire.say(counts=dict(told.counts), faults=told.faults)


TRIAL = Trial(
    "typist",
    "200,000 keys of prose in 8 tabs while asks come and go and pages load: no answer but those that were meant",
    run,
    tuple(Twin(name, lacks, TWINS[name].shows, 0.05) for name, lacks in _LACKS.items()),
    share=0.0,  # tests/surfaces/page/test_keys.py types 10,000 keys, with every twin
)
