"""The task machine: its table, every status with every command for people and agents, and its rules as properties."""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.stamp import NOBODY, Stamp
from assent.engine.task import (
    TRANSITIONS,
    BlockTask,
    CreateTask,
    FailTask,
    TaskCommand,
    TaskCreated,
    TaskEvent,
    TaskUpdated,
    UnblockTask,
    UpdateTask,
    decide,
    evolve,
)
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    ForbiddenError,
    InvalidStateError,
    KeyReusedError,
    NotFoundError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.task import OPEN_QUESTION_REASON, Task, TaskId, TaskStatus, ready
from tests.samples import AGENT, ANA, BOB, NOON
from tests.task_samples import TASK_ID, new_task

__all__: list[str] = []

LATER = NOON + timedelta(seconds=7)
OPERATOR = Principal(Role.OPERATOR, "ops")
RATE = "Rate limit"
LEGAL = "Legal must look at it"


def stamp(by: Principal = AGENT, command_id: str = "", at: datetime = LATER) -> Stamp:
    """Return what the hub would set."""
    return Stamp(at, by, command_id)


def create(**changes: Any) -> CreateTask:
    """Return the command that makes the task."""
    return replace(CreateTask(TASK_ID, "Add a login page", stamp=stamp()), **changes)


def update(by: Principal = AGENT, **changes: Any) -> UpdateTask:
    """Return a change."""
    return UpdateTask(TASK_ID, stamp=stamp(by), **changes)


def fail(by: Principal = AGENT, *, has_questions: bool = False, command_id: str = "") -> FailTask:
    """Return what an agent's failed result leads to."""
    return FailTask(TASK_ID, has_questions, stamp(by, command_id))


def block(reason: str = OPEN_QUESTION_REASON, by: Principal = AGENT) -> BlockTask:
    """Return a block."""
    return BlockTask(TASK_ID, reason, stamp(by))


def unblock(reason: str = OPEN_QUESTION_REASON, by: Principal = ANA, left: int = 0) -> UnblockTask:
    """Return the end of a block."""
    return UnblockTask(TASK_ID, reason, left, stamp(by))


def fold(task: Task | None, *commands: TaskCommand) -> Task:
    """Return the task after these commands."""
    for command in commands:
        for event in decide(task, command):
            task = evolve(task, event, project="p", sequence=(task.sequence if task else 0) + 1)
    assert task is not None
    return task


# The table

EXPECTED = {
    None: {"open"},
    TaskStatus.OPEN: {"open", "in_progress", "blocked", "closed"},
    TaskStatus.IN_PROGRESS: {"open", "in_progress", "blocked", "closed"},
    TaskStatus.BLOCKED: {"open", "blocked", "closed"},
    TaskStatus.CLOSED: {"open", "closed"},
}
"""What may follow what: work goes on from `open` only."""


def test_table_names_every_status_and_every_event() -> None:
    """A new one must be accounted for here."""
    assert EXPECTED.keys() == TRANSITIONS.keys() == {None, *TaskStatus}
    assert {kind for row in TRANSITIONS.values() for kind in row} == set(TaskEvent.__args__)


@pytest.mark.parametrize("status", [None, *TaskStatus])
@pytest.mark.parametrize("following", list(TaskStatus))
def test_event_leads_only_where_the_table_says(status: TaskStatus | None, following: TaskStatus) -> None:
    """Walks every pair; the rest is refused."""
    task = None if status is None else new_task(status=status)
    told: dict[str, Any] = {
        "task_id": TASK_ID,
        "title": "t",
        "status": following,
        "at": LATER,
        "by": "human:ana",
    }
    event: TaskEvent = TaskCreated(digest="sha256:x", **told) if task is None else TaskUpdated(**told)
    if following.value in EXPECTED[status]:
        assert evolve(task, event).status is following
    else:
        with pytest.raises(InvalidStateError):
            evolve(task, event)


# Every status with every command

TAKEN: dict[str, Any] = {"status": TaskStatus.IN_PROGRESS, "assignee": "coder-1"}
STATES: dict[str, Task | None] = {
    "missing": None,
    "open": fold(None, create()),
    "in progress": fold(None, create(), update(**TAKEN)),
    "asked": fold(None, create(), update(**TAKEN), fail(has_questions=True)),
    "blocked by a machine": fold(None, create(), block(RATE)),
    "blocked by a person": fold(None, create(), block(LEGAL, ANA)),
    "closed": fold(None, create(), update(status=TaskStatus.CLOSED)),
}
COMMANDS: dict[str, Callable[[Principal], TaskCommand]] = {
    "create": lambda by: create(stamp=stamp(by)),
    "create otherwise": lambda by: create(title="Other", stamp=stamp(by)),
    "rename": lambda by: update(by, title="Other"),
    "assign": lambda by: update(by, assignee="coder-2"),
    "release": lambda by: update(by, assignee=None),
    "open": lambda by: update(by, status=TaskStatus.OPEN),
    "take": lambda by: update(by, status=TaskStatus.IN_PROGRESS),
    "mark blocked": lambda by: update(by, status=TaskStatus.BLOCKED),
    "close": lambda by: update(by, status=TaskStatus.CLOSED),
    "fail": fail,
    "fail with questions": lambda by: fail(by, has_questions=True),
    "block": lambda by: block("Other", by),
    "unblock question": lambda by: unblock(OPEN_QUESTION_REASON, by),
    "unblock rate": lambda by: unblock(RATE, by),
    "unblock legal": lambda by: unblock(LEGAL, by),
}
NOTHING = "nothing"
Verdict = str | type[AssentError]
"""The status afterwards, nothing, or a refusal."""
MATRIX: dict[str, dict[str, Verdict]] = {
    "missing": {
        **dict.fromkeys(COMMANDS, NotFoundError),
        **dict.fromkeys(["create", "create otherwise"], "open"),
        **dict.fromkeys(["fail", "fail with questions"], NOTHING),
        **dict.fromkeys(["unblock question", "unblock rate", "unblock legal"], NOTHING),
    },
    "open": {
        "create": NOTHING,
        "create otherwise": KeyReusedError,
        "rename": "open",
        "assign": "open",
        "release": NOTHING,
        "open": NOTHING,
        "take": "in_progress",
        "mark blocked": BadRequestError,
        "close": "closed",
        "fail": "open",
        "fail with questions": "blocked",
        "block": "blocked",
        "unblock question": NOTHING,
        "unblock rate": NOTHING,
        "unblock legal": NOTHING,
    },
    "in progress": {
        "create": NOTHING,
        "create otherwise": KeyReusedError,
        "rename": "in_progress",
        "assign": "in_progress",
        "release": "in_progress",
        "open": "open",
        "take": NOTHING,
        "mark blocked": BadRequestError,
        "close": "closed",
        "fail": "open",
        "fail with questions": "blocked",
        "block": "blocked",
        "unblock question": NOTHING,
        "unblock rate": NOTHING,
        "unblock legal": NOTHING,
    },
    "asked": {
        "create": NOTHING,
        "create otherwise": KeyReusedError,
        "rename": "blocked",
        "assign": "blocked",
        "release": NOTHING,
        "open": "open",
        "take": InvalidStateError,
        "mark blocked": NOTHING,
        "close": "closed",
        "fail": "blocked",
        "fail with questions": NOTHING,
        "block": "blocked",
        "unblock question": "open",
        "unblock rate": NOTHING,
        "unblock legal": NOTHING,
    },
    "blocked by a machine": {
        "create": NOTHING,
        "create otherwise": KeyReusedError,
        "rename": "blocked",
        "assign": "blocked",
        "release": NOTHING,
        "open": "open",
        "take": InvalidStateError,
        "mark blocked": NOTHING,
        "close": "closed",
        "fail": "blocked",
        "fail with questions": "blocked",
        "block": "blocked",
        "unblock question": NOTHING,
        "unblock rate": "open",
        "unblock legal": NOTHING,
    },
    "blocked by a person": {
        "create": NOTHING,
        "create otherwise": KeyReusedError,
        "rename": "blocked",
        "assign": "blocked",
        "release": NOTHING,
        "open": "open",
        "take": InvalidStateError,
        "mark blocked": NOTHING,
        "close": "closed",
        "fail": "blocked",
        "fail with questions": "blocked",
        "block": "blocked",
        "unblock question": NOTHING,
        "unblock rate": NOTHING,
        "unblock legal": "open",
    },
    "closed": {
        "create": NOTHING,
        "create otherwise": KeyReusedError,
        "rename": "closed",
        "assign": "closed",
        "release": NOTHING,
        "open": "open",
        "take": InvalidStateError,
        "mark blocked": BadRequestError,
        "close": NOTHING,
        "fail": NOTHING,
        "fail with questions": NOTHING,
        "block": InvalidStateError,
        "unblock question": NOTHING,
        "unblock rate": NOTHING,
        "unblock legal": NOTHING,
    },
}
"""For a person."""
FOR_AGENTS: dict[str, dict[str, Verdict]] = {
    "asked": {
        "assign": ForbiddenError,
        "open": ForbiddenError,
        "close": ForbiddenError,
        "block": NOTHING,
        "unblock question": ForbiddenError,
    },
    "blocked by a machine": {"close": ForbiddenError},
    "blocked by a person": {
        "assign": ForbiddenError,
        "open": ForbiddenError,
        "close": ForbiddenError,
        "fail with questions": NOTHING,
        "block": NOTHING,
        "unblock legal": ForbiddenError,
    },
}
"""Where it is another matter for an agent."""
WHO = {"person": ANA, "operator": OPERATOR, "hub": NOBODY, "agent": AGENT}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("state", STATES)
def test_command_does_what_the_matrix_says(state: str, command: str, who: str) -> None:
    """Q-X8, Q22, and rule 3 of the machine: all pairs, for each sort of principal."""
    expected = MATRIX[state][command]
    if who == "agent":
        expected = FOR_AGENTS.get(state, {}).get(command, expected)
    task, asked = STATES[state], COMMANDS[command](WHO[who])
    if not isinstance(expected, str):
        with pytest.raises(expected) as caught:
            decide(task, asked)
        assert type(caught.value) is expected
    elif expected == NOTHING:
        assert decide(task, asked) == ()
    else:
        [event] = decide(task, asked)
        assert event.status == expected
        assert evolve(task, event).status == expected


# Creation


def test_created_task_is_open_and_has_what_was_given() -> None:
    """Who made it and when come from the hub."""
    command = create(
        title=" Add a login page ",
        priority=0,
        assignee="",
        dependencies=(TaskId("b"), TaskId("b"), TaskId("a")),
        parent=TaskId("epic"),
    )
    task = fold(None, command)
    assert replace(task, digest="") == new_task(
        title="Add a login page",
        priority=0,
        assignee=None,
        dependencies=(TaskId("b"), TaskId("a")),
        parent=TaskId("epic"),
        created_at=LATER,
        updated_at=LATER,
        sequence=1,
    )


@pytest.mark.parametrize(
    "change",
    [
        {"title": "x"},
        {"priority": 0},
        {"assignee": "x"},
        {"dependencies": (TaskId("a"),)},
        {"parent": TaskId("a")},
        {"is_epic": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_id_of_another_task_is_refused(change: dict[str, Any]) -> None:
    """Whatever differs; the same once more is a replay, also after the task was changed."""
    task = fold(None, create(), update(title="New title", priority=7, assignee="coder-1"))
    assert decide(task, create(stamp=stamp(ANA, "cmd_9"))) == ()
    with pytest.raises(KeyReusedError, match="task-1"):
        decide(task, create(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"task_id": TaskId("../x")},
        {"title": " "},
        {"priority": -1},
        {"assignee": "a\nb"},
        {"dependencies": (TASK_ID,)},
        {"parent": TASK_ID},
    ],
    ids=lambda change: next(iter(change)),
)
def test_task_that_cannot_be_is_not_created(change: dict[str, Any]) -> None:
    """Every field is checked."""
    with pytest.raises(BadRequestError):
        decide(None, create(**change))


# Changes


def test_update_changes_what_is_given_and_leaves_the_rest() -> None:
    """One field at a time, and all at once."""
    task = fold(None, create(priority=5, dependencies=(TaskId("a"),)))
    changes: list[dict[str, Any]] = [
        {"title": "T"},
        {"priority": 0},
        {"dependencies": (TaskId("b"),)},
        {"assignee": "x"},
    ]
    for change in changes:
        assert fold(task, update(**change)) == replace(task, **change, updated_at=LATER, sequence=2)
    taken = fold(task, update(title="T", priority=0, dependencies=(), **TAKEN))
    assert (taken.title, taken.priority, taken.dependencies) == ("T", 0, ())
    assert (taken.status, taken.assignee) == (TaskStatus.IN_PROGRESS, "coder-1")


@pytest.mark.parametrize(
    "change",
    [{"title": ""}, {"priority": 1_001}, {"dependencies": (TASK_ID,)}, {"assignee": "a\nb"}],
    ids=lambda change: next(iter(change)),
)
def test_update_that_cannot_be_is_refused_whole(change: dict[str, Any]) -> None:
    """Also when the rest of it could be done."""
    with pytest.raises(BadRequestError):
        decide(STATES["open"], update(status=TaskStatus.CLOSED, **change))


def test_empty_assignee_releases_the_task() -> None:
    """Q-X10: nobody is null."""
    assert fold(STATES["in progress"], update(assignee="")).assignee is None


def test_task_whose_agent_gave_it_back_is_ready_again() -> None:
    """Q27: so the next loop finds it."""
    task = fold(STATES["in progress"], update(status=TaskStatus.OPEN, assignee=None))
    assert ready([task]) == (task,)


# Blocks


@pytest.mark.parametrize("command", [fail(has_questions=True), block()], ids=["questions", "block"])
@pytest.mark.parametrize("state", ["open", "in progress"])
def test_question_blocks_the_task_and_releases_it(state: str, command: TaskCommand) -> None:
    """Q21, Q-U8: assignee null, `blocked`, `Open Question`; Q22: it is not ready."""
    task = fold(STATES[state], command)
    assert (task.assignee, task.status.value, task.block_reason) == (None, "blocked", "Open Question")
    assert ready([task]) == ()


def test_answer_opens_the_task() -> None:
    """Q25: `open`, reason null; Q27: it is ready, and nobody has it."""
    task = fold(STATES["asked"], unblock())
    assert (task.status.value, task.block_reason, task.blocked_by, task.assignee) == (
        "open",
        None,
        None,
        None,
    )
    assert ready([task]) == (task,)


def test_last_of_several_questions_opens_the_task() -> None:
    """Q-X7: and no earlier one."""
    assert decide(STATES["asked"], unblock(left=1)) == ()
    assert fold(STATES["asked"], unblock(left=1), unblock(left=0)).status is TaskStatus.OPEN


@pytest.mark.parametrize("reason", ["open question", "Open Question ", "", RATE])
def test_other_spelling_of_the_reason_unblocks_nothing(reason: str) -> None:
    """Q-X8: exactly that reason."""
    assert decide(STATES["asked"], unblock(reason)) == ()


def test_answer_to_a_question_does_not_lift_a_persons_block() -> None:
    """An agent that asks something about a task that ana stopped has not put its question in the place of her block."""
    task = fold(STATES["blocked by a person"], fail(has_questions=True), unblock(by=BOB))
    assert (task.status, task.block_reason, task.blocked_by) == (TaskStatus.BLOCKED, LEGAL, "human:ana")


@pytest.mark.parametrize("by", [AGENT, NOBODY], ids=["agent", "hub"])
def test_question_takes_the_place_of_a_technical_block(by: Principal) -> None:
    """Q22: otherwise the automatic retry of that block would start the task before the answer is there (Q-U7)."""
    limited = fold(None, create(), block(RATE, by))
    task = fold(limited, fail(has_questions=True), unblock(RATE, NOBODY))
    assert (task.status, task.block_reason) == (TaskStatus.BLOCKED, OPEN_QUESTION_REASON)


def test_technical_block_does_not_take_the_place_of_a_question() -> None:
    """Q-U7: its automatic retry never touches "Open Question"."""
    task = fold(STATES["asked"], block(RATE), unblock(RATE, AGENT))
    assert task.block_reason == OPEN_QUESTION_REASON


def test_person_may_give_a_question_another_reason() -> None:
    """The answer leaves it alone then; that is Q-X8."""
    task = fold(STATES["asked"], block(LEGAL, ANA), unblock())
    assert (task.status, task.block_reason, task.blocked_by) == (TaskStatus.BLOCKED, LEGAL, "human:ana")


def test_name_that_only_begins_like_the_hub_is_a_persons() -> None:
    """Whose block it is decides who may lift it."""
    task = fold(None, create(), block(LEGAL, Principal(Role.OPERATOR, "assent-admin")))
    with pytest.raises(ForbiddenError, match="operator:assent-admin has blocked task-1"):
        decide(task, update(status=TaskStatus.OPEN))


def test_block_stays_the_persons_whatever_an_agent_changes_besides() -> None:
    """A new title or a late failure does not make it the agent's own, to lift as it likes."""
    task = fold(STATES["blocked by a person"], update(title="Other"), fail())
    assert (task.block_reason, task.blocked_by) == (LEGAL, "human:ana")
    with pytest.raises(ForbiddenError, match="human:ana has blocked task-1"):
        decide(task, update(status=TaskStatus.OPEN))


def test_agent_may_give_up_a_blocked_task_and_repeat_who_has_it() -> None:
    """Neither gives it to anybody."""
    task = fold(STATES["asked"], update(ANA, assignee="coder-2"))
    assert decide(task, update(assignee="coder-2")) == ()
    assert fold(task, update(assignee=None)).assignee is None


@pytest.mark.parametrize("state", ["asked", "blocked by a machine", "blocked by a person"])
def test_person_may_reopen_assign_or_close_any_blocked_task(state: str) -> None:
    """A reason goes with the block."""
    opened = fold(STATES[state], update(ANA, status=TaskStatus.OPEN, assignee="coder-2"))
    assert (opened.status, opened.assignee) == (TaskStatus.OPEN, "coder-2")
    closed = fold(STATES[state], update(ANA, status=TaskStatus.CLOSED))
    for task in (opened, closed):
        assert (task.block_reason, task.blocked_by) == (None, None)


def test_assignment_of_a_person_outlives_the_answer() -> None:
    """Who is to go on can be said while the question is open."""
    task = fold(STATES["asked"], update(ANA, assignee="coder-2"), unblock())
    assert (task.status, task.assignee) == (TaskStatus.OPEN, "coder-2")


def test_reason_that_says_nothing_blocks_nothing() -> None:
    """It is checked as at every door."""
    with pytest.raises(BadRequestError, match="A reason to block"):
        decide(STATES["open"], block(" "))


# Attempts


def test_failed_attempt_is_counted_and_gives_the_task_back() -> None:
    """An ordinary failure: the retry limit is for the orchestrator to set."""
    task = fold(STATES["in progress"], fail(), fail())
    assert (task.attempts, task.status, task.assignee) == (2, TaskStatus.OPEN, None)


def test_attempt_that_stopped_to_ask_is_not_counted() -> None:
    """Q-X17: the pair of failure and questions decides."""
    task = fold(STATES["in progress"], fail(), update(**TAKEN), fail(has_questions=True))
    assert (task.attempts, task.status) == (1, TaskStatus.BLOCKED)


def test_late_failure_of_a_blocked_task_is_counted_and_leaves_the_block() -> None:
    """The block has released whoever failed; whom a person has named since stays."""
    task = fold(STATES["asked"], update(ANA, assignee="coder-2"), fail())
    assert (task.attempts, task.assignee, task.block_reason) == (1, "coder-2", OPEN_QUESTION_REASON)


@pytest.mark.parametrize("has_questions", [False, True], ids=["failure", "questions"])
def test_failure_that_is_told_again_does_nothing_also_when_work_went_on(has_questions: bool) -> None:
    """A result that is handed in twice neither counts twice nor blocks the task after the answer."""
    command = fail(has_questions=has_questions, command_id="cmd_7")
    task = fold(STATES["in progress"], command)
    assert decide(task, command) == ()
    task = fold(task, unblock(), update(**TAKEN))
    assert decide(task, command) == ()
    assert decide(task, fail(has_questions=has_questions, command_id="cmd_8")) != ()


# The events


def test_update_carries_the_whole_task_with_the_names_of_the_text() -> None:
    """Q-U5; and who, when, and under which command."""
    [event] = decide(STATES["in progress"], fail(has_questions=True, command_id="cmd_7"))
    assert json.loads(msgspec.json.encode(event)) == {
        "type": "task.updated",
        "taskId": "task-1",
        "title": "Add a login page",
        "status": "blocked",
        "assignee": None,
        "blockReason": "Open Question",
        "priority": 2,
        "dependencies": [],
        "parent": None,
        "isEpic": False,
        "attempts": 0,
        "at": "2030-01-01T12:00:07Z",
        "by": "agent:coder",
        "commandId": "cmd_7",
        "isFailure": True,
    }


def test_events_are_read_back_as_they_were_written() -> None:
    """The log is all that a replay has."""
    events = [*decide(None, create()), *decide(STATES["open"], block(LEGAL, ANA))]
    for event in events:
        assert msgspec.json.decode(msgspec.json.encode(event), type=TaskEvent) == event
    assert [type(event).__struct_config__.tag for event in events] == ["task.created", "task.updated"]


# Properties

_people = st.sampled_from([AGENT, ANA, BOB, OPERATOR, NOBODY])
_stamps = st.builds(stamp, _people, st.sampled_from(["", "cmd_1", "cmd_2", "cmd_3"]))
_reasons = st.sampled_from([OPEN_QUESTION_REASON, RATE, LEGAL])
_ids = st.sampled_from([TaskId("a"), TaskId("b"), TASK_ID])
_names = st.sampled_from(["", "coder-1", "coder-2", None])
_given: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"stamp": _stamps},
    optional={
        "title": st.sampled_from(["A", "B", ""]),
        "priority": st.integers(-1, 2),
        "assignee": _names,
        "dependencies": st.lists(_ids, max_size=2).map(tuple),
        "status": st.sampled_from(TaskStatus),
    },
)
_commands: st.SearchStrategy[TaskCommand] = st.one_of(
    st.builds(
        CreateTask, st.just(TASK_ID), st.sampled_from(["A", "B"]), st.integers(0, 1), _names, stamp=_stamps
    ),
    _given.map(lambda given: UpdateTask(TASK_ID, **given)),
    st.builds(FailTask, st.just(TASK_ID), st.booleans(), _stamps),
    st.builds(BlockTask, st.just(TASK_ID), _reasons, _stamps),
    st.builds(UnblockTask, st.just(TASK_ID), _reasons, st.integers(0, 1), _stamps),
)
_histories = st.lists(_commands, max_size=20).map(lambda commands: [create(), *commands])


@given(_histories)
def test_any_command_is_refused_or_makes_happen_what_the_machine_accepts(commands: list[TaskCommand]) -> None:
    """Nobody is null, a reason and a block go together, one event a command; replay gives the same task."""
    task: Task | None = None
    log: list[TaskEvent] = []
    for command in commands:
        try:
            events = decide(task, command)
        except AssentError:
            continue
        assert len(events) <= 1
        for event in events:
            before, task = task, evolve(task, event, project="p", sequence=len(log) + 1)
            assert task.assignee != ""
            is_blocked = task.status is TaskStatus.BLOCKED
            assert (task.block_reason is not None) is (task.blocked_by is not None) is is_blocked
            assert before is None or replace(before, sequence=0) != replace(task, sequence=0)
            log.append(event)
    again: Task | None = None
    for number, event in enumerate(log, start=1):
        again = evolve(again, event, project="p", sequence=number)
    assert again == task


@given(_histories, _commands)
def test_same_command_twice_changes_nothing_the_second_time(
    commands: list[TaskCommand], command: TaskCommand
) -> None:
    """With an id, as every command has one from the hub."""
    command = replace(command, stamp=replace(command.stamp, command_id="cmd_9"))
    task = survive(commands)
    try:
        task = fold(task, command)
    except AssentError:
        return
    assert decide(task, command) == ()


@given(_histories, _reasons, _people)
def test_unblocking_never_touches_another_block(
    commands: list[TaskCommand], reason: str, by: Principal
) -> None:
    """Q-X8: nor a task that is not blocked."""
    task = survive(commands)
    if task.block_reason == reason:
        return
    assert decide(task, unblock(reason, by)) == ()


@given(_histories, st.lists(_commands, max_size=10))
def test_no_agent_gets_a_task_that_waits_for_an_answer(
    commands: list[TaskCommand], attack: list[TaskCommand]
) -> None:
    """Q22: whatever agents send, and in whatever order, it stays blocked for the question, and nobody has it."""
    task = survive([*commands, update(ANA, status=TaskStatus.OPEN), fail(has_questions=True)])
    assert (task.block_reason, task.assignee) == (OPEN_QUESTION_REASON, None)
    task = survive([replace(command, stamp=stamp(AGENT, "cmd_x")) for command in attack], task)
    assert (task.status, task.block_reason, task.assignee) == (TaskStatus.BLOCKED, OPEN_QUESTION_REASON, None)
    assert ready([task]) == ()


def survive(commands: list[TaskCommand], task: Task | None = None) -> Task:
    """Return the task after these commands; those that are refused do nothing."""
    for command in commands:
        try:
            task = fold(task, command) if task or isinstance(command, CreateTask) else task
        except AssentError:
            continue
    assert task is not None
    return task
