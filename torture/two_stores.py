"""A hub on a file and a hub on a database get the same commands by the same clock, and nobody can tell them apart."""

from __future__ import annotations

import threading
from typing import Any

from torture.nest import Nest, Worker
from torture.postgres_ground import Ground
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

EXAMPLES = 200
STEPS = 40
_CREWS = 2
_PATIENCE = 500.0
_WANTED = ("ask.answered", "ask.expired", "run.started", "task.created", "policy.set", "token.created")


def run(plan: Plan) -> Verdict:
    """Drive both side by side in several processes, each with its own chance."""
    tally = Tally(("differences",))
    lock = threading.Lock()
    crews = 1 if plan.twin else _CREWS
    share = plan.count(EXAMPLES, 2 * crews) // crews
    with Ground() as ground, Nest(plan.twin) as nest:

        def serve(worker: Worker) -> None:
            while "difference" not in (heard := worker.hear(_PATIENCE)):
                with lock:
                    if "back" in heard:
                        ground.server.take_back(heard["back"])
                        continue
                    url = ground.server.lend_database()
                worker.say(url=url)
            with lock:
                if heard["difference"]:
                    tally.fault("differences", heard["difference"])
                tally.add("examples", heard["examples"])
                tally.add("commands", heard["commands"])
                for type_ in heard["reached"]:
                    tally.add("reached " + type_, type_ in _WANTED)

        setting: dict[str, Any] = {"examples": share, "steps": STEPS, "is_hasty": bool(plan.twin)}
        workers = [
            nest.start("torture.two_stores_roles:compare", seed=plan.seed + number, **setting)
            for number in range(crews)
        ]
        threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_PATIENCE)
        for worker in workers:
            worker.kill()
            tally.check(not worker.error, "differences", worker.error)
    tally.add(
        "kinds of event", sum(tally.counts.pop(name, 0) > 0 for name in map("reached ".__add__, _WANTED))
    )
    for name in [name for name in tally.counts if name.startswith("reached ")]:
        del tally.counts[name]
    tally.require("examples", share * crews)
    tally.require("kinds of event", len(_WANTED))
    return tally.verdict()


TRIAL = Trial(
    "two-stores",
    "a file and a database get the same commands by the same clock: the same replies, rows and hashes",
    run,
    (Twin("newest-last", "both show what is open in the same order", "differences", 0.06),),
    share=0.0,  # tests/hub/test_two_stores.py drives the same machine
)
