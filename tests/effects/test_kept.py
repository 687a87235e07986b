"""The files that a review keeps: three names in one folder, replaced in one move, and never through a link."""

import os
import re
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from assent.effects.kept import EARLIER, FINDINGS, STATE, TODO, Kept, kept_performers
from assent.effects.performer import find_performer, intend, settle
from assent.effects.place import MAX_FILE_BYTES
from assent.flows.gate import AddTodo
from assent.flows.session.effect import (
    ClearSession,
    CountTodos,
    InitTodo,
    SaveFindings,
    SaveSession,
    TickTodo,
)
from assent.flows.session.finding import begin, enter
from assent.flows.session.state import parse_state
from assent.flows.step import Done, Effect, Failed
from assent.protocol.error import EffectError, PathRefusedError
from assent.protocol.review import MAX_FINDINGS, Category, Chunk, Finding, PullRequest, Review, Severity

__all__: list[str] = []

NOON = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
FINDING = Finding(Severity.CRITICAL, "It never ends", "a.py", 3, Category.BUG, 95, "Why?")
REVIEW = Review(PullRequest("acme", "shop", 7, "a" * 40), (Chunk("one", ("a.py", "b.py"), 9, (FINDING,)),))
SESSION = enter(begin(REVIEW, NOON.isoformat()), 1)


class Desk:
    """A folder and those who keep files in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = 4
        self.performers = kept_performers(folder, lambda: NOON, lambda: self.asked)

    def do(self, effect: Effect) -> Done | Failed:
        """Have an effect done."""
        performer = find_performer(self.performers, effect)
        intention = intend(performer, effect)
        return intention if isinstance(intention, Failed) else settle(performer, intention)

    def read(self, name: str) -> str:
        """Return a file of the folder."""
        return (self.folder / name).read_text(encoding="utf-8")

    def names(self) -> set[str]:
        """Return what is in the folder."""
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Give a desk whose folder is not there yet."""
    return Desk(tmp_path / "shop" / ".assent")


def test_session_is_kept_with_the_number_of_settled_asks(desk: Desk) -> None:
    """So that whoever resumes knows which reply is next."""
    assert desk.do(SaveSession(SESSION)) == Done()
    assert parse_state(desk.read(STATE).encode()) == replace(SESSION, asked=4)
    assert 'updated: "2030-01-01T12:00:00+00:00"\n' in desk.read(STATE)


def test_folder_is_for_this_user_alone_and_not_for_git(desk: Desk) -> None:
    """Whatever the umask is."""
    before = os.umask(0)
    try:
        desk.do(SaveSession(SESSION))
    finally:
        os.umask(before)
    assert stat.S_IMODE(desk.folder.stat().st_mode) == 0o700
    assert desk.read(".gitignore") == "*\n"


def test_folder_that_is_there_stays_as_it_is(desk: Desk) -> None:
    """Its owner may have had reasons."""
    desk.folder.mkdir(parents=True, mode=0o755)
    (desk.folder / ".gitignore").write_text("mine\n")
    desk.do(SaveSession(SESSION))
    assert desk.read(".gitignore") == "mine\n"


def test_only_the_three_names_and_nothing_else_is_written(desk: Desk) -> None:
    """No scratch file is left either."""
    for effect in (SaveSession(SESSION), SaveFindings(SESSION), InitTodo(SESSION), AddTodo("x")):
        assert isinstance(desk.do(effect), Done)
    assert desk.names() == {".gitignore", STATE, FINDINGS, TODO}


def test_export_of_another_review_is_kept_aside(desk: Desk) -> None:
    """What was saved is never lost without a word."""
    desk.do(SaveFindings(OTHER))
    before = (desk.folder / FINDINGS).read_bytes()
    told = desk.do(SaveFindings(SESSION))
    assert told == Done(f".assent/{FINDINGS}; those that were there before are in .assent/{EARLIER}")
    assert (desk.folder / EARLIER).read_bytes() == before
    desk.do(SaveFindings(SESSION))
    assert (desk.folder / EARLIER).read_bytes() == before


def test_exported_findings_are_found_where_it_says(desk: Desk) -> None:
    """The result is a path from the project's root."""
    assert desk.do(SaveFindings(SESSION)) == Done(".assent/review-findings.md")
    assert [held.finding_id for held in parse_state(desk.read(FINDINGS).encode()).held] == ["H1"]


@pytest.mark.parametrize(("keeps", "left"), [(True, {FINDINGS, TODO}), (False, set())])
def test_cleared_session_leaves_what_it_is_told_to(desk: Desk, left: set[str], *, keeps: bool) -> None:
    """Clearing twice, or where nothing is, is no error."""
    assert desk.do(ClearSession()) == Done()
    for effect in (SaveSession(SESSION), SaveFindings(SESSION), InitTodo(SESSION)):
        desk.do(effect)
    (desk.folder / "gates.toml").write_text("")
    assert desk.do(ClearSession(keeps_findings=keeps)) == Done()
    assert desk.names() - {".gitignore", "gates.toml"} == left
    assert desk.do(ClearSession(keeps_findings=keeps)) == Done()
    assert (desk.folder / "gates.toml").exists()


OTHER = replace(SESSION, started="2030-01-02T12:00:00+00:00")


@pytest.mark.parametrize(
    ("effects", "left"),
    [
        ((SaveFindings(SESSION), SaveSession(OTHER), InitTodo(OTHER)), {STATE, TODO}),
        ((SaveFindings(OTHER), SaveSession(SESSION), InitTodo(SESSION)), {FINDINGS}),
        ((SaveFindings(SESSION), SaveSession(SESSION), InitTodo(SESSION)), set()),
        ((SaveFindings(SESSION), InitTodo(SESSION)), set()),
    ],
)
def test_end_of_a_session_leaves_the_files_of_another(
    desk: Desk, effects: tuple[Effect, ...], left: set[str]
) -> None:
    """Findings that were saved and posted today take along no review that was paused, and the other way round."""
    for effect in effects:
        desk.do(effect)
    assert desk.do(ClearSession(started=SESSION.started)) == Done()
    assert desk.names() - {".gitignore"} == left


def test_reader_sees_the_old_file_or_the_new_one(desk: Desk) -> None:
    """A file that was opened before stays whole: the new one is another file."""
    desk.do(SaveSession(SESSION))
    with (desk.folder / STATE).open("rb") as before:
        desk.do(SaveSession(replace(SESSION, focus="types")))
        assert parse_state(before.read()).focus == ""
    assert parse_state(desk.read(STATE).encode()).focus == "types"


@pytest.mark.parametrize("name", [STATE, FINDINGS, TODO])
@pytest.mark.parametrize("target", ["assent.db", "../outside.txt", "nowhere"])
def test_link_is_neither_followed_nor_replaced(desk: Desk, name: str, target: str) -> None:
    """Be it to the store beside it, which is in the same folder."""
    desk.folder.mkdir(parents=True)
    for victim in ("assent.db", "../outside.txt"):
        (desk.folder / victim).write_text("precious")
    (desk.folder / name).symlink_to(target)
    effects = {STATE: SaveSession(SESSION), FINDINGS: SaveFindings(SESSION), TODO: AddTodo("x")}
    came = desk.do(effects[name])
    assert isinstance(came, Failed)
    assert came.code == "path_refused"
    with pytest.raises(PathRefusedError):
        Kept(desk.folder).read(name)
    assert (desk.folder / name).is_symlink()
    assert {desk.read(victim) for victim in ("assent.db", "../outside.txt")} == {"precious"}
    assert not (desk.folder / "nowhere").exists()


def test_pipe_or_folder_in_its_place_is_refused(desk: Desk) -> None:
    """And nobody waits for the pipe's other end."""
    desk.folder.mkdir(parents=True)
    os.mkfifo(desk.folder / STATE)
    (desk.folder / TODO).mkdir()
    for effect in (SaveSession(SESSION), AddTodo("x"), CountTodos()):
        came = desk.do(effect)
        assert isinstance(came, Failed)
        assert came.code == "path_refused"


def test_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file in its place; the flow can say so, and nothing breaks."""
    (tmp_path / ".assent").write_text("a file")
    came = Desk(tmp_path / ".assent").do(SaveSession(SESSION))
    assert isinstance(came, Failed)
    assert came.message == ".assent cannot be made: File exists."
    with pytest.raises(EffectError):
        Kept(tmp_path / ".assent" / "below").write(STATE, "x")


def test_file_that_cannot_be_removed_is_told(desk: Desk) -> None:
    """In a sentence, not with a traceback."""
    (desk.folder / STATE).mkdir(parents=True)
    came = desk.do(ClearSession())
    assert isinstance(came, Failed)
    assert came.message.startswith(f"{STATE} cannot be removed: ")


def test_task_is_kept_with_an_id_of_its_own(desk: Desk) -> None:
    """Also two in one moment."""
    for text in ("one", "two", "one"):
        assert desk.do(AddTodo(text)) == Done()
    ids = re.findall(r"<!-- id: (\S+) -->", desk.read(TODO))
    assert ids == ["20300101T120000.000000Z-1", "20300101T120000.000000Z-2"]
    assert desk.do(CountTodos()) == Done(2)


def test_edit_of_a_person_survives_what_we_do_to_the_list(desk: Desk) -> None:
    """Their note, their tick, their task."""
    desk.do(InitTodo(SESSION))
    desk.do(AddTodo("one"))
    edited = desk.read(TODO).replace("- [ ] one", "- [x] one") + "- [ ] mine\n\n## Notes\n\nKeep me.\n"
    (desk.folder / TODO).write_text(edited)
    desk.do(AddTodo("two"))
    desk.do(TickTodo("Chunk 1: one"))
    after = desk.read(TODO)
    assert "- [x] one <!--" in after
    assert "- [ ] mine\n- [ ] two <!-- id: " in after
    assert after.endswith("\n\n## Notes\n\nKeep me.\n")
    assert "- [x] Chunk 1: one\n" in after
    assert desk.do(CountTodos()) == Done(2)


def test_list_that_is_no_text_is_left_as_it_is(desk: Desk) -> None:
    """Somebody's bytes are not ours to replace."""
    desk.folder.mkdir(parents=True)
    (desk.folder / TODO).write_bytes(b"caf\xe9\n")
    came = desk.do(AddTodo("x"))
    assert came == Failed("effect_failed", f"{TODO} is not UTF-8 text, so it is left as it is.")
    assert (desk.folder / TODO).read_bytes() == b"caf\xe9\n"


def test_session_larger_than_an_ordinary_document_is_kept(desk: Desk) -> None:
    """As large as a review may be, and the findings twice."""
    findings = (replace(FINDING, description="x" * 3_000),) * MAX_FINDINGS
    chunk = replace(REVIEW.chunks[0], findings=findings)
    large = enter(begin(replace(REVIEW, chunks=(chunk,)), NOON.isoformat()), 1)
    assert desk.do(SaveSession(large)) == Done()
    kept = Kept(desk.folder).read(STATE).content
    assert len(kept) > MAX_FILE_BYTES
    assert parse_state(kept) == replace(large, asked=4)


def test_tick_where_there_is_no_list_makes_none(desk: Desk) -> None:
    """The quick mode has no list."""
    assert desk.do(TickTodo("Synthesis")) == Done()
    assert desk.do(CountTodos()) == Done(0)
    assert not desk.folder.exists()
