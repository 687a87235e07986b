"""The receipt machine: once, for exactly that action, by that asker, in time (S5, S6)."""

import copy
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.receipt import TRANSITIONS, ReceiptGranted, ReceiptRedeemed, RedeemReceipt, decide, evolve
from assent.engine.stamp import Stamp
from assent.protocol.canonical import canonical
from assent.protocol.difference import find_differences
from assent.protocol.error import (
    ApprovalDiffersError,
    BadRequestError,
    CommandReusedError,
    ConflictError,
    Expired,
    ForbiddenError,
    NotFoundError,
)
from assent.protocol.principal import Principal, Role
from assent.protocol.receipt import Receipt, ReceiptStatus
from assent.protocol.terms import Terms
from tests.protocol.strategies import json_values, modest
from tests.receipt_samples import ACTION, HOUR, RECEIPT_ID, granting, new_receipt
from tests.samples import AGENT, ANA, NOON

__all__: list[str] = []

OTHER = Principal(Role.AGENT, "other")


def redeeming(
    action: Any = ACTION, by: Principal = AGENT, after: timedelta = HOUR / 2, command_id: str = "c"
) -> RedeemReceipt:
    """Return the asker's own redemption in time, but for what is said."""
    return RedeemReceipt(RECEIPT_ID, action, Stamp(NOON + after, by, command_id))


def redeemed() -> Receipt:
    """Return the receipt after its one use."""
    (event,) = decide(new_receipt(), redeeming())
    return evolve(new_receipt(), event, project="p", sequence=2)


def test_granted_receipt_is_what_was_approved() -> None:
    """With the digests of the action and of all that was shown, and a time by the store's clock."""
    (event,) = decide(None, granting())
    assert evolve(None, event, project="p") == new_receipt()


def test_grant_that_comes_again_changes_nothing() -> None:
    """And one under the same id for anything else is refused."""
    assert decide(new_receipt(), granting()) == ()
    changes: list[dict[str, Any]] = [{"action": {}}, {"digest": "x"}, {"asker": "agent:o"}, {"ask_id": None}]
    for change in changes:
        with pytest.raises(CommandReusedError):
            decide(new_receipt(), granting(**change))
    with pytest.raises(BadRequestError, match="whole seconds"):
        decide(None, granting(terms=Terms(RECEIPT_ID, 0)))


def test_receipt_is_redeemed_once() -> None:
    """The second use is told when and by whom the first was; a retry of the first gets its reply."""
    used = redeemed()
    assert (used.redeemed_at, used.redeemed_by) == (NOON + HOUR / 2, "agent:coder")
    with pytest.raises(ConflictError, match=r"agent:coder redeemed it at 2030-01-01 12:30:00 UTC"):
        decide(used, redeeming(command_id="d"))
    assert decide(used, redeeming()) == ()
    with pytest.raises(CommandReusedError):
        decide(used, redeeming({**ACTION, "rows": 13}))
    with pytest.raises(ConflictError):
        decide(replace(used, command_id=""), redeeming(command_id=""))


@pytest.mark.parametrize(
    "by", [OTHER, ANA, Principal(Role.OPERATOR, "ops"), Principal(Role.HUMAN, "coder")], ids=str
)
def test_receipt_is_redeemed_by_its_asker_and_nobody_else(by: Principal) -> None:
    """Not by the person who approved, either: the yes was for that agent."""
    with pytest.raises(ForbiddenError, match="only agent:coder"):
        decide(new_receipt(), redeeming(by=by))
    with pytest.raises(ForbiddenError):
        decide(redeemed(), redeeming(by=by))


def test_receipt_is_redeemed_before_its_time_is_over() -> None:
    """To the microsecond, by the moment that the store gave the command."""
    assert decide(new_receipt(), redeeming(after=HOUR - timedelta(microseconds=1)))
    with pytest.raises(Expired, match="expired at 2030-01-01 13:00:00 UTC"):
        decide(new_receipt(), redeeming(after=HOUR))


def test_receipt_that_is_not_there_is_not_found() -> None:
    """Whoever looks for it."""
    with pytest.raises(NotFoundError):
        decide(None, redeeming())


def test_another_action_is_refused_with_what_differs() -> None:
    """And the receipt is as good as before for the right one."""
    other = copy.deepcopy(ACTION) | {"rows": 13}
    with pytest.raises(ApprovalDiffersError, match=r"\$\.rows was approved as 12, and is 13 now") as refused:
        decide(new_receipt(), redeeming(other))
    assert [difference.path for difference in refused.value.differences] == ["$.rows"]
    assert decide(new_receipt(), redeeming())


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every part of a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for key, part in inner for found in places(part, (*way, key)))]


def changed(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """Return a copy in which the part at `way` is `new`."""
    if not way:
        return new
    copied = copy.copy(value)
    copied[way[0]] = changed(value[way[0]], way[1:], new)
    return copied


@given(json_values, json_values, st.data())
@modest
def test_any_mutation_of_an_action_is_refused_and_named(action: Any, new: Any, choice: st.DataObject) -> None:
    """Whatever part is put in place of whichever: either the canonical bytes are the same, or it is another action."""
    way = choice.draw(st.sampled_from(places(action)))
    presented = changed(action, way, new)
    (granted,) = decide(None, granting(action=action))
    receipt = evolve(None, granted, project="p")
    if canonical(presented) == canonical(action):
        assert decide(receipt, redeeming(presented))
        return
    with pytest.raises(ApprovalDiffersError) as refused:
        decide(receipt, redeeming(presented))
    assert refused.value.differences == find_differences(action, presented)[:3]
    assert refused.value.differences[0].path in refused.value.message


@pytest.mark.parametrize("status", [None, *ReceiptStatus])
@pytest.mark.parametrize("kind", [ReceiptGranted, ReceiptRedeemed])
def test_every_pair_of_status_and_event_is_in_the_table_or_refused(
    status: ReceiptStatus | None, kind: type[ReceiptGranted | ReceiptRedeemed]
) -> None:
    """The table is the whole truth."""
    before = {None: None, ReceiptStatus.GRANTED: new_receipt(), ReceiptStatus.REDEEMED: redeemed()}[status]
    events = {event for row in TRANSITIONS.values() for event in row}
    assert events == {ReceiptGranted, ReceiptRedeemed}
    (granted,) = decide(None, granting())
    event = granted if kind is ReceiptGranted else ReceiptRedeemed(RECEIPT_ID, NOON, str(AGENT))
    after = TRANSITIONS[status].get(kind)
    if after is None:
        with pytest.raises(KeyError):
            evolve(before, event)
    else:
        assert evolve(before, event).status is after
