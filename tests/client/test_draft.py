"""What a person has answered of a round so far: kept for them, for that very ask, and no longer than it is needed."""

import os
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.client.draft import add_to_draft, drop_draft, load_draft
from assent.protocol.ask import Ask
from assent.protocol.error import TooLargeError
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import Field, Option, Prompt
from assent.testing import throwaway
from tests.patience import PATIENCE

__all__: list[str] = []

ANA, SAM = Principal(Role.HUMAN, "ana"), Principal(Role.HUMAN, "sam")
FIELDS = (
    Field("db", "Which?", (Option("pg", "PostgreSQL"), Option("lite", "SQLite"))),
    *(Field(f"n{number}", "Why?", free=True) for number in range(1, 21)),
)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Give a home of one's own."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def ask() -> Ask:
    """Give an open round."""
    with throwaway() as store:
        return store.agent().open(Prompt("Setup", fields=FIELDS)).ask


def test_draft_grows_and_is_gone_when_dropped(environ: dict[str, str], ask: Ask) -> None:
    """What was given last counts; what was wrong is asked again; all of it is for the owner's eyes only."""
    assert load_draft(environ, ask, ANA) == {}
    assert add_to_draft(environ, ask, ANA, {"db": ("pg",)}) == {"db": ("pg",)}
    assert add_to_draft(environ, ask, ANA, {"n1": ("x",), "db": ("lite",)}) == {"db": ("lite",), "n1": ("x",)}
    assert load_draft(environ, ask, ANA) == {"db": ("lite",), "n1": ("x",)}
    assert add_to_draft(environ, ask, ANA, {}, ["db"]) == {"n1": ("x",)}
    (kept,) = Path(environ["XDG_STATE_HOME"]).glob("assent/drafts/*.json")
    assert kept.stat().st_mode & 0o077 == 0
    assert kept.parent.stat().st_mode & 0o077 == 0
    drop_draft(environ, ask)
    drop_draft(environ, ask)
    assert load_draft(environ, ask, ANA) == {}
    assert add_to_draft(environ, ask, ANA, {"db": ("pg",)}) == {"db": ("pg",)}
    assert add_to_draft(environ, ask, ANA, {}, ["db"]) == {}
    assert not list(kept.parent.glob("*.json"))


def test_draft_is_for_one_person_and_one_prompt(environ: dict[str, str], ask: Ask) -> None:
    """Nobody sends what another said, and nothing answers a question that was not asked."""
    add_to_draft(environ, ask, ANA, {"db": ("pg",)})
    assert load_draft(environ, ask, SAM) == {}
    assert load_draft(environ, replace(ask, digest="sha256:0"), ANA) == {}


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"\xff", b'{"by":"human:ana"}', b" " * (2 << 20)], ids=len
)
def test_file_that_is_no_draft_is_no_draft(environ: dict[str, str], ask: Ask, text: bytes) -> None:
    """Somebody else's bytes neither fail nor answer."""
    add_to_draft(environ, ask, ANA, {"db": ("pg",)})
    (kept,) = Path(environ["XDG_STATE_HOME"]).glob("assent/drafts/*.json")
    kept.write_bytes(text)
    assert load_draft(environ, ask, ANA) == {}


def test_value_that_does_not_fit_is_left_out(environ: dict[str, str], ask: Ask) -> None:
    """Whoever wrote it there, it is checked like a reply."""
    add_to_draft(environ, ask, ANA, {"db": ("MySQL",), "n1": ("fine",), "nobody": ("asked",), "n2": (" ",)})
    assert load_draft(environ, ask, ANA) == {"n1": ("fine",)}


def test_draft_that_cannot_be_kept_is_not_kept(tmp_path: Path, ask: Ask) -> None:
    """Without a home, or where nothing can be written, a reply has to be given whole."""
    (tmp_path / "file").write_text("")
    for environ in ({}, {"XDG_STATE_HOME": str(tmp_path / "file")}):
        assert add_to_draft(environ, ask, ANA, {"db": ("pg",)}) == {}
        assert load_draft(environ, ask, ANA) == {}
        drop_draft(environ, ask)


def test_draft_has_a_limit(environ: dict[str, str], ask: Ask) -> None:
    """What was kept before stays."""
    add_to_draft(environ, ask, ANA, {"db": ("pg",)})
    with pytest.raises(TooLargeError):
        add_to_draft(environ, ask, ANA, {f"n{number}": ("x" * 60_000,) for number in range(1, 21)})
    assert load_draft(environ, ask, ANA) == {"db": ("pg",)}


def test_only_so_many_drafts_are_kept(environ: dict[str, str], ask: Ask) -> None:
    """The oldest go first."""
    folder = Path(environ["XDG_STATE_HOME"]) / "assent" / "drafts"
    add_to_draft(environ, ask, ANA, {"db": ("pg",)})
    for number in range(250):
        path = folder / f"ask_{number:03}.json"
        path.write_text("{}")
        os.utime(path, (number, number))
    add_to_draft(environ, ask, ANA, {"n1": ("x",)})
    left = sorted(path.name for path in folder.glob("ask_???.json"))
    assert left == [f"ask_{number:03}.json" for number in range(51, 250)]
    assert load_draft(environ, ask, ANA) == {"db": ("pg",), "n1": ("x",)}


def test_parts_that_are_given_at_the_same_moment_are_all_kept(environ: dict[str, str], ask: Ask) -> None:
    """Each of them reads, adds and writes; none may write over another."""
    parts = [{f"n{number}": (str(number),)} for number in range(1, 21)]
    threads = [threading.Thread(target=add_to_draft, args=(environ, ask, ANA, part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert load_draft(environ, ask, ANA) == {f"n{number}": (str(number),) for number in range(1, 21)}
