"""Prints the path of a Chromium that runs here and draws text; fetches one where there is none.

Looked for in this order: the one that ASSENT_BROWSER names (`none` is taken at its word), one on the path, one that was fetched before into
.browser/, one that apt-get installs (as root, or where sudo asks for no password), one that npm has.

Rule 1: only the standard library. The path goes to standard output and everything else to standard error.
Rule 2: a browser is believed once it has measured a word: one without libraries or fonts does not count.
Rule 3: one fetches at a time, nothing takes for ever, and what was fetched in part is never used.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.browser_pipe import can_draw
from tools.node import NodeError, find_node
from tools.npm_pack import Package, PackageError, fetched

__all__ = ["NONE", "BrowserError", "find", "main"]

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".browser"
NONE = "none"
"""In place of a path: a person wants no browser, and what needs one fails."""
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The fonts are for a machine that has none.
DEBIAN = ("chromium-headless-shell", "fonts-dejavu-core")
CHROMIUM = Package(
    "@sparticuz/chromium",
    "153.0.0",
    "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
)

TRY_SECONDS = 60
INSTALL_SECONDS = 600
LOCK_SECONDS = 900

_UNPACK = """
const {createBrotliDecompress} = require("zlib"), {pipeline} = require("stream/promises"), fs = require("fs");
pipeline(fs.createReadStream(process.argv[1]), createBrotliDecompress(), fs.createWriteStream(process.argv[2]));
"""
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
_RUN = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/lib" FONTCONFIG_FILE="${FONTCONFIG_FILE:-$here/fonts.conf}"
exec "$here/chromium" --disable-dev-shm-usage "$@"
"""


class BrowserError(Exception):
    """Why there is no browser, in one sentence."""


def main() -> int:
    """Print the path, or say in one sentence why there is none."""
    try:
        print(find())
    except BrowserError as error:
        print(f"browser: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("browser: interrupted; the next make starts over", file=sys.stderr)
        return 130
    return 0


def find() -> str:
    """Return the path of a browser that works, fetching it if need be.

    Raises:
        BrowserError: there is none, and none can be had.
    """
    named = os.environ.get("ASSENT_BROWSER")
    if named == NONE:
        return NONE
    if named:
        given = shutil.which(named)
        if given and can_draw(given, TRY_SECONDS):
            return given
        raise BrowserError(
            f"ASSENT_BROWSER names {named}, which is no Chromium that runs here and draws text."
        )
    there = look()
    if there:
        return there
    with alone():
        # Whoever had the lock before may have fetched it.
        return look() or fetch()


def look() -> str | None:
    """Return a browser that is there already."""
    on_path = (shutil.which(name) for name in NAMES)
    for found in (*on_path, shutil.which(str(fetched_path()))):
        if found and can_draw(found, TRY_SECONDS):
            return found
    return None


def fetched_path() -> Path:
    return HOME / f"chromium-{CHROMIUM.version}" / "run"


@contextmanager
def alone() -> Iterator[None]:
    """Hold the lock that lets one at a time fetch a browser for this folder."""
    HOME.mkdir(exist_ok=True)
    until = time.monotonic() + LOCK_SECONDS
    with (HOME / "lock").open("w") as handle:
        is_told = False
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise BrowserError(
                        f"another make has been fetching one in this folder for {LOCK_SECONDS} s."
                    ) from None
                if not is_told:
                    say("waiting for another make in this folder")
                    is_told = True
                time.sleep(0.2)
        yield


def fetch() -> str:
    """Fetch a browser by the first way that works, and say of the others why they did not."""
    reasons = []
    for way in (install, unpack):
        try:
            browser = way()
        except (BrowserError, NodeError, PackageError) as error:
            reasons.append(str(error).rstrip("."))
            continue
        if browser and can_draw(browser, TRY_SECONDS):
            return browser
        reasons.append(f"{browser or DEBIAN[0]} was fetched and does not run here")
    raise BrowserError(
        f"the tests of the page need a Chromium, and none can be had: {'; '.join(reasons)}. "
        f"Install one, name one with ASSENT_BROWSER=PATH, or do without with ASSENT_BROWSER={NONE}: then what needs one fails."
    )


def install() -> str | None:
    """Install one with apt-get; return it."""
    if shutil.which("apt-get") is None:
        raise BrowserError("there is no apt-get")
    before = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if before and not is_allowed():
        raise BrowserError("apt-get needs root, or a sudo that asks for no password")
    say(f"installing {DEBIAN[0]} with apt-get")
    apt = [*before, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    apt += ["-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::Retries=2", "-o", "Acquire::http::Timeout=60"]
    run_apt(*apt, "update")
    run_apt(*apt, "install", "--yes", "--no-install-recommends", *DEBIAN)
    return shutil.which(DEBIAN[0])


def is_allowed() -> bool:
    """Tell whether sudo lets us without a word."""
    if shutil.which("sudo") is None:
        return False
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, timeout=TRY_SECONDS, check=False)
    return asked.returncode == 0


def run_apt(*command: str) -> None:
    """Run one step of apt-get, with its own words kept for when it fails."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=INSTALL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BrowserError(f"apt-get was not done within {INSTALL_SECONDS} s") from None
    if done.returncode:
        last = (done.stdout.strip().splitlines() or ["no word"])[-1]
        raise BrowserError(f"apt-get ended with status {done.returncode} ({last})")


def unpack() -> str:
    """Fetch the one that npm has, which needs no rights; return the script that starts it."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise BrowserError("npm has one for Linux on x86-64 only")
    node = find_node()
    say(f"fetching {CHROMIUM.spec} with npm")
    target = fetched_path().parent
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="partial-", dir=HOME, ignore_cleanup_errors=True) as partial:
        made = Path(partial) / "made"
        made.mkdir()
        with fetched(CHROMIUM) as archive:
            for name in ("chromium", "al2023.tar", "fonts.tar", "swiftshader.tar"):
                packed = Path(partial) / f"{name}.br"
                opened = archive.extractfile(f"package/bin/{name}.br")
                assert opened is not None  # the hash says what is in it
                with opened, packed.open("wb") as out:
                    shutil.copyfileobj(opened, out)
                open_brotli(node, packed, made / name)
        for inner in made.glob("*.tar"):
            extract(inner, made)
            inner.unlink()
        (made / "fonts.conf").write_text(_FONTS)
        (made / "run").write_text(_RUN)
        for name in ("run", "chromium"):
            (made / name).chmod(0o755)
        made.rename(target)  # last, so that what is there is whole
    return str(fetched_path())


def open_brotli(node: str, packed: Path, target: Path) -> None:
    """Unpack a file with Node, for Python knows no brotli."""
    try:
        subprocess.run(
            [node, "-e", _UNPACK, str(packed), str(target)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=INSTALL_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise BrowserError(f"node could not unpack {packed.name} ({type(error).__name__})") from None


def extract(archive: Path, folder: Path) -> None:
    """Unpack an archive; a Python that can, keeps its files inside the folder."""
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(folder, filter="data")
        else:
            opened.extractall(folder)


def say(text: str) -> None:
    print(f"browser: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
