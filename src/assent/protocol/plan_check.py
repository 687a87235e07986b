"""What a good plan has, and what is wrong with this one (C-U1 to C-U6, C-X12).

Rule 1: an error is what would lead work astray: a part that is missing, a value that means nothing, an id that names
        two things or none, a state that contradicts what stands below it. Whoever reads DONE goes on, so a task that
        is DONE over an open subtask is an error, and so is a completed plan with an open task.
Rule 2: a warning is what is odd and still has one reading.
Rule 3: a value that is there and empty counts as missing, and is reported as missing.
Rule 4: everything that is wrong is told at once, in the order of the file.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime

import msgspec

from assent.protocol.display import quote, skeleton
from assent.protocol.plan import STATUSES, ConfirmProtocol, Element, Moment, Plan, Status

__all__ = ["COMMIT_MODES", "METADATA", "PLAN_STATUSES", "PRIORITIES", "Problem", "check_plan"]

METADATA = ("track_id", "track_name", "goal", "created_at", "updated_at", "status", "commit_mode")
"""The fields that every plan's metadata has."""
PLAN_STATUSES = ("new", "in_progress", "completed", "cancelled")
COMMIT_MODES = ("auto", "manual")
PRIORITIES = ("P0", "P1", "P2")

_ENUMS: dict[str, tuple[str, ...]] = {"status": PLAN_STATUSES, "commit_mode": COMMIT_MODES}
_OPTIONAL_ENUMS: dict[str, tuple[str, ...]] = {
    "type": ("feature", "bug", "chore", "refactor"),
    "execution_mode": ("sequential", "wave"),
}
_TIMES = ("created_at", "updated_at")
_IDS = {
    "phase": (re.compile(r"P[0-9]+"), "P1"),
    "task": (re.compile(r"T[0-9]+\.[0-9]+"), "T1.1"),
    "subtask": (re.compile(r"T[0-9]+\.[0-9]+\.[0-9]+"), "T1.1.1"),
}
_HOMES = {"phase": ("phases", "plan"), "task": ("tasks", "phase"), "subtask": ("subtasks", "task")}
"""The element that each kind stands in, and what that one stands in."""
_CONFIRM_ENUMS: dict[str, tuple[str, ...]] = {
    "protocol": tuple(ConfirmProtocol),
    "when": (*Moment, "both"),
    "status": tuple(Status),
}
_ENDED = (Status.DONE, Status.CANCELLED)


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong with a plan, or odd."""

    line: int
    message: str
    is_error: bool = True


def check_plan(plan: Plan) -> tuple[Problem, ...]:
    """Return all that is wrong with a plan, in the order of the file."""
    return tuple(sorted(_Check(plan).problems(), key=lambda problem: problem.line))


def _error(line: int, message: str) -> Problem:
    return Problem(line, message)


def _warning(line: int, message: str) -> Problem:
    return Problem(line, message, is_error=False)


def _listed(values: Collection[str]) -> str:
    return ", ".join(values)


def _name(element: Element) -> str:
    told = element.attributes.get("id", "").strip()
    return f'{element.name} "{quote(told)}"' if told else f"this {element.name}"


class _Check:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._elements = plan.elements
        self._below: dict[int, list[int]] = {}
        for number, element in enumerate(plan.elements):
            self._below.setdefault(element.parent, []).append(number)
        self._kinds = {element.attributes.get("id", ""): element.name for element in plan.elements}

    def problems(self) -> Iterator[Problem]:
        root = self._elements[0]
        if root.name != "plan":
            yield _error(root.line, f"the root of a plan is <plan>, not <{quote(root.name)}>.")
        yield from self._metadata()
        yield from self._sections()
        yield from self._ids()
        for number, element in enumerate(self._elements):
            if element.name in _IDS:
                yield from self._part(number, element)
            elif element.name == "confirm" and self._parent_name(element) not in ("phase", "task"):
                yield _error(element.line, "a confirm stands directly in a phase or a task.")
            elif element.name != "confirm" and _is_meant_as_confirm(element):
                yield _error(element.line, f"<{quote(element.name)}> is no <confirm>: nobody would be asked.")
            if element.name in ("phase", "task"):
                yield from _confirms([self._elements[each] for each in self._children(number, "confirm")])

    # Looking around

    def _parent_name(self, element: Element) -> str:
        return self._elements[element.parent].name if element.parent >= 0 else ""

    def _children(self, number: int, name: str) -> list[int]:
        return [child for child in self._below.get(number, ()) if self._elements[child].name == name]

    def _parts(self, number: int, group: str, name: str) -> list[int]:
        """Return the tasks of a phase or the subtasks of a task, in their group or without one."""
        homes = [number, *self._children(number, group)]
        return [part for home in homes for part in self._children(home, name)]

    def _text(self, number: int) -> str:
        return "".join(self._elements[number].text).strip()

    # The whole

    def _metadata(self) -> Iterator[Problem]:
        found = self._children(0, "metadata")
        if not found:
            yield _error(self._elements[0].line, "the plan has no metadata.")
            return
        for number in found[1:]:
            yield _error(self._elements[number].line, "the plan has more than one metadata.")
        line = self._elements[found[0]].line
        for name in METADATA:
            fields = self._children(found[0], name)
            told = [(field, self._text(field)) for field in fields]
            if not told or not told[0][1]:
                yield _error(
                    self._elements[fields[0]].line if fields else line, f"the metadata has no {name}."
                )
                continue
            for field, _ in told[1:]:
                yield _error(self._elements[field].line, f"the metadata has more than one {name}.")
            yield from self._field(name, *told[0])
        for name, values in _OPTIONAL_ENUMS.items():
            for field in self._children(found[0], name):
                if self._text(field) not in values:
                    yield _warning(self._elements[field].line, _illegal(name, self._text(field), values))

    def _field(self, name: str, field: int, value: str) -> Iterator[Problem]:
        line = self._elements[field].line
        if name in _ENUMS and value not in _ENUMS[name]:
            yield _error(line, _illegal(name, value, _ENUMS[name]))
        if name in _TIMES and not _is_time(value):
            yield _error(line, f'{name} is no ISO 8601 time: "{quote(value)}".')
        if (name, value) == ("status", "completed"):
            for _, task in self._named("task"):
                status = task.attributes.get("status", "")
                if status in STATUSES and status not in _ENDED:
                    yield _error(line, f"the plan is completed, but {_name(task)} is {status}.")

    def _named(self, name: str) -> list[tuple[int, Element]]:
        return [(number, element) for number, element in enumerate(self._elements) if element.name == name]

    def _sections(self) -> Iterator[Problem]:
        line = self._elements[0].line
        if not self._named("phase"):
            yield _error(line, "the plan has no phase.")
        if not self._named("task"):
            yield _error(line, "the plan has no task.")

    def _ids(self) -> Iterator[Problem]:
        seen: dict[str, int] = {}
        for element in self._elements:
            told = element.attributes.get("id", "")
            if not told:
                continue
            if told in seen:
                yield _error(element.line, f'the id "{quote(told)}" is taken, by line {seen[told]}.')
            seen.setdefault(told, element.line)

    # Phases, tasks and subtasks

    def _part(self, number: int, element: Element) -> Iterator[Problem]:
        yield from self._place(element)
        yield from _attributes(element)
        if element.name == "phase" and "status" in element.attributes:
            yield _warning(element.line, "a phase has no status of its own: it follows from its tasks.")
        if element.name == "task":
            yield from self._dependencies(number, element)
            yield from self._subtasks(number, element)

    def _place(self, element: Element) -> Iterator[Problem]:
        group, home = _HOMES[element.name]
        if element.parent < 0:
            return  # it is the root, and that was told already
        parent = self._elements[element.parent]
        if parent.name == group and self._is(parent.parent, home):
            return
        if self._is(element.parent, home):
            yield _warning(element.line, f"{_name(element)} stands outside <{group}>.")
        else:
            place = f"<{group}> of a {home}" if home != "plan" else f"<{group}>"
            yield _error(element.line, f"{_name(element)} does not stand in {place}.")

    def _is(self, number: int, home: str) -> bool:
        # The root stands for the plan, whatever its name is: that is one error and not one for each phase.
        return number == 0 if home == "plan" else number >= 0 and self._elements[number].name == home

    def _dependencies(self, number: int, task: Element) -> Iterator[Problem]:
        for group in self._children(number, "dependencies"):
            line = self._elements[group].line
            texts = ["".join(self._elements[each].text) for each in (group, *self._below.get(group, ()))]
            for told in dict.fromkeys(filter(None, map(str.strip, ",".join(texts).split(",")))):
                if told == task.attributes.get("id"):
                    yield _warning(line, f"{_name(task)} depends on itself.")
                elif told not in self._kinds:
                    yield _error(line, f'{_name(task)} depends on "{quote(told)}", which is not there.')
                elif self._kinds[told] != "task":
                    yield _warning(
                        line,
                        f'{_name(task)} depends on "{quote(told)}", a {quote(self._kinds[told])} and no task.',
                    )

    def _subtasks(self, number: int, task: Element) -> Iterator[Problem]:
        status = task.attributes.get("status", "")
        for part in self._parts(number, "subtasks", "subtask"):
            subtask = self._elements[part]
            told = subtask.attributes.get("status", "")
            if told not in STATUSES:
                continue
            if status == Status.DONE and told not in _ENDED:
                yield _error(subtask.line, f"{_name(task)} is DONE, but {_name(subtask)} is {told}.")
            if status == Status.CANCELLED and told == Status.IN_PROGRESS:
                yield _warning(subtask.line, f"{_name(task)} is CANCELLED, but {_name(subtask)} is {told}.")
            if status == Status.TODO and told in (Status.IN_PROGRESS, Status.DONE):
                yield _warning(subtask.line, f"{_name(task)} is TODO, but {_name(subtask)} is {told}.")


def _attributes(element: Element) -> Iterator[Problem]:
    told = {name: value.strip() for name, value in element.attributes.items()}
    needed = {
        "phase": ("id", "name"),
        "task": ("id", "name", "status", "priority"),
        "subtask": ("id", "name", "status"),
    }[element.name]
    for name in needed:
        if not told.get(name):
            # Only phases and tasks are demanded whole (C-U6).
            is_error = element.name != "subtask"
            yield Problem(element.line, f"{_name(element)} has no {name}.", is_error)
    for name, values in (("status", tuple(Status)), ("priority", PRIORITIES)):
        value = element.attributes.get(name, "")
        if name in needed and value.strip() and value not in values:
            yield _error(element.line, f"{_name(element)}: {_illegal(name, value, values)}")
    pattern, example = _IDS[element.name]
    if told.get("id") and not pattern.fullmatch(element.attributes["id"]):
        yield _warning(element.line, f"{_name(element)}: an id of a {element.name} looks like {example}.")


def _is_meant_as_confirm(element: Element) -> bool:
    """Whether somebody who reads it would take an element for a confirm: by its look, or by a confirm's protocol."""
    local = element.name.rpartition(":")[2]
    protocol = element.attributes.get("protocol", "").strip().casefold()
    return skeleton(local) == skeleton("confirm") or protocol in list(ConfirmProtocol)


def _confirms(confirms: list[Element]) -> Iterator[Problem]:
    """Yield what is wrong with the confirms of one owner."""
    seen: set[tuple[str, Moment]] = set()
    for confirm in confirms:
        told = confirm.attributes
        for name, values in _CONFIRM_ENUMS.items():
            value = told.get(name, "")
            if not value.strip():
                yield _error(confirm.line, f"this confirm has no {name}.")
            elif value not in values:
                yield _error(confirm.line, f"this confirm's {_illegal(name, value, values)}")
        protocol, when = told.get("protocol", ""), told.get("when", "")
        if protocol == ConfirmProtocol.AI and not told.get("ai-agent", "").strip():
            yield _error(confirm.line, "this confirm has no ai-agent.")
        if protocol == ConfirmProtocol.HUMAN and "ai-agent" in told:
            yield _warning(confirm.line, "this confirm is a person's: its ai-agent means nothing.")
        moments = {(protocol, moment) for moment in Moment if when in (moment, "both")}
        if seen & moments:
            yield _warning(confirm.line, f"there is another {quote(protocol)} for the same moment above.")
        seen |= moments


def _illegal(name: str, value: str, values: Collection[str]) -> str:
    return f'{name} "{quote(value)}" is none of {_listed(values)}.'


def _is_time(value: str) -> bool:
    day, separator, hour = value.partition("T")
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    # Python takes any sign between day and hour.
    return bool(separator and hour) or len(day) <= len("2026-W01-1")
