"""What somebody marked or wrote and did not send survives the program."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from assent.surfaces.tui.draft import MAX_DRAFT_BYTES, Drafts
from assent.surfaces.tui.reply import FieldReply, Reply
from tests.chance import examples
from tests.patience import PATIENCE
from tools.warm import spawn

__all__: list[str] = []

REPLY = Reply({"q1": FieldReply(("SQLite",), "the partner still pins 2.x")})

# One sitting as a process: a key a line, and a line back when it was taken in.
_SITTING = """
import sys
from pathlib import Path
from assent.surfaces.tui.sitting import Sitting
from assent.surfaces.tui.draft import Drafts
from tests.surfaces.tui.asks import Table, make_ask, ROUND, ONE
table = Table(make_ask(ONE, "a1", minutes=1), make_ask(ROUND, "a2", minutes=2), folder=Path(sys.argv[1]))
for line in sys.stdin:
    kind, _, rest = line.rstrip("\\n").partition(" ")
    table.press(rest) if kind == "key" else table.sitting.typed("field:2", rest)
    print("taken", flush=True)
"""


def test_draft_is_found_by_the_next_program(tmp_path: Path) -> None:
    """With everything that was in it, and readable by this user alone."""
    drafts = Drafts(tmp_path / "drafts")
    assert drafts.keep("ask_1", REPLY)
    again = Drafts(tmp_path / "drafts")
    assert (again.read("ask_1"), again.read("ask_2"), again.has("ask_1")) == (REPLY, None, True)
    (path,) = (tmp_path / "drafts").iterdir()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_draft_that_is_empty_or_dropped_leaves_no_file(tmp_path: Path) -> None:
    """Nothing of an answer that was sent stays behind."""
    drafts = Drafts(tmp_path)
    drafts.keep("ask_1", REPLY)
    drafts.keep("ask_1", Reply())
    drafts.keep("ask_2", REPLY)
    Drafts(tmp_path).drop("ask_2")
    assert list(tmp_path.iterdir()) == []
    assert Drafts(tmp_path).read("ask_1") is None


def test_draft_without_a_folder_is_kept_while_the_program_runs() -> None:
    """And is said not to outlive it."""
    drafts = Drafts(None)
    assert drafts.keep("ask_1", REPLY) is False
    assert drafts.read("ask_1") == REPLY
    drafts.drop("ask_1")
    assert drafts.read("ask_1") is None


def test_draft_in_a_folder_that_cannot_be_written_to_is_kept_in_the_program(tmp_path: Path) -> None:
    """A file is where the folder should be: nobody is stopped from answering by that."""
    (tmp_path / "drafts").write_text("a file")
    drafts = Drafts(tmp_path / "drafts")
    assert drafts.keep("ask_1", REPLY) is False
    assert drafts.read("ask_1") == REPLY
    drafts.sweep(0.0)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"fields": 3}', b"\xff\xfe", b"[" * 200_000, b'"' + b"x" * MAX_DRAFT_BYTES + b'"'],
    ids=["empty", "half", "other", "bytes", "deep", "large"],
)
def test_file_that_is_no_draft_counts_as_none(tmp_path: Path, text: bytes) -> None:
    """Whatever is in it."""
    Drafts(tmp_path).keep("ask_1", REPLY)
    (path,) = tmp_path.iterdir()
    path.write_bytes(text)
    assert Drafts(tmp_path).read("ask_1") is None


def test_id_of_an_ask_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    """A server says what its asks are called."""
    folder = tmp_path / "drafts"
    for ask_id in ("../../evil", "/etc/passwd", "a\0b", "\ud800", "x" * 5_000):
        assert Drafts(folder).keep(ask_id, REPLY)
        assert Drafts(folder).read(ask_id) == REPLY
    assert [path.name for path in tmp_path.iterdir()] == ["drafts"]


def test_place_of_a_sitting_is_found_by_the_next_one(tmp_path: Path) -> None:
    """Which ask was open; none where nobody knows."""
    assert Drafts(tmp_path).recall() == ""
    Drafts(tmp_path).remember("ask_7")
    assert Drafts(tmp_path).recall() == "ask_7"
    (tmp_path / "place.json").write_text("[")
    assert Drafts(tmp_path).recall() == ""


def test_drafts_that_nobody_touched_for_weeks_are_swept_away(tmp_path: Path) -> None:
    """Younger ones stay."""
    drafts = Drafts(tmp_path)
    drafts.keep("ask_1", REPLY)
    (old,) = tmp_path.iterdir()
    os.utime(old, (0, 0))
    drafts.keep("ask_2", REPLY)
    drafts.sweep(15 * 86_400.0)
    assert not old.exists()
    assert Drafts(tmp_path).has("ask_2")


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(alphabet=st.characters(), max_size=20), keys=st.lists(st.text(max_size=3), max_size=3))
def test_any_draft_comes_back_as_it_was_or_as_it_can_be_written(
    tmp_path: Path, text: str, keys: list[str]
) -> None:
    """What a terminal typed may be no text: then its broken characters are question marks, and the rest stays."""
    reply = Reply({"q": FieldReply(tuple(keys), f"x{text}")})
    assert Drafts(tmp_path).keep("ask", reply)
    found = Drafts(tmp_path).read("ask")
    assert found is not None
    assert found.of("q").text == f"x{text}".encode(errors="replace").decode()


@pytest.mark.parametrize("taken", range(1, 7))
def test_sitting_that_is_killed_between_two_keys_has_lost_nothing_before_it(
    tmp_path: Path, taken: int
) -> None:
    """A real process and a real SIGKILL: after each key, what was marked and typed so far is there, and so is the place."""
    keys = ["key j", "key enter", "key a", "key c", "text both", "text both halves"]
    with spawn(
        [sys.executable, "-c", _SITTING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for key in keys[:taken]:
            process.stdin.write(f"{key}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "taken\n"
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    after = Drafts(tmp_path)
    marked = tuple(key for number, key in ((3, "Eu"), (4, "Asia")) if taken >= number)
    text = "both halves" if taken >= 6 else "both" if taken >= 5 else ""
    reply = after.read("ask_a2") or Reply()
    assert after.recall() == "ask_a2"
    assert (reply.of("q1").keys, reply.of("q3").text) == (marked, text)
