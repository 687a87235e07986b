"""The files of the project keep their manners: heads, hashes, versions, and no word about this machine."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import assent
from tests.patience import PATIENCE

__all__: list[str] = []

ROOT = Path(__file__).parents[2]
LOCKS = ("boot.txt", "build.txt", "run.txt", "test.txt")
UNLOCKED = {"crewai"}
"""An extra that pins half of a stack; its adapter imports nothing of it, and is tested against a stand-in."""

# Each pattern is written so that it does not match itself here.
MACHINE_WORDS = re.compile(
    r"""
    (?<![\w.$}])/(?:work|root|home|Users|opt|tmp|var/folders)/[\w.]   # a folder of some machine
    | \.\./[s]hared                                                   # a neighbour that a clone does not have
    | (?:files\.)?python[h]osted\.org | \bpy[p]i\.(?:org|python\.org) | registry\.npm[j]s | registry\.yarn[p]kg
    | --(?:extra-)?index-[u]rl[ =]https?:                             # an index of somebody's own
    """,
    re.VERBOSE,
)
HASHED_LINE = re.compile(
    r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ;\\]+)(?: ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}(?: \\)?"
)


def missing_head(place: str, source: str) -> list[str]:
    """Say what the head of a module lacks."""
    tree = ast.parse(source)
    is_entrance = Path(place).name in {"__init__.py", "__main__.py"}
    if is_entrance and not tree.body:
        return []
    assigned = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    lacks = [] if ast.get_docstring(tree) else [f"{place}: no docstring"]
    return lacks if is_entrance or "__all__" in assigned else [*lacks, f"{place}: no __all__"]


def machine_words(place: str, text: str) -> list[str]:
    """List the places in a text that speak of a machine."""
    return [
        f"{place}:{number}: {found.group(0)}"
        for number, line in enumerate(text.splitlines(), start=1)
        for found in MACHINE_WORDS.finditer(line)
    ]


def pins(lock: str) -> dict[str, str]:
    """Read the versions that a lock pins."""
    found = map(HASHED_LINE.fullmatch, (ROOT / "requirements" / lock).read_text().splitlines())
    return {match["name"]: match["version"] for match in found if match and match["name"]}


def lock_faults(text: str) -> list[str]:
    """List the lines of a lock that are neither a pin nor a hash, and the pins without a hash."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    faults = [line for line in lines if not HASHED_LINE.fullmatch(line)]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if "==" in line and "--hash=" not in following:
            faults.append(line)
    return faults


def package_names(requirements: list[str]) -> set[str]:
    """Take the plain names out of requirement lines."""
    return {re.split(r"[\[<>=;~! ]", line, maxsplit=1)[0].lower() for line in requirements}


def test_every_module_has_a_head() -> None:
    """A reader learns from the first lines what a file is for, and what it offers."""
    modules = sorted((ROOT / "src").rglob("*.py"))
    assert modules
    lacks = [
        lack for path in modules for lack in missing_head(path.relative_to(ROOT).as_posix(), path.read_text())
    ]
    assert lacks == []


def test_module_without_head_is_reported() -> None:
    """Twin of the test above."""
    assert missing_head("a/b.py", "x = 1") == ["a/b.py: no docstring", "a/b.py: no __all__"]
    assert missing_head("a/b.py", '"""Doc."""\n__all__: list[str] = []') == []
    assert missing_head("a/__init__.py", "") == []


def test_version_is_the_same_in_the_package_and_its_metadata() -> None:
    """A person who reports a fault names the version that they really have."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert assent.__version__ == project["version"]


def test_no_file_speaks_of_a_machine_or_a_registry() -> None:
    """A clone works anywhere and with any mirror, so no file may know where it was written."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    places = [place for place in listed.stdout.split("\0") if place and (ROOT / place).is_file()]
    assert "pyproject.toml" in places
    found = [
        word
        for place in places
        for word in machine_words(place, (ROOT / place).read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "cd /wo" + "rk/main",
        "see ../sha" + "red/design.md",
        "store at '/ho" + "me/ann/x.db'",
        "https://py" + "pi.org/simple",
        "https://files.python" + "hosted.org/x",
        "--index-" + "url https://mirror.example",
    ],
)
def test_word_about_a_machine_is_reported(line: str) -> None:
    """Twin of the test above."""
    assert [word.partition(":1: ")[0] for word in machine_words("a", line)] == ["a"]


@pytest.mark.parametrize(
    "line", ["#!/usr/bin/env bash", "src/tmp/x", "$ROOT/wo" + "rk/x", "./home/x", "/asks/{ask}"]
)
def test_ordinary_path_is_not_reported(line: str) -> None:
    """Twin: relative paths, routes and system programs are no words about a machine."""
    assert machine_words("a", line) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_pins_every_package_with_hashes(lock: str) -> None:
    """What is installed is what was locked, to the byte, from whichever index."""
    assert lock_faults((ROOT / "requirements" / lock).read_text()) == []
    assert pins(lock)


def test_lock_with_a_bare_pin_or_an_option_is_reported() -> None:
    """Twin of the test above."""
    good = "a==1 \\\n    --hash=sha256:" + "0" * 64
    assert lock_faults(good) == []
    assert lock_faults("a==1") == ["a==1", "a==1"]
    assert lock_faults(f"--find-links x\n{good}") == ["--find-links x"]
    assert lock_faults("a==1 \\\n" + good) == ["a==1 \\"]


def test_locks_hold_what_the_project_asks_for() -> None:
    """The core's lock is part of the whole lock, and neither forgets a requirement."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = [
        line
        for name, lines in declared["project"]["optional-dependencies"].items()
        if name not in UNLOCKED
        for line in lines
    ]
    groups = [
        line
        for name in ("test", "dev")
        for line in declared["dependency-groups"][name]
        if isinstance(line, str)
    ]
    core, whole = pins("run.txt"), pins("test.txt")
    assert package_names(declared["project"]["dependencies"]) <= set(core)
    assert core.items() <= whole.items()
    assert package_names(extras + groups) - {"assent"} <= set(whole)


@pytest.mark.parametrize("script", [".ci/run", "tools/fresh.sh"])
def test_script_can_be_started(script: str) -> None:
    """A script without its bit fails only where it is first needed."""
    assert os.access(ROOT / script, os.X_OK)


@pytest.mark.parametrize(
    ("place", "source", "is_banned"),
    [
        ("src/assent/engine/x.py", "import time\n\nNOW = time.time()\n", True),
        ("src/assent/hub/x.py", "from datetime import UTC, datetime\n\nNOW = datetime.now(UTC)\n", True),
        ("src/assent/client/x.py", "import uuid\n\nNAME = uuid.uuid4()\n", True),
        ("src/assent/client/x.py", "from secrets import token_hex\n\nNAME = token_hex()\n", True),
        ("src/assent/client/x.py", "import time\n\nNOW = time.monotonic()\n", False),
        ("src/assent/hub/clock.py", "import time\n\nNOW = time.time()\n", False),
        ("src/assent/hub/ids.py", "import secrets\n\nNAME = secrets.token_hex()\n", False),
        ("bench/x.py", "import random\n\nCHANCE = random.random()\n", False),
    ],
)
def test_time_and_chance_are_banned_outside_their_files(place: str, source: str, *, is_banned: bool) -> None:
    """Time and chance come in from outside; the linter keeps it so, and this shows that it looks."""
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--stdin-filename", place, "-"],
        cwd=ROOT,
        input=source,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ("TID251" in done.stdout) is is_banned
    assert done.returncode == int(is_banned)
