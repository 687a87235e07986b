"""The process of one side: takes one JSON line a call, gives one JSON line a reply, and tells of wakes between."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from bench.bare import Bare
from bench.ours import Ours
from bench.same_rows import SameRows
from bench.steering import Controller, Driver, Follower
from bench.web import Echo, Served
from bench.web_caller import PlainCaller, RemoteCaller
from bench.web_crowd import WebCrowd

__all__ = ["SIDES", "main"]

SIDES = {
    "ours": Ours,
    "driver": Driver,
    "controller": Controller,
    "follower": Follower,
    "bare": Bare,
    "same_rows": SameRows,
    "served": Served,
    "echo": Echo,
    "remote_caller": RemoteCaller,
    "plain_caller": PlainCaller,
    "web_crowd": WebCrowd,
}
_out = threading.Lock()


def say(message: dict[str, Any]) -> None:
    """Send one line to whoever started this process."""
    line = json.dumps(message).encode() + b"\n"
    with _out:
        while line:
            line = line[os.write(1, line) :]


def main(side_name: str, role: str, store: str) -> None:
    """Answer calls until standard input ends."""
    side = SIDES[side_name](Path(store), role, say)
    say({"ready": True})
    for line in sys.stdin:
        call = json.loads(line)
        name = call.pop("call")
        say(getattr(side, name)(**call))
    # Threads and tasks that still wait would hold an orderly exit up, and there is nothing to save.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
