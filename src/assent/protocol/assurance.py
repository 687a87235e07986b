"""Which assurance of an answer suffices for which kind of ask.

Rule 1: an approval takes a person's token, a person at a terminal, or a comment whose author a server looked up. Every other kind takes every assurance, also the
        word of an agent's host and of a process.
Rule 2: a project may list others for a kind; its list then holds alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from assent.protocol.display import quote
from assent.protocol.error import BadRequestError
from assent.protocol.kind import Kind
from assent.protocol.principal import PROVEN, Assurance

__all__ = ["DEFAULT_ASSURANCES", "accepts_more", "parse_assurances", "render_shortfall"]

E = TypeVar("E", Kind, Assurance)
Accepted = Mapping[Kind, tuple[Assurance, ...]]

DEFAULT_ASSURANCES: Accepted = MappingProxyType(
    {kind: tuple(Assurance) for kind in Kind}
    | {Kind.APPROVAL: tuple(each for each in Assurance if each in PROVEN | {Assurance.COMMENT})}
)

_NEEDED = {
    Assurance.DECLARED: "a process's word",
    Assurance.HOST: "a person in an agent's host",
    Assurance.TERMINAL: "a person at a terminal",
    Assurance.TOKEN: "a person's token",
    Assurance.COMMENT: "a person's comment on a pull request",
}
_GIVEN = {
    Assurance.TOKEN: "a token",
    Assurance.TERMINAL: "a terminal",
    Assurance.COMMENT: "a comment",
    Assurance.HOST: "an agent's host",
    Assurance.DECLARED: "a process's word",
}


def render_shortfall(kind: Kind, given: Assurance, accepted: Sequence[Assurance]) -> str:
    """Return why an answer does not count, and what would, in one sentence."""
    needed = " or ".join(needed for each, needed in _NEEDED.items() if each in accepted) or "nobody here"
    thing = kind.replace("_", " ")
    article = "An" if thing[0] in "aeiou" else "A"
    return f"{article} {thing} needs {needed}; {_GIVEN[given]} is not enough."


def parse_assurances(
    value: Mapping[Kind, Sequence[str]] | Mapping[str, Sequence[str]],
) -> dict[Kind, tuple[Assurance, ...]]:
    """Read which assurances suffice for the kinds that `value` names; an empty list means the default.

    Raises:
        BadRequestError: there is no such kind or assurance.
    """
    return {_member(Kind, "kind of ask", kind): _list(given) for kind, given in value.items()}


def accepts_more(before: Accepted, after: Accepted) -> bool:
    """Say whether some kind can be answered with less than before."""
    default = DEFAULT_ASSURANCES
    return any(set(after.get(k, default[k])) - set(before.get(k, default[k])) for k in Kind)


def _list(given: Sequence[str]) -> tuple[Assurance, ...]:
    named = {_member(Assurance, "assurance", each) for each in given}
    return tuple(each for each in Assurance if each in named)


def _member(enum: type[E], noun: str, given: str) -> E:
    try:
        return enum(given)
    except ValueError:
        raise BadRequestError(f'"{quote(str(given), 60)}" is no {noun}: use {", ".join(enum)}.') from None
