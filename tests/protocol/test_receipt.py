"""A receipt: its public JSON, and what is said of it."""

import json
from datetime import timedelta

import pytest

from assent.protocol.error import BadRequestError
from assent.protocol.receipt import (
    BY_POLICY,
    ReceiptLevel,
    ReceiptStatus,
    parse_receipt,
    render_expiry,
    render_granting,
    render_receipt,
    render_redeeming,
)
from assent.protocol.terms import MAX_LIFE_SECONDS, check_life
from tests.receipt_samples import ACTION, HOUR, RECEIPT_ID, new_receipt
from tests.samples import AGENT, NOON

__all__: list[str] = []

REDEEMED = new_receipt(redeemed_at=NOON + HOUR / 2, redeemed_by=str(AGENT), command_id="cmd_1", sequence=7)


def test_receipt_read_from_its_json_is_the_receipt() -> None:
    """One form, for people, programs and the store."""
    assert parse_receipt(render_receipt(REDEEMED)) == REDEEMED
    shown = json.loads(render_receipt(new_receipt()))
    assert shown["receipt_id"] == RECEIPT_ID
    assert shown["action"] == ACTION
    assert (shown["level"], shown["by"], shown["assurance"]) == ("approved", "human:ana", "terminal")
    assert (shown["redeemed_at"], shown["redeemed_by"], shown["category"]) == (None, None, None)


def test_status_follows_from_what_happened() -> None:
    """There is nothing else to set."""
    assert (new_receipt().status, REDEEMED.status) == (ReceiptStatus.GRANTED, ReceiptStatus.REDEEMED)


def test_receipt_is_told_in_one_sentence() -> None:
    """Who let it happen, until when, and who has used it."""
    assert render_granting(new_receipt()) == (
        f"ana approved it; {RECEIPT_ID} can be redeemed once, until 2030-01-01 13:00:00 UTC."
    )
    assert render_granting(REDEEMED) == f"ana approved it; {RECEIPT_ID} is spent on it."
    for level, words in (
        (ReceiptLevel.NOTIFIED, "people were told"),
        (ReceiptLevel.AUTOMATED, "nobody was asked"),
    ):
        told = render_granting(new_receipt(by=BY_POLICY, level=level))
        assert told.startswith("The policy lets it happen")
        assert words in told
    assert render_redeeming(new_receipt()) == "Nobody has redeemed it yet."
    assert render_redeeming(REDEEMED) == "agent:coder redeemed it at 2030-01-01 12:30:00 UTC."
    assert render_expiry(new_receipt()).endswith("expired at 2030-01-01 13:00:00 UTC; ask again.")


@pytest.mark.parametrize(
    "life",
    [
        timedelta(0),
        timedelta(seconds=-1),
        timedelta(milliseconds=1_500),
        timedelta(seconds=MAX_LIFE_SECONDS + 1),
        timedelta.max,
    ],
    ids=["none", "negative", "part of a second", "too long", "for ever"],
)
def test_life_outside_its_limits_is_refused(life: timedelta) -> None:
    """An approval is for what is about to happen."""
    with pytest.raises(BadRequestError, match="whole seconds"):
        check_life(life)
    assert check_life(timedelta(seconds=MAX_LIFE_SECONDS)) == MAX_LIFE_SECONDS
