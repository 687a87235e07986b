"""Durable document reviews to be killed: what they are about, who drives them, who answers, and who looks afterwards.

Every fix leaves the passage that it changes in the document, so that making it twice is possible, and shows.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

from assent.client.calls import Calls
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.client.door import Call
from assent.client.review import review
from assent.hub.audit import verify
from assent.hub.record import Step
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role
from torture.nursery import Wire
from torture.swap import swap

__all__ = ["APPLIED", "ENTRY", "driver", "make_review", "person", "undisturbed", "witness"]

APPLIED = "Said clearly."
"""Stands behind a passage once for each time that it was fixed."""
ENTRY = "<!-- section="
"""Once in each deferred entry."""
_CHOICES = {
    "What should the agent do with": "AAAABC",
    "Finding": "AABBCD",
    "P": "ABC",  # the only one has no counter
    "Apply isn't": "ABC",
    "Skipping this root": "AB",
    "Deferring this root": "AB",
    "Should the agent": "A",
    "The entry could not": "B",
}
"""The letters that are replied to a question, by how it begins."""

Review = tuple[dict[str, Any], str]


def make_review(seed: int) -> Review:
    """Return findings and the document that they are about, the same for the same number."""
    chance = random.Random(seed)
    names = [f"p{number}" for number in range(chance.randint(2, 6))]
    document = "\n".join(["# Plan\n", *(f"Passage {name} stands here.\n" for name in names)])
    findings = [_finding(chance, name) for name in names]
    if len(findings) > 3 and chance.random() < 0.5:
        findings[0] |= {"autofix_class": "manual", "severity": "P0", "dependents": names[1:3]}
        for finding in findings[1:3]:
            finding |= {"autofix_class": "manual", "depends_on": names[0]}
    return {"findings": findings}, document


def _finding(chance: random.Random, name: str) -> dict[str, Any]:
    passage = f"Passage {name} stands here."
    finding: dict[str, Any] = {
        "id": name,
        "title": f"Passage {name} is unclear",
        "severity": chance.choice(["P1", "P2", "P3"]),
        "section": f"Part {name}",
        "why_it_matters": f"Readers of {name} stop.",
        "finding_type": "error",
        "autofix_class": chance.choice(["safe_auto", "safe_auto", "gated_auto", "gated_auto", "manual"]),
        "confidence": 100,
        "recommended_action": chance.choice(["Apply", "Apply", "Defer", "Skip"]),
        "evidence": [passage],
        "reviewers": ["coherence"],
    }
    if finding["autofix_class"] != "manual" or chance.random() < 0.5:
        finding["suggested_fix"] = "Say it clearly."
    if chance.random() < 0.5:
        finding["edit"] = {"before": passage, "after": f"{passage} {APPLIED}"}
    return finding


def _apply(finding: dict[str, Any], document: str) -> str:
    passage = finding["evidence"][0]
    return document.replace(passage, f"{passage} {APPLIED}")


def _client(store: str, project: str, role: Role) -> Client:
    return Client(open_hub(Path(store), os.environ), project, Principal(role, "ana"))


def _around(happen: Callable[[], None]) -> None:
    """Have `happen` called before and after each entry of a journal and each move of a file."""
    write, move = Calls.write_step, os.replace

    def write_step(self: Calls, step: Step) -> Call[None]:
        happen()
        yield from write(self, step)
        happen()

    def replace(*args: Any, **kwargs: Any) -> None:
        happen()
        move(*args, **kwargs)
        happen()

    swap(Calls, "write_step", write_step)
    swap(os, "replace", replace)


def driver(wire: Wire, store: str, project: str, document: str, seed: int, moments: int) -> None:
    """Go through a review, from its start or from where it stopped; die at a moment of one's own, if told to."""
    client = _client(store, project, Role.AGENT)
    lived = 0

    def live() -> None:
        nonlocal lived
        lived += 1
        if lived == moments:
            wire.say(dies=True)
            os.kill(os.getpid(), signal.SIGKILL)

    _around(live)
    findings, _ = make_review(seed)
    wire.say(ready=True)
    report = review(client, findings, document=document, durable=True, apply=_apply)
    wire.say(verdict=report.verdict, failures=[failure.reason for failure in report.failures])


def undisturbed(wire: Wire, store: str, project: str, document: str, seed: int) -> None:
    """Go through the same review on a copy, answering as one goes; tell each state of the document."""
    agent, ana = _client(store, project, Role.AGENT), _client(store, project, Role.HUMAN)
    path = Path(document)
    states = [path.read_text(encoding="utf-8")]
    move = os.replace

    def replace(*args: Any, **kwargs: Any) -> None:
        move(*args, **kwargs)
        states.append(path.read_text(encoding="utf-8"))

    swap(os, "replace", replace)
    findings, _ = make_review(seed)
    asked: list[str] = []

    def present(ask: Ask) -> None:
        asked.append(ask.prompt.title)
        ana.answer(ask.ask_id, _reply(ask, seed))

    report = review(agent, findings, document=document, durable=True, apply=_apply, present=present)
    wire.say(states=states, asked=len(asked), verdict=report.verdict)


def _reply(ask: Ask, seed: int) -> str:
    """Return what is replied to a question: by chance, but the same whenever it is asked."""
    title = ask.prompt.title
    letters = next(letters for begins, letters in _CHOICES.items() if title.startswith(begins))
    shown = [str(option.mark) for option in ask.prompt.fields[0].options]
    wanted = letters[crc32(f"{seed}{title}".encode()) % len(letters)]
    return wanted if wanted in shown else shown[0]


def person(wire: Wire, store: str, project: str, seed: int) -> None:
    """Answer everything as it comes, from a process of one's own."""
    ana = _client(store, project, Role.HUMAN)
    wire.say(ready=True)
    with ana.hub.follow(project, 0) as feed:
        while True:
            for record in feed.wait(1.0):
                if record.type != "ask.opened":
                    continue
                ask = ana.show(record.subject)
                if ask.is_open:
                    ana.answer(ask.ask_id, _reply(ask, seed))


def witness(wire: Wire, store: str, project: str) -> None:
    """Tell what was asked in a project, and what the audit says of the store."""
    client = _client(store, project, Role.AGENT)
    # With what stands above it: what to do without a fix is asked in the same words about each finding.
    titles = [f"{ask.prompt.title} {ask.digest}" for ask in client.inbox(all_states=True, limit=500)]
    try:
        problems = list(verify(client.hub.store).problems)
    except AssentError as error:
        problems = [error.message]
    wire.say(titles=titles, problems=problems)
