"""The one check: who may send which command. Every door leads through it."""

from __future__ import annotations

from assent.engine.ask import (
    AnswerAsk,
    DeclineAsk,
    LapseAsk,
    OpenAsk,
    ReportUndelivered,
    SupersedeAsk,
    WithdrawAsk,
)
from assent.hub.command import (
    AbortRun,
    AddTarget,
    BeginTurn,
    ClaimAsk,
    CreateToken,
    EndTurn,
    ExecuteControl,
    FailRun,
    FinishRun,
    GiveUpMessage,
    PopFrame,
    PostMessage,
    PushFrame,
    RedeemReceipt,
    RemoveTarget,
    Request,
    RequestApproval,
    RevokeToken,
    StartRun,
    TellOutput,
    Tick,
    WriteStep,
)
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
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Principal, Role
from assent.protocol.topic import CONTROL_TOPIC

__all__ = ["RIGHTS", "authorise"]

_ASKERS = frozenset({Role.AGENT, Role.HUMAN, Role.OPERATOR})

RIGHTS: dict[type[Request], frozenset[Role]] = {
    OpenAsk: _ASKERS,
    AnswerAsk: frozenset({Role.HUMAN}),  # decided rule 8: a machine is never a human
    DeclineAsk: frozenset({Role.HUMAN}),
    WithdrawAsk: _ASKERS,  # an agent only its own: the machine knows the asker
    ClaimAsk: frozenset({Role.HUMAN}),
    ReportUndelivered: _ASKERS,
    WriteStep: _ASKERS,
    StartRun: _ASKERS,
    BeginTurn: _ASKERS,
    EndTurn: _ASKERS,
    PushFrame: _ASKERS,
    PopFrame: _ASKERS,
    FinishRun: _ASKERS,
    FailRun: _ASKERS,
    TellOutput: _ASKERS,
    PostMessage: _ASKERS,  # on loop:control people and operators only: see below
    ExecuteControl: frozenset(Role),  # whoever finds an accepted control may finish it
    Tick: frozenset(Role),
    LapseAsk: frozenset(),  # the hub's own
    AbortRun: frozenset(),  # as above: everybody else ends a run under its fence, or by a control
    SupersedeAsk: frozenset(),  # only ever a reaction
    TakeResult: _ASKERS,
    AddNotification: _ASKERS,
    ResolveNotification: frozenset({Role.HUMAN}),  # it answers the ask behind it
    DismissNotification: frozenset({Role.HUMAN}),
    CreateTask: _ASKERS,
    UpdateTask: _ASKERS,  # what waits for an answer, no agent lets go on: the machine knows who blocked it
    FailTask: _ASKERS,
    BlockTask: _ASKERS,
    UnblockTask: frozenset(),  # only ever a reaction
    SetPolicy: frozenset({Role.HUMAN, Role.OPERATOR}),
    RequestApproval: _ASKERS,  # whether a person is asked, the policy knows
    RedeemReceipt: _ASKERS,  # everybody only their own: the machine knows the asker
    CreateToken: frozenset({Role.HUMAN, Role.OPERATOR}),  # of which roles, the machine knows
    RevokeToken: frozenset({Role.HUMAN, Role.OPERATOR}),
    AddTarget: frozenset({Role.HUMAN}),  # what agents ask leaves the house by it
    RemoveTarget: frozenset({Role.HUMAN}),
    GiveUpMessage: frozenset({Role.OPERATOR}),  # of them only the hub itself: the machine knows it
}


def authorise(principal: Principal, request: Request) -> None:
    """Let `request` pass, or refuse it.

    Raises:
        ForbiddenError: this role may not send it.
    """
    if principal.role is Role.AGENT and isinstance(request, PostMessage) and request.topic == CONTROL_TOPIC:
        # An agent that could resume its own run would not be paused.
        raise ForbiddenError(f"{principal} is an agent: only a person can steer a run.")
    if principal.role in RIGHTS[type(request)]:
        return
    if principal.role is Role.AGENT and isinstance(
        request, AnswerAsk | DeclineAsk | ClaimAsk | ResolveNotification | DismissNotification
    ):
        raise ForbiddenError(f"{principal} is an agent: only a person can answer.")
    raise ForbiddenError(f"{principal} may not do that.")
