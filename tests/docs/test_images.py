"""The pictures of the docs are all there, all shown, and light enough for a clone."""

import re

from tools.page import ROOT, pages
from tools.shots import FOLDER, MAX_BYTES, names

__all__: list[str] = []

ALL_BYTES = 3_000_000
SHOWN = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<place>[^)]+\.png)\)")


def test_pictures_are_those_that_are_taken() -> None:
    """A picture that nobody takes any more shows a page that is gone."""
    assert {path.stem for path in FOLDER.iterdir()} == names()


def test_every_picture_is_shown_with_words_for_those_who_cannot_see_it() -> None:
    """And no page shows one that is not there."""
    shown = [(page, found) for page in pages() for found in SHOWN.finditer(page.text)]
    assert {(page.path.parent / found["place"]).resolve() for page, found in shown} == set(FOLDER.iterdir())
    assert [page.name for page, found in shown if not found["words"].strip()] == []


def test_pictures_are_light() -> None:
    """Each, and all together."""
    sizes = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert [name for name, size in sizes.items() if size > MAX_BYTES] == []
    assert sum(sizes.values()) < ALL_BYTES


def test_first_picture_of_the_readme_is_the_only_one() -> None:
    """One look sells it; more would push the terminals off the screen."""
    assert len(SHOWN.findall((ROOT / "README.md").read_text(encoding="utf-8"))) == 1
