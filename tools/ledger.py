"""Counts the requirements that are proven: `python -m tools.ledger`.

A requirement is proven when at least one test claims it with `@proves` and every test that claims it
passes. A skipped or expected-to-fail test proves nothing, and neither does a test without an assertion
of its own: that is an error, as is an id that does not exist.

    G 3/44          one line a part, in the order of the requirements
    total 12/242
    G unproven: 1-3, 7

Standard output holds these lines only; what pytest says goes to standard error.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.proves import PARTS, is_requirement
from tools.ledger_plugin import FILE_VARIABLE

__all__ = ["Report", "asserts_something", "fold", "main"]

ROOT = Path(__file__).resolve().parent.parent


class LedgerError(Exception):
    """A claim that cannot stand, in one sentence."""


@dataclass(frozen=True)
class Report:
    """What pytest saw."""

    claims: Mapping[str, list[str]]
    """Test to the ids that it claims."""
    places: Mapping[str, list[str]]
    """Test to its file, the classes around it and its function."""
    outcomes: Mapping[str, str]
    """Test to `passed`, `skipped` or `failed`."""
    broken: Mapping[str, str]
    """What could not be collected, and why."""


def main(argv: list[str] | None = None) -> int:
    """Print the ledger; 1 if a claim cannot stand or a claiming test failed."""
    parser = argparse.ArgumentParser(
        prog="tools.ledger", description="Count the requirements that are proven."
    )
    parser.add_argument("--collect-only", action="store_true", help="count claims without running the tests")
    parser.add_argument("--list", action="store_true", help="show the tests that claim each id")
    parser.add_argument("--jobs", default="2", metavar="N", help="run tests in N processes (default 2)")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder to run pytest in")
    chosen = parser.parse_args(argv)
    try:
        claims, standing = take(chosen.root, None if chosen.collect_only else chosen.jobs)
    except LedgerError as error:
        print(f"ledger: {error}", file=sys.stderr)
        return 1
    tests_of = by_requirement(claims)
    proven = {name for name, tests in tests_of.items() if all(standing[test] == "passed" for test in tests)}
    print("\n".join(summary(proven)))
    if chosen.list:
        print("\n".join(listing(tests_of, standing)))
    if chosen.collect_only:
        print("ledger: these are claims; no test was run.", file=sys.stderr)
    failed = sorted(test for test, outcome in standing.items() if outcome == "failed")
    if failed:
        print(f"ledger: {len(failed)} claiming test(s) did not pass: {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def take(root: Path, jobs: str | None) -> tuple[Mapping[str, list[str]], dict[str, str]]:
    """Return what each test claims and how it ended; without `jobs` nothing runs and claims are believed.

    Raises:
        LedgerError: a claim cannot stand.
    """
    collected = watch(root, "--collect-only")
    check_claims(collected)
    if not collected.claims or jobs is None:
        return collected.claims, dict.fromkeys(collected.claims, "passed")
    ran = watch(root, "-m", "proves", "-n", jobs)
    # A test that vanished between the two looks, or took its process down, proves nothing.
    return collected.claims, {test: ran.outcomes.get(test, "failed") for test in collected.claims}


def watch(root: Path, *arguments: str) -> Report:
    """Run pytest in `root` and return what the plugin saw."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        command = [sys.executable, "-m", "pytest", "-p", "tools.ledger_plugin", "-q", *arguments]
        quiet = "--collect-only" in arguments
        done = subprocess.run(
            command,
            cwd=root,
            env={**os.environ, "PYTHONPATH": path, FILE_VARIABLE: str(file)},
            stdout=subprocess.PIPE if quiet else sys.stderr,
            text=True,
            check=False,
        )
        if not file.exists():
            raise LedgerError(
                f"pytest ended with status {done.returncode} before it saw any test. {done.stdout or ''}"
            )
        return Report(**json.loads(file.read_text()))


def check_claims(report: Report) -> None:
    """Refuse what must not be counted.

    Raises:
        LedgerError: a test file is broken, an id does not exist, or a claiming test asserts nothing.
    """
    for place, message in report.broken.items():
        raise LedgerError(f"{place} cannot be loaded: {last_error(message)}")
    for test, ids in report.claims.items():
        if not ids:
            raise LedgerError(f"{test} claims to prove something but names no requirement.")
        for name in ids:
            if not is_requirement(name):
                raise LedgerError(f"{test} claims {name}, and there is no requirement {name}.")
        if not asserts_something(report.places[test]):
            raise LedgerError(f"{test} claims {', '.join(ids)} but asserts nothing itself.")


def last_error(message: str) -> str:
    """Take the sentence out of pytest's account of a failed import."""
    lines = re.findall(r"^E\s+(.+)$", message, flags=re.MULTILINE)
    return lines[-1] if lines else message.strip().splitlines()[-1]


def asserts_something(place: list[str]) -> bool:
    """Tell whether the test function at `place` holds an assertion that can fail."""
    file, *names = place
    body: Iterable[ast.AST] = parsed(file).body
    found: ast.AST | None = None
    for name in names:
        found = next((node for node in body if getattr(node, "name", None) == name), None)
        if not isinstance(found, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        body = found.body
    return found is not None and any(is_assertion(node) for node in ast.walk(found))


@cache
def parsed(file: str) -> ast.Module:
    return ast.parse(Path(file).read_text(encoding="utf-8"))


def is_assertion(node: ast.AST) -> bool:
    """Tell whether `node` is an assert of something that varies, or an expectation of an error."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if isinstance(node, ast.Call):
        called = node.func
        return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "raises"
    return False


def by_requirement(claims: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Turn test to ids into id to tests."""
    tests_of: dict[str, list[str]] = {}
    for test, ids in claims.items():
        for name in ids:
            tests_of.setdefault(name, []).append(test)
    return tests_of


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


def listing(tests_of: Mapping[str, list[str]], standing: Mapping[str, str]) -> list[str]:
    """Write id and test, one pair a line, marking the tests that did not pass."""
    order = {part: place for place, part in enumerate(PARTS)}
    lines = []
    for name in sorted(tests_of, key=lambda name: (order[name[0]], int(name[1:]))):
        for test in sorted(tests_of[name]):
            mark = "" if standing[test] == "passed" else f" ({standing[test]})"
            lines.append(f"{name} -> {test}{mark}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
