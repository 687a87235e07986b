"""A round of questions. What does not fit in one round is asked in several of about the same size.

Rule 1: a round has 2 to 4 questions unless the asker sets another most (C16).
Rule 2: rounds are balanced, so that none has a single question where that can be avoided: 5 is 3 and 2 (C-X8).
Rule 3: what was answered is kept. A round that ends without an answer ends the flow, which says how.
"""

from __future__ import annotations

from itertools import pairwise

import msgspec
from msgspec.structs import replace

from assent.flows.kind import FlowKind
from assent.flows.step import Ended, Flow, ask
from assent.protocol.answer import FieldValues
from assent.protocol.catalogue import MOST_IN_A_ROUND
from assent.protocol.error import BadPromptError
from assent.protocol.prompt import Field, Prompt

__all__ = [
    "MOST_IN_A_ROUND",
    "QUESTION_ROUND",
    "Answers",
    "Questions",
    "question_round",
    "split",
    "split_prompt",
]


class Questions(msgspec.Struct, frozen=True):
    """What is to be asked."""

    fields: tuple[Field, ...]
    title: str = ""
    body: str = ""
    most: int = MOST_IN_A_ROUND
    """So many in one round."""


class Answers(msgspec.Struct, frozen=True):
    """What came of it."""

    values: FieldValues
    """Per field name: option keys, or typed text where the field is free."""
    ended: Ended | None = None
    """How the first round without an answer ended; nothing after it was asked."""


def question_round(questions: Questions) -> Flow[Answers]:
    """Ask all questions, in as few rounds as they need."""
    names = [field.name for field in questions.fields]
    if not names or len(set(names)) != len(names):
        raise BadPromptError("A round needs at least one question, and each a name of its own.")
    rounds = split(questions.fields, questions.most)
    values: FieldValues = {}
    for number, fields in enumerate(rounds, start=1):
        came = yield from ask(_prompt(questions, fields, number, len(rounds)))
        if isinstance(came, Ended):
            return Answers(values, came)
        values |= {field.name: came.values[field.name] for field in fields}
    return Answers(values)


def split(fields: tuple[Field, ...], most: int = MOST_IN_A_ROUND) -> list[tuple[Field, ...]]:
    """Return the fields in rounds of at most `most`, as even as can be, the larger ones first.

    >>> [len(part) for part in split(tuple(Field(f"q{n}", free=True) for n in range(9)))]
    [3, 3, 3]
    """
    if most < 1:
        raise BadPromptError("A round has room for at least one question.")
    rounds = -(-len(fields) // most)
    size, larger = divmod(len(fields), rounds)
    ends = [size * number + min(number, larger) for number in range(rounds + 1)]
    return [fields[start:end] for start, end in pairwise(ends)]


def split_prompt(prompt: Prompt, most: int = MOST_IN_A_ROUND) -> list[Prompt]:
    """Return `prompt` in rounds; each says which it is, and counts its questions from Q1 again (C-X8).

    What asks about an action stays whole: it is one decision.
    """
    rounds = split(prompt.fields, most) if prompt.fields else []
    if len(rounds) < 2 or prompt.action is not None:  # noqa: PLR2004 - one round is the prompt itself
        return [prompt]
    return [
        replace(prompt, title=f"{prompt.title} ({number} of {len(rounds)})", fields=fields)
        for number, fields in enumerate(rounds, start=1)
    ]


def _prompt(questions: Questions, fields: tuple[Field, ...], number: int, rounds: int) -> Prompt:
    is_single = len(questions.fields) == 1
    title = questions.title or (fields[0].text if is_single else f"{len(fields)} questions")
    if rounds > 1:
        title = f"{title} ({number} of {rounds})"
    return Prompt(title, questions.body, fields)


QUESTION_ROUND = FlowKind("question_round", 1, question_round, Questions, Answers)
