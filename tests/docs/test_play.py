"""What the pages show is what happens: their programs run, their terminals say the same again."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tools.page import Page, pages
from tools.play import PlayError, is_played, play, program_of

__all__: list[str] = []

PLAYED = [page for page in pages() if is_played(page)]


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.name)
def test_page_shows_what_happens(page: Page) -> None:
    """Every block that is marked `run` or `play`, in order, in one empty folder."""
    assert play(page) == page.text


def test_every_kind_of_page_is_played() -> None:
    """A page whose marks were lost would pass in silence."""
    names = {page.name for page in PLAYED}
    assert {"README.md", "docs/tutorial/first-ask.md", "docs/tutorial/first-review.md"} <= names
    how_to = {page.name for page in pages() if page.name.startswith("docs/how-to/")}
    assert len(how_to) >= 8
    # Those that are not show what a real program does, and are played by host_tests/test_pages.py.
    assert how_to <= names | {page.name for page in pages() if program_of(page)}


def test_block_with_a_real_program_is_played_where_that_is_ready_and_nowhere_else(tmp_path: Path) -> None:
    """`make test` has no such programs, and must not pass over the rest of the page."""
    page = make_page(tmp_path, "console play=greeter\n$ greet\nHello", "console play\n$ echo 1\n1")
    assert (program_of(page), is_played(page), play(page)) == ("greeter", True, page.text)

    @contextmanager
    def cast(folder: Path, ports: Mapping[str, str]) -> Iterator[dict[str, str]]:
        assert (folder / "shop").is_dir()
        assert ports["4096"] != "4096"
        greet = folder / "home" / "greet"
        greet.write_text("#!/bin/sh\necho Goodbye\n")
        greet.chmod(0o755)
        yield {"PATH": f"{greet.parent}:/usr/bin:/bin"}

    with pytest.raises(PlayError, match=r"\+Goodbye"):
        play(page, cast=cast)


def test_program_that_has_a_fault_is_not_captured(tmp_path: Path) -> None:
    """A page that is captured anew must not tell of an accident as if it were meant."""
    page = make_page(tmp_path, "console play\n$ python -c 'boom'")
    with pytest.raises(PlayError, match="must not stand on a page"):
        play(page, writes=True)


def make_page(folder: Path, *blocks: str) -> Page:
    """Write a page of just these blocks."""
    path = folder / "page.md"
    path.write_text("\n".join(f"```{block}\n```\n" for block in blocks))
    return Page(path)


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [
        (["console play\n$ assent inbox\nSomething waits."], "+Nothing waits."),
        (["console play\n$ assent answer aaaaa1 Yes"], "nothing on the terminals is the aaaaa1 of the page"),
        (["python run\nraise SystemExit(3)"], "it ended with status 3"),
        (["python run\nprint(1)", "text output\n2"], "+1"),
        (
            ['python run answers="Yes|No"\nimport assent\nassent.connect().ask("Go?", ["Yes", "No"])'],
            "never came to",
        ),
    ],
)
def test_page_that_shows_something_else_is_reported(
    tmp_path: Path, blocks: list[str], complaint: str
) -> None:
    """Twin of the test above."""
    with pytest.raises(PlayError) as refused:
        play(make_page(tmp_path, *blocks))
    assert complaint in str(refused.value)


def test_page_with_other_ids_and_moments_is_the_same(tmp_path: Path) -> None:
    """They differ in every run, and must still be used consistently."""
    ask = "console play waits\n$ assent ask Tea? --key t < /dev/null\nwaiting for an answer: assent answer 7wqtb2 …"
    answer = 'console play terminal=two\n$ assent answer 7wqtb2 yes\nana answered: "yes"\nAsked: Tea? (shop, agent:ana)'
    page = make_page(tmp_path, ask, answer, "console play more\nyes")
    assert play(page) == page.text
    with pytest.raises(PlayError, match="nothing on the terminals is the 8wqtb3"):
        play(make_page(tmp_path, ask, answer.replace("7wqtb2", "8wqtb3")))


def test_reply_in_a_later_block_is_typed_at_the_prompt_that_was_left(tmp_path: Path) -> None:
    """A page may explain between two questions of one command, which stores nothing."""
    first = "console play waits=again\n$ for name in a b; do read -p '> ' reply; echo \"$name: $reply\"; done\n> one\na: one\n>"
    page = make_page(tmp_path, first, "console play more\n> two\nb: two")
    assert play(page) == page.text
    with pytest.raises(PlayError, match=r"\+b: two"):
        play(make_page(tmp_path, first, "console play more\n> two\nb: three"))


def test_page_with_the_review_of_another_day_is_the_same(tmp_path: Path) -> None:
    """A deferral stands under its day, and pages are played on other days, too."""
    shown = "console play\n$ echo From $(date +%Y-%m-%d) review\nFrom 2026-01-31 {word}"
    page = make_page(tmp_path, shown.format(word="review"))
    assert play(page) == page.text
    with pytest.raises(PlayError, match="came out differently"):
        play(make_page(tmp_path, shown.format(word="session")))


def test_server_of_a_page_has_a_port_of_its_own(tmp_path: Path) -> None:
    """So that pages can be played side by side, and where somebody else listens on the usual port."""
    page = make_page(
        tmp_path,
        "text file=address\nhttp://127.0.0.1:8484/",
        "console play\n$ cat address\nhttp://127.0.0.1:8484/",
        "console play\n$ test $(cat address) = http://127.0.0.1:84''84/ || echo another port\nanother port",
    )
    assert play(page) == page.text


def test_key_that_ends_a_command_is_pressed(tmp_path: Path) -> None:
    """A server is stopped as people stop it."""
    program = "import signal as s; s.pthread_sigmask(s.SIG_BLOCK, [2]); print('on', flush=True); s.sigwait([2]); print('over')"
    page = make_page(
        tmp_path,
        f'console play waits=again\n$ python -c "{program}"\non',
        "console play more\n^Cover",
    )
    assert play(page) == page.text


def test_secret_is_not_captured(tmp_path: Path) -> None:
    """What stands on a page opens nothing, anywhere."""
    page = make_page(tmp_path, "console play\n$ printf 'assent_%064x\\n' 77\nNothing.")
    assert "assent_" + "0123456789abcdef" * 4 in play(page, writes=True)
