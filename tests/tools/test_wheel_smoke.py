"""A wheel that lacks something is refused, and every extra has a story."""

import tomllib
from pathlib import Path

from tools.setup import ROOT
from tools.smoke_stories import STORIES
from tools.wheel_smoke import NEEDED, PACKAGE, SAMPLE, wheel_faults

__all__: list[str] = []


def held() -> dict[str, bytes]:
    """Return what a whole wheel holds."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = (
        f"Name: {declared['name']}\nVersion: {declared['version']}\n"
        f"License-Expression: {declared['license']}\nRequires-Python: {declared['requires-python']}\n\n"
    )
    files = {
        f"assent/{path.relative_to(PACKAGE).as_posix()}": b""
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    licenses = {f"a.dist-info/licenses/{name}": b"" for name in declared["license-files"]}
    return {**files, **licenses, "a.dist-info/METADATA": told.encode()}


def test_whole_wheel_has_no_fault() -> None:
    """Twin of the test below."""
    assert wheel_faults(held(), PACKAGE) == []


def test_each_thing_that_a_wheel_lacks_is_named() -> None:
    """A file, a license, a stray, and a name in the metadata."""
    lacking = held()
    for name in (*NEEDED, "a.dist-info/licenses/LICENSE"):
        del lacking[name]
    lacking["assent/left.py"] = b""
    lacking["a.dist-info/METADATA"] = lacking["a.dist-info/METADATA"].replace(b"Name: assent", b"Name: other")
    assert wheel_faults(lacking, PACKAGE) == [
        *(f"{name} is missing" for name in sorted(NEEDED)),
        "assent/left.py does not belong there",
        "its metadata has Name: other, not assent",
        "the license LICENSE is missing",
    ]


def test_every_extra_has_a_story() -> None:
    """Only crewai has none, for its adapter imports nothing of it; `all` is the others together."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(STORIES) - {"core"} == set(declared) - {"all", "crewai"}


def test_sample_for_the_oldest_dependencies_is_there() -> None:
    """A test file that was renamed does not leave the sample in silence."""
    assert [place for place in SAMPLE if not Path(ROOT, place).exists()] == []
