"""The policy machine: who may set what, what is an event, retries, and its rules as properties."""

import doctest
import itertools
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assent.engine.policy
from assent.engine.policy import REMEMBERED, PolicySet, SetPolicy, decide, evaluate, evolve
from assent.engine.stamp import NOBODY, Stamp
from assent.protocol.error import BadRequestError, ForbiddenError
from assent.protocol.policy import (
    ALWAYS_AUTOMATED,
    Category,
    Level,
    Policy,
    ProjectPolicy,
    is_looser,
    merge_policy,
)
from assent.protocol.principal import Assurance, Principal, Role
from tests.samples import AGENT, ANA, BOB, NOON

__all__: list[str] = []

OPS = Principal(Role.OPERATOR, "ops")
WATCHER = Principal(Role.OBSERVER, "wall")
PEOPLE = {"human": ANA, "operator": OPS}
OTHERS = {"agent": AGENT, "observer": WATCHER, "timer": NOBODY}
POLICIES = [Policy(*levels) for levels in itertools.product(Level, repeat=3)]
TIGHT, FREE = Policy(), Policy(Level.AUTOMATED, Level.AUTOMATED, Level.AUTOMATED)
SCOPE = Category.SCOPE_CHANGES


def current(policy: Policy) -> ProjectPolicy:
    """Return a project's policy that Bob set."""
    return ProjectPolicy("p", policy, NOON - timedelta(days=1), str(BOB), ("cmd_0",), 5)


def setting(levels: Any, by: Principal = ANA, command_id: str = "cmd_1", **how: Any) -> SetPolicy:
    """Return the command as a person at a terminal gives it."""
    how = {"assurance": Assurance.TERMINAL} | how
    return SetPolicy(levels, stamp=Stamp(NOON, by, command_id), **how)


def fold(policy: ProjectPolicy | None, *commands: SetPolicy) -> ProjectPolicy | None:
    """Return the policy after these commands."""
    for command in commands:
        for event in decide(policy, command):
            policy = evolve(policy, event, project="p", sequence=(policy.sequence if policy else 0) + 1)
    return policy


def test_examples_in_docstrings_hold() -> None:
    """A reader copies them."""
    outcome = doctest.testmod(assent.engine.policy)
    assert (outcome.failed, outcome.attempted > 0) == (0, True)


# Setting


def test_first_policy_of_a_project_is_an_event_with_before_and_after() -> None:
    """Before it, all categories required approval (Q-X18)."""
    events = decide(None, setting({SCOPE: Level.AUTOMATED}))
    after = Policy(scope_changes=Level.AUTOMATED)
    assert events == (PolicySet(TIGHT, after, NOON, "human:ana", Assurance.TERMINAL, False, "cmd_1"),)
    made = evolve(None, events[0], project="p", sequence=3)
    assert made == ProjectPolicy("p", after, NOON, "human:ana", ("cmd_1",), 3)


def test_event_has_its_name_and_both_policies_whole_on_the_wire() -> None:
    """The log is read by others."""
    (event,) = decide(None, setting({SCOPE: Level.AUTOMATED}))
    approval = dict.fromkeys(Category, "requires_approval")
    assert msgspec.json.decode(msgspec.json.encode(event)) == {
        "type": "policy.set",
        "before": approval,
        "after": approval | {"scopeChanges": "automated"},
        "at": "2030-01-01T12:00:00Z",
        "by": "human:ana",
        "assurance": "terminal",
        "is_unattended": False,
        "command_id": "cmd_1",
        "assurances": {},
    }
    assert msgspec.json.decode(msgspec.json.encode(event), type=PolicySet) == event


@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("level", Level)
def test_one_category_is_set_and_the_others_stay(category: Category, level: Level) -> None:
    """All pairs on every policy; one that has that level already yields no event."""
    for policy in POLICIES:
        events = decide(current(policy), setting({category: level}))
        expected = merge_policy(policy, {category: level})
        assert [(event.before, event.after) for event in events] == (
            [] if policy.level(category) is level else [(policy, expected)]
        )


def test_whole_policy_takes_the_place_of_any_other() -> None:
    """All pairs; setting what is already so yields no event."""
    for before, after in itertools.product(POLICIES, repeat=2):
        events = decide(current(before), setting(after.levels))
        assert [(event.before, event.after) for event in events] == (
            [] if before == after else [(before, after)]
        )


def test_policy_that_changes_stays_that_of_its_project() -> None:
    """Only the first event needs to be told which one that is."""
    (event,) = decide(current(TIGHT), setting(FREE.levels))
    assert evolve(current(TIGHT), event, sequence=6) == ProjectPolicy(
        "p", FREE, NOON, "human:ana", ("cmd_0", "cmd_1"), 6
    )


def test_setting_an_unset_policy_to_what_it_reads_as_is_kept_once() -> None:
    """It is so already, but nobody had said so: who did, and when, is told from then on."""
    (event,) = decide(None, setting(TIGHT.levels))
    assert (event.before, event.after) == (TIGHT, TIGHT)
    assert decide(evolve(None, event, project="p", sequence=1), setting(TIGHT.levels)) == ()


def test_category_that_is_not_named_stays_as_it_became_meanwhile() -> None:
    """Two people change two categories, each having seen the same policy: both changes stand."""
    policy = fold(
        current(FREE),
        setting({SCOPE: Level.REQUIRES_APPROVAL}, ANA, "cmd_1"),
        setting({Category.ARCHITECTURE_DECISIONS: Level.NOTIFY_AND_PROCEED}, BOB, "cmd_2"),
    )
    assert policy is not None
    assert policy.policy == Policy(Level.REQUIRES_APPROVAL, Level.NOTIFY_AND_PROCEED, Level.AUTOMATED)
    assert (policy.set_by, policy.sequence, policy.project) == ("human:bob", 7, "p")


@pytest.mark.parametrize(
    "levels",
    [
        {},
        None,
        "full",
        {"scopechanges": "automated"},
        {"scopeChanges": "AUTOMATED"},
        {"scopeChanges": 1},
        {"scopeChanges": "automated", "retries": "automated"},
        {"scopeChanges": "automated", "hilConfig": {}},
    ],
    ids=["nothing", "none", "word", "key_case", "level_case", "number", "routine", "extra"],
)
def test_command_that_names_something_else_is_refused(levels: Any) -> None:
    """Whatever door it came through, and however it is typed there."""
    with pytest.raises(BadRequestError):
        decide(current(TIGHT), setting(levels))


def test_plain_words_become_levels() -> None:
    """What a door hands on as texts is stored as what it means."""
    (event,) = decide(None, setting({"scopeChanges": "automated"}))
    assert event.after.scope_changes is Level.AUTOMATED


# Who


@pytest.mark.parametrize("by", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("assurance", Assurance)
@pytest.mark.parametrize("is_unattended", [False, True], ids=["attended", "unattended"])
def test_agent_observer_and_timer_never_set_a_policy(
    by: Principal, assurance: Assurance, is_unattended: bool
) -> None:
    """All pairs of policies, tightening and what is already so included; and no word about it that they could use."""
    for before, after in itertools.product([None, *POLICIES], POLICIES):
        command = setting(after.levels, by, assurance=assurance, is_unattended=is_unattended)
        with pytest.raises(ForbiddenError) as caught:
            decide(current(before) if before else None, command)
        assert caught.value.code == "forbidden"
        assert str(by) in caught.value.message


def test_command_that_the_hub_did_not_stamp_sets_nothing() -> None:
    """A door that forgets who acts must not set a policy in the hub's name."""
    with pytest.raises(ForbiddenError):
        decide(None, SetPolicy({SCOPE: Level.AUTOMATED}, Assurance.TERMINAL))


@pytest.mark.parametrize("by", PEOPLE.values(), ids=PEOPLE)
@pytest.mark.parametrize("assurance", Assurance)
@pytest.mark.parametrize("is_unattended", [False, True], ids=["attended", "unattended"])
def test_people_tighten_on_their_word_and_loosen_only_with_more(
    by: Principal, assurance: Assurance, is_unattended: bool
) -> None:
    """All pairs of policies: a change that loosens in one category is a loosening, whatever else it tightens."""
    is_enough = assurance in (Assurance.TOKEN, Assurance.TERMINAL) or is_unattended
    for before, after in itertools.permutations(POLICIES, 2):
        command = setting(after.levels, by, assurance=assurance, is_unattended=is_unattended)
        if is_looser(before, after) and not is_enough:
            with pytest.raises(ForbiddenError, match="Loosening a policy needs a person"):
                decide(current(before), command)
        else:
            (event,) = decide(current(before), command)
            assert (event.after, event.by, event.assurance, event.is_unattended) == (
                after,
                str(by),
                assurance,
                is_unattended,
            )


# Retries


def test_command_that_is_sent_again_is_no_second_event() -> None:
    """Its reply is the policy as it is."""
    command = setting({SCOPE: Level.AUTOMATED})
    policy = fold(None, command)
    assert decide(policy, command) == ()


def test_loosening_that_is_sent_again_does_not_undo_a_later_tightening() -> None:
    """The reply to Ana's command was lost; Bob tightened in between, and his word stands."""
    loosen = setting({SCOPE: Level.AUTOMATED}, ANA, "cmd_1")
    tighten = setting({SCOPE: Level.REQUIRES_APPROVAL}, BOB, "cmd_2")
    policy = fold(None, loosen, tighten)
    assert policy is not None
    assert decide(policy, loosen) == ()
    assert policy.policy == TIGHT


def test_commands_are_remembered_up_to_a_limit() -> None:
    """The record does not grow for ever; commands without an id are none to remember."""
    policy = None
    for number in range(REMEMBERED + 8):
        level = Level.AUTOMATED if number % 2 == 0 else Level.REQUIRES_APPROVAL
        policy = fold(policy, setting({SCOPE: level}, command_id=f"cmd_{number}"))
    policy = fold(policy, setting({SCOPE: Level.NOTIFY_AND_PROCEED}, command_id=""))
    assert policy is not None
    assert policy.command_ids == tuple(f"cmd_{number}" for number in range(8, REMEMBERED + 8))
    assert decide(policy, setting({SCOPE: Level.AUTOMATED}, command_id="")) != ()


# Asking it


@pytest.mark.parametrize("category", Category)
def test_change_is_let_go_as_far_as_its_category_says(category: Category) -> None:
    """All policies; a plain word is as good as the value."""
    for policy in POLICIES:
        assert evaluate(policy, category) is evaluate(policy, category.value) is policy.level(category)


@pytest.mark.parametrize("category", Category)
def test_change_in_a_project_without_a_policy_requires_approval(category: Category) -> None:
    """Q-X18."""
    assert evaluate(None, category) is Level.REQUIRES_APPROVAL


@pytest.mark.parametrize("name", sorted(ALWAYS_AUTOMATED))
def test_test_failures_and_retries_are_automated_under_every_policy(name: str) -> None:
    """Q-U13: not configurable."""
    assert {evaluate(policy, name) for policy in [None, *POLICIES]} == {Level.AUTOMATED}


@pytest.mark.parametrize("name", ["", "scopechanges", "Retries", "testfailures", "retries ", "other"])
def test_unknown_category_is_refused_and_never_automated(name: str) -> None:
    """Under the freest policy, too."""
    with pytest.raises(BadRequestError, match="is no category"):
        evaluate(FREE, name)


# Properties

commands = st.builds(
    SetPolicy,
    st.dictionaries(st.sampled_from(Category), st.sampled_from(Level)),
    st.sampled_from(Assurance),
    st.booleans(),
    st.builds(
        Stamp,
        st.integers(0, 100).map(lambda seconds: NOON + timedelta(seconds=seconds)),
        st.sampled_from([ANA, BOB, OPS, AGENT, WATCHER, NOBODY]),
        st.sampled_from(["", "cmd_1", "cmd_2", "cmd_3"]),
    ),
)


@given(st.lists(commands, max_size=12))
def test_any_commands_leave_a_policy_that_its_log_makes_again(given_commands: list[SetPolicy]) -> None:
    """Each is refused with a code or yields events that are taken; replaying them gives the same, and nobody else set it."""
    policy: ProjectPolicy | None = None
    log: list[PolicySet] = []
    for command in given_commands:
        try:
            events = decide(policy, command)
        except (ForbiddenError, BadRequestError):
            continue
        for event in events:
            assert event.before == (policy.policy if policy else Policy())
            assert policy is None or event.before != event.after
            log.append(event)
            policy = evolve(policy, event, project="p", sequence=len(log))
        assert decide(policy, command) == ()
    replayed: ProjectPolicy | None = None
    for number, event in enumerate(log, start=1):
        read = msgspec.json.decode(msgspec.json.encode(event), type=PolicySet)
        replayed = evolve(replayed, read, project="p", sequence=number)
    assert replayed == policy
    assert {event.by for event in log} <= {str(ANA), str(BOB), str(OPS)}
    assert all(
        event.assurance is not Assurance.DECLARED or event.is_unattended
        for event in log
        if is_looser(event.before, event.after)
    )
