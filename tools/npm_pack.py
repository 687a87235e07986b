"""Fetches one package of the npm registry, at one version, and believes it only by its hash.

Rule 1: only the standard library, and npm as tools/node.py finds it.
Rule 2: which registry is asked is the business of npm's own settings; nothing here names one.
Rule 3: nothing in a package is run. It is opened as an archive, and files are taken out of it by name.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.node import NodeError, find_npm, node_environ

__all__ = ["FETCH_SECONDS", "Package", "PackageError", "fetched"]

FETCH_SECONDS = 300
_LINES_TOLD = 3


class PackageError(Exception):
    """Why a package could not be had, in one sentence."""


@dataclass(frozen=True)
class Package:
    """A package as it is pinned; `integrity` is what npm itself writes of it: sha512 in base 64."""

    name: str
    version: str
    integrity: str

    @property
    def spec(self) -> str:
        return f"{self.name}@{self.version}"


@contextmanager
def fetched(package: Package) -> Iterator[tarfile.TarFile]:
    """Fetch the archive of a package, compare its hash, and open it for as long as the block lasts."""
    try:
        npm = find_npm()
    except NodeError as error:
        raise PackageError(f"{package.spec} is fetched with npm, and {error}") from None
    with tempfile.TemporaryDirectory(prefix="assent-npm-") as folder:
        try:
            done = subprocess.run(
                [*npm, "pack", "--silent", "--pack-destination", folder, package.spec],
                cwd=folder,  # the settings of a project that we happen to stand in are not ours
                env=node_environ(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=FETCH_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PackageError(f"npm did not fetch {package.spec} within {FETCH_SECONDS} s.") from None
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode or len(archives) != 1:
            told = " / ".join((done.stderr or done.stdout).strip().splitlines()[:_LINES_TOLD])
            raise PackageError(
                f"npm could not fetch {package.spec} (status {done.returncode}): {told or 'no word'}"
            )
        found = integrity_of(archives[0].read_bytes())
        if found != package.integrity:
            raise PackageError(
                f"{package.spec} is not the package that is pinned: its hash is {found}, not {package.integrity}."
            )
        with tarfile.open(archives[0]) as archive:
            yield archive


def integrity_of(content: bytes) -> str:
    """Write a hash as npm does."""
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
