"""Ledger of the requirements: which of them passing tests prove.

A requirement is proven when a test that claims it with `@proves` passes, and none that claims it fails. A skipped or
expected-to-fail test proves nothing. A claim cannot stand where its id does not exist, where its test has no assertion
of its own, or where its test uses a module that no user reaches (`tools/reach.py`).

A whole run of the tests (`make test`) ends with these lines, and fails unless all of them are full:

    G 44/44         one line a part, in the order of the requirements
    total 242/242
    G unproven: 1-3, 7

`make ledger` prints them as of the last whole run and runs nothing. Where there was none, it counts claims.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tests.proves import PARTS, is_requirement
from tools.reach import find_used, is_outside, reach, read_graph

__all__ = ["Report", "Verdict", "asserts_something", "fold", "judge", "main", "summary"]

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Report:
    """What pytest saw."""

    claims: dict[str, list[str]]
    """Test to the ids that it claims."""
    places: dict[str, list[str]]
    """Test to its file, the classes around it and its function."""
    outcomes: dict[str, str]
    """Test to `passed`, `skipped` or `failed`."""

    def as_json(self) -> dict[str, object]:
        """Return it as pytest's cache keeps it."""
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """What the claims are worth."""

    proven: set[str]
    faults: list[str]
    """Why the run fails, one sentence each."""


def judge(report: Report) -> Verdict:
    """Return what is proven, and every claim that cannot stand."""
    false = dict(_false_claims(report))
    proven = set()
    for name, tests in _by_id(report).items():
        ended = {report.outcomes.get(test) for test in tests if _function(test) not in false}
        if "passed" in ended and "failed" not in ended:
            proven.add(name)
    missing = sum(PARTS.values()) - len(proven)
    lack = [f"no passing test proves {missing} of the requirements."] if missing else []
    return Verdict(proven, [*false.values(), *lack])


def _function(test: str) -> str:
    """Return the name of a test without its parameters."""
    return test.partition("[")[0]


def _false_claims(report: Report) -> Iterable[tuple[str, str]]:
    """Yield each test whose claim cannot stand, and why."""
    for name, test in {_function(test): test for test in report.claims}.items():
        ids, place = report.claims[test], report.places[test]
        claim = f"{name} claims {', '.join(ids)}"
        if not ids:
            yield name, f"{name} claims to prove something but names no requirement."
        elif unknown := [each for each in ids if not is_requirement(each)]:
            yield name, f"{name} claims {unknown[0]}, and there is no requirement {unknown[0]}."
        elif not asserts_something(place):
            yield name, f"{claim} but asserts nothing itself."
        elif (used := find_used(Path(place[0]))) and (dead := sorted(used - _reached())):
            yield name, f"{claim} by a file that uses {dead[0]}, which no user reaches."


def _by_id(report: Report) -> dict[str, list[str]]:
    tests_of: dict[str, list[str]] = {}
    for test, ids in report.claims.items():
        for name in filter(is_requirement, ids):
            tests_of.setdefault(name, []).append(test)
    return tests_of


@cache
def _reached() -> set[str]:
    return reach(read_graph())


def asserts_something(place: list[str]) -> bool:
    """Tell whether the test function at `place` holds an assertion that can fail."""
    file, *names = place
    body: Iterable[ast.AST] = _parsed(file).body
    found: ast.AST | None = None
    for name in names:
        found = next((node for node in body if getattr(node, "name", None) == name), None)
        if not isinstance(found, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        body = found.body
    return found is not None and any(_is_assertion(node) for node in ast.walk(found))


@cache
def _parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def _is_assertion(node: ast.AST) -> bool:
    """Tell whether `node` is an assert of something that varies, or an expectation of an error."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if isinstance(node, ast.Call):
        called = node.func
        return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "raises"
    return False


def summary(proven: set[str]) -> list[str]:
    """Write the counts, then what is missing."""
    missing = {
        part: [number for number in range(1, total + 1) if f"{part}{number}" not in proven]
        for part, total in PARTS.items()
    }
    counts = [f"{part} {total - len(missing[part])}/{total}" for part, total in PARTS.items()]
    unproven = [f"{part} unproven: {fold(numbers)}" for part, numbers in missing.items() if numbers]
    return [*counts, f"total {len(proven)}/{sum(PARTS.values())}", *unproven]


def fold(numbers: Iterable[int]) -> str:
    """Write ascending numbers with runs folded: `1-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)


def main(argv: list[str] | None = None) -> int:
    """Print the ledger of the last whole run, or of the claims; 1 if a claim cannot stand."""
    parser = argparse.ArgumentParser(prog="tools.ledger", description="Say which requirements are proven.")
    parser.add_argument("--collect-only", action="store_true", help="count the claims of today's tests")
    parser.add_argument("--list", action="store_true", help="show the tests that claim each id")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the project")
    chosen = parser.parse_args(argv)
    kept = chosen.root / ".pytest_cache" / "v" / "assent" / "ledger"
    is_claimed = chosen.collect_only or not kept.exists()
    if is_claimed:
        kept = kept.with_name("ledger-claims")
        kept.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "--collect-only", "-qq"]
        done = subprocess.run(command, cwd=chosen.root, capture_output=True, text=True, check=False)
        if done.returncode or not kept.exists():
            print(done.stdout + done.stderr, file=sys.stderr)
            return 1
    report = Report(**json.loads(kept.read_text()))
    if is_claimed:
        report.outcomes.update(dict.fromkeys(report.claims, "passed"))
    verdict = judge(report)
    print("\n".join(summary(verdict.proven)))
    if chosen.list:
        print("\n".join(_listing(report)))
    said = (
        "these are claims; make test proves them." if is_claimed else "as of the last whole run of the tests."
    )
    print("\n".join(f"ledger: {each}" for each in [*verdict.faults, said]), file=sys.stderr)
    return 1 if verdict.faults else 0


def _listing(report: Report) -> list[str]:
    """Write id and test, one pair a line; `inside` marks a test that enters by no door of users."""
    order = {part: place for place, part in enumerate(PARTS)}
    tests_of = _by_id(report)
    lines: dict[str, None] = {}
    for name in sorted(tests_of, key=lambda name: (order[name[0]], int(name[1:]))):
        for test in sorted(tests_of[name]):
            ended = report.outcomes.get(test, "not run")
            marks = [] if ended == "passed" else [ended]
            marks += [] if is_outside(Path(report.places[test][0])) else ["inside"]
            told = f" ({', '.join(marks)})" if marks else ""
            lines[f"{name} -> {_function(test)}{told}"] = None
    return [*lines]


if __name__ == "__main__":
    sys.exit(main())
