"""The one guard: who may send what, as a table, for every door."""

import pytest

from assent.hub.authorise import RIGHTS, authorise
from assent.hub.command import (
    AnswerAsk,
    ClaimAsk,
    DeclineAsk,
    LapseAsk,
    OpenAsk,
    ReportUndelivered,
    Request,
    SupersedeAsk,
    Tick,
    WithdrawAsk,
    WriteStep,
)
from assent.hub.hub import Hub
from assent.hub.record import Step
from assent.protocol.ask import AskId
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Principal, Role
from assent.testing import ThrowawayStore
from tests.hub.conftest import PROJECT, dump, opening, send

__all__: list[str] = []

ASK_ID = AskId("ask_1")
REQUESTS: dict[type[Request], tuple[Request, str]] = {
    OpenAsk: (opening(), "human agent operator"),
    AnswerAsk: (AnswerAsk(ASK_ID, "1"), "human"),
    DeclineAsk: (DeclineAsk(ASK_ID), "human"),
    WithdrawAsk: (WithdrawAsk(ASK_ID), "human agent operator"),
    ClaimAsk: (ClaimAsk(ASK_ID), "human"),
    ReportUndelivered: (ReportUndelivered(ASK_ID), "human agent operator"),
    WriteStep: (WriteStep(Step("f", 0, "d", "done", b"{}")), "human agent operator"),
    Tick: (Tick(), "human agent operator observer"),
    LapseAsk: (LapseAsk(ASK_ID), ""),
    SupersedeAsk: (SupersedeAsk(ASK_ID, AskId("ask_2")), ""),
}
"""Each request, and the roles that may send it. Nobody sends what only the hub itself does."""


def test_table_names_every_request() -> None:
    """A new request must say who may send it."""
    assert REQUESTS.keys() == RIGHTS.keys()


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
@pytest.mark.parametrize("request_", [AnswerAsk(ASK_ID, "1"), DeclineAsk(ASK_ID), ClaimAsk(ASK_ID)])
def test_agent_is_told_that_only_a_person_can_answer(name: str, request_: Request) -> None:
    """Decided rule 8: a machine is never a human, whatever it calls itself."""
    with pytest.raises(ForbiddenError, match="only a person can answer"):
        authorise(Principal(Role.AGENT, name), request_)


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
