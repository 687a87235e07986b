"""A plan's tree on a terminal: a line for each phase, task and subtask, and one for each confirm that is to come.

What the plan's author wrote is cut to the width of the terminal and made safe; colour only repeats what a word says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assent.protocol.display import display
from assent.protocol.plan import ConfirmProtocol, Status
from assent.protocol.plan_tree import PendingConfirm, PhaseNode, PlanTree, SubtaskNode, TaskNode
from assent.surfaces.ink import Ink
from assent.surfaces.width import columns, cut

__all__ = ["render_plan"]

_NAMELESS = "(no name)"


def render_plan(tree: PlanTree, ink: Ink, width: int) -> list[str]:
    """Return the lines of a plan."""
    return _Drawing(ink, width).lines(tree)


class _Drawing:
    def __init__(self, ink: Ink, width: int) -> None:
        self._ink = ink
        self._width = width
        self._paints: dict[str, Callable[[str], str]] = {
            Status.DONE: ink.good,
            Status.IN_PROGRESS: ink.caution,
            Status.BLOCKED: ink.danger,
            Status.CANCELLED: ink.faint,
            Status.TODO: str,
        }

    def lines(self, tree: PlanTree) -> list[str]:
        head = self._line("", _label(tree.track_id, tree.track_name), tree.status, is_strong=True)
        found = [head]
        parts: list[PhaseNode | TaskNode] = [*tree.phases, *tree.tasks]
        return [*found, *self._below("", parts)]

    def _below(
        self, indent: str, parts: Sequence[PhaseNode | TaskNode | SubtaskNode | PendingConfirm]
    ) -> list[str]:
        lines = []
        for number, part in enumerate(parts):
            is_last = number == len(parts) - 1
            branch, deeper = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            lines.append(self._part(indent + branch, part))
            lines += self._below(indent + deeper, _parts_of(part))
        return lines

    def _part(self, indent: str, part: PhaseNode | TaskNode | SubtaskNode | PendingConfirm) -> str:
        match part:
            case PhaseNode():
                return self._line(indent, _label(part.phase_id, part.name), part.status, is_strong=True)
            case TaskNode():
                label = _label(part.task_id, part.name)
                if part.status == Status.BLOCKED and part.blocker:
                    label += f": {display(part.blocker, lines=False)}"
                return self._line(indent, label, part.status)
            case SubtaskNode():
                return self._line(indent, _label(part.subtask_id, part.name), part.status)
            case PendingConfirm():
                # Of a `both` the file holds one status for two halves (C-X4): the other one is still to come.
                is_half = part.status == Status.DONE
                return self._line(indent, _confirm(part), "before DONE" if is_half else part.status)

    def _line(self, indent: str, label: str, status: str, *, is_strong: bool = False) -> str:
        shown = cut(display(status, lines=False), max(1, self._width // 3)) if status else "(no status)"
        room = max(1, self._width - columns(indent) - columns(shown) - 2)
        label = cut(label, room)
        paint = self._paints.get(status, str)
        return f"{self._ink.faint(indent)}{self._ink.strong(label) if is_strong else label}  {paint(shown)}"


def _parts_of(
    part: PhaseNode | TaskNode | SubtaskNode | PendingConfirm,
) -> list[TaskNode | SubtaskNode | PendingConfirm]:
    """Return what stands below a line: the confirms first, for they hold what follows."""
    match part:
        case PhaseNode():
            return [*part.confirms, *part.tasks]
        case TaskNode():
            return [*part.confirms, *part.subtasks]
        case _:
            return []


def _label(part_id: str, name: str) -> str:
    told = " ".join(filter(None, [display(part_id.strip(), lines=False), display(name.strip(), lines=False)]))
    return told or _NAMELESS


def _confirm(confirm: PendingConfirm) -> str:
    moments = " and ".join(confirm.moments) or display(confirm.when, lines=False) or "(no moment)"
    if confirm.protocol == ConfirmProtocol.HUMAN:
        who = "a person"
    elif confirm.protocol == ConfirmProtocol.AI:
        who = f"reviewer {display(confirm.ai_agent, lines=False) or _NAMELESS}"
    else:
        who = display(confirm.protocol, lines=False) or "(no protocol)"
    return f"confirm {moments}: {who}"
