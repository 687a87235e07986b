"""Who acts: a role and a name that is what it looks like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.protocol.display import display
from assent.protocol.error import BadRequestError
from assent.protocol.principal import MAX_NAME, Assurance, Principal, Role, parse_principal
from tests.protocol.strategies import modest


@pytest.mark.parametrize("role", list(Role))
def test_principal_is_spelled_by_role_and_name(role: Role) -> None:
    """The spelling is what answers and events hold."""
    principal = parse_principal(f"{role}:ana")
    assert principal == Principal(role, "ana")
    assert str(principal) == f"{role.value}:ana"
    assert parse_principal(str(principal)) == principal


def test_name_may_hold_colons_spaces_and_any_script() -> None:
    """Names come from people and from hosts."""
    for name in ("claude:2", "Ana Lima", "Łukasz", "佐藤"):
        assert parse_principal(f"agent:{name}").name == name


@pytest.mark.parametrize(
    "text", ["", "ana", "human:", ":ana", "root:ana", "Human:ana", "human ana", "human\x1b[2J:ana"]
)
def test_text_without_known_role_or_name_is_refused(text: str) -> None:
    """One sentence that says how to write it, and repeats nothing that a terminal would obey."""
    with pytest.raises(BadRequestError) as caught:
        parse_principal(text)
    assert caught.value.message.startswith(f'"{display(text)}" is not a principal: write role:name')
    assert "human, agent, operator, observer" in caught.value.message


@pytest.mark.parametrize(
    "name", ["ana\u200b", " ana", "ana\n", "\u202eana", "a\x00", "\ud800", "a\u3164", "x" * (MAX_NAME + 1)]
)
def test_name_that_is_not_what_it_looks_like_is_refused(name: str) -> None:
    """S4: who answered is told by name, so two names that look the same must be the same."""
    with pytest.raises(BadRequestError, match="no hidden characters"):
        parse_principal(f"human:{name}")


@modest
@given(st.text(st.characters(exclude_categories=[]), max_size=20))
def test_accepted_name_is_shown_as_it_is(text: str) -> None:
    """Whatever was typed: refused, or the same on every screen."""
    try:
        principal = parse_principal(f"human:{text}")
    except BadRequestError:
        return
    assert display(str(principal), lines=False) == str(principal) == f"human:{text}"


def test_roles_and_assurances_are_spelled_as_on_the_wire() -> None:
    """Stored values: a renamed member would orphan them."""
    assert [role.value for role in Role] == ["human", "agent", "operator", "observer"]
    assert [assurance.value for assurance in Assurance] == [
        "token",
        "terminal",
        "comment",
        "host",
        "declared",
    ]
