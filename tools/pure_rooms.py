"""The pure rooms alone: imported and tested with msgspec and nothing else of the package's dependencies.

    python -m tools.pure_rooms

pytest and Hypothesis are there for the tests. A test that leans on another room, or on a library, is left to the whole
suite; how many are is printed.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.environment import LOCK, Environment, bare_environ
from tools.setup import ROOT, SetupError

__all__ = ["LIBRARIES", "ROOMS", "alone", "main", "pure_tests"]

ROOMS = ("protocol", "engine", "flows")
LIBRARIES = ("msgspec", "pytest", "hypothesis")
_ALLOWED = {"_pytest", *LIBRARIES, *sys.stdlib_module_names}
_PYTEST = """[pytest]
addopts = --import-mode=importlib --noconftest -p tests.chance -p no:cacheprovider
filterwarnings = error
strict_markers = true
markers = proves(*ids): the requirement ids that this test proves
"""
_IMPORT = """
import importlib, pkgutil, sys
before = set(sys.modules)
for room in {rooms!r}:
    package = importlib.import_module(f"assent.{{room}}")
    for module in pkgutil.walk_packages(package.__path__, f"assent.{{room}}."):
        importlib.import_module(module.name)
loaded = {{name.partition(".")[0] for name in set(sys.modules) - before}}
rooms = {{name.split(".")[1] for name in sys.modules if name.startswith("assent.")}}
strange = sorted(loaded - set(sys.stdlib_module_names) - {{"assent", "msgspec"}})
strange += sorted(f"assent.{{room}}" for room in rooms - set({rooms!r}))
sys.exit(f"the pure rooms load {{', '.join(strange)}}" if strange else 0)
"""


def pure_tests(root: Path) -> tuple[list[Path], list[Path]]:
    """Divide the test files of the pure rooms: those that need nothing else, and the others."""
    pure: list[Path] = []
    others: list[Path] = []
    for room in ROOMS:
        for path in sorted((root / "tests" / room).rglob("test_*.py")):
            (pure if alone(root, path, set()) else others).append(path)
    return pure, others


def alone(root: Path, path: Path, seen: set[Path]) -> bool:
    """Tell whether a file needs only the pure rooms and the libraries, also through other test files."""
    seen.add(path)
    for name in _imported(path):
        first, *rest = name.split(".")
        if first == "assent":
            if not rest or rest[0] not in ROOMS:
                return False
        elif first == "tests":
            below = _file_of(root, name)
            if below is None or (below not in seen and not alone(root, below, seen)):
                return False
        elif first not in _ALLOWED:
            return False
    return True


def _file_of(root: Path, name: str) -> Path | None:
    place = root.joinpath(*name.split("."))
    for path in (place.with_suffix(".py"), place.parent.with_suffix(".py")):  # a module, or a name of one
        if path.is_file():
            return path
    return None


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def main() -> int:
    """Make the environment, import every module, and run the tests."""
    pure, others = pure_tests(ROOT)
    with tempfile.TemporaryDirectory(prefix="assent-pure-") as folder:
        place = Path(folder)
        try:
            environment = Environment(place / "venv")
            environment.install("--constraints", str(LOCK), *LIBRARIES)
        except SetupError as error:
            print(f"pure rooms: {error}", file=sys.stderr)
            return 1
        settings = place / "pytest.ini"
        settings.write_text(_PYTEST)
        paths = f"{ROOT / 'src'}:{ROOT}"
        environ = bare_environ(PYTHONPATH=paths, PYTHONDONTWRITEBYTECODE="1", ASSENT_EXAMPLES="0.05")
        try:
            environment.run("python", "-c", _IMPORT.format(rooms=ROOMS), cwd=place, environ=environ)
            names = [str(path) for path in pure]
            asked = ("python", "-m", "pytest", "-q", "-c", str(settings), "--rootdir", str(ROOT), *names)
            environment.run(*asked, cwd=place, environ=environ, shows=True)
        except subprocess.CalledProcessError as error:
            return error.returncode
    print(f"pure rooms: {len(pure)} test files with {', '.join(LIBRARIES)}; {len(others)} need more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
