"""Node and npm: those of the lock are taken, else those on the path, and their absence is told in one sentence."""

import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tools import node
from tools.node import NodeError, find_node, find_npm, node_environ

__all__: list[str] = []


def test_node_and_npm_of_the_lock_run_without_any_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path here is an empty folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for command in ([find_node()], find_npm()):
        told = subprocess.run(
            [*command, "--version"],
            env=node_environ(),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=True,
        )
        assert told.stdout.strip().lstrip("v")[0].isdigit()


def test_what_npm_starts_finds_the_same_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts of packages call `node` by its name."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (tmp_path / "package.json").write_text('{"scripts": {"where": "node -p process.execPath"}}')
    told = subprocess.run(
        [*find_npm(), "run", "--silent", "where"],
        env=node_environ(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert told.stdout.strip() == find_node()


def test_without_the_wheel_those_on_the_path_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where there are none, one sentence says so."""
    monkeypatch.setattr(node, "wheel_folder", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NodeError, match="node is neither in this environment nor on the path"):
        find_node()
    with pytest.raises(NodeError, match="npm is neither in this environment nor on the path"):
        find_npm()
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert (find_node(), find_npm()) == (str(tmp_path / "node"), [str(tmp_path / "npm")])
