"""A run of tests that leaves something behind fails, and says what and of which test.

Each test lays out a small tree of leaking tests and runs pytest on it in a process of its own, alone and in a pool.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import psutil
import pytest

from tests.leftovers import MARK, SETTLE
from tests.patience import PATIENCE

__all__: list[str] = []

ROOT = Path(__file__).resolve().parents[2]
LEAKING = """
import socket, subprocess, sys, tempfile, threading
from pathlib import Path

kept = socket.socket()

def test_process():
    globals()["process"] = subprocess.Popen(["sleep", "600"])

def test_orphan():
    subprocess.run(["sh", "-c", "setsid sleep 601 >/dev/null 2>&1 &"], check=True)

def test_thread():
    threading.Thread(target=threading.Event().wait, args=(60,), name="slow", daemon=True).start()

def test_socket():
    kept.bind(("127.0.0.1", 0))
    kept.listen()

def test_folder():
    tempfile.mkdtemp(prefix="assent-leak-")

def test_folder_of_a_program():
    code = "import tempfile; tempfile.mkdtemp(prefix='assent-program-')"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)

def test_repository():
    Path(__file__).with_name("debris.txt").write_text("left")
"""
TOLD = [
    r"process \d+: sleep 600, of test_tree.py::test_process",
    r"process \d+: sleep 601, of test_tree.py::test_orphan",
    r"daemon thread slow, of test_tree.py::test_thread",
    r"socket that listens on port \d+",
    r"file /.*/assent-leak-\w+, of test_tree.py::test_folder",
    r"file /.*/assent-program-\w+",
    r"file debris.txt in the repository",
]
FOLDER = """
import tempfile

def test_leaks():
    tempfile.mkdtemp(prefix="assent-leak-")
"""


def run_pytest(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with the plugin on a repository that holds one test file with this source."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / ".gitignore").write_text("__pycache__\n.pytest_cache\n")
    (folder / "test_tree.py").write_text(dedent(source))
    for words in (("init", "-q"), ("add", ".")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.leftovers", *options],
        cwd=folder,
        # Other plugins take seconds to start.
        env={**env, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", SETTLE: "2"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def is_alive(pid: int) -> bool:
    """Say whether a process still does anything: one that nobody has buried yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("options", [(), ("-p", "tools.pool", "--jobs", "1")], ids=["alone", "pool"])
def test_every_kind_of_leak_is_told_with_its_test_and_ended(tmp_path: Path, options: tuple[str, ...]) -> None:
    """The tests themselves passed; the run did not."""
    done = run_pytest(tmp_path, LEAKING, *options)
    assert "7 passed" in done.stdout, done.stdout + done.stderr
    told = sorted(line.removeprefix("LEFT ") for line in done.stdout.splitlines() if line.startswith("LEFT "))
    assert len(told) == len(TOLD), told
    for wanted in TOLD:
        assert [line for line in told if re.fullmatch(wanted, line)], (wanted, told)
    assert done.returncode == 1
    for line in told:
        if line.startswith("process"):
            assert not is_alive(int(line.split()[1].rstrip(":")))
        elif line.startswith("file /"):
            assert not Path(line.removeprefix("file ").partition(",")[0]).exists()


def test_one_leak_is_enough_to_fail(tmp_path: Path) -> None:
    """The smallest one."""
    done = run_pytest(tmp_path, FOLDER)
    assert (done.returncode, done.stdout.count("LEFT ")) == (1, 1), done.stdout


def test_run_that_leaves_nothing_passes(tmp_path: Path) -> None:
    """What all tests of a process share may last as long as they do; what a test ends is no leak."""
    done = run_pytest(
        tmp_path,
        f"""
        import os, pytest, subprocess, tempfile, threading

        @pytest.fixture(scope="session")
        def shared():
            with tempfile.TemporaryDirectory(), subprocess.Popen(["sleep", "600"]) as process:
                yield
                process.kill()

        def test_one(shared):
            threading.Thread(target=lambda: None).start()
            assert os.environ["{MARK}"]

        def test_two(shared):
            subprocess.run(["true"], check=True)
        """,
    )
    assert (done.returncode, "LEFT" in done.stdout) == (0, False), done.stdout


def test_failing_run_that_also_leaks_tells_both(tmp_path: Path) -> None:
    """One does not hide the other."""
    done = run_pytest(tmp_path, f"{FOLDER}    assert False\n")
    assert done.returncode == 1
    assert "1 failed" in done.stdout
    assert "LEFT file " in done.stdout
