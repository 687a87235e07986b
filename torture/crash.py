"""Every write, sync, truncate and delete of a command, one after the other: killed there, torn there, failing there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec

from torture.crash_roles import VERBS, Finding
from torture.nest import ROOT, Nest, Worker
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "run"]

KINDS = (
    "lost",
    "twice",
    "conflicts with oneself",
    "acknowledged unsynced",
    "unplain errors",
    "not normal again",
    "audit problems",
)
CALLS = ("pwrite64", "write", "fdatasync", "fsync", "ftruncate", "unlink")
"""The system calls by which SQLite reaches the disk; with the tracer, each of them fails in its turn."""
_FOR_EVER = 10_000
_TRACED_STEP = 5
_TRACED_FROM = 0.1
"""The share of the full count from which on the system's tracer is used as well."""

Fault = tuple[str, int, int]


def run(plan: Plan) -> Verdict:
    """Walk over all points; the full count is all of them, a smaller scale takes every n-th."""
    tally = Tally(KINDS)
    step = max(1, round(1 / plan.scale) // 2)
    with Nest(plan.twin, in_memory=True) as nest:
        worker = nest.start("torture.crash_roles:surgeon", folder=str(nest.folder))
        pairs = [("warm", verb) for verb in VERBS]
        pairs += [("checkpoint", "answer"), ("recovery", "answer"), ("first", "ask")]
        if plan.twin:
            pairs = [("warm", "answer")]  # what is missing is missing everywhere
        for scene, verb in pairs:
            points = _points(tally, worker, scene, verb)
            plan.progress(f"{verb}, {scene}: {points} points")
            # One answer is walked over completely at every scale.
            is_whole = (scene, verb) == ("warm", "answer") and not plan.twin
            _walk(tally, worker, scene, verb, range(1, points + 1, 1 if is_whole else step))
        points = _points(tally, worker, "warm", "answer")
        # At the smallest scale the first and the last of them.
        _walk_pairs(tally, worker, points, min(2 * step, points - 1))
        # The file layer above has the same points; a process under the tracer takes seconds to begin.
        if not plan.twin and plan.scale >= _TRACED_FROM:
            _trace(plan, tally, nest)
    for act in ("kill", "tear", "eio", "enospc"):
        tally.require(f"points of {act}", 20)
    tally.require("killed twice in a row", 4)
    return tally.verdict()


def _order(tally: Tally, worker: Worker, scene: str, verb: str, faults: list[Fault]) -> Finding:
    worker.say(scene=scene, verb=verb, faults=faults)
    finding = msgspec.convert(worker.hear()["finding"], Finding)
    for kind, detail in finding.faults:
        tally.fault(kind, (scene, verb, faults, detail))
    return finding


def _points(tally: Tally, worker: Worker, scene: str, verb: str) -> int:
    finding = _order(tally, worker, scene, verb, [("", 0, 0)])
    tally.check(finding.code == "", "not normal again", (scene, verb, finding))
    return len(finding.calls)


def _walk(tally: Tally, worker: Worker, scene: str, verb: str, points: range) -> None:
    for point in points:
        for act in ("kill", "tear"):
            finding = _order(tally, worker, scene, verb, [(act, point, 0)])
            tally.add(f"points of {act}")
        for act in ("eio", "enospc"):
            for last in (0, _FOR_EVER):
                finding = _order(tally, worker, scene, verb, [(act, point, last)])
                tally.add(f"points of {act}", finding.fired > 0)
                _check_errors(tally, finding, (scene, verb, act, point, last))


def _check_errors(tally: Tally, finding: Finding, where: object) -> None:
    if finding.code:
        tally.add("refused in plain words")
        tally.check(finding.code.startswith("store"), "unplain errors", (where, finding.code))
        tally.check(finding.again == "", "not normal again", (where, finding.again))


def _walk_pairs(tally: Tally, worker: Worker, points: int, step: int) -> None:
    for first in range(1, points + 1, step):
        for second in range(1, points + 1, step):
            _order(tally, worker, "warm", "answer", [("kill", first, 0), ("tear", second, 0)])
            tally.add("killed twice in a row")


# With the system's tracer: the calls as the kernel sees them, in a process of its own.


def _trace(plan: Plan, tally: Tally, nest: Nest) -> None:
    tracer = shutil.which("strace")
    if tracer is None or _traced(nest, tracer, ["-e", "trace=none"]) is None:
        tally.notes["system calls"] = (
            "NOT TRACED (no strace here; the file layer above covers the same points)"
        )
        return
    counts = _count_calls(nest, tracer)
    # Most calls are made a few times: a wide step would make the first of each fail, and no other.
    step = max(1, min(_TRACED_STEP, round(1 / plan.scale) // 2))
    examiner = nest.start("torture.crash_roles:examiner", twin="")
    for call, times in counts.items():
        for number in range(1, times + 1, step):
            for fault in ("signal=SIGKILL", "error=EIO", "error=ENOSPC"):
                _trace_one(tally, nest, tracer, examiner, f"{call}:{fault}:when={number}")
                tally.add("system calls made to fail")
    plan.progress(f"system calls: {dict(counts)}")
    tally.require("system calls made to fail", 20)


def _pattern(nest: Nest) -> Path:
    """Return a fresh store with one open ask."""
    pattern, copy = nest.folder / "traced", nest.folder / "traced-copy"
    if not pattern.exists():
        pattern.mkdir()
        command = [sys.executable, "-m", "torture.crash_roles", str(pattern / "x.db"), "ask"]
        subprocess.run(command, cwd=ROOT, env=nest.environ, check=True, capture_output=True, timeout=60)
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(pattern, copy)
    return copy / "x.db"


def _traced(nest: Nest, tracer: str, options: list[str]) -> list[str] | None:
    """Answer under the tracer; return what the program said, or nothing where tracing is not allowed."""
    store = _pattern(nest)
    command = [tracer, "-f", "-qq", "-o", str(nest.folder / "trace"), *options]
    command += [sys.executable, "-m", "torture.crash_roles", str(store), "answer"]
    done = subprocess.run(command, cwd=ROOT, env=nest.environ, check=False, capture_output=True, timeout=60)
    if done.returncode == 1 and b"ptrace" in done.stderr:
        return None
    return done.stdout.decode().splitlines()


@cache
def _narrow(tracer: str) -> list[str]:
    """Return what lets the kernel stop the program at the traced call alone, where the tracer can: it halves the time."""
    told = subprocess.run([tracer, "--help"], check=False, capture_output=True, timeout=60).stdout
    return ["--seccomp-bpf"] if b"--seccomp-bpf" in told else []


def _count_calls(nest: Nest, tracer: str) -> Counter[str]:
    # `write` stays out: SQLite uses pwrite64, and Python's own words are written by it.
    names = [call for call in CALLS if call != "write"]
    _traced(nest, tracer, ["-e", f"trace={','.join(names)}"])
    lines = (nest.folder / "trace").read_text().splitlines()
    return Counter(
        name for line in lines for name in names if f" {name}(" in f" {line.split(maxsplit=1)[-1]}"
    )


def _trace_one(tally: Tally, nest: Nest, tracer: str, examiner: Worker, injection: str) -> None:
    call = injection.partition(":")[0]
    said = _traced(nest, tracer, [*_narrow(tracer), "-e", f"trace={call}", "-e", f"inject={injection}"]) or []
    for word in said[:1]:
        is_plain = word == "done" or word.startswith("store")
        tally.check(is_plain, "unplain errors", (injection, said))
    if len(said) > 1:
        tally.check(said[1] == "done", "not normal again", (injection, said))
    store = nest.folder / "traced-copy" / "x.db"
    examiner.say(store=str(store), told=said)
    for kind, detail in examiner.hear()["faults"]:
        tally.fault(kind, (injection, said, detail))


TRIAL = Trial(
    "crash",
    "killed or failing at any write, sync, truncate or delete of a command: nothing lost, doubled or made up",
    run,
    (
        Twin(
            "forget-command-ids", "an ask remembers the command that ended it", "conflicts with oneself", 0.05
        ),
        Twin("ignore-failed-commit", "a commit that fails is told as a failure", "lost", 0.05),
        Twin("no-full-sync", "a commit is synced before it is acknowledged", "acknowledged unsynced", 0.05),
    ),
    share=0.02,
)
