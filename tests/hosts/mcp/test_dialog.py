"""An ask in a host's dialog and on the hub's surfaces at once, in both eras of the protocol."""

import os
import pwd
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from assent.client.calls import Calls
from assent.hosts.mcp.talk import MAX_ROUNDS
from assent.protocol.ask import State
from assent.protocol.principal import Assurance
from tests.hosts.mcp.world import ERAS, LEGACY, MODERN, QUESTION, Host, World, text_of
from tests.patience import PATIENCE

__all__: list[str] = []


async def choose_sqlite(_: ElicitRequestFormParams) -> ElicitResult:
    """Fill a form in."""
    return ElicitResult(action="accept", content={"answer": "SQLite"})


def reply(action: str, content: dict[str, Any] | None = None) -> Any:
    """Return how a host fills every form in."""

    async def fill(_: ElicitRequestFormParams) -> ElicitResult:
        return ElicitResult.model_validate({"action": action, "content": content})

    return fill


@pytest.mark.parametrize("era", ERAS)
def test_ask_that_is_answered_in_the_hosts_dialog_tells_who_from_where_and_how_surely(
    world: World, era: str
) -> None:
    """The truth, in the text and in the object: a host says that its user chose it."""

    async def story() -> None:
        async with world.host(era, choose_sqlite) as host:
            result = await host.call("ask_user", **QUESTION)
        told = result.structured_content
        assert told is not None
        (ask,) = world.person.inbox(all_states=True)
        assert ask.answer is not None
        assert (told["state"], told["answer"], told["by"]) == ("answered", "SQLite", ask.answer.by)
        assert (told["via"], told["assurance"]) == (ask.answer.via, Assurance.HOST)
        assert ask.answer.via.startswith("host:")
        assert told["at"] == ask.answer.at.isoformat()
        assert "assurance host" in text_of(result)
        assert text_of(result).endswith("\nSQLite")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", ["terminal", "human:ana", "page"])
def test_agent_that_plays_the_host_is_recorded_as_a_host_whatever_it_says(
    world: World, era: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the environment help it: neither the person's name nor the assurance comes from there."""
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "ana")
    monkeypatch.setenv("ASSENT_PRINCIPAL", "human:ana")

    async def story() -> None:
        async with world.host(era, choose_sqlite, name=name) as host:
            told = await host.told("ask_user", **QUESTION)
        answer = world.person.show(told["ask_id"]).answer
        assert answer is not None
        assert answer.assurance is Assurance.HOST
        assert answer.via.startswith("host:")
        assert answer.by == f"human:{pwd.getpwuid(os.getuid()).pw_name}"

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_kind_for_which_the_project_wants_more_is_not_shown_in_a_host_and_the_agent_is_told_where(
    world: World, era: str
) -> None:
    """The ask stays open, and who is sure enough answers it elsewhere."""
    world.person.set_policy({}, assurances={"question": ["token", "terminal"]})

    async def story() -> None:
        async with world.host(era, choose_sqlite) as host:
            result = await host.call("ask_user", **QUESTION)
        (ask,) = world.open()
        assert world.forms == []
        assert f"`assent answer {ask.ask_id[-6:]} …`" in text_of(result)
        assert "an agent's host is not enough" in text_of(result)

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_policy_that_tightens_while_a_dialog_is_open_leaves_the_ask_open(world: World, era: str) -> None:
    """What counts is what holds when the reply comes."""

    async def story() -> None:
        async def fill(form: ElicitRequestFormParams) -> ElicitResult:
            world.person.set_policy({}, assurances={"question": ["token"]})
            return await choose_sqlite(form)

        async with world.host(era, fill) as host:
            result = await host.call("ask_user", **QUESTION)
        assert len(world.open()) == len(world.forms) == 1
        assert "A question needs a person's token; an agent's host is not enough." in text_of(result)

    anyio.run(story)


WIPE: dict[str, Any] = {"question": "And now?", "options": ["Wipe it", "Keep it"], "destructive": ["Wipe it"]}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("second", ["Yes", "No"])
def test_choice_that_cannot_be_undone_is_asked_once_more_in_the_host(
    world: World, era: str, second: str
) -> None:
    """In a dialog of its own that names it; after a no everything can be chosen again."""

    async def story() -> None:
        async def fill(form: ElicitRequestFormParams) -> ElicitResult:
            if "cannot be undone" in form.message:
                return ElicitResult(action="accept", content={"answer": second})
            has_said_no = len(world.forms) > 1
            return ElicitResult(action="accept", content={"answer": "Keep it" if has_said_no else "Wipe it"})

        async with world.host(era, fill) as host:
            told = await host.told("ask_user", **WIPE)
        assert told["answer"] == ("Wipe it" if second == "Yes" else "Keep it")
        assert world.forms[1].message.startswith('"Wipe it" cannot be undone. Do you mean it?\n')
        assert len(world.forms) == (2 if second == "Yes" else 3)

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("content", [{"answer": "Wipe it"}, {}, {"answer": True}], ids=repr)
def test_host_that_accepts_everything_never_confirms_what_cannot_be_undone(
    world: World, era: str, content: dict[str, Any]
) -> None:
    """The second dialog takes its own yes and nothing else; the ask stays open, and the agent is told where it waits."""

    async def story() -> None:
        async def fill(form: ElicitRequestFormParams) -> ElicitResult:
            is_second = "cannot be undone" in form.message
            return ElicitResult(action="accept", content=content if is_second else {"answer": "Wipe it"})

        async with world.host(era, fill) as host:
            result = await host.call("ask_user", **WIPE)
        (ask,) = world.open()
        assert f"`assent answer {ask.ask_id[-6:]} …`" in text_of(result)

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_host_that_cannot_ask_again_leaves_what_cannot_be_undone_open(world: World, era: str) -> None:
    """A second dialog that is declined decides nothing."""

    async def story() -> None:
        async def fill(form: ElicitRequestFormParams) -> ElicitResult:
            if "cannot be undone" in form.message:
                return ElicitResult(action="decline")
            return ElicitResult(action="accept", content={"answer": "Wipe it"})

        async with world.host(era, fill) as host:
            told = await host.told("ask_user", **WIPE)
        assert (told["state"], len(world.open()), len(world.forms)) == ("open", 1, 2)

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_hub_that_answers_while_the_dialog_is_open_wins(world: World, era: str) -> None:
    """The first answer counts; the host's later one changes nothing."""

    async def story() -> None:
        async def late(_: ElicitRequestFormParams) -> ElicitResult:
            ask = await world.only_open()
            world.person.answer(ask.ask_id, "PostgreSQL")
            if era == LEGACY:
                await anyio.sleep(PATIENCE)  # its form is taken back
            return ElicitResult(action="accept", content={"answer": "SQLite"})

        async with world.host(era, late) as host:
            told = await host.told("ask_user", **QUESTION)
        assert (told["answer"], told["by"]) == ("PostgreSQL", "human:ana")
        assert world.person.show(told["ask_id"]).state is State.ANSWERED

    anyio.run(story)


def test_dialog_of_an_older_host_is_taken_back_when_the_hub_answers(world: World) -> None:
    """Nobody goes on typing into what is decided."""

    async def story() -> None:
        is_taken_back = anyio.Event()

        async def wait(_: ElicitRequestFormParams) -> ElicitResult:
            world.person.answer((await world.only_open()).ask_id, "1")
            try:
                await anyio.sleep(PATIENCE)
            finally:
                is_taken_back.set()
            raise AssertionError

        async with world.host(LEGACY, wait) as host:
            await host.told("ask_user", **QUESTION)
            with anyio.fail_after(PATIENCE):
                await is_taken_back.wait()
            assert is_taken_back.is_set()

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_dialog_that_a_host_declines_or_cancels_is_no_decision(world: World, era: str, action: str) -> None:
    """A host does either with nobody there: the ask stays open, and the agent is told to stop."""

    async def story() -> None:
        async with world.host(era, reply(action)) as host:
            result = await host.call("ask_user", **QUESTION)
        told = result.structured_content
        assert told is not None
        assert (told["state"], result.is_error) == ("open", False)
        assert "answer" not in told
        assert "STOP" in text_of(result)
        assert "A) PostgreSQL\nB) SQLite" in text_of(result)
        assert [ask.ask_id for ask in world.open()] == [told["ask_id"]]
        assert len(world.forms) == 1

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "content", [None, {}, {"answer": ""}, {"answer": "Oracle"}, {"other": "SQLite"}], ids=repr
)
def test_accept_without_a_valid_answer_is_asked_again_a_few_times_and_decides_nothing(
    world: World, era: str, content: dict[str, Any] | None
) -> None:
    """A host that accepts by itself gets nowhere, and gives up before its client does."""

    async def story() -> None:
        async with world.host(era, reply("accept", content)) as host:
            told = await host.told("ask_user", **QUESTION)
        assert told["state"] == "open"
        assert len(world.forms) == MAX_ROUNDS
        assert len(world.open()) == 1

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_reply_that_was_not_recognised_is_echoed_and_the_next_one_counts(world: World, era: str) -> None:
    """Seed rule: unrecognised input is said back, and asked again."""

    async def story() -> None:
        async def learn(form: ElicitRequestFormParams) -> ElicitResult:
            value = "SQLite" if "recognize" in form.message else "Oracle"
            return ElicitResult(action="accept", content={"answer": value})

        async with world.host(era, learn) as host:
            told = await host.told("ask_user", **QUESTION)
        assert told["answer"] == "SQLite"
        assert 'I didn\'t recognize "Oracle".' in world.forms[1].message
        assert len(world.forms) == 2

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_host_without_dialogs_waits_for_the_hub_and_then_says_stop(world: World, era: str) -> None:
    """No capability: the surfaces of the hub answer, or nobody does."""

    async def story() -> None:
        async with world.host(era) as host:
            open_ = await host.told("ask_user", **QUESTION)
            assert open_["state"] == "open"
            world.person.answer(open_["ask_id"], "2")
            told = await host.told("ask_user", **QUESTION)
        assert (told["ask_id"], told["answer"], told["by"]) == (open_["ask_id"], "SQLite", "human:ana")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_call_that_waits_tells_its_progress_and_returns_as_soon_as_somebody_answers(
    world: World, era: str
) -> None:
    """A host that gave a progress token hears that the call is alive, and where to answer."""

    async def story() -> None:
        heard: list[tuple[float, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            assert total is None
            heard.append((progress, message))
            world.person.answer((await world.only_open()).ask_id, "1")

        async with world.host(era, wait=PATIENCE) as host:
            with anyio.fail_after(PATIENCE):
                result = await host.client.call_tool("ask_user", QUESTION, progress_callback=hear)
        assert result.structured_content is not None
        assert result.structured_content["answer"] == "PostgreSQL"
        assert heard[0][0] == 1
        assert "assent answer" in (heard[0][1] or "")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_call_that_its_host_cancels_takes_its_ask_back(world: World, era: str) -> None:
    """Nobody is asked what nobody wants to know any more; the same call asks anew."""

    async def story() -> None:
        async with world.host(era, wait=PATIENCE) as host:
            with anyio.move_on_after(PATIENCE):
                async with anyio.create_task_group() as group:
                    group.start_soon(partial(host.call, "ask_user", **QUESTION))
                    ask = await world.only_open()
                    group.cancel_scope.cancel()
            ended = await anyio.to_thread.run_sync(world.person.wait, ask.ask_id, PATIENCE)
            assert ended.outcome is not None
            assert (ended.state, ended.outcome.by) == (State.WITHDRAWN, "agent:coder")
            again = await host.told("ask_user", **QUESTION, wait_seconds=0)
        assert again["state"] == "open"
        assert again["ask_id"] != ask.ask_id

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("key", [None, "db"])
def test_call_that_is_cancelled_leaves_its_ask_to_another_one_that_waits_for_it(
    world: World, era: str, key: str | None
) -> None:
    """The same call twice at once is one ask; whoever still waits gets its answer."""

    async def story() -> None:
        told: list[dict[str, Any]] = []
        arguments = QUESTION if key is None else QUESTION | {"key": key}

        async def stay(host: Host) -> None:
            told.append(await host.told("ask_user", **arguments))

        async with world.host(era, wait=PATIENCE) as host, anyio.create_task_group() as staying:
            staying.start_soon(stay, host)
            ask = await world.only_open()
            waiting = anyio.Event()

            async def hear(progress: float, total: float | None, message: str | None) -> None:
                del progress, total, message
                waiting.set()

            async def leave() -> None:
                await host.client.call_tool("ask_user", arguments, progress_callback=hear)

            with anyio.fail_after(PATIENCE):
                async with anyio.create_task_group() as leaving:
                    leaving.start_soon(leave)
                    await waiting.wait()
                    leaving.cancel_scope.cancel()
                for _ in range(20):  # the notice that came before them has been heard, and had its effect
                    await host.told("inbox")
            assert world.person.show(ask.ask_id).is_open
            world.person.answer(ask.ask_id, "SQLite")
        assert [each["answer"] for each in told] == ["SQLite"]

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_call_that_its_host_gave_up_in_time_is_asked_again_and_finds_its_ask(world: World, era: str) -> None:
    """A time limit is no change of mind, although hosts send a cancellation for it."""

    async def story() -> None:
        async with world.host(era, wait=PATIENCE) as host:
            with pytest.raises(MCPError):
                await host.client.call_tool("ask_user", QUESTION, read_timeout_seconds=0.3)
            ask = await world.only_open()
            told = await host.told("ask_user", **QUESTION, wait_seconds=0)
        assert (told["state"], told["ask_id"]) == ("open", ask.ask_id)

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_connection_that_is_gone_leaves_the_ask_open_for_the_next_server(world: World, era: str) -> None:
    """The host was closed; the next one that asks the same goes on there, and gets the answer."""

    async def story() -> None:
        async def ask(host: Host) -> None:
            with pytest.raises(MCPError):
                await host.call("ask_user", **QUESTION)

        async with anyio.create_task_group() as group, world.host(era, wait=PATIENCE) as host:
            group.start_soon(ask, host)
            asked = await world.only_open()
        assert world.person.show(asked.ask_id).is_open
        world.person.answer(asked.ask_id, "1")
        async with world.host(era) as host:
            told = await host.told("ask_user", **QUESTION)
        assert (told["ask_id"], told["answer"]) == (asked.ask_id, "PostgreSQL")

    anyio.run(story)


async def begin(host: Host, **arguments: Any) -> InputRequiredResult:
    """Call a tool of a newer host, and keep what it would show."""
    came = await host.client.session.call_tool("ask_user", arguments, allow_input_required=True)
    assert isinstance(came, InputRequiredResult)
    return came


async def finish(host: Host, state: str | None, value: str, **arguments: Any) -> dict[str, Any]:
    """Call it again with what was filled in."""
    came = await host.client.session.call_tool(
        "ask_user",
        arguments,
        input_responses={"reply": ElicitResult(action="accept", content={"answer": value})},
        request_state=state,
        allow_input_required=True,
    )
    assert isinstance(came, CallToolResult)
    told: dict[str, Any] | None = came.structured_content
    assert told is not None
    return told


def test_form_that_was_handed_over_is_finished_by_another_server_and_counts_once(world: World) -> None:
    """The resume token is replayable; that it counts once is the store's matter."""

    async def story() -> None:
        async with world.host(MODERN, choose_sqlite) as host:
            handed = await begin(host, **QUESTION)
        async with world.host(MODERN, choose_sqlite) as other:
            first = await finish(other, handed.request_state, "SQLite", **QUESTION)
            again = await finish(other, handed.request_state, "PostgreSQL", **QUESTION)
        assert (first["state"], first["answer"]) == ("answered", "SQLite")
        assert (again["ask_id"], again["answer"], again["at"]) == (
            first["ask_id"],
            "SQLite",
            first["at"],
        )

    anyio.run(story)


def test_form_that_comes_back_after_its_time_or_changed_is_refused(world: World) -> None:
    """Nothing that a host makes up is taken for ours."""

    async def story() -> None:
        async with world.host(MODERN, choose_sqlite, seal_seconds=1e-6) as host:
            handed = await begin(host, **QUESTION)
            with pytest.raises(MCPError, match="expired"):
                await finish(host, handed.request_state, "SQLite", **QUESTION)
        async with world.host(MODERN, choose_sqlite) as host:
            handed = await begin(host, **QUESTION)
            state = handed.request_state or ""
            with pytest.raises(MCPError):
                await finish(host, state[:-2] + "AA", "SQLite", **QUESTION)
            with pytest.raises(MCPError):
                await finish(host, state, "SQLite", **QUESTION | {"question": "Another?"})
        assert len(world.open()) == 1

    anyio.run(story)


def test_form_that_another_agent_hands_back_is_refused(world: World) -> None:
    """A token that leaked is no good to anybody else."""

    async def story() -> None:
        async with world.host(MODERN, choose_sqlite) as host:
            handed = await begin(host, **QUESTION)
        other: Calls = world.store.agent("mallory").calls
        async with world.host(MODERN, choose_sqlite, calls=other) as host:
            told = await finish(host, handed.request_state, "SQLite", **QUESTION)
        assert told["error"]["code"] == "forbidden"
        assert len(world.open()) == 1

    anyio.run(story)


def test_form_has_nothing_at_its_root_but_type_properties_and_required(world: World) -> None:
    """A root title makes one host answer `cancel` with nothing shown."""

    async def story() -> None:
        for era in ERAS:
            async with world.host(era, reply("cancel")) as host:
                await host.told("ask_user", **QUESTION)
                await host.told("confirm", question="Go on?")
                await host.told("open_gate", context="chunk-loop", summary="Chunk 1 of 2.", ids=["H1"])
        assert len(world.forms) == 6
        for form in world.forms:
            assert set(form.requested_schema) == {"type", "properties", "required"}
            assert form.requested_schema["required"] == ["answer"]

    anyio.run(story)
