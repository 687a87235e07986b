"""Crash stories of a document review: it ends at every moment that matters, and another process goes on.

What must hold, wherever that was: in memory the document has its safe fixes, its appends, or all of it, and nothing
between. Durable, each question is asked once, each entry appended once, each fix applied once, and in the end the
document and the report are those of a review that nobody disturbed.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from assent.client.client import Client
from assent.flows.walk_through.report import report_json
from assent.hub.compose import hub_on_file
from assent.protocol.decision import CompletionReport
from assent.protocol.principal import Principal, Role
from assent.testing import ThrowawayStore, throwaway
from tests.cli.reviews import DOCUMENT, FIXED, LIFETIME, ROLLBACK, ROUND_OF_FIVE, SAFE, reviewer
from tests.client.reviewing import REPLIES, Script, answering, reply_to, write_document
from tests.client.talk import Crash
from tests.patience import PATIENCE
from tests.proves import proves
from tests.scenarios.review_story import PROJECT, moments
from tools.warm import spawn

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
MOMENTS, MOST_LIVES = 6, 100
SHORT = [reviewer("coherence", SAFE, LIFETIME, ROLLBACK)]
"""A safe fix, one to apply and one to defer."""
SHORT_REPLIES = {"What should the agent do with": "A", "Finding 1 of 2": "A", "Finding 2 of 2": "B"}
MEMORY = Path("/dev/shm")
QUESTIONS = len(REPLIES) - 1
"""All but the one about the next step, which is asked only where a document has a type."""


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have throw-away stores in memory where that can be: a process dies here and not the disk, whose speed is no matter."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        monkeypatch.setattr(tempfile, "tempdir", str(MEMORY))


class Diary:
    """Notes each moment; ends everything at a chosen one."""

    def __init__(self, dies_at: int | None = None) -> None:
        self.names: list[str] = []
        self._dies_at = dies_at

    def happen(self, name: str) -> None:
        """Note a moment."""
        self.names.append(name)
        if len(self.names) - 1 == self._dies_at:
            raise Crash


class Mortal(Script):
    """A surface whose every question and word is a moment."""

    def __init__(self, diary: Diary) -> None:
        super().__init__(*list(REPLIES.values())[:QUESTIONS])
        self._diary = diary

    def read(self) -> str | None:
        self._diary.happen("read")
        reply = super().read()
        assert reply is None or isinstance(reply, str)
        return reply

    def say(self, markdown: str) -> None:
        self._diary.happen("say")
        super().say(markdown)


def review_in_memory(path: Path, diary: Diary) -> None:
    """Go through the round of five on a surface."""
    with throwaway() as store, moments(diary.happen):
        store.agent().review(ROUND_OF_FIVE, document=path, surface=Mortal(diary))


@proves("W63", "W64", "W65", "W76")
def test_review_in_memory_that_dies_at_any_moment_leaves_no_half_edited_document(tmp_path: Path) -> None:
    """Every question, word and move of a file of one review: what is in the document was written whole."""
    path = write_document(tmp_path, DOCUMENT)
    states = [DOCUMENT]

    class Watching(Diary):
        def happen(self, name: str) -> None:
            super().happen(name)
            if name == "after a move":
                states.append(path.read_text())

    undisturbed = Watching()
    review_in_memory(path, undisturbed)
    assert len(states) == 6  # as it was, a safe fix, three entries, and all fixes in one
    assert states[1] == FIXED
    assert all(state.startswith(FIXED) for state in states[1:5])
    assert not states[5].startswith(FIXED)
    for moment, name in enumerate(undisturbed.names):
        path.write_text(DOCUMENT)
        with pytest.raises(Crash):
            review_in_memory(path, Diary(moment))
        moved = undisturbed.names[: moment + 1].count("after a move")
        assert path.read_text() == states[moved], (moment, name)
        assert [found.name for found in tmp_path.iterdir() if found.name.startswith(".assent-")] == []


def test_durable_review_that_dies_at_any_moment_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    """Before and after each entry of the journal and each move of a file, with a new client each time."""
    path = write_document(tmp_path, DOCUMENT)

    def review(store: ThrowawayStore, diary: Diary) -> CompletionReport:
        answer = answering(store.person(), [], SHORT_REPLIES)
        with moments(diary.happen):
            return store.agent().review(SHORT, document=path, durable=True, present=answer)

    undisturbed = Diary()
    with throwaway() as store:
        expected = review(store, undisturbed)
    document = path.read_text()
    assert document.count("<!-- section=") == 1
    assert len(undisturbed.names) > 40
    for moment, name in enumerate(undisturbed.names):
        path.write_text(DOCUMENT)
        with throwaway() as store:
            with pytest.raises(Crash):
                review(store, Diary(moment))
            report = review(store, Diary())
            asks = store.agent().inbox(all_states=True)
        assert report == expected, (moment, name)
        assert path.read_text() == document, (moment, name)
        assert sorted(ask.prompt.title[:12] for ask in asks) == [
            "Finding 1 of",
            "Finding 2 of",
            "What should ",
        ]


def start(store: Path, document: Path, longest: int) -> subprocess.Popen[bytes]:
    """Start a process that lives so many moments; none: to the end."""
    command = [sys.executable, "-m", "tests.scenarios.review_story", str(store), str(document), str(longest)]
    return spawn(command, cwd=ROOT, stdout=subprocess.PIPE)


def test_durable_review_survives_a_process_that_is_killed_again_and_again(tmp_path: Path) -> None:
    """One review, as many processes as it takes, each killed with SIGKILL after a few moments."""
    path = write_document(tmp_path, DOCUMENT)
    with throwaway() as undisturbed:
        expected = undisturbed.agent().review(
            ROUND_OF_FIVE, document=path, durable=True, present=answering(undisturbed.person(), [])
        )
    document = path.read_text()
    path.write_text(DOCUMENT)
    store = tmp_path / "store.db"
    ana = Client(hub_on_file(store), PROJECT, Principal(Role.HUMAN, "ana"))
    try:
        lives = _live_on(lambda: start(store, path, MOMENTS), ana, path)
        assert lives > 5
        asks = ana.inbox(all_states=True)
        assert len(asks) == len({ask.prompt.title for ask in asks}) == QUESTIONS
        assert path.read_text() == document
        assert ana.verify().problems == ()
        told, _ = start(store, path, 0).communicate(timeout=PATIENCE)
        assert json.loads(told) == report_json(expected)
    finally:
        ana.close()


def _live_on(begin: Callable[[], subprocess.Popen[bytes]], ana: Client, path: Path) -> int:
    """Start one process after the other, and answer what waits in between; return how many it took."""
    for life in range(1, MOST_LIVES):
        process = begin()
        with ana.hub.follow(PROJECT, 0) as feed:
            until = time.monotonic() + PATIENCE
            while process.poll() is None:
                assert time.monotonic() < until
                feed.wait(0.05)
                for ask in ana.inbox():
                    ana.answer(ask.ask_id, reply_to(ask.prompt.title))
        process.communicate(timeout=PATIENCE)
        if process.returncode == 0:
            return life
        assert process.returncode == -signal.SIGKILL
        text = path.read_text()
        assert text == DOCUMENT or text.count("<!-- section=") in (0, 1, 2, 3)
        assert text.startswith(FIXED) or "fetch_all" in text or text == DOCUMENT
    raise AssertionError("It never came to its end.")
