"""The port to GitHub: one request, one answer. What the REST API and the `gh` command have in common.

A channel knows how to reach GitHub and who it is there. It knows nothing of reviews, comments or asks, and it never
tries again by itself: whoever asks looks first at what is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import msgspec

from assent.protocol.canonical import Json
from assent.protocol.display import quote
from assent.protocol.error import GitHubError

__all__ = [
    "HEADERS",
    "MAX_ANSWER_BYTES",
    "MAX_PAGES",
    "PAGE",
    "REQUEST_SECONDS",
    "Channel",
    "check_request",
    "pages",
    "parse_answer",
    "read",
    "refusal",
]

HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
REQUEST_SECONDS = 30.0
"""GitHub itself gives up on a request after ten seconds; the rest is for the way."""
MAX_ANSWER_BYTES = 32 << 20
"""A hundred comments at their longest are some 20 MB of JSON in the worst script."""
PAGE = 100
"""The most that GitHub lists at once."""
MAX_PAGES = 40
"""GitHub lists at most 3,000 files of a pull request, and nobody reads 4,000 comments."""

_METHODS = frozenset({"GET", "POST", "PATCH", "DELETE"})
_is_path = re.compile(r"/(?!/)[A-Za-z0-9_.~/%?=&:+,-]*").fullmatch

T = TypeVar("T")


class Channel(Protocol):
    """A way to GitHub."""

    def request(self, method: str, path: str, body: Json = None) -> Json:
        """Return what GitHub answers; nothing where the answer is empty.

        Raises:
            GitHubError: it refused, or could not be reached.
        """
        ...


def check_request(method: str, path: str) -> None:
    """Check that a request goes to a path of GitHub, and nowhere else.

    Raises:
        GitHubError: it does not.
    """
    parts = path.partition("?")[0].split("/")
    if method not in _METHODS or not _is_path(path) or ".." in parts or "." in parts:
        raise GitHubError(f'"{quote(method)} {quote(path)}" is no request that is made here.')


def pages(channel: Channel, path: str) -> Iterator[Json]:
    """Give all that GitHub lists under `path`, one by one.

    Raises:
        GitHubError: there is more than anybody could want to read, or no list.
    """
    joint = "&" if "?" in path else "?"
    for number in range(1, MAX_PAGES + 1):
        listed = channel.request("GET", f"{path}{joint}per_page={PAGE}&page={number}")
        if not isinstance(listed, list):
            raise GitHubError("GitHub's answer is not a list.")
        yield from listed
        if len(listed) < PAGE:
            return
    raise GitHubError(f"GitHub lists more than {MAX_PAGES * PAGE:,} entries there.")


def read(answer: Json, kind: type[T]) -> T:
    """Return an answer of GitHub as a `kind`.

    Raises:
        GitHubError: it has another shape.
    """
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise GitHubError(f"GitHub's answer has another shape than expected: {quote(str(error))}.") from None


def parse_answer(status: int, headers: Mapping[str, str], text: bytes) -> Json:
    """Return what an answer says; `headers` are in lower case.

    Raises:
        GitHubError: it is a refusal, or no JSON.
    """
    is_good = 200 <= status < 300  # noqa: PLR2004 - the statuses that say that it was done
    try:
        answer: Json = msgspec.json.decode(text) if text.strip() else None
    except (msgspec.DecodeError, RecursionError):
        if is_good:
            raise GitHubError("GitHub's answer is no JSON.", status=status) from None
        answer = None
    if not is_good:
        raise refusal(status, headers, answer)
    return answer


_REASONS = {
    401: "GitHub does not know the credentials",
    403: "GitHub does not allow it",
    404: "GitHub has no such thing, or does not show it to these credentials",
    422: "GitHub refused it",
}


def refusal(status: int, headers: Mapping[str, str], answer: Json) -> GitHubError:
    """Return what a refusal says, as one plain sentence."""
    if (wait := _limit(status, headers)) is not None:
        return GitHubError(f"GitHub takes no more requests for now{wait}.", status=status)
    if 300 <= status < 400:  # noqa: PLR2004 - a redirect, which is never followed: the credentials stay here
        return GitHubError(
            "GitHub says that this has moved; perhaps the repository was renamed.", status=status
        )
    reason = _REASONS.get(status, "GitHub did not do it")
    said = _told(answer)
    return GitHubError(f"{reason} ({status}{': ' + quote(said) if said else ''}).", status=status)


def _limit(status: int, headers: Mapping[str, str]) -> str | None:
    """Return when to try again, if the rate limit is why it was refused."""
    if status not in (403, 429):
        return None
    after, reset = headers.get("retry-after", ""), headers.get("x-ratelimit-reset", "")
    if after.isdecimal():
        return f"; try again in {after[:6]} seconds"
    if status == 403 and headers.get("x-ratelimit-remaining") != "0":  # noqa: PLR2004
        return None
    if reset.isdecimal() and len(reset) <= 10:  # noqa: PLR2004 - seconds, until the year 2286
        return f"; try again after {datetime.fromtimestamp(int(reset), UTC):%H:%M} UTC"
    return "; try again in some minutes"


def _told(answer: Json) -> str:
    """Return what GitHub says about a refusal."""
    if not isinstance(answer, dict):
        return ""
    said = [answer.get("message")]
    errors = answer.get("errors")
    listed = errors if isinstance(errors, list) else [errors]
    said += [error.get("message") if isinstance(error, dict) else error for error in listed]
    return "; ".join(text for text in said if isinstance(text, str) and text)
