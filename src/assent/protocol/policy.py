"""A policy: how far agents may go without a person, per category of change (`hilConfig`).

Rule 1: there are exactly three categories and three levels, spelled as here; anything else is refused, in one sentence
        and with a code (Q28, Q-X18).
Rule 2: what nobody has set reads as `requires_approval`: when in doubt, ask (Q-X18).

How it is told to people and agents is in `policy_text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from assent.protocol.canonical import parse_json
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError
from assent.protocol.kind import Kind
from assent.protocol.principal import Assurance

__all__ = [
    "ALWAYS_AUTOMATED",
    "HIL_CONFIG",
    "PRESETS",
    "TIGHTEST_FIRST",
    "Category",
    "Level",
    "Policy",
    "Preset",
    "ProjectPolicy",
    "is_looser",
    "loosened",
    "merge_policy",
    "parse_category",
    "parse_level",
    "parse_levels",
    "parse_policy",
    "parse_preset",
    "preset_of",
]

HIL_CONFIG = "hilConfig"
"""The key under which a policy stands wherever there is something beside it."""


class Category(StrEnum):
    """A sort of change that agents make (Q28)."""

    SCOPE_CHANGES = "scopeChanges"
    ARCHITECTURE_DECISIONS = "architectureDecisions"
    DEPENDENCY_MODIFICATIONS = "dependencyModifications"


class Level(StrEnum):
    """How far an agent may go with changes of a category (Q28)."""

    AUTOMATED = "automated"
    """It goes on."""
    NOTIFY_AND_PROCEED = "notify_and_proceed"
    """People are told, and it goes on at once."""
    REQUIRES_APPROVAL = "requires_approval"
    """It waits until a person has approved."""


TIGHTEST_FIRST: tuple[Level, ...] = (Level.REQUIRES_APPROVAL, Level.NOTIFY_AND_PROCEED, Level.AUTOMATED)
"""The levels in order: each leaves a person less to say than the one before."""

ALWAYS_AUTOMATED: frozenset[str] = frozenset({"testFailures", "retries"})
"""What no policy is about: nobody is ever asked whether an agent may mend a failed test or try again, and nobody can
set it otherwise (Q-U13). These are no categories, so they cannot stand in `hilConfig`."""


class Policy(msgspec.Struct, frozen=True, gc=False, rename="camel", forbid_unknown_fields=True):
    """A level for each category. Its JSON form is `hilConfig`, always with all three keys.

    >>> Policy(scope_changes=Level.AUTOMATED).level(Category.ARCHITECTURE_DECISIONS)
    <Level.REQUIRES_APPROVAL: 'requires_approval'>
    """

    scope_changes: Level = Level.REQUIRES_APPROVAL
    """What is built: more, less, or something else than was agreed."""
    architecture_decisions: Level = Level.REQUIRES_APPROVAL
    """How it is built."""
    dependency_modifications: Level = Level.REQUIRES_APPROVAL
    """What it is built on."""

    @property
    def levels(self) -> dict[Category, Level]:
        """All of them, by category."""
        return {
            Category.SCOPE_CHANGES: self.scope_changes,
            Category.ARCHITECTURE_DECISIONS: self.architecture_decisions,
            Category.DEPENDENCY_MODIFICATIONS: self.dependency_modifications,
        }

    def level(self, category: Category) -> Level:
        """Return the level of one category."""
        return self.levels[category]


class ProjectPolicy(msgspec.Struct, frozen=True):
    """The policy of a project as it is now. One that was never set has none, and `Policy()` stands for it."""

    project: str
    policy: Policy
    set_at: datetime
    set_by: str
    command_ids: tuple[str, ...] = ()
    """The commands that changed it last, the latest at the end: what is sent again changes nothing."""
    sequence: int = 0
    """The number of the last event that changed it."""
    assurances: dict[Kind, tuple[Assurance, ...]] = {}
    """Per kind of ask, the assurances that suffice; a kind that is not named has the default."""


# Reading


def parse_policy(text: bytes | str) -> Policy:
    """Read a whole `hilConfig`; a category that it does not name requires approval.

    >>> parse_policy('{"scopeChanges": "automated"}').levels == {
    ...     Category.SCOPE_CHANGES: Level.AUTOMATED,
    ...     Category.ARCHITECTURE_DECISIONS: Level.REQUIRES_APPROVAL,
    ...     Category.DEPENDENCY_MODIFICATIONS: Level.REQUIRES_APPROVAL,
    ... }
    True

    Raises:
        BadRequestError: it is no JSON with one reading, or names what is no category or no level.
    """
    return merge_policy(Policy(), parse_levels(parse_json(text)))


def parse_levels(value: object) -> dict[Category, Level]:
    """Read the levels of the categories that `value`, as JSON gave it, names: a change to some policy.

    Raises:
        BadRequestError: it is no object, or names what is no category or no level.
    """
    if not isinstance(value, Mapping):
        raise BadRequestError(f"{HIL_CONFIG} must be an object; its keys are {_choices(Category, 'and')}.")
    return {parse_category(str(key)): _level_of(str(key), told) for key, told in value.items()}


def parse_category(text: str) -> Category:
    """Read a category by its name, exactly.

    Raises:
        BadRequestError: there is no such category, or it is never asked about.
    """
    if text in ALWAYS_AUTOMATED:
        raise BadRequestError(
            f'"{text}" is no category: test failures and retries are always automated, and cannot be set.'
        )
    if text not in _CATEGORIES:
        raise BadRequestError(f'"{quote(text, 60)}" is no category: use {_choices(Category)}.')
    return _CATEGORIES[text]


def parse_level(text: str) -> Level:
    """Read a level by its name, exactly.

    Raises:
        BadRequestError: there is no such level.
    """
    if text not in _LEVELS:
        raise BadRequestError(f'"{quote(text, 60)}" is no level: use {_choices(Level)}.')
    return _LEVELS[text]


def merge_policy(policy: Policy, levels: Mapping[Category, Level]) -> Policy:
    """Return `policy` with these levels in place of its own; the other categories stay as they are.

    >>> both = {Category.SCOPE_CHANGES: Level.AUTOMATED, Category.ARCHITECTURE_DECISIONS: Level.AUTOMATED}
    >>> preset_of(merge_policy(PRESETS[Preset.MAJOR_ONLY], both))
    <Preset.FULL: 'full'>
    """
    return replace(policy, **{_FIELDS[category]: level for category, level in levels.items()})


def _level_of(key: str, told: object) -> Level:
    if not isinstance(told, str):
        raise BadRequestError(f"{key} must be a text: {_choices(Level)}.")
    if told not in _LEVELS:
        raise BadRequestError(f'"{quote(told, 60)}" is no level for {key}: use {_choices(Level)}.')
    return _LEVELS[told]


def _choices(kind: type[StrEnum], word: str = "or") -> str:
    *most, last = kind
    return f"{', '.join(most)} {word} {last}"


_CATEGORIES = {category.value: category for category in Category}
_LEVELS = {level.value: level for level in Level}
_FIELDS: dict[Category, str] = {
    _CATEGORIES[field.encode_name]: field.name for field in msgspec.structs.fields(Policy)
}


# Comparing


def loosened(before: Policy, after: Policy) -> tuple[Category, ...]:
    """Return the categories in which `after` leaves a person less to say than `before`.

    >>> loosened(PRESETS[Preset.CONFIRM_ALL], PRESETS[Preset.MAJOR_ONLY])
    (<Category.DEPENDENCY_MODIFICATIONS: 'dependencyModifications'>,)
    """
    rank = TIGHTEST_FIRST.index
    return tuple(
        category for category in Category if rank(after.level(category)) > rank(before.level(category))
    )


def is_looser(before: Policy, after: Policy) -> bool:
    """Whether the change loosens anything, however much else it tightens."""
    return bool(loosened(before, after))


class Preset(StrEnum):
    """A whole policy by one word (Q-U14)."""

    CONFIRM_ALL = "confirm_all"
    MAJOR_ONLY = "major_only"
    FULL = "full"


PRESETS: Mapping[Preset, Policy] = MappingProxyType(
    {
        Preset.CONFIRM_ALL: Policy(),
        Preset.MAJOR_ONLY: Policy(dependency_modifications=Level.AUTOMATED),
        Preset.FULL: Policy(Level.AUTOMATED, Level.AUTOMATED, Level.AUTOMATED),
    }
)
"""What each stands for. None of them makes `notify_and_proceed`."""
_PRESETS = {preset.value: preset for preset in Preset}


def parse_preset(text: str) -> Preset:
    """Read a preset by its name, exactly.

    Raises:
        BadRequestError: there is no such preset.
    """
    if text not in _PRESETS:
        raise BadRequestError(f'"{quote(text, 60)}" is no preset: use {_choices(Preset)}.')
    return _PRESETS[text]


def preset_of(policy: Policy) -> Preset:
    """Return the word for a policy; one that no preset makes is called `full`, as the text has it (Q-U14).

    So it is a name to show, and nothing to set again or to decide by: `PRESETS[preset_of(policy)]` may be looser
    than `policy`, and never is tighter.
    """
    return next((preset for preset, made in PRESETS.items() if made == policy), Preset.FULL)
