"""A double of GitHub, and the way to it. `test_channel` shows that both ways are the same; others take the shorter one."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.effects.github.channel import Channel
from assent.effects.github.find import find_channel
from tests.github.double import TOKEN, Double, serve

__all__ = ["channel", "double", "fake_gh", "gh_environ", "rest_environ"]

PATCH = "@@ -1,3 +1,4 @@ def pay():\n import money\n-old = 1\n+new = 1\n+more = 2\n last"
FAKE = Path(__file__).parent / "fake_gh.py"


@pytest.fixture
def double() -> Iterator[Double]:
    """Give a GitHub with one pull request of two files."""
    with serve() as double:
        double.files = [{"filename": "src/pay.py", "patch": PATCH}, {"filename": "logo.png"}]
        double.lines = {("src/pay.py", "RIGHT", line) for line in (1, 2, 3, 4)}
        double.lines |= {("src/pay.py", "LEFT", line) for line in (1, 2, 3)}
        yield double


@pytest.fixture(scope="session")
def fake_gh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a `gh` in it."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "gh"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{FAKE}" "$@"\n')
    command.chmod(0o755)
    return folder


@pytest.fixture
def rest_environ(double: Double) -> dict[str, str]:
    """Give an environment with a token."""
    return {"GH_TOKEN": TOKEN, "GITHUB_API_URL": double.address, "PATH": ""}


@pytest.fixture
def gh_environ(double: Double, fake_gh: Path) -> dict[str, str]:
    """Give an environment in which somebody is logged in with `gh`."""
    path = f"{fake_gh}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "FAKE_GH_ADDRESS": double.address, "FAKE_GH_TOKEN": TOKEN, "GH_DEBUG": "api"}


@pytest.fixture
def channel(rest_environ: dict[str, str]) -> Channel:
    """Give a way to the double."""
    found = find_channel(rest_environ)
    assert found is not None
    return found
