"""Policies: which JSON is one, what a missing level means, which change loosens, and the presets."""

import itertools
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.display import display
from assent.protocol.error import BadJsonError, BadRequestError, TooLargeError
from assent.protocol.policy import (
    ALWAYS_AUTOMATED,
    PRESETS,
    TIGHTEST_FIRST,
    Category,
    Level,
    Policy,
    Preset,
    is_looser,
    loosened,
    merge_policy,
    parse_category,
    parse_level,
    parse_levels,
    parse_policy,
    parse_preset,
    preset_of,
)

__all__: list[str] = []

CATEGORIES = ["scopeChanges", "architectureDecisions", "dependencyModifications"]
LEVELS = ["automated", "notify_and_proceed", "requires_approval"]
POLICIES = [Policy(*levels) for levels in itertools.product(Level, repeat=3)]
"""All 27."""

levels = st.dictionaries(st.sampled_from(Category), st.sampled_from(Level))
policies = st.sampled_from(POLICIES)


def wire(policy: Policy) -> dict[str, Any]:
    """Return a policy as JSON has it."""
    read: dict[str, Any] = json.loads(msgspec.json.encode(policy))
    return read


# The words


def test_categories_and_levels_are_exactly_those_of_the_text() -> None:
    """Q28: three and three, spelled so."""
    assert [category.value for category in Category] == CATEGORIES
    assert [level.value for level in Level] == LEVELS
    assert list(wire(Policy())) == CATEGORIES


def test_what_is_always_automated_is_no_category() -> None:
    """Q-U13: it cannot be configured, so it has no place in `hilConfig`."""
    assert {"testFailures", "retries"} == ALWAYS_AUTOMATED
    assert not ALWAYS_AUTOMATED & set(CATEGORIES)


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("level", Level)
def test_level_stands_under_its_own_category_and_no_other(category: Category, level: Level) -> None:
    """All pairs: no two keys are swapped between the value, its JSON and a merge."""
    other = Level.AUTOMATED if level is Level.REQUIRES_APPROVAL else Level.REQUIRES_APPROVAL
    policy = merge_policy(Policy(other, other, other), {category: level})
    assert wire(policy) == {key: level.value if key == category else other.value for key in CATEGORIES}
    assert {each: policy.level(each) for each in Category} == policy.levels
    assert policy.level(category) is level


# Reading


@given(policies)
def test_policy_written_and_read_again_is_the_same(policy: Policy) -> None:
    """By our reader, and as the log reads it."""
    text = msgspec.json.encode(policy)
    assert parse_policy(text) == parse_policy(text.decode()) == policy
    assert msgspec.json.decode(text, type=Policy) == policy
    assert parse_levels(wire(policy)) == policy.levels


@given(levels)
def test_category_without_a_level_requires_approval(told: dict[Category, Level]) -> None:
    """Q-X18: when in doubt, ask."""
    read = parse_policy(json.dumps(told))
    for category in Category:
        assert read.level(category) is told.get(category, Level.REQUIRES_APPROVAL)


def test_policy_that_nobody_set_requires_approval_for_everything() -> None:
    """Q-X18: not what the source project does."""
    assert Policy() == parse_policy("{}") == Policy(*[Level.REQUIRES_APPROVAL] * 3)


@given(policies, levels)
def test_merge_changes_what_is_named_and_leaves_the_rest(policy: Policy, told: dict[Category, Level]) -> None:
    """A second time it changes nothing."""
    merged = merge_policy(policy, told)
    assert merged.levels == policy.levels | told
    assert merge_policy(merged, told) == merged


HOSTILE_KEYS = [
    "ScopeChanges",
    "scopechanges",
    "SCOPECHANGES",
    "scope_changes",
    "scopeChanges ",
    " scopeChanges",
    "scopeChanges\u200b",
    "sсopeChanges",  # the second letter is Cyrillic
    "scopeChanges\x00",
    "hilConfig",
    "testFailures",
    "retries",
    "testFailuresAndRetries",
    "__proto__",
    "",
    "x" * 10_000,
]
HOSTILE_LEVELS: list[Any] = [
    "Automated",
    "AUTOMATED",
    "notify-and-proceed",
    "notifyAndProceed",
    "requires_approval ",
    "automated\n",
    "аutomated",  # the first letter is Cyrillic
    "full",
    "confirm_all",
    "",
    "x" * 10_000,
    0,
    1,
    2.0,
    True,
    False,
    None,
    [],
    ["automated"],
    {},
    {"automated": True},
]


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("key", HOSTILE_KEYS, ids=range(len(HOSTILE_KEYS)))
def test_unknown_key_is_refused_beside_a_good_one(category: Category, key: str) -> None:
    """Q-X18: in whichever order they stand; the sentence is one line and short."""
    for told in ({category: "automated", key: "automated"}, {key: "automated", category: "automated"}):
        with pytest.raises(BadRequestError, match="is no category") as caught:
            parse_policy(json.dumps(told))
        assert caught.value.code == "bad_request"
        assert caught.value.message.isprintable()
        assert len(caught.value.message) < 250


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("told", HOSTILE_LEVELS, ids=range(len(HOSTILE_LEVELS)))
def test_unknown_level_is_refused_and_names_its_category(category: Category, told: Any) -> None:
    """Q-X18: nothing is taken for a level that is not spelled as one."""
    with pytest.raises(BadRequestError) as caught:
        parse_policy(json.dumps({category: told}))
    assert caught.value.code == "bad_request"
    assert category.value in caught.value.message
    assert "automated, notify_and_proceed or requires_approval" in caught.value.message
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 250


@pytest.mark.parametrize("text", ["null", "[]", '"automated"', "3", "true", '[["scopeChanges","automated"]]'])
def test_what_is_no_object_is_refused(text: str) -> None:
    """One word for all three categories is a preset, and no `hilConfig`."""
    with pytest.raises(BadRequestError, match="hilConfig must be an object"):
        parse_policy(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"scopeChanges":"requires_approval","scopeChanges":"automated"}',
        '{"scopeChanges":"requires_approval","scope\\u0043hanges":"automated"}',
        '{"scopeChanges":"automated","scopeChanges":"automated"}',
    ],
    ids=["loosened", "escaped", "same"],
)
def test_key_that_stands_twice_is_refused(text: str) -> None:
    """Two readers would take it for two policies."""
    with pytest.raises(BadJsonError, match="twice"):
        parse_policy(text)


@pytest.mark.parametrize(
    "text", ["", "{", '{"scopeChanges": NaN}', "{'scopeChanges': 1}", b"\xff{}"], ids=range(5)
)
def test_what_is_no_json_is_refused(text: str | bytes) -> None:
    """With its own code."""
    with pytest.raises(BadJsonError) as caught:
        parse_policy(text)
    assert caught.value.code == "bad_json"


def test_text_that_is_too_large_is_refused_before_it_is_read() -> None:
    """A megabyte is enough for three levels."""
    with pytest.raises(TooLargeError):
        parse_policy('{"scopeChanges":"' + "a" * (1 << 20) + '"}')


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(LEVELS),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(CATEGORIES) | st.text(), inner),
        max_leaves=8,
    )
)
def test_any_value_is_levels_or_refused_with_a_code(value: Any) -> None:
    """Nothing else comes out, and what is taken says what it said."""
    refusal, read = "", {}
    try:
        read = parse_levels(value)
    except BadRequestError as error:
        refusal = error.message
    told = {category.value: level.value for category, level in read.items()}
    assert display(refusal, lines=False) == refusal if refusal else told == value


def test_key_that_is_no_text_is_refused() -> None:
    """Python's objects have such keys, and a program may hand one in."""
    with pytest.raises(BadRequestError, match='"1" is no category'):
        parse_levels({1: "automated"})


def test_word_by_itself_is_read_exactly_or_refused() -> None:
    """As a command line gives it."""
    assert [parse_category(text) for text in CATEGORIES] == list(Category)
    assert [parse_level(text) for text in LEVELS] == list(Level)
    assert [parse_preset(text) for text in ("confirm_all", "major_only", "full")] == list(Preset)
    with pytest.raises(BadRequestError, match=r"^\"scope\" is no category: use scopeChanges, .* or "):
        parse_category("scope")
    with pytest.raises(BadRequestError, match="always automated, and cannot be set"):
        parse_category("retries")
    with pytest.raises(
        BadRequestError, match=r"^\"Full\" is no preset: use confirm_all, major_only or full\.$"
    ):
        parse_preset("Full")
    with pytest.raises(BadRequestError, match=r"^\"AUTOMATED\" is no level: use automated, "):
        parse_level("AUTOMATED")


# Comparing

LOOSER = {
    ("requires_approval", "notify_and_proceed"),
    ("requires_approval", "automated"),
    ("notify_and_proceed", "automated"),
}
"""Written out, so that the order of the levels is said twice."""


def test_every_level_has_its_place_in_the_order() -> None:
    """A new one must be accounted for."""
    assert sorted(TIGHTEST_FIRST) == sorted(Level)


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("before", Level)
@pytest.mark.parametrize("after", Level)
def test_change_in_one_category_is_looser_as_the_table_says(
    category: Category, before: Level, after: Level
) -> None:
    """All pairs in each category, on the ground of every level in the others."""
    for ground in Level:
        first = merge_policy(Policy(ground, ground, ground), {category: before})
        second = merge_policy(first, {category: after})
        is_expected = (before.value, after.value) in LOOSER
        assert is_looser(first, second) is is_expected
        assert loosened(first, second) == ((category,) if is_expected else ())


def test_change_that_tightens_most_and_loosens_one_is_looser() -> None:
    """All pairs of policies: one category is enough, whatever the others do."""
    for before, after in itertools.product(POLICIES, repeat=2):
        expected = [
            category for category in Category if (before.level(category), after.level(category)) in LOOSER
        ]
        assert list(loosened(before, after)) == expected
        assert is_looser(before, after) is bool(expected)


# Presets


def test_presets_stand_for_the_policies_of_the_text() -> None:
    """Q-U14, word for word."""
    assert {
        preset.value: [level.value for level in made.levels.values()] for preset, made in PRESETS.items()
    } == {
        "confirm_all": ["requires_approval", "requires_approval", "requires_approval"],
        "major_only": ["requires_approval", "requires_approval", "automated"],
        "full": ["automated", "automated", "automated"],
    }


@pytest.mark.parametrize("preset", Preset)
def test_preset_is_the_word_for_its_policy(preset: Preset) -> None:
    """There and back."""
    assert preset_of(PRESETS[preset]) is preset


def test_policy_that_no_preset_makes_is_called_full() -> None:
    """Q-U14: all 27; the word is never tighter than the policy."""
    called = {policy: preset_of(policy) for policy in POLICIES}
    assert [policy for policy, preset in called.items() if preset is not Preset.FULL] == [
        PRESETS[Preset.MAJOR_ONLY],
        PRESETS[Preset.CONFIRM_ALL],
    ]
    assert not any(is_looser(PRESETS[preset], policy) for policy, preset in called.items())
