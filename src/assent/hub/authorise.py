"""The one check: who may send which command. Every door leads through it."""

from __future__ import annotations

from typing import Any

from assent.engine.ask import AnswerAsk, DeclineAsk
from assent.engine.machine import ASKERS, PEOPLE
from assent.engine.notification import DismissNotification, ResolveNotification
from assent.engine.table import RIGHTS as OF_MACHINES
from assent.hub.command import (
    ClaimAsk,
    ExecuteControl,
    PostMessage,
    Request,
    RequestApproval,
    TellOutput,
    Tick,
    WriteStep,
)
from assent.hub.work_command import TakeResult
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Principal, Role
from assent.protocol.topic import CONTROL_TOPIC

__all__ = ["RIGHTS", "authorise"]

_ANSWERS = AnswerAsk | DeclineAsk | ClaimAsk | ResolveNotification | DismissNotification

RIGHTS: dict[type[Any], frozenset[Role]] = {
    **OF_MACHINES,
    ClaimAsk: PEOPLE,
    WriteStep: ASKERS,
    TellOutput: ASKERS,
    PostMessage: ASKERS,  # on loop:control people and operators only: see below
    ExecuteControl: frozenset(Role),  # whoever finds an accepted control may finish it
    Tick: frozenset(Role),
    TakeResult: ASKERS,
    RequestApproval: ASKERS,  # whether a person is asked, the policy knows
}
"""The machines' commands, and what is no machine's."""


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
    if principal.role is Role.AGENT and isinstance(request, _ANSWERS):
        raise ForbiddenError(f"{principal} is an agent: only a person can answer.")
    raise ForbiddenError(f"{principal} may not do that.")
