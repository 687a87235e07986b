"""What will be posted, and with which verdict."""

from typing import Any, Literal

import pytest

from assent.flows.session.posting import (
    MAX_BODY,
    Event,
    Unplaced,
    compose,
    post_only_verdict,
    render_body,
    render_verdict,
    verdict,
)
from assent.protocol.review import Comment, Finding, Severity
from tests.github.samples import finding, new_session

__all__: list[str] = []

HIGH, MEDIUM, LOW = (finding(severity) for severity in Severity)


def thread(status: Literal["open", "to-verify", "resolved"]) -> tuple[Comment, ...]:
    """Return a thread of another reviewer."""
    return (Comment(5, "bob", "src/pay.py", 2, "Why?", status),)


@pytest.mark.parametrize(
    ("findings", "threads", "event", "words"),
    [
        ([HIGH, MEDIUM], (), Event.REQUEST_CHANGES, "Request changes"),
        ([LOW], thread("open"), Event.REQUEST_CHANGES, "Request changes"),
        ([MEDIUM, LOW], thread("resolved"), Event.COMMENT, "Approve with suggestions"),
        ([LOW], thread("to-verify"), Event.COMMENT, "Approve with suggestions"),
        ([LOW], thread("resolved"), Event.APPROVE, "Approve"),
        ([], (), Event.APPROVE, "Approve"),
    ],
)
def test_verdict_follows_the_worst_finding_and_the_open_threads(
    findings: list[Finding], threads: tuple[Comment, ...], event: Event, words: str
) -> None:
    """G-U9, case by case."""
    session = new_session(*findings, comments=threads)
    assert verdict(session) is event
    assert render_verdict(verdict(session)) == words
    assert f"**{words}**" in compose(session, session.held, event).body


def test_verdict_on_ones_own_pull_request_is_a_comment() -> None:
    """GitHub takes no other, and the body claims no other."""
    session = new_session(HIGH, self_review=True)
    assert verdict(session) is Event.COMMENT
    assert compose(session, session.held, Event.COMMENT).body.startswith("**Comment**: 1 finding")


def test_post_only_verdict_looks_at_what_is_included() -> None:
    """G-U10: a critical finding that is left out requests nothing."""
    session = new_session(HIGH, MEDIUM)
    assert post_only_verdict(session.held) is Event.REQUEST_CHANGES
    assert post_only_verdict(session.held[1:]) is Event.COMMENT
    assert post_only_verdict([]) is Event.COMMENT


def test_comment_says_badge_id_title_and_suggestion() -> None:
    """All that a reader of the pull request needs."""
    session = new_session(finding(suggestion="check(sum)\n```\nnot the end"))
    (comment,) = compose(session, session.held, Event.REQUEST_CHANGES).comments
    assert (comment.path, comment.line, comment.side) == ("src/pay.py", 3, "RIGHT")
    assert comment.body.startswith(
        "**Action Required** · H1 · bug\n\n**Overdraft is possible**\n\nNobody checks"
    )
    assert comment.body.endswith("````suggestion\ncheck(sum)\n```\nnot the end\n````")
    assert "suggestion" not in comment.plain


@pytest.mark.parametrize(
    "changes", [{"side": "LEFT"}, {"suggestion": "a\u202eb"}], ids=["old-text", "hidden"]
)
def test_suggestion_that_must_not_be_applied_is_plain_code(changes: dict[str, Any]) -> None:
    """On the old text nothing can be replaced, and nobody should commit what they cannot see."""
    session = new_session(finding(**{"suggestion": "check(sum)", **changes}))
    (comment,) = compose(session, session.held, Event.REQUEST_CHANGES).comments
    assert "```suggestion" not in comment.body
    assert "\u202e" not in comment.body


def test_text_of_an_agent_calls_nobody_and_hides_nothing() -> None:
    """In the title as in the description, in a comment as in a reply."""
    words: dict[str, Any] = {
        "title": "ask @ana <!-- x",
        "description": "@acme/team <!-- do as I say --> \u200b",
    }
    session = new_session(finding(**words), finding(**words, thread_id=5))
    posting = compose(session, session.held, Event.REQUEST_CHANGES)
    for body in (posting.comments[0].body, posting.comments[0].plain, posting.replies[0].body):
        assert not [part for part in ("<!--", "\u200b") if part in body]
        assert body.count("@ana") == body.count("`@ana`") > 0
        assert body.count("@acme/team") == body.count("`@acme/team`") > 0
        assert "&lt;!-- do as I say" in body


def test_finding_of_a_thread_is_a_reply() -> None:
    """G-U10: it is posted where the talk is."""
    session = new_session(HIGH, finding(thread_id=5))
    posting = compose(session, session.held, Event.REQUEST_CHANGES)
    assert [comment.finding_id for comment in posting.comments] == ["H1"]
    assert [(reply.finding_id, reply.thread_id) for reply in posting.replies] == [("H2", 5)]


def test_name_is_that_of_the_session_and_the_choice() -> None:
    """The same choice is the same posting; another one is not."""
    session = new_session(HIGH, MEDIUM)
    both = compose(session, session.held, Event.REQUEST_CHANGES).name
    assert both == compose(session, tuple(reversed(session.held)), Event.COMMENT).name
    assert both != compose(session, session.held[:1], Event.REQUEST_CHANGES).name


def test_finding_that_is_too_long_is_cut_with_a_sentence() -> None:
    """Twenty thousand hidden characters are a hundred and sixty thousand visible ones."""
    session = new_session(finding(description="\u200b" * 20_000))
    (comment,) = compose(session, session.held, Event.REQUEST_CHANGES).comments
    assert len(comment.body) <= MAX_BODY
    assert "**Cut here:**" in comment.body


def test_body_names_the_findings_that_it_has_no_room_for() -> None:
    """Nothing is lost in silence."""
    unplaced = [Unplaced(f"H{number}", "a.py:1", "x" * 20_000) for number in range(1, 6)]
    body, left_out = render_body("**Request changes**", unplaced, ["A note."])
    assert len(body) <= MAX_BODY
    assert left_out == ("H4", "H5")
    assert "**There was no room for H4, H5.**" in body
    assert "A note." in body
