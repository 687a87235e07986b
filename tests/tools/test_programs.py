"""The agent programs that tests drive: fetched once, believed by their version, and one sentence where they cannot be had."""

from pathlib import Path

import pytest

from tools import node, programs
from tools.programs import PROGRAMS, ProgramError, find_program

__all__: list[str] = []

CODEX = PROGRAMS["codex"]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is fetched in a folder of this test, and let nothing but its npm be found."""
    monkeypatch.setattr(programs, "HOME", tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setattr(node, "wheel_folder", lambda: None)


def write_npm(folder: Path, version: str, after: str = "") -> None:
    """Put an npm on the path that installs a program which tells this version; it counts how often it was asked."""
    npm = folder / "bin" / "npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> "{folder}/asked"\n'
        'mkdir -p "$3/node_modules/.bin"\n'
        f'printf "#!/bin/sh\\necho codex {version}\\n" > "$3/node_modules/.bin/codex"\n'
        f'chmod 755 "$3/node_modules/.bin/codex"\n{after}\n'
    )
    npm.chmod(0o755)


def test_a_program_is_fetched_once_at_its_pinned_version(tmp_path: Path) -> None:
    """The second time it is there."""
    write_npm(tmp_path, CODEX.version)
    first, second = find_program("codex"), find_program("codex")
    assert first == second == programs.HOME / "codex" / CODEX.version / "node_modules" / ".bin" / "codex"
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert asked.endswith(CODEX.spec)


@pytest.mark.parametrize(
    ("version", "after", "sentence"),
    [
        ("0.0.1", "", "says that it is"),
        (CODEX.version, "echo no way >&2; exit 3", "cannot be had .status 3.: no way"),
    ],
    ids=["another version", "npm fails"],
)
def test_what_is_not_the_pinned_program_is_told_and_never_used(
    tmp_path: Path, version: str, after: str, sentence: str
) -> None:
    """Nothing is left behind that the next start would take for it."""
    write_npm(tmp_path, version, after)
    with pytest.raises(ProgramError, match=sentence):
        find_program("codex")
    assert list((programs.HOME / "codex").iterdir()) == []


def test_a_program_that_nobody_knows_or_a_machine_without_npm_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clear enough to act on."""
    with pytest.raises(ProgramError, match="No program is called"):
        find_program("emacs")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramError, match="npm is neither in this environment nor on the path"):
        find_program("codex")
