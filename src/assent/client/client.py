"""The client for threads. `async_client` is the same for tasks; neither has a call of its own."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from assent.client import approving, steer, work
from assent.client import tokens as credentials
from assent.client.calls import Calls, Value, value_of
from assent.client.door import Call, Door, run_call, until
from assent.client.driven import DrivenRun
from assent.client.durable import drive_durably
from assent.client.embedded import EmbeddedDoor
from assent.client.turns import Turns
from assent.client.wheel import Plan, Wheel, plan_run
from assent.hub.audit import Audit
from assent.hub.hub import Hub
from assent.hub.record import Record
from assent.protocol.ask import Ask, AskId
from assent.protocol.error import AssentError
from assent.protocol.principal import Assurance, Principal
from assent.protocol.topic import Message

if TYPE_CHECKING:
    from assent.client.reviewing import review_document

__all__ = ["Client", "Handle", "Holder", "blocking", "late"]

P = ParamSpec("P")
R = TypeVar("R")


class Holder:
    """One principal in one project, behind one door."""

    def __init__(
        self,
        behind: Hub | Door,
        project: str,
        principal: Principal,
        *,
        via: str = "python",
        assurance: Assurance = Assurance.DECLARED,
        run_id: str | None = None,
        find_label: Callable[[], str] = str,
    ) -> None:
        self.door: Door = EmbeddedDoor(behind) if isinstance(behind, Hub) else behind
        self.project = project
        self.principal = principal
        self.calls = Calls(self.door, project, principal, via, assurance, run_id, find_label)

    @property
    def hub(self) -> Hub:
        """The hub in this process.

        Raises:
            AssentError: the hub is a server's.
        """
        if not isinstance(self.door, EmbeddedDoor):
            raise AssentError("The hub is on a server, and only the server has it at hand.")
        return self.door.hub


def blocking(call: Callable[Concatenate[Calls, P], Call[R]]) -> Callable[Concatenate[Client, P], R]:
    """Return a call as a method of the client that blocks its thread, or as a function that takes such a client."""

    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return run_call(call(self.calls, *args, **kwargs))

    functools.update_wrapper(method, call)
    return method


def late(name: str) -> Callable[..., Any]:
    """Return a method that is the public function of that name, loaded when it is first called."""

    def method(self: Holder, /, *args: Any, **kwargs: Any) -> Any:
        return getattr(sys.modules["assent"], name)(self, *args, **kwargs)

    method.__doc__ = f"As `assent.{name}`, which it is."
    return method


def _opening(call: Callable[Concatenate[Calls, P], Call[Ask]]) -> Callable[Concatenate[Client, P], Handle]:
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Handle:
        return Handle(self, run_call(call(self.calls, *args, **kwargs)))

    functools.update_wrapper(method, call)
    return method


def _driving(plan: Callable[P, Plan]) -> Callable[Concatenate[Client, P], DrivenRun]:
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> DrivenRun:
        return DrivenRun(Turns(Wheel(self.calls, plan(*args, **kwargs))))

    functools.update_wrapper(method, plan)
    return method


class Client(Holder):
    """Asks and answers from threads. One client may be used by many threads, and after a fork."""

    ask = blocking(Calls.ask)
    ask_all = blocking(Calls.ask_all)
    wait = blocking(Calls.wait)
    answer = blocking(Calls.answer)
    decline = blocking(Calls.decline)
    withdraw = blocking(Calls.withdraw)
    claim = blocking(Calls.claim)
    report_undelivered = blocking(Calls.report_undelivered)
    show = blocking(Calls.show)
    inbox = blocking(Calls.inbox)
    count = blocking(Calls.count)
    log = blocking(Calls.log)
    steps = blocking(Calls.steps)
    write_step = blocking(Calls.write_step)
    drive = blocking(drive_durably)
    control = blocking(steer.control)
    pause = blocking(steer.pause)
    resume = blocking(steer.resume)
    cancel = blocking(steer.cancel)
    escalate = blocking(steer.escalate)
    find_run = blocking(steer.find_run)
    runs = blocking(steer.list_runs)
    is_driven = blocking(steer.is_driven)
    wait_for_run = blocking(steer.wait_for_run)
    read_output = blocking(steer.read_output)
    post = blocking(steer.post)
    post_text = blocking(steer.post_text)
    read = blocking(steer.read_topic)
    hand_in = blocking(work.hand_in)
    add_notification = blocking(work.add_notification)
    find_notification = blocking(work.find_notification)
    notifications = blocking(work.list_notifications)
    count_notifications = blocking(work.count_notifications)
    resolve = blocking(work.resolve)
    dismiss = blocking(work.dismiss)
    clear_notifications = blocking(work.clear_notifications)
    create_task = blocking(work.create_task)
    update_task = blocking(work.update_task)
    block_task = blocking(work.block_task)
    find_task = blocking(work.find_task)
    tasks = blocking(work.list_tasks)
    ready = blocking(work.list_ready)
    chat = blocking(work.chat_of)
    clarify = blocking(work.clarify)
    answers = blocking(work.list_answers)
    policy = blocking(work.find_policy)
    approve = blocking(approving.approve)
    redeem = blocking(approving.redeem)
    find_receipt = blocking(approving.find_receipt)
    set_policy = blocking(work.set_policy)
    create_token = blocking(credentials.create_token)
    tokens = blocking(credentials.list_tokens)
    revoke_token = blocking(credentials.revoke_token)
    open = _opening(Calls.open)
    run = _driving(plan_run)
    if TYPE_CHECKING:
        review = blocking(review_document)
    else:
        review = late("review")

    def follow_topic(self, topic: str, after: int = 0) -> Iterator[Message]:
        """Yield a topic's messages after a number, as they come, without end."""
        with self.door.follow_topic(self.project, topic, after) as feed:
            yield from feed

    def verify(self) -> Audit:
        """Check the whole store: its chain, its numbers, its rows."""
        return run_call(until(self.door.verify()))

    def follow(self, after: int = 0) -> Iterator[Record]:
        """Yield the project's events after a number, as they come, without end."""
        with self.door.follow(self.project, after) as feed:
            yield from feed

    def close(self) -> None:
        """Let go of the store."""
        self.door.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Handle:
    """An ask that was opened; its answer may take a day."""

    __slots__ = ("_client", "ask")

    def __init__(self, client: Client, ask: Ask) -> None:
        self._client = client
        self.ask = ask
        """The ask as it was when it was last looked at."""

    @property
    def ask_id(self) -> AskId:
        """The ask's id."""
        return self.ask.ask_id

    def wait(self, seconds: float | None = None) -> Ask:
        """Return the ask once it has ended."""
        if self.ask.is_open:
            self.ask = self._client.wait(self.ask_id, seconds)
        return self.ask

    def value(self, seconds: float | None = None) -> Value:
        """Return the answer's value, as `Client.ask` does."""
        return value_of(self.wait(seconds))

    def withdraw(self, reason: str = "") -> Ask:
        """Take it back."""
        self.ask = self._client.withdraw(self.ask_id, reason)
        return self.ask
