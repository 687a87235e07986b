"""The command line. It joins the rooms; a command loads what it needs when it is called, and nothing else."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run `assent` with this process's arguments and end with its exit status."""
    arguments = sys.argv[1:]
    if arguments:
        # A shell that completes words gives none. Whoever gives some is answered: a host must not take the shell's
        # script for a hook that had nothing to say.
        os.environ.pop("_ASSENT_COMPLETE", None)
    if arguments[:1] == ["hook"] and _is_idle(arguments[1:]):
        sys.exit(0)
    from assent.cli.exit import run

    sys.exit(run(arguments))


def _is_idle(arguments: list[str]) -> bool:
    """Say whether a host's hook has nothing to ask, before anything else is loaded: the host waits for it."""
    from assent.hosts.claude_code.glance import nothing_to_ask

    return nothing_to_ask(arguments, os.environ)
