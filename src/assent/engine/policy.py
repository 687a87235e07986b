"""A policy is what people last said about how far agents may go.

Rule 1: whatever changes a policy, and whoever may, is in this file. It has no states, so there is no table: any policy
        may follow any other.
Rule 2: agents and observers never set a policy, not even a tighter one, nor to what it already is: an agent that could
        would choose who is asked about its own work (decided rule 8). Nor does a timer (decided rule 6).
Rule 3: people and operators may tighten on their word. What loosens in any category needs more: a terminal, a token,
        or a person's explicit consent that nobody is there, which the log then shows.
Rule 4: what changes nothing is no event. A command that is sent again does not undo what came after it.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from assent.engine.machine import Machine
from assent.engine.stamp import NOBODY, UNSTAMPED, Stamp
from assent.protocol.assurance import accepts_more, parse_assurances
from assent.protocol.error import BadRequestError, ForbiddenError
from assent.protocol.kind import Kind
from assent.protocol.policy import (
    ALWAYS_AUTOMATED,
    Category,
    Level,
    Policy,
    ProjectPolicy,
    is_looser,
    merge_policy,
    parse_category,
    parse_levels,
)
from assent.protocol.principal import PROVEN, Assurance, Role

__all__ = ["MACHINE", "REMEMBERED", "SETTERS", "PolicySet", "SetPolicy", "decide", "evaluate", "evolve"]


# Events


class PolicySet(msgspec.Struct, frozen=True, tag="policy.set"):
    """The policy is another one now."""

    before: Policy
    """As it was read then: of a project without one, all categories require approval."""
    after: Policy
    at: datetime
    by: str
    assurance: Assurance
    is_unattended: bool = False
    command_id: str = ""
    assurances: dict[Kind, tuple[Assurance, ...]] = {}
    """Per kind of ask, the assurances that suffice from now on; a kind that is not named has the default."""


# Commands


class SetPolicy(msgspec.Struct, frozen=True):
    """Set the levels of the categories that are named: of one, or of all."""

    levels: dict[Category, Level] = {}
    """What is not named stays as it is when the command is done, not as its sender saw it."""
    assurance: Assurance = Assurance.DECLARED
    is_unattended: bool = False
    """A person let a process loosen it where no terminal is; the log says so."""
    assurances: dict[Kind, tuple[Assurance, ...]] = {}
    """Per kind of ask, the assurances that suffice; an empty list takes back what the project said."""
    stamp: Stamp = UNSTAMPED


# The machine

SETTERS = frozenset({Role.HUMAN, Role.OPERATOR})
"""Who may set a policy at all."""
REMEMBERED = 32
"""So many commands back, a retry is known as one: a lost connection, and not a day."""


def evaluate(policy: Policy | None, category: str) -> Level:
    """Return how far an agent may go with a change of this category; None is the policy of a project without one.

    >>> evaluate(None, "scopeChanges"), evaluate(None, "retries")
    (<Level.REQUIRES_APPROVAL: 'requires_approval'>, <Level.AUTOMATED: 'automated'>)

    Raises:
        BadRequestError: there is no such category.
    """
    if category in ALWAYS_AUTOMATED:  # Q-U13
        return Level.AUTOMATED
    return (policy or Policy()).level(parse_category(category))


def decide(current: ProjectPolicy | None, command: SetPolicy) -> tuple[PolicySet, ...]:
    """Return what `command` does to the policy; nothing when it is so already, or was done before.

    Raises:
        ForbiddenError: this principal may not set it, or not loosen it in this way.
        BadRequestError: it names no category, or something that is none, or no level.
    """
    stamp = command.stamp
    _check_setter(stamp)
    # Read again, although it is typed: a door may hand on what it was given, and a wrong level is stored for ever.
    levels = parse_levels(command.levels)
    named = parse_assurances(command.assurances)
    if not levels and not named:
        raise BadRequestError("Say which category is to have which level.")
    if current is not None and stamp.command_id in current.command_ids:
        return ()  # a retry: its reply is the policy as it is
    before = current.policy if current is not None else Policy()
    after = merge_policy(before, levels)
    accepted = current.assurances if current is not None else {}
    accepts = {kind: given for kind, given in {**accepted, **named}.items() if given}
    if after == before and accepts == accepted and current is not None:
        return ()  # said for the first time, it is worth keeping who said so and when
    loosens = is_looser(before, after) or accepts_more(accepted, accepts)
    if loosens and command.assurance not in PROVEN and not command.is_unattended:
        raise ForbiddenError(
            "Loosening a policy needs a person at a terminal or a person's token; a process's word is not enough."
        )
    return (
        PolicySet(
            before,
            after,
            stamp.at,
            str(stamp.by),
            command.assurance,
            command.is_unattended,
            stamp.command_id,
            accepts,
        ),
    )


def evolve(
    current: ProjectPolicy | None, event: PolicySet, *, project: str = "", sequence: int = 0
) -> ProjectPolicy:
    """Return the project's policy as it is after `event`, the project's event number `sequence`."""
    known = current.command_ids if current is not None else ()
    if event.command_id:
        known = (*known, event.command_id)[-REMEMBERED:]
    name = current.project if current is not None else project
    return ProjectPolicy(name, event.after, event.at, event.by, known, sequence, event.assurances)


def _check_setter(stamp: Stamp) -> None:
    if stamp.by.role == Role.AGENT:
        raise ForbiddenError(f"{stamp.by} is an agent: only a person can set a policy.")
    if stamp.by.role not in SETTERS or stamp.by == NOBODY:
        raise ForbiddenError(f"{stamp.by} may not set a policy.")


MACHINE = Machine(
    "policy",
    {
        SetPolicy: SETTERS,
    },
    (PolicySet,),
    decide,
    evolve,
    key=lambda _: "policy",  # a project has one
)
