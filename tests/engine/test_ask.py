"""The ask machine: its table, its rules by example, and its rules as properties."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.ask import (
    ENDINGS,
    TRANSITIONS,
    AnswerAsk,
    AskAnswered,
    AskDeclined,
    AskEscalated,
    AskExpired,
    AskOpened,
    AskOverdue,
    AskSuperseded,
    AskUndelivered,
    AskWithdrawn,
    Command,
    DeclineAsk,
    Event,
    LapseAsk,
    OpenAsk,
    ReportUndelivered,
    SupersedeAsk,
    WithdrawAsk,
    deadline,
    decide,
    evolve,
)
from assent.engine.stamp import Stamp
from assent.protocol.ask import Ask, AskId, Consequence, Kind, State
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    ForbiddenError,
    KeyReusedError,
    NotFoundError,
    UnrecognisedError,
)
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import question
from tests.engine.strategies import ASK_ID, asks, commands, fold
from tests.proves import proves
from tests.samples import AGENT, ANA, BOB, NOON, WHICH, digest_of, new_answer, new_ask, new_outcome

__all__: list[str] = []

SECOND = timedelta(seconds=1)
OTHER = question("Something else?", ["yes", "no"])
ENDED = [state for state in State if state is not State.OPEN]


def stamp(by: Principal = ANA, command_id: str = "cmd_1", at: datetime = NOON) -> Stamp:
    """Return what the hub would set."""
    return Stamp(at, by, command_id)


def opening(**changes: object) -> OpenAsk:
    """Return the command that asks WHICH."""
    parts: dict[str, object] = {"key": "k", "stamp": stamp(AGENT), **changes}
    return OpenAsk(ASK_ID, WHICH, digest_of(WHICH), **parts)  # type: ignore[arg-type]  # fields by name


def opened(**changes: object) -> Ask:
    """Return the open ask of `opening`."""
    ask = fold(None, opening(**changes))
    assert ask is not None
    return ask


def ended(state: State) -> Ask:
    """Return an ask that ended so."""
    if state is State.ANSWERED:
        return new_ask(key="k", state=state, answer=new_answer())
    return new_ask(key="k", state=state, outcome=new_outcome(state))


def refusal(ask: Ask | None, command: Command) -> AssentError:
    """Return the error with which `command` is refused."""
    with pytest.raises(AssentError) as caught:
        decide(ask, command)
    return caught.value


# The table

EVENTS: dict[type[Event], Event] = {
    AskOpened: AskOpened(
        ASK_ID,
        NOON,
        Kind.QUESTION,
        "k",
        WHICH,
        digest_of(WHICH),
        str(AGENT),
        None,
        None,
        Consequence.WAIT,
        None,
    ),
    AskAnswered: AskAnswered(ASK_ID, new_answer()),
    AskDeclined: AskDeclined(ASK_ID, new_outcome(State.DECLINED)),
    AskWithdrawn: AskWithdrawn(ASK_ID, new_outcome(State.WITHDRAWN)),
    AskExpired: AskExpired(ASK_ID, new_outcome(State.EXPIRED)),
    AskSuperseded: AskSuperseded(ASK_ID, new_outcome(State.SUPERSEDED)),
    AskOverdue: AskOverdue(ASK_ID, NOON),
    AskEscalated: AskEscalated(ASK_ID, NOON, "human:bob"),
    AskUndelivered: AskUndelivered(ASK_ID, NOON, "no terminal"),
}
STATES: list[State | None] = [None, *State]


@pytest.mark.parametrize("state", STATES, ids=str)
@pytest.mark.parametrize("event", EVENTS.values(), ids=[event.__name__ for event in EVENTS])
def test_pair_of_state_and_event_follows_the_table(state: State | None, event: Event) -> None:
    """Walks all pairs: what the table has moves the ask, what it has not is refused."""
    ask = None if state is None else opened() if state is State.OPEN else ended(state)
    target = TRANSITIONS[state].get(type(event))
    if target is None:
        with pytest.raises(KeyError):
            evolve(ask, event)
        return
    after = evolve(ask, event, project="p", sequence=9)
    assert (after.state, after.sequence) == (target, 9)
    assert (after.answer is not None) == (target is State.ANSWERED)
    assert (after.outcome is not None) == (target not in (State.OPEN, State.ANSWERED))


def test_table_has_every_state_and_ends_are_final() -> None:
    """An ask ends exactly once."""
    assert set(TRANSITIONS) == set(STATES)
    assert set(EVENTS) == {event for row in TRANSITIONS.values() for event in row}
    assert all(TRANSITIONS[state] == {} for state in ENDED)


@proves("G13")
def test_no_consequence_of_a_deadline_is_an_answer() -> None:
    """Decided rule 6: silence is never a yes, nor a person's no."""
    assert set(ENDINGS) == set(Consequence)
    reached = {TRANSITIONS[State.OPEN][event] for event in ENDINGS.values()}
    assert reached == {State.OPEN, State.EXPIRED}
    for kind in (Kind.GATE, Kind.CONFIRM, Kind.FINDING):
        timed = opened(kind=kind, deadline=SECOND)
        after = fold(timed, LapseAsk(ASK_ID, stamp(at=NOON + timedelta(days=999))))
        assert after is not None
        assert after.is_open


# Opening


def test_open_ask_holds_what_was_asked() -> None:
    """Every part of the command is in the ask."""
    ask = opened(
        kind=Kind.APPROVAL,
        run_id="run_1",
        deadline=60 * SECOND,
        consequence=Consequence.ESCALATE,
        escalate_to="human:bob",
    )
    assert (ask.ask_id, ask.prompt, ask.digest, ask.key) == (ASK_ID, WHICH, digest_of(WHICH), "k")
    assert (ask.kind, ask.run_id, ask.asker, ask.opened_at) == (Kind.APPROVAL, "run_1", "agent:coder", NOON)
    assert (ask.deadline, ask.consequence, ask.escalate_to) == (
        NOON + 60 * SECOND,
        Consequence.ESCALATE,
        "human:bob",
    )


@pytest.mark.parametrize("state", list(State))
def test_same_key_and_prompt_is_the_same_ask_for_ever(state: State) -> None:
    """Also after it ended, whatever else the command says; only a superseded one has lost its key."""
    ask = opened() if state is State.OPEN else ended(state)
    again = opening(is_replacing=True, run_id="run_2")
    assert decide(ask, again) == ()


@pytest.mark.parametrize("state", list(State))
def test_same_key_and_prompt_of_another_kind_is_refused(state: State) -> None:
    """What a process may answer as a question must not pass for a person's approval."""
    ask = opened() if state is State.OPEN else ended(state)
    command = OpenAsk(AskId("ask_2"), WHICH, digest_of(WHICH), Kind.APPROVAL, key="k", stamp=stamp(AGENT))
    assert isinstance(refusal(ask, command), KeyReusedError)


@pytest.mark.parametrize("state", list(State))
def test_same_key_and_another_prompt_is_refused(state: State) -> None:
    """An answer is never given to a question that it does not belong to."""
    ask = opened() if state is State.OPEN else ended(state)
    error = refusal(ask, OpenAsk(AskId("ask_2"), OTHER, digest_of(OTHER), key="k", stamp=stamp(AGENT)))
    assert isinstance(error, KeyReusedError)
    assert error.ask == ask


@pytest.mark.parametrize("state", list(State))
def test_replace_supersedes_an_open_ask_and_no_other(state: State) -> None:
    """An answered ask is never replaced."""
    ask = opened() if state is State.OPEN else ended(state)
    command = OpenAsk(AskId("ask_2"), OTHER, digest_of(OTHER), key="k", is_replacing=True, stamp=stamp(AGENT))
    if state is State.OPEN:
        [event] = decide(ask, command)
        assert isinstance(event, AskOpened)
        assert (event.ask_id, event.replaces) == ("ask_2", ASK_ID)
    else:
        assert isinstance(refusal(ask, command), KeyReusedError)


def test_same_id_with_another_prompt_is_refused() -> None:
    """The id is the opening's command id: a retry repeats it with the same content or is a mistake."""
    command = OpenAsk(ASK_ID, OTHER, digest_of(OTHER), stamp=stamp(AGENT))
    assert isinstance(refusal(opened(), command), CommandReusedError)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("consequence", list(Consequence))
def test_consequence_is_checked_against_the_kind(kind: Kind, consequence: Consequence) -> None:
    """Decided rule 6: gates, confirms and findings take no consequence but `wait`."""
    command = opening(kind=kind, deadline=SECOND, consequence=consequence, escalate_to="human:bob")
    only_waits = kind in (Kind.GATE, Kind.CONFIRM, Kind.FINDING)
    if only_waits and consequence is not Consequence.WAIT:
        assert isinstance(refusal(None, command), BadRequestError)
    else:
        assert len(decide(None, command)) == 1


@pytest.mark.parametrize("consequence", [Consequence.DENY, Consequence.ESCALATE, Consequence.END_RUN])
def test_consequence_without_its_deadline_is_refused(consequence: Consequence) -> None:
    """It could never happen."""
    assert isinstance(
        refusal(None, opening(consequence=consequence, escalate_to="human:bob")), BadRequestError
    )


def test_escalation_to_nobody_is_refused() -> None:
    """Somebody must be named."""
    assert isinstance(
        refusal(None, opening(deadline=SECOND, consequence=Consequence.ESCALATE)), BadRequestError
    )


@pytest.mark.parametrize(
    "due",
    [
        timedelta.max,
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
    ],
    ids=["span", "late", "early"],
)
def test_deadline_beyond_the_calendar_is_refused(due: datetime | timedelta) -> None:
    """Stored, it could never be read back, and one such ask would hide the whole inbox."""
    assert isinstance(refusal(None, opening(deadline=due)), BadRequestError)


def test_deadline_is_kept_in_utc() -> None:
    """One moment has one spelling in the log."""
    due = datetime(2030, 1, 1, 15, 0, tzinfo=timezone(timedelta(hours=2)))
    kept = opened(deadline=due).deadline
    assert kept is not None
    assert (kept, kept.tzinfo) == (due, UTC)


# Ending


def test_answer_by_text_and_by_values_are_the_same_answer() -> None:
    """The machine checks both; the typed text is kept beside what it means."""
    typed = fold(opened(), AnswerAsk(ASK_ID, "2", via="cli", stamp=stamp()))
    chosen = fold(opened(), AnswerAsk(ASK_ID, values={"q1": ("SQLite",)}, stamp=stamp()))
    assert typed is not None
    assert chosen is not None
    assert typed.answer is not None
    assert chosen.answer is not None
    assert typed.answer.values == chosen.answer.values == {"q1": ("SQLite",)}
    assert (typed.answer.text, typed.answer.by, typed.answer.via, typed.answer.at) == (
        "2",
        "human:ana",
        "cli",
        NOON,
    )
    assert typed.answer.command_id == "cmd_1"


@pytest.mark.parametrize("text", ["", " ", "zzz", "3", "Postgre", "\x1b[A"])
def test_reply_that_means_nothing_is_refused(text: str) -> None:
    """The ask stays open; nothing is guessed."""
    assert isinstance(refusal(opened(), AnswerAsk(ASK_ID, text, stamp=stamp())), UnrecognisedError)


@pytest.mark.parametrize(
    "values", [{}, {"q1": ()}, {"q1": ("x",)}, {"q2": ("SQLite",)}, {"q1": ("SQLite", "PostgreSQL")}]
)
def test_values_that_do_not_fit_are_refused(values: dict[str, tuple[str, ...]]) -> None:
    """Ready-made values are checked as typed text is."""
    assert isinstance(refusal(opened(), AnswerAsk(ASK_ID, values=values, stamp=stamp())), UnrecognisedError)


@pytest.mark.parametrize(
    ("assurance", "is_unattended", "counts"),
    [
        (Assurance.TERMINAL, False, True),
        (Assurance.TOKEN, False, True),
        (Assurance.DECLARED, False, False),
        (Assurance.DECLARED, True, True),
        (Assurance.HOST, False, False),
        (Assurance.HOST, True, False),
    ],
)
def test_approval_needs_more_than_a_processs_word(
    assurance: Assurance, *, is_unattended: bool, counts: bool
) -> None:
    """`declared` suffices for questions; approvals take a terminal, a token, or an explicit word that is recorded."""
    command = AnswerAsk(ASK_ID, "2", assurance=assurance, is_unattended=is_unattended, stamp=stamp())
    assert len(decide(opened(), command)) == 1
    approval = opened(kind=Kind.APPROVAL)
    if not counts:
        assert isinstance(refusal(approval, command), ForbiddenError)
        return
    [event] = decide(approval, command)
    assert isinstance(event, AskAnswered)
    assert (event.answer.assurance, event.is_unattended) == (assurance, is_unattended)


def test_approval_can_be_declined_without_assurance() -> None:
    """A no is always possible."""
    assert fold(opened(kind=Kind.APPROVAL), DeclineAsk(ASK_ID, stamp=stamp())) is not None


LATECOMERS: dict[str, Callable[[Stamp], Command]] = {
    "answer": lambda stamp: AnswerAsk(ASK_ID, "1", stamp=stamp),
    "decline": lambda stamp: DeclineAsk(ASK_ID, stamp=stamp),
    "withdraw": lambda stamp: WithdrawAsk(ASK_ID, stamp=stamp),
    "supersede": lambda stamp: SupersedeAsk(ASK_ID, AskId("ask_2"), stamp),
}


@pytest.mark.parametrize("state", ENDED)
@pytest.mark.parametrize("latecomer", LATECOMERS)
def test_latecomer_gets_a_conflict_with_the_ending(state: State, latecomer: str) -> None:
    """Decided rule 7: it carries the ask as it ended and says how."""
    error = refusal(ended(state), LATECOMERS[latecomer](stamp(BOB, "cmd_late")))
    assert isinstance(error, ConflictError)
    assert error.ask == ended(state)
    assert "2030-01-01 12:00:00 UTC" in error.message


def test_conflict_names_winner_moment_and_value() -> None:
    """Decided rule 7: who, when and what."""
    error = refusal(ended(State.ANSWERED), AnswerAsk(ASK_ID, "1", stamp=stamp(BOB, "cmd_late")))
    assert error.message == (
        'Too late, nothing was changed: ana answered at 2030-01-01 12:00:00 UTC: "SQLite".'
    )


@pytest.mark.parametrize("by", [AGENT, ANA, Principal(AGENT.role, "other")], ids=str)
def test_withdrawing_is_for_the_asker_and_for_people(by: Principal) -> None:
    """Decided rule 12."""
    command = WithdrawAsk(ASK_ID, "done", stamp(by))
    if by.name == "other":
        assert isinstance(refusal(opened(), command), ForbiddenError)
        return
    after = fold(opened(), command)
    assert after is not None
    assert after.outcome is not None
    assert (after.state, after.outcome.by, after.outcome.reason) == (State.WITHDRAWN, str(by), "done")


@pytest.mark.parametrize("latecomer", LATECOMERS)
def test_command_for_an_unknown_ask_is_not_found(latecomer: str) -> None:
    """There is nothing to end."""
    for command in (
        LATECOMERS[latecomer](stamp()),
        LapseAsk(ASK_ID, stamp()),
        ReportUndelivered(ASK_ID, "", stamp()),
    ):
        assert isinstance(refusal(None, command), NotFoundError)


# Retries

RETRIES: dict[str, tuple[Command, Command]] = {
    "text": (AnswerAsk(ASK_ID, "2", stamp=stamp()), AnswerAsk(ASK_ID, "1", stamp=stamp())),
    "values": (
        AnswerAsk(ASK_ID, values={"q1": ("SQLite", "SQLite")[:1]}, stamp=stamp()),
        AnswerAsk(ASK_ID, values={"q1": ("PostgreSQL",)}, stamp=stamp()),
    ),
    "answerer": (AnswerAsk(ASK_ID, "2", stamp=stamp()), AnswerAsk(ASK_ID, "2", stamp=stamp(BOB))),
    "decline": (DeclineAsk(ASK_ID, "no", stamp=stamp()), DeclineAsk(ASK_ID, "never", stamp=stamp())),
    "withdraw": (WithdrawAsk(ASK_ID, "a", stamp()), WithdrawAsk(ASK_ID, "b", stamp())),
    "kind": (DeclineAsk(ASK_ID, stamp=stamp()), WithdrawAsk(ASK_ID, stamp=stamp())),
    "ending": (WithdrawAsk(ASK_ID, stamp=stamp()), AnswerAsk(ASK_ID, "2", stamp=stamp())),
}


@pytest.mark.parametrize("case", RETRIES)
def test_retry_of_the_winning_command_gets_its_own_reply(case: str) -> None:
    """After a lost connection nobody gets a conflict with themselves; other content under the id is refused."""
    command, other = RETRIES[case]
    after = fold(opened(), command)
    assert decide(after, command) == ()
    assert isinstance(refusal(after, other), CommandReusedError)


def test_retry_of_values_in_another_spelling_gets_its_own_reply() -> None:
    """What was sent twice in a list counts once; the retry sends the same list again."""
    many = question("Which ones?", ["red fox", "blue fox"], multiple=True)
    ask = fold(None, OpenAsk(ASK_ID, many, digest_of(many), stamp=stamp(AGENT)))
    command = AnswerAsk(ASK_ID, values={"q1": ("red fox", "red fox")}, stamp=stamp())
    after = fold(ask, command)
    assert decide(after, command) == ()


# Deadlines


@pytest.mark.parametrize(
    ("consequence", "event", "state"),
    [
        (Consequence.WAIT, AskOverdue, State.OPEN),
        (Consequence.DENY, AskExpired, State.EXPIRED),
        (Consequence.ESCALATE, AskEscalated, State.OPEN),
        (Consequence.END_RUN, AskExpired, State.EXPIRED),
    ],
)
def test_lapse_does_what_was_declared(consequence: Consequence, event: type[Event], state: State) -> None:
    """Each of the four, once, and not before the deadline."""
    ask = opened(deadline=10 * SECOND, consequence=consequence, escalate_to="human:bob")
    assert deadline(ask) == NOON + 10 * SECOND
    early = stamp(at=NOON + 10 * SECOND - timedelta(microseconds=1))
    assert decide(ask, LapseAsk(ASK_ID, early)) == ()
    due = LapseAsk(ASK_ID, stamp(at=NOON + 10 * SECOND))
    [happened] = decide(ask, due)
    assert type(happened) is event
    after = evolve(ask, happened, project="p", sequence=2)
    assert after.state is state
    assert after.is_overdue == after.is_open
    assert deadline(after) is None
    assert decide(after, due) == ()
    if after.outcome is not None:
        assert after.outcome.consequence is consequence
    if isinstance(happened, AskEscalated):
        assert happened.to == "human:bob"


def test_overdue_ask_can_still_be_answered() -> None:
    """`wait` and `escalate` leave it open for as long as it takes."""
    ask = fold(opened(deadline=SECOND), LapseAsk(ASK_ID, stamp(at=NOON + SECOND)))
    after = fold(ask, AnswerAsk(ASK_ID, "2", stamp=stamp()))
    assert after is not None
    assert (after.state, after.is_overdue) == (State.ANSWERED, True)


def test_undelivered_ask_stays_open_and_is_marked_once() -> None:
    """An ask that could be shown nowhere is still an ask."""
    command = ReportUndelivered(ASK_ID, "no terminal", stamp())
    after = fold(opened(), command)
    assert after is not None
    assert (after.is_open, after.is_undelivered) == (True, True)
    assert decide(after, command) == ()
    for state in ENDED:
        assert decide(ended(state), command) == ()


# Properties


@given(st.none() | asks(), commands)
def test_any_command_is_refused_with_a_code_or_yields_events_that_evolve_accepts(
    ask: Ask | None, command: Command
) -> None:
    """There is no third way: no other error, no event that replay could stumble over."""
    refused: AssentError | None = None
    events: tuple[Event, ...] = ()
    try:
        events = decide(ask, command)
    except AssentError as error:
        refused = error
    assert refused is None or (refused.code != AssentError.code and refused.message)
    for event in events:
        known = ask if ask is not None and ask.ask_id == event.ask_id else None
        ask = evolve(known, event, project="p", sequence=1)
        assert ask.state is TRANSITIONS[known.state if known else None][type(event)]


@given(st.none() | asks(), commands)
def test_same_command_twice_changes_nothing_the_second_time(ask: Ask | None, command: Command) -> None:
    """A retry after a lost reply is harmless, and whoever ended the ask gets their own reply."""
    try:
        after = fold(ask, command)
    except AssentError:
        return
    if isinstance(command, SupersedeAsk):
        assert isinstance(refusal(after, command), ConflictError)
    elif not (isinstance(command, OpenAsk) and ask is not None and decide(ask, command)):
        assert decide(after, command) == ()


@given(asks(), st.lists(st.integers(0, 10**6), max_size=5))
def test_time_alone_never_answers_or_declines(ask: Ask, seconds: list[int]) -> None:
    """Decided rule 6, whatever the clock does."""
    before = ask.state
    after: Ask | None = ask
    for second in seconds:
        after = fold(after, LapseAsk(ASK_ID, stamp(at=NOON + second * SECOND)))
    assert after is not None
    assert after.state is before or (before, after.state) == (State.OPEN, State.EXPIRED)
    assert (after.answer, ask.answer is None) == (ask.answer, after.answer is None)


@given(st.lists(commands, max_size=12))
def test_replaying_the_events_gives_the_live_ask(script: list[Command]) -> None:
    """The log is the truth: folding it from nothing gives what the commands made, and an end never changes."""
    live: Ask | None = None
    log: list[Event] = []
    for command in script:
        ended_before = live if live is not None and not live.is_open else None
        try:
            events = [event for event in decide(live, command) if live is None or event.ask_id == live.ask_id]
        except AssentError:
            continue
        for event in events:
            live = evolve(live, event, project="p", sequence=len(log) + 1)
            log.append(event)
        assert ended_before is None or live == ended_before
    again: Ask | None = None
    for sequence, event in enumerate(log, 1):
        again = evolve(again, event, project="p", sequence=sequence)
    assert again == live


def test_agent_cannot_replace_the_ask_of_another_agent() -> None:
    """What it may not take back it may not push aside either; a person may."""
    ask = opened()
    other = OpenAsk(AskId("ask_2"), OTHER, digest_of(OTHER), key="k", is_replacing=True)
    stranger = stamp(Principal(Role.AGENT, "stranger"))
    assert isinstance(refusal(ask, replace(other, stamp=stranger)), ForbiddenError)
    assert decide(ask, replace(other, stamp=stamp(ANA)))
