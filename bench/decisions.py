"""A person who decides at once about many findings, in a process that does nothing else: the time is its own."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from assent.client.client import Client
from assent.flows.step import Ask as AskStep
from assent.hub.compose import hub_on_file
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from bench.workload import PROJECT

__all__ = ["Reviewing"]

_REPLIES = "ABC"
"""Apply, defer and skip, in turns: every third finding is appended to the document."""


class _Clock:
    """Takes the time from each reply to the next question."""

    def __init__(self) -> None:
        self._replied, self._spent = time.perf_counter(), time.process_time()
        self.gaps: list[float] = []
        self.own: list[float] = []
        """Of each gap, what this process worked: the rest is the disk, and other programs."""

    def ask(self) -> str:
        """Note that a question is here; return its reply, which is given in this moment."""
        self.gaps.append(self.stop())
        self.own.append(1000 * (time.process_time() - self._spent))
        self._replied, self._spent = time.perf_counter(), time.process_time()
        # The first one is the way: one by one.
        return "A" if len(self.gaps) == 1 else _REPLIES[len(self.gaps) % len(_REPLIES)]

    def stop(self) -> float:
        """Return the milliseconds since the last reply."""
        return 1000 * (time.perf_counter() - self._replied)


class _Surface:
    """Somebody who replies at once, and to whom nothing is shown."""

    def __init__(self, clock: _Clock) -> None:
        self._clock = clock

    def present(self, ask: AskStep) -> None:
        """Nothing is drawn."""

    def read(self) -> str:
        """Reply."""
        return self._clock.ask()

    def echo(self, ask: AskStep, refusal: AssentError) -> None:
        """Nothing is refused."""
        raise AssertionError(ask, refusal)

    def say(self, markdown: str) -> None:
        """Nothing is drawn."""


class Reviewing:
    """Goes through one review."""

    def __init__(self, store: Path, role: str, say: Callable[[dict[str, Any]], None]) -> None:
        del role, say
        self._store = store

    def review(self, *, count: int, is_durable: bool) -> dict[str, Any]:
        """Return the milliseconds before each question, what of them was our own work, and those after the last reply."""
        document = self._store.with_suffix(".md")
        document.write_text(_document(count), encoding="utf-8")
        findings = {"findings": [_finding(number) for number in range(count)]}
        with (
            closing(Client(hub_on_file(self._store), PROJECT, Principal(Role.AGENT, "bench"))) as agent,
            closing(Client(hub_on_file(self._store), PROJECT, Principal(Role.HUMAN, "bench"))) as person,
        ):
            clock = _Clock()

            def present(ask: Ask) -> None:
                person.answer(ask.ask_id, clock.ask())

            if is_durable:
                report = agent.review(findings, document=document, durable=True, present=present)
            else:
                report = agent.review(findings, document=document, surface=_Surface(clock))
            last = clock.stop()
        if len(report.decisions) != count or report.failures:
            raise AssertionError(report.failures or len(report.decisions))
        return {"gaps": clock.gaps, "own": clock.own, "last": last}


def _finding(number: int) -> dict[str, Any]:
    passage = f"Passage {number} stands here."
    return {
        "id": f"p{number}",
        "title": f"Passage {number} is unclear",
        "severity": "P2",
        "section": f"Part {number}",
        "why_it_matters": f"Readers of passage {number} stop. Then they ask somebody else about it.",
        "finding_type": "error",
        "autofix_class": "gated_auto",
        "confidence": 75,
        "recommended_action": "Apply",
        "evidence": [passage],
        "reviewers": ["coherence", "feasibility"],
        "suggested_fix": "Say it in one clear sentence.",
        "edit": {"before": passage, "after": f"Passage {number} is clear."},
    }


def _document(count: int) -> str:
    passages = (f"## Part {number}\n\nPassage {number} stands here.\n" for number in range(count))
    return "\n".join(itertools.chain(["# Plan\n"], passages))
