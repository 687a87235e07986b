"""The ledger counts what passing tests prove, and nothing else.

Each test lays out a small tree of tests in a temporary folder and runs the ledger on it as `make ledger`
does, in its own process.
"""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.proves import PARTS, is_requirement, proves
from tools.ledger import ROOT, asserts_something, fold

__all__: list[str] = []

HEAD = "import pytest\nfrom tests.proves import proves\n"
NOTHING_PROVEN = [f"{part} unproven: 1-{total}" for part, total in PARTS.items()]


def run_ledger(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the ledger on a folder that holds one test file with this source."""
    (folder / "pytest.ini").write_text(
        "[pytest]\nmarkers = proves(*ids): claimed ids\nstrict_markers = true\n"
        "addopts = -pno:schemathesis -pno:langsmith_plugin\n"  # as ours, for their start takes a second
    )
    (folder / "test_tree.py").write_text(HEAD + dedent(source))
    # Without the marks of the pytest that runs this test, and without the person's own options.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "tools.ledger", "--root", str(folder), "--jobs", "0", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def test_ledger_counts_an_id_when_every_claiming_test_passes(tmp_path: Path) -> None:
    """The lines are exactly those that `make ledger` promises, in the order of the requirements."""
    done = run_ledger(
        tmp_path,
        """
        @proves("G1", "G3")
        def test_one():
            assert len("a") == 1

        class TestGroup:
            @proves("Q31")
            def test_method(self):
                with pytest.raises(ValueError):
                    int("x")

        def test_that_claims_nothing():
            assert False
        """,
        "--list",
    )
    assert done.stdout.splitlines() == [
        *("G 2/44", "C 0/46", "I 0/45", "W 0/76", "Q 1/31", "total 3/242"),
        "G unproven: 2, 4-44",
        *NOTHING_PROVEN[1:4],
        "Q unproven: 1-30",
        "G1 -> test_tree.py::test_one",
        "G3 -> test_tree.py::test_one",
        "Q31 -> test_tree.py::TestGroup::test_method",
    ]
    assert done.returncode == 0


def test_ledger_leaves_out_an_id_when_one_claiming_test_does_not_pass(tmp_path: Path) -> None:
    """A failing, skipped, expected-to-fail or partly failing test keeps its ids unproven."""
    done = run_ledger(
        tmp_path,
        """
        @proves("C5", "C6")
        def test_good():
            assert len("a") == 1

        @proves("C5")
        def test_bad():
            assert len("a") == 2

        @proves("I3")
        @pytest.mark.skip
        def test_skipped():
            assert len("a") == 1

        @proves("W7")
        @pytest.mark.xfail
        def test_expected_to_fail():
            assert len("a") == 2

        @proves("Q2")
        @pytest.mark.parametrize("length", [1, 2])
        def test_partly(length):
            assert len("a") == length

        @pytest.fixture
        def falling():
            yield
            raise RuntimeError

        @proves("G9")
        def test_whose_end_fails(falling):
            assert len("a") == 1
        """,
    )
    assert done.stdout.splitlines()[:6] == ["G 0/44", "C 1/46", "I 0/45", "W 0/76", "Q 0/31", "total 1/242"]
    assert "ledger: 3 claiming test(s) did not pass" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            '@proves("G45")\ndef test_it():\n    assert len("a") == 1\n',
            "ledger: test_tree.py cannot be loaded: ValueError: There is no requirement G45.",
        ),
        (
            '@pytest.mark.proves("X1")\ndef test_it():\n    assert len("a") == 1\n',
            "ledger: test_tree.py::test_it claims X1, and there is no requirement X1.",
        ),
        (
            '@proves("G1")\ndef test_it():\n    len("a")\n',
            "ledger: test_tree.py::test_it claims G1 but asserts nothing itself.",
        ),
        (
            '@proves("G1")\ndef test_it():\n    assert True\n',
            "ledger: test_tree.py::test_it claims G1 but asserts nothing itself.",
        ),
    ],
    ids=["unknown-id", "unknown-id-in-a-bare-mark", "no-assertion", "assertion-of-a-constant"],
)
def test_ledger_refuses_a_claim_that_cannot_stand(tmp_path: Path, source: str, sentence: str) -> None:
    """A wrong claim is an error with one sentence, not a lower count."""
    done = run_ledger(tmp_path, source, "--collect-only")
    assert done.stderr.splitlines() == [sentence]
    assert done.stdout == ""
    assert done.returncode == 1


def test_ledger_collecting_only_believes_claims_and_says_so(tmp_path: Path) -> None:
    """The quick count runs no test."""
    done = run_ledger(
        tmp_path, '@proves("G2")\ndef test_bad():\n    assert len("a") == 2\n', "--collect-only"
    )
    assert done.stdout.startswith("G 1/44\n")
    assert done.stderr == "ledger: these are claims; no test was run.\n"
    assert done.returncode == 0


def test_requirement_ids_are_242_in_five_parts() -> None:
    """The parts and their sizes are those of the requirements."""
    assert sum(PARTS.values()) == 242
    assert [is_requirement(f"{part}{total}") for part, total in PARTS.items()] == [True] * 5
    wrong = ["G0", "G45", "g1", "G01", "G²", "G١", "G", "", "X1", "G1 ", "G-1"]
    assert [name for name in wrong if is_requirement(name)] == []


def test_proves_without_ids_is_refused() -> None:
    """A mark that names nothing would look like a proof."""
    with pytest.raises(ValueError, match="names no requirement"):
        proves()


@pytest.mark.parametrize(
    ("numbers", "folded"),
    [([], ""), ([4], "4"), ([1, 2, 3, 7], "1-3, 7"), ([1, 2, 4, 5, 9], "1-2, 4-5, 9")],
    ids=["none", "one", "run-and-single", "several"],
)
def test_fold_writes_runs_as_ranges(numbers: list[int], folded: str) -> None:
    """Long gaps stay readable."""
    assert fold(numbers) == folded


def test_assertion_inside_a_nested_function_counts_as_the_tests_own(tmp_path: Path) -> None:
    """Async scenarios assert in an inner function; an assertion of a neighbour does not count."""
    file = tmp_path / "test_nested.py"
    file.write_text(
        dedent(
            """
            def test_outer():
                async def scenario():
                    assert len("a") == 1

            def test_other():
                test_outer()
            """
        )
    )
    assert asserts_something([str(file), "test_outer"])
    assert not asserts_something([str(file), "test_other"])
    assert not asserts_something([str(file), "TestMissing", "test_outer"])
