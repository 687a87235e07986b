"""The page's files: those that are there, as they are, to anybody; and nothing else of the machine."""

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assent.surfaces.http.shell import FAVICONS, PAGE_POLICY
from tests.surfaces.http.hostile import hosts, speak, write_head
from tests.surfaces.http.world import World, a_world

__all__: list[str] = []

FOLDER = Path(str(files("assent.surfaces.http").joinpath("page")))
PAGES = {"index.html": "/", "sign-in.html": "/sign-in"}
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Give one server for all."""
    with a_world() as found:
        yield found


def address_of(name: str) -> str:
    """Return where a file is found."""
    return PAGES.get(name, f"/page/{name}")


def test_every_file_is_served_as_it_is(world: World) -> None:
    """With the policy of the page and a type that no browser has to guess; whoever has it already gets it not again."""
    assert {"index.html", "vendor/preact.js"} <= set(FILES)
    for name in FILES:
        reply = world.line.get(address_of(name))
        assert (reply.status_code, reply.content) == (200, FOLDER.joinpath(name).read_bytes()), name
        assert reply.headers["content-security-policy"] == PAGE_POLICY
        assert reply.headers["cache-control"] == "no-cache"
        assert reply.headers["x-content-type-options"] == "nosniff"
        tag = reply.headers["etag"]
        for known in (tag, f"W/{tag}", f'"other", {tag}'):
            again = world.line.get(address_of(name), headers={"if-none-match": known})
            assert (again.status_code, again.content) == (304, b"")
            # A browser takes the headers of this reply for what it has.
            assert again.headers["content-security-policy"] == PAGE_POLICY
            assert again.headers["cache-control"] == "no-cache"
        assert world.line.get(address_of(name), headers={"if-none-match": '"other"'}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/page/",
        "/page",
        "/page/nothing.js",
        "/page/index.html",
        "/page/vendor",
        "/page/vendor/",
        "/page/../shell.py",
        "/page/%2e%2e/shell.py",
        "/page/..%2fshell.py",
        "/page/vendor/../mark.svg",
        "/page//mark.svg",
        "/page/%2fetc%2fpasswd",
        "/page/mark.svg%00",
        "/page/mark.svg/",
        "/page/MARK.SVG",
        "/page/favicon-0.svg",
        "/page/favicon-10.svg",
    ],
)
def test_what_is_no_file_of_the_page_is_not_there(world: World, path: str) -> None:
    """A path is looked up in a list and never on disk."""
    port = int(world.server.url.rpartition(":")[2])
    reply = speak(port, write_head("GET", path, hosts(port)[0], {}))  # as it is: a client would tidy it up
    assert (reply.status, reply.code) == (404, "not_found")


@pytest.mark.parametrize("name", sorted(FAVICONS))
def test_icon_that_counts_is_a_picture_with_that_number(world: World, name: str) -> None:
    """Drawn with attributes alone, so that the policy, which knows no styles of its own, holds for it."""
    reply = world.line.get(f"/page/favicon-{name}.svg")
    assert (reply.status_code, reply.headers["content-type"]) == (200, "image/svg+xml")
    root = ET.fromstring(reply.content)
    assert "".join(root.itertext()) == FAVICONS[name]
    assert re.search(rb"style|script|href|on\w+=", reply.content) is None


def test_policy_lets_nothing_in_but_the_sites_own() -> None:
    """No inline script or style, no other origin, no way to make HTML of a text."""
    rules = dict(rule.strip().partition(" ")[::2] for rule in PAGE_POLICY.split(";"))
    assert rules.pop("default-src") == "'none'"
    assert rules.pop("require-trusted-types-for") == "'script'"
    assert set(rules.values()) == {"'self'", "'none'"}
    assert rules["trusted-types"] == "'none'"


def test_page_names_every_script_that_it_needs_at_once() -> None:
    """So a browser fetches them together, and not one after the other as each is found in another."""
    needed, found = {"app.js"}, ["app.js"]
    while found:
        for name in _imported((FOLDER / found.pop()).read_text()):
            if name not in needed:
                needed.add(name)
                found.append(name)
    named = re.findall(
        r'<link rel="modulepreload" href="/page/([^"]+)">', (FOLDER / "index.html").read_text()
    )
    assert named == sorted(needed)


def _imported(text: str) -> list[str]:
    """Return the scripts that one imports, but for those that it loads only when they are wanted."""
    paths = re.findall(r'(?:from|import)\s*"([^"]+)"', text)
    return [
        path.removeprefix("/page/") if path.startswith("/page/") else f"vendor/{path[2:]}" for path in paths
    ]
