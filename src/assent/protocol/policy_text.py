"""How a policy is told: to agents in their prompt and their task directory, to people in a sentence.

Rule 1: the three texts are fixed, and each category gets its own (Q30, Q-X15).
Rule 2: what an agent is shown only tells it when to ask (Q31): it could write the file itself. What is decided goes by
        the record.
Rule 3: nothing here can be worded from outside, so nobody writes a line of it but us.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from assent.protocol.canonical import Json, check_json, parse_json
from assent.protocol.display import quote, skeleton
from assent.protocol.error import BadRequestError
from assent.protocol.policy import HIL_CONFIG, Category, Level, Policy, merge_policy, parse_levels

__all__ = ["TEXTS", "config_json", "explain", "parse_config", "render_context"]

TEXTS: Mapping[Level, str] = MappingProxyType(
    {
        Level.AUTOMATED: "Full autonomy: proceed without confirmation",
        Level.NOTIFY_AND_PROCEED: "Notify user but proceed",
        Level.REQUIRES_APPROVAL: "Confirm all changes before proceeding",
    }
)
"""Q30: fixed."""

_NAMES = {
    Category.SCOPE_CHANGES: "Scope changes",
    Category.ARCHITECTURE_DECISIONS: "Architecture decisions",
    Category.DEPENDENCY_MODIFICATIONS: "Dependency modifications",
}
_EFFECTS = {
    Level.AUTOMATED: "agents go on and nobody is told, but one that cannot go on may still ask",
    Level.NOTIFY_AND_PROCEED: "people are told, and agents go on without waiting",
    Level.REQUIRES_APPROVAL: "agents wait until a person has approved",
}
_ASKING = (
    (
        Level.REQUIRES_APPROVAL,
        "ask for approval and wait for a person's yes before you go on. Silence is never a yes.",
    ),
    (
        Level.NOTIFY_AND_PROCEED,
        "say what you do and go on at once. It never blocks: do not wait for a reply.",
    ),
    (
        Level.AUTOMATED,
        "go on without asking. An open question is still allowed when you truly cannot proceed.",
    ),
)


def explain(policy: Policy, category: Category) -> str:
    """Return in a sentence what a policy means for a category, for people.

    >>> explain(Policy(), Category.SCOPE_CHANGES)
    'Scope changes (Confirm all changes before proceeding): agents wait until a person has approved.'
    """
    level = policy.level(category)
    return f"{_NAMES[category]} ({TEXTS[level]}): {_EFFECTS[level]}."


def render_context(policy: Policy) -> str:
    """Return the block that tells an agent, in its prompt, when to ask (Q29, Q31, Q-X14, Q-X15)."""
    lines = [f"- {category}: {TEXTS[level]} ({level})" for category, level in policy.levels.items()]
    means = [f"- {level}: {sentence}" for level, sentence in _ASKING]
    return "\n".join(
        [
            f"## Autonomy ({HIL_CONFIG})",
            "",
            *lines,
            "",
            "When to ask:",
            *means,
            "- Open question: when information is missing.",
            "- Approval: when you know what to do, but its category requires approval.",
            "- Test failures and retries: always automated.",
            "",
        ]
    )


def config_json(policy: Policy, extra: Mapping[str, Json] | None = None) -> bytes:
    """Return the `config.json` of a task directory: the policy, and beside it what `extra` holds (Q29).

    >>> automated = Policy(Level.AUTOMATED, Level.AUTOMATED, Level.AUTOMATED)
    >>> parse_config(config_json(automated, {"taskId": "t1"})) == automated
    True

    Raises:
        BadRequestError: `extra` has a key that could be taken for the policy's, or is nothing that JSON can hold.
        TooLargeError: nobody could read it back.
    """
    beside = dict(extra or {})
    check_json(beside)
    for key in beside:
        if skeleton(key) == _HIL_SHAPE:
            raise BadRequestError(f'"{quote(key, 60)}" cannot stand beside {HIL_CONFIG}: it looks the same.')
    text = msgspec.json.format(msgspec.json.encode({HIL_CONFIG: policy, **beside}), indent=2) + b"\n"
    parse_json(text)  # the limits are those of whoever reads it
    return text


def parse_config(text: bytes | str) -> Policy:
    """Read the policy in a `config.json`; what stands beside it is left alone.

    Raises:
        BadRequestError: it is no such file.
    """
    config = parse_json(text)
    if not isinstance(config, Mapping):
        raise BadRequestError(f"A config.json must be an object with {HIL_CONFIG}.")
    return merge_policy(Policy(), parse_levels(config.get(HIL_CONFIG, {})))


_HIL_SHAPE = skeleton(HIL_CONFIG)
