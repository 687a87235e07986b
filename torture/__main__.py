"""`python -m torture`: every trial at its full count, one line each, then each of its twins, which must be red."""

from __future__ import annotations

import argparse
import sys
import time

from torture import (
    cancel,
    clocks,
    comments,
    crash,
    credentials,
    crowd,
    disk,
    group,
    halfway,
    hostile,
    hosts,
    kill,
    listeners,
    page,
    paused,
    plan_xml,
    postgres_crowd,
    postgres_leases,
    postgres_outage,
    postgres_race,
    provenance,
    race,
    redeemers,
    replays,
    review,
    server,
    silence,
    sitting,
    strangers,
    tamper,
    terminal,
    terminal_typist,
    two_stores,
    typist,
    wakes,
)
from torture.nest import WorkerLostError
from torture.trial import Plan, Trial, Twin

__all__ = ["TRIALS", "main"]

TRIALS: tuple[Trial, ...] = (
    kill.TRIAL,
    race.TRIAL,
    crash.TRIAL,
    disk.TRIAL,
    silence.TRIAL,
    clocks.TRIAL,
    hostile.TRIAL,
    group.TRIAL,
    wakes.TRIAL,
    crowd.TRIAL,
    tamper.TRIAL,
    paused.TRIAL,
    cancel.TRIAL,
    listeners.TRIAL,
    replays.TRIAL,
    halfway.TRIAL,
    plan_xml.TRIAL,
    review.TRIAL,
    server.TRIAL,
    redeemers.TRIAL,
    strangers.TRIAL,
    credentials.TRIAL,
    hosts.TRIAL,
    comments.TRIAL,
    page.TRIAL,
    terminal.TRIAL,
    terminal_typist.TRIAL,
    sitting.TRIAL,
    postgres_outage.TRIAL,
    postgres_race.TRIAL,
    postgres_crowd.TRIAL,
    postgres_leases.TRIAL,
    two_stores.TRIAL,
    provenance.TRIAL,
    typist.TRIAL,
)


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; return 1 when a trial is red or a twin is not."""
    parser = argparse.ArgumentParser(prog="torture", description="Fault trials of the heart, at full count.")
    parser.add_argument("--list", action="store_true", help="name the trials and their twins")
    parser.add_argument("--only", action="append", metavar="NAME", help="run this trial; may be given again")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full counts, 0.1 for a tenth")
    parser.add_argument("--seed", type=int, default=None, help="repeat the choices of an earlier run")
    parser.add_argument("--no-twins", action="store_true", help="leave out the runs without a guard")
    told = parser.parse_args(arguments)
    known = {trial.name: trial for trial in TRIALS}
    unknown = set(told.only or ()) - known.keys()
    if unknown:
        parser.error(f"no trial {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if told.list:
        for trial in TRIALS:
            print(f"{trial.name:9} {trial.claim}")
            for twin in trial.twins:
                print(f"{'':9}   without: {twin.lacks} ({twin.name})")
        return 0
    seed = told.seed if told.seed is not None else time.time_ns() % 1_000_000
    is_green = True
    for name in told.only or list(known):
        is_green &= _try(known[name], Plan(told.scale, seed))
        for twin in known[name].twins if not told.no_twins else ():
            is_green &= _try_twin(known[name], twin, Plan(twin.scale, seed, twin.name, is_quiet=True))
    return 0 if is_green else 1


def _try(trial: Trial, plan: Plan) -> bool:
    began = time.monotonic()
    try:
        verdict = trial.run(plan)
    except WorkerLostError as error:
        print(f"{trial.name:9} RED it could not be finished [seed {plan.seed}]: {error}", flush=True)
        return False
    word = "ok " if verdict.is_green else "RED"
    print(
        f"{trial.name:9} {word} {verdict.render()} [seed {plan.seed}, {time.monotonic() - began:.0f} s]",
        flush=True,
    )
    for detail in verdict.details:
        print(f"    {detail}", file=sys.stderr)
    return verdict.is_green


def _try_twin(trial: Trial, twin: Twin, plan: Plan) -> bool:
    began = time.monotonic()
    try:
        verdict = trial.run(plan)
    except WorkerLostError as error:
        print(f"  twin {twin.name}: it could not be finished: {error}", flush=True)
        return False
    seen = verdict.faults[twin.shows]
    word = f"red as it must be, {seen:,} {twin.shows}" if seen else f"NOT NOTICED: {verdict.render()}"
    print(f"  twin {twin.name}: {word} [{time.monotonic() - began:.0f} s]", flush=True)
    return bool(seen)


if __name__ == "__main__":
    sys.exit(main())
