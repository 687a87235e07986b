"""What a flow yields, and what it receives for it.

    flow yields         and receives
    Ask(prompt)         Answered, or Ended: how it ended without an answer; never an empty text
    Say(markdown)       Said
    an Effect           Done, or Failed: why it cannot be said to be done

A step is known again by the digest of its canonical JSON. A field that is left at its default is not spelled, so a
new field with a default does not change the digest of old steps.

In a flow, `yield from ask(prompt)` keeps the type of what comes back; a bare `yield` gives any `Result`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

import msgspec

from assent.protocol.answer import FieldValues
from assent.protocol.ask import Kind, State
from assent.protocol.canonical import Json, canonical, digest
from assent.protocol.prompt import Prompt

__all__ = [
    "Answered",
    "Ask",
    "Done",
    "Effect",
    "Ended",
    "Failed",
    "Flow",
    "Result",
    "Said",
    "Say",
    "Step",
    "ask",
    "do",
    "say",
    "step_digest",
]

R = TypeVar("R")


# Steps


class Ask(msgspec.Struct, frozen=True, omit_defaults=True, tag="ask"):
    """Ask a person, and wait. Where it is stored, it becomes a `protocol.ask.Ask`."""

    prompt: Prompt
    kind: Kind = Kind.QUESTION
    about: str = ""
    """A digest of what an answer sets going and the prompt does not show whole: it holds for that alone."""
    name: str = ""
    """What it goes by in its flow, once; where it is stored, its key ends with it instead of with its step's number."""
    is_aside: bool = False
    """Stored without a journal: it is none of the numbered asks, and is known by what it is about alone."""


class Say(msgspec.Struct, frozen=True, omit_defaults=True, tag="say"):
    """Tell the person something."""

    markdown: str


class Effect(msgspec.Struct, frozen=True, omit_defaults=True, tag=True):
    """Something to be done to the world. Each kind is a class of its own, and names all that it needs.

    A flow only names it; somebody in `effects` performs it.
    """


Step = Ask | Say | Effect


# Results


class Answered(msgspec.Struct, frozen=True, tag="answered"):
    """A person answered, and every field has its value."""

    values: FieldValues
    """Per field name: option keys, or typed text where the field is free."""
    text: str = ""
    """The reply as it was typed; empty when the values came ready-made."""
    by: str = ""
    """The principal, `human:ana`; empty where a talk in memory was not told."""


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The ask ended without an answer: declined, withdrawn, expired or superseded."""

    state: State
    reason: str = ""
    by: str = ""


class Said(msgspec.Struct, frozen=True, tag="said"):
    """It was said."""


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The world is as the effect wanted it."""

    result: Json = None
    """What was found, where the effect was to look something up."""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The effect cannot be said to be done: it was refused, it did not work, or somebody else was at work there.

    A flow looks again before it tries again.
    """

    code: str
    message: str
    """One plain sentence."""


Result = Answered | Ended | Said | Done | Failed

Flow: TypeAlias = Generator[Step, Result, R]
"""A conversation that returns an R."""


def step_digest(step: Step) -> str:
    """Return the digest by which a step is known again."""
    return digest(canonical(step))


# Yielding with the type of what comes back


def ask(
    prompt: Prompt,
    kind: Kind = Kind.QUESTION,
    about: str = "",
    *,
    name: str = "",
    is_aside: bool = False,
) -> Flow[Answered | Ended]:
    """Ask, and return how it ended."""
    result = yield Ask(prompt, kind, about, name, is_aside)
    if not isinstance(result, Answered | Ended):
        raise _mismatch("ask", result)
    return result


def say(markdown: str) -> Flow[None]:
    """Tell the person something."""
    result = yield Say(markdown)
    if not isinstance(result, Said):
        raise _mismatch("say", result)


def do(effect: Effect) -> Flow[Done | Failed]:
    """Have an effect done, and return what came of it."""
    result = yield effect
    if not isinstance(result, Done | Failed):
        raise _mismatch(type(effect).__name__, result)
    return result


def _mismatch(yielded: str, result: object) -> TypeError:
    return TypeError(f"A driver answered {yielded} with {type(result).__name__}.")
