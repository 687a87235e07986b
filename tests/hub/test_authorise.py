"""The one guard: who may send what, as a table, for every door."""

import pytest

from assent.hub.authorise import RIGHTS, authorise
from assent.hub.command import (
    AbortRun,
    AddTarget,
    AnswerAsk,
    BeginTurn,
    ClaimAsk,
    CreateToken,
    DeclineAsk,
    EndTurn,
    ExecuteControl,
    FailRun,
    FinishRun,
    GiveUpMessage,
    LapseAsk,
    OpenAsk,
    PopFrame,
    PostMessage,
    PushFrame,
    RedeemReceipt,
    RemoveTarget,
    ReportUndelivered,
    Request,
    RequestApproval,
    RevokeToken,
    StartRun,
    SupersedeAsk,
    TellOutput,
    Tick,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.hub import Hub
from assent.hub.record import Step
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
from assent.protocol.ask import AskId
from assent.protocol.error import ForbiddenError
from assent.protocol.notification import NotificationId, NotificationKind, Source
from assent.protocol.policy import Category, Level
from assent.protocol.principal import Principal, Role
from assent.protocol.target import Secret, What
from assent.protocol.topic import CONTROL_TOPIC
from assent.testing import ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, send
from tests.notification_samples import ANSWERS, QUESTIONS
from tests.receipt_samples import ACTION, RECEIPT_ID, REQUESTED
from tests.run_samples import RUN_ID, new_frame, request_text
from tests.task_samples import TASK_ID
from tests.token_samples import TOKEN_ID, creating

__all__: list[str] = []

ASK_ID = AskId("ask_1")
TOLD = NotificationId("oq-00c0ffee")
REQUESTS: dict[type[Request], tuple[Request, str]] = {
    OpenAsk: (opening(), "human agent operator"),
    AnswerAsk: (AnswerAsk(ASK_ID, "1"), "human"),
    DeclineAsk: (DeclineAsk(ASK_ID), "human"),
    WithdrawAsk: (WithdrawAsk(ASK_ID), "human agent operator"),
    ClaimAsk: (ClaimAsk(ASK_ID), "human"),
    ReportUndelivered: (ReportUndelivered(ASK_ID), "human agent operator"),
    WriteStep: (WriteStep(Step("f", 0, "d", "done", b"{}")), "human agent operator"),
    StartRun: (StartRun(RUN_ID, new_frame(), "host:1"), "human agent operator"),
    BeginTurn: (BeginTurn(RUN_ID, 1), "human agent operator"),
    EndTurn: (EndTurn(RUN_ID, 1), "human agent operator"),
    PushFrame: (PushFrame(RUN_ID, 1, new_frame(), 1), "human agent operator"),
    PopFrame: (PopFrame(RUN_ID, 1, 1), "human agent operator"),
    FinishRun: (FinishRun(RUN_ID, 1), "human agent operator"),
    FailRun: (FailRun(RUN_ID, 1, "boom"), "human agent operator"),
    TellOutput: (TellOutput(RUN_ID, 1, b"ok"), "human agent operator"),
    AbortRun: (AbortRun(RUN_ID, "boom"), ""),
    PostMessage: (PostMessage("project:shop", b"{}"), "human agent operator"),
    ExecuteControl: (ExecuteControl("req-1"), "human agent operator observer"),
    Tick: (Tick(), "human agent operator observer"),
    LapseAsk: (LapseAsk(ASK_ID), ""),
    SupersedeAsk: (SupersedeAsk(ASK_ID, AskId("ask_2")), ""),
    TakeResult: (
        TakeResult(AgentResult("coder", Source.EXECUTE, TASK_ID, "failed", QUESTIONS), TOLD, ASK_ID),
        "human agent operator",
    ),
    AddNotification: (
        AddNotification(TOLD, NotificationKind.OPEN_QUESTION, Source.EXECUTE, TASK_ID, QUESTIONS, ASK_ID),
        "human agent operator",
    ),
    ResolveNotification: (ResolveNotification(TOLD, ANSWERS), "human"),
    DismissNotification: (DismissNotification(TOLD), "human"),
    CreateTask: (CreateTask(TASK_ID, "Login"), "human agent operator"),
    UpdateTask: (UpdateTask(TASK_ID, "Login"), "human agent operator"),
    FailTask: (FailTask(TASK_ID), "human agent operator"),
    BlockTask: (BlockTask(TASK_ID, "Later"), "human agent operator"),
    UnblockTask: (UnblockTask(TASK_ID, "Later"), ""),
    SetPolicy: (SetPolicy({Category.SCOPE_CHANGES: Level.AUTOMATED}), "human operator"),
    RequestApproval: (REQUESTED, "human agent operator"),
    RedeemReceipt: (RedeemReceipt(RECEIPT_ID, ACTION), "human agent operator"),
    CreateToken: (creating(), "human operator"),
    RevokeToken: (RevokeToken(TOKEN_ID), "human operator"),
    AddTarget: (AddTarget("hook", Secret("https://example.com/x")), "human"),
    RemoveTarget: (RemoveTarget("hook"), "human"),
    GiveUpMessage: (GiveUpMessage("hook", 1, 1, ASK_ID, What.OPENED, 1, "no"), "operator"),
}
"""Each request, and the roles that may send it. Nobody sends what only the hub itself does."""


def test_table_names_every_request() -> None:
    """A new request must say who may send it; what is no request is sent by nobody."""
    assert REQUESTS.keys() <= RIGHTS.keys()
    assert {roles for kind, roles in RIGHTS.items() if kind not in REQUESTS} == {frozenset()}


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("kind", REQUESTS, ids=[kind.__name__ for kind in REQUESTS])
def test_role_may_send_what_the_table_says(role: Role, kind: type[Request]) -> None:
    """Walks every pair."""
    request, roles = REQUESTS[kind]
    principal = Principal(role, "x")
    if role in roles.split():
        authorise(principal, request)
    else:
        with pytest.raises(ForbiddenError):
            authorise(principal, request)


@pytest.mark.parametrize("name", ["coder", "human:ana", "ana", ""])
@pytest.mark.parametrize(
    "request_",
    [
        AnswerAsk(ASK_ID, "1"),
        DeclineAsk(ASK_ID),
        ClaimAsk(ASK_ID),
        ResolveNotification(TOLD, ANSWERS),
        DismissNotification(TOLD),
    ],
    ids=["answer", "decline", "claim", "resolve", "dismiss"],
)
def test_agent_is_told_that_only_a_person_can_answer(name: str, request_: Request) -> None:
    """Decided rule 8: a machine is never a human, whatever it calls itself."""
    with pytest.raises(ForbiddenError, match="only a person can answer"):
        authorise(Principal(Role.AGENT, name), request_)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("is_left", [True, False])
def test_only_a_person_or_an_operator_may_post_a_command_to_a_run(role: Role, is_left: bool) -> None:
    """An agent that could resume its own run would not be paused."""
    request, principal = PostMessage(CONTROL_TOPIC, request_text(), is_left), Principal(role, "x")
    if role in {Role.HUMAN, Role.OPERATOR}:
        authorise(principal, request)
    else:
        with pytest.raises(ForbiddenError):
            authorise(principal, request)


@pytest.mark.parametrize("role", list(Role))
def test_nobody_ends_a_run_without_its_fence(role: Role) -> None:
    """That is the hub's own, where nobody answered in time."""
    with pytest.raises(ForbiddenError):
        authorise(Principal(role, "x"), AbortRun(RUN_ID, "boom"))


def test_agent_is_told_that_only_a_person_can_steer() -> None:
    """The sentence says who can."""
    with pytest.raises(ForbiddenError, match="agent:x is an agent: only a person can steer a run"):
        authorise(Principal(Role.AGENT, "x"), PostMessage(CONTROL_TOPIC, request_text()))


@pytest.mark.parametrize("role", [Role.AGENT, Role.OPERATOR, Role.OBSERVER])
def test_answer_of_a_machine_leaves_no_trace(store: ThrowawayStore, hub: Hub, role: Role) -> None:
    """The guard stands before the transaction."""
    ask = send(hub, opening())
    before = dump(hub)
    for request in (
        AnswerAsk(ask.ask_id, "2"),
        AnswerAsk(ask.ask_id, values={"q1": ("SQLite",)}, is_unattended=True),
    ):
        with pytest.raises(ForbiddenError):
            hub.handle(request, project=PROJECT, principal=Principal(role, "x"))
    assert dump(hub) == before
    assert store.person().answer(ask.ask_id, "2").answer is not None
