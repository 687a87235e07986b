"""`python -m bench`: run the measurements and print each figure beside its floor and its goal."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from bench.figure import Figure, render_figure
from bench.machine import Neighbours, describe, render_machine
from bench.measure import MEASUREMENTS
from bench.scale import FULL, QUICK, Scale
from bench.session import Session


def main(arguments: list[str]) -> int:
    """Run what was asked for; return 0 whatever the figures are."""
    given = _parse(arguments)
    scale: Scale = QUICK if given.quick else FULL
    if given.repetitions is not None:
        scale = replace(scale, repetitions=given.repetitions)
    if given.late is not None:
        scale = replace(scale, late=given.late)
    names = given.only or list(MEASUREMENTS)
    figures: list[Figure] = []
    neighbours = Neighbours()
    with Session(scale, Path(given.folder).absolute()) as session:
        machine = describe(session.folder)
        print(render_machine(machine))
        counts = f"{scale.repetitions} repetitions (of the server {scale.server_repetitions}, its polls {scale.poll_repetitions})"
        print(f"Medians of {counts}, lowest and highest in brackets", flush=True)
        for name in names:
            title, measure = MEASUREMENTS[name]
            print(f"\n{title}", flush=True)
            for figure in measure(session):
                figures.append(figure)
                print(render_figure(figure), flush=True)
    judged = [figure for figure in figures if figure.goal is not None]
    reached = sum(figure.verdict == "reached" for figure in judged)
    print(f"\n{reached} of {len(judged)} goals reached")
    others = neighbours.share()
    machine["others"] = "" if others is None else f"{others:.2f}"
    if others is not None:
        print(f"Other programs used {100 * others:.0f} % of the processors meanwhile.")
    if given.json:
        report = {"machine": machine, "figures": [figure.as_json() for figure in figures]}
        Path(given.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure Assent beside its raw floor."
    )
    parser.add_argument(
        "--quick", action="store_true", help="few repetitions, small counts: only shows that it works"
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=list(MEASUREMENTS),
        metavar="NAME",
        help=f"run only this measurement; may be repeated: {', '.join(MEASUREMENTS)}",
    )
    parser.add_argument("--repetitions", type=_count, metavar="N", help="repetitions of each measurement")
    parser.add_argument("--late", type=_count, metavar="N", help="wakes of which none may be late")
    parser.add_argument("--json", metavar="FILE", help="write every repetition's figures to a file")
    parser.add_argument(
        "--folder",
        default=str(Path(__file__).parents[1] / ".bench"),
        metavar="DIR",
        help="where the stores lie, on the disk to be measured; emptied before and removed afterwards",
    )
    return parser.parse_args(arguments)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
