"""The command line. It joins the rooms; a command loads what it needs when it is called, and nothing else."""

from __future__ import annotations

import sys
from typing import NoReturn

from assent.cli.exit import run

__all__ = ["main"]


def main() -> NoReturn:
    """Run `assent` with this process's arguments and end with its exit status."""
    sys.exit(run(sys.argv[1:]))
