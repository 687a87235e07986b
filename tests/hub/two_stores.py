"""Requests of every kind over a few names, hostile ones among them, and what two hubs have to agree on."""

import asyncio
from datetime import timedelta
from hashlib import sha256
from typing import Any

from hypothesis import strategies as st

from assent.hub.audit import verify
from assent.hub.command import (
    AbortRun,
    AnswerAsk,
    BeginTurn,
    ClaimAsk,
    DeclineAsk,
    EndTurn,
    ExecuteControl,
    FailRun,
    FinishRun,
    OpenAsk,
    PopFrame,
    PostMessage,
    PushFrame,
    RedeemReceipt,
    Request,
    RevokeToken,
    StartRun,
    TellOutput,
    Tick,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.future import LightFuture
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
    UnblockTask,
    UpdateTask,
)
from assent.protocol.agent_result import AgentResult
from assent.protocol.ask import AskId, Consequence, State
from assent.protocol.error import AssentError
from assent.protocol.notification import NotificationId, NotificationKind, Source
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Assurance, Principal, Role
from assent.protocol.prompt import Prompt, question
from assent.protocol.receipt import ReceiptId
from assent.protocol.run import DoneReason, RunId
from assent.protocol.task import TaskId, TaskStatus
from assent.protocol.token import TokenId
from assent.protocol.topic import CONTROL_TOPIC
from assent.storage.port import Step
from tests.notification_samples import QUESTIONS, new_response
from tests.patience import PATIENCE
from tests.receipt_samples import ACTION, requesting
from tests.run_samples import new_frame, request_text
from tests.samples import AGENT, ANA, BOB, digest_of
from tests.token_samples import creating

__all__ = [
    "COMMANDS",
    "ENDINGS",
    "PROJECTS",
    "PROMPTS",
    "REQUESTS",
    "SENDERS",
    "everything",
    "tell",
    "tell_together",
]

PROJECTS = st.sampled_from(["test"] * 8 + ["other", "пёс 'q' %", "nul\0"])
SENDERS = st.sampled_from([AGENT, AGENT, ANA, ANA, BOB, Principal(Role.OPERATOR, "op")])
COMMANDS = st.sampled_from(["new"] * 5 + ["cmd_old", "http_old", "http_old2", "http_\0"])
"""Under which id a command is sent: a new one, or one that was used."""
LONG = "".join(sha256(bytes([number])).hexdigest() for number in range(60))
"""A text that no compression makes short enough for a page of an index."""
TEXTS = st.sampled_from(["a", "b", "c", "a b", "%", "_", "'\"\\", "\U0001f600", "nul\0", "long", ""]).map(
    lambda text: LONG if text == "long" else text
)
KEYS = st.one_of(st.none(), TEXTS)
ASKS = st.sampled_from([AskId(f"ask_{number:018}") for number in range(1, 7)] + [AskId("ask_\0")])
RUNS = st.sampled_from([RunId("r1")] * 8 + [RunId("r2"), RunId("nul\0"), RunId(""), RunId("'\"%\\")])
TASKS = st.sampled_from([TaskId("task-1")] * 4 + [TaskId("task-2"), TaskId("nul\0"), TaskId(""), TaskId("%")])
NOTIFICATIONS = st.sampled_from([NotificationId(f"oq-{number:08x}") for number in range(1, 5)])
RECEIPTS = st.sampled_from([1, 2, 3])
FENCES = st.sampled_from([1, 1, 1, 2, 0])
PROMPTS = [question("Which?", ["PostgreSQL", "SQLite"]), question("Why?"), question("NUL \0 \ud83d\ude00?")]
SECONDS = st.sampled_from([None, None, timedelta(seconds=20), timedelta(seconds=90)])


def _opening(ask_id: AskId, prompt: Prompt, **parts: Any) -> OpenAsk:
    return OpenAsk(ask_id, prompt, digest_of(prompt), **parts)


def _step(flow_id: str, number: int, state: Any, content: bytes) -> WriteStep:
    return WriteStep(Step(flow_id, number, sha256(content).hexdigest(), state, content))


def _control(command: str, request_id: str, run_id: str, is_left: bool) -> PostMessage:
    payload = {"model": "opus"} if command == "escalate" else {}
    text = request_text(command, request_id=request_id, target={"run_id": run_id}, payload=payload)
    return PostMessage(CONTROL_TOPIC, text, is_left)


def _result(status: str, source_id: str, count: int, number: int) -> TakeResult:
    questions = QUESTIONS[:count]
    result = AgentResult("coder", Source.EXECUTE, source_id, status, questions)
    return TakeResult(result, NotificationId(f"oq-{number:08x}"), AskId(f"ask_{number:018}"))


_NUMBERS = st.integers(1, 6)
_ABOUT_ASKS = st.one_of(
    st.builds(
        _opening,
        ASKS,
        st.sampled_from(PROMPTS[:2]),
        key=KEYS,
        run_id=st.one_of(st.none(), RUNS),
        deadline=SECONDS,
        consequence=st.sampled_from(Consequence),
        escalate_to=st.sampled_from([None, "ops"]),
        is_replacing=st.booleans(),
    ),
    st.builds(AnswerAsk, ASKS, st.sampled_from(["1", "2", "because", ""]), via=st.just("python")),
    st.builds(DeclineAsk, ASKS, TEXTS),
    st.builds(WithdrawAsk, ASKS, TEXTS),
    st.builds(ClaimAsk, ASKS),
)
_ABOUT_RUNS = st.one_of(
    st.builds(lambda run_id: StartRun(run_id, new_frame(id=run_id or "x", max=4), "host:1"), RUNS),
    st.builds(BeginTurn, RUNS, FENCES),
    st.builds(EndTurn, RUNS, FENCES, signal=st.sampled_from([None, None, DoneReason.COMPLETE])),
    st.builds(lambda run_id, fence: PushFrame(run_id, fence, new_frame(id="inner", max=2), 1), RUNS, FENCES),
    st.builds(PopFrame, RUNS, FENCES, st.sampled_from([0, 1])),
    st.builds(FinishRun, RUNS, FENCES),
    st.builds(FailRun, RUNS, FENCES, TEXTS),
    st.builds(AbortRun, RUNS, TEXTS),
    st.builds(TellOutput, RUNS, FENCES, st.sampled_from([b"line\n", b"\0\n", b""])),
    st.builds(
        _control, st.sampled_from(["pause", "resume", "cancel", "escalate"]), TEXTS, RUNS, st.booleans()
    ),
    st.builds(ExecuteControl, TEXTS),
)
_ABOUT_WORK = st.one_of(
    st.builds(CreateTask, TASKS, TEXTS, st.sampled_from([1, 2]), dependencies=st.just(())),
    st.builds(UpdateTask, TASKS, title=TEXTS, status=st.sampled_from(TaskStatus)),
    st.builds(BlockTask, TASKS, TEXTS),
    st.builds(UnblockTask, TASKS, TEXTS),
    st.builds(FailTask, TASKS, st.booleans()),
    st.builds(
        AddNotification,
        NOTIFICATIONS,
        st.sampled_from(NotificationKind),
        st.sampled_from(Source),
        TEXTS,
        st.sampled_from([QUESTIONS, QUESTIONS[:1]]),
    ),
    st.builds(
        ResolveNotification, NOTIFICATIONS, st.sampled_from([None, (new_response(1), new_response(2))])
    ),
    st.builds(DismissNotification, NOTIFICATIONS),
    st.builds(_result, st.sampled_from(["failed", "completed", "\0"]), TEXTS, st.integers(0, 2), _NUMBERS),
    st.builds(
        SetPolicy,
        st.dictionaries(st.sampled_from(Category), st.sampled_from(Level), max_size=2),
        st.just(Assurance.TERMINAL),
    ),
)
_ABOUT_THE_REST = st.one_of(
    st.builds(
        lambda number, key, category: requesting(number, key=key, category=category),
        RECEIPTS,
        KEYS,
        st.sampled_from([None, *Category]),
    ),
    st.builds(
        AnswerAsk,
        ASKS,
        st.sampled_from(["yes", "no"]),
        via=st.just("x"),
        assurance=st.just(Assurance.TERMINAL),
    ),
    st.builds(
        lambda number, action: RedeemReceipt(ReceiptId(f"rcp_{number:018}"), action),
        RECEIPTS,
        st.sampled_from([ACTION, {"sql": "\0"}]),
    ),
    st.builds(
        lambda role, number, name: creating(role, number, name=name), st.sampled_from(Role), RECEIPTS, TEXTS
    ),
    st.builds(lambda number: RevokeToken(TokenId(f"tok_{number:018}")), RECEIPTS),
    st.builds(_step, TEXTS, st.integers(0, 2), st.sampled_from(["intended", "done"]), st.just(b'{"a":1}')),
    st.builds(PostMessage, TEXTS, st.sampled_from([b'"hello"', b'{"a":"\\u0000"}', b"no json"])),
    st.just(Tick()),
)
ENDINGS = st.sampled_from(
    [
        (lambda ask_id: AnswerAsk(ask_id, "1", via="x", assurance=Assurance.TERMINAL), ANA),
        (lambda ask_id: AnswerAsk(ask_id, "because \0", via="x", assurance=Assurance.TERMINAL), BOB),
        (lambda ask_id: DeclineAsk(ask_id, "no", "x", Assurance.TERMINAL), ANA),
        (lambda ask_id: WithdrawAsk(ask_id, "old"), AGENT),
        (ClaimAsk, ANA),
    ]
)
"""What ends an open ask, or says that somebody is on it; and whose it is to do so."""
REQUESTS = st.one_of(_ABOUT_ASKS, _ABOUT_ASKS, _ABOUT_RUNS, _ABOUT_WORK, _ABOUT_THE_REST)


def tell(hub: Hub, request: Request, project: str, by: Principal, command_id: str) -> object:
    """Send one request; return what its sender is told, or the refusal."""
    try:
        future = hub.handle(request, project=project, principal=by, command_id=command_id)
        assert isinstance(future, LightFuture)
        assert future.wait(PATIENCE)
        return future.result()
    except AssentError as error:
        return type(error), error.code, error.message


def tell_together(hub: Hub, project: str, requests: list[tuple[Request, Principal, str]]) -> list[object]:
    """Send requests so that they share one transaction; return what each sender is told."""

    async def tell_all() -> list[object]:
        loop = asyncio.get_running_loop()
        futures: list[Any] = []
        replies: dict[int, object] = {}
        with hub.store.mutex_of(project):
            for place, (request, by, command_id) in enumerate(requests):
                try:
                    futures.append(
                        hub.handle(request, project=project, principal=by, command_id=command_id, loop=loop)
                    )
                except AssentError as error:
                    replies[place] = (type(error), error.code, error.message)
            await asyncio.sleep(0)  # the turn ends, and all of them are queued together
        told = iter(await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), PATIENCE))
        return [replies[place] if place in replies else _plain(next(told)) for place in range(len(requests))]

    return asyncio.run(tell_all())


def _plain(told: object) -> object:
    if isinstance(told, AssentError):
        return type(told), told.code, told.message
    assert not isinstance(told, BaseException), told
    return told


def everything(hub: Hub) -> dict[str, object]:
    """Return all that a store holds, as a reader finds it."""
    with hub.store.reading() as reader:
        projects = [head.project for head in reader.heads()]
        found: dict[str, object] = {
            "heads": [(head.project, head.sequence, head.hash, head.at) for head in reader.heads()],
            "due": sorted(reader.has_due(1 << 60)),
            "deadline": reader.next_deadline(),
            "asks": reader.asks(None, None, 100),
            "open": reader.asks(None, State.OPEN, 100),
            "counts": [(reader.count_open(name), reader.count_notifications(name)) for name in projects],
            "waiting": reader.waiting(None),
            "spans": reader.spans(None, 0, 100),
            "runs": [reader.runs(None, 100, active=active) for active in (True, False)],
            "tasks": [reader.tasks(None, 100, is_live=is_live) for is_live in (True, False)],
            "notes": [reader.notifications(None, 100, is_open=is_open) for is_open in (True, False)],
            "tokens": reader.tokens(None, 100),
            "secrets": [reader.token_by_digest(creating(number=number).digest) for number in (1, 2, 3)],
        }
        for state in (None, State.OPEN, State.ANSWERED, "ended"):
            page = reader.page(None, state, limit=3, most_bytes=4_000)
            found[f"page {state}"] = page
            if page.asks:
                last = page.asks[-1].ask_id
                found[f"next {state}"] = reader.page(None, state, before=last, limit=3, most_bytes=4_000)
        for name in projects:
            found[f"log {name}"] = reader.records(name, 0, 1_000)
            found[f"ended {name}"] = _by_id(reader.ended(name, 0)[1])
            found[f"changed {name}"] = sorted(run.run_id for run in reader.changed_runs(name, 0))
            found[f"steps {name}"] = reader.steps(name)
            found[f"controls {name}"] = reader.controls(name)
            found[f"policy {name}"] = reader.policy(name)
            found[f"receipts {name}"] = reader.receipts(name, 100)
            found[f"tail {name}"] = [reader.tail(name, run_id, 0) for run_id in ("r1", "r2", "nul\0")]
            found[f"keys {name}"] = _by_id(reader.asks_by_key(name, ["a", "b", "nul\0", "%", LONG]))
            found[f"ends {name}"] = _by_id(reader.asks_ending_in("1", name))
            for topic in ("a", "nul\0", CONTROL_TOPIC):
                found[f"topic {name} {topic}"] = reader.messages(name, topic, 0, 100)
            for source in Source:
                found[f"about {name} {source}"] = reader.notifications_about(name, source, "a")
    found["audit"] = verify(hub.store).problems
    return found


def _by_id(asks: Any) -> list[Any]:
    return sorted(asks, key=lambda ask: ask.ask_id)
