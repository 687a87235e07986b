"""Who looks at what: seen by those who may see it, for as long as it is true, and kept nowhere."""

from typing import Any

import pytest

from assent.protocol.error import TooManyError
from assent.protocol.principal import Role
from assent.protocol.token import Token, TokenId
from assent.protocol.wire_record import LookBody, Present
from assent.surfaces.http import presence as module
from assent.surfaces.http.presence import MAX_PAGES, PRESENT_SECONDS, Presence
from tests.samples import NOON
from tests.surfaces.http.world import World, a_world

__all__: list[str] = []


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 0.0

    def __call__(self) -> float:
        return self.at


def token(name: str, *projects: str, number: int = 1) -> Token:
    """Return a person's token."""
    scope = projects or ("shop",)
    return Token(
        TokenId(f"tok_{name}_{number}"), scope[0], scope, Role.HUMAN, name, "d", NOON, "human:x", NOON
    )


def looking(page: str = "page-0001", project: str | None = "shop", ask_id: str | None = None) -> LookBody:
    """Return what a page says."""
    return LookBody(page, project, ask_id)


ANA, SAM, JO = token("ana"), token("sam"), token("jo", "bank")


def by(present: list[Present]) -> list[str]:
    """Return who is there."""
    return [each.by for each in present]


def test_others_are_seen_and_nobody_sees_themselves() -> None:
    """Also not their own other windows and devices."""
    room = Presence()
    assert room.look(ANA, "page", looking(), NOON) == []
    assert room.look(token("ana", number=2), "page", looking("page-0002"), NOON) == []
    seen = room.look(SAM, "page", looking(ask_id="ask_1"), NOON)
    assert by(seen) == ["human:ana", "human:ana"]
    [sam] = room.look(ANA, "page", looking(), NOON)
    assert sam == Present("human:sam", "page", "shop", "ask_1", NOON)


def test_somebody_is_seen_only_where_one_may_look_oneself() -> None:
    """Whoever shows no project is seen by nobody."""
    room = Presence()
    room.look(JO, "page", looking(project="bank"), NOON)
    room.look(SAM, "page", looking(project=None), NOON)
    assert room.look(ANA, "page", looking(), NOON) == []
    assert sorted(by(room.look(token("eve", "*"), "page", looking(), NOON))) == ["human:ana", "human:jo"]


def test_whoever_says_nothing_more_is_gone_and_renewing_keeps_the_moment() -> None:
    """A person who only stays has been there since they came; one who turns to another ask since then."""
    clock = Hands()
    room = Presence(clock)
    later = NOON.replace(hour=13)
    room.look(SAM, "page", looking(ask_id="ask_1"), NOON)
    clock.at = PRESENT_SECONDS - 1
    room.look(SAM, "page", looking(ask_id="ask_1"), later)
    clock.at = 2 * PRESENT_SECONDS - 2
    assert [each.since for each in room.look(ANA, "page", looking(), later)] == [NOON]
    room.look(SAM, "page", looking(ask_id="ask_2"), later)
    assert [each.since for each in room.look(ANA, "page", looking(), later)] == [later]
    clock.at += PRESENT_SECONDS
    assert room.look(ANA, "page", looking(), later) == []


def test_pages_of_one_token_are_bounded_and_the_oldest_makes_room() -> None:
    """Nobody fills the room alone."""
    room = Presence()
    for number in range(MAX_PAGES + 5):
        room.look(SAM, "page", looking(f"page-{number:04}", ask_id=f"ask_{number}"), NOON)
    seen = room.look(ANA, "page", looking(), NOON)
    assert {each.ask_id for each in seen} == {f"ask_{number}" for number in range(5, MAX_PAGES + 5)}


def test_full_room_takes_nobody_more_but_those_who_are_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until somebody is gone."""
    monkeypatch.setattr(module, "MAX_PRESENT", 2)
    clock = Hands()
    room = Presence(clock)
    room.look(ANA, "page", looking(), NOON)
    room.look(SAM, "page", looking(), NOON)
    with pytest.raises(TooManyError):
        room.look(JO, "page", looking(project="bank"), NOON)
    assert by(room.look(ANA, "page", looking(), NOON)) == ["human:sam"]
    clock.at = PRESENT_SECONDS
    assert room.look(JO, "page", looking(project="bank"), NOON) == []


def test_one_page_is_told_of_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that came last."""
    monkeypatch.setattr(module, "MAX_PRESENT_TOLD", 2)
    room = Presence()
    for minute, name in enumerate(("a", "b", "c")):
        room.look(token(name), "page", looking(), NOON.replace(minute=minute))
    assert by(room.look(ANA, "page", looking(), NOON)) == ["human:c", "human:b"]


def look(world: World, secret: str, **body: Any) -> tuple[int, Any]:
    """Say over HTTP what a page shows; return what is told."""
    headers = {"authorization": f"Bearer {secret}"}
    reply = world.line.put("/presence", json=body, headers=headers)
    return reply.status_code, reply.json()


def test_presence_over_http_reaches_who_may_see_it_and_is_written_nowhere() -> None:
    """A project that one does not reach looks as one that is not there; a body that is none is refused."""
    with a_world() as world:
        sam = world.server.token(Role.HUMAN, "sam", projects=("shop",))
        eve = world.server.token(Role.OBSERVER, "eve", projects=("shop",))
        jo = world.server.token(Role.HUMAN, "jo", projects=("bank",))
        before = world.look()
        assert look(world, sam, page="page-0001", project="shop", ask_id="ask_1") == (200, {"present": []})
        status, told = look(world, eve, page="page-0001", project="shop")
        [seen] = told["present"]
        assert (status, seen["by"], seen["via"], seen["ask_id"]) == (200, "human:sam", "http", "ask_1")
        assert look(world, jo, page="page-0001", project="bank") == (200, {"present": []})
        foreign, missing = (look(world, jo, page="page-0001", project=name) for name in ("shop", "nowhere"))
        assert (foreign[0], foreign) == (404, missing)
        assert look(world, world.tokens[Role.AGENT], page="page-0001")[0] == 403
        for wrong in (
            {"page": "x"},
            {"page": "page-0001", "ask_id": "<b>"},
            {"page": "page-0001", "who": "x"},
        ):
            assert look(world, sam, **wrong)[0] == 400
        assert world.look() == before
