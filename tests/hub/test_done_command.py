"""What is sent again under an id of its sender's choice is done once, also where no row remembers it."""

from collections.abc import Callable

import msgspec
import pytest

from assent.hub.command import PostMessage, Request
from assent.hub.hub import Hub
from assent.hub.work_command import BlockTask, CreateTask, SetPolicy, UpdateTask
from assent.protocol.error import CommandReusedError
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.task import Task, TaskId, TaskStatus
from assent.testing import throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

CODER = Principal(Role.AGENT, "coder")
OTHER = Principal(Role.AGENT, "other")


def send(hub: Hub, request: Request, command_id: str, principal: Principal = CODER) -> object:
    """Send a request and return what is told."""
    future = hub.handle(request, project="test", principal=principal, command_id=command_id)
    assert future.wait(PATIENCE)  # type: ignore[union-attr]  # no loop was given
    return future.result()


def log_length(hub: Hub) -> int:
    """Return how many events there are."""
    with hub.reading() as reader:
        return reader.head_sequence("test")


def post(text: str) -> PostMessage:
    """Return a message for an ordinary topic."""
    return PostMessage("notes", msgspec.json.encode(text))


def test_message_that_is_sent_again_is_posted_once_and_told_of_again() -> None:
    """Its sender lost the reply: the second one names the same message."""
    with throwaway() as store:
        first, second = store.hub(), store.hub()
        told = send(first, post("hello"), "http_1")
        assert send(second, post("hello"), "http_1") == told
        assert (log_length(first), send(first, post("hello"), "http_2") == told) == (1, False)


def test_other_message_under_the_same_id_is_refused() -> None:
    """A key stands for one thing, so a reply to another one would be a lie."""
    with throwaway() as store:
        hub = store.hub()
        send(hub, post("hello"), "http_1")
        with pytest.raises(CommandReusedError):
            send(hub, post("goodbye"), "http_1")
        assert log_length(hub) == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda task: UpdateTask(task, status=TaskStatus.CLOSED), id="close"),
        pytest.param(lambda task: BlockTask(task, "broken"), id="block"),
    ],
)
def test_change_of_a_task_that_is_sent_again_does_not_undo_what_came_after(
    change: Callable[[TaskId], Request],
) -> None:
    """Somebody else has changed the task between the two."""
    with throwaway() as store:
        hub = store.hub()
        task = TaskId("T-1")
        send(hub, CreateTask(task, "Build"), "http_0")
        send(hub, change(task), "http_1")
        send(hub, UpdateTask(task, status=TaskStatus.OPEN), "http_2", Principal(Role.HUMAN, "ana"))
        before = log_length(hub)
        again = send(hub, change(task), "http_1")
        assert isinstance(again, Task)
        assert (again.status, log_length(hub)) == (TaskStatus.OPEN, before)


def test_other_policy_under_the_same_id_is_refused() -> None:
    """The reply would tell of a policy that nobody asked for under this key."""
    person = Principal(Role.HUMAN, "ana")
    loose, tight = ({Category.SCOPE_CHANGES: level} for level in (Level.AUTOMATED, Level.REQUIRES_APPROVAL))
    with throwaway() as store:
        hub = store.hub()
        told = send(hub, SetPolicy(loose, Assurance.TOKEN), "http_1", person)
        assert send(hub, SetPolicy(loose, Assurance.TOKEN), "http_1", person) == told
        with pytest.raises(CommandReusedError):
            send(hub, SetPolicy(tight, Assurance.TOKEN), "http_1", person)
        assert log_length(hub) == 1


def test_two_of_one_group_are_done_once() -> None:
    """Both came before the first was written."""
    with throwaway() as store:
        hub = store.hub()
        futures = [
            hub.handle(post("hello"), project="test", principal=CODER, command_id="http_1") for _ in range(4)
        ]
        told = [future.result() for future in futures if future.wait(PATIENCE)]  # type: ignore[union-attr]  # as above
        assert len(told) == 4
        assert all(each == told[0] for each in told)
        assert log_length(hub) == 1
