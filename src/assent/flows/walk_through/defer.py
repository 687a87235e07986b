"""Deferring a finding: its entry in the document's Open Questions, at once (W50, W-U10, W-U11).

Rule 1: the document is read before each entry. If somebody else changed it since it was last seen here, nothing is
        appended and a person is asked. Their Retry is for the document as it was then: changed once more, it is asked
        once more.
Rule 2: what fails can be tried again for ever. It ends as a deferral that only the report has, or as a Skip. Whoever
        declines to say keeps the deferral; whoever leaves has left the review (W-X21).
"""

from __future__ import annotations

from assent.flows.document import read_document, write_document
from assent.flows.step import Failed, Flow, say
from assent.flows.walk_through.menu import CONVERT, RECORD_ONLY, RETRY, failure_prompt
from assent.flows.walk_through.walk import Walk, choose
from assent.protocol.canonical import digest
from assent.protocol.decision import Decision, Failure, Verb
from assent.protocol.deferral import SECTION, Appended, append_deferral
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError
from assent.protocol.finding import Action, Finding

__all__ = ["defer"]

_APPEND = "Append"


def defer(walk: Walk, finding: Finding, note: str = "", *, is_told: bool = True) -> Flow[Action]:
    """Defer a finding; return the action that it came to: Defer, or Skip where it was converted (W-X12)."""
    while True:
        came = yield from _append(walk, finding)
        if isinstance(came, Appended):
            walk.decide(Decision(finding, Verb.DEFERRED, note, append_location=came.location))
            if not came.is_new:
                walk.notes.append(f'"{quote(finding.title)}" stood in Open Questions already.')
            if is_told:
                yield from say(_confirm(came))
            return Action.DEFER
        prompt = failure_prompt(finding, walk.place_of(finding), came)
        chosen = yield from choose(prompt, declined=RECORD_ONLY)
        if chosen == RETRY:
            continue
        walk.failures.append(Failure(finding, _APPEND, came))
        if chosen == CONVERT:
            walk.decide(Decision(finding, Verb.SKIPPED, note, reason=came))
            yield from say("→ Skipped. The entry could not be appended.")
            return Action.SKIP
        walk.decide(Decision(finding, Verb.DEFERRED, note, reason=came, is_recorded_only=True))
        yield from say("→ Deferred. Recorded in the report only.")
        return Action.DEFER


def _confirm(appended: Appended) -> str:
    if appended.is_new:
        return f'→ Deferred. Entry appended to "{SECTION}".'
    return f'→ Deferred. The entry stands in "{SECTION}" already.'


def _append(walk: Walk, finding: Finding) -> Flow[Appended | str]:
    """Return the entry, or in a sentence why there is none."""
    known, walk.known_digest = walk.known_digest, None
    document = yield from read_document(walk.path)
    if isinstance(document, Failed):
        return document.message
    if document.digest is None:
        return f'"{quote(walk.path)}" is not there any more.'
    if known is not None and document.digest != known:
        walk.known_digest = document.digest
        return f'Somebody changed "{quote(walk.path)}" since it was last looked at.'
    try:
        appended = append_deferral(document.content, finding, walk.date)
    except BadRequestError as error:
        return error.message
    if appended.is_new:
        written = yield from write_document(walk.path, document, appended.content)
        if isinstance(written, Failed):
            return written.message
    walk.known_digest = digest(appended.content)
    return appended
