"""A pull request in memory, with people, bots and strangers, as the REST API tells it: what deliveries are about."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from assent.protocol.canonical import Json
from assent.protocol.error import GitHubError

__all__ = ["HEAD", "NOW", "POSTER", "Forge", "Person"]

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HEAD = "c0ffee" + "0" * 34
POSTER = "robo"
_PATH = re.compile(
    r"/repos/acme/shop/(?:pulls/(?P<pull>\d+)"
    r"|issues/(?P<issue>\d+)/comments(?:\?.*)?"
    r"|issues/comments/(?P<comment>\d+)"
    r"|issues/comments/(?P<reacted>\d+)/reactions"
    r"|collaborators/(?P<login>[^/]+)/permission)"
).fullmatch

Person = dict[str, Any]


class Forge:
    """Fits `effects.github.channel.Channel`; it has one pull request after the other."""

    def __init__(self) -> None:
        self.number = 0
        self.head = HEAD
        self.comments: list[dict[str, Any]] = []
        self.rights: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.at = NOW
        self._last_id = 0

    def begin(self) -> None:
        """Open the next pull request; what was written on the last one is gone."""
        self.number += 1
        self.head = HEAD
        self.comments = []
        self.rights = {POSTER: "write"}

    def account(self, login: str, kind: str = "User") -> Person:
        """Return an account as it is now."""
        number = self.numbers.setdefault(login, 1_000 + len(self.numbers))
        return {"login": login, "id": number, "type": kind}

    def register_again(self, login: str) -> None:
        """Have somebody else take a login."""
        self.numbers[login] = 1_000_000 + len(self.numbers) + self.number

    def write(self, user: Person, body: str, *, app: object = None, age: float = 0.0) -> dict[str, Any]:
        """Have somebody write a comment; `age` is how many seconds ago."""
        self._last_id += 1
        moment = (self.at - timedelta(seconds=age)).strftime("%Y-%m-%dT%H:%M:%SZ")
        comment = {
            "id": self._last_id,
            "body": body,
            "created_at": moment,
            "updated_at": moment,
            "user": user,
            "performed_via_github_app": app,
        }
        self.comments.append(comment)
        return comment

    def edit(self, comment: dict[str, Any], body: str) -> None:
        """Have a comment changed after it was written."""
        moment = (self.at + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
        comment.update(body=body, updated_at=moment)

    def request(self, method: str, path: str, body: Json = None) -> Json:
        """Answer as GitHub does."""
        found = _PATH(path)
        if found is None:
            raise GitHubError(f"No such request: {method} {path}", status=404)
        if found["pull"]:
            return {"head": {"sha": self.head}} if int(found["pull"]) == self.number else self._none()
        if found["issue"]:
            if int(found["issue"]) != self.number:
                return self._none()
            if method == "GET":
                return [dict(comment) for comment in self.comments]
            assert isinstance(body, dict)
            return dict(self.write(self.account(POSTER), str(body["body"])))
        if found["login"]:
            return self._right(found["login"])
        if found["reacted"]:
            return {"id": 1}
        comment = next((each for each in self.comments if each["id"] == int(found["comment"])), None)
        if comment is None:
            return self._none()
        if method == "PATCH":
            assert isinstance(body, dict)
            self.edit(comment, str(body["body"]))
        return dict(comment)

    def _right(self, login: str) -> Json:
        if login not in self.rights:
            return self._none()
        return {"permission": self.rights[login], "user": self.account(login)}

    def _none(self) -> Json:
        raise GitHubError("GitHub has no such thing.", status=404)
