"""A package is believed by its hash, whoever handed it over."""

import tarfile
from pathlib import Path

import pytest

from tools import node
from tools.npm_pack import Package, PackageError, fetched, integrity_of

__all__: list[str] = []


@pytest.fixture(name="archive")
def _archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the archive of a package, and an npm on the path that hands it over."""
    (tmp_path / "a.js").write_text("export {};\n")
    archive = tmp_path / "a.tgz"
    with tarfile.open(archive, "w:gz") as made:
        made.add(tmp_path / "a.js", "package/a.js")
    write_npm(tmp_path, monkeypatch, f'cp "{archive}" "$4/a-1.tgz"')
    return archive


def write_npm(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put an npm on the path that does this when it is told `pack --silent --pack-destination FOLDER SPEC`."""
    npm = folder / "bin" / "npm"
    npm.parent.mkdir(exist_ok=True)
    npm.write_text(f"#!/bin/sh\n{script}\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    monkeypatch.setattr(node, "wheel_folder", lambda: None)


def test_package_with_the_pinned_hash_is_opened(archive: Path) -> None:
    """As an archive: nothing in it is run."""
    with fetched(Package("a", "1", integrity_of(archive.read_bytes()))) as opened:
        assert opened.getnames() == ["package/a.js"]


@pytest.mark.usefixtures("archive")
def test_package_with_another_hash_is_refused() -> None:
    """A registry, a mirror or somebody in between may hand over what it likes."""
    package = Package("a", "1", integrity_of(b"something else"))
    with pytest.raises(PackageError, match="a@1 is not the package that is pinned"), fetched(package):
        raise AssertionError("It was opened.")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo no such package >&2; exit 1", r"npm could not fetch a@1 \(status 1\): no such package"),
        ("exit 0", r"npm could not fetch a@1 \(status 0\): no word"),
    ],
    ids=["refused", "nothing"],
)
def test_npm_that_fetches_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, told: str
) -> None:
    """In one sentence, with npm's own words in it."""
    write_npm(tmp_path, monkeypatch, script)
    with pytest.raises(PackageError, match=told), fetched(Package("a", "1", "sha512-none")):
        raise AssertionError("It was opened.")


def test_missing_npm_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As what it is, and not as a file that is missing."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(node, "wheel_folder", lambda: None)
    with (
        pytest.raises(PackageError, match="npm is neither in this environment nor on the path"),
        fetched(Package("a", "1", "sha512-none")),
    ):
        raise AssertionError("It was opened.")
