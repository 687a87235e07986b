"""The pool of the tests: what forked workers run is told as if one process had run it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.patience import PATIENCE

__all__: list[str] = []

ROOT = Path(__file__).parents[2]


def run(folder: Path, sources: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest with a pool in a folder that holds these test files."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = timeout(seconds): may take long\n")
    for name, source in sources.items():
        (folder / name).write_text(dedent(source))
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tools.pool", "--jobs", "2", *options],
        cwd=folder,
        env={**env, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


EVERY_OUTCOME = """
import pytest

def test_passes():
    print("not to be seen")

def test_fails():
    print("said before")
    assert 1 == 2

@pytest.mark.skip(reason="not here")
def test_is_left_out(): ...

@pytest.mark.xfail(strict=True)
def test_fails_as_expected():
    assert False

@pytest.fixture
def broken():
    yield
    raise OSError("at the end")

def test_ends_badly(broken): ...
"""


def test_every_outcome_is_told_as_without_a_pool(tmp_path: Path) -> None:
    """With what was printed, the reasons and the status."""
    done = run(tmp_path, {"test_one.py": EVERY_OUTCOME}, "-rA")
    alone = run(tmp_path, {"test_one.py": EVERY_OUTCOME}, "-rA", "--jobs", "0")
    assert "1 failed, 2 passed, 1 skipped, 1 xfailed, 1 error" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("not to be seen") == alone.stdout.count("not to be seen")
    assert "said before" in done.stdout
    assert "OSError: at the end" in done.stdout
    shorts = [
        sorted(re.findall(r"^(?:FAILED|PASSED|SKIPPED|XFAIL|ERROR) .*", each.stdout, re.MULTILINE))
        for each in (done, alone)
    ]
    assert shorts[0] == shorts[1]
    assert (done.returncode, alone.returncode) == (1, 1)


def test_tests_of_a_file_share_what_is_set_up_for_it(tmp_path: Path) -> None:
    """As long as there are other files, one worker runs them, and what they share is ended after the last."""
    source = """
    import os, pathlib, pytest

    @pytest.fixture(scope="module")
    def shared():
        yield os.getpid()
        with pathlib.Path("ended").open("a") as told:
            told.write(f"{os.getpid()}\\n")

    @pytest.mark.parametrize("number", range(20))
    def test_shares(shared, number):
        assert shared == os.getpid() != LEADER
    """.replace("LEADER", "os.getppid()")
    done = run(tmp_path, {f"test_{name}.py": source for name in "abcdef"})
    assert "120 passed" in done.stdout, done.stdout + done.stderr
    ended = (tmp_path / "ended").read_text().split()
    assert len(set(ended)) <= 2
    assert len(ended) >= 6


def test_all_workers_have_something_to_do_to_the_end(tmp_path: Path) -> None:
    """The rest of the last file is shared out: here no test ends before one of the other worker has begun."""
    source = """
    import os, pathlib, time

    def test_first():
        pathlib.Path(f"at-{os.getpid()}").touch()
        while len(list(pathlib.Path().glob("at-*"))) < 2:
            time.sleep(0.01)

    test_second = test_third = test_fourth = test_first
    """
    done = run(tmp_path, {"test_one.py": source})
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_worker_that_dies_fails_its_test_and_no_other(tmp_path: Path) -> None:
    """Whatever it was to run after it is run by another one."""
    source = """
    import os, pytest

    @pytest.mark.parametrize("number", range(12))
    def test_some(number):
        if number in (3, 7):
            os.kill(os.getpid(), 9)
    """
    done = run(tmp_path, {"test_one.py": source})
    assert "2 failed, 10 passed" in done.stdout, done.stdout + done.stderr
    assert "Its process ended with -9" in done.stdout
    assert done.returncode == 1


def test_first_failure_can_end_the_run(tmp_path: Path) -> None:
    """With -x no test begins that was not handed out."""
    source = """
    import pytest

    @pytest.mark.parametrize("number", range(200))
    def test_some(number):
        assert number
    """
    done = run(tmp_path, {"test_one.py": source}, "-x")
    assert "1 failed" in done.stdout, done.stdout + done.stderr
    assert "200" not in done.stdout.splitlines()[-1]
    assert done.returncode == 1


def test_interrupted_run_ends_what_its_tests_share(tmp_path: Path) -> None:
    """Nobody is left, although only the process that leads was told to end."""
    source = """
    import os, pathlib, pytest, signal

    @pytest.fixture(scope="session")
    def shared():
        yield
        pathlib.Path(f"ended-{os.getpid()}").touch()

    @pytest.mark.parametrize("number", range(200))
    def test_some(shared, number):
        if number == 3:
            os.kill(os.getppid(), signal.SIGINT)
    """
    done = run(tmp_path, {"test_one.py": source})
    assert done.returncode == pytest.ExitCode.INTERRUPTED, done.stdout + done.stderr
    assert len(list(tmp_path.glob("ended-*"))) == 2
