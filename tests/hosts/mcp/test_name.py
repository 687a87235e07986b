"""The same call finds its ask again, and an old answer is no answer to a new question."""

import anyio
import pytest

from tests.hosts.mcp.world import ERAS, LEGACY, QUESTION, World

__all__: list[str] = []


@pytest.mark.parametrize("era", ERAS)
def test_question_whose_answer_was_handed_out_is_asked_anew(world: World, era: str) -> None:
    """An agent may ask the same twice in its life; the first yes is no yes to the second."""

    async def story() -> None:
        async with world.host(era) as host:
            first = await host.told("confirm", question="Deploy now?")
            world.person.answer(first["ask_id"], "Yes")
            told = await host.told("confirm", question="Deploy now?")
            assert (told["ask_id"], told["is_confirmed"]) == (first["ask_id"], True)
            again = await host.told("confirm", question="Deploy now?")
            assert (again["state"], again["ask_id"] != first["ask_id"]) == ("open", True)
            same = await host.told("confirm", question="Deploy now?")
            assert same["ask_id"] == again["ask_id"]

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_question_with_a_key_has_the_same_answer_for_ever(world: World, era: str) -> None:
    """The agent says so, and a server that was started anew says the same."""

    async def story() -> None:
        for _ in range(2):
            async with world.host(era) as host:
                for _ in range(2):
                    told = await host.told("ask_user", **QUESTION, key="db")
                    if told["state"] == "open":
                        world.person.answer(told["ask_id"], "SQLite")
                    else:
                        assert (told["answer"], told["key"]) == ("SQLite", "db")
                refused = await host.told("ask_user", question="Another?", key="db")
                assert refused["error"]["code"] == "key_reused"
        assert len(world.person.inbox(all_states=True)) == 1

    anyio.run(story)


def test_two_servers_at_a_time_share_no_ask_and_the_next_one_takes_up_what_is_left(world: World) -> None:
    """A yes in one window is not the other's; what a window left behind is found by whoever asks the same."""

    async def story() -> None:
        async with world.host(LEGACY) as other:
            async with world.host(LEGACY) as host:
                mine = await host.told("confirm", question="Go on?")
                theirs = await other.told("confirm", question="Go on?")
                assert mine["ask_id"] != theirs["ask_id"]
                world.person.answer(mine["ask_id"], "Yes")
                assert (await other.told("confirm", question="Go on?"))["state"] == "open"
            async with world.host(LEGACY) as third:
                taken = await third.told("confirm", question="Go on?")
                assert (taken["ask_id"], taken["is_confirmed"]) == (mine["ask_id"], True)
                fresh = await third.told("confirm", question="Go on?")
                assert fresh["ask_id"] not in {mine["ask_id"], theirs["ask_id"]}

    anyio.run(story)


def test_question_that_a_person_declined_is_told_as_such_once_and_then_asked_anew(world: World) -> None:
    """A person's no to being asked is no answer, and no yes."""

    async def story() -> None:
        async with world.host(LEGACY) as host:
            asked = await host.told("ask_user", **QUESTION)
            world.person.decline(asked["ask_id"], "not now")
            result = await host.call("ask_user", **QUESTION)
            told = result.structured_content
            assert told is not None
            assert (told["state"], told["reason"], told["by"]) == ("declined", "not now", "human:ana")
            assert "answer" not in told
            assert not result.is_error
            assert (await host.told("ask_user", **QUESTION))["state"] == "open"

    anyio.run(story)


def test_question_of_another_agent_is_another_question(world: World) -> None:
    """Agents share a store, and no answers that they were not asked for."""

    async def story() -> None:
        async with world.host(LEGACY) as host:
            mine = await host.told("ask_user", **QUESTION)
        other = world.store.agent("reviewer").calls
        async with world.host(LEGACY, calls=other) as host:
            theirs = await host.told("ask_user", **QUESTION)
        assert mine["ask_id"] != theirs["ask_id"]

    anyio.run(story)


def test_key_that_is_too_long_is_refused_in_one_sentence(world: World) -> None:
    """Everything from an agent has a limit."""

    async def story() -> None:
        async with world.host(LEGACY) as host:
            told = await host.told("ask_user", **QUESTION, key="k" * 401)
            assert told["error"]["code"] == "bad_request"
            assert "\n" not in told["error"]["message"]

    anyio.run(story)
