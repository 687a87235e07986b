"""Asks in every state and commands of every sort, for the engine's properties."""

from datetime import UTC, timedelta, timezone

from hypothesis import strategies as st

from assent.engine.ask import (
    AnswerAsk,
    Command,
    DeclineAsk,
    LapseAsk,
    OpenAsk,
    ReportUndelivered,
    SupersedeAsk,
    WithdrawAsk,
    decide,
    evolve,
)
from assent.engine.stamp import Stamp
from assent.protocol.answer import FieldValues
from assent.protocol.ask import WAITING_KINDS, Ask, AskId, Consequence, Kind
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Field, Option, Prompt, question
from tests.samples import AGENT, ANA, BOB, NOON, WHICH, digest_of

__all__ = ["ASK_ID", "PROMPTS", "asks", "commands", "fold", "open_commands", "stamps"]

ASK_ID = AskId("ask_1")
PROMPTS = (
    WHICH,
    question("Your name?"),
    question("Which ones?", ["red fox", "blue fox"], multiple=True),
    question("Which, or another?", [Option("pg", "PostgreSQL"), Option("lite", "SQLite")], free=True),
    Prompt("Two", "", (Field("q1", "", WHICH.fields[0].options), Field("q2", "Why?", free=True))),
)

stamps = st.builds(
    Stamp,
    st.integers(-100, 10_000).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    st.sampled_from([AGENT, Principal(Role.AGENT, "other"), ANA, BOB, Principal(Role.OPERATOR, "assent")]),
    st.sampled_from(["cmd_1", "cmd_2", "cmd_3"]),
)
_ZONES = (UTC, timezone(timedelta(hours=14)), timezone(-timedelta(hours=12)))
_deadlines = st.none() | st.timedeltas() | st.datetimes(timezones=st.sampled_from(_ZONES))
_near_deadlines = st.timedeltas(timedelta(0), timedelta(seconds=200))
_texts = st.sampled_from(["1", "2", "A", "SQLite", "red fox, blue fox", "q1: 1\nq2: because", ""]) | st.text(
    max_size=8
)
_values = st.dictionaries(
    st.sampled_from(["q1", "q2", "zz"]),
    st.lists(
        st.sampled_from(["PostgreSQL", "SQLite", "red fox", "pg", "free"]) | st.text(max_size=4), max_size=3
    ).map(tuple),
    max_size=3,
)
_assurances = st.sampled_from(Assurance)


@st.composite
def open_commands(draw: st.DrawFn) -> OpenAsk:
    """Opening commands, also those that contradict themselves."""
    prompt = draw(st.sampled_from(PROMPTS))
    return OpenAsk(
        draw(st.sampled_from([ASK_ID, AskId("ask_2")])),
        prompt,
        digest_of(prompt),
        draw(st.sampled_from(Kind)),
        draw(st.none() | st.just("k")),
        None,
        draw(_deadlines),
        draw(st.sampled_from(Consequence)),
        draw(st.none() | st.just("human:bob")),
        draw(st.booleans()),
        draw(stamps),
    )


commands: st.SearchStrategy[Command] = st.one_of(
    open_commands(),
    st.builds(
        AnswerAsk, st.just(ASK_ID), _texts, st.none(), st.just("python"), _assurances, st.booleans(), stamps
    ),
    st.builds(
        AnswerAsk, st.just(ASK_ID), st.just(""), _values, st.just(""), _assurances, st.booleans(), stamps
    ),
    st.builds(DeclineAsk, st.just(ASK_ID), st.sampled_from(["", "no"]), st.just(""), _assurances, stamps),
    st.builds(WithdrawAsk, st.just(ASK_ID), st.sampled_from(["", "no"]), stamps),
    st.builds(SupersedeAsk, st.just(ASK_ID), st.just(AskId("ask_2")), stamps),
    st.builds(LapseAsk, st.just(ASK_ID), stamps),
    st.builds(ReportUndelivered, st.just(ASK_ID), st.just(""), stamps),
)


def fold(ask: Ask | None, command: Command) -> Ask | None:
    """Return the ask after `command` was accepted; another ask that it opens is left out."""
    for event in decide(ask, command):
        if ask is None or event.ask_id == ask.ask_id:
            ask = evolve(ask, event, project="p", sequence=(ask.sequence if ask else 0) + 1)
    return ask


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    """Asks in every state, each reached through the machine itself."""
    prompt = draw(st.sampled_from(PROMPTS))
    kind = draw(st.sampled_from(Kind))
    consequence = Consequence.WAIT if kind in WAITING_KINDS else draw(st.sampled_from(Consequence))
    is_timed = consequence is not Consequence.WAIT or draw(st.booleans())
    at = Stamp(NOON, AGENT, "cmd_open")
    opening = OpenAsk(
        ASK_ID,
        prompt,
        digest_of(prompt),
        kind,
        "k",
        None,
        draw(_near_deadlines) if is_timed else None,
        consequence,
        "human:bob",
        stamp=at,
    )
    ask = fold(None, opening)
    assert ask is not None
    later = draw(stamps)
    answer: FieldValues = {
        field.name: (field.options[0].key if field.options else "free",) for field in prompt.fields
    }
    following = draw(
        st.sampled_from(
            [
                None,
                AnswerAsk(ASK_ID, "", answer, assurance=Assurance.TERMINAL, stamp=later),
                DeclineAsk(ASK_ID, "no", stamp=later),
                WithdrawAsk(ASK_ID, "", Stamp(later.at, AGENT, later.command_id)),
                SupersedeAsk(ASK_ID, AskId("ask_2"), later),
                LapseAsk(ASK_ID, later),
                ReportUndelivered(ASK_ID, "", later),
            ]
        )
    )
    moved = ask if following is None else fold(ask, following)
    assert moved is not None
    return moved
