"""The planted faults of document reviews: each takes away one thing that keeps a killed review from doing it twice."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from assent.client import reviewing
from assent.effects.document import DocumentWriter
from assent.effects.performer import Intention
from assent.flows.walk_through import defer
from assent.protocol.canonical import Json
from assent.protocol.deferral import Appended
from assent.protocol.finding import Finding
from torture.swap import swap

__all__ = ["REVIEW_PLANTS"]


def _forget_the_review() -> None:
    """Each life is a review of its own."""
    review_id = reviewing.review_id

    def anew(*args: object) -> str:
        return f"{review_id(*args)}:{os.getpid()}"  # type: ignore[arg-type]  # passed on as they came

    swap(reviewing, "review_id", anew)


def _append_without_looking() -> None:
    """No entry is recognised that stands there already; a life that begins anew writes it again."""
    _forget_the_review()

    def append(document: bytes, finding: Finding, date: str) -> Appended:  # noqa: ARG001 - the guard's own
        entry = f'\n- {finding.title}\n\n  <!-- section="{finding.section}" -->\n'
        return Appended(document + entry.encode(), "the end", True)

    swap(defer, "append_deferral", append)


def _write_in_place() -> None:
    """The document is written where it stands, and the disk is slow."""

    def perform(writer: DocumentWriter, intention: Intention) -> Json:
        path = writer._place.root / intention.path
        half = len(intention.content) // 2
        with path.open("wb") as file:
            file.write(intention.content[:half])
            file.flush()
            time.sleep(0.02)
            file.write(intention.content[half:])
        return None

    swap(DocumentWriter, "perform", perform)


REVIEW_PLANTS: dict[str, Callable[[], None]] = {
    "forget-the-review": _forget_the_review,
    "append-without-looking": _append_without_looking,
    "write-in-place": _write_in_place,
}
