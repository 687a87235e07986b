"""How many projects are followed at once has an end."""

import asyncio

import pytest

from assent.client.embedded import EmbeddedDoor
from assent.protocol.error import TooManyError
from assent.surfaces.http import site as site_module
from assent.surfaces.http.site import Site
from assent.testing import throwaway

__all__: list[str] = []


def test_project_too_many_is_not_followed_until_another_one_is_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each takes a thread, and whoever has a token for all projects could name any number of them."""
    monkeypatch.setattr(site_module, "MAX_FOLLOWED", 2)

    async def follow() -> list[str]:
        site = Site(EmbeddedDoor(store.hub()))
        seen = []
        with site.following("a"), site.following("a"):
            with site.following("b"):
                with pytest.raises(TooManyError), site.following("c"):
                    pass
                with site.following("b"):
                    seen.append("b again")
            with site.following("c"):
                seen.append("c")
        return seen

    with throwaway() as store:
        assert asyncio.run(follow()) == ["b again", "c"]
