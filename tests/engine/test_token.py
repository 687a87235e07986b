"""The token machine: who may make which token and how, what one must be, retries, and its rules as properties."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assent.engine.stamp import NOBODY, UNSTAMPED, Stamp
from assent.engine.token import (
    MINTS,
    WEIGHTY,
    CreateToken,
    RevokeToken,
    TokenCommand,
    TokenCreated,
    TokenEvent,
    TokenRevoked,
    decide,
    evolve,
)
from assent.protocol.error import (
    BadRequestError,
    CommandReusedError,
    ForbiddenError,
    NotFoundError,
)
from assent.protocol.principal import MAX_NAME, PROVEN, Assurance, Principal, Role
from assent.protocol.token import (
    ALL_PROJECTS,
    DEFAULT_LIFE,
    MAX_TOKEN_PROJECTS,
    MAX_TOKEN_SECONDS,
    Token,
    TokenId,
    digest_of,
)
from tests.samples import AGENT, ANA, BOB, NOON
from tests.token_samples import SECRET, TOKEN_ID, creating, new_token, secret_number

__all__: list[str] = []

OPS = Principal(Role.OPERATOR, "ops")
WATCHER = Principal(Role.OBSERVER, "wall")
OTHERS = {"agent": AGENT, "observer": WATCHER, "timer": NOBODY}
MATRIX = {"human": "human agent operator observer", "operator": "agent operator observer"}
"""Who makes tokens of which roles."""


def stamped(command: Any, by: Principal = ANA, command_id: str = "cmd_1", seconds: int = 0) -> Any:
    """Return a command as the hub hands it on."""
    return replace(command, stamp=Stamp(NOON + timedelta(seconds=seconds), by, command_id))


def settle(token: Token | None, command: TokenCommand, sequence: int = 1) -> Token | None:
    """Return the token after a command of project `p`."""
    for event in decide(token, command, project="p"):
        token = evolve(token, event, project="p", sequence=sequence)
    return token


# Making


def test_new_token_is_an_event_with_its_digest_and_never_its_secret() -> None:
    """The log is read by others."""
    (event,) = decide(None, stamped(creating()), project="p")
    told = msgspec.json.encode(event)
    assert msgspec.json.decode(told) == {
        "type": "token.created",
        "token_id": TOKEN_ID,
        "role": "agent",
        "name": "ci",
        "projects": ["p"],
        "digest": digest_of(SECRET),
        "at": "2030-01-01T12:00:00Z",
        "by": "human:ana",
        "expires_at": "2030-01-02T12:00:00Z",
        "assurance": "terminal",
        "is_unattended": False,
        "command_id": "cmd_1",
    }
    assert msgspec.json.decode(told, type=TokenCreated) == event
    assert evolve(None, event, project="p", sequence=3) == new_token(sequence=3)


@pytest.mark.parametrize("role", Role)
def test_token_for_which_no_life_was_said_lives_as_its_role_does(role: Role) -> None:
    """30 days, an agent's 24 hours."""
    token = settle(None, stamped(creating(role)))
    assert token is not None
    assert token.expires_at - NOON == DEFAULT_LIFE[role]


@pytest.mark.parametrize("seconds", [1, 3_600, MAX_TOKEN_SECONDS])
def test_life_that_was_said_is_kept(seconds: int) -> None:
    """To the second."""
    token = settle(None, stamped(creating(life_seconds=seconds)))
    assert token is not None
    assert token.expires_at - NOON == timedelta(seconds=seconds)


@pytest.mark.parametrize("seconds", [0, -1, MAX_TOKEN_SECONDS + 1, 10**18])
def test_life_that_is_no_life_or_for_ever_is_refused(seconds: int) -> None:
    """Every token ends, and none before it begins."""
    with pytest.raises(BadRequestError, match="at most 366 days"):
        decide(None, stamped(creating(life_seconds=seconds)), project="p")


@pytest.mark.parametrize(
    ("said", "scope"),
    [
        ((), ("p",)),
        (("q",), ("q",)),
        (("q", "p", "q"), ("q", "p")),
        ((ALL_PROJECTS,), (ALL_PROJECTS,)),
        (("q", ALL_PROJECTS), (ALL_PROJECTS,)),
    ],
)
def test_scope_is_what_was_said_or_the_home(said: tuple[str, ...], scope: tuple[str, ...]) -> None:
    """Each project once; who says all means all."""
    token = settle(None, stamped(creating(projects=said)))
    assert token is not None
    assert (token.project, token.projects) == ("p", scope)


@pytest.mark.parametrize(
    "said",
    [
        ("",),
        ("a/b",),
        ("sh\u200bop",),
        (" p",),
        ("p", "\x1b[2J"),
        tuple(map(str, range(MAX_TOKEN_PROJECTS + 1))),
    ],
    ids=["empty", "slash", "hidden", "blank", "escape", "many"],
)
def test_scope_that_could_be_mistaken_is_refused(said: tuple[str, ...]) -> None:
    """A token that says where it holds must mean it."""
    with pytest.raises(BadRequestError) as caught:
        decide(None, stamped(creating(projects=said)), project="p")
    assert caught.value.message.isprintable()


def test_project_that_is_called_like_all_projects_makes_no_tokens() -> None:
    """One for this project alone would be one for every project."""
    for said in ((), ("p",)):
        with pytest.raises(BadRequestError, match="means every project"):
            decide(None, stamped(creating(projects=said)), project=ALL_PROJECTS)


@pytest.mark.parametrize(
    "name",
    ["", " ci", "ci ", "c\u200bi", "ci\n", "\x1b[2J", "\ud800", "n" * (MAX_NAME + 1)],
    ids=["empty", "before", "after", "hidden", "line", "escape", "half_pair", "long"],
)
def test_name_that_is_not_what_it_looks_like_is_refused(name: str) -> None:
    """What was answered is told by name."""
    with pytest.raises(BadRequestError) as caught:
        decide(None, stamped(creating(name=name)), project="p")
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("by", [ANA, OPS], ids=["human", "operator"])
def test_nobody_makes_a_token_that_is_taken_for_the_hub_itself(by: Principal) -> None:
    """`operator:assent` does what no person may; other roles may be called so."""
    with pytest.raises(BadRequestError, match="Assent itself"):
        decide(None, stamped(creating(Role.OPERATOR, name="assent"), by), project="p")
    assert decide(None, stamped(creating(Role.AGENT, name="assent"), by), project="p")


@pytest.mark.parametrize(
    "changes",
    [
        {"token_id": "ask_000000000000000001"},
        {"token_id": "tok_"},
        {"token_id": "tok_\x1b[2J000000"},
        {"token_id": f"tok_{'0' * 41}"},
        {"digest": ""},
        {"digest": SECRET},
        {"digest": digest_of(SECRET).upper()},
        {"digest": digest_of(SECRET) + "\n"},
    ],
)
def test_id_and_digest_are_of_their_form(changes: dict[str, Any]) -> None:
    """A door that hands on a secret in place of its digest is stopped before the log has it."""
    with pytest.raises(BadRequestError) as caught:
        decide(None, stamped(creating(**changes)), project="p")
    assert SECRET not in caught.value.message
    assert caught.value.message.isprintable()


# Who


@pytest.mark.parametrize("by", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("assurance", Assurance)
@pytest.mark.parametrize("is_unattended", [False, True], ids=["attended", "unattended"])
def test_agent_observer_and_timer_make_no_token(
    by: Principal, role: Role, assurance: Assurance, is_unattended: bool
) -> None:
    """Of no role, in no way: nothing that an agent holds leads to more (decided rule 8)."""
    command = creating(role, assurance=assurance, is_unattended=is_unattended)
    with pytest.raises(ForbiddenError) as caught:
        decide(None, stamped(command, by), project="p")
    assert str(by) in caught.value.message


@pytest.mark.parametrize("by", OTHERS.values(), ids=OTHERS)
def test_agent_observer_and_timer_revoke_no_token(by: Principal) -> None:
    """Not even one that is revoked, and they do not learn whether there is one."""
    for token in (None, new_token(), new_token(revoked_at=NOON, revoked_by=str(ANA))):
        with pytest.raises(ForbiddenError):
            decide(token, stamped(RevokeToken(TOKEN_ID), by), project="p")


@pytest.mark.parametrize("command", [creating(), RevokeToken(TOKEN_ID)], ids=["create", "revoke"])
def test_command_that_the_hub_did_not_stamp_does_nothing(command: TokenCommand) -> None:
    """A door that forgets who acts must not act in the hub's name."""
    assert command.stamp == UNSTAMPED
    with pytest.raises(ForbiddenError):
        decide(new_token(), command, project="p")


@pytest.mark.parametrize("by", [ANA, OPS], ids=["human", "operator"])
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("assurance", Assurance)
@pytest.mark.parametrize("is_unattended", [False, True], ids=["attended", "unattended"])
def test_person_and_operator_make_what_the_matrix_says(
    by: Principal, role: Role, assurance: Assurance, is_unattended: bool
) -> None:
    """Every cell: who answers or steers is made by more than a word, and who answers by people only."""
    command = stamped(creating(role, assurance=assurance, is_unattended=is_unattended), by)
    is_weighty = role in (Role.HUMAN, Role.OPERATOR)
    is_enough = assurance in PROVEN or is_unattended or not is_weighty
    if role in MATRIX[by.role].split() and is_enough:
        (event,) = decide(None, command, project="p")
        assert isinstance(event, TokenCreated)
        assert (event.role, event.by, event.assurance, event.is_unattended) == (
            role,
            str(by),
            assurance,
            is_unattended,
        )
    else:
        with pytest.raises(ForbiddenError, match="only a person can" if is_enough else "person"):
            decide(None, command, project="p")


# Revoking and retries


@pytest.mark.parametrize("by", [BOB, OPS], ids=["human", "operator"])
@pytest.mark.parametrize("role", Role)
def test_token_of_any_role_is_revoked_by_people_and_operators(by: Principal, role: Role) -> None:
    """A process's word is enough: it gives nobody anything."""
    (event,) = decide(new_token(role=role), stamped(RevokeToken(TOKEN_ID), by), project="p")
    assert event == TokenRevoked(TOKEN_ID, NOON, str(by), "cmd_1")
    ended = evolve(new_token(role=role), event, sequence=7)
    assert ended == new_token(role=role, revoked_at=NOON, revoked_by=str(by), sequence=7)
    assert not ended.is_live(NOON)


def test_token_that_was_revoked_keeps_its_first_end() -> None:
    """Revoking again is no event."""
    ended = settle(new_token(), stamped(RevokeToken(TOKEN_ID), ANA))
    assert decide(ended, stamped(RevokeToken(TOKEN_ID), BOB, "cmd_2", 60), project="p") == ()


def test_token_that_has_expired_can_still_be_revoked() -> None:
    """Clocks differ; who says no means no."""
    assert decide(new_token(expires_at=NOON), stamped(RevokeToken(TOKEN_ID), ANA, seconds=60), project="p")


def test_token_that_is_not_there_cannot_be_revoked() -> None:
    """And the sentence does not repeat what was sent."""
    with pytest.raises(NotFoundError, match="no such token"):
        decide(None, stamped(RevokeToken(TokenId("\x1b[2J"))), project="p")


def test_command_that_is_sent_again_makes_no_second_token() -> None:
    """Nor does it bring one back that was revoked meanwhile."""
    command = stamped(creating())
    token = settle(None, command)
    assert decide(token, stamped(creating(), seconds=60), project="p") == ()
    ended = settle(token, stamped(RevokeToken(TOKEN_ID), BOB, "cmd_2"))
    assert decide(ended, command, project="p") == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": digest_of(secret_number(2))},
        {"role": Role.OBSERVER},
        {"name": "other"},
        {"projects": ("q",)},
        {"life_seconds": 60},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_other_token_under_an_id_that_is_taken_is_refused(changes: dict[str, Any]) -> None:
    """Nothing of a token changes after it was made, least of all its secret."""
    with pytest.raises(CommandReusedError, match="shown only once"):
        decide(new_token(), stamped(creating(**changes)), project="p")


def test_somebody_else_is_not_told_that_they_made_a_token() -> None:
    """Bob's command under Ana's id is another one."""
    with pytest.raises(CommandReusedError):
        decide(new_token(), stamped(creating(), BOB), project="p")


# Properties

commands: st.SearchStrategy[TokenCommand] = st.one_of(
    st.builds(
        CreateToken,
        st.just(TOKEN_ID),
        st.sampled_from([digest_of(SECRET), digest_of(secret_number(2)), "", SECRET]),
        st.sampled_from(Role),
        st.sampled_from(["ci", "assent", "", "c\u200bi"]),
        st.sampled_from([(), ("q",), (ALL_PROJECTS,), ("",)]),
        st.sampled_from([None, 0, 1, 60, MAX_TOKEN_SECONDS, MAX_TOKEN_SECONDS + 1]),
        st.sampled_from(Assurance),
        st.booleans(),
    ),
    st.builds(RevokeToken, st.just(TOKEN_ID)),
)
people = st.sampled_from([ANA, BOB, OPS, AGENT, WATCHER, NOBODY])


@given(st.lists(st.tuples(commands, people, st.integers(0, 100)), max_size=12))
def test_any_commands_leave_a_token_that_its_log_makes_again(
    script: list[tuple[TokenCommand, Principal, int]],
) -> None:
    """Each is refused with a code or yields events that are taken; and every token has an end and a rightful maker."""
    token: Token | None = None
    log: list[TokenEvent] = []
    for command, by, seconds in script:
        try:
            events = decide(token, stamped(command, by, seconds=seconds), project="p")
        except (BadRequestError, ForbiddenError, CommandReusedError, NotFoundError):
            continue
        for event in events:
            log.append(event)
            token = evolve(token, event, project="p", sequence=len(log))
        assert decide(token, stamped(command, by, seconds=seconds), project="p") == ()
    replayed: Token | None = None
    for number, event in enumerate(log, start=1):
        read: TokenEvent = msgspec.json.decode(msgspec.json.encode(event), type=TokenEvent)
        replayed = evolve(replayed, read, project="p", sequence=number)
    assert replayed == token
    assert b"assent_" not in msgspec.json.encode(log)
    for event in log:
        if isinstance(event, TokenCreated):
            assert timedelta(0) < event.expires_at - event.at <= timedelta(seconds=MAX_TOKEN_SECONDS)
            assert event.role in MINTS[Role(event.by.partition(":")[0])]
            assert event.role not in WEIGHTY or event.assurance in PROVEN or event.is_unattended
