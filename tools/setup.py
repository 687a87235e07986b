"""Makes .venv from the hashed locks, and writes the locks.

Rule 1: only the standard library, for this runs before anything is installed.
Rule 2: one at a time; a second run waits for the first and then finds its work done.
Rule 3: a stamp holds the digest of everything that an install depends on. It is written last, so an
        interrupted install is done again, and a finished one costs one short look.
"""

import argparse
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.boot import BootError, find_uv
from tools.package_index import uv_environ

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
LOCKS = ROOT / "requirements"
HEADER = "# Written by `make lock`. Names, versions and hashes only: it works with any package index.\n"

# `all` leaves crewai out, whose pins fit nothing else.
# `run` is the core and the server, which `make run` starts. It is resolved inside what `test` chose, so that adding the
# other extras never changes it.
LOCK_INPUTS = {
    "test.txt": ["pyproject.toml", "--extra", "all", "--group", "dev"],
    "run.txt": ["pyproject.toml", "--extra", "server", "--constraints", "requirements/test.txt"],
    "build.txt": ["--group", "build"],
    "boot.txt": ["--group", "boot"],
}
LOCK_OF = {"core": LOCKS / "run.txt", "full": LOCKS / "test.txt"}


class SetupError(Exception):
    """Something that the person at the keyboard has to know, in one sentence."""


def main(argv: list[str] | None = None) -> int:
    """Do what the Makefile asked for and say so in one sentence if it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.setup", description="Make .venv, or write the locks."
    )
    parser.add_argument("what", choices=["core", "full", "lock"])
    parser.add_argument("--upgrade", action="store_true", help="with lock: take newer versions")
    chosen = parser.parse_args(argv)
    os.chdir(ROOT)
    try:
        if chosen.what == "lock":
            with alone():
                write_locks(find_uv(), upgrade=chosen.upgrade)
        elif not is_done(chosen.what):
            with alone():
                if not is_done(chosen.what):  # the run that we waited for may have done it
                    install(find_uv(), chosen.what)
    except (BootError, SetupError) as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; the next make starts over", file=sys.stderr)
        return 130
    return 0


@contextmanager
def alone() -> Iterator[None]:
    """Hold the lock that lets one setup at a time work in this folder."""
    with (ROOT / ".setup.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("setup: waiting for another make in this folder", file=sys.stderr)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def digest_of(what: str) -> str:
    """Name everything that an install of `what` depends on, the place included (scripts hold it)."""
    told = hashlib.sha256(f"{ROOT}\n{sys.version}\n{sys.base_prefix}\n".encode())
    for path in (LOCK_OF[what], LOCKS / "build.txt", ROOT / "pyproject.toml"):
        told.update(path.read_bytes())
    return told.hexdigest()


def stamp_of(what: str) -> Path:
    return VENV / f".setup-{what}"


def is_done(what: str) -> bool:
    """Tell whether .venv already holds exactly this."""
    try:
        return stamp_of(what).read_text() == digest_of(what) and VENV_PYTHON.exists()
    except FileNotFoundError:
        return False


def install(uv: str, what: str) -> None:
    """Bring .venv to the lock: add first, take strays away last, so a running command keeps its modules."""
    print(f"setup: installing into .venv from {LOCK_OF[what].relative_to(ROOT)}", file=sys.stderr)
    for stamp in ("core", "full"):
        stamp_of(stamp).unlink(missing_ok=True)
    if not is_our_python():
        run(uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV))
    pip = [uv, "pip"]
    here = ["--quiet", "--python", str(VENV_PYTHON)]
    run(*pip, "install", *here, "--require-hashes", "--requirements", str(LOCK_OF[what]))
    run(
        *pip,
        "install",
        *here,
        "--no-deps",
        "--build-constraints",
        str(LOCKS / "build.txt"),
        "--editable",
        ".",
    )
    if what == "full":
        listed = run(*pip, "list", "--format", "json", *here, capture=True)
        strays = {entry["name"] for entry in json.loads(listed)} - names_in(LOCK_OF[what]) - {"assent"}
        if strays:
            run(*pip, "uninstall", *here, *sorted(strays))
        stamp_of("core").write_text(digest_of("core"))
    stamp_of(what).write_text(digest_of(what))


def is_our_python() -> bool:
    """Tell whether .venv works and is of this very Python."""
    if not VENV_PYTHON.exists():
        return False
    asked = subprocess.run(
        [VENV_PYTHON, "-c", "import sys; print(sys.version, sys.base_prefix)"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() == f"{sys.version} {sys.base_prefix}".strip()


def names_in(lock: Path) -> set[str]:
    """List the packages that a lock names."""
    return set(re.findall(r"^([a-z0-9-]+)==", lock.read_text(), flags=re.MULTILINE))


def write_locks(uv: str, *, upgrade: bool) -> None:
    """Resolve each lock for every platform, with hashes, and keep addresses out of them."""
    for name, inputs in LOCK_INPUTS.items():
        path = LOCKS / name
        path.touch()
        run(
            *(
                uv,
                "pip",
                "compile",
                "--quiet",
                "--universal",
                "--python-version",
                "3.11",
                "--generate-hashes",
            ),
            *("--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"),
            *(["--upgrade"] if upgrade else []),
            *("--output-file", str(path.relative_to(ROOT)), *inputs),
        )
        path.write_text(HEADER + path.read_text())


def run(*command: str, capture: bool = False) -> str:
    """Run uv with a person's index and certificates; its own output tells why it failed, ours that it did."""
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE if capture else None,
            text=True,
            check=True,
            env={**os.environ, **uv_environ(os.environ)},
        )
    except OSError as error:
        raise SetupError(f"{command[0]} cannot be started: {error.strerror}.") from None
    except subprocess.CalledProcessError as error:
        told = " ".join([Path(command[0]).name, *command[1:4]])
        raise SetupError(
            f"`{told} …` ended with status {error.returncode}; its own words are above."
        ) from None
    return done.stdout or ""


if __name__ == "__main__":
    sys.exit(main())
