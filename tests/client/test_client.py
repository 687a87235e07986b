"""What a client does, the same for threads and for tasks."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest
from msgspec.structs import replace

from assent.client.client import Client
from assent.protocol.approval import approval_prompt, render_rejection
from assent.protocol.ask import Kind, State
from assent.protocol.confirm import confirm_fields
from assent.protocol.error import (
    AssentError,
    AssuranceError,
    BadPromptError,
    BadRequestError,
    ConfirmFirstError,
    ConflictError,
    Declined,
    Expired,
    ForbiddenError,
    KeyReusedError,
    NoAnswer,
    NotFoundError,
    StillOpen,
    Superseded,
    UnrecognisedError,
    Withdrawn,
)
from assent.protocol.principal import Assurance
from assent.protocol.prompt import OTHER, Field, Option, Prompt, other_label, question
from assent.testing import FakeClock
from tests.client.both import Clients, NewStore, only_on_a_file
from tests.patience import PATIENCE
from tests.proves import proves

__all__: list[str] = []

DATABASES = ["PostgreSQL", "SQLite"]
HALF = "\udcff"
"""Half of a pair: what an argument that is not UTF-8 becomes."""


@pytest.fixture
def agent(clients: Clients) -> Client:
    """Give a client that asks."""
    return clients.agent()


@pytest.fixture
def ana(clients: Clients) -> Client:
    """Give a client that answers."""
    return clients.person()


# Asking


def test_ask_returns_the_answers_value(clients: Clients, agent: Client) -> None:
    """A chosen option, several of them, one's own words, or a value for each of several questions."""
    fields = (
        Field("db", "Which?", (Option("pg", "PostgreSQL"), Option("lite", "SQLite"))),
        Field("why", "Why?", free=True),
    )
    with clients.store.scripted_person() as person:
        person.will_answer("database", "2").will_answer("ones", "b, a").will_answer("name", "Ana María")
        person.will_answer("Both", {"db": ["lite"], "why": ["small"]}).will_answer(
            "2 questions", "q1: x\nq2: y"
        )
        assert agent.ask("Which database?", DATABASES, wait=PATIENCE) == "SQLite"
        assert agent.ask("Which ones?", ["red fox", "blue fox"], multiple=True, wait=PATIENCE) == [
            "blue fox",
            "red fox",
        ]
        assert agent.ask("Your name?", wait=PATIENCE) == "Ana María"
        assert agent.ask(Prompt("Both", "", fields), wait=PATIENCE) == {"db": "lite", "why": "small"}
        assert agent.ask_all(["How?", "When?"], wait=PATIENCE) == {"q1": "x", "q2": "y"}


def test_ask_all_with_one_question_still_gives_a_value_by_name(clients: Clients, agent: Client) -> None:
    """The shape does not depend on the count."""
    with clients.store.scripted_person() as person:
        person.will_answer("A question", "soon")
        assert agent.ask_all(["When?"], wait=PATIENCE) == {"q1": "soon"}


@proves("C16")
def test_ask_all_with_many_questions_asks_in_rounds(clients: Clients, agent: Client) -> None:
    """Five are 3 and 2; what was answered is found again by its key, and the values are those of all."""
    questions = [f"How about {number}?" for number in range(1, 6)]
    with clients.store.scripted_person() as person:
        person.will_answer("1 of 2", "q1: a\nq2: b\nq3: c").will_decline("2 of 2", "busy")
        with pytest.raises(Declined):
            agent.ask_all(questions, title="Setup", key="setup", wait=PATIENCE)
    assert [(ask.key, ask.prompt.title, len(ask.prompt.fields)) for ask in agent.inbox(all_states=True)] == [
        ("setup:2", "Setup (2 of 2)", 2),
        ("setup:1", "Setup (1 of 2)", 3),
    ]
    with clients.store.scripted_person() as person:
        person.will_answer("1 of 3", "q1: d\nq2: e").will_answer("2 of 3", "q1: f\nq2: g")
        person.will_answer("3 of 3", "h")
        values = agent.ask_all(questions, most=2, wait=PATIENCE)
    assert values == {"q1": "d", "q2": "e", "q3": "f", "q4": "g", "q5": "h"}


def test_ask_all_checks_every_round_before_the_first_is_asked(agent: Client) -> None:
    """Nobody is asked three things for nothing."""
    fine = [Field(f"n{number}", "Which?", free=True) for number in range(1, 5)]
    with pytest.raises(BadPromptError):
        agent.ask_all([*fine, Field("n5", "Which?")], wait=0)
    assert agent.count() == 0


@proves("C3", "C8", "C15", "C21")
def test_question_by_its_protocol_is_what_the_id_says(agent: Client) -> None:
    """What was left open follows from it, and what does not fit is refused before anybody is asked."""

    def asked(protocol: str, *options: str, **more: object) -> Field:
        return agent.open("Which?", options, protocol=protocol, **more).ask.prompt.fields[0]  # type: ignore[arg-type]

    assert not asked("ask-single-question-closed", "Red", "Blue").free
    assert asked("ask-single-question-free", "Red", "Blue").free
    assert asked("ask-single-question-free").free
    fields = [Field(f"n{number}", "Which?", (Option("r", "Red"), Option("b", "Blue"))) for number in (1, 2)]
    with pytest.raises(StillOpen):
        agent.ask_all(fields, protocol="ask-multi-question-closed", wait=0)
    with pytest.raises(StillOpen):
        agent.ask_all(fields, protocol="ask-multi-question-free", wait=0)
    free, closed = agent.inbox()[:2]
    assert [field.free for field in (*free.prompt.fields, *closed.prompt.fields)] == [
        True,
        True,
        False,
        False,
    ]
    count = agent.count()
    for wrong in (
        partial(asked, "ask-single-question-closed"),
        partial(asked, "ask-single-question-closed", "Red", free=True),
        partial(asked, "ask-single-question-free", "Red", free=False),
        partial(asked, "ask-multi-question-closed", "Red", "Blue"),
        partial(asked, "yield-human-confirm", "Red", "Blue"),
        partial(asked, "ask-nothing", "Red", "Blue"),
        partial(agent.ask_all, ["Why?"], protocol="ask-multi-question-free", wait=0),
        partial(agent.ask_all, ["Why?", "When?"], protocol="ask-single-question-free", wait=0),
        partial(agent.ask_all, ["Why?", "When?"], protocol="ask-multi-question-closed", wait=0),
    ):
        with pytest.raises(BadRequestError):
            wrong()
    assert agent.count() == count


@proves("C13")
def test_label_of_the_free_option_is_the_projects_or_the_calls(agent: Client) -> None:
    """What is said for one ask comes before the project's; a whole prompt is shown as it is."""
    agent.calls.find_label = lambda: "其他（可填写）"
    assert agent.open("Which?", ["Red"], free=True).ask.prompt.fields[0].other == "其他（可填写）"
    assert agent.open("Which?", ["Red"], free=True, other="Mine").ask.prompt.fields[0].other == "Mine"
    plain = question("Which?", ["Red"], free=True)
    assert agent.open(plain).ask.prompt == plain
    assert agent.open(plain, other="Mine").ask.prompt.fields[0].other == "Mine"
    assert agent.open("Which?", ["Red"]).ask.prompt == question("Which?", ["Red"])
    with pytest.raises(StillOpen):
        agent.ask_all([Field("a", "Which?", (Option("r", "Red"),), free=True), "Why?"], wait=0)
    shown = agent.inbox()[0].prompt.fields
    assert [other_label(field) for field in shown] == ["其他（可填写）", OTHER]


def test_ask_with_a_key_is_asked_once_for_ever(clients: Clients, agent: Client) -> None:
    """After a restart the same call gets the same answer, and nobody is asked again."""
    with clients.store.scripted_person() as person:
        person.will_answer("database", "2")
        assert agent.ask("Which database?", DATABASES, key="db", wait=PATIENCE) == "SQLite"
    assert clients.agent("restarted").ask("Which database?", DATABASES, key="db", wait=0) == "SQLite"
    replayed = agent.open("Which database?", DATABASES, key="db").ask
    assert (replayed.replayed, replayed.asker) == (True, "agent:coder")
    assert agent.inbox(all_states=True) == [replace(replayed, replayed=False)]


def test_key_of_another_prompt_is_refused(agent: Client) -> None:
    """Never an answer to another question; the error carries the ask that has the key."""
    first = agent.open("Which database?", DATABASES, key="db")
    with pytest.raises(KeyReusedError) as caught:
        agent.ask("Which databases?", DATABASES, key="db", wait=0)
    assert caught.value.ask == first.ask
    with pytest.raises(KeyReusedError):
        agent.open("Which database?", ["MySQL", *DATABASES], key="db")


def test_replaced_ask_is_superseded(agent: Client) -> None:
    """Whoever waits for the older one learns which took its place."""
    older = agent.open("Which database?", DATABASES, key="db")
    newer = agent.open("Which database now?", DATABASES, key="db", replace=True)
    with pytest.raises(Superseded, match=newer.ask_id) as caught:
        older.value(PATIENCE)
    assert caught.value.ask is not None
    assert caught.value.ask.outcome is not None
    assert caught.value.ask.outcome.successor == newer.ask_id


def test_wait_that_lapses_leaves_the_ask_open(agent: Client) -> None:
    """The wait lapsed, the ask did not; the error carries it."""
    for seconds in (0, 0.01):
        with pytest.raises(StillOpen) as caught:
            agent.ask("Which database?", DATABASES, key="db", wait=seconds)
        assert caught.value.ask is not None
        assert caught.value.ask.is_open
    assert agent.count() == 1
    handle = agent.open("Which database?", DATABASES, key="db")
    with pytest.raises(StillOpen):
        handle.value(0)


def test_ending_without_an_answer_is_a_typed_outcome(agent: Client, ana: Client, clock: FakeClock) -> None:
    """Declined, withdrawn, expired: each its own class and code, with the ask and a sentence that says how."""
    declined, withdrawn, own = (agent.open("Which?", DATABASES) for _ in range(3))
    expired = agent.open("Which?", DATABASES, deadline=timedelta(seconds=5), consequence="end-run")
    ana.decline(declined.ask_id, "not my business")
    ana.withdraw(withdrawn.ask_id)
    assert own.withdraw("no longer needed").state is State.WITHDRAWN
    clock.advance(5)
    expected: list[tuple[object, type[NoAnswer], str]] = [
        (declined, Declined, 'ana declined at .* Reason: "not my business"'),
        (withdrawn, Withdrawn, "ana took it back"),
        (own, Withdrawn, 'agent:coder took it back at .* Reason: "no longer needed"'),
        (expired, Expired, "ends the run"),
    ]
    for handle, error, sentence in expected:
        with pytest.raises(error, match=sentence) as caught:
            handle.value(PATIENCE)  # type: ignore[attr-defined]  # a handle of either sort
        assert caught.value.ask is not None
        assert caught.value.code == caught.value.ask.state


@pytest.mark.parametrize(
    ("parts", "error"),
    [
        ({"kind": "riddle"}, BadRequestError),
        ({"consequence": "explode"}, BadRequestError),
        ({"deadline": datetime(2031, 1, 1)}, BadRequestError),  # noqa: DTZ001 - that is the fault
        ({"deadline": timedelta.max}, BadRequestError),
        ({"deadline": 30}, BadRequestError),
        ({"consequence": "deny"}, BadRequestError),
        ({"key": ""}, BadRequestError),
        ({"key": "k" * 501}, BadRequestError),
        ({"options": ["same", "SAME"]}, BadPromptError),
        ({"options": [], "free": False}, BadPromptError),
    ],
    ids=lambda part: str(part)[:20],
)
def test_ask_that_makes_no_sense_is_refused_and_not_stored(
    agent: Client, parts: dict[str, object], error: type[AssentError]
) -> None:
    """A sentence at once is better than an ask that nobody can answer."""
    with pytest.raises(error):
        agent.open("Which database?", **{"options": DATABASES, **parts})  # type: ignore[arg-type]  # wrong on purpose
    assert agent.inbox(all_states=True) == []


# Answering


def test_answer_is_told_with_all_that_belongs_to_it(clients: Clients, agent: Client, ana: Client) -> None:
    """What, in which words, by whom, from where and how sure."""
    handle = agent.open("Which database?", DATABASES)
    answered = ana.answer(handle.ask_id, " sqlite ")
    assert answered.answer is not None
    assert (answered.state, answered.answer.values) == (State.ANSWERED, {"q1": ("SQLite",)})
    assert (answered.answer.text, answered.answer.by) == (" sqlite ", "human:ana")
    assert answered.answer.via == ("http" if clients.is_served else "python")  # what the server saw
    assert answered.answer.assurance is (Assurance.TOKEN if clients.is_served else Assurance.DECLARED)
    assert handle.wait(PATIENCE) == answered
    assert handle.ask == answered


def test_reply_that_is_not_recognised_leaves_the_ask_open(agent: Client, ana: Client) -> None:
    """Typed or ready-made; the next one counts."""
    handle = agent.open("Which database?", DATABASES)
    for reply in ("MySQL", "", {"q1": ["MySQL"]}, {"q9": ["SQLite"]}, {}):
        with pytest.raises(UnrecognisedError):
            ana.answer(handle.ask_id, reply)
    with pytest.raises(BadRequestError):
        ana.answer(handle.ask_id, {"q1": [2]})  # type: ignore[list-item]  # wrong on purpose
    assert agent.count() == 1
    assert ana.answer(handle.ask_id, {"q1": "SQLite"}).answer is not None


def test_second_answer_gets_a_conflict_that_names_the_first(
    clients: Clients, agent: Client, ana: Client
) -> None:
    """Who, when and what, and the ask as it ended."""
    handle = agent.open("Which database?", DATABASES)
    answered = ana.answer(handle.ask_id, "2")
    bob = clients.person("bob")
    for late in (partial(bob.answer, reply="1"), bob.decline, bob.claim, bob.withdraw):
        with pytest.raises(
            ConflictError, match='ana answered at 2030-01-01 12:00:00 UTC: "SQLite"'
        ) as caught:
            late(handle.ask_id)
        assert caught.value.ask == answered


def test_agent_can_never_answer(clients: Clients, agent: Client) -> None:
    """Not its own asks, not another's, by no call; the ask stays open."""
    handle = agent.open("Which database?", DATABASES)
    for client in (agent, clients.agent("other")):
        for call in (partial(client.answer, reply="1"), client.decline, client.claim):
            with pytest.raises(ForbiddenError):
                call(handle.ask_id)
    with pytest.raises(ForbiddenError):
        clients.agent("other").withdraw(handle.ask_id)
    assert agent.count() == 1


@only_on_a_file
@pytest.mark.parametrize("assurance", list(Assurance))
def test_approval_takes_a_terminal_a_token_or_an_explicit_word(
    clients: Clients, agent: Client, assurance: Assurance
) -> None:
    """A process's word is not enough, unless it was said that nobody attends; a host's never is."""
    person = clients.person("ana", assurance)
    handle = agent.open("Drop the table?", ["Drop it", "Keep it"], kind=Kind.APPROVAL)
    if assurance is Assurance.DECLARED:
        with pytest.raises(ForbiddenError):
            person.answer(handle.ask_id, "1")
        answered = person.answer(handle.ask_id, "1", unattended=True)
    elif assurance is Assurance.HOST:
        for unattended in (False, True):
            with pytest.raises(AssuranceError, match="an agent's host is not enough"):
                person.answer(handle.ask_id, "1", unattended=unattended)
        assert agent.count() == 1
        return
    else:
        answered = person.answer(handle.ask_id, "1")
    assert answered.answer is not None
    assert answered.answer.assurance is assurance


def test_claim_is_a_courtesy_that_lapses(
    clients: Clients, agent: Client, ana: Client, clock: FakeClock
) -> None:
    """Others are told who is on it, but may still answer; after a quarter of an hour it is nobody's."""
    handle, bob = agent.open("Which database?", DATABASES), clients.person("bob")
    claimed = ana.claim(handle.ask_id)
    assert claimed.claim is not None
    assert claimed.claim.by == "human:ana"
    assert ana.claim(handle.ask_id).claim == claimed.claim
    with pytest.raises(ConflictError, match="ana claimed it"):
        bob.claim(handle.ask_id)
    clock.advance(timedelta(minutes=15))
    taken = bob.claim(handle.ask_id).claim
    assert taken is not None
    assert taken.by == "human:bob"
    assert ana.answer(handle.ask_id, "2").answer is not None


# Looking


def test_ask_is_named_by_the_end_of_its_id(agent: Client, ana: Client) -> None:
    """Every call takes it; what is too short, unknown or foreign is not found."""
    ask = agent.open("Which database?", DATABASES).ask
    for length in (4, 6, len(ask.ask_id)):
        assert ana.show(ask.ask_id[-length:]) == ask
    assert ana.show(ask.ask_id[-6:].upper()) == ask
    for unknown in ("", "abc", "____", "%%%%", "ask_none", "ask_" + "0" * 18, HALF * 6, "ask_" + HALF * 18):
        with pytest.raises(NotFoundError):
            ana.show(unknown)
        with pytest.raises(NotFoundError):
            ana.answer(unknown, "2")
        with pytest.raises(NotFoundError):
            ana.wait(unknown, 0)
    assert ana.answer(ask.ask_id[-6:], "2").ask_id == ask.ask_id
    assert agent.wait(ask.ask_id[-6:], PATIENCE).state is State.ANSWERED


def test_other_projects_asks_are_not_there(clients: Clients, agent: Client) -> None:
    """Not to be shown, answered or waited for; only a look over all projects shows them."""
    theirs = clients.agent(project="theirs").open("Which database?", DATABASES).ask
    for call in (agent.show, agent.withdraw, partial(agent.wait, seconds=0)):
        with pytest.raises(NotFoundError):
            call(theirs.ask_id)
    assert (agent.inbox(), agent.count(), agent.log()) == ([], 0, [])
    assert (agent.inbox(all_projects=True), agent.count(all_projects=True)) == ([theirs], 1)


def test_inbox_shows_what_waits_newest_first(agent: Client, ana: Client) -> None:
    """With a limit, with all states, and counted."""
    first, second, third = (agent.open(title, DATABASES).ask for title in ("One?", "Two?", "Three?"))
    ended = ana.answer(second.ask_id, "1")
    assert ana.inbox() == [third, first]
    assert ana.inbox(limit=1) == [third]
    assert ana.inbox(all_states=True) == [third, ended, first]
    assert ana.count() == 2


def test_undelivered_ask_is_marked_and_stays_open(agent: Client) -> None:
    """No surface could show it."""
    handle = agent.open("Which database?", DATABASES)
    marked = agent.report_undelivered(handle.ask_id, "no terminal")
    assert (marked.is_open, marked.is_undelivered) == (True, True)


def test_log_tells_what_happened_after_a_number(agent: Client, ana: Client) -> None:
    """The project's events, oldest first."""
    handle = agent.open("Which database?", DATABASES)
    ana.answer(handle.ask_id, "2")
    assert [(record.sequence, record.type) for record in agent.log()] == [
        (1, "ask.opened"),
        (2, "ask.answered"),
    ]
    assert [record.sequence for record in agent.log(after=1)] == [2]
    assert [record.sequence for record in agent.log(limit=1)] == [1]
    assert ana.verify().problems == ()


def test_text_that_cannot_be_stored_is_refused_with_a_code(agent: Client, ana: Client) -> None:
    """Half of a character pair in any field: a sentence, never a failed command, and nothing is stored."""
    handle = agent.open("Your name?")
    calls: list[Callable[[], object]] = [
        partial(agent.open, HALF),
        partial(agent.open, "Which?", [f"a{HALF}", "b"]),
        partial(agent.open, "Which?", DATABASES, body=HALF),
        partial(agent.open, "Which?", DATABASES, key=HALF),
        partial(agent.open, "Which?", DATABASES, run_id=HALF),
        partial(
            agent.open, "Which?", DATABASES, escalate_to=HALF, deadline=timedelta(1), consequence="escalate"
        ),
        partial(ana.answer, handle.ask_id, HALF),
        partial(ana.answer, handle.ask_id, {"q1": [HALF]}),
        partial(ana.decline, handle.ask_id, HALF),
        partial(agent.withdraw, handle.ask_id, HALF),
        partial(agent.report_undelivered, handle.ask_id, HALF),
    ]
    before = agent.log()
    for call in calls:
        with pytest.raises(AssentError) as caught:
            call()
        assert caught.value.code in {"bad_request", "bad_json", "bad_prompt", "unrecognised"}, call
    assert agent.log() == before


def test_somebody_to_escalate_to_without_the_consequence_is_refused(agent: Client) -> None:
    """Nobody would ever be asked."""
    with pytest.raises(BadRequestError, match="escalate"):
        agent.open("Which?", ["a b", "c d"], escalate_to="human:sam")


def test_async_client_follows_the_log_and_verifies_it(new_store: NewStore) -> None:
    """As the sync client does, without holding the loop."""

    async def first_event() -> tuple[str, tuple[str, ...]]:
        with new_store() as store:
            store.agent().open("Which?", ["a b", "c d"])
            client = store.async_person()
            feed = client.follow()
            record = await asyncio.wait_for(anext(feed), 10)
            await feed.aclose()
            return record.type, (await client.verify()).problems

    assert asyncio.run(first_event()) == ("ask.opened", ())


# What cannot be undone, words with a no, and how sure it is that a person answers


TABLE = (Option("Keep it", "Keep it"), Option("Drop it", "Drop it", destructive=True))


@pytest.mark.parametrize("reply", ["2", "drop it", {"q1": ["Drop it"]}], ids=["number", "label", "values"])
def test_answer_that_cannot_be_undone_counts_only_when_confirmed(
    agent: Client, ana: Client, reply: str | dict[str, list[str]]
) -> None:
    """By whatever door, however it is spelled; until then nothing has changed, and another option needs nothing."""
    handle = agent.open("What about the table?", TABLE)
    with pytest.raises(ConfirmFirstError, match='"Drop it" cannot be undone'):
        ana.answer(handle.ask_id, reply)
    assert agent.count() == 1
    assert [record.type for record in agent.log()] == ["ask.opened"]
    assert ana.answer(handle.ask_id, reply, confirmed=True).state is State.ANSWERED
    assert ana.answer(agent.open("And this?", TABLE).ask_id, "1").state is State.ANSWERED


def test_several_options_of_which_one_cannot_be_undone_count_only_when_confirmed(
    agent: Client, ana: Client
) -> None:
    """It may hide among others."""
    handle = agent.open("What about them?", [*TABLE, "Rename it"], multiple=True)
    with pytest.raises(ConfirmFirstError):
        ana.answer(handle.ask_id, "1, 3, 2")
    assert ana.answer(handle.ask_id, "1, 3").state is State.ANSWERED


def test_no_to_an_approval_carries_words_to_the_agent(clients: Clients, agent: Client) -> None:
    """As a part of the answer or behind the label; a yes has no words, and neither has another kind of ask."""
    ana = clients.person("ana", Assurance.TERMINAL)
    for reply, reason in (("Reject", "not on a Friday"), ("reject: not on a Friday", "")):
        asked = agent.open(approval_prompt("Drop users", {"drop": reply}), kind=Kind.APPROVAL)
        with pytest.raises(BadRequestError, match="A reason goes with a no"):
            ana.answer(asked.ask_id, "Approve", reason="fine")
        answered = ana.answer(asked.ask_id, reply, reason=reason)
        assert answered.answer is not None
        assert (answered.answer.values, answered.answer.reason) == (
            {"approve": ("Reject",)},
            "not on a Friday",
        )
        assert 'Reason: "not on a Friday".' in render_rejection(answered)
    question = agent.open("Which database?", DATABASES)
    with pytest.raises(BadRequestError, match="A reason goes with a no"):
        ana.answer(question.ask_id, "1", reason="because")


@pytest.mark.parametrize(
    ("reply", "stored"),
    [
        ("changes: rename it first", "rename it first"),
        ("Changes: yes, but rename it", "yes, but rename it"),
        ("changes: yes.", None),
        ("changes: no", None),
        ("changes: STOP!", None),
        ("changes: drop this confirm", None),
        ("changes: ", None),
        ("yes", "yes"),
        ("rename it first", "rename it first"),
    ],
)
def test_wish_for_changes_that_reads_as_a_yes_is_never_taken_for_one(
    agent: Client, ana: Client, reply: str, stored: str | None
) -> None:
    """One rule for every surface, typed or ready-made."""
    prompt = Prompt("Continue? (Y/N)", fields=confirm_fields())
    for given in (reply, {"confirm": [reply]}):
        handle = agent.open(prompt, kind=Kind.CONFIRM)
        if stored is None:
            with pytest.raises(UnrecognisedError):
                ana.answer(handle.ask_id, given)
            assert agent.count() == 1
            agent.withdraw(handle.ask_id)
            continue
        answered = ana.answer(handle.ask_id, given)
        assert answered.answer is not None
        assert answered.answer.values == {"confirm": (stored,)}


@only_on_a_file
def test_project_says_which_assurance_suffices_for_which_kind(clients: Clients, agent: Client) -> None:
    """Its list holds alone: it may ask for more than the default, or take a host's word for an approval."""
    ana = clients.person("ana", Assurance.TERMINAL)
    host, process = clients.person("ana", Assurance.HOST), clients.person("ana", Assurance.DECLARED)
    with pytest.raises(ForbiddenError, match="Loosening a policy needs a person"):
        process.set_policy({}, assurances={"approval": ["token", "terminal", "host"]})
    ana.set_policy({}, assurances={"approval": ["token", "terminal", "host"], "gate": ["token"]})
    approval = agent.open("Drop it?", ["Yes", "No"], kind=Kind.APPROVAL)
    assert host.answer(approval.ask_id, "No").answer is not None
    gate = agent.open("Go on?", ["Yes", "No"], kind=Kind.GATE)
    for who in (host, process, ana):
        with pytest.raises(AssuranceError, match="A gate needs a person's token"):
            who.answer(gate.ask_id, "Yes", unattended=True)
    ana.set_policy({}, assurances={"gate": []})
    assert process.answer(gate.ask_id, "Yes").answer is not None
