"""Agents' results that several tests hand in, and the log's words that they look at."""

from typing import Any

from assent.client.client import Client

__all__ = ["DATABASE", "PAGES", "asking", "happened"]

DATABASE = "Which database should we use: PostgreSQL or SQLite?"
PAGES = "Should the API support pagination?"


def asking(*texts: str, agent: str = "Coder", about: str = "task-1", **parts: Any) -> dict[str, Any]:
    """Return the result of an agent that stopped to ask this."""
    questions = [{"text": text} for text in texts]
    return {"agent": agent, "sourceId": about, "status": "failed", "open_questions": questions, **parts}


def happened(client: Client, after: int = 0) -> list[str]:
    """Return the types of a project's events after a number, in order."""
    return [record.type for record in client.log(after=after)]
