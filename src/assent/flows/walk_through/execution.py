"""The fixes, in one pass: computed together, written once (W65-W68, W-X20).

Rule 1: a fix that fails is told with its reason, and the others go on.
Rule 2: if somebody saves the document in the middle of a pass, the pass begins again on what they saved. After a
        few times it gives up, and nothing was applied.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from assent.flows.document import Document, write_document
from assent.flows.step import Failed, Flow
from assent.flows.walk_through.effect import Edited, make_edits
from assent.protocol.canonical import digest
from assent.protocol.error import WorldChangedError
from assent.protocol.finding import Finding

__all__ = ["NO_FIX", "Pass", "run_pass"]

NO_FIX = "Apply skipped — no suggested_fix available"
_ATTEMPTS = 3


class Pass(msgspec.Struct, frozen=True):
    """What came of a pass."""

    applied: tuple[Finding, ...] = ()
    failed: dict[str, str] = {}
    """By id: why it was not applied."""
    present: frozenset[str] = frozenset()
    """By id: what was in the document before the pass."""
    digest: str | None = None
    """Of the document after it; None: it was not written."""

    @property
    def made(self) -> tuple[Finding, ...]:
        """What was worked in by this pass."""
        return tuple(finding for finding in self.applied if finding.finding_id not in self.present)


def run_pass(path: str, findings: Sequence[Finding]) -> Flow[Pass]:
    """Apply the fixes of `findings`; return which are in the document now. Where all were, nothing is written."""
    failed = {finding.finding_id: NO_FIX for finding in findings if not finding.has_fix}  # W66
    fixes = tuple(finding for finding in findings if finding.has_fix)
    if not fixes:
        return Pass(failed=failed)
    reason = ""
    for _ in range(_ATTEMPTS):
        edited = yield from make_edits(path, fixes)
        if isinstance(edited, Failed):
            return _nothing(fixes, failed, edited.message)
        applied = tuple(finding for finding in fixes if finding.finding_id not in edited.failed)
        came = Pass(applied, failed | edited.failed, frozenset(edited.present))
        if not came.made:
            return came
        written = yield from _write(path, edited)
        if written is None:
            return replace(came, digest=digest(edited.content))
        reason = written.message
        if written.code != WorldChangedError.code:
            break
    return _nothing(fixes, failed, reason)


def _write(path: str, edited: Edited) -> Flow[Failed | None]:
    written = yield from write_document(path, Document(b"", edited.before_digest), edited.content)
    return written if isinstance(written, Failed) else None


def _nothing(fixes: Sequence[Finding], failed: dict[str, str], reason: str) -> Pass:
    return Pass(failed=failed | dict.fromkeys((finding.finding_id for finding in fixes), reason))
