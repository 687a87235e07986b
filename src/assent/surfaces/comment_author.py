"""Who wrote a comment, and whether they may answer.

Rule 1: a person is a number. A login can be given up and registered again by somebody else, so the number that wrote
        the comment must be the one whom GitHub names when it is asked what that login may do.
Rule 2: only a person, never a bot or an app, also where an app speaks in somebody's name.
Rule 3: what may be done is asked of GitHub now, and not read from the comment.
"""

from __future__ import annotations

import msgspec

from assent.effects.github.channel import Channel, read
from assent.protocol.ending import GITHUB
from assent.protocol.error import GitHubError
from assent.protocol.principal import Principal, parse_principal

__all__ = ["Account", "Author", "Comment", "Standing", "principal_of"]

_MAY_ANSWER = frozenset({"admin", "maintain", "write"})
_NOT_FOUND = 404


class Account(msgspec.Struct):
    """An account, as GitHub tells it."""

    login: str
    id: int = 0
    type: str = ""

    @property
    def is_person(self) -> bool:
        """Whether people sign in with it."""
        return self.type == "User" and not self.login.endswith("[bot]") and self.id > 0


class Comment(msgspec.Struct):
    """A comment, as GitHub tells it."""

    id: int
    created_at: str
    updated_at: str
    body: str | None = None
    user: Account | None = None
    performed_via_github_app: object = None

    @property
    def is_by_person(self) -> bool:
        """Whether a person wrote it, and no app in their name."""
        return self.user is not None and self.user.is_person and self.performed_via_github_app is None

    @property
    def is_edited(self) -> bool:
        """Whether it is no longer as it was first written."""
        return self.created_at != self.updated_at


class Author(msgspec.Struct, frozen=True):
    """Somebody who answers by a comment."""

    login: str
    user_id: int

    @property
    def principal(self) -> Principal:
        """Who they are here."""
        return principal_of(self.login)

    @property
    def via(self) -> str:
        """Where the answer came from, with the number that tells them from whoever has that login later."""
        return f"github:{self.user_id}"


def principal_of(login: str) -> Principal:
    """Return who somebody on GitHub is here: `human:ana@github`, which no account of this machine is called.

    Raises:
        BadRequestError: no account can be called that.
    """
    return parse_principal(f"human:{login}{GITHUB}")


class _Permission(msgspec.Struct):
    permission: str
    user: Account | None = None


class Standing:
    """What people may do in one repository, each looked up once in a look."""

    def __init__(self, channel: Channel, repository: str) -> None:
        self._channel, self._repository = channel, repository
        self._found: dict[tuple[str, int], bool] = {}

    def __len__(self) -> int:
        return len(self._found)

    def knows(self, account: Account) -> bool:
        """Whether this one was looked up before."""
        return (account.login, account.id) in self._found

    def may_write(self, account: Account) -> bool:
        """Whether this very person may write to the repository now.

        Raises:
            GitHubError: GitHub could not be asked.
        """
        key = account.login, account.id
        if key not in self._found:
            self._found[key] = self._ask(account)
        return self._found[key]

    def may_post(self, account: Account | None) -> bool:
        """Whether a gate can be by this account: a bot never answers, and a stranger's copy is no gate.

        Raises:
            GitHubError: GitHub could not be asked.
        """
        return account is not None and (account.type == "Bot" or self.may_write(account))

    def _ask(self, account: Account) -> bool:
        path = f"{self._repository}/collaborators/{account.login}/permission"
        try:
            found = read(self._channel.request("GET", path), _Permission)
        except GitHubError as error:
            if error.status != _NOT_FOUND:
                raise
            return False
        is_same = found.user is not None and found.user.id == account.id
        return is_same and found.permission in _MAY_ANSWER
