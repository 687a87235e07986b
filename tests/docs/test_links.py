"""Every link leads somewhere, and every page can be reached."""

from pathlib import Path

import pytest

from tools.page import ROOT, Page, pages

__all__: list[str] = []


def dead_links(page: Page) -> list[str]:
    """List the relative links of a page whose file or heading does not exist."""
    dead = []
    for line, target in page.links():
        if "://" in target or target.startswith("mailto:"):
            continue
        place, _, anchor = target.partition("#")
        path = (page.path.parent / place).resolve() if place else page.path
        is_there = path.exists() and (not anchor or anchor in Page(path).anchors())
        if not is_there:
            dead.append(f"{page.name}:{line}: {target}")
    return dead


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_link_leads_somewhere(page: Page) -> None:
    """Also to a heading inside a page."""
    assert dead_links(page) == []


def test_dead_link_is_reported(tmp_path: Path) -> None:
    """Twin of the test above."""
    (tmp_path / "a.md").write_text("# Here it is\n")
    path = tmp_path / "b.md"
    path.write_text(
        "[x](a.md) [x](a.md#here-it-is) [x](c.md)\n[x](a.md#gone)\n```\n[x](in-a-block.md)\n```\n"
    )
    assert dead_links(Page(path)) == ["b.md:1: c.md", "b.md:2: a.md#gone"]


def test_every_page_can_be_reached_from_the_index() -> None:
    """A page that nobody links is a page that nobody reads."""
    index = Page(ROOT / "docs" / "README.md")
    linked = {(index.path.parent / target.partition("#")[0]).resolve() for _, target in index.links()}
    lost = [
        page.name
        for page in pages()
        if page.path.parent != ROOT and page.path != index.path and page.path not in linked
    ]
    assert lost == []


def test_link_to_the_outside_is_not_needed() -> None:
    """The docs are whole without a network."""
    outside = [f"{page.name}: {target}" for page in pages() for _, target in page.links() if "://" in target]
    assert outside == []
