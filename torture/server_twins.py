"""The planted faults of the server: each takes one guard away that those who call it over HTTP lean on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from assent.client.news import News
from assent.engine import receipt as receipt_machine
from assent.engine.receipt import ReceiptRedeemed, RedeemReceipt
from assent.protocol.receipt import Receipt, ReceiptStatus
from assent.protocol.token import Token
from assent.storage.queries import load_queries
from assent.storage.sqlite import store as store_module
from assent.surfaces.http import app
from assent.surfaces.http.bucket import Bucket
from assent.surfaces.http.connection import Connection
from assent.surfaces.http.guard import Guard
from torture.swap import swap

__all__ = ["SERVER_PLANTS"]


def _forget_idempotency_keys() -> None:
    swap(app, "command_id_of", lambda *_: "")


def _resume_from_now() -> None:
    since = News.since

    def from_now(news: News, after: int, limit: int) -> Any:
        # What is at hand is told, and what would have to be read from the store is not.
        found = since(news, after, limit)
        return found if news._kept and news._kept[0].sequence <= after + 1 else found[-1:]

    swap(News, "since", from_now)


def _redeem_again() -> None:
    redeem = receipt_machine._redeem

    def heedless(receipt: Receipt | None, command: RedeemReceipt) -> Any:
        return redeem(receipt and replace(receipt, redeemed_at=None), command)

    receipt_machine._DECISIONS[RedeemReceipt] = heedless
    receipt_machine.TRANSITIONS[ReceiptStatus.REDEEMED] = {ReceiptRedeemed: ReceiptStatus.REDEEMED}

    def loosened(package: str, name: str) -> dict[str, str]:
        found = load_queries(package, name)
        return found | {"redeem_receipt": found["redeem_receipt"].replace(" AND is_redeemed = 0", "")}

    swap(store_module, "load_queries", loosened)


def _any_number_of_tries() -> None:
    swap(Bucket, "take", lambda *_: 0.0)


def _any_number_of_silent() -> None:
    swap(Connection, "most_silent", 1_000_000)
    swap(Connection, "head_seconds", 1_000_000.0)


def _tokens_for_ever() -> None:
    swap(Token, "is_live", lambda *_: True)


def _any_reach() -> None:
    swap(app, "check_reach", lambda *_: None)


def _any_host() -> None:
    swap(Guard, "_check_host", lambda *_: None)


def _any_origin() -> None:
    swap(Guard, "_check_origin", lambda *_: None)


SERVER_PLANTS: dict[str, Callable[[], None]] = {
    "forget-idempotency-keys": _forget_idempotency_keys,
    "resume-from-now": _resume_from_now,
    "redeem-again": _redeem_again,
    "any-number-of-tries": _any_number_of_tries,
    "any-number-of-silent": _any_number_of_silent,
    "tokens-for-ever": _tokens_for_ever,
    "any-reach": _any_reach,
    "any-host": _any_host,
    "any-origin": _any_origin,
}
