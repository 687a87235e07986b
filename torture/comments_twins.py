"""The planted faults of comments: each takes one of the checks away that stand between a delivery and an answer."""

from __future__ import annotations

from collections.abc import Callable

from assent.surfaces import comment, comment_hook, comment_text
from assent.surfaces.comment_author import Account, Comment, Standing
from assent.surfaces.comment_hook import Hook
from torture.swap import swap

__all__ = ["COMMENT_PLANTS"]


class _Anything(str):
    __slots__ = ()

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


def _any_signature() -> None:
    swap(Hook, "is_signed", lambda *_: True)


def _any_standing() -> None:
    swap(Standing, "may_write", lambda *_: True)


def _any_number() -> None:
    ask = Standing._ask

    def by_name(standing: Standing, account: Account) -> bool:
        found = standing._channel.request(
            "GET", f"{standing._repository}/collaborators/{account.login}/permission"
        )
        assert isinstance(found, dict)
        user = found["user"]
        assert isinstance(user, dict)
        return ask(standing, Account(account.login, int(str(user["id"])), account.type))

    swap(Standing, "_ask", by_name)


def _edits_count() -> None:
    swap(Comment, "is_edited", property(lambda _: False))


def _swaps_count() -> None:
    swap(comment_hook._Weighing, "_is_swapped", lambda *_: False)


def _any_commit() -> None:
    swap(comment, "last_commit", lambda *_: _Anything())


def _quotes_count() -> None:
    swap(comment_text, "_own_lines", lambda body: [line.strip("> ") for line in body.splitlines() if line])


def _old_ones_count() -> None:
    swap(comment_hook._Weighing, "_is_late", lambda *_: False)


def _any_poster() -> None:
    swap(Standing, "may_post", lambda *_: True)


def _bots_count() -> None:
    swap(Account, "is_person", property(lambda _: True))
    swap(Comment, "is_by_person", property(lambda _: True))


COMMENT_PLANTS: dict[str, Callable[[], None]] = {
    "any-signature": _any_signature,
    "any-standing": _any_standing,
    "any-number": _any_number,
    "edits-count": _edits_count,
    "swaps-count": _swaps_count,
    "any-commit": _any_commit,
    "quotes-count": _quotes_count,
    "old-ones-count": _old_ones_count,
    "any-poster": _any_poster,
    "bots-count": _bots_count,
}
