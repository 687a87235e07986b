"""The scripted person: does what the script says, tells what happened, and minds what never came."""

import asyncio
import re
import threading
from datetime import timedelta

import pytest

from assent.protocol.ask import Ask, State
from assent.protocol.error import ConflictError, Declined, StillOpen, UnrecognisedError
from assent.testing import FakeClock, ScriptedPerson, ScriptError, ThrowawayStore, throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

FOXES = ["red fox", "blue fox"]


def test_person_answers_from_another_thread() -> None:
    """The asker waits as it would for anybody."""
    with throwaway() as store, store.scripted_person("bob") as person:
        person.will_answer("Which", "blue fox")
        assert store.agent().ask("Which?", FOXES, wait=PATIENCE) == "blue fox"
    assert [ask.prompt.title for ask in person.seen] == ["Which?"]
    assert [ask.answer and ask.answer.by for ask in person.given] == ["human:bob"]
    assert person.refused == []


def test_person_serves_tasks_as_well() -> None:
    """A loop is not held up by the script."""

    async def ask(store: ThrowawayStore) -> object:
        agent = store.async_agent()
        return await asyncio.gather(*(agent.ask(f"{n}?", FOXES, wait=PATIENCE) for n in range(5)))

    with throwaway() as store, store.scripted_person() as person:
        for number in range(5):
            person.will_answer(f"{number}?", str(number % 2 + 1))
        assert asyncio.run(ask(store)) == ["red fox", "blue fox", "red fox", "blue fox", "red fox"]


def test_person_finds_asks_that_were_there_before_and_lines_that_come_later() -> None:
    """Neither has to be first."""
    with throwaway() as store:
        early = store.agent().open("Early?", FOXES)
        with store.scripted_person() as person:
            late = store.agent().open("Late?", FOXES)
            person.catch_up()
            person.will_answer("Late", "1").will_answer("Early", "2")
            assert (late.value(PATIENCE), early.value(PATIENCE)) == ("red fox", "blue fox")


def test_line_fits_by_words_pattern_or_question() -> None:
    """And its reply may be text, values, or made out of the ask."""

    def last(ask: Ask) -> str:
        return ask.prompt.fields[0].options[-1].label

    with throwaway() as store, store.scripted_person() as person:
        person.will_answer(lambda ask: ask.key == "by ask", last)
        person.will_answer(re.compile("^Pattern|in the body"), {"q1": ["red fox"]})
        person.will_answer("ords", "blue fox")
        agent = store.agent()
        assert agent.ask("Words?", FOXES, wait=PATIENCE) == "blue fox"
        assert agent.ask("Another?", FOXES, body="It is in the body.", wait=PATIENCE) == "red fox"
        assert agent.ask("Third?", FOXES, key="by ask", wait=PATIENCE) == "blue fox"


def test_lines_are_taken_in_order_one_an_ask() -> None:
    """The same question twice needs two lines."""
    with throwaway() as store, store.scripted_person() as person:
        person.will_answer("Which", "1").will_answer("Which", "2")
        agent = store.agent()
        assert [agent.ask("Which?", FOXES, wait=PATIENCE) for _ in range(2)] == FOXES


def test_person_declines_with_a_reason() -> None:
    """A no to being asked."""
    with throwaway() as store, store.scripted_person() as person:
        person.will_decline("Which", "not now")
        with pytest.raises(Declined, match="not now"):
            store.agent().ask("Which?", FOXES, wait=PATIENCE)
    assert [ask.state for ask in person.given] == [State.DECLINED]


def test_ignored_ask_stays_open() -> None:
    """It was seen; nothing was done about it, and no later line takes it up."""
    with throwaway() as store, store.scripted_person(strict=False) as person:
        person.will_ignore("Which")
        handle = store.agent().open("Which?", FOXES)
        person.catch_up()
        person.will_answer("Which", "1")
        with pytest.raises(StillOpen):
            handle.wait(0)
    assert (len(person.seen), person.given) == (1, [])


def test_wrong_reply_is_refused_and_the_next_line_has_its_turn() -> None:
    """The ask stays open in between."""
    with throwaway() as store, store.scripted_person() as person:
        person.will_answer_wrongly("Which", "green fox").will_answer_wrongly("Which", "").will_answer(
            "Which", "1"
        )
        assert store.agent().ask("Which?", FOXES, wait=PATIENCE) == "red fox"
    assert [type(refusal) for refusal in person.refused] == [UnrecognisedError, UnrecognisedError]


def test_wrong_reply_that_is_taken_fails_the_test() -> None:
    """The script said that it must not be."""

    def play() -> None:
        with throwaway() as store, store.scripted_person() as person:
            person.will_answer_wrongly("name", "Ana")
            assert store.agent().ask("Your name?", wait=PATIENCE) == "Ana"

    with pytest.raises(ScriptError, match="should have been refused"):
        play()


def test_late_answer_gets_a_conflict() -> None:
    """After the deadline, or after somebody else."""
    clock = FakeClock()
    with throwaway(clock=clock) as store, store.scripted_person() as person:
        person.will_answer("Timed", "1", after=timedelta(minutes=2)).will_answer("Taken", "1", after=60)
        agent = store.agent()
        agent.open("Timed?", FOXES, deadline=timedelta(minutes=1), consequence="deny")
        store.person("bob").answer(agent.open("Taken?", FOXES).ask_id, "2")
        clock.advance(timedelta(minutes=3))
    assert {type(refusal) for refusal in person.refused} == {ConflictError}
    assert sorted(str(refusal).partition(": ")[2][:12] for refusal in person.refused) == [
        "Nobody answe",
        "bob answered",
    ]
    assert person.given == []


def test_delay_by_the_machines_clock_is_waited_for() -> None:
    """Without a fake clock time is real."""
    with throwaway() as store, store.scripted_person() as person:
        person.will_answer("Which", "1", after=0.05)
        handle = store.agent().open("Which?", FOXES)
        with pytest.raises(StillOpen):
            handle.wait(0)
        assert handle.value(PATIENCE) == "red fox"


def test_line_that_was_never_used_fails_the_test() -> None:
    """Also one that was planned for a time that never came."""

    def play(*, strict: bool) -> None:
        with throwaway(clock=FakeClock()) as store, store.scripted_person(strict=strict) as person:
            store.agent().open("Which?", FOXES)
            person.will_answer("Which", "1", after=60).will_answer("Where", "1")

    with pytest.raises(ScriptError, match="never came to: answer 'Where'; answer 'Which'"):
        play(strict=True)
    play(strict=False)


def test_failure_of_the_test_itself_is_not_hidden() -> None:
    """The first thing that went wrong is what is reported."""

    def play() -> None:
        with throwaway() as store, store.scripted_person() as person:
            person.will_answer("Where", "1")
            raise LookupError

    with pytest.raises(LookupError):
        play()


def test_failure_of_a_reply_is_raised_where_the_test_sees_it() -> None:
    """A callable of the script that fails does not vanish with its thread."""

    def fail(_: Ask) -> str:
        raise LookupError("planted")

    def play() -> None:
        with throwaway() as store, store.scripted_person() as person:
            person.will_answer("Which", fail)
            store.agent().open("Which?", FOXES)

    with pytest.raises(LookupError, match="planted"):
        play()


def test_two_people_on_one_store_compete() -> None:
    """One wins; the other is told."""
    with throwaway() as store:
        people = [ScriptedPerson(store.person(name)).will_answer("Which", "1") for name in ("ana", "bob")]
        with people[0], people[1]:
            assert store.agent().ask("Which?", FOXES, wait=PATIENCE) == "red fox"
        assert sum(len(person.given) for person in people) == 1
        assert [type(refusal) for person in people for refusal in person.refused] == [ConflictError]


def test_person_leaves_no_thread_behind() -> None:
    """Whatever happened in the block."""
    with throwaway() as store:
        with store.scripted_person() as person:
            name = str(person)
            assert name in {thread.name for thread in threading.enumerate()}
        assert name not in {thread.name for thread in threading.enumerate()}
