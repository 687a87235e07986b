"""Puts a text into every place of a store where an agent's words, or a name, come from outside.

What the store refuses is counted and put in anew as it would have to be written: without what cannot be seen, and no
longer than it may be. So a place is never empty because the attacker was clumsy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from assent.client.client import Client
from assent.protocol.display import display
from assent.protocol.error import AssentError, StillOpen
from assent.protocol.principal import Assurance, Principal, Role, parse_principal
from assent.protocol.project import check_project
from assent.protocol.prompt import Field, Option, Prompt, check_prompt
from assent.protocol.run import check_run_id
from assent.protocol.task import check_task_id, check_task_title
from assent.testing.server import ThrowawayServer

__all__ = ["Planted", "plant"]

_LONGEST_NAME = 120


class Planted(msgspec.Struct):
    """What stands in the store, and where a page has to look for it."""

    asks: list[tuple[str, str]] = []
    """Project and id of those that are open."""
    runs: list[tuple[str, str]] = []
    reviews: list[tuple[str, str]] = []
    """Project and flow of each durable review."""
    fields: Counter[str] = msgspec.field(default_factory=Counter)
    """Of each place, how many texts stand in it as they were given."""
    tamed: Counter[str] = msgspec.field(default_factory=Counter)
    """The same for those that were refused, and stand there in another spelling."""


def plant(site: ThrowawayServer, texts: Sequence[str], folder: Path) -> Planted:
    """Put every text into every place; all of them through the client that agents and people use."""
    sower = _Sower(site, folder)
    for number, text in enumerate(texts):
        sower.sow(number, text)
    sower.review(texts)
    return sower.planted


class _Sower:
    def __init__(self, site: ThrowawayServer, folder: Path) -> None:
        self.planted = Planted()
        self._hub = site.store.hub()
        self._home = site.store.project
        self._folder = folder
        self._minter = site.store.person("minter", assurance=Assurance.TERMINAL)

    def sow(self, number: int, text: str) -> None:
        """Put one text everywhere but into a review."""
        project = self._as("project name", text, check_project, f"project {number}")
        name = self._as(
            "asker's name", text, lambda name: parse_principal(f"agent:{name}"), f"agent {number}"
        )
        agent = Client(self._hub, project, Principal(Role.AGENT, name))
        self._ask(agent, number, text)
        run_id = self._run(agent, number, text)
        self._approve(agent, text, run_id)
        self._end(agent, text)
        self._work(agent, number, text)
        self._talk(agent, number, text)
        token = self._as("token name", text, lambda name: parse_principal(f"human:{name}"), f"token {number}")
        self._minter.create_token(Role.OBSERVER, name=token, projects=(project,))

    def _as(self, place: str, text: str, check: Callable[[str], object], otherwise: str) -> str:
        """Return the text as it may stand in a place."""
        tame = " ".join(display(text.replace("/", "\\"), lines=False).split())[:_LONGEST_NAME].strip()
        for kept, found in ((self.planted.fields, text), (self.planted.tamed, tame)):
            with suppress(AssentError):
                check(found)
                kept[place] += 1
                return found
            with suppress(AssentError):  # a name without blanks may be one
                joined = found.replace(" ", "_")
                check(joined)
                self.planted.tamed[place] += 1
                return joined
        return otherwise

    def _ask(self, agent: Client, number: int, text: str) -> None:
        def prompt(**parts: str) -> Prompt:
            said = {
                "title": "t",
                "body": "",
                "name": "q1",
                "text": "",
                "key": "k",
                "label": "l",
                "note": "",
                "other": "o",
            }
            said |= parts
            options = (
                Option(said["key"], said["label"], description=said["note"]),
                Option("second", "Second"),
            )
            field = Field(said["name"], said["text"], options, free=True, other=said["other"])
            return Prompt(said["title"], said["body"], (field, Field("q2", said["text"], free=True)))

        parts: dict[str, str] = {}
        for place, plain in (
            ("title", "A title"), ("body", ""), ("name", "q1"), ("text", ""), ("key", "k"), ("label", "One"),
            ("note", ""), ("other", "Other"),
        ):  # fmt: skip

            def check(words: str, place: str = place) -> None:
                check_prompt(prompt(**(parts | {place: words})))

            words = f"{text} as I say" if place == "other" else text  # no two choices may read the same
            parts[place] = self._as(f"question {place}", words, check, plain)
        key = f"{number} {display(text, lines=False)}"[:_LONGEST_NAME]
        self._open(agent, prompt(**parts), key=key)

    def _open(self, agent: Client, prompt: Prompt, **parts: Any) -> str:
        opened = agent.open(prompt, **parts)
        self.planted.asks.append((agent.project, str(opened.ask_id)))
        return str(opened.ask_id)

    def _approve(self, agent: Client, text: str, run_id: str) -> None:
        action: dict[str, Any] = {
            text: text,
            "command": text,
            "argv": [text, text],
            "files": [
                {"path": text, "diff": f"--- a\n+++ b\n@@ -1,2 +1,2 @@ {text}\n-{text}\n+{text} \n {text}\n"}
            ],
            "deep": {
                text: {text: [text, {text: None}]},
                "__proto__": {"polluted": text},
                "constructor": text,
            },
        }

        def check(words: str) -> None:
            check_prompt(Prompt(words, words, (Field("approve"),), None, words))

        words = self._as("approval title, body, risk", text, check, "An approval")
        try:
            agent.approve(words, action=action, risk=words, body=words, run_id=run_id or None, wait=0)
        except StillOpen as still:
            self.planted.asks += [(agent.project, str(ask.ask_id)) for ask in (still.ask,) if ask]
        self.planted.fields["action keys, values, command, difference"] += 1

    def _run(self, agent: Client, number: int, text: str) -> str:
        run_id = self._as("run id", f"{number}-{text}", check_run_id, f"run-{number}")
        tame = display(text, lines=False)[:_LONGEST_NAME]
        tried = (
            (self.planted.fields, text),
            (self.planted.tamed, tame),
            (self.planted.tamed, f"run {number}"),
        )
        for kept, words in tried:
            with suppress(AssentError):
                self._drive(agent, run_id, words)
                kept["run title, model"] += 1
                self.planted.runs.append((agent.project, run_id))
                break
        else:
            raise AssertionError(f"no run could be planted for {text!r}")
        return run_id

    def _drive(self, agent: Client, run_id: str, text: str) -> None:
        # Whoever is interrupted leaves the run open, so that it can be asked about and steered.
        with suppress(KeyboardInterrupt), agent.run(run_id=run_id, max=3, title=text, model=text) as run:
            next(run)
            run.tell(f"{text}\n\x1b[31m{text}\r\n")
            self.planted.fields["run output"] += 1
            self._steer(agent.project, run_id, text)
            raise KeyboardInterrupt

    def _steer(self, project: str, run_id: str, text: str) -> None:
        person = Client(self._hub, project, Principal(Role.HUMAN, "sam"), assurance=Assurance.TERMINAL)
        for kept, words in (
            (self.planted.fields, text),
            (self.planted.tamed, display(text, lines=False)[:_LONGEST_NAME]),
        ):
            with suppress(AssentError):
                person.control(run_id, "escalate", model="opus", reason=words, wait=1)
                kept["control reason"] += 1
                break

    def _end(self, agent: Client, text: str) -> None:
        person = Client(self._hub, agent.project, Principal(Role.HUMAN, "sam"), assurance=Assurance.TERMINAL)
        for place, end in (("decline reason", person.decline), ("withdraw reason", agent.withdraw)):
            ask_id = agent.open("Will it end?", ["Yes", "No"]).ask_id
            with suppress(AssentError):
                end(ask_id, text)
                self.planted.fields[place] += 1
                continue
            end(ask_id, display(text, lines=False)[:_LONGEST_NAME])
            self.planted.tamed[place] += 1
        answered = agent.open("Which words?").ask_id
        with suppress(AssentError):
            person.answer(answered, {"q1": (text,)})
            self.planted.fields["a person's own words"] += 1

    def _work(self, agent: Client, number: int, text: str) -> None:
        task_id = self._as("task id", f"{number}-{text}", check_task_id, f"T-{number}")
        agent.create_task(self._as("task title", text, check_task_title, "A task"), task_id=task_id)
        for kept, words in (
            (self.planted.fields, text),
            (self.planted.tamed, display(text, lines=False)[:_LONGEST_NAME]),
        ):
            questions: list[Any] = [{"id": "q1", "text": words}, {"id": words, "text": words}]
            result = {"agent": "coder", "sourceId": task_id, "status": "failed", "open_questions": questions}
            with suppress(AssentError):
                handed = agent.hand_in(result)
                if handed.notification is None:
                    continue  # nothing of it can be seen, so it asks nothing
                self.planted.asks.append((agent.project, str(handed.notification.ask_id)))
                kept["notification question"] += 1
                break

    def _talk(self, agent: Client, number: int, text: str) -> None:
        topic = f"notes-{number}"
        with suppress(AssentError):
            agent.post(topic, {"schema": 1, text: text, "says": [text]})
            self.planted.fields["topic message"] += 1
        with suppress(AssentError):
            agent.post(f"notes-{text}", {"schema": 1})
            self.planted.fields["topic name"] += 1

    def review(self, texts: Sequence[str]) -> None:
        """Hand in one durable review with a finding for each text."""
        agent = Client(self._hub, self._home, Principal(Role.AGENT, "reviewer"))
        document = self._folder / "plan.md"
        document.write_text("# Plan\n\n## Retry\n\nThree tries.\n", encoding="utf-8")
        taken = [self._finding(text) for text in texts]
        with suppress(StillOpen):
            agent.review(
                [{"reviewer": "coherence", "findings": taken, "residual_risks": list(texts), "deferred_questions": list(texts)}],
                document=document, durable=True, wait=0, document_type="plan",
            )  # fmt: skip
        found = [ask for ask in agent.inbox() if (ask.key or "").startswith("review:")]
        self.planted.asks += [(self._home, str(ask.ask_id)) for ask in found]
        self.planted.reviews += [
            (self._home, key.rpartition(":")[0].removesuffix(":next"))
            for ask in found
            if (key := ask.key or "")
        ]

    def _finding(self, text: str) -> dict[str, Any]:
        self.planted.fields["finding"] += 1
        return {
            "title": text, "severity": "P1", "section": text, "why_it_matters": text, "finding_type": "error",
            "autofix_class": "gated_auto", "confidence": 100, "evidence": [text], "suggested_fix": text,
            "edit": {"before": "Three", "after": text}, "plain_title": text, "why_it_works": text,
        }  # fmt: skip
