"""How a policy is told: the fixed texts, the block in a prompt, the file in a task directory, the sentence."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.error import BadJsonError, BadRequestError, TooLargeError
from assent.protocol.policy import Category, Level, Policy, merge_policy
from assent.protocol.policy_text import TEXTS, config_json, explain, parse_config, render_context
from tests.proves import proves

__all__: list[str] = []

POLICIES = [Policy(*levels) for levels in itertools.product(Level, repeat=3)]
MIXED = Policy(Level.REQUIRES_APPROVAL, Level.NOTIFY_AND_PROCEED, Level.AUTOMATED)
BLOCK = """\
## Autonomy (hilConfig)

- scopeChanges: Confirm all changes before proceeding (requires_approval)
- architectureDecisions: Notify user but proceed (notify_and_proceed)
- dependencyModifications: Full autonomy: proceed without confirmation (automated)

When to ask:
- requires_approval: ask for approval and wait for a person's yes before you go on. Silence is never a yes.
- notify_and_proceed: say what you do and go on at once. It never blocks: do not wait for a reply.
- automated: go on without asking. An open question is still allowed when you truly cannot proceed.
- Open question: when information is missing.
- Approval: when you know what to do, but its category requires approval.
- Test failures and retries: always automated.
"""
EXPECTED = {
    "automated": "Full autonomy: proceed without confirmation",
    "notify_and_proceed": "Notify user but proceed",
    "requires_approval": "Confirm all changes before proceeding",
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


# The texts


@proves("Q30")
def test_each_level_has_the_text_of_the_protocol() -> None:
    """Q30, letter for letter, and nothing beside it."""
    assert {level.value: text for level, text in TEXTS.items()} == EXPECTED


@proves("Q30")
@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("level", Level)
def test_every_place_that_tells_a_level_tells_it_by_its_text(category: Category, level: Level) -> None:
    """All pairs, to agents and to people."""
    policy = merge_policy(MIXED, {category: level})
    line = f"- {category}: {EXPECTED[level]} ({level})"
    assert render_context(policy).splitlines().count(line) == 1
    sentence = explain(policy, category)
    assert EXPECTED[level] in sentence
    assert not any(text in sentence for other, text in EXPECTED.items() if other != level)


# The block


def test_block_has_a_line_for_each_category_and_says_when_to_ask() -> None:
    """Q-X14, Q-X15: the whole of it."""
    assert render_context(MIXED) == BLOCK


@pytest.mark.parametrize("policy", POLICIES, ids=range(len(POLICIES)))
def test_block_differs_from_policy_to_policy_in_its_three_lines_only(policy: Policy) -> None:
    """An agent learns what each level means, also of those that no category has now."""
    block, fixed = render_context(policy).splitlines(), BLOCK.splitlines()
    assert block[:2] + block[5:] == fixed[:2] + fixed[5:]
    assert [line.split(":")[0].removeprefix("- ") for line in block[2:5]] == list(Category)
    assert len({render_context(other) for other in POLICIES}) == len(POLICIES)


# The sentence


def test_sentence_says_what_happens_and_is_one() -> None:
    """For `requires_approval` that agents wait, and for no other level."""
    told = {category: explain(MIXED, category) for category in Category}
    assert told == {
        "scopeChanges": "Scope changes (Confirm all changes before proceeding): "
        "agents wait until a person has approved.",
        "architectureDecisions": "Architecture decisions (Notify user but proceed): "
        "people are told, and agents go on without waiting.",
        "dependencyModifications": "Dependency modifications (Full autonomy: proceed without confirmation): "
        "agents go on and nobody is told, but one that cannot go on may still ask.",
    }


# The file


def test_file_holds_the_policy_first_and_the_rest_beside_it() -> None:
    """Q29: as an agent finds it in its task directory, to be read by people, too."""
    text = config_json(MIXED, {"taskId": "t1", "limits": {"minutes": 5}})
    assert text.decode() == (
        "{\n"
        '  "hilConfig": {\n'
        '    "scopeChanges": "requires_approval",\n'
        '    "architectureDecisions": "notify_and_proceed",\n'
        '    "dependencyModifications": "automated"\n'
        "  },\n"
        '  "taskId": "t1",\n'
        '  "limits": {\n'
        '    "minutes": 5\n'
        "  }\n"
        "}\n"
    )
    assert json.loads(config_json(Policy())) == {"hilConfig": dict.fromkeys(Category, "requires_approval")}


@given(st.sampled_from(POLICIES), st.dictionaries(st.text(), json_values, max_size=4))
def test_file_read_again_gives_the_policy_and_loses_nothing(policy: Policy, extra: dict[str, Any]) -> None:
    """Whatever stands beside it."""
    text = config_json(policy, extra)
    assert parse_config(text) == parse_config(text.decode()) == policy
    read = json.loads(text)
    assert {key: value for key, value in read.items() if key != "hilConfig"} == extra


@pytest.mark.parametrize(
    "key",
    ["hilConfig", "hilconfig", "HILCONFIG", "hilConfig ", "hil\u200bConfig", "hilСonfig"],
    ids=["same", "lower", "upper", "blank", "hidden", "cyrillic"],
)
def test_second_policy_beside_the_policy_is_refused(key: str) -> None:
    """What is handed in may come from an agent, and must not look like a person's word."""
    with pytest.raises(BadRequestError, match="cannot stand beside hilConfig") as caught:
        config_json(Policy(), {key: {"scopeChanges": "automated"}})
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    "extra",
    [{"x": float("nan")}, {"x": 1 << 64}, {"x": "\ud800"}, {"\ud800": 1}, {"x": {1}}, {"x": {1: 2}}],
    ids=["nan", "beyond", "half", "half_key", "set", "number_key"],
)
def test_what_json_cannot_hold_is_refused(extra: Any) -> None:
    """Not written half."""
    with pytest.raises(BadJsonError):
        config_json(Policy(), extra)


def test_file_that_nobody_could_read_back_is_not_made() -> None:
    """The limits of reading hold for writing, too."""
    with pytest.raises(TooLargeError):
        config_json(Policy(), {"x": "a" * (1 << 20)})
    with pytest.raises(TooLargeError):
        config_json(Policy(), {"x": [[]] * 60_000})


def test_file_without_a_policy_requires_approval() -> None:
    """Q-X18."""
    assert parse_config("{}") == parse_config('{"hilConfig": {}, "taskId": "t1"}') == Policy()


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"hilConfig": null}',
        '{"hilConfig": "full"}',
        '{"hilConfig": {"scopeChanges": "Automated"}}',
        '{"hilConfig": {"retries": "automated"}}',
        '{"hilConfig": {}, "hilConfig": {"scopeChanges": "automated"}}',
        '{"hilConfig": {"scopeChanges": "automated", "scopeChanges": "requires_approval"}}',
    ],
    ids=["list", "null", "word", "case", "extra", "twice", "twice_inside"],
)
def test_file_with_no_valid_policy_is_refused(text: str) -> None:
    """And not read as something near to it."""
    with pytest.raises(BadRequestError):
        parse_config(text)
