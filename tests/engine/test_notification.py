"""The notification machine: its table, its rules by example, and its rules as properties."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.notification import (
    TRANSITIONS,
    AddNotification,
    DismissNotification,
    NotificationAdded,
    NotificationCommand,
    NotificationEvent,
    NotificationResolved,
    ResolveNotification,
    decide,
    evolve,
)
from assent.engine.stamp import NOBODY, Stamp
from assent.protocol.ask import AskId
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
)
from assent.protocol.notification import (
    ErrorCode,
    Notification,
    NotificationId,
    NotificationKind,
    NotificationStatus,
    Source,
)
from assent.protocol.open_question import Question
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.resolution import Response, answer_all
from tests.notification_samples import ANSWERS, QUESTIONS, new_question, new_response
from tests.samples import AGENT, ANA, BOB, NOON

__all__: list[str] = []

FIRST, SECOND = NotificationId("oq-00000001"), NotificationId("oq-00000002")
APPROVAL, BLOCKED = NotificationId("hil-00000001"), NotificationId("ab-00000001")
LATER = NOON + timedelta(minutes=5)


def stamp(by: Principal = ANA, command_id: str = "cmd_1", at: datetime = LATER) -> Stamp:
    """Return what the hub would set."""
    return Stamp(at, by, command_id)


ADD = AddNotification(
    FIRST,
    NotificationKind.OPEN_QUESTION,
    Source.EXECUTE,
    "task-1",
    QUESTIONS,
    AskId("ask_1"),
    stamp=stamp(AGENT, "cmd_add", NOON),
)
ADD_APPROVAL = replace(
    ADD, notification_id=APPROVAL, kind=NotificationKind.HIL_APPROVAL, questions=QUESTIONS[:1]
)
ADD_BLOCKED = replace(
    ADD,
    notification_id=BLOCKED,
    kind=NotificationKind.API_BLOCKED,
    questions=QUESTIONS[:1],
    ask_id=None,
    error_code=ErrorCode.RATE_LIMIT,
)
ANSWER = ResolveNotification(FIRST, ANSWERS, via="http", assurance=Assurance.TOKEN, stamp=stamp())
APPROVE = ResolveNotification(APPROVAL, approved=True, assurance=Assurance.TERMINAL, stamp=stamp())
DISMISS = DismissNotification(FIRST, stamp=stamp())


def fold(notification: Notification | None, *commands: NotificationCommand) -> Notification:
    """Return the notification after these commands; another one that they add is left out."""
    for command in commands:
        for event in decide(notification, command):
            if notification is None or event.notification_id == notification.notification_id:
                sequence = (notification.sequence if notification else 0) + 1
                notification = evolve(notification, event, project="p", sequence=sequence)
    assert notification is not None
    return notification


def refusal(notification: Notification | None, command: NotificationCommand) -> AssentError:
    """Return the error with which `command` is refused."""
    with pytest.raises(AssentError) as caught:
        decide(notification, command)
    return caught.value


# The table

EVENTS: dict[type[NotificationEvent], NotificationEvent] = {
    NotificationAdded: NotificationAdded(
        FIRST,
        NOON,
        str(AGENT),
        NotificationKind.OPEN_QUESTION,
        Source.EXECUTE,
        "task-1",
        QUESTIONS,
    ),
    NotificationResolved: NotificationResolved(FIRST, LATER, str(ANA), ANSWERS),
}
STATUSES: list[NotificationStatus | None] = [None, *NotificationStatus]
IN: dict[NotificationStatus | None, Notification | None] = {
    None: None,
    NotificationStatus.OPEN: fold(None, ADD),
    NotificationStatus.RESOLVED: fold(None, ADD, ANSWER),
}


@pytest.mark.parametrize("status", STATUSES, ids=str)
@pytest.mark.parametrize("event", EVENTS.values(), ids=[event.__name__ for event in EVENTS])
def test_pair_of_status_and_event_follows_the_table(
    status: NotificationStatus | None, event: NotificationEvent
) -> None:
    """Walks all pairs: what the table has moves the notification, what it has not is refused."""
    target = TRANSITIONS[status].get(type(event))
    if target is None:
        with pytest.raises(KeyError):
            evolve(IN[status], event)
        return
    after = evolve(IN[status], event, project="p", sequence=9)
    assert (after.status, after.sequence) == (target, 9)
    assert (after.resolved_at is None) == after.is_open == (target is NotificationStatus.OPEN)


def test_table_has_every_status_and_resolved_is_final() -> None:
    """Only an open one changes."""
    assert set(TRANSITIONS) == set(STATUSES)
    assert set(EVENTS) == {event for row in TRANSITIONS.values() for event in row}
    assert TRANSITIONS[NotificationStatus.RESOLVED] == {}


@pytest.mark.parametrize("event", EVENTS.values(), ids=[event.__name__ for event in EVENTS])
def test_event_goes_by_its_name_on_the_wire_and_is_read_back(event: NotificationEvent) -> None:
    """The log keeps it as JSON."""
    text = msgspec.json.encode(event)
    assert msgspec.json.decode(text)["type"] in ("notification.added", "notification.resolved")
    assert msgspec.json.decode(text, type=NotificationAdded | NotificationResolved) == event


# Adding


def test_added_notification_holds_what_the_command_says() -> None:
    """Every part of it."""
    metadata = {"summary": "More"}
    added = fold(None, replace(ADD_APPROVAL, scope_change_metadata=metadata))
    assert (added.notification_id, added.project_id, added.kind) == (
        APPROVAL,
        "p",
        NotificationKind.HIL_APPROVAL,
    )
    assert (added.source, added.source_id, added.questions) == (Source.EXECUTE, "task-1", QUESTIONS[:1])
    assert (added.ask_id, added.created_at, added.scope_change_metadata) == ("ask_1", NOON, metadata)
    assert (added.status, added.responses, added.approved) == (NotificationStatus.OPEN, None, None)
    assert fold(None, ADD_BLOCKED).error_code is ErrorCode.RATE_LIMIT


@pytest.mark.parametrize("status", list(NotificationStatus))
def test_retry_of_adding_finds_what_it_made(status: NotificationStatus) -> None:
    """Also when it comes later, with other moments filled in, and after somebody has resolved it."""
    retry = replace(
        ADD,
        stamp=stamp(AGENT),
        questions=tuple(replace(question, created_at=LATER) for question in QUESTIONS),
    )
    assert decide(IN[status], retry) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"questions": QUESTIONS[:1]},
        {"source": Source.PLAN},
        {"source_id": "task-2"},
        {"ask_id": AskId("ask_2")},
    ],
    ids=lambda changes: next(iter(changes)),
)
@pytest.mark.parametrize("status", list(NotificationStatus))
def test_id_that_says_something_else_is_refused(status: NotificationStatus, changes: dict[str, Any]) -> None:
    """An answer must not come to questions that it does not belong to."""
    assert isinstance(refusal(IN[status], replace(ADD, **changes)), CommandReusedError)


def test_same_questions_while_one_is_open_add_nothing() -> None:
    """Q-X5 (b): the existing one stands, in whatever order and letters; once it is resolved they are asked anew."""
    words = (new_question(7, " should THE api support pagination"), new_question(8, QUESTIONS[0].text))
    again = replace(ADD, notification_id=SECOND, questions=words, ask_id=AskId("ask_2"))
    assert decide(IN[NotificationStatus.OPEN], again) == ()
    [added] = decide(IN[NotificationStatus.RESOLVED], again)
    assert added.notification_id == SECOND


@pytest.mark.parametrize(
    "changes",
    [{"questions": QUESTIONS[:1]}, {"source": Source.PLAN}, {"source_id": "task-2"}],
    ids=lambda changes: next(iter(changes)),
)
def test_other_questions_are_added_beside_an_open_one(changes: dict[str, Any]) -> None:
    """Q-X7 knows several open ones on one task."""
    [added] = decide(IN[NotificationStatus.OPEN], replace(ADD, notification_id=SECOND, **changes))
    assert (type(added), added.notification_id) == (NotificationAdded, SECOND)


def test_blocked_api_is_told_once_per_code() -> None:
    """Q-U12, whatever its text says by now."""
    known = fold(None, ADD_BLOCKED)
    words = (new_question(text="Blocked for 3 more minutes."),)
    again = replace(ADD_BLOCKED, notification_id=NotificationId("ab-00000002"), questions=words)
    assert decide(known, again) == ()
    assert len(decide(known, replace(again, error_code=ErrorCode.AUTH))) == 1


@pytest.mark.parametrize(
    "command",
    [
        replace(ADD, notification_id=APPROVAL),
        replace(ADD, questions=()),
        replace(ADD, source_id="t\u200b"),
        replace(ADD, error_code=ErrorCode.AUTH),
        replace(ADD_BLOCKED, error_code=None),
        replace(ADD_BLOCKED, questions=QUESTIONS),
    ],
    ids=["id of another kind", "no question", "source", "code", "no code", "two texts"],
)
def test_notification_that_contradicts_its_kind_is_not_added(command: AddNotification) -> None:
    """The machine checks, whoever made it."""
    assert isinstance(refusal(None, command), BadRequestError)


# Resolving


def test_answered_notification_holds_the_answers_and_who_gave_them() -> None:
    """In the order of the questions; the event says how it came."""
    [event] = decide(IN[NotificationStatus.OPEN], replace(ANSWER, responses=ANSWERS[::-1]))
    assert isinstance(event, NotificationResolved)
    assert (event.via, event.assurance, event.is_unattended) == ("http", Assurance.TOKEN, False)
    after = evolve(IN[NotificationStatus.OPEN], event, project="p", sequence=2)
    assert (after.status, after.responses, after.is_dismissed) == (
        NotificationStatus.RESOLVED,
        ANSWERS,
        False,
    )
    assert (after.resolved_at, after.resolved_by, after.command_id) == (LATER, "human:ana", "cmd_1")


@pytest.mark.parametrize("approved", [True, False])
def test_approval_is_resolved_with_a_yes_or_a_no(*, approved: bool) -> None:
    """Q-U13."""
    after = fold(None, ADD_APPROVAL, replace(APPROVE, approved=approved))
    assert (after.approved, after.responses, after.is_dismissed) == (approved, None, False)


def test_dismissed_notification_is_told_apart_and_is_no_yes() -> None:
    """Q-X12; for an approval, whatever is not a yes is a no."""
    after = fold(None, ADD, DISMISS)
    assert (after.status, after.is_dismissed, after.responses) == (NotificationStatus.RESOLVED, True, None)
    assert (after.resolved_at, after.resolved_by) == (LATER, "human:ana")
    assert fold(None, ADD_APPROVAL, replace(DISMISS, notification_id=APPROVAL)).approved is None


@pytest.mark.parametrize(
    ("notification", "command"),
    [
        (ADD, replace(ANSWER, responses=None)),
        (ADD, replace(ANSWER, approved=True)),
        (ADD, replace(ANSWER, responses=None, approved=True)),
        (ADD, replace(ANSWER, responses=())),
        (ADD, replace(ANSWER, responses=ANSWERS[:1])),
        (ADD, replace(ANSWER, responses=(*ANSWERS, new_response(3)))),
        (ADD, replace(ANSWER, responses=(*ANSWERS, ANSWERS[0]))),
        (ADD, replace(ANSWER, responses=(ANSWERS[0], new_response(2, " ")))),
        (ADD_APPROVAL, replace(APPROVE, approved=None, responses=ANSWERS[:1])),
        (ADD_BLOCKED, replace(APPROVE, notification_id=BLOCKED)),
    ],
    ids=[
        "nothing",
        "both",
        "a yes to a question",
        "no answers",
        "missing",
        "unknown",
        "twice",
        "empty",
        "answers to an approval",
        "a yes to a block",
    ],
)
def test_word_that_does_not_fit_is_refused_and_leaves_it_open(
    notification: AddNotification, command: ResolveNotification
) -> None:
    """Decided rule 6: an empty form is no answer."""
    assert isinstance(refusal(fold(None, notification), command), BadRequestError)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("status", list(NotificationStatus))
@pytest.mark.parametrize("command", [ANSWER, DISMISS], ids=["answer", "dismiss"])
def test_agent_can_never_resolve(
    role: Role, status: NotificationStatus, command: ResolveNotification | DismissNotification
) -> None:
    """Decided rule 8; nor can an observer. Not even where it would change nothing."""
    by = replace(command, stamp=stamp(Principal(role, "x")))
    if role in (Role.AGENT, Role.OBSERVER):
        assert isinstance(refusal(IN[status], by), ForbiddenError)
    else:
        assert len(decide(IN[status], by)) == (status is NotificationStatus.OPEN)


@pytest.mark.parametrize("command", [ANSWER, DISMISS], ids=["answer", "dismiss"])
def test_notification_that_is_not_there_is_not_found(
    command: ResolveNotification | DismissNotification,
) -> None:
    """With its id made safe to look at."""
    hostile = replace(command, notification_id=NotificationId("oq-\x1b[2J"))
    error = refusal(None, hostile)
    assert isinstance(error, NotFoundError)
    assert error.message == 'There is no notification "oq-<U+001B>[2J" here.'


# Resolving twice

LATE = stamp(BOB, "cmd_late", LATER + timedelta(hours=1))
ENDINGS: dict[str, tuple[AddNotification, ResolveNotification | DismissNotification]] = {
    "answered": (ADD, ANSWER),
    "dismissed": (ADD, DISMISS),
    "approved": (ADD_APPROVAL, APPROVE),
    "rejected": (ADD_APPROVAL, replace(APPROVE, approved=False)),
}
WORDS: dict[str, dict[str, Any]] = {
    "same answers": {"responses": ANSWERS},
    "same answers, other order": {"responses": ANSWERS[::-1]},
    "other answers": {"responses": (ANSWERS[0], new_response(2, "No."))},
    "fewer answers": {"responses": ANSWERS[:1]},
    "doubled answers": {"responses": (*ANSWERS, ANSWERS[0])},
    "yes": {"approved": True},
    "no": {"approved": False},
}
SAME = {
    ("answered", "same answers"),
    ("answered", "same answers, other order"),
    ("approved", "yes"),
    ("rejected", "no"),
}
SENTENCES = {
    "answered": 'ana answered at 2030-01-01 12:05:00 UTC: "SQLite, Yes.".',
    "dismissed": "ana dismissed it at 2030-01-01 12:05:00 UTC, without an answer.",
    "approved": "ana approved it at 2030-01-01 12:05:00 UTC.",
    "rejected": "ana rejected it at 2030-01-01 12:05:00 UTC.",
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("word", WORDS)
def test_second_word_is_the_same_or_a_conflict_that_names_the_winner(ending: str, word: str) -> None:
    """Q-X6 and decided rule 7: who, when and what."""
    after = fold(None, *ENDINGS[ending])
    command = ResolveNotification(after.notification_id, stamp=LATE, **WORDS[word])
    if (ending, word) in SAME:
        assert decide(after, command) == ()
        return
    error = refusal(after, command)
    assert isinstance(error, ConflictError)
    assert error.message == f"Too late, nothing was changed: {SENTENCES[ending]}"


@pytest.mark.parametrize("ending", ENDINGS)
def test_second_word_without_a_body_changes_nothing(ending: str) -> None:
    """Q-X6: a newer question may have blocked the task again meanwhile."""
    after = fold(None, *ENDINGS[ending])
    assert decide(after, DismissNotification(after.notification_id, stamp=LATE)) == ()


def test_command_id_with_another_word_is_refused() -> None:
    """A retry repeats what it said."""
    after = fold(None, ADD, ANSWER)
    other = replace(ANSWER, responses=answer_all(QUESTIONS, "Both."))
    assert isinstance(refusal(after, other), CommandReusedError)
    assert isinstance(refusal(after, replace(other, stamp=LATE)), ConflictError)


def test_command_without_an_id_is_no_retry_of_another() -> None:
    """Twin: what has no id has nothing to repeat."""
    unnamed = stamp(command_id="")
    after = fold(None, ADD, replace(ANSWER, stamp=unnamed))
    other = replace(ANSWER, responses=answer_all(QUESTIONS, "Both."), stamp=unnamed)
    assert isinstance(refusal(after, other), ConflictError)


# Properties

_PEOPLE = [AGENT, ANA, BOB, Principal(Role.OBSERVER, "eve"), NOBODY]
stamps = st.builds(
    Stamp,
    st.integers(-100, 10_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    st.sampled_from(_PEOPLE),
    st.sampled_from(["", "cmd_1", "cmd_2"]),
)
_ids = st.sampled_from([FIRST, SECOND, APPROVAL, BLOCKED])
_sets: st.SearchStrategy[tuple[Question, ...]] = st.sampled_from(
    [QUESTIONS, QUESTIONS[:1], QUESTIONS[::-1], (new_question(3, "Why?"),), ()]
)
_answers: st.SearchStrategy[tuple[Response, ...] | None] = st.none() | st.sampled_from(
    [ANSWERS, ANSWERS[::-1], ANSWERS[:1], (), answer_all(QUESTIONS, "Both."), answer_all(QUESTIONS, " ")]
)
commands: st.SearchStrategy[NotificationCommand] = st.one_of(
    st.builds(replace, st.sampled_from([ADD, ADD_APPROVAL, ADD_BLOCKED]), stamp=stamps),
    st.builds(
        AddNotification,
        _ids,
        st.sampled_from(NotificationKind),
        st.sampled_from(Source),
        st.sampled_from(["task-1", "task-2", ""]),
        _sets,
        st.none() | st.just(AskId("ask_1")),
        st.none() | st.sampled_from(ErrorCode),
        st.none() | st.just({"summary": "More"}),
        stamps,
    ),
    st.builds(
        ResolveNotification,
        _ids,
        _answers,
        st.none() | st.booleans(),
        st.just("http"),
        st.sampled_from(Assurance),
        st.booleans(),
        stamps,
    ),
    st.builds(DismissNotification, _ids, stamp=stamps),
)


@st.composite
def notifications(draw: st.DrawFn) -> Notification:
    """Notifications in every status, each reached through the machine itself."""
    ending = draw(st.sampled_from([*ENDINGS, *map(str, range(3))]))
    if ending in ENDINGS:
        return fold(None, *ENDINGS[ending])
    return fold(None, [ADD, ADD_APPROVAL, ADD_BLOCKED][int(ending)])


@given(st.none() | notifications(), commands)
def test_any_command_is_refused_with_a_code_or_yields_events_that_evolve_accepts(
    notification: Notification | None, command: NotificationCommand
) -> None:
    """There is no third way; and whatever resolves it was a person's."""
    refused: AssentError | None = None
    events: tuple[NotificationEvent, ...] = ()
    try:
        events = decide(notification, command)
    except AssentError as error:
        refused = error
    assert refused is None or (refused.code != AssentError.code and refused.message)
    for event in events:
        known = notification if isinstance(event, NotificationResolved) else None
        after = evolve(known, event, project="p", sequence=1)
        assert after.status is TRANSITIONS[known.status if known else None][type(event)]
        if isinstance(event, NotificationResolved):
            assert command.stamp.by.role in (Role.HUMAN, Role.OPERATOR)
            assert [after.is_dismissed, after.responses is not None, after.approved is not None].count(
                True
            ) == 1


@given(st.none() | notifications(), commands)
def test_same_command_twice_changes_nothing_the_second_time(
    notification: Notification | None, command: NotificationCommand
) -> None:
    """A retry after a lost reply is harmless."""
    try:
        events = decide(notification, command)
    except AssentError:
        return
    after = notification
    for event in events:
        known = notification if isinstance(event, NotificationResolved) else None
        after = evolve(known, event, project="p", sequence=1)
    assert decide(after, command) == ()


@given(st.lists(commands, max_size=12))
def test_replaying_the_events_gives_the_live_notification(script: list[NotificationCommand]) -> None:
    """The log is the truth, also as the JSON that it keeps; and what is resolved never changes."""
    live: Notification | None = None
    log: list[bytes] = []
    for command in script:
        before = live if live is not None and not live.is_open else None
        try:
            events = decide(live, command)
        except AssentError:
            continue
        for event in events:
            if live is None or event.notification_id == live.notification_id:
                live = evolve(live, event, project="p", sequence=len(log) + 1)
                log.append(msgspec.json.encode(event))
        assert before is None or live == before
    again: Notification | None = None
    for sequence, text in enumerate(log, 1):
        event = msgspec.json.decode(text, type=NotificationAdded | NotificationResolved)
        again = evolve(again, event, project="p", sequence=sequence)
    assert again == live
