"""What the tests of reviews from Python share: a folder with a document, a surface with a script, and who answers."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from assent.client.client import Client
from assent.flows.step import Ask as AskStep
from assent.flows.step import Ended
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError

__all__ = ["REPLIES", "Script", "answering", "apply_by_evidence", "reply_to", "write_document"]

REPLIES = {
    "What should the agent do with": "A",
    "Finding 1 of 5": "B",
    "Deferring this root": "A",
    "Finding 2 of 5": "A",
    "Finding 3 of 5": "B",
    "Finding 4 of 5": "LFG the rest",
    "Should the agent do this": "Proceed",
    "What should the agent do next": "stop",
}
"""What is replied to each question about the round of five, by how it begins."""


def reply_to(title: str, replies: Mapping[str, str] = REPLIES) -> str:
    """Return what is replied to a question."""
    (reply,) = (reply for begins, reply in replies.items() if title.startswith(begins))
    return reply


class Script:
    """A surface that reads its replies from a list and remembers what it showed."""

    def __init__(self, *replies: str | Ended) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []
        self.said: list[str] = []
        self.refused: list[str] = []

    def present(self, ask: AskStep) -> None:
        self.asked.append(ask.prompt.title)

    def read(self) -> str | Ended | None:
        return self.replies.pop(0) if self.replies else None

    def echo(self, ask: AskStep, refusal: AssentError) -> None:  # noqa: ARG002 - a real one shows the options again
        self.refused.append(refusal.message)

    def say(self, markdown: str) -> None:
        self.said.append(markdown)


def answering(person: Client, seen: list[Ask], replies: Mapping[str, str] = REPLIES) -> Callable[[Ask], None]:
    """Return who answers each ask as soon as it is there, and notes it."""

    def present(ask: Ask) -> None:
        seen.append(ask)
        person.answer(ask.ask_id, reply_to(ask.prompt.title, replies))

    return present


def write_document(folder: Path, text: str) -> Path:
    """Write a document into a project of its own; return its path."""
    (folder / ".assent").mkdir(exist_ok=True)
    path = folder / "plan.md"
    path.write_text(text)
    return path


def apply_by_evidence(finding: dict[str, Any], document: str) -> str:
    """Work a fix in words in: the passage that was quoted becomes clear."""
    return document.replace(finding["evidence"][0], f"Passage {finding['id']} is clear.")
