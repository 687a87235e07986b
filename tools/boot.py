"""Finds uv, the installer that makes .venv; fetches it beside the project where there is none.

Looked for in this order: one on the path, one that was fetched before into .boot/, one that pip fetches (this Python's
own, or the wheel that ensurepip and venv carry), and one that the standard library fetches from the index that a person
named for pip or uv.

Rule 1: only the standard library, for this runs before anything is installed.
Rule 2: what is fetched is believed by its hash in requirements/boot.txt, and what was fetched in part is never used.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tools.package_index import IndexSettings, read_settings, uv_environ
from tools.trust import trust
from tools.wheel import WheelError, fetch_wheel

__all__ = ["BootError", "find_uv"]

ROOT = Path(__file__).resolve().parent.parent
BOOT = ROOT / ".boot"
LOCK = ROOT / "requirements" / "boot.txt"
# Where Linux distributions keep the wheels that their venv installs from.
WHEELS = (Path("/usr/share/python-wheels"), Path("/usr/share/python3-wheels"))
TRY_SECONDS = 60


class BootError(Exception):
    """Why there is no uv, in one sentence."""


def find_uv() -> str:
    """Return the path of uv, fetching it if need be; that works without root rights.

    Raises:
        BootError: there is none, and none can be had.
    """
    found = shutil.which("uv")
    if found:
        return found
    uv = BOOT / "bin" / "uv"
    if not uv.exists():
        print("setup: fetching uv", file=sys.stderr, flush=True)
        partial = BOOT.with_name(f"{BOOT.name}-{os.getpid()}")
        shutil.rmtree(BOOT, ignore_errors=True)
        try:
            fetch(partial)
            partial.rename(BOOT)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return str(uv)


def fetch(folder: Path) -> None:
    """Put uv into a folder by the first way that there is."""
    for extra in pips():
        if is_pip(extra):
            install(folder, extra)
            return
    uv, pip = read_settings(os.environ)
    named = next((each for each in (uv, pip) if each.places or each.find_links), None)
    if named is None:
        raise BootError(
            "this Python has no pip to fetch uv with; install one (Debian and Ubuntu: `apt-get install python3-venv`; "
            "Fedora: `dnf install python3-pip`; macOS: `brew install uv`), or name a package index in PIP_INDEX_URL."
        )
    unpack(folder, named)


def pips() -> Iterator[dict[str, str]]:
    """Give the variables with which this Python may have pip: none, and the path of each wheel that it carries."""
    yield {}
    folders = [*WHEELS]
    told = sysconfig.get_config_var("WHEEL_PKG_DIR")
    if told:
        folders.insert(0, Path(told))
    carried = find_spec("ensurepip")
    if carried is not None and carried.submodule_search_locations:
        folders.insert(0, Path(carried.submodule_search_locations[0]) / "_bundled")
    for folder in folders:
        for wheel in sorted(folder.glob("pip-*.whl"), reverse=True):
            yield {"PYTHONPATH": str(wheel)}


def is_pip(extra: dict[str, str]) -> bool:
    """Tell whether this Python has pip with these variables."""
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "--version"],
        env={**os.environ, **extra},
        capture_output=True,
        timeout=TRY_SECONDS,
        check=False,
    )
    return asked.returncode == 0


def install(folder: Path, extra: dict[str, str]) -> None:
    """Let pip fetch uv; its own words tell why it failed."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--quiet", "--disable-pip-version-check"]
    command += ["--require-hashes", "--target", str(folder), "--requirement", str(LOCK)]
    # A person's settings for their own installs would contradict --target.
    own = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_ROOT_USER_ACTION": "ignore"}
    done = subprocess.run(command, env={**os.environ, **trust(os.environ), **own, **extra}, check=False)
    if done.returncode:
        raise BootError(f"pip could not fetch uv (status {done.returncode}); its own words are above.")


def unpack(folder: Path, settings: IndexSettings) -> None:
    """Fetch the wheel of uv without pip, and take the one program out of it."""
    try:
        content = fetch_wheel(LOCK, settings, {**os.environ, **uv_environ(os.environ)})
    except WheelError as error:
        raise BootError(str(error)) from None
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        (program,) = (name for name in wheel.namelist() if name.endswith(".data/scripts/uv"))
        uv = folder / "bin" / "uv"
        uv.parent.mkdir(parents=True)
        uv.write_bytes(wheel.read(program))
        uv.chmod(0o755)
