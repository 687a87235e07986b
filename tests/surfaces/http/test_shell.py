"""The page's files: those that are there, as they are, to anybody; and nothing else of the machine."""

import json
import re
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from assent.surfaces.http.pack import pack_script
from assent.surfaces.http.shell import FAVICONS, PAGE_POLICY
from tests.patience import PATIENCE
from tests.surfaces.http.hostile import hosts, speak, write_head
from tests.surfaces.http.world import World, a_world
from tools.node import find_node

__all__: list[str] = []

FOLDER = Path(str(files("assent.surfaces.http").joinpath("page")))
PAGES = {"index.html": "/", "sign-in.html": "/sign-in"}
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())
PACKS = ("app.js", "sign-in.js", "style.css")
PARTS = {name for name in FILES if name.endswith((".js", ".css")) and "vendor/" not in name} - set(PACKS)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Give one server for all."""
    with a_world() as found:
        yield found


def address_of(name: str) -> str:
    """Return where a file is found."""
    return PAGES.get(name, f"/page/{name}")


def test_every_file_is_served_as_it_is_or_in_a_pack(world: World) -> None:
    """With the policy of the page and a type that no browser has to guess; whoever has it already gets it not again."""
    assert {"index.html", "vendor/preact.js", *PACKS} <= set(FILES)
    for name in [name for name in FILES if name not in PARTS]:
        reply = world.line.get(address_of(name))
        assert reply.status_code == 200
        assert (reply.content == FOLDER.joinpath(name).read_bytes()) is (name not in PACKS), name
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
        "/page/keys.js",
        "/page/css/tokens.css",
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


def test_page_is_fetched_in_a_few_files(world: World) -> None:
    """Every script and sheet that is on disk is in a pack, whole, and no pack asks for more than the libraries."""
    packed = {name: world.line.get(f"/page/{name}").text for name in PACKS}
    for name in sorted(PARTS):
        text = FOLDER.joinpath(name).read_text(encoding="utf-8")
        lines = [
            line for line in text.splitlines() if line.strip() and not line.startswith(("import", "export"))
        ]
        assert any(
            line in packed["style.css" if name.endswith(".css") else "app.js"] for line in lines[-3:]
        ), name
    asked = re.findall(r'^import .* from "/page/([^"]+)";$|@import', packed["app.js"], re.MULTILINE)
    assert sorted(asked) == ["vendor/hooks.js", "vendor/htm.js", "vendor/preact.js"]
    assert "@import" not in packed["style.css"]
    for page in PAGES:
        named = re.findall(r'(?:href|src)="/page/([^"]+)"', FOLDER.joinpath(page).read_text())
        assert len(set(named)) <= 3


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (
            {"app.js": 'import * as keys from "/page/keys.js";'},
            "app.js of the page cannot be packed: import * as",
        ),
        ({"app.js": "export default 1;"}, "export default 1"),
        ({"app.js": "export let count = 1;"}, "export let"),
        ({"app.js": 'export * from "/page/b.js";'}, "export * from"),
        ({"app.js": "const later = import(name);"}, "import(name)"),
        (
            {"app.js": 'import { b } from "/page/b.js";', "b.js": 'import { a } from "/page/app.js";'},
            "in a circle: app.js b.js app.js",
        ),
    ],
)
def test_module_in_a_form_that_is_not_known_is_refused(texts: dict[str, str], told: str) -> None:
    """With its name and the line: a pack that guesses would be another page."""
    with pytest.raises(ValueError, match=re.escape(told)):
        pack_script(texts, "app.js")


def test_modules_of_a_pack_have_names_of_their_own_and_run_once(tmp_path: Path) -> None:
    """After those that they import, whoever asks for them first or again."""
    texts = {
        "app.js": """
import { count, twice as double } from "/page/b.js";
import { first } from "/page/c.js";
const counted = "ours";
export const told = [count(), double(4), first, counted];
""",
        "b.js": """
let counted = 0;
export function count() {
  counted += 1;
  return counted;
}
const multiplied = (number) => 2 * number;
export { multiplied as twice };
""",
        "c.js": """
import { count } from "/page/b.js";
export const first = count();
""",
    }
    script = tmp_path / "pack.mjs"
    script.write_text(f"{pack_script(texts, 'app.js')}console.log(JSON.stringify(module_app.told));")
    ran = subprocess.run([find_node(), script], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert json.loads(ran.stdout) == [2, 8, 1, "ours"]
