"""The question after the report: where to go from here (W-U18). It decides nothing about findings any more."""

from __future__ import annotations

from enum import StrEnum
from typing import cast

import msgspec

from assent.flows.kind import FlowKind
from assent.flows.step import Answered, Flow, ask
from assent.flows.walk_through.menu import DECISION
from assent.protocol.decision import NextStep
from assent.protocol.prompt import Field, Option, Prompt
from assent.protocol.words import count

__all__ = ["NEXT_STEP", "DocumentType", "NextInputs", "ask_next", "next_prompt"]

_ENOUGH_ROUNDS = 2


class DocumentType(StrEnum):
    """What kind of document it is: it says which stage comes next."""

    REQUIREMENTS = "requirements"
    PLAN = "plan"
    OTHER = "other"


_STAGES = {
    DocumentType.REQUIREMENTS: "planning",
    DocumentType.PLAN: "work",
    DocumentType.OTHER: "the next stage",
}


class NextInputs(msgspec.Struct, frozen=True):
    """What the question depends on."""

    has_fixes: bool
    """At least one fix was applied."""
    rounds: int = 1
    document_type: DocumentType = DocumentType.OTHER


def next_prompt(inputs: NextInputs) -> Prompt:
    """Return the question."""
    stage = _STAGES[inputs.document_type]
    applying = "Apply decisions and " if inputs.has_fixes else ""
    labels = {NextStep.GO_ON: f"{applying}proceed to {stage}"}
    if inputs.has_fixes:
        labels[NextStep.REVIEW_AGAIN] = f"{applying}review again"
    labels[NextStep.STOP] = "Stop — end the review here"
    options = tuple(
        Option(step.value, label[0].upper() + label[1:], mark=letter)
        for letter, (step, label) in zip("ABC", labels.items(), strict=False)
    )
    stem = "What should the agent do next?"
    if inputs.rounds >= _ENOUGH_ROUNDS:
        stem += f"\nAfter {count(inputs.rounds, 'round')}, completing the review is suggested."
    return Prompt(stem, fields=(Field(DECISION, options=options),))


def ask_next(inputs: NextInputs) -> Flow[NextStep | None]:
    """Ask; where it ends without an answer, nobody said what comes next."""
    came = yield from ask(next_prompt(inputs))
    return NextStep(came.values[DECISION][0]) if isinstance(came, Answered) else None


NEXT_STEP = FlowKind("next_step", 1, ask_next, NextInputs, cast("type[NextStep | None]", NextStep | None))
