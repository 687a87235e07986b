"""Looking into a finding with a real command: what it prints, how it fails, and that nothing of it stays behind."""

import json
import os
import sys
from pathlib import Path

import psutil
import pytest

from assent.client.identity import person
from assent.effects.deep_dive import MAX_DIVE_BYTES, deep_dive_performers, run_dive
from assent.effects.performer import find_performer, intend, settle
from assent.flows.session.effect import DeepDive
from assent.flows.session.finding import Held
from assent.flows.step import Done, Failed
from assent.protocol.canonical import Json
from assent.protocol.error import EffectError, ForbiddenError
from assent.protocol.review import Category, Finding, Severity
from tests.effects.processes import DEADLINE, SLEEPS, STARTS_ANOTHER, Alive, wait_until_empty

__all__: list[str] = []

FINDING = Finding(Severity.CRITICAL, "It never ends", "a.py", 3, Category.BUG, 95, "Why?")
EFFECT = DeepDive("Suggest fix", Held("H1", 2, FINDING), "acme/shop#7")


def dive(folder: Path, source: str, *arguments: str, seconds: float = DEADLINE) -> str:
    """Run a small program on a finding."""
    command = [sys.executable, "-c", source, *arguments]
    return run_dive(command, folder, os.environ, seconds)("Suggest fix", {"id": "H1"})


def test_command_gets_the_finding_as_json_and_what_it_prints_is_shown(tmp_path: Path) -> None:
    """On standard input only, in the project's folder; both of its outputs count."""
    source = (
        "import json, os, sys; asked = json.load(sys.stdin);"
        "print(json.dumps([asked, os.getcwd(), sys.argv[1:]]), flush=True); print('ready', file=sys.stderr)"
    )
    performer = find_performer(
        deep_dive_performers(run_dive([sys.executable, "-c", source, "$(x)"], tmp_path, os.environ)), EFFECT
    )
    intention = intend(performer, EFFECT)
    assert not isinstance(intention, Failed)
    came = settle(performer, intention)
    assert isinstance(came, Done)
    assert isinstance(came.result, str)
    line, ready, _ = came.result.split("\n")
    asked, folder, words = json.loads(line)
    assert asked == {
        "action": "Suggest fix",
        "finding": {
            "severity": "critical",
            "title": "It never ends",
            "file": "a.py",
            "line": 3,
            "category": "bug",
            "confidence": 95,
            "description": "Why?",
            "id": "H1",
            "chunk": 2,
            "review": "acme/shop#7",
        },
    }
    assert (Path(folder), words, ready) == (tmp_path.resolve(), ["$(x)"], "ready")


def test_without_a_command_it_is_told_that_there_is_none() -> None:
    """A failure that a session can show."""
    performer = find_performer(deep_dive_performers(None), EFFECT)
    intention = intend(performer, EFFECT)
    assert not isinstance(intention, Failed)
    assert settle(performer, intention) == Failed(
        "effect_failed", "No command is configured that looks into findings."
    )


def test_callback_gets_the_action_and_the_finding() -> None:
    """A function of Python does as well as a command."""
    seen: list[tuple[str, Json]] = []

    def look(action: str, finding: dict[str, Json]) -> str:
        seen.append((action, finding["id"]))
        return "Use a bound."

    performer = find_performer(deep_dive_performers(look), EFFECT)
    intention = intend(performer, EFFECT)
    assert not isinstance(intention, Failed)
    assert settle(performer, intention) == Done("Use a bound.")
    assert seen == [("Suggest fix", "H1")]


def test_failing_command_is_told_with_its_status_and_words(tmp_path: Path) -> None:
    """On one line."""
    with pytest.raises(EffectError) as caught:
        dive(tmp_path, "import sys; print('no\\x1b[2J model'); sys.exit(3)")
    assert caught.value.message == f'"{sys.executable}" ended with status 3: no<U+001B>[2J model<U+000A>'


def test_missing_program_is_told(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(EffectError) as caught:
        run_dive(["./no-such-program"], tmp_path, os.environ)("Suggest fix", {})
    assert caught.value.message == '"./no-such-program" cannot be run: No such file or directory.'


def test_command_that_takes_too_long_is_ended_with_all_that_it_started(
    tmp_path: Path, left_behind: Alive
) -> None:
    """The whole group, at once."""
    with pytest.raises(EffectError) as caught:
        dive(tmp_path, STARTS_ANOTHER, seconds=3)
    assert caught.value.message == f'"{sys.executable}" took longer than 3 s.'
    assert len(list(tmp_path.glob("pid-*"))) == 2
    wait_until_empty(left_behind)


def test_ended_command_is_not_waited_for_on_account_of_its_children(
    tmp_path: Path, left_behind: Alive
) -> None:
    """They hold its output, and end with it."""
    source = (
        "import pathlib, subprocess, sys;"
        f"subprocess.Popen([sys.executable, '-c', {SLEEPS!r}]); print('done', flush=True)\n"
        "while not list(pathlib.Path().glob('pid-*')): pass"
    )
    assert dive(tmp_path, source) == "done\n"
    assert len(list(tmp_path.glob("pid-*"))) == 1
    wait_until_empty(left_behind)


def test_huge_output_is_cut_and_its_size_told(tmp_path: Path) -> None:
    """No more of it is ever held."""
    size = 64 << 20
    before = psutil.Process().memory_info().rss
    said = dive(
        tmp_path, f"import sys; [sys.stdout.buffer.write(b'x' * (1 << 20)) for _ in range({size >> 20})]"
    )
    assert said == "x" * MAX_DIVE_BYTES + f"\n… and {size - MAX_DIVE_BYTES:,} bytes more."
    assert psutil.Process().memory_info().rss - before < size // 2


def test_command_that_does_not_listen_is_no_trouble(tmp_path: Path) -> None:
    """A finding larger than a pipe, to a program that never reads."""
    command = [sys.executable, "-c", "print('deaf')"]
    assert run_dive(command, tmp_path, os.environ)("Suggest fix", {"text": "x" * 1_000_000}) == "deaf\n"


def test_large_finding_reaches_a_command_that_listens(tmp_path: Path) -> None:
    """And one that answers before it has heard all."""
    source = "import sys; print('y' * 200_000, flush=True); print(len(sys.stdin.buffer.read()))"
    command = [sys.executable, "-c", source]
    said = run_dive(command, tmp_path, os.environ)("Suggest fix", {"text": "x" * 1_000_000})
    assert int(said.split("\n")[1]) > 1_000_000


def test_bytes_that_are_no_text_are_shown_as_such(tmp_path: Path) -> None:
    """Not refused, and nothing is lost around them."""
    assert dive(tmp_path, r"import sys; sys.stdout.buffer.write(b'a\xffb')") == "a\ufffdb"


def test_command_can_answer_nothing(tmp_path: Path) -> None:
    """It runs under an agent's mark, so it is no person for us."""
    environ = {"ASSENT_PRINCIPAL": "human:ana", "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
    told = json.loads(run_dive(command, tmp_path, environ)("Suggest fix", {}))
    assert told["ASSENT_PRINCIPAL"] == "agent:deep-dive"
    with pytest.raises(ForbiddenError):
        person(told)
