"""The ledger counts what passing tests prove, in the run of the tests itself, and a false claim fails that run.

Most tests lay out a small tree of tests in a temporary folder and run pytest on it, in its own process.
"""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.patience import PATIENCE
from tests.proves import PARTS, is_requirement, proves
from tools import ledger
from tools.ledger import ROOT, Report, asserts_something, fold, judge

__all__: list[str] = []

HEAD = "import pytest\nfrom tests.proves import PARTS, proves\n"
ALL = '@proves(*(f"{part}{n}" for part, total in PARTS.items() for n in range(1, total + 1)))\n'
NOTHING_PROVEN = [f"{part} unproven: 1-{total}" for part, total in PARTS.items()]
EVERYTHING = ["G 44/44", "C 46/46", "I 45/45", "W 76/76", "Q 31/31", "total 242/242"]


def lay_out(folder: Path, source: str) -> None:
    """Write a project that holds one test file with this source."""
    (folder / "pytest.ini").write_text(
        "[pytest]\nmarkers = proves(*ids): claimed ids\nstrict_markers = true\ntestpaths = trees\n"
    )
    trees = folder / "trees"
    trees.mkdir(exist_ok=True)
    (trees / "conftest.py").write_text("from tools.ledger_plugin import pytest_configure\n")
    (trees / "test_tree.py").write_text(HEAD + dedent(source))


def surroundings() -> dict[str, str]:
    """Return what a pytest on a small project is to find: this repository, and no other plugins, whose start takes seconds."""
    return {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest, or what the arguments name instead, on a folder that holds one test file with this source."""
    lay_out(folder, source)
    # Without the marks of the pytest that runs this test, and without the person's own options.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [
            sys.executable,
            "-m",
            *(arguments if arguments[:1] == ("tools.ledger",) else ("pytest", "-q", *arguments)),
        ],
        cwd=folder,
        env={**env, **surroundings()},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return what a run said about requirements, without the line that follows."""
    _, found, after = done.stdout.partition(" requirements ")
    return after.splitlines()[1:-1] if found else []


@pytest.mark.parametrize("pool", [(), ("-p", "tools.pool", "--jobs", "2")], ids=["one process", "pool"])
def test_whole_run_ends_with_its_ledger(tmp_path: Path, pool: tuple[str, ...]) -> None:
    """The lines are exactly those that the project promises, in the order of the requirements; all full is a success."""
    good = (
        f"{ALL}def test_all():\n    assert len('a') == 1\n\ndef test_nothing():\n    assert len('a') == 1\n"
    )
    done = run(tmp_path, good, *pool)
    assert [line for line in told(done) if "/" in line] == EVERYTHING
    assert "unproven" not in done.stdout
    assert done.returncode == 0


def test_whole_run_with_an_unproven_requirement_fails(tmp_path: Path) -> None:
    """Although every test passes."""
    done = run(
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
        """,
    )
    assert told(done)[:12] == [
        *("G 2/44", "C 0/46", "I 0/45", "W 0/76", "Q 1/31", "total 3/242"),
        "G unproven: 2, 4-44",
        *NOTHING_PROVEN[1:4],
        "Q unproven: 1-30",
        "ledger: no passing test proves 239 of the requirements.",
    ]
    assert "2 passed" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("trees/test_tree.py",),
        ("-k", "one"),
        ("-m", "proves"),
        ("--deselect", "trees/test_tree.py::test_two"),
    ],
    ids=" ".join,
)
def test_narrowed_run_says_nothing_of_requirements(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """It saw a part, so it judges nothing."""
    source = "@proves('G1')\ndef test_one():\n    assert len('a') == 1\n\ndef test_two():\n    assert len('a') == 1\n"
    done = run(tmp_path, source, *arguments)
    assert told(done) == []
    assert done.returncode == 0


def test_ledger_leaves_out_an_id_that_fails_or_never_passes(tmp_path: Path) -> None:
    """A failing, skipped, expected-to-fail or partly failing test keeps its ids unproven; a skipped one harms no other."""
    done = run(
        tmp_path,
        """
        @proves("C5", "C6")
        def test_good():
            assert len("a") == 1

        @proves("C5")
        def test_bad():
            assert len("a") == 2

        @proves("C6", "I3")
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
    assert told(done)[:6] == ["G 0/44", "C 1/46", "I 0/45", "W 0/76", "Q 0/31", "total 1/242"]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (
            '@pytest.mark.proves("X1")\ndef test_it():\n    assert len("a") == 1\n',
            "claims X1, and there is no requirement X1.",
        ),
        ('@proves("G1")\ndef test_it():\n    len("a")\n', "claims G1 but asserts nothing itself."),
        ('@proves("G1")\ndef test_it():\n    assert True\n', "claims G1 but asserts nothing itself."),
    ],
    ids=["unknown-id-in-a-bare-mark", "no-assertion", "assertion-of-a-constant"],
)
def test_claim_that_cannot_stand_fails_the_run(tmp_path: Path, source: str, sentence: str) -> None:
    """Also where everything is proven by others; and the list without a run says the same."""
    whole = f"{ALL}def test_all():\n    assert len('a') == 1\n\n{source}"
    done = run(tmp_path, whole)
    assert told(done)[:7] == [*EVERYTHING, f"ledger: trees/test_tree.py::test_it {sentence}"]
    assert done.returncode == 1
    listed = run(tmp_path, whole, "tools.ledger", "--root", str(tmp_path), "--collect-only")
    assert listed.stderr.splitlines()[0] == f"ledger: trees/test_tree.py::test_it {sentence}"
    assert listed.returncode == 1


def test_unknown_id_stops_the_run_when_its_file_is_loaded(tmp_path: Path) -> None:
    """A mistyped id is not found out later."""
    done = run(tmp_path, '@proves("G45")\ndef test_it():\n    assert len("a") == 1\n')
    assert "ValueError: There is no requirement G45." in done.stdout
    assert done.returncode == 2


def test_claim_on_a_module_that_no_user_reaches_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A requirement that only dead code fulfils is not fulfilled."""
    report = Report(
        {"t::test_it": ["G1"]},
        {"t::test_it": [__file__, "test_fold_writes_runs_as_ranges"]},
        {"t::test_it": "passed"},
    )
    assert "G1" in judge(report).proven
    monkeypatch.setattr(ledger, "find_used", lambda _: frozenset({"assent.attic"}))
    verdict = judge(report)
    assert verdict.proven == set()
    assert (
        verdict.faults[0] == "t::test_it claims G1 by a file that uses assent.attic, which no user reaches."
    )


def test_list_is_of_the_last_whole_run_or_else_of_claims(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither runs a test. Listed in this process, which has read the package's imports once."""
    source = '@proves("G2")\ndef test_it():\n    assert len("a") == 2\n'
    lay_out(tmp_path, source)
    for name, value in surroundings().items():
        monkeypatch.setenv(name, value)
    ask = ["--root", str(tmp_path), "--list"]
    ledger.main(ask)
    claimed = capsys.readouterr()
    assert claimed.out.startswith("G 1/44\n")
    assert claimed.out.endswith("G2 -> trees/test_tree.py::test_it (inside)\n")
    assert claimed.err.endswith("ledger: these are claims; make test proves them.\n")
    run(tmp_path, source)
    ledger.main(ask)
    ran = capsys.readouterr()
    assert ran.out.startswith("G 0/44\n")
    assert ran.out.endswith("G2 -> trees/test_tree.py::test_it (failed, inside)\n")
    assert ran.err.endswith("ledger: as of the last whole run of the tests.\n")


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
