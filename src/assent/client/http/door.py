"""The door to a server. Fits `client.door.Door`: whatever works on a file works here, in the same way."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import structs

from assent.client.door import Following, Wait
from assent.client.grip import beside
from assent.client.http.exchange import RETRY_SECONDS, Exchange, Sent, exchange, exchange_by
from assent.client.http.following import ServerFollowing
from assent.client.http.hold import ServerHold
from assent.client.http.line import ServerLine
from assent.client.http.requests import order
from assent.client.http.translate import journal_step, project_policy, record_of, token_of
from assent.client.tracing import trace_headers
from assent.client.verbs import VERBS
from assent.hub.audit import Audit
from assent.hub.clock import Clock, SystemClock
from assent.hub.command import BeginTurn, PostMessage, Request, Told
from assent.hub.desk import instant
from assent.hub.ids import new_command_id
from assent.hub.record import Hold, Record, Step
from assent.protocol.ask import Ask, AskId, State
from assent.protocol.display import is_encodable
from assent.protocol.error import (
    AssentError,
    BadRequestError,
    InvalidStateError,
    NotFoundError,
    RunEndedError,
    StillOpen,
)
from assent.protocol.notification import Notification, Source
from assent.protocol.policy import ProjectPolicy
from assent.protocol.principal import Principal
from assent.protocol.receipt import Receipt
from assent.protocol.run import Run, RunId
from assent.protocol.tail import Tail
from assent.protocol.task import Task
from assent.protocol.token import Token
from assent.protocol.topic import Message
from assent.protocol.wire import MAX_PAGE
from assent.protocol.wire_ask import Asks, Count
from assent.protocol.wire_record import AuditReply, HeadReply, Log, Projects, Tokens, WhoReply
from assent.protocol.wire_run import HoldBody, Messages, RunReply, Runs, Steps
from assent.protocol.wire_work import TaskReply, Tasks

if TYPE_CHECKING:
    import asyncio

__all__ = ["POLL_SECONDS", "HttpDoor"]

POLL_SECONDS = 25.0
"""How long one long poll waits: shorter than what proxies on the way usually allow."""

T = TypeVar("T")
_UNSPEAKABLE = "A part of it cannot be written as JSON in UTF-8."
_encoder = msgspec.json.Encoder()
_decoders: dict[str, msgspec.json.Decoder[Any]] = {}


def _decoder(name: str) -> msgspec.json.Decoder[Any]:
    # Made when they are first used: to make all of them takes longer than most commands do.
    found = _decoders.get(name)
    if found is None:
        found = _decoders[name] = msgspec.json.Decoder(VERBS[name].reply)
    return found


class HttpDoor:
    """A server at an address, and the token that it is shown."""

    def __init__(self, url: str, token: str = "", clock: Clock | None = None) -> None:
        self._line = ServerLine(url, token)
        self._clock = clock
        self._who: Principal | None = None

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._line.url

    def who(self) -> Wait[Principal | None]:
        """Say whose token it is."""

        def ask() -> Exchange[Principal | None]:
            if self._who is None:  # whose a token is never changes
                told: WhoReply = yield from self._do("who_am_i")
                self._who = Principal(told.role, told.name)
            return self._who

        return self._line.waits(ask())

    def now(self) -> datetime:
        """Return the moment by the server's clock; before it was heard, by this machine's."""
        heard = None if self._clock is not None else self._line.now
        return instant((self._clock or SystemClock()).now()) if heard is None else heard

    def secret(self) -> bytes:
        """Return nothing: the server mints the ids."""
        return b""

    def send(self, request: Request, project: str, principal: Principal, command_id: str) -> Wait[Told]:
        """Have a command done; who sends it is said by the token, whatever `principal` says."""
        del principal

        def ask() -> Exchange[Told]:
            ordered = order(request)
            not_after = request.not_after if isinstance(request, PostMessage) else None
            if not_after is not None and not self._line.knows_clock:
                yield from self._ask_clock(not_after)
            reply = yield from self._do(
                ordered.verb,
                {"project": project, **ordered.path},
                body=ordered.body,
                query=ordered.query,
                headers={"idempotency-key": command_id},
                not_after=not_after,
            )
            return ordered.told(reply)

        def begin(turn: BeginTurn) -> Exchange[Told]:
            try:
                return (yield from ask())
            except (InvalidStateError, RunEndedError):  # of a file, the run says so itself
                told: RunReply = yield from self._do("show_run", {"project": project, "run": turn.run_id})
                return told.record

        return self._line.waits(begin(request) if isinstance(request, BeginTurn) else ask())

    def _ask_clock(self, not_after: int) -> Exchange[None]:
        """Hear the server's clock; without it, no bound can be set to a command."""
        try:
            yield from exchange_by(self._line, Sent("GET", "/healthz", {}, b"", {}, 0.0), not_after)
        except AssentError:
            if not self._line.knows_clock:  # else it only has troubles of its own, and will tell them
                raise

    # Asks

    def until_ended(
        self, ask_id: AskId, project: str, seconds: float | None, by: Principal | None = None
    ) -> Wait[Ask]:
        """Wait until the ask has ended; a server that is away meanwhile is waited for, too.

        The polls have a name in common, and the last one says so: the server sees whether whoever asked still waits.
        """
        del by  # the token says it
        waiter, path = new_command_id(), {"project": project, "ask": ask_id}

        def ask() -> Exchange[Ask]:
            until = None if seconds is None else time.monotonic() + seconds
            while True:
                left = POLL_SECONDS if until is None else max(0.0, until - time.monotonic())
                is_last = until is not None and left <= POLL_SECONDS
                query = {"waiter": waiter} | ({"last": "true"} if is_last else {})
                found: Ask = yield from self._poll(
                    "wait_for_ask", path, query, min(left, POLL_SECONDS), left=until
                )
                if not found.is_open:
                    return found
                if until is not None and time.monotonic() >= until:
                    raise StillOpen(ask=found)

        farewell = _place("wait_for_ask", path), {"waiter": waiter, "last": "true"}
        return self._line.waits(ask(), farewell)

    def find(self, ask_id: str, project: str | None) -> Wait[list[Ask]]:
        """Find asks by id, or by the end of one."""
        return self._list("asks", project, {"ending": ask_id, "state": "all"})

    def asks(self, project: str | None, state: State | None, limit: int) -> Wait[list[Ask]]:
        """List asks, newest first; a page after the other, where one reply cannot hold them."""

        def ask() -> Exchange[list[Ask]]:
            name, path = _scoped("list_asks", project)
            found: list[Ask] = []
            behind: dict[str, str] = {}
            while len(found) < limit:
                query = {"state": state or "all", "limit": str(min(limit - len(found), MAX_PAGE))} | behind
                told: Asks = yield from self._do(name, path, query=query)
                found += told.asks
                if told.next is None:
                    break
                behind = {"before": told.next}
            return found

        return self._line.waits(ask())

    def asks_by_key(self, project: str, keys: Sequence[str]) -> Wait[list[Ask]]:
        """Find the asks that hold these keys."""

        def ask() -> Exchange[list[Ask]]:
            name, path = _scoped("list_asks", project)
            found: list[Ask] = []
            for key in keys:
                told: Asks = yield from self._do(name, path, query={"key": key})
                found += told.asks
            return found

        return self._line.waits(ask())

    def count(self, project: str | None) -> Wait[int]:
        """Count what waits."""
        return self._count("asks", project)

    def receipt(self, project: str, receipt_id: str) -> Wait[Receipt | None]:
        """Find a receipt by its id."""
        return self._find("show_receipt", {"project": project, "receipt": receipt_id})

    # The log, flows and topics

    def head(self, project: str) -> Wait[int]:
        """Return the number of the last event of a project."""

        def ask() -> Exchange[int]:
            told: HeadReply = yield from self._do("show_head", {"project": project})
            return told.sequence

        return self._line.waits(ask())

    def records(self, project: str, after: int, limit: int) -> Wait[list[Record]]:
        """Read the log."""
        return self._line.waits(self._records(project, after, limit))

    def _records(self, project: str, after: int, limit: int, seconds: float = 0.0) -> Exchange[list[Record]]:
        query = {"after": str(after), "limit": str(min(limit, MAX_PAGE))}
        told: Log = yield from self._poll("read_log", {"project": project}, query, seconds)
        return [record_of(project, each) for each in told.events]

    def steps(self, project: str, flow_id: str) -> Wait[list[Step]]:
        """Read a flow's journal."""

        def ask() -> Exchange[list[Step]]:
            told: Steps = yield from self._do("list_steps", {"project": project, "flow": flow_id})
            return [journal_step(each) for each in told.steps]

        return self._line.waits(ask())

    def hold(self, project: str, flow_id: str) -> Wait[Hold]:
        """Take the right to drive a flow."""
        return self._hold(project, HoldBody(flow_id=flow_id))

    def messages(self, project: str, topic: str, after: int, limit: int) -> Wait[list[Message]]:
        """Read a topic."""
        return self._line.waits(self._messages(project, topic, after, limit))

    def _messages(
        self, project: str, topic: str, after: int, limit: int, seconds: float = 0.0
    ) -> Exchange[list[Message]]:
        query = {"after": str(after), "limit": str(min(limit, MAX_PAGE))}
        path = {"project": project, "topic": topic}
        told: Messages = yield from self._poll("read_topic", path, query, seconds)
        return list(told.messages)

    # Runs

    def until_run_changed(self, run_id: RunId, project: str, after: int, seconds: float | None) -> Wait[Run]:
        """Wait until the run has changed; a server that is away meanwhile is waited for, too."""

        def ask() -> Exchange[Run]:
            until = None if seconds is None else time.monotonic() + seconds
            path = {"project": project, "run": run_id}
            while True:
                left = POLL_SECONDS if until is None else max(0.0, until - time.monotonic())
                told: RunReply = yield from self._poll(
                    "show_run", path, {"after": str(after)}, min(left, POLL_SECONDS), left=until
                )
                if told.record.sequence > after:
                    return told.record
                if until is not None and time.monotonic() >= until:
                    raise StillOpen

        return self._line.waits(ask())

    def find_run(self, project: str, run_id: RunId) -> Wait[Run | None]:
        """Find a run by its id."""

        def ask() -> Exchange[Run | None]:
            try:
                told: RunReply = yield from self._do("show_run", {"project": project, "run": run_id})
            except NotFoundError:
                return None
            return told.record

        return self._line.waits(ask())

    def runs(self, project: str | None, limit: int, *, active: bool) -> Wait[list[Run]]:
        """List runs, newest first."""

        def ask() -> Exchange[list[Run]]:
            name, path = _scoped("list_runs", project)
            query = {"active": str(active).lower(), "limit": str(min(limit, MAX_PAGE))}
            told: Runs = yield from self._do(name, path, query=query)
            return [each.record for each in told.runs]

        return self._line.waits(ask())

    def tail(self, project: str, run_id: RunId, after: int) -> Wait[Tail | None]:
        """Read the tail of a run's output; None where there is no such run."""
        query = {"after": str(max(0, after))}
        return self._find("read_output", {"project": project, "run": run_id}, query)

    def is_driven(self, project: str, run_id: RunId) -> Wait[bool]:
        """Say whether somebody alive drives the run."""

        def ask() -> Exchange[bool]:
            try:
                told: RunReply = yield from self._do("show_run", {"project": project, "run": run_id})
            except NotFoundError:
                return False
            return told.driver is not None

        return self._line.waits(ask())

    def hold_run(self, project: str, run_id: RunId) -> Wait[Hold]:
        """Take the right to drive a run."""
        return self._hold(project, HoldBody(run_id=run_id))

    def _hold(self, project: str, body: HoldBody) -> Wait[Hold]:
        path = f"/projects/{quote(project, safe='')}"
        return beside(lambda: ServerHold(self._line, path, body))

    # Work

    def notification(self, project: str, notification_id: str) -> Wait[Notification | None]:
        """Find a notification by its id."""
        return self._find("show_notification", {"project": project, "notification": notification_id})

    def notifications(self, project: str | None, limit: int, *, is_open: bool) -> Wait[list[Notification]]:
        """List notifications, newest first."""
        query = {"status": "open" if is_open else "all", "limit": str(min(limit, MAX_PAGE))}
        return self._list("notifications", project, query)

    def notifications_about(self, project: str, source: Source, source_id: str) -> Wait[list[Notification]]:
        """List all notifications about one thing, oldest first."""
        return self._list("notifications", project, {"source": source, "source_id": source_id})

    def count_notifications(self, project: str | None) -> Wait[int]:
        """Count what is open."""
        return self._count("notifications", project)

    def task(self, project: str, task_id: str) -> Wait[Task | None]:
        """Find a task by its id."""

        def ask() -> Exchange[Task | None]:
            try:
                told: TaskReply = yield from self._do("show_task", {"project": project, "task": task_id})
            except NotFoundError:
                return None
            return told.task

        return self._line.waits(ask())

    def tasks(self, project: str | None, limit: int, *, is_live: bool) -> Wait[list[Task]]:
        """List tasks."""

        def ask() -> Exchange[list[Task]]:
            query = {"status": "live" if is_live else "all", "limit": str(min(limit, MAX_PAGE))}
            told: Tasks = yield from self._do("list_tasks", {"project": project or ""}, query=query)
            return [each.task for each in told.tasks]

        return self._line.waits(ask())

    def policy(self, project: str) -> Wait[ProjectPolicy | None]:
        """Find a project's policy."""

        def ask() -> Exchange[ProjectPolicy | None]:
            return project_policy((yield from self._do("show_policy", {"project": project})))

        return self._line.waits(ask())

    def tokens(self, project: str, limit: int) -> Wait[list[Token]]:
        """List the tokens that were made in a project, newest first."""

        def ask() -> Exchange[list[Token]]:
            told: Tokens = yield from self._do("list_tokens", {"project": project})
            return [token_of(each) for each in told.tokens[:limit]]

        return self._line.waits(ask())

    # The whole

    def projects(self) -> Wait[list[str]]:
        """List the projects that the token reaches and that have something in their log."""

        def ask() -> Exchange[list[str]]:
            told: Projects = yield from self._do("list_projects")
            return list(told.projects)

        return self._line.waits(ask())

    def follow(self, project: str, after: int) -> Following[Record]:
        """Follow a project's log."""

        def read(last: int, seconds: float) -> list[Record]:
            return self._line.talk(self._records(project, last, MAX_PAGE, seconds))

        return ServerFollowing(read, after)

    def follow_topic(self, project: str, topic: str, after: int) -> Following[Message]:
        """Follow a topic."""

        def read(last: int, seconds: float) -> list[Message]:
            return self._line.talk(self._messages(project, topic, last, MAX_PAGE, seconds))

        return ServerFollowing(read, after)

    def verify(self) -> Wait[Audit]:
        """Have the server check its whole store."""

        def ask() -> Exchange[Audit]:
            told: AuditReply = yield from self._do("verify", seconds=600.0)
            return Audit(**msgspec.structs.asdict(told))

        return self._line.waits(ask())

    def close(self) -> None:
        """Let go of the connections."""
        self._line.close()

    async def aclose(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let go of the connections of this loop, and of threads."""
        await self._line.aclose(loop)

    # Inside

    def _do(  # noqa: PLR0913 - every part of a request has a name
        self,
        name: str,
        path: Mapping[str, str] = {},
        *,
        body: Any = None,
        query: Mapping[str, str] = {},
        headers: Mapping[str, str] = {},
        seconds: float = 0.0,
        patience: float | None = RETRY_SECONDS,
        not_after: int | None = None,
    ) -> Exchange[Any]:
        verb = VERBS[name]
        place = _place(name, path)
        content = b"" if body is None else _encode(body)
        if not all(map(is_encodable, query.values())):
            raise BadRequestError(_UNSPEAKABLE)
        kind = {"content-type": "application/json"} if content else {}
        sent = Sent(verb.method, place, dict(query), content, {**kind, **trace_headers(), **headers}, seconds)
        if not_after is None:
            reply = yield from exchange(self._line, sent, patience)
        else:
            bound = structs.replace(sent, headers=sent.headers | self._line.bound(not_after))
            reply = yield from exchange_by(self._line, bound, not_after)
        try:
            return _decoder(name).decode(reply)
        except msgspec.DecodeError as error:
            raise AssentError(
                f"{self.url} answers as no Assent server of this version does: {error}."
            ) from None

    def _poll(
        self,
        name: str,
        path: Mapping[str, str],
        query: Mapping[str, str],
        seconds: float,
        *,
        left: float | None = 0.0,
    ) -> Exchange[Any]:
        """Ask, and let the server wait for what is asked; without a limit (`left`), a server that is away is tried for ever."""
        patience = (
            RETRY_SECONDS if left == 0.0 else None if left is None else max(1.0, left - time.monotonic())
        )
        wait = {"wait": f"{seconds:g}"} if seconds > 0 else {}
        return (yield from self._do(name, path, query={**query, **wait}, seconds=seconds, patience=patience))

    def _find(self, name: str, path: Mapping[str, str], query: Mapping[str, str] = {}) -> Wait[Any]:
        def ask() -> Exchange[Any]:
            try:
                return (yield from self._do(name, path, query=query))
            except NotFoundError:
                return None

        return self._line.waits(ask())

    def _list(self, noun: str, project: str | None, query: Mapping[str, str]) -> Wait[list[Any]]:
        def ask() -> Exchange[list[Any]]:
            name, path = _scoped(f"list_{noun}", project)
            return list(getattr((yield from self._do(name, path, query=query)), noun))

        return self._line.waits(ask())

    def _count(self, noun: str, project: str | None) -> Wait[int]:
        def ask() -> Exchange[int]:
            name, path = _scoped(f"count_{noun}", project)
            told: Count = yield from self._do(name, path)
            return told.count

        return self._line.waits(ask())


def _place(name: str, path: Mapping[str, str]) -> str:
    """Return the path of a verb, with these parts."""
    parts = {key: _path_part(part) for key, part in path.items()}
    return VERBS[name].path.replace(":path}", "}").format_map(parts)


def _path_part(part: str) -> str:
    """Return a part of a path, with everything in it that a path could take for its own.

    Raises:
        NotFoundError: nothing can have that name: it would be another path.
    """
    if part in {"", ".", ".."} or not is_encodable(part):
        raise NotFoundError("There is no such thing here.")
    return quote(part, safe="")


def _encode(body: Any) -> bytes:
    try:
        return _encoder.encode(body)
    except (TypeError, ValueError, RecursionError):
        raise BadRequestError(_UNSPEAKABLE) from None


def _scoped(name: str, project: str | None) -> tuple[str, dict[str, str]]:
    """Return the verb for one project, or for all of the caller's."""
    if project is not None:
        return name, {"project": project}
    verb, _, noun = name.partition("_")
    return f"{verb}_all_{noun}", {}
