"""One agent of the live demo, in a process of its own. It knows nothing but the public client.

`python -m assent.cli.demo_world PART PROJECT FOLDER NAME`, where NAME is what the agent is called in the store, which
ASSENT_STORE names.

Standard input is the server's hand on it: when that closes, however the server came to its end, the agent takes back
what is still open, and ends. The last one out removes the folder.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import assent
from assent.cli.demo_world.stage import Stage, until_let_go
from assent.cli.demo_world.studio import share


def main(part: str, project: str, folder: str, name: str) -> int:
    """Play one part until it is let go."""
    with share(Path(folder)) as is_there:
        if not is_there:  # the server has come and gone meanwhile
            return 0
        play = import_module(f"assent.cli.demo_world.{part}").play
        # Everything is loaded before the end may come: an interrupt in the middle of an import can crash Python.
        with (
            assent.connect(project=project, principal=f"agent:{name}") as client,
            suppress(KeyboardInterrupt),
            until_let_go(),
        ):
            stage = Stage(client, name, Path(folder))
            try:
                stage.keep(play)
            finally:
                stage.clear()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
