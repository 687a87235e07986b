"""What will be posted to a pull request, and with which verdict (G-U9, G-U10).

Rule 1: what agents wrote goes through `protocol.markdown`: it hides nothing, calls nobody, and does not run on.
Rule 2: nothing is cut in silence. What does not fit is named, in the text itself and in `Posted.left_out`.
Rule 3: the same choice in the same session has the same name, by which it is posted once.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from assent.flows.session.finding import Held, Session, in_order
from assent.flows.step import Effect
from assent.protocol.canonical import Json, canonical, digest
from assent.protocol.display import display
from assent.protocol.markdown import code, cut, fence, neutralise
from assent.protocol.review import BADGES, PullRequest, Severity

__all__ = [
    "MAX_BODY",
    "Event",
    "InlineComment",
    "PostReview",
    "Posted",
    "ThreadReply",
    "Unplaced",
    "compose",
    "post_only_verdict",
    "render_body",
    "render_verdict",
    "verdict",
]

MAX_BODY = 65_000
"""GitHub refuses a text of more than 65,536 characters; the rest is for our marks."""
_NAME_DIGITS = 32
"""Of a sha256: far more than is needed to tell the postings of one pull request apart."""


class Event(StrEnum):
    """A verdict as GitHub spells it."""

    REQUEST_CHANGES = "REQUEST_CHANGES"
    COMMENT = "COMMENT"
    APPROVE = "APPROVE"


_VERDICTS = {
    Event.REQUEST_CHANGES: "Request changes",
    Event.COMMENT: "Approve with suggestions",
    Event.APPROVE: "Approve",
}


class InlineComment(msgspec.Struct, frozen=True):
    """A comment on a line of the change."""

    finding_id: str
    path: str
    line: int
    side: str
    body: str
    plain: str = ""
    """The same as it stands elsewhere, where a suggestion cannot be applied."""


class ThreadReply(msgspec.Struct, frozen=True):
    """A reply in a thread that is there already."""

    finding_id: str
    thread_id: int
    body: str


class PostReview(Effect, frozen=True, tag="post_review"):
    """Post one review with its comments."""

    pull_request: PullRequest
    event: Event
    body: str
    comments: tuple[InlineComment, ...]
    replies: tuple[ThreadReply, ...]
    name: str
    """By which a review that was posted already is known again."""
    moved_to: str = ""
    """The head that the person was shown, where it is not the commit that was looked at."""


class Posted(msgspec.Struct, frozen=True):
    """What came of it; the result of `PostReview` when it is done."""

    new: int
    """Comments on lines."""
    replied: int
    failed: int
    """Findings that could not be placed, and stand in the body instead."""
    url: str = ""
    event: str = ""
    """The verdict as GitHub took it."""
    note: str = ""
    """What the person should know: a verdict that GitHub did not take, a commit that is no longer the last one."""
    left_out: tuple[str, ...] = ()
    """Findings for which even the body had no room: they were posted nowhere."""
    was_posted: bool = False
    """It had been posted before, and nothing was posted now."""
    moved_to: str = ""
    """Nothing was posted: this is the head by now, and not the one that the person was shown."""


class Unplaced(msgspec.Struct, frozen=True):
    """A finding that stands in the body of the review."""

    finding_id: str
    place: str
    """Where it belongs, in words."""
    text: str


def verdict(session: Session) -> Event:
    """Return the verdict on all that was found, marked or not, and on the threads that are there (G-U9).

    Nobody can approve their own pull request or request changes of it: GitHub takes a comment only.
    """
    severities = {held.finding.severity for held in session.held}
    threads = {comment.status for comment in session.comments}
    if session.self_review:
        return Event.COMMENT
    if Severity.CRITICAL in severities or "open" in threads:
        return Event.REQUEST_CHANGES
    if Severity.WARNING in severities or "to-verify" in threads:
        return Event.COMMENT
    return Event.APPROVE


def post_only_verdict(held: Sequence[Held]) -> Event:
    """Return the verdict where findings are only posted: on those that are included (G-U10)."""
    has_critical = any(each.finding.severity is Severity.CRITICAL for each in held)
    return Event.REQUEST_CHANGES if has_critical else Event.COMMENT


def render_verdict(event: Event) -> str:
    """Return a verdict in words.

    >>> render_verdict(Event.COMMENT)
    'Approve with suggestions'
    """
    return _VERDICTS[event]


def compose(session: Session, held: Sequence[Held], event: Event) -> PostReview:
    """Return the posting of `held` with a verdict."""
    chosen = in_order(held)
    pull_request = session.pull_request
    choice: Json = {
        "started": session.started,
        "pull_request": [pull_request.owner, pull_request.repo, pull_request.number, pull_request.head_sha],
        "findings": [each.finding_id for each in chosen],
    }
    return PostReview(
        pull_request,
        event,
        _opening(session, chosen, event),
        tuple(_comment(each) for each in chosen if each.finding.thread_id is None),
        tuple(
            ThreadReply(each.finding_id, each.finding.thread_id, _text(each, is_inline=False))
            for each in chosen
            if each.finding.thread_id is not None
        ),
        digest(canonical(choice)).removeprefix("sha256:")[:_NAME_DIGITS],
        session.moved_to,
    )


def _opening(session: Session, chosen: Sequence[Held], event: Event) -> str:
    # Only where all was looked at a comment means that it could go in; else it is no more than a comment.
    is_verdict = event is verdict(session) and not session.self_review
    words = render_verdict(event) if is_verdict or event is not Event.COMMENT else "Comment"
    tally = _tally([each.finding.severity for each in chosen])
    lines = [f"**{words}**: {tally} Commit {session.pull_request.head_sha[:7]}."]
    waiting = sum(comment.status == "open" for comment in session.comments)
    if waiting:
        lines.append(f"{waiting} open {'thread' if waiting == 1 else 'threads'} of other reviewers.")
    return "\n\n".join(lines)


def _tally(severities: Sequence[Severity]) -> str:
    if not severities:
        return "no findings."
    counts = [(severities.count(severity), BADGES[severity]) for severity in Severity]
    shown = ", ".join(f"{count} {badge}" for count, badge in counts if count)
    return f"{len(severities)} {'finding' if len(severities) == 1 else 'findings'} ({shown})."


def _comment(held: Held) -> InlineComment:
    finding = held.finding
    plain = _text(held, is_inline=False)
    body = _text(held, is_inline=True)
    return InlineComment(held.finding_id, finding.file, finding.line, finding.side, body, plain)


def _text(held: Held, *, is_inline: bool) -> str:
    finding = held.finding
    badge = BADGES[finding.severity]
    title = neutralise(display(finding.title, lines=False))
    parts = [
        f"**{badge}** · {held.finding_id} · {finding.category}\n\n**{title}**",
        neutralise(finding.description),
    ]
    if finding.suggestion:
        parts.append(_suggestion(finding.suggestion, can_apply=is_inline and finding.side == "RIGHT"))
    return cut("\n\n".join(parts), MAX_BODY)


def _suggestion(text: str, *, can_apply: bool) -> str:
    if display(text) != text.replace("\r\n", "\n"):
        # One click would put it into the code, with characters that nobody saw or with our marks for them.
        return f"The suggestion holds hidden characters, so it cannot be applied from here:\n\n{fence(text)}"
    return fence(text, "suggestion") if can_apply else fence(text)


def render_body(
    opening: str, unplaced: Sequence[Unplaced], notes: Sequence[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Return the body of a review with the findings that found no other place, and those that it has no room for."""
    body = "\n\n".join([opening, *notes])
    if unplaced:
        body += "\n\n---\n\nThese findings could not be placed on a line of the change or in their thread:"
    left: list[Unplaced] = []
    reserve = 600 + 12 * len(unplaced)  # for the sentence that names what was left out
    for each in unplaced:
        block = f"\n\n---\n\n{code(each.place)}\n\n{each.text}"
        if len(body) + len(block) > MAX_BODY - reserve:
            left.append(each)
        else:
            body += block
    if left:
        names = ", ".join(each.finding_id for each in left)
        body += f"\n\n---\n\n**There was no room for {names}.** GitHub takes {MAX_BODY:,} characters here."
    return cut(body, MAX_BODY), tuple(each.finding_id for each in left)
