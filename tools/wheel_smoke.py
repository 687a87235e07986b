"""Builds the wheel and the sdist, looks into them, and tries the wheel in empty environments.

    python -m tools.wheel_smoke                 no extra, each extra alone, and all of them together
    python -m tools.wheel_smoke core tui        these alone
    python -m tools.wheel_smoke --oldest        all of them, with the oldest direct dependencies that are allowed

Versions are those of requirements/test.txt, except with --oldest. What is tried is in tools/smoke_stories.py.
"""

from __future__ import annotations

import argparse
import email
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

from assent.client.identity import AGENT_MARKS
from tools.boot import find_uv
from tools.environment import LOCK, Environment, bare_environ
from tools.setup import LOCKS, ROOT, SetupError, names_in
from tools.setup import run as run_setup
from tools.smoke_stories import STORIES

__all__ = ["build", "main", "wheel_faults"]

PACKAGE = ROOT / "src" / "assent"
NEEDED = ("assent/py.typed", "assent/surfaces/http/page/index.html")
# Tests that lean on dependencies, each in another way; quick enough to run with the oldest of them.
SAMPLE = (
    "tests/client/test_gate.py",
    "tests/hosts/acp",
    "tests/hosts/mcp/test_tools.py",
    "tests/hosts/test_langchain.py",
    "tests/hosts/test_langgraph.py",
    "tests/hosts/test_openai_agents.py",
    "tests/hosts/test_pydantic_ai.py",
    "tests/surfaces/http/test_metrics.py",
)


class SmokeError(Exception):
    """What is wrong with the package, in one sentence."""


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist and, out of it, the wheel; return the wheel and the sdist.

    Raises:
        SmokeError: the sdist gives another wheel than the sources.
    """
    uv = find_uv()
    constraints = ("--build-constraints", str(LOCKS / "build.txt"), "--require-hashes")
    direct, packed = folder / "direct", folder / "packed"
    run_setup(uv, "build", "--quiet", *constraints, "--wheel", "--out-dir", str(direct), str(ROOT))
    run_setup(uv, "build", "--quiet", *constraints, "--out-dir", str(packed), str(ROOT))
    (wheel,), (sdist,) = packed.glob("*.whl"), packed.glob("*.tar.gz")
    (other,) = direct.glob("*.whl")
    if (one := contents(wheel)) != (two := contents(other)):
        differing = sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))
        raise SmokeError(f"the sdist gives another wheel than the sources: {', '.join(differing[:5])}")
    return wheel, sdist


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def wheel_faults(held: dict[str, bytes], package: Path) -> list[str]:
    """List what a wheel lacks: files of the package, licenses, or the right name in its metadata."""
    wanted = {
        f"assent/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    faults = [f"{name} is missing" for name in sorted((wanted | set(NEEDED)) - held.keys())]
    strays = {name for name in held if ".dist-info/" not in name} - wanted
    faults += [f"{name} does not belong there" for name in sorted(strays)]
    (metadata,) = [name for name in held if name.endswith(".dist-info/METADATA")] or [""]
    told = email.message_from_bytes(held.get(metadata, b""))
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for field, value in (
        ("Name", declared["name"]),
        ("Version", declared["version"]),
        ("License-Expression", declared["license"]),
        ("Requires-Python", declared["requires-python"]),
    ):
        if told.get(field) != value:
            faults.append(f"its metadata has {field}: {told.get(field)}, not {value}")
    for license_file in declared["license-files"]:
        if not any(name.endswith(f".dist-info/licenses/{license_file}") for name in held):
            faults.append(f"the license {license_file} is missing")
    return faults


def oldest_pins(folder: Path) -> Path:
    """Resolve the oldest direct dependencies that are allowed; return the file of pins."""
    pins = folder / "oldest.txt"
    inputs = ("--extra", "all", "--resolution", "lowest-direct", "--python-version", "3.11")
    quiet = ("--quiet", "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links")
    run_setup(
        find_uv(), "pip", "compile", *quiet, *inputs, "--output-file", str(pins), str(ROOT / "pyproject.toml")
    )
    return pins


def test_pins(oldest: Path) -> list[str]:
    """List what the tests need beside the package, as the lock pins it."""
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["test"]
    names = {re.split(r"[<>=]", line, maxsplit=1)[0] for line in group} - names_in(oldest)
    pinned = re.findall(r"^([a-z0-9-]+)==([^ ;\\]+)", LOCK.read_text(), flags=re.MULTILINE)
    return [f"{name}=={version}" for name, version in pinned if name in names and name != "opentelemetry-sdk"]


def try_wheel(folder: Path, wheel: Path, extras: list[str], constraints: Path) -> Environment:
    """Install the wheel with these extras into an empty environment and tell their stories there."""
    wanted = f"assent[{','.join(extras)}] @ {wheel.as_uri()}" if extras else f"assent @ {wheel.as_uri()}"
    environment = Environment(folder / "venv")
    environment.install("--constraints", str(constraints), wanted)
    home = folder / "home"
    home.mkdir()
    (folder / "place").mkdir()
    places = {name: str(home) for name in ("HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME")}
    script = str(ROOT / "tools" / "smoke_stories.py")
    places |= dict.fromkeys(AGENT_MARKS, "")
    environment.run(
        "python", "-I", script, "core", *extras, cwd=folder / "place", environ=bare_environ(**places)
    )
    return environment


def main(argv: list[str] | None = None) -> int:
    """Build, look, install and try; the first fault ends it."""
    parser = argparse.ArgumentParser(prog="tools.wheel_smoke", description="Try the built package.")
    parser.add_argument("only", nargs="*", choices=[*STORIES, "all", []], help="try these alone")
    parser.add_argument("--oldest", action="store_true", help="with the oldest direct dependencies")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="assent-wheel-", ignore_cleanup_errors=True) as folder:
        try:
            smoke(Path(folder), chosen.only, is_oldest=chosen.oldest)
        except (SetupError, SmokeError) as error:
            print(f"wheels: {error}", file=sys.stderr)
            return 1
        except subprocess.SubprocessError as error:
            print(f"wheels: {error}", file=sys.stderr)
            return 1
    return 0


def smoke(folder: Path, only: list[str], *, is_oldest: bool) -> None:
    wheel, sdist = build(folder)
    faults = wheel_faults(contents(wheel), PACKAGE)
    with tarfile.open(sdist) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    faults += [
        f"{name} is not in the sdist"
        for name in ("LICENSE", "README.md", "src/assent/py.typed", "tests/conftest.py")
        if name not in packed
    ]
    if faults:
        raise SmokeError("; ".join(faults))
    print(f"wheels: {wheel.name} and {sdist.name} are whole", flush=True)
    extras = [name for name in STORIES if name != "core"]
    if is_oldest:
        pins = oldest_pins(folder)
        place = folder / "oldest"
        place.mkdir()
        environment = try_wheel(place, wheel, extras, pins)
        print("wheels: every story holds with the oldest dependencies", flush=True)
        environment.install("--constraints", str(pins), *test_pins(pins))
        environment.run("python", "-m", "pytest", "-q", *SAMPLE, cwd=ROOT, shows=True)
        return
    for name in only or [*STORIES, "all"]:
        place = folder / name
        place.mkdir()
        try_wheel(place, wheel, extras if name == "all" else [name] if name != "core" else [], LOCK)
        print(f"wheels: {name} works", flush=True)


if __name__ == "__main__":
    sys.exit(main())
