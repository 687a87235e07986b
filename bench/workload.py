"""What is asked and answered in every measurement: an ask as an agent would open it."""

from __future__ import annotations

from typing import TypedDict

__all__ = ["AGENT", "ANSWER", "BODY", "OPTIONS", "PERSON", "PROJECT", "TITLE", "Extra", "ask_parts"]

PROJECT = "bench"
PERSON = "human:bench"
AGENT = "agent:bench"
TITLE = "Deploy version 2.4.1 to production?"
OPTIONS = ("Deploy now", "Wait for the nightly window", "Do not deploy")
BODY = "The migration was rehearsed on a copy. It locks the orders table for about two seconds."
ANSWER = "1"


class Extra(TypedDict):
    """The named parts of an ask that every call here uses."""

    body: str
    key: str


def ask_parts(key: str) -> Extra:
    """Return the named parts of an ask that can be found again by `key`, as durable askers do."""
    return {"body": BODY, "key": key}
