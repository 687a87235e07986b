"""A plan: phases with tasks, and the confirms that hold them until somebody says go on (C-U1 to C-U4).

Rule 1: what is read is kept with its place in the file. A status is changed by replacing that one value between its own
        quotes; every other byte stays as it is.
Rule 2: no document type, no entities, nothing outside the file. One pass, with a limit on size, depth and attributes.
Rule 3: reading wants well-formed XML and no more; what a good plan has is the matter of `plan_check`.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple
from xml.parsers import expat

import msgspec

from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, NotFoundError, TooLargeError

__all__ = [
    "MAX_PLAN_BYTES",
    "MAX_PLAN_DEPTH",
    "STATUSES",
    "WHENS",
    "Confirm",
    "ConfirmProtocol",
    "Element",
    "Moment",
    "Owner",
    "Plan",
    "Status",
    "parse_plan",
    "splice_status",
]

MAX_PLAN_BYTES = 4 << 20
MAX_PLAN_DEPTH = 64
_MAX_ATTRIBUTES = 64
_MAX_ELEMENTS = 200_000


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
        return [number for number, each in enumerate(self.elements) if each.parent == element]


class _Refused(Exception):  # noqa: N818 - never leaves this file
    pass


class _Reader:
    """Collects the elements of one file."""

    def __init__(self, text: bytes) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.EntityDeclHandler = self._doctype
        self._parser.ExternalEntityRefHandler = self._doctype
        self._parser.XmlDeclHandler = self._declaration
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self.elements: list[Element] = []
        self._open: list[int] = []
        self._text = text

    def read(self) -> None:
        try:
            self._parser.Parse(self._text, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code) or "it cannot be read"
            raise BadRequestError(f"Line {error.lineno}: this is not well-formed XML ({reason}).") from None
        except _Refused as refused:
            raise BadRequestError(f"Line {self._parser.CurrentLineNumber}: {refused}") from None

    def _doctype(self, *_: object) -> int:
        raise _Refused("a plan has no document type and no entities of its own.")

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:  # noqa: ARG002
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii", "ascii"):
            raise _Refused(f'a plan is written in UTF-8, not in "{quote(encoding)}".')

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_PLAN_DEPTH:
            raise _Refused(f"a plan is nested at most {MAX_PLAN_DEPTH} deep.")
        if len(attributes) > _MAX_ATTRIBUTES or len(self.elements) >= _MAX_ELEMENTS:
            raise _Refused("it has more parts than any plan.")
        parent = self._open[-1] if self._open else -1
        line, start = self._parser.CurrentLineNumber, self._parser.CurrentByteIndex
        self._open.append(len(self.elements))
        self.elements.append(Element(name, attributes, line, start, parent, []))

    def _end(self, _: str) -> None:
        self._open.pop()

    def _data(self, text: str) -> None:
        if self._open:
            self.elements[self._open[-1]].text.append(text)


def parse_plan(text: bytes) -> Plan:
    """Return the plan that a file holds.

    Raises:
        BadRequestError: it is not well-formed, or holds what no plan needs; the sentence names the line.
        TooLargeError: it is too large.
    """
    if len(text) > MAX_PLAN_BYTES:
        raise TooLargeError(f"A plan has at most {MAX_PLAN_BYTES:,} bytes; this one has {len(text):,}.")
    if text.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00")) or b"\x00" in text[:4]:
        raise BadRequestError("Line 1: a plan is written in UTF-8.")
    reader = _Reader(text)
    reader.read()
    elements = tuple(reader.elements)
    return Plan(elements, tuple(_owners(elements)))


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
        BadRequestError: that element has no status to change.
    """
    found = plan.elements[element]
    at = text.index(b"<", found.start) + 1 + len(found.name.encode())
    while attribute := _ATTRIBUTE.match(text, at):
        if attribute["name"] == b"status":
            start, end = attribute.span("value")
            return text[:start] + status.encode() + text[end:]
        at = attribute.end()
    raise BadRequestError(f"Line {found.line}: this {quote(found.name)} has no status.")
