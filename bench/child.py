"""The process of one side: takes one JSON line a call, gives one JSON line a reply, and tells of wakes between."""

from __future__ import annotations

import json
import os
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["SIDES", "main"]

SIDES = {
    "ours": "ours:Ours",
    "reviewing": "decisions:Reviewing",
    "driver": "steering:Driver",
    "controller": "steering:Controller",
    "follower": "steering:Follower",
    "bare": "bare:Bare",
    "same_rows": "same_rows:SameRows",
    "served": "web:Served",
    "echo": "web:Echo",
    "remote_caller": "web_caller:RemoteCaller",
    "plain_caller": "web_caller:PlainCaller",
    "web_crowd": "web_crowd:WebCrowd",
    "postgres": "postgres:OursOnPostgres",
    "bare_postgres": "postgres:BarePostgres",
}
"""Each side's home, loaded where it is needed: what a process takes to start and to live is measured, too."""
_out = threading.Lock()


def say(message: dict[str, Any]) -> None:
    """Send one line to whoever started this process."""
    line = json.dumps(message).encode() + b"\n"
    with _out:
        while line:
            line = line[os.write(1, line) :]


def main(side_name: str, role: str, store: str) -> None:
    """Answer calls until standard input ends."""
    module, _, kind = SIDES[side_name].partition(":")
    side = getattr(import_module(f"bench.{module}"), kind)(Path(store), role, say)
    say({"ready": True})
    for line in sys.stdin:
        call = json.loads(line)
        name = call.pop("call")
        say(getattr(side, name)(**call))
    # Threads and tasks that still wait would hold an orderly exit up, and there is nothing to save.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
