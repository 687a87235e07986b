"""Each tool, in both eras: what it does, and that it tells the truth about it."""

import os
from typing import Any

import anyio
import pytest
from mcp.types import ElicitRequestFormParams, ElicitResult

from assent import Client
from assent.client.calls import Calls
from assent.effects.kept import TODO
from assent.hosts.mcp.argument import input_schema
from assent.hosts.mcp.tools import TOOLS
from assent.protocol.principal import Assurance, Principal, Role
from tests.cli.reviews import DOCUMENT, LIFETIME, ROLLBACK, reviewer
from tests.hosts.mcp.world import ERAS, LEGACY, World, text_of

__all__: list[str] = []

ACTION = {"drop": "users.legacy_id"}


def at_terminal(world: World) -> Client:
    """Return a person who types at a terminal, which an approval takes."""
    return Client(
        world.agent.door, world.agent.project, Principal(Role.HUMAN, "ana"), assurance=Assurance.TERMINAL
    )


async def accept(_: ElicitRequestFormParams) -> ElicitResult:
    """Say yes to whatever is shown."""
    return ElicitResult(action="accept", content={"answer": True})


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_listed_with_flat_schemas_and_none_of_them_answers(world: World, era: str) -> None:
    """Agents never answer; and hosts that know no references can read every schema."""

    async def story() -> None:
        async with world.host(era) as host:
            tools = (await host.client.list_tools()).tools
        assert {tool.name for tool in tools} == {
            *("ask_user", "open_gate", "request_approval", "redeem_approval", "confirm"),
            *("review_findings", "report_result", "check_control", "inbox"),
        }
        for tool in tools:
            assert tool.input_schema["type"] == "object"
            assert "$ref" not in str(tool.input_schema)
            assert "anyOf" not in str(tool.input_schema)
            if TOOLS[tool.name].is_asking:
                assert "same arguments" in (tool.description or "")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_question_tool_has_another_name_in_gemini_which_hides_its_own(world: World, era: str) -> None:
    """With nobody at it Gemini CLI takes away whatever is called `ask_user`; the ask is the same by both names."""

    async def story() -> None:
        async with world.host(era, name="gemini-cli-mcp-client") as host:
            names = {tool.name for tool in (await host.client.list_tools()).tools}
            assert "ask_person" in names
            assert "ask_user" not in names
            first = await host.told("ask_person", question="Which database?")
            assert (await host.told("ask_user", question="Which database?"))["ask_id"] == first["ask_id"]

    anyio.run(story)


def test_schema_names_what_is_required() -> None:
    """Hosts check arguments by it before they call."""
    schema = input_schema(TOOLS["ask_user"].arguments)
    assert schema["required"] == ["question"]
    assert schema["properties"]["options"]["items"] == {"type": "string"}
    assert schema["properties"]["wait_seconds"]["type"] == "number"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("is_yes", [True, False])
def test_confirm_is_one_boolean_without_a_default(world: World, era: str, is_yes: bool) -> None:
    """A yes is a yes only where a person made it one."""

    async def story() -> None:
        async def fill(_: ElicitRequestFormParams) -> ElicitResult:
            return ElicitResult(action="accept", content={"answer": is_yes})

        async with world.host(era, fill) as host:
            told = await host.told("confirm", question="Delete the branch?")
        assert told["is_confirmed"] is is_yes
        assert told["answer"] == ("Yes" if is_yes else "No")
        (form,) = world.forms
        assert form.requested_schema["properties"]["answer"] == {"type": "boolean"}
        assert form.requested_schema["required"] == ["answer"]

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_no_with_words_in_the_hosts_dialog_reaches_the_agent(world: World, era: str) -> None:
    """It is a no to what was asked, and the agent hears why; a yes takes no such words."""

    async def story() -> None:
        async def fill(_: ElicitRequestFormParams) -> ElicitResult:
            is_first = len(world.forms) == 1
            content: dict[str, Any] = {"answer": is_first, "reason": "it is not merged"}
            return ElicitResult(action="accept", content=content)

        async with world.host(era, fill) as host:
            result = await host.call("confirm", question="Delete the branch?")
        told = result.structured_content
        assert told is not None
        assert (told["is_confirmed"], told["state"]) == (False, "declined")
        assert (told["reason"], told["assurance"]) == ("it is not merged", "host")
        assert "it is not merged" in text_of(result)
        assert world.forms[1].message.startswith("A reason goes with a no:")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_gate_with_a_follow_up_is_passed_in_the_hosts_dialogs(world: World, era: str) -> None:
    """`Set focus` needs an area, which is asked next; a typed command counts as well."""

    async def story() -> None:
        async def fill(form: ElicitRequestFormParams) -> ElicitResult:
            field = form.requested_schema["properties"]["answer"]
            return ElicitResult(
                action="accept", content={"answer": "Set focus" if "oneOf" in field else "security"}
            )

        async with world.host(era, fill) as host:
            told = await host.told("open_gate", context="phase-gate", summary="Twelve files.")
        assert (told["choice"], told["arguments"]) == ("Set focus", ["security"])
        assert told["by"].startswith("human:")
        assert len(world.forms) == 2
        assert world.forms[0].message.startswith("### \N{OCTAGONAL SIGN} REVIEW GATEWAY: Phase Gate")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_gate_keeps_a_task_for_later_once_however_often_it_is_called(world: World, era: str) -> None:
    """Every call drives the gate from its start; what it did is not done again."""

    async def story() -> None:
        gate = {"context": "chunk-loop", "summary": "Chunk 1 of 2.", "ids": ["H1"]}
        async with world.host(era) as host:
            first = await host.told("open_gate", **gate)
            world.person.answer(first["ask_id"], "todo: rename it")
            for _ in range(3):
                assert (await host.told("open_gate", **gate))["state"] == "open"
            (second,) = world.open()
            world.person.answer(second.ask_id, "Continue")
            told = await host.told("open_gate", **gate)
        assert (told["choice"], told["by"]) == ("Continue", "human:ana")
        kept = (world.folder / ".assent" / TODO).read_text()
        assert kept.count("rename it") == 1

    anyio.run(story)


def test_gate_under_the_key_of_another_gate_is_refused(world: World) -> None:
    """What was chosen at one is no choice at the other."""

    async def story() -> None:
        async with world.host(LEGACY) as host:
            await host.told("open_gate", context="phase-gate", summary="One.", key="g")
            refused = await host.told("open_gate", context="phase-gate", summary="Two.", key="g")
            unknown = await host.told("open_gate", context="no-such-gate", summary="Two.")
        assert refused["error"]["code"] == "key_reused"
        assert unknown["error"]["code"] == "not_found"

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_approval_is_not_shown_in_a_hosts_dialog_and_is_redeemed_once_for_its_action(
    world: World, era: str
) -> None:
    """A host's reply is too little for it: a person approves on a surface of ours, and the receipt binds."""

    async def story() -> None:
        async with world.host(era, accept) as host:
            result = await host.call("request_approval", title="Drop it", action=ACTION)
            asked = result.structured_content
            assert asked is not None
            assert asked["state"] == "open"
            assert "An approval needs a person at a terminal" in text_of(result)
            assert f"`assent answer {asked['ask_id'][-6:]} …`" in text_of(result)
            assert world.forms == []
            at_terminal(world).answer(asked["ask_id"], "Approve")
            told = await host.told("request_approval", title="Drop it", action=ACTION)
            assert (told["state"], told["by"], told["assurance"]) == ("approved", "human:ana", "terminal")
            receipt = told["receipt_id"]
            other = await host.told("redeem_approval", receipt_id=receipt, action={"drop": "users"})
            assert other["error"]["code"] == "approval_differs"
            used = await host.told("redeem_approval", receipt_id=receipt, action=ACTION)
            assert used["state"] == "redeemed"
            twice = await host.told("redeem_approval", receipt_id=receipt, action=ACTION)
            assert twice["error"]["code"] == "conflict"
            again = await host.told("request_approval", title="Drop it", action=ACTION)
            assert again["state"] == "open"

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_approval_is_given_in_a_hosts_dialog_where_the_project_lists_that(world: World, era: str) -> None:
    """The receipt says that it was a host, in the object and in the sentence; the form shows the whole action."""
    at_terminal(world).set_policy({}, assurances={"approval": ["token", "terminal", "host"]})

    async def story() -> None:
        async def fill(_: ElicitRequestFormParams) -> ElicitResult:
            return ElicitResult(action="accept", content={"answer": "Approve"})

        async with world.host(era, fill) as host:
            result = await host.call("request_approval", title="Drop it", action=ACTION)
        told = result.structured_content
        assert told is not None
        assert (told["state"], told["assurance"]) == ("approved", "host")
        assert "(by an agent's host) approved it" in text_of(result)
        assert '"users.legacy_id"' in world.forms[0].message

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_approval_is_rejected_with_words_in_a_hosts_dialog(world: World, era: str) -> None:
    """What the person wrote is what the agent reads."""
    at_terminal(world).set_policy({}, assurances={"approval": ["terminal", "host"]})

    async def story() -> None:
        async def fill(_: ElicitRequestFormParams) -> ElicitResult:
            return ElicitResult(action="accept", content={"answer": "Reject", "reason": "use a migration"})

        async with world.host(era, fill) as host:
            result = await host.call("request_approval", title="Drop it", action=ACTION)
        told = result.structured_content
        assert told is not None
        assert (told["state"], told["reason"]) == ("rejected", "use a migration")
        assert 'Reason: "use a migration".' in text_of(result)

    anyio.run(story)


def test_rejected_action_is_not_asked_about_again_unless_the_agent_says_why(world: World) -> None:
    """The agent reads the no of before, with a code; with a reason it is asked."""

    async def story() -> None:
        async with world.host(LEGACY, accept) as host:
            asked = await host.told("request_approval", title="Drop it", action=ACTION)
            at_terminal(world).answer(asked["ask_id"], "Reject: not on a Friday")
            result = await host.call("request_approval", title="May I?", action=ACTION)
            told = result.structured_content
            assert told is not None
            assert (told["state"], told["code"]) == ("rejected", "rejected_before")
            assert (told["ask_id"], told["reason"]) == (asked["ask_id"], "not on a Friday")
            assert 'Reason: "not on a Friday".' in text_of(result)
            again = await host.told(
                "request_approval", title="May I?", action=ACTION, again="It is Monday.", wait_seconds=0
            )
            assert again["state"] == "open"
            assert again["ask_id"] != asked["ask_id"]

    anyio.run(story)


def test_approval_that_was_rejected_gives_no_receipt(world: World) -> None:
    """Only the yes is a yes."""

    async def story() -> None:
        async with world.host(LEGACY, accept) as host:
            asked = await host.told("request_approval", title="Drop it", action=ACTION)
            at_terminal(world).answer(asked["ask_id"], "Reject: not on a Friday")
            result = await host.call("request_approval", title="Drop it", action=ACTION)
        told = result.structured_content
        assert told is not None
        assert (told["state"], told.get("receipt_id")) == ("rejected", None)
        assert text_of(result).startswith("Not approved: ana rejected it")
        assert 'Reason: "not on a Friday".' in text_of(result)
        assert told["reason"] == "not on a Friday"

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_review_goes_through_its_findings_and_returns_the_report(world: World, era: str) -> None:
    """Answered here and there, resumed by the same arguments, and the report at its end."""
    (world.folder / "plan.md").write_text(DOCUMENT)
    findings = [reviewer("critic", LIFETIME, ROLLBACK)]

    async def story() -> None:
        async with world.host(era) as host:
            told: dict[str, Any] = {}
            asked: list[str] = []
            while told.get("state") != "finished" and len(asked) < 10:
                told = await host.told("review_findings", findings=findings, document="plan.md")
                if told.get("state") == "open":
                    asked.append(told["ask_id"])
                    ask = world.person.show(told["ask_id"])
                    world.person.answer(told["ask_id"], ask.prompt.fields[0].options[-1].key)
        assert told["state"] == "finished", told
        assert len(asked) == len(set(asked)) > 0
        assert set(told["report"]) >= {"coverage", "primer", "verdict"}

    anyio.run(story)


@pytest.mark.parametrize("document", ["../plan.md", "/etc/passwd", "missing.md"])
def test_review_of_a_document_that_is_not_in_the_project_is_refused(world: World, document: str) -> None:
    """A tool opens no file that lies elsewhere."""

    async def story() -> None:
        (world.folder.parent / "plan.md").write_text(DOCUMENT)
        async with world.host(LEGACY) as host:
            told = await host.told(
                "review_findings", findings=[reviewer("critic", LIFETIME)], document=document
            )
        assert told["error"]["code"] in {"path_refused", "not_found"}
        assert world.open() == []

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_result_is_handed_in_and_its_questions_are_put_to_people(world: World, era: str) -> None:
    """What an agent could not decide reaches the inbox."""

    async def story() -> None:
        result = {"status": "failed", "open_questions": [{"text": "Which database?"}]}
        async with world.host(era) as host:
            told = await host.told("report_result", agent="coder", source_id="T-1", result=result)
            quiet = await host.told(
                "report_result", agent="coder", source_id="T-2", result={"status": "success"}
            )
            wrong = await host.told("report_result", agent="nobody", source_id="", result={})
        assert told["notification"] is not None
        assert quiet["notification"] is None
        assert "error" in wrong or wrong["notification"] is None
        assert len(world.open()) == 1

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_control_is_told_as_people_set_it(world: World, era: str) -> None:
    """Running, paused, escalated, cancelled: the agent looks, and obeys."""

    async def story() -> None:
        with world.agent.run(mode="loop", max=3, model="haiku") as run:
            run_id = run.run_id
            async with world.host(era) as host:
                told = await host.told("check_control", run_id=run_id)
                assert (told["status"], told["may_go_on"]) == ("running", True)
                world.person.pause(run_id)
                paused = await host.call("check_control", run_id=run_id)
                assert paused.structured_content is not None
                assert paused.structured_content["may_go_on"] is False
                assert "STOP" in text_of(paused)
                world.person.resume(run_id)
                world.person.escalate(run_id, model="opus", reason="hard")
                told = await host.told("check_control", run_id=run_id)
                assert (told["model"], told["is_escalated"]) == ("opus", True)
                world.person.cancel(run_id)
                told = await host.told("check_control", run_id=run_id)
                assert (told["status"], told["may_go_on"]) == ("aborted", False)
                unknown = await host.told("check_control", run_id="loop-1-1")
                nothing = await host.told("check_control")
        assert unknown["error"]["code"] == "not_found"
        assert nothing["error"]["code"] == "bad_request"

    anyio.run(story)


def test_control_without_an_id_looks_at_the_servers_own_run(world: World) -> None:
    """A loop starts the server in its environment."""

    async def story() -> None:
        with world.agent.run(mode="loop", max=3) as run:
            own = world.agent.calls
            calls = Calls(own.door, own.project, own.principal, own.via, own.assurance, run.run_id)
            async with world.host(LEGACY, calls=calls) as host:
                told = await host.told("check_control")
            assert told["run_id"] == run.run_id

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_inbox_lists_what_is_open_in_the_agents_project(world: World, era: str) -> None:
    """Agents read it; there is nothing to answer with."""

    async def story() -> None:
        world.agent.open("Which\nline?\x1b[31m", ["A1", "B1"])
        world.store.agent("other", project="elsewhere").open("Not here?")
        async with world.host(era) as host:
            result = await host.call("inbox")
        told = result.structured_content
        assert told is not None
        assert told["count"] == 1
        assert "\x1b" not in text_of(result)
        assert len(text_of(result).splitlines()) == 2

    anyio.run(story)


HOSTILE: list[tuple[str, Any]] = [
    ("ask_user", {}),
    ("ask_user", {"question": ""}),
    ("ask_user", {"question": 3}),
    ("ask_user", {"question": "x", "options": ["a", "a"]}),
    ("ask_user", {"question": "x", "options": ["a"], "recommended": "b"}),
    ("ask_user", {"question": "x" * 3_000}),
    ("ask_user", {"question": "x", "wait_seconds": -1}),
    ("ask_user", {"question": "x", "wait_seconds": 1e300}),
    ("ask_user", {"question": "x", "key": ""}),
    ("ask_user", {"question": "x", "as": "human:ana"}),
    ("open_gate", {"context": "phase-gate", "summary": " "}),
    ("request_approval", {"title": "x", "action": {}, "category": "nonsense"}),
    ("request_approval", {"title": "x", "action": {"a": 1}, "life_seconds": 10**15}),
    ("redeem_approval", {"receipt_id": "rcp_none", "action": {}}),
    ("review_findings", {"findings": [{}], "document": "\x00"}),
    ("check_control", {"run_id": "\x1b[31m"}),
    ("answer", {"ask_id": "x"}),
    ("\x1b[31m", {}),
]


@pytest.mark.parametrize(("tool", "arguments"), HOSTILE, ids=[str(n) for n in range(len(HOSTILE))])
def test_call_that_cannot_be_done_is_one_sentence_and_asks_nobody(
    world: World, tool: str, arguments: dict[str, Any]
) -> None:
    """No traceback, no escape, and no ask that nobody could answer."""

    async def story() -> None:
        async with world.host(LEGACY) as host:
            result = await host.client.call_tool(tool, arguments)
        assert result.is_error
        assert "\n" not in text_of(result)
        assert "\x1b" not in text_of(result)
        assert "unexpected" not in text_of(result), text_of(result)
        assert world.open() == []

    anyio.run(story)


def test_calls_that_cannot_be_done_leave_nothing_behind(world: World) -> None:
    """An agent that gets it wrong a thousand times must not use up what the server has."""

    async def story() -> None:
        async with world.host(LEGACY) as host:
            before = None
            for number in range(60):
                told = await host.told("ask_user", question=f"Which {number}?", options=["a", "a"])
                assert told["error"]["code"] == "bad_prompt"
                if number == 9:
                    before = len(os.listdir("/dev/fd"))  # noqa: PTH208 - names only
            assert before is not None
            assert len(os.listdir("/dev/fd")) < before + 25  # noqa: PTH208 - names only

    anyio.run(story)
