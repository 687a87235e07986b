"""A plan as people look at it: phases, their tasks and subtasks, where each stands, and which confirms are to come.

Rule 1: a phase's status follows from its tasks (C-U2); it is not read from the file.
Rule 2: nothing is left out: a task outside any phase has a place of its own at the end.
Rule 3: a value that means nothing is shown as it is. What is wrong with a plan is told by `plan_check`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from assent.protocol.plan import STATUSES, WHENS, Element, Moment, Plan, Status

__all__ = [
    "PendingConfirm",
    "PhaseNode",
    "PlanTree",
    "SubtaskNode",
    "TaskNode",
    "build_tree",
    "derive_status",
]

_ENDED = (Status.DONE, Status.CANCELLED)


class PendingConfirm(msgspec.Struct, frozen=True):
    """A confirm that will still be asked, as far as the file can tell."""

    protocol: str
    when: str
    status: str
    moments: tuple[Moment, ...]
    """The halves that are to come."""
    line: int
    ai_agent: str = ""


class SubtaskNode(msgspec.Struct, frozen=True):
    """A subtask."""

    subtask_id: str
    name: str
    status: str
    line: int


class TaskNode(msgspec.Struct, frozen=True):
    """A task with what stands in it."""

    task_id: str
    name: str
    status: str
    priority: str
    blocker: str
    line: int
    confirms: tuple[PendingConfirm, ...] = ()
    subtasks: tuple[SubtaskNode, ...] = ()


class PhaseNode(msgspec.Struct, frozen=True):
    """A phase with its tasks."""

    phase_id: str
    name: str
    status: str
    line: int
    confirms: tuple[PendingConfirm, ...] = ()
    tasks: tuple[TaskNode, ...] = ()


class PlanTree(msgspec.Struct, frozen=True):
    """A whole plan."""

    track_id: str
    track_name: str
    status: str
    phases: tuple[PhaseNode, ...] = ()
    tasks: tuple[TaskNode, ...] = ()
    """Those that stand in no phase."""

    def all_tasks(self) -> list[TaskNode]:
        """Return every task, in the order of the file."""
        return [*(task for phase in self.phases for task in phase.tasks), *self.tasks]

    def pending(self) -> list[PendingConfirm]:
        """Return every confirm that is to come."""
        of_phases = [confirm for phase in self.phases for confirm in phase.confirms]
        return [*of_phases, *(confirm for task in self.all_tasks() for confirm in task.confirms)]


def derive_status(statuses: Iterable[str]) -> Status:
    """Return where a phase stands by its tasks. What is blocked is told first: somebody has to do something.

    >>> derive_status(["DONE", "TODO"]), derive_status(["DONE", "CANCELLED"])
    (<Status.IN_PROGRESS: 'IN_PROGRESS'>, <Status.DONE: 'DONE'>)
    """
    found = set(statuses)
    if Status.BLOCKED in found:
        return Status.BLOCKED
    if found and found <= set(_ENDED):
        return Status.DONE if Status.DONE in found else Status.CANCELLED
    return Status.IN_PROGRESS if found & {Status.IN_PROGRESS, Status.DONE} else Status.TODO


def build_tree(plan: Plan) -> PlanTree:
    """Return a plan as a tree."""
    subtasks: dict[int, list[SubtaskNode]] = {}
    tasks: dict[int, list[TaskNode]] = {}
    phases: list[PhaseNode] = []
    confirms: dict[int, list[Element]] = {}
    homes = _homes(plan)
    # From the end to the begin, so that what stands in an element is there before the element itself; each list is
    # turned round where it is used.
    for number in range(len(plan.elements) - 1, -1, -1):
        element = plan.elements[number]
        told = element.attributes
        match element.name:
            case "confirm":
                confirms.setdefault(element.parent, []).append(element)
            case "subtask":
                node = SubtaskNode(
                    told.get("id", ""), told.get("name", ""), told.get("status", ""), element.line
                )
                subtasks.setdefault(homes[number].get("task", -1), []).append(node)
            case "task":
                task = _task(element, confirms.get(number, []), subtasks.get(number, []))
                tasks.setdefault(homes[number].get("phase", -1), []).append(task)
            case "phase":
                phases.append(_phase(element, confirms.get(number, []), tasks.get(number, [])))
    metadata = _metadata(plan)
    return PlanTree(
        metadata.get("track_id", ""),
        metadata.get("track_name", ""),
        metadata.get("status", ""),
        tuple(reversed(phases)),
        tuple(reversed(tasks.get(-1, []))),
    )


def _homes(plan: Plan) -> list[dict[str, int]]:
    """Return for each element the nearest phase and the nearest task that it stands in."""
    homes: list[dict[str, int]] = []
    for element in plan.elements:
        if element.parent < 0:
            homes.append({})
            continue
        parent = plan.elements[element.parent]
        above = homes[element.parent]
        homes.append({**above, parent.name: element.parent} if parent.name in ("phase", "task") else above)
    return homes


def _metadata(plan: Plan) -> dict[str, str]:
    found = [number for number in plan.children(0) if plan.elements[number].name == "metadata"]
    fields = [plan.elements[number] for number in (plan.children(found[0]) if found else ())]
    return {field.name: "".join(field.text).strip() for field in reversed(fields)}


def _task(element: Element, confirms: list[Element], subtasks: list[SubtaskNode]) -> TaskNode:
    told = element.attributes
    status = told.get("status", "")
    return TaskNode(
        told.get("id", ""),
        told.get("name", ""),
        status,
        told.get("priority", ""),
        told.get("blocker", ""),
        element.line,
        _pending(confirms, status),
        tuple(reversed(subtasks)),
    )


def _phase(element: Element, confirms: list[Element], tasks: list[TaskNode]) -> PhaseNode:
    status = derive_status(task.status for task in tasks)
    told = element.attributes
    return PhaseNode(
        told.get("id", ""),
        told.get("name", ""),
        status,
        element.line,
        _pending(confirms, status),
        tuple(reversed(tasks)),
    )


def _pending(confirms: list[Element], owner_status: str) -> tuple[PendingConfirm, ...]:
    found = []
    for confirm in reversed(confirms):
        told = confirm.attributes
        when, status = told.get("when", ""), told.get("status", "")
        moments = _moments(when, status, is_ended=owner_status in _ENDED)
        if moments or status not in STATUSES or when not in WHENS:
            found.append(
                PendingConfirm(
                    told.get("protocol", ""), when, status, moments, confirm.line, told.get("ai-agent", "")
                )
            )
    return tuple(found)


def _moments(when: str, status: str, *, is_ended: bool) -> tuple[Moment, ...]:
    """Return the halves that are to come (C-X4). Of a `both` over finished work the store knows more than the file."""
    if status == Status.CANCELLED:
        return ()
    if when == "both":
        if status == Status.DONE:
            return () if is_ended else (Moment.AFTER,)
        return (Moment.AFTER,) if is_ended else (Moment.BEFORE, Moment.AFTER)
    return () if status == Status.DONE else tuple(moment for moment in Moment if moment == when)
