"""A plan: phases with tasks, and the confirms that hold them until somebody says go on (C-U1 to C-U4).

Rule 1: what is read is kept with its place in the file. A status is changed by replacing that one value between its own
        quotes; every other byte stays as it is.
Rule 2: no document type, no entities, nothing outside the file. One pass, with limits of our own on size, depth, parts and
        the length of one tag: which version of the parser is installed decides nothing.
Rule 3: reading wants well-formed XML and no more; what a good plan has is the matter of `plan_check`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple
from xml.parsers import expat

import msgspec

from assent.protocol.canonical import digest
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, NotFoundError, TooLargeError

__all__ = [
    "MAX_PLAN_BYTES",
    "MAX_PLAN_DEPTH",
    "MAX_PLAN_ELEMENTS",
    "STATUSES",
    "WHENS",
    "Confirm",
    "ConfirmProtocol",
    "Element",
    "Moment",
    "Owner",
    "Plan",
    "Status",
    "Unreadable",
    "name_confirms",
    "name_halves",
    "parse_plan",
    "read_plan",
    "splice_status",
]

MAX_PLAN_BYTES = 1 << 20
MAX_PLAN_DEPTH = 64
MAX_PLAN_ELEMENTS = 10_000
"""A plan of a thousand tasks with all that belongs to them; more would not be read within 100 ms."""
_MAX_ATTRIBUTES = 64
_MAX_TAG_BYTES = 128 << 10
"""Of one tag, comment or instruction. The parser collects the attributes of a tag before it shows us any."""
_MAX_AGENT = 40
_PIECE = 16 << 10
"""So many bytes are parsed at a time: the parser ends a piece before it lets us refuse what stood in it."""


class Status(StrEnum):
    """Where a task, a subtask or a confirm stands (C25)."""

    TODO = "TODO"
    IN_PROGRESS = "IN_PROGRESS"
    DONE = "DONE"
    BLOCKED = "BLOCKED"
    CANCELLED = "CANCELLED"


STATUSES = frozenset(Status)


class Moment(StrEnum):
    """Which half of a confirm is meant."""

    BEFORE = "before"
    AFTER = "after"


WHENS = frozenset({*Moment, "both"})


class ConfirmProtocol(StrEnum):
    """Who confirms (C1)."""

    HUMAN = "yield-human-confirm"
    AI = "yield-ai-confirm"


class Element(NamedTuple):
    """One element as it stands in the file."""

    name: str
    attributes: dict[str, str]
    line: int
    start: int
    """Where its tag begins, in bytes."""
    parent: int
    """The number of the element that it stands in; -1 for the root."""
    text: list[str]


class Confirm(msgspec.Struct, frozen=True):
    """A `<confirm>` of an owner; what it lacks is empty."""

    element: int
    """Its number among the elements."""
    line: int
    protocol: str
    when: str
    status: str
    ai_agent: str = ""

    def is_of(self, moment: Moment) -> bool:
        """Whether it is asked at that moment."""
        return self.when in (moment, "both")


class Owner(msgspec.Struct, frozen=True):
    """A phase or a task."""

    kind: str
    """`phase` or `task`."""
    owner_id: str
    name: str
    line: int
    element: int
    status: str = ""
    """A task's; a phase has none of its own."""
    confirms: tuple[Confirm, ...] = ()
    """Its direct children, in the order of the file."""


def name_confirms(owner: Owner, moment: Moment) -> dict[str, Confirm]:
    """Return the confirms of a moment in the order of the file, by name: so each is known again in another version of it.

    A name says who confirms, and which of several alike it is: `1.human`, `2.human`, `1.ai.critic`. What is given to
    somebody else, or to the other moment, goes by another name.
    """
    named: dict[str, Confirm] = {}
    for each in owner.confirms:
        if each.is_of(moment):
            who = "human" if each.protocol == ConfirmProtocol.HUMAN else f"ai.{_short(each.ai_agent)}"
            number = 1
            while f"{number}.{who}" in named:
                number += 1
            named[f"{number}.{who}"] = each
    return named


def name_halves(owner: Owner, confirm: Confirm) -> dict[Moment, str]:
    """Return the names that a confirm of an owner goes by: of a `both` there are two."""
    return {
        moment: name
        for moment in Moment
        for name, each in name_confirms(owner, moment).items()
        if each.element == confirm.element
    }


def _short(name: str) -> str:
    return name if len(name) <= _MAX_AGENT else f"{name[: _MAX_AGENT // 2]}~{digest(name.encode())[-16:]}"


class Plan(msgspec.Struct, frozen=True):
    """A plan as it was read."""

    elements: tuple[Element, ...]
    owners: tuple[Owner, ...]

    def owner(self, owner_id: str) -> Owner:
        """Return the phase or task with an id.

        Raises:
            NotFoundError: there is none, or more than one.
        """
        found = [owner for owner in self.owners if owner.owner_id == owner_id]
        if not found:
            raise NotFoundError(f'The plan has no phase or task "{quote(owner_id)}".')
        if len(found) > 1:
            lines = ", ".join(str(owner.line) for owner in found)
            raise NotFoundError(f'The plan has several "{quote(owner_id)}", on lines {lines}.')
        return found[0]

    def children(self, element: int) -> list[int]:
        """Return the numbers of the elements that stand directly in one."""
        found = []
        for number in range(element + 1, len(self.elements)):
            parent = self.elements[number].parent
            if parent < element:
                break  # what stands in an element follows it without a gap
            if parent == element:
                found.append(number)
        return found


class Unreadable(NamedTuple):
    """Why a file is no plan."""

    line: int
    reason: str


class _Refused(Exception):  # noqa: N818 - never leaves this file
    pass


class _Reader:
    """Collects the elements of one file."""

    def __init__(self, text: bytes) -> None:
        # A named encoding: none is looked up by the name that a file tells, which would load a codec from disk.
        self._parser = expat.ParserCreate("UTF-8")
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._doctype
        self._parser.ExternalEntityRefHandler = self._doctype
        self._parser.XmlDeclHandler = self._declaration
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self.elements: list[Element] = []
        self._open: list[int] = []
        self._text = text

    def read(self) -> Unreadable | None:
        """Read it all; return what is wrong with it."""
        try:
            for at in range(0, len(self._text), _PIECE):
                piece = self._text[at : at + _PIECE]
                self._parser.Parse(piece, False)
                # The index is where that begins whose end the parser has not seen yet.
                if at + len(piece) - self._parser.CurrentByteIndex > _MAX_TAG_BYTES:
                    line = self._parser.CurrentLineNumber
                    return Unreadable(
                        line, f"a tag or comment of a plan has at most {_MAX_TAG_BYTES:,} bytes."
                    )
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code) or "it cannot be read"
            return Unreadable(error.lineno, f"this is not well-formed XML ({reason}).")
        except _Refused as refused:
            return Unreadable(self._parser.CurrentLineNumber, str(refused))
        return None

    def _doctype(self, *_: object) -> int:
        raise _Refused(_NO_DOCTYPE)

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:  # noqa: ARG002
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii", "ascii"):
            raise _Refused(f'a plan is written in UTF-8, not in "{quote(encoding)}".')

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_PLAN_DEPTH:
            raise _Refused(f"a plan is nested at most {MAX_PLAN_DEPTH} deep.")
        if len(attributes) > _MAX_ATTRIBUTES:
            raise _Refused(f"an element of a plan has at most {_MAX_ATTRIBUTES} attributes.")
        if len(self.elements) >= MAX_PLAN_ELEMENTS:
            raise _Refused(f"a plan has at most {MAX_PLAN_ELEMENTS:,} elements.")
        parent = self._open[-1] if self._open else -1
        line, start = self._parser.CurrentLineNumber, self._parser.CurrentByteIndex
        self._open.append(len(self.elements))
        self.elements.append(Element(name, attributes, line, start, parent, []))

    def _end(self, _: str) -> None:
        self._open.pop()

    def _characters(self, text: str) -> None:
        if self._open:
            self.elements[self._open[-1]].text.append(text)


_NO_DOCTYPE = "a plan has no document type and no entities of its own."
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?>[ \t\r\n]++|<!--.*?-->|<\?.*?\?>)*+", re.DOTALL)
"""All that may stand before the document type or the root."""


def _refuse_early(text: bytes) -> Unreadable | None:
    """Return what can be seen without a parser. What an entity would do is not found out by trying."""
    if len(text) > MAX_PLAN_BYTES:
        return Unreadable(1, f"a plan has at most {MAX_PLAN_BYTES:,} bytes.")
    if text.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in text:
        return Unreadable(1, "a plan is written in UTF-8.")
    prolog = _PROLOG.match(text)
    if prolog is not None and text.startswith(b"<!", prolog.end()):
        # A comment without an end begins like this too; either way nothing of a plan can follow.
        if text.startswith(b"<!--", prolog.end()):
            return Unreadable(_line(text, prolog.end()), "this comment has no end.")
        return Unreadable(_line(text, prolog.end()), _NO_DOCTYPE)
    return None


def _line(text: bytes, at: int) -> int:
    return text.count(b"\n", 0, at) + 1


def read_plan(text: bytes) -> Plan | Unreadable:
    """Return the plan that a file holds, or where and why it cannot be read."""
    reader = _Reader(text)
    fault = _refuse_early(text) or reader.read()
    if fault is not None:
        return fault
    elements = tuple(reader.elements)
    return Plan(elements, tuple(_owners(elements)))


def parse_plan(text: bytes) -> Plan:
    """Return the plan that a file holds.

    Raises:
        BadRequestError: it is not well-formed, or holds what no plan needs; the sentence names the line.
        TooLargeError: it is too large.
    """
    plan = read_plan(text)
    if isinstance(plan, Plan):
        return plan
    if len(text) > MAX_PLAN_BYTES:
        raise TooLargeError(f"A plan has at most {MAX_PLAN_BYTES:,} bytes; this one has {len(text):,}.")
    raise BadRequestError(f"Line {plan.line}: {plan.reason}")


def _owners(elements: tuple[Element, ...]) -> list[Owner]:
    confirms: dict[int, list[Confirm]] = {}
    for number, element in enumerate(elements):
        if element.name == "confirm":
            told = element.attributes
            confirms.setdefault(element.parent, []).append(
                Confirm(
                    number,
                    element.line,
                    told.get("protocol", ""),
                    told.get("when", ""),
                    told.get("status", ""),
                    told.get("ai-agent", ""),
                )
            )
    return [
        Owner(
            element.name,
            element.attributes["id"],
            element.attributes.get("name", ""),
            element.line,
            number,
            element.attributes.get("status", ""),
            tuple(confirms.get(number, ())),
        )
        for number, element in enumerate(elements)
        if element.name in ("phase", "task") and "id" in element.attributes
    ]


_ATTRIBUTE = re.compile(
    rb"""\s+(?P<name>[^\s=/>"']+)\s*=\s*(?P<quote>["'])(?P<value>.*?)(?P=quote)""", re.DOTALL
)


def splice_status(text: bytes, plan: Plan, element: int, status: Status) -> bytes:
    """Return the file with the status of one element changed, and nothing else.

    Raises:
        BadRequestError: that element has no status to change, or the plan is not the one that this text holds.
    """
    found = plan.elements[element]
    tag = b"<" + found.name.encode()
    if not text.startswith(tag, found.start):
        raise BadRequestError(f"Line {found.line}: the plan is not what it was when it was read.")
    at = found.start + len(tag)
    while attribute := _ATTRIBUTE.match(text, at):
        if attribute["name"] == b"status":
            start, end = attribute.span("value")
            return text[:start] + status.encode() + text[end:]
        at = attribute.end()
    raise BadRequestError(f"Line {found.line}: this {quote(found.name)} has no status.")
