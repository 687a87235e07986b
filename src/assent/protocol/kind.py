"""The kinds of asks."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["WAITING_KINDS", "Kind"]


class Kind(StrEnum):
    """What sort of thing waits."""

    QUESTION = "question"
    GATE = "gate"
    CONFIRM = "confirm"
    APPROVAL = "approval"
    FINDING = "finding"
    OPEN_QUESTION = "open_question"


WAITING_KINDS = frozenset({Kind.GATE, Kind.CONFIRM, Kind.FINDING})
"""Kinds that take no consequence but `wait`: no timer ever ends them."""
