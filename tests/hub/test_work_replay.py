"""The log gives the rows, for work too: whatever comes in whichever order, replaying it rebuilds every row."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.hub.audit import replay, verify
from assent.hub.command import AnswerAsk, DeclineAsk, PostMessage, Request, WithdrawAsk
from assent.hub.hub import Hub
from assent.hub.work_command import (
    AddNotification,
    BlockTask,
    CreateTask,
    DismissNotification,
    FailTask,
    ResolveNotification,
    SetPolicy,
    TakeResult,
    UpdateTask,
)
from assent.protocol.agent_result import SOURCES, AgentResult
from assent.protocol.ask import AskId
from assent.protocol.error import AssentError
from assent.protocol.notification import ErrorCode, NotificationId, NotificationKind, Source
from assent.protocol.open_question import Question
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.resolution import answer_all
from assent.protocol.task import OPEN_QUESTION_REASON, TaskId, TaskStatus
from assent.testing import FakeClock, throwaway
from tests.chance import examples
from tests.notification_samples import new_question
from tests.samples import AGENT, ANA, BOB

__all__: list[str] = []

PEOPLE = (ANA, BOB, AGENT, Principal(Role.AGENT, "other"), Principal(Role.OPERATOR, "op"))
_numbers = st.integers(1, 3)
_told = _numbers.map(lambda number: NotificationId(f"oq-0000000{number}"))
_asks = _numbers.map(lambda number: AskId(str(number)))
_tasks = st.sampled_from(["a", "b"]).map(TaskId)
_questions: st.SearchStrategy[tuple[Question, ...]] = st.sampled_from(
    [(), (new_question(1),), (new_question(1), new_question(2)), (new_question(1, "Are you sure?"),)]
)


@st.composite
def results(draw: st.DrawFn) -> TakeResult:
    """Results about few things, so that they meet."""
    agent = draw(st.sampled_from(["coder", "coder", "analyst", "planner", "reviewer"]))
    status = draw(st.sampled_from(["failed", "success"]))
    number = draw(_numbers)
    read = AgentResult(agent, SOURCES.get(agent), draw(_tasks), status, draw(_questions))
    return TakeResult(read, NotificationId(f"oq-0000000{number}"), AskId(str(number)))


requests: st.SearchStrategy[Request | float] = st.one_of(
    results(),
    results(),
    st.builds(
        AddNotification,
        st.just(NotificationId("ab-00000001")),
        st.just(NotificationKind.API_BLOCKED),
        st.just(Source.EXECUTE),
        _tasks,
        st.just((new_question(1),)),
        error_code=st.sampled_from(ErrorCode),
    ),
    st.builds(
        lambda told, many, text: ResolveNotification(
            told, answer_all([new_question(number + 1) for number in range(many)], text)
        ),
        _told,
        st.integers(1, 2),
        st.sampled_from(["yes", "no"]),
    ),
    st.builds(DismissNotification, _told),
    st.builds(AnswerAsk, _asks, st.sampled_from(["yes", "q1: yes\nq2: no"])),
    st.builds(DeclineAsk, _asks),
    st.builds(WithdrawAsk, _asks),
    st.builds(CreateTask, _tasks, st.just("Login"), dependencies=st.sampled_from([(), (TaskId("b"),)])),
    st.builds(
        UpdateTask,
        _tasks,
        assignee=st.sampled_from([None, "coder"]),
        status=st.sampled_from([TaskStatus.OPEN, TaskStatus.IN_PROGRESS, TaskStatus.CLOSED]),
    ),
    st.builds(BlockTask, _tasks, st.sampled_from(["Later", OPEN_QUESTION_REASON])),
    st.builds(FailTask, _tasks, st.booleans()),
    st.builds(
        PostMessage,
        _tasks.map(lambda task: f"execute:{task}"),
        st.sampled_from([b'"hm"', b'{"text": "yes"}']),
    ),
    st.builds(
        SetPolicy,
        st.dictionaries(st.sampled_from(Category), st.sampled_from(Level), min_size=1),
        st.sampled_from(Assurance),
        st.booleans(),
    ),
    st.sampled_from([1.0, -20.0]),
)


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """Give one hub for all examples; each example has a project of its own."""
    with throwaway(clock=FakeClock()) as store:
        yield store.hub()


_examples = count()


def in_project(request: Request, project: str) -> Request:
    """Return `request` about an ask of this project: ids of asks are unique in a store."""
    if isinstance(request, TakeResult | AnswerAsk | DeclineAsk | WithdrawAsk):
        return replace(request, ask_id=AskId(f"ask_{project}_{request.ask_id}"))
    return request


@examples(100)
@given(st.lists(st.tuples(requests, st.sampled_from(PEOPLE)), max_size=25))
def test_replay_of_work_gives_the_rows(hub: Hub, script: list[tuple[Request | float, Principal]]) -> None:
    """And at every end: an ask and its notification are open or over together, and an agent has answered nothing."""
    project = f"p{next(_examples)}"
    for request, by in script:
        if isinstance(request, float):
            assert isinstance(hub.clock, FakeClock)
            hub.clock.set(hub.clock.at + timedelta(seconds=request))
            continue
        with suppress(AssentError):
            hub.handle(in_project(request, project), project=project, principal=by).result()
    with hub.reading() as reader, reader.snapshot():
        rows = replay(project, reader.records(project, 0, 1_000)).rows
        notifications = reader.notifications(project, 1_000, is_open=False)
        assert rows["notification"] == {each.notification_id: each for each in notifications}
        assert rows["task"] == {task.task_id: task for task in reader.tasks(project, 1_000, is_live=False)}
        policy = reader.policy(project)
        assert rows["policy"] == ({"policy": policy} if policy is not None else {})
    for told in notifications:
        if told.ask_id is not None:
            assert rows["ask"][told.ask_id].is_open is told.is_open
        assert not told.resolved_by.startswith("agent:")
        assert told.responses is None or told.resolved_by.startswith("human:")


def test_store_of_all_work_is_whole(hub: Hub) -> None:
    """Twin in the large: the audit agrees about every project at once, in whichever order the tests run."""
    assert verify(hub.store).problems == ()
