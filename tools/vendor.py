"""Writes the few files of others that are kept here: `python -m tools.vendor`, and `--check` compares them.

Rule 1: a file is what its pinned package holds. Of a module of the page the comment that points to a source map
        is gone, and a bare import is a relative one, for the page's policy allows no import map.
Rule 2: every file is recorded by its hash, so `--check` needs no network, and an edit by hand is noticed.
Rule 3: nothing is written unless all of it is what is recorded.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.npm_pack import Package, PackageError, fetched

__all__ = ["KEPT", "Kept", "Part", "differing", "main", "plain_module"]

ROOT = Path(__file__).resolve().parent.parent
_PAGE = "src/assent/surfaces/http/page/vendor"
_SOURCE_MAP = re.compile(rb"\n?//# sourceMappingURL=\S+\s*\Z")
_BARE_IMPORT = re.compile(rb"""\bfrom\s*["'](?![./])|\bimport\s*\(?\s*["'](?![./])""")

PREACT = Package(
    "preact",
    "10.29.8",
    "sha512-ej2aVZ+vZ8WO7tvlQWRM9N63A0KzF9q4mWJfDUHgYaIofWY9hu74QdnQrjoPMmZi2/nZ5gN0bJCQF49xQqx09Q==",
)
HTM = Package(
    "htm",
    "3.1.1",
    "sha512-983Vyg8NwUE7JkZ6NmOqpCZ+sh1bKv2iYTlUkzlWmA5JD2acKoxd4KVxbMmxX/85mtfdnDmTFoNKcg5DGAvxNQ==",
)
AXE = Package(
    "axe-core",
    "4.14.0",
    "sha512-9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
)


@dataclass(frozen=True)
class Part:
    """A file of a package."""

    package: Package
    member: str


@dataclass(frozen=True)
class Kept:
    """A file that is kept here, what it is made of, and what it must come out as."""

    place: str
    parts: tuple[Part, ...]
    sha256: str
    imports: Mapping[str, str] | None = None  # of a module of the page: where its bare imports are


KEPT = (
    Kept(
        f"{_PAGE}/preact.js",
        (Part(PREACT, "dist/preact.module.js"),),
        "25a5df7e9f628a587743c4641a368737a3b218f28ef738ba0376a2d5bdfc948c",
        {},
    ),
    Kept(
        f"{_PAGE}/hooks.js",
        (Part(PREACT, "hooks/dist/hooks.module.js"),),
        "3b5febe57b6eebec5285fc25b33c9019e53e31641df0fad7d8f9e64ca8661592",
        {"preact": "./preact.js"},
    ),
    Kept(
        f"{_PAGE}/htm.js",
        (Part(HTM, "dist/htm.module.js"),),
        "ab33dd3f38059b9be4d5f5350128eefb2356639c4e0bbe9d9e8b3ba75847e9e4",
        {},
    ),
    Kept(
        f"{_PAGE}/LICENSES.txt",
        (Part(PREACT, "LICENSE"), Part(HTM, "LICENSE")),
        "fe2ba99e3727443b619b077d1db8fe2c991540e0bdf3e68fc0d798ddd7244da0",
    ),
    Kept(
        "tests/surfaces/page/data/axe.min.js",
        (Part(AXE, "axe.min.js"),),
        "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878",
    ),
)


def main(argv: list[str] | None = None) -> int:
    """Write the files, or compare them; say in one sentence what cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m tools.vendor", description="Write the files of others.")
    parser.add_argument("--check", action="store_true", help="compare only; needs no network")
    if parser.parse_args(argv).check:
        wrong = differing(ROOT)
        for place in wrong:
            print(
                f"vendor: {place} is not what is recorded; write it with python -m tools.vendor",
                file=sys.stderr,
            )
        return 1 if wrong else 0
    try:
        made = make_all()
    except PackageError as error:
        print(f"vendor: {error}", file=sys.stderr)
        return 1
    for place, content in made.items():
        (ROOT / place).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / place).write_bytes(content)
        print(f"vendor: wrote {place}")
    return 0


def differing(root: Path) -> list[str]:
    """List the kept files that are missing under `root` or are not what is recorded."""
    return [kept.place for kept in KEPT if not _is_recorded(root / kept.place, kept.sha256)]


def _is_recorded(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def make_all() -> dict[str, bytes]:
    """Make every kept file from its packages; refuse when one comes out other than recorded."""
    sources: dict[Part, bytes] = {}
    for package in dict.fromkeys(part.package for kept in KEPT for part in kept.parts):
        with fetched(package) as archive:
            for part in (part for kept in KEPT for part in kept.parts if part.package == package):
                sources[part] = _member(archive, part)
    made = {kept.place: make(kept, sources) for kept in KEPT}
    for kept in KEPT:
        found = hashlib.sha256(made[kept.place]).hexdigest()
        if found != kept.sha256:
            raise PackageError(
                f"{kept.place} came out with the sha256 {found}, and {kept.sha256} is recorded."
            )
    return made


def _member(archive: tarfile.TarFile, part: Part) -> bytes:
    try:
        opened = archive.extractfile(f"package/{part.member}")
    except KeyError:
        opened = None
    if opened is None:
        raise PackageError(f"{part.package.spec} holds no file {part.member}.")
    return opened.read()


def make(kept: Kept, sources: Mapping[Part, bytes]) -> bytes:
    """Make one kept file: one part as it is but for rule 1, several one below the other."""
    if kept.imports is not None:
        return plain_module(sources[kept.parts[0]], kept.imports)
    if len(kept.parts) == 1:
        return sources[kept.parts[0]]
    return b"\n\n".join(_introduced(part, sources[part]) for part in kept.parts)


def plain_module(source: bytes, imports: Mapping[str, str]) -> bytes:
    """Take the pointer to a source map off a module, and make its bare imports relative."""
    made = _SOURCE_MAP.sub(b"", source).rstrip() + b"\n"
    for bare, relative in imports.items():
        made = made.replace(f'from"{bare}"'.encode(), f'from"{relative}"'.encode())
    if _BARE_IMPORT.search(made):
        raise PackageError(
            "A module imports another by a bare name, which no browser finds without an import map."
        )
    return made


def _introduced(part: Part, text: bytes) -> bytes:
    title = f"{part.package.name} {part.package.version}"
    return f"{title}\n{'=' * len(title)}\n\n".encode() + text.strip() + b"\n"


if __name__ == "__main__":
    sys.exit(main())
