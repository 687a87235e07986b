"""Notifications: their JSON form, their ids, the bodies of their events, and what each kind may say."""

import json
from datetime import timedelta
from typing import Any

import pytest

from assent.protocol.ask import AskId
from assent.protocol.error import AssentError, BadJsonError, BadRequestError, TooLargeError
from assent.protocol.notification import (
    MAX_METADATA_BYTES,
    MAX_SOURCE_ID,
    PREFIXES,
    ErrorCode,
    Notification,
    NotificationId,
    NotificationKind,
    NotificationStatus,
    Source,
    check_notification,
    check_source_id,
    is_notification_id,
    parse_notification,
    render_added,
    render_notification,
    render_resolved,
    render_resolving,
)
from assent.protocol.resolution import answer_all
from tests.effort import MUCH, effort
from tests.notification_samples import ANSWERS, QUESTIONS, new_notification, new_question
from tests.samples import ANA, NOON

__all__: list[str] = []

KINDS = list(NotificationKind)
LATER = NOON + timedelta(minutes=5)


def of_kind(kind: NotificationKind, **changes: Any) -> Notification:
    """Return a notification that says what its kind says."""
    parts: dict[str, Any] = {"kind": kind, "notification_id": NotificationId(f"{PREFIXES[kind]}00c0ffee")}
    if kind is not NotificationKind.OPEN_QUESTION:
        parts["questions"] = QUESTIONS[:1]
    if kind is NotificationKind.API_BLOCKED:
        parts["error_code"] = ErrorCode.RATE_LIMIT
    return new_notification(**{**parts, **changes})


def resolved(**changes: Any) -> Notification:
    """Return a notification that ana resolved."""
    parts = {"status": NotificationStatus.RESOLVED, "resolved_at": LATER, "resolved_by": str(ANA)}
    return new_notification(**{**parts, **changes})


# On the wire


def test_names_are_spelled_as_the_text_spells_them() -> None:
    """Q-U2, Q-U3 and the table of sources."""
    assert [source.value for source in Source] == ["eval", "prd", "plan", "execute"]
    assert {kind.value: PREFIXES[kind] for kind in KINDS} == {
        "open_question": "oq-",
        "api_blocked": "ab-",
        "hil_approval": "hil-",
        "agent_failed": "af-",
    }
    assert [code.value for code in ErrorCode] == ["rate_limit", "auth", "out_of_credit"]
    assert [status.value for status in NotificationStatus] == ["open", "resolved"]


def test_open_notification_has_the_fields_of_the_text_and_no_empty_ones() -> None:
    """Q-U2: `resolvedAt` is null while it is open, what is optional is left out."""
    assert json.loads(render_notification(new_notification(ask_id=None))) == {
        "id": "oq-00c0ffee",
        "projectId": "p",
        "source": "execute",
        "sourceId": "task-1",
        "questions": [
            {
                "id": "q1",
                "text": "Which database should we use: PostgreSQL or SQLite?",
                "createdAt": "2030-01-01T12:00:00Z",
            },
            {"id": "q2", "text": "Should the API support pagination?", "createdAt": "2030-01-01T12:00:00Z"},
        ],
        "status": "open",
        "createdAt": "2030-01-01T12:00:00Z",
        "resolvedAt": None,
        "kind": "open_question",
    }


def test_answered_and_dismissed_can_be_told_apart() -> None:
    """Q-X12: both are resolved."""
    answered = json.loads(render_notification(resolved(responses=ANSWERS)))
    dismissed = json.loads(render_notification(resolved(is_dismissed=True)))
    assert answered["status"] == dismissed["status"] == "resolved"
    assert answered["resolvedAt"] == dismissed["resolvedAt"] == "2030-01-01T12:05:00Z"
    assert answered["responses"] == [
        {"questionId": "q1", "answer": "SQLite"},
        {"questionId": "q2", "answer": "Yes."},
    ]
    assert "dismissed" not in answered
    assert dismissed["dismissed"] is True
    assert "responses" not in dismissed


FULL = of_kind(
    NotificationKind.HIL_APPROVAL,
    status=NotificationStatus.RESOLVED,
    resolved_at=LATER,
    resolved_by=str(ANA),
    scope_change_metadata={"summary": "More", "sections": [{"key": "a", "text": "b"}]},
    approved=False,
    command_id="cmd_1",
    sequence=7,
)


@pytest.mark.parametrize(
    "notification",
    [
        *map(of_kind, KINDS),
        resolved(responses=ANSWERS),
        resolved(is_dismissed=True),
        FULL,
    ],
    ids=[*KINDS, "answered", "dismissed", "full"],
)
def test_notification_read_from_its_json_is_the_same(notification: Notification) -> None:
    """Nothing is lost on the way, and a no is not left out as if it were nothing."""
    assert parse_notification(render_notification(notification)) == notification


def test_optional_fields_go_by_the_names_of_the_text() -> None:
    """Q-U2."""
    sent = json.loads(render_notification(FULL))
    assert sent["scopeChangeMetadata"] == {"summary": "More", "sections": [{"key": "a", "text": "b"}]}
    assert (sent["approved"], sent["resolvedBy"], sent["askId"]) == (False, "human:ana", "ask_1")
    blocked = json.loads(render_notification(of_kind(NotificationKind.API_BLOCKED)))
    assert blocked["errorCode"] == "rate_limit"


def test_bodies_of_the_events_carry_what_the_text_says() -> None:
    """Q-U5: the whole notification when it is added, four names when it is resolved."""
    notification = new_notification()
    assert parse_notification(render_added(notification)) == notification
    assert json.loads(render_resolved(resolved(responses=ANSWERS))) == {
        "notificationId": "oq-00c0ffee",
        "projectId": "p",
        "source": "execute",
        "sourceId": "task-1",
    }


@pytest.mark.parametrize(
    ("notification", "sentence"),
    [
        (new_notification(), "It is still open."),
        (resolved(responses=ANSWERS), 'ana answered at 2030-01-01 12:05:00 UTC: "SQLite, Yes.".'),
        (
            resolved(responses=answer_all(QUESTIONS, "Both.")),
            'ana answered at 2030-01-01 12:05:00 UTC: "Both.".',
        ),
        (resolved(is_dismissed=True), "ana dismissed it at 2030-01-01 12:05:00 UTC, without an answer."),
        (resolved(approved=True), "ana approved it at 2030-01-01 12:05:00 UTC."),
        (resolved(approved=False), "ana rejected it at 2030-01-01 12:05:00 UTC."),
    ],
    ids=["open", "answered", "one text", "dismissed", "approved", "rejected"],
)
def test_sentence_says_who_resolved_it_when_and_how(notification: Notification, sentence: str) -> None:
    """Decided rule 7: whoever came later is told that."""
    assert render_resolving(notification) == sentence


def test_sentence_shows_a_long_or_hostile_answer_safely() -> None:
    """It stands in a refusal, on one line."""
    hostile = answer_all(QUESTIONS, "\x1b[2J\n" + "x" * 900)
    sentence = render_resolving(resolved(responses=hostile))
    assert sentence.isprintable()
    assert len(sentence) < 300
    assert "<U+001B>" in sentence


# Ids


@pytest.mark.parametrize("kind", KINDS)
def test_id_is_the_prefix_of_its_kind_and_eight_hex_digits(kind: NotificationKind) -> None:
    """Q-U2; of that kind, and of no other."""
    text = f"{PREFIXES[kind]}0123abcf"
    assert is_notification_id(text)
    assert [other for other in KINDS if is_notification_id(text, other)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "oq-",
        "oq-1234567",
        "oq-123456789",
        "oq-1234567G",
        "oq-1234567A",
        "oq-１2345678",
        "oq-12345678\n",
        " oq-12345678",
        "OQ-12345678",
        "xx-12345678",
        "12345678",
        "oq-../../..",
    ],
    ids=ascii,
)
def test_text_of_another_shape_is_no_id(text: str) -> None:
    """It may stand in a path."""
    assert not is_notification_id(text)


@pytest.mark.parametrize("text", ["t", "draft:7", "Open Questions", "раздел", "x" * MAX_SOURCE_ID])
def test_source_id_may_be_any_text_that_can_be_seen(text: str) -> None:
    """A section's key may hold blanks."""
    assert check_source_id(text) == text


@pytest.mark.parametrize(
    "text",
    ["", " ", " t", "t ", "t\n", "t\u200b", "\u3164", "\x1b[2J", "\ud800", "x" * (MAX_SOURCE_ID + 1)],
    ids=ascii,
)
def test_source_id_that_looks_like_another_or_like_nothing_is_refused(text: str) -> None:
    """Two that look alike would be two things."""
    with pytest.raises(BadRequestError) as caught:
        check_source_id(text)
    assert caught.value.message.isprintable()


def test_source_id_of_a_megabyte_is_refused_in_no_time() -> None:
    """It is not even looked at."""
    with effort() as spent, pytest.raises(BadRequestError):
        check_source_id("\u0301" * (1 << 20))
    assert spent.loops < MUCH


# Kinds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2])
def test_only_open_questions_may_be_several(kind: NotificationKind, count: int) -> None:
    """Q-U3: other kinds have their one text as a single question."""
    notification = of_kind(kind, questions=QUESTIONS[:count])
    if count == 1 or kind is NotificationKind.OPEN_QUESTION:
        assert check_notification(notification) is None  # type: ignore[func-returns-value]  # it raises or not
    else:
        with pytest.raises(BadRequestError, match="has one text"):
            check_notification(notification)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", [None, *ErrorCode], ids=str)
def test_error_code_is_for_a_blocked_api_and_for_nothing_else(
    kind: NotificationKind, code: ErrorCode | None
) -> None:
    """Q-U3."""
    notification = of_kind(kind, error_code=code)
    refused: AssentError | None = None
    try:
        check_notification(notification)
    except BadRequestError as error:
        refused = error
    assert (refused is None) == ((kind is NotificationKind.API_BLOCKED) == (code is not None))


@pytest.mark.parametrize(
    ("notification", "error"),
    [
        (new_notification(notification_id="hil-00c0ffee"), BadRequestError),
        (new_notification(notification_id="oq-1"), BadRequestError),
        (new_notification(source_id=""), BadRequestError),
        (new_notification(questions=()), BadRequestError),
        (new_notification(questions=(new_question(), new_question())), BadRequestError),
        (new_notification(scope_change_metadata={}), BadRequestError),
        (
            of_kind(NotificationKind.HIL_APPROVAL, scope_change_metadata={"a": "x" * MAX_METADATA_BYTES}),
            TooLargeError,
        ),
        (of_kind(NotificationKind.HIL_APPROVAL, scope_change_metadata={"a": float("nan")}), BadJsonError),
    ],
    ids=["other kind's id", "no id", "no source", "no question", "twice", "metadata", "large", "no JSON"],
)
def test_notification_that_contradicts_its_kind_is_refused(
    notification: Notification, error: type[BadRequestError]
) -> None:
    """With a sentence that says why."""
    check_notification(FULL)
    with pytest.raises(error) as caught:
        check_notification(notification)
    assert type(caught.value) is error
    assert caught.value.message.endswith(".")


# Repeats


@pytest.mark.parametrize("kind", KINDS)
def test_repeat_key_tells_what_is_the_same(kind: NotificationKind) -> None:
    """Q-X5: the same project, source, sourceId and words; the id and the moment do not count."""
    known = of_kind(kind)
    again = of_kind(kind, notification_id=NotificationId(f"{PREFIXES[kind]}00000002"), created_at=LATER)
    assert again.repeat_key == known.repeat_key
    for changes in ({"project_id": "other"}, {"source": Source.PLAN}, {"source_id": "task-2"}):
        assert of_kind(kind, **changes).repeat_key != known.repeat_key
    assert len({of_kind(other).repeat_key for other in KINDS}) == len(KINDS)


def test_repeat_key_of_a_blocked_api_is_its_code_and_not_its_words() -> None:
    """Q-U12: the text may name how long to wait."""
    known = of_kind(NotificationKind.API_BLOCKED)
    words = (new_question(text="Blocked for 3 more minutes."),)
    assert of_kind(NotificationKind.API_BLOCKED, questions=words).repeat_key == known.repeat_key
    other = of_kind(NotificationKind.API_BLOCKED, error_code=ErrorCode.AUTH)
    assert other.repeat_key != known.repeat_key


def test_repeat_key_of_an_approval_is_its_ask() -> None:
    """Two actions may be told in the same words, and each waits for its own yes."""
    known = of_kind(NotificationKind.HIL_APPROVAL)
    assert of_kind(NotificationKind.HIL_APPROVAL, ask_id=AskId("ask_2")).repeat_key != known.repeat_key
    unasked = [
        of_kind(NotificationKind.HIL_APPROVAL, ask_id=None, notification_id=NotificationId(f"hil-0000000{n}"))
        for n in range(2)
    ]
    assert unasked[0].repeat_key != unasked[1].repeat_key


def test_repeat_key_of_other_words_is_another() -> None:
    """Twin: for questions the words count."""
    assert new_notification(questions=QUESTIONS[:1]).repeat_key != new_notification().repeat_key
    swapped = (QUESTIONS[1], QUESTIONS[0])
    assert new_notification(questions=swapped).repeat_key == new_notification().repeat_key
