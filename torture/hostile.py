"""Hostile JSON and hostile text in every field: refused with a code, or shown so that nothing is hidden or obeyed."""

from __future__ import annotations

from typing import Any

import msgspec

from torture.hostile_cases import hidden_in
from torture.hostile_roles import FIELDS, Attempt
from torture.nest import Nest, Worker
from torture.trial import Plan, Tally, Trial, Twin, Verdict, is_plain

__all__ = ["TRIAL", "run"]

LEAST = 500
SLOW_SECONDS = 2.0
_SHOWN = "show-as-it-is"
"""A twin that shows what was let in, for which no file has to be tried."""
KINDS = (
    "accepted in spite of two readings",
    "crashes",
    "unplain refusals",
    "hidden characters shown",
    "slow",
    "audit problems",
)


def run(plan: Plan) -> Verdict:
    """Attack everywhere, then look at everything that was let in."""
    tally = Tally(KINDS)
    with Nest(plan.twin, in_memory=True) as nest:
        workers = [nest.start("torture.hostile_roles:attacker", store=str(nest.store)) for _ in range(2)]
        sizes, _ = [worker.hear() for worker in workers]
        orders = _orders(plan, sizes)
        for place in range(0, len(orders), len(workers)):
            batch = list(zip(workers, orders[place : place + len(workers)], strict=False))
            for worker, order in batch:
                worker.say(**order)
            for worker, order in batch:
                _judge(tally, order, msgspec.convert(worker.hear()["attempt"], Attempt))
            if place % 500 == 0 and place:
                plan.progress(f"{place} of {len(orders)} attacks")
        for worker in workers:
            worker.kill()
        _look_on(tally, nest.start("torture.hostile_roles:onlooker", store=str(nest.store)))
    tally.require("attacks", plan.count(LEAST, 50))
    tally.require("refused", 20)
    tally.require("let in", 20)
    tally.require("asks looked at", 20)
    return tally.verdict()


def _orders(plan: Plan, sizes: dict[str, int]) -> list[dict[str, Any]]:
    chance = plan.chance()
    pairs = [(field, number) for field in FIELDS for number in range(sizes["texts"])]
    chance.shuffle(pairs)
    orders: list[dict[str, Any]] = [
        {"what": "text", "field": field, "number": number}
        for field, number in pairs[: plan.count(len(pairs), 20 if plan.twin else 60)]
    ]
    if plan.twin == _SHOWN:
        return orders
    # Each way of being wrong as a whole is tried at every scale; of the others, wrong in one place, a share.
    others = list(range(sizes["whole"], sizes["files"]))
    chosen = [*range(sizes["whole"]), *chance.sample(others, plan.count(len(others), 10))]
    orders += [{"what": "file", "number": number} for number in chosen]
    orders += [{"what": "value", "number": number} for number in range(sizes["values"])]
    chance.shuffle(orders)
    return orders


def _judge(tally: Tally, order: dict[str, Any], attempt: Attempt) -> None:
    tally.add("attacks")
    tally.add("refused" if attempt.code else "let in")
    tally.check(attempt.code != "crash", "crashes", (order, attempt.where, attempt.sentence))
    if attempt.code and attempt.code != "crash":
        tally.check(is_plain(attempt.sentence), "unplain refusals", (order, attempt))
        hidden = hidden_in(attempt.sentence)
        tally.check(not hidden, "hidden characters shown", (order, attempt, hidden))
    if order["what"] != "text":
        tally.check(bool(attempt.code), "accepted in spite of two readings", (order, attempt))
    tally.check(attempt.seconds < SLOW_SECONDS, "slow", (order, attempt))


def _look_on(tally: Tally, onlooker: Worker) -> None:
    tally.add("asks looked at", onlooker.hear()["shows"])
    while True:
        told = onlooker.hear()
        if "problems" in told:
            break
        tally.add(f"looks by {told['by']}")
        # JSON is for programs: what a terminal would obey is escaped in it, the rest is exact.
        shown = told["shown"]
        hidden = (
            [c for c in hidden_in(shown, "\n") if c < "U+0020"] if told["by"] == "json" else hidden_in(shown)
        )
        tally.check(
            not hidden, "hidden characters shown", (told["by"], hidden, shown[:300] if hidden else "")
        )
    for problem in told["problems"]:
        tally.fault("audit problems", problem)


TRIAL = Trial(
    "hostile",
    "hostile JSON and hostile text in every field are refused with a code or shown inert",
    run,
    (
        Twin(_SHOWN, "hidden characters are shown as marks", "hidden characters shown", 0.002),
        Twin("lenient-json", "JSON with two readings is refused", "accepted in spite of two readings", 0.002),
    ),
    share=0.005,
)
