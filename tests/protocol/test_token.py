"""A token as a value: when it holds and where, how it is shown, and how its secret is known."""

import doctest
import time
from datetime import timedelta

import msgspec
import pytest

import assent.protocol.token
from assent.hub.ids import new_token_id, new_token_secret
from assent.protocol.error import ForbiddenError
from assent.protocol.principal import Principal, Role
from assent.protocol.token import (
    ALL_PROJECTS,
    DEFAULT_LIFE,
    MAX_TOKEN_SECONDS,
    SECRET_PREFIX,
    check_scope,
    digest_of,
    looks_like_token,
    render_token,
)
from tests.samples import NOON
from tests.token_samples import SECRET, new_token

__all__: list[str] = []

TICK = timedelta(microseconds=1)


def test_examples_in_docstrings_hold() -> None:
    """A reader copies them."""
    outcome = doctest.testmod(assent.protocol.token)
    assert (outcome.failed, outcome.attempted > 0) == (0, True)


def test_token_acts_as_its_role_and_name() -> None:
    """And as nobody else."""
    assert new_token(role=Role.OBSERVER, name="wall").principal == Principal(Role.OBSERVER, "wall")


def test_token_is_live_until_the_moment_at_which_it_expires() -> None:
    """At that very moment it is over."""
    token = new_token(expires_at=NOON)
    assert token.is_live(NOON - TICK)
    assert not token.is_live(NOON)
    assert not token.is_live(NOON + TICK)


def test_token_that_was_revoked_is_never_live() -> None:
    """Also by a clock that stands before the moment of the revocation."""
    token = new_token(revoked_at=NOON, revoked_by="human:ana")
    assert not any(token.is_live(NOON + span) for span in (-TICK, TICK * 0, TICK))


@pytest.mark.parametrize(
    ("scope", "project", "is_reached"),
    [
        (("p",), "p", True),
        (("p",), "q", False),
        (("p",), "P", False),
        (("p",), "", False),
        (("p",), ALL_PROJECTS, False),
        (("p", "q"), "q", True),
        ((ALL_PROJECTS,), "anything", True),
        ((), "p", False),
    ],
)
def test_token_reaches_the_projects_of_its_scope(
    scope: tuple[str, ...], project: str, is_reached: bool
) -> None:
    """Exactly, and not its home unless that is in it."""
    assert new_token(projects=scope).reaches(project) is is_reached


def test_public_form_has_everything_but_the_digest() -> None:
    """The names are fixed; what does not hold yet is null."""
    token = new_token()
    told = msgspec.json.decode(msgspec.json.encode(render_token(token)))
    assert told == {
        "token_id": "tok_000000000000000001",
        "role": "agent",
        "name": "ci",
        "project": "p",
        "projects": ["p"],
        "created_at": "2030-01-01T12:00:00Z",
        "created_by": "human:ana",
        "expires_at": "2030-01-02T12:00:00Z",
        "revoked_at": None,
        "revoked_by": None,
        "unattended": False,
    }
    assert token.digest not in str(render_token(token))


def test_life_is_a_day_for_agents_and_thirty_for_the_others() -> None:
    """S14; and none is longer than any may be."""
    assert {role: life.days for role, life in DEFAULT_LIFE.items()} == {
        Role.HUMAN: 30,
        Role.OPERATOR: 30,
        Role.OBSERVER: 30,
        Role.AGENT: 1,
    }
    assert all(life.total_seconds() <= MAX_TOKEN_SECONDS for life in DEFAULT_LIFE.values())


# Secrets


def test_secret_is_known_by_its_prefix_and_has_chance_enough() -> None:
    """At least 128 bits, all different, and each looks like one of ours (S14)."""
    secrets = {new_token_secret() for _ in range(1_000)}
    assert len(secrets) == 1_000
    assert all(looks_like_token(secret) and secret.startswith("assent_") for secret in secrets)
    digits = [secret.removeprefix(SECRET_PREFIX) for secret in secrets]
    assert {len(each) * 4 for each in digits} == {256}
    # No place of it is always the same: the whole length is chance.
    assert all(len({each[place] for each in digits}) > 8 for place in range(64))


def test_id_of_a_token_says_nothing_of_its_secret() -> None:
    """The two are minted apart."""
    token_id = new_token_id()
    assert token_id.startswith("tok_")
    assert not looks_like_token(token_id)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "assent_",
        SECRET[:-1],
        f"{SECRET}0",
        f"{SECRET}\n",
        f" {SECRET[1:]}",
        SECRET.upper(),
        SECRET.replace("0", "٠"),
        SECRET.replace("_", "-"),
        f"Assent_{SECRET[7:]}",
        f"{SECRET[:-1]}g",
        f"{SECRET[:-1]}\ud800",
        "\x00" * len(SECRET),
    ],
)
def test_text_that_is_no_secret_does_not_look_like_one(text: str) -> None:
    """In its length, its prefix, its digits."""
    assert looks_like_token(SECRET)
    assert not looks_like_token(text)


def test_garbage_of_any_length_is_cheap_to_refuse() -> None:
    """It is looked at before anything is hashed: 10,000 looks at 10 MB take no time."""
    garbage = SECRET + "0" * 10_000_000
    begun = time.monotonic()
    assert not any(looks_like_token(garbage) for _ in range(10_000))
    assert time.monotonic() - begun < 1


def test_digest_is_the_sha_256_of_the_secret() -> None:
    """Fixed: whoever changes it makes every token that was given out worthless."""
    assert digest_of(SECRET) == "9918a7f6c664520eb24e3da9e731d2134b5c733545a9e4ab3df4f60e414d62d0"


# Scopes


@pytest.mark.parametrize(
    ("minter", "wanted"),
    [
        (("p",), ()),
        (("p",), ("p",)),
        (("p", "q"), ("q", "p")),
        ((ALL_PROJECTS,), (ALL_PROJECTS,)),
        ((ALL_PROJECTS,), ("p", "new")),
    ],
)
def test_scope_within_that_of_the_minter_passes(minter: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    """The home alone, a part of it, or all of it."""
    token = new_token(projects=minter)
    check_scope(token, wanted)
    assert all(token.reaches(project) for project in wanted)


@pytest.mark.parametrize("wanted", [("q",), ("p", "q"), (ALL_PROJECTS,), ("p", ALL_PROJECTS), ("\x1b[2J",)])
def test_scope_beyond_that_of_the_minter_is_refused(wanted: tuple[str, ...]) -> None:
    """Nobody makes a token that leads further than their own; and the sentence is harmless."""
    with pytest.raises(ForbiddenError, match="does not reach") as caught:
        check_scope(new_token(projects=("p",)), wanted)
    assert caught.value.message.isprintable()
