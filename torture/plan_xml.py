"""Hostile plans: each is refused, or read where it is harmless, in little time and memory, and nothing else is touched."""

from __future__ import annotations

import sys
import time
import tracemalloc

import msgspec

from assent.protocol.plan import Plan as WorkPlan
from assent.protocol.plan import read_plan
from torture.nest import Nest
from torture.nursery import Wire
from torture.plan_cases import Case, hostile_plans
from torture.trial import Plan, Tally, Trial, Twin, Verdict, is_plain

__all__ = ["MEMORY_BYTES", "SECONDS", "TRIAL", "Reading", "measure", "reader", "run", "watch"]

SECONDS = 0.1
MEMORY_BYTES = 32 << 20
_TRIES = 3
"""The time that a file takes is the shortest of so many: what others do on this machine is not its fault."""
_LEAST = 200
_ANY_NUMBER = "any-number-of-elements"
_ONLY = {_ANY_NUMBER: "200000 elements"}
"""Twins for which a few of the files are enough, and a word in their names."""
KINDS = (
    "read in spite of all",
    "refused without cause",
    "unplain refusals",
    "slow",
    "too much memory",
    "touched",
)

_OUTSIDE = (
    "open",
    "socket.",
    "os.",
    "subprocess.",
    "import",
    "urllib.",
    "ctypes.",
    "exec",
    "compile",
    "shutil.",
)
_touched: list[str] = []


class Reading(msgspec.Struct, frozen=True):
    """What came of one file."""

    name: str
    is_read: bool
    reason: str
    seconds: float
    memory_bytes: int
    touched: tuple[str, ...]


def watch() -> None:
    """Note from now on, in this process, whatever reaches for a file, the network, a module or another process."""

    def hear(event: str, arguments: tuple[object, ...]) -> None:
        if event.startswith(_OUTSIDE):
            _touched.append(f"{event} {arguments[:1]!r}"[:200])

    sys.addaudithook(hear)


def measure(case: Case, tries: int = _TRIES) -> Reading:
    """Read one file, with an eye on processor time, memory and the world; `watch` must have been called."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    _touched.clear()
    is_read, reason = _read(case)
    touched = tuple(_touched)
    memory_bytes = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    seconds = min(_time(case) for _ in range(tries))
    return Reading(case.name, is_read, reason, seconds, memory_bytes, touched)


def _read(case: Case) -> tuple[bool, str]:
    try:
        found = read_plan(case.text)
    except Exception as error:  # noqa: BLE001 - an error that is none of ours is what we look for
        return False, repr(error)[:200]
    return (True, "") if isinstance(found, WorkPlan) else (False, found.reason)


def _time(case: Case) -> float:
    began = time.process_time()
    _read(case)
    return time.process_time() - began


def reader(wire: Wire, tries: int, only: str) -> None:
    """Read every hostile file, or those whose names have a word in them, and tell what came of each."""
    watch()
    for case in (case for case in hostile_plans() if only in case.name):
        wire.say(reading=msgspec.to_builtins(measure(case, tries)), is_harmless=case.is_harmless)
    wire.say(done=True)


def run(plan: Plan) -> Verdict:
    """Have another process read them all, and look at what it tells. They are few: every scale reads all."""
    tally = Tally(KINDS)
    # A share of the trial is a test, and on a busy machine time does not decide a test.
    seconds, tries = (SECONDS, _TRIES) if plan.scale >= 1 else (10 * SECONDS, 1)
    slowest = largest = 0.0
    with Nest(plan.twin, in_memory=True) as nest:
        worker = nest.start("torture.plan_xml:reader", tries=tries, only=_ONLY.get(plan.twin, ""))
        while "done" not in (told := worker.hear()):
            reading = msgspec.convert(told["reading"], Reading)
            slowest, largest = max(slowest, reading.seconds), max(largest, reading.memory_bytes)
            _judge(tally, told["is_harmless"], reading, seconds)
    tally.notes["slowest"] = f"{slowest * 1_000:.0f} ms"
    tally.notes["most memory"] = f"{largest / (1 << 20):.1f} MiB"
    tally.require("refused", _LEAST)
    tally.require("read", 10)
    return tally.verdict()


def _judge(tally: Tally, is_harmless: bool, reading: Reading, seconds: float) -> None:
    tally.add("read" if reading.is_read else "refused")
    if reading.is_read:
        tally.check(is_harmless, "read in spite of all", reading.name)
    else:
        tally.check(not is_harmless, "refused without cause", f"{reading.name}: {reading.reason}")
        tally.check(is_plain(reading.reason), "unplain refusals", f"{reading.name}: {reading.reason}")
    tally.check(reading.seconds < seconds, "slow", f"{reading.name}: {reading.seconds:.3f} s")
    tally.check(
        reading.memory_bytes < MEMORY_BYTES,
        "too much memory",
        f"{reading.name}: {reading.memory_bytes:,} bytes",
    )
    tally.check(not reading.touched, "touched", f"{reading.name}: {', '.join(reading.touched)}")


TRIAL = Trial(
    "plan-xml",
    "hostile plans are refused within 100 ms and 32 MiB each, and touch no file and no network",
    run,
    (
        Twin(_ANY_NUMBER, "the limit on a plan's elements", "too much memory", 0.1),
        Twin("any-encoding", "the refusal of other encodings", "touched", 0.1),
    ),
)
