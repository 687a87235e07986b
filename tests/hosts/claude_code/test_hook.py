"""Events of Claude Code become asks, and answers become replies in its own shapes; silence becomes neither yes nor no."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from assent import Ask, Client
from assent.client.client import blocking
from assent.hosts.claude_code.glance import Watch, concerns, make_watch
from assent.hosts.claude_code.hook import failed, reply_at_once, reply_to
from assent.protocol.error import AssentError, BadRequestError
from assent.protocol.principal import Assurance
from assent.testing import ThrowawayStore
from tests.cli.shell import wait_for

__all__: list[str] = []

ATTENDED, HEADLESS = Watch(["Bash(rm *)"], is_headless=False), Watch(["Bash(rm *)"], is_headless=True)
QUESTION = {
    "question": "Which database?",
    "header": "DB",
    "options": [{"label": "PostgreSQL", "description": "a"}, {"label": "SQLite", "description": "b"}],
    "multiSelect": False,
}
SEVERAL = {
    "question": "Which checks?",
    "header": "Checks",
    "options": [{"label": "Lint", "description": ""}, {"label": "Types", "description": ""}],
    "multiSelect": True,
}


def event(name: str, tool: str = "Bash", given: Any = None, **more: Any) -> dict[str, Any]:
    """Return an event as the host writes it."""
    common = {"session_id": "s-1", "cwd": "/srv/shop", "prompt_id": "p-1", "hook_event_name": name}
    given = {"command": "rm -rf build"} if given is None else given
    return {**common, "tool_name": tool, "tool_input": given, "tool_use_id": "toolu_1", **more}


def asked(name: str, *questions: dict[str, Any]) -> dict[str, Any]:
    """Return an event of the question tool."""
    return event(name, "AskUserQuestion", {"questions": list(questions or (QUESTION,))})


@pytest.fixture
def store() -> Iterator[ThrowawayStore]:
    """Give an empty store."""
    with ThrowawayStore() as made:
        yield made


def reply(agent: Client, given: dict[str, Any], watch: Watch, wait: float = 0) -> Any:
    """Return what the host is told."""
    told = blocking(reply_to)(agent, given, watch, wait)
    return None if told is None else told["hookSpecificOutput"]


def reply_while(
    store: ThrowawayStore, given: dict[str, Any], watch: Watch, act: Callable[[Ask], object]
) -> Any:
    """Return what the host is told when this was done about its ask while it waited."""
    person = store.person()
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(reply, store.agent("claude-code"), given, watch, 30)
        wait_for(lambda: len(person.inbox()) == 1)
        act(person.inbox()[0])
        return told.result(30)


def test_a_watched_call_that_nobody_answers_is_put_off_and_found_again(store: ThrowawayStore) -> None:
    """Nobody sits at the host: it ends, and the same ask waits for its next start."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    first = reply(agent, event("PreToolUse"), HEADLESS)
    assert first == {"hookEventName": "PreToolUse", "permissionDecision": "defer"}
    (ask,) = ana.inbox()
    assert (ask.prompt.title, ask.key) == ("Bash: rm -rf build", "claude-code:s-1:toolu_1")
    ana.answer(ask.ask_id, "approve")
    second = reply(agent, event("PreToolUse"), HEADLESS)
    assert (second["permissionDecision"], second["updatedInput"]) == ("allow", {"command": "rm -rf build"})
    third = reply(agent, event("PreToolUse"), HEADLESS)
    assert third["permissionDecision"] == "deny"


def test_call_that_a_person_rejected_is_refused_without_asking_again(store: ThrowawayStore) -> None:
    """The agent tries the same command as another call; it reads who said no, and why."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    reply(agent, event("PreToolUse"), HEADLESS)
    ana.answer(ana.inbox()[0].ask_id, "reject", reason="not on a Friday")
    told = reply(agent, event("PreToolUse", tool_use_id="toolu_2"), HEADLESS)
    assert told["permissionDecision"] == "deny"
    assert told["permissionDecisionReason"].startswith("ana rejected it at ")
    assert "not on a Friday" in told["permissionDecisionReason"]
    assert ana.inbox() == []


def call(name: str) -> dict[str, Any]:
    """Return a call as the host writes it into its transcript."""
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {"command": "rm -rf build"}}


def written(path: Path, *calls: dict[str, Any]) -> dict[str, Any]:
    """Return the event of a watched call, from a host that has written down one message with these calls."""
    said = {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text"}, *calls]}}
    lines = [{"type": "user", "message": {"role": "user", "content": "Begin"}}, said, "unfinished"]
    path.write_text("\n".join(json.dumps(line) for line in lines)[:-1])
    return event("PreToolUse", transcript_path=str(path))


@pytest.mark.parametrize(
    ("calls", "decision"),
    [(["toolu_1"], "defer"), (["toolu_1", "toolu_2"], "deny"), (["toolu_2"], "deny"), ([], "deny")],
    ids=["alone", "with another", "another", "none"],
)
def test_a_watched_call_that_the_host_would_not_put_off_is_refused(
    store: ThrowawayStore, tmp_path: Path, calls: list[str], decision: str
) -> None:
    """Of several calls at once the host puts off none, and lets happen what its own rules allow."""
    given = written(tmp_path / "session.jsonl", *map(call, calls))
    told = reply(store.agent(), given, HEADLESS._replace(is_hosted=True))
    assert told["permissionDecision"] == decision
    assert len(store.person().inbox()) == (decision == "defer")


@pytest.mark.parametrize(
    ("watch", "more"),
    [
        (HEADLESS._replace(can_defer=False), {}),
        (HEADLESS, {"agent_id": "a1"}),
        (HEADLESS._replace(is_hosted=True), {"transcript_path": "/nowhere/session.jsonl"}),
        (HEADLESS._replace(is_hosted=True), {}),
    ],
    ids=["a screen", "a subagent", "no transcript", "none named"],
)
def test_a_watched_call_is_refused_where_nobody_would_take_it_up_again(
    store: ThrowawayStore, watch: Watch, more: dict[str, Any]
) -> None:
    """A host with a screen ignores that a call is put off; a subagent, or a session that is not kept, ends with it."""
    told = reply(store.agent(), event("PreToolUse", **more), watch)
    assert told["permissionDecision"] == "deny"
    assert "only call of its turn" in told["permissionDecisionReason"]
    assert store.person().inbox() == []


def test_a_call_that_must_be_confirmed_is_asked_in_the_hosts_dialog_or_else_approved(
    store: ThrowawayStore,
) -> None:
    """The host's own dialog comes with a request for permission; where nobody sits at it, there is none."""
    fetch = event("PreToolUse", "WebFetch", {"url": "https://example.com"})
    watch = Watch(["Bash(rm *)"], is_headless=False, confirmed=["WebFetch", "Bash"])
    told = reply_at_once(fetch, watch)
    assert told is not None
    assert told["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert concerns(fetch, watch)
    assert reply_at_once(event("PreToolUse"), watch) is None  # it must be approved, too, and that is more
    assert reply_at_once(fetch, watch._replace(is_headless=True)) is None
    assert reply_at_once(event("PreToolUse", tool_name=None), watch) is None
    assert reply_at_once(event("PermissionRequest"), watch) is None
    alone = reply(store.agent(), fetch, watch._replace(is_headless=True))
    assert alone["permissionDecision"] == "defer"


def test_what_the_host_tells_whoever_sits_at_it_can_be_read_elsewhere(store: ThrowawayStore) -> None:
    """In the topic of its name, and not longer than anybody would read."""
    told = event(
        "Notification", message="Claude is waiting " * 1_000, notification_type="idle_prompt", title=7
    )
    assert reply(store.agent(), told, ATTENDED) is None
    (message,) = store.person().read("claude-code")
    value = message.value
    assert isinstance(value, dict)
    assert set(value) == {"message", "notification_type", "session_id", "cwd"}
    assert len(str(value["message"])) == 2_000


def test_a_yes_is_good_for_all_hooks_that_one_host_starts_for_a_call_and_for_no_other(
    store: ThrowawayStore,
) -> None:
    """Settings of the person and of the project both have one; the host lets happen what all of them allow."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    here, resumed = HEADLESS._replace(host_id="7"), HEADLESS._replace(host_id="8")
    reply(agent, event("PreToolUse"), here)
    ana.answer(ana.inbox()[0].ask_id, "approve")
    came = [reply(agent, event("PreToolUse"), watch) for watch in (here, here, resumed)]
    assert [told["permissionDecision"] for told in came] == ["allow", "allow", "deny"]


def test_a_watched_call_with_another_input_is_no_part_of_the_yes(store: ThrowawayStore) -> None:
    """The same id with another command is refused, and not let through by the first one's yes."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    reply(agent, event("PreToolUse"), HEADLESS)
    ana.answer(ana.inbox()[0].ask_id, "approve")
    with pytest.raises(AssentError):
        reply(agent, event("PreToolUse", given={"command": "rm -rf /"}), HEADLESS)


def test_a_watched_call_that_nobody_answers_in_time_is_refused_at_an_attended_host(
    store: ThrowawayStore,
) -> None:
    """The call is over, so its ask is taken back: a later yes would let nothing happen."""
    told = reply(store.agent(), event("PreToolUse"), ATTENDED)
    assert told["permissionDecision"] == "deny"
    assert "Nobody has answered in time" in told["permissionDecisionReason"]
    assert store.person().inbox() == []


def test_a_persons_no_is_told_with_their_name(store: ThrowawayStore) -> None:
    """In the shape of either event."""
    ana = store.person(assurance=Assurance.TERMINAL)
    before = reply_while(store, event("PreToolUse"), ATTENDED, lambda ask: ana.answer(ask.ask_id, "reject"))
    other = event("PermissionRequest", given={"command": "rm -rf dist"})
    request = reply_while(store, other, ATTENDED, lambda ask: ana.answer(ask.ask_id, "reject"))
    assert before["permissionDecisionReason"].startswith("ana rejected it")
    assert request["decision"]["behavior"] == "deny"
    assert request["decision"]["message"].startswith("ana rejected it")


def test_a_request_for_permission_is_allowed_by_a_persons_yes_and_each_is_asked_anew(
    store: ThrowawayStore,
) -> None:
    """It has no id of its own, and the yes to one is none to the next."""
    ana = store.person(assurance=Assurance.TERMINAL)
    for _ in range(2):
        told = reply_while(
            store, event("PermissionRequest"), ATTENDED, lambda ask: ana.answer(ask.ask_id, "approve")
        )
        assert told["decision"] == {"behavior": "allow", "updatedInput": {"command": "rm -rf build"}}


@pytest.mark.parametrize("watch", [ATTENDED, HEADLESS], ids=["attended", "headless"])
def test_a_request_for_permission_that_nobody_answers_stays_with_the_host_or_is_refused(
    store: ThrowawayStore, watch: Watch
) -> None:
    """Where somebody sits at the host its own dialog stays; where nobody does, the model is told the truth."""
    told = reply(store.agent(), event("PermissionRequest"), watch)
    if watch.is_headless:
        assert told["decision"] == {
            "behavior": "deny",
            "message": "Nobody has answered in time, so it was not approved.",
        }
    else:
        assert told is None
    assert store.person().inbox() == []


def test_a_question_is_put_off_and_then_answered_by_the_texts_of_the_host(store: ThrowawayStore) -> None:
    """Labels, several of them, and words of one's own; the rest of the input goes back as it came."""
    agent, ana = store.agent(), store.person()
    given = asked("PreToolUse", QUESTION, SEVERAL)
    assert reply(agent, given, HEADLESS)["permissionDecision"] == "defer"
    ana.answer(ana.inbox()[0].ask_id, {"q1": ("Oracle, alas",), "q2": ("Lint", "Types")})
    told = reply(agent, given, HEADLESS)
    assert told["permissionDecision"] == "allow"
    assert told["updatedInput"] == {
        "questions": [QUESTION, SEVERAL],
        "answers": {"Which database?": "Oracle, alas", "Which checks?": "Lint, Types"},
    }


def test_a_question_beside_the_hosts_dialog_is_answered_from_elsewhere(store: ThrowawayStore) -> None:
    """The first answer wins."""
    told = reply_while(
        store,
        asked("PermissionRequest"),
        ATTENDED,
        lambda ask: store.person().answer(ask.ask_id, "SQLite"),
    )
    assert told["decision"]["behavior"] == "allow"
    assert told["decision"]["updatedInput"]["answers"] == {"Which database?": "SQLite"}


@pytest.mark.parametrize("name", ["PostToolUse", "Stop", "SessionEnd"])
def test_what_was_settled_in_the_host_is_taken_back_and_the_hook_says_nothing(
    store: ThrowawayStore, name: str
) -> None:
    """The hook that still waits wakes up and is silent; another session's question is left alone."""
    other = store.agent("claude-code")
    told = reply_while(
        store,
        asked("PermissionRequest"),
        ATTENDED,
        lambda _: (
            other.open("Else?", ["a", "b"], key="claude-code:s-2:x"),
            reply(other, asked(name), ATTENDED),
        ),
    )
    assert told is None
    assert [ask.prompt.title for ask in store.person().inbox()] == ["Else?"]


@pytest.mark.parametrize(
    ("response", "state"),
    [
        ({"answers": {"Which database?": "SQLite", "Which checks?": "Lint, Types"}}, "answered"),
        ({"answers": {"Which database?": "Oracle, alas", "Which checks?": "Lint, more"}}, "answered"),
        ({"answers": {"Which database?": "SQLite", "Which checks?": ""}}, "withdrawn"),
        ({"answers": {}}, "withdrawn"),
        (
            {"answers": {"Which database?": "SQLite", "Which checks?": "Lint"}, "afkTimeoutMs": 60},
            "withdrawn",
        ),
        ({"answers": [1]}, "withdrawn"),
        ("x", "withdrawn"),
        (None, "withdrawn"),
    ],
    ids=range(8),
)
def test_what_was_answered_in_the_hosts_dialog_is_recorded_as_its_word_and_a_timer_is_no_answer(
    store: ThrowawayStore, response: Any, state: str
) -> None:
    """An empty reply, or one that the host's timer made, decides nothing."""
    questions = asked("PermissionRequest", QUESTION, SEVERAL)
    after = {**asked("PostToolUse", QUESTION, SEVERAL), "tool_response": response}
    told = reply_while(
        store, questions, ATTENDED, lambda _: reply(store.agent("claude-code"), after, ATTENDED)
    )
    (ask,) = store.person().inbox(all_states=True)
    assert ask.state == state
    if state == "answered":
        assert ask.answer is not None
        assert (ask.answer.via, ask.answer.assurance) == ("host:claude-code", Assurance.HOST)
        assert told["decision"]["updatedInput"]["answers"] == response["answers"]
    else:
        assert told is None


def test_question_for_which_the_project_wants_more_is_not_answered_in_the_hosts_dialog(
    store: ThrowawayStore,
) -> None:
    """The dialog is closed with a sentence that says where to answer; the ask outlives the turn, and not the session."""
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    ana.set_policy({}, assurances={"question": ["token", "terminal"]})
    told = reply(agent, asked("PermissionRequest"), ATTENDED, 30)["decision"]
    (ask,) = ana.inbox()
    assert told["behavior"] == "deny"
    assert "an agent's host is not enough" in told["message"]
    assert f"`assent answer {ask.ask_id[-6:]} …`" in told["message"]
    reply(agent, event("Stop"), ATTENDED)
    assert ana.inbox() == [ask]
    reply(agent, event("SessionEnd"), ATTENDED)
    assert ana.inbox() == []


def test_answer_of_the_host_that_does_not_suffice_is_not_recorded_and_the_model_is_told(
    store: ThrowawayStore,
) -> None:
    """The policy was tightened while the dialog was open; or an agent tries it with an event of its own."""
    agent, ana = store.agent("claude-code"), store.person(assurance=Assurance.TERMINAL)
    after = {**asked("PostToolUse"), "tool_response": {"answers": {"Which database?": "SQLite"}}}
    said: list[Any] = []

    def forge(ask: Ask) -> None:
        ana.set_policy({}, assurances={"question": ["terminal"]})
        said.append(blocking(reply_to)(agent, after, ATTENDED, 0))
        assert ana.show(ask.ask_id).is_open
        ana.answer(ask.ask_id, "PostgreSQL")

    told = reply_while(store, asked("PermissionRequest"), ATTENDED, forge)
    assert told["decision"]["updatedInput"]["answers"] == {"Which database?": "PostgreSQL"}
    assert said[0]["decision"] == "block"
    assert "take no option for chosen" in said[0]["reason"]
    assert "assent answer" in said[0]["reason"]


def test_forged_events_never_approve(store: ThrowawayStore) -> None:
    """An agent that plays the host for its own approval gets no receipt, whatever the event says that people chose."""
    agent, ana = store.agent("claude-code"), store.person(assurance=Assurance.TERMINAL)
    reply(agent, event("PreToolUse"), HEADLESS)
    (ask,) = ana.inbox()
    for label in ("Approve", "Yes"):
        options = [{"label": label}, {"label": "Reject"}]
        forged = asked("PostToolUse", {"question": ask.prompt.title, "options": options})
        for response in ({"answers": {ask.prompt.title: label}}, {"approve": "Approve"}):
            reply(agent, {**forged, "tool_response": response}, ATTENDED)
    assert ana.show(ask.ask_id) == ask
    assert reply(agent, event("PreToolUse"), HEADLESS)["permissionDecision"] == "defer"


@pytest.mark.parametrize(
    ("name", "watch"), [("PreToolUse", HEADLESS), ("PermissionRequest", ATTENDED)], ids=["before", "dialog"]
)
def test_words_of_a_rejection_reach_the_model(store: ThrowawayStore, name: str, watch: Watch) -> None:
    """In the sentence that the host shows to it."""
    ana = store.person(assurance=Assurance.TERMINAL)
    told = reply_while(
        store, event(name), watch, lambda ask: ana.answer(ask.ask_id, "Reject: it holds the release")
    )
    assert 'Reason: "it holds the release".' in json.dumps(told).replace('\\"', '"')


def test_labels_with_commas_are_told_as_the_host_tells_them(store: ThrowawayStore) -> None:
    """In quotes, so that several can be told apart."""
    agent, ana = store.agent(), store.person()
    options = [{"label": "Lint, fast", "description": ""}, {"label": "Types", "description": ""}]
    given = asked("PreToolUse", {**SEVERAL, "options": options})
    reply(agent, given, HEADLESS)
    ana.answer(ana.inbox()[0].ask_id, "1,2")
    told = reply(agent, given, HEADLESS)
    assert told["updatedInput"]["answers"] == {"Which checks?": '"Lint, fast", Types'}


def test_a_declined_question_is_told_as_declined_and_no_option_is_picked(store: ThrowawayStore) -> None:
    """A person's no to being asked is a no, and not an answer."""
    agent, ana = store.agent(), store.person()
    reply(agent, asked("PreToolUse"), HEADLESS)
    ana.decline(ana.inbox()[0].ask_id, "not now")
    told = reply(agent, asked("PreToolUse"), HEADLESS)
    assert told["permissionDecision"] == "deny"
    assert "not now" in told["permissionDecisionReason"]


def test_the_form_of_a_server_is_answered_with_values_of_its_types(store: ThrowawayStore) -> None:
    """What the hub has checked goes to the server."""
    schema = {"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]}
    given = event("Elicitation", mcp_server_name="shop", message="Where?", requested_schema=schema)
    told = reply_while(
        store, given, HEADLESS, lambda ask: store.person().answer(ask.ask_id, {"port": ("80",)})
    )
    assert told == {"hookEventName": "Elicitation", "action": "accept", "content": {"port": 80}}


def test_the_form_of_a_server_is_asked_with_its_titles_however_long_its_message(
    store: ThrowawayStore,
) -> None:
    """What a person reads is the title of a choice; what the server gets is its value."""
    choices = [{"const": "eu-1", "title": "Europe"}, {"const": "us-1", "title": "America"}]
    schema = {
        "type": "object",
        "properties": {"place": {"type": "string", "oneOf": choices}},
        "required": ["place"],
    }
    long = "Where should it run?\n" * 200
    given = event("Elicitation", mcp_server_name="shop", message=long, requested_schema=schema)
    told = reply_while(store, given, HEADLESS, lambda ask: store.person().answer(ask.ask_id, "America"))
    assert told == {"hookEventName": "Elicitation", "action": "accept", "content": {"place": "us-1"}}


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "url", "requested_schema": {"type": "object"}},
        {"requested_schema": None},
        {"requested_schema": {"type": "object", "properties": {"a": {"type": "object"}}}},
        {"requested_schema": {"type": "object", "properties": {}}, "mcp_server_name": "assent"},
    ],
    ids=["url", "none", "nested", "our own"],
)
def test_a_form_that_cannot_be_shown_is_left_to_the_host(store: ThrowawayStore, more: dict[str, Any]) -> None:
    """Nobody is asked half a question."""
    assert (
        reply(store.agent(), event("Elicitation", message="?", **{"mcp_server_name": "x", **more}), HEADLESS)
        is None
    )
    assert store.person().inbox() == []


@pytest.mark.parametrize(
    "given",
    [
        event("PreToolUse", tool_input="rm"),
        event("PreToolUse", tool_name=None),
        event("PreToolUse", tool_use_id=""),
        event("PreToolUse", session_id=7),
        event("PreToolUse", "AskUserQuestion", {"questions": []}),
        event("PreToolUse", "AskUserQuestion", {"questions": [7]}),
        event("PreToolUse", "AskUserQuestion", {"questions": [{"question": "?"}]}),
        event("PreToolUse", "AskUserQuestion", {"questions": [{"question": "?", "options": [{}]}]}),
    ],
    ids=range(8),
)
def test_an_event_that_is_not_as_the_hosts_own_is_refused(
    store: ThrowawayStore, given: dict[str, Any]
) -> None:
    """And what is told of it then is a no."""
    with pytest.raises(BadRequestError):
        reply(store.agent(), given, HEADLESS)
    told = failed(given, HEADLESS, "Why.")
    assert told is not None
    assert told["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_fault_is_no_yes_and_leaves_the_hosts_dialog_where_there_is_one() -> None:
    """By event, and by whether somebody sits there."""
    assert failed(event("PermissionRequest"), ATTENDED, "Why.") is None
    told = failed(event("PermissionRequest"), HEADLESS, "Why.")
    assert told is not None
    assert told["hookSpecificOutput"]["decision"]["behavior"] == "deny"
    assert failed(event("Stop"), HEADLESS, "Why.") is None


@pytest.mark.parametrize(
    ("given", "attended", "headless"),
    [
        (event("PreToolUse"), True, True),
        (event("PreToolUse", given={"command": "ls"}), False, False),
        (asked("PreToolUse"), False, True),
        (event("PermissionRequest"), True, True),
        (asked("PostToolUse"), True, False),
        (event("PostToolUse"), False, False),
        (event("Elicitation"), False, True),
        (event("Stop"), True, False),
        (event("Stop", background_tasks=[{}]), False, False),
        (event("SessionEnd"), True, False),
        (event("Notification"), True, True),
        (event("Never heard of"), False, False),
    ],
    ids=range(12),
)
def test_an_event_is_our_business_or_it_is_not(
    given: dict[str, Any], *, attended: bool, headless: bool
) -> None:
    """The table of the events, as the first look has it."""
    assert (concerns(given, ATTENDED), concerns(given, HEADLESS)) == (attended, headless)


@pytest.mark.parametrize(
    ("environ", "is_headless", "can_defer"),
    [
        ({"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, True, True),
        ({"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_ENTRYPOINT": "cli"}, True, False),
        ({"CLAUDE_CODE_SESSION_ATTENDED": "0", "CLAUDE_CODE_SESSION_KIND": "bg"}, True, False),
        ({"CLAUDE_CODE_SESSION_ATTENDED": "1", "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}, False, False),
        ({"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}, True, True),
        ({"CLAUDE_CODE_ENTRYPOINT": "cli"}, False, False),
        ({}, False, True),
    ],
    ids=range(7),
)
def test_the_host_tells_whether_somebody_sits_at_it_and_whether_it_has_a_screen(
    environ: dict[str, str], *, is_headless: bool, can_defer: bool
) -> None:
    """Older versions say it by how they were started; a session in the background has a screen, too."""
    watch = make_watch([], [], environ, is_headless=False)
    assert (watch.is_headless, watch.can_defer) == (is_headless, can_defer)
    assert make_watch([], [], environ, is_headless=True) == watch._replace(is_headless=True)
    assert make_watch([], [], {**environ, "CLAUDE_CODE_SESSION_ID": "s-1"}, is_headless=False).is_hosted


@pytest.mark.parametrize(
    ("level", "told"), [("automated", 0), ("notify_and_proceed", 1)], ids=["automated", "notified"]
)
def test_the_policy_decides_what_is_asked_and_the_hosts_own_rules_still_hold(
    store: ThrowawayStore, level: str, told: int
) -> None:
    """Nobody is asked, and nothing is allowed that the host would ask about: it is told nothing."""
    watch = HEADLESS._replace(category="scopeChanges")
    agent, ana = store.agent(), store.person(assurance=Assurance.TERMINAL)
    assert reply(agent, event("PreToolUse"), watch)["permissionDecision"] == "defer"
    (ask,) = ana.inbox()
    ana.answer(ask.ask_id, "reject")
    ana.set_policy({"scopeChanges": level})
    other = {"command": "rm -rf dist"}  # the no to the first one still holds
    assert reply(agent, event("PreToolUse", given=other, tool_use_id="toolu_2"), watch) is None
    assert (ana.inbox(), len(ana.notifications())) == ([], told)
    always = reply(agent, event("PreToolUse", given=other, tool_use_id="toolu_3"), HEADLESS)
    assert (always["permissionDecision"], len(ana.inbox())) == ("defer", 1)


def test_a_category_that_is_none_lets_nothing_pass(store: ThrowawayStore) -> None:
    """It was written by hand."""
    watch = HEADLESS._replace(category="everything")
    with pytest.raises(BadRequestError) as caught:
        reply(store.agent(), event("PreToolUse"), watch)
    no = failed(event("PreToolUse"), watch, caught.value.message)
    assert no is not None
    assert no["hookSpecificOutput"]["permissionDecision"] == "deny"
