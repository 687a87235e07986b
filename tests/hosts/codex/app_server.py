"""Speaks as `codex app-server` does, checks what it is sent, and plays a script.

`python app_server.py app-server SCRIPT.json`: the script is a list of turns, a turn a list of steps: a request to the
client (`method`, `params`), a notification (`notify`, `params`), or something to wait for (`steer`). What came of a request
is said as a message of the agent, so that a test reads it on standard output.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["SCRIPT_THREAD"]

SCRIPT_THREAD = "thr-1"
_PATIENCE = 120.0


class InterruptedTurn(Exception):  # noqa: N818 - it is no error
    """The client interrupts the turn."""


class AppServer:
    """One client, one thread."""

    def __init__(self, turns: list[list[dict[str, Any]]]) -> None:
        self.turns = iter(turns)
        self.number = 0
        self.turn_id = ""

    def send(self, **message: Any) -> None:
        self.write(json.dumps(message))

    def write(self, line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def receive(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            raise SystemExit(0)
        message: dict[str, Any] = json.loads(line)
        return message

    def serve(self) -> None:
        assert os.environ["NO_COLOR"]
        first = self.receive()
        assert first["method"] == "initialize"
        assert first["params"]["capabilities"] == {"experimentalApi": True}
        self.send(id=first["id"], result={})
        assert self.receive()["method"] == "initialized"
        begun = self.receive()
        assert begun["method"] in {"thread/start", "thread/resume"}
        if begun["method"] == "thread/resume":
            assert begun["params"]["threadId"] == SCRIPT_THREAD
        assert Path(begun["params"]["cwd"]).is_absolute()
        self.send(id=begun["id"], result={"thread": {"id": SCRIPT_THREAD}, "model": "small"})
        while True:
            self.have_turn(self.until_called("turn/start"))

    def have_turn(self, asked: dict[str, Any]) -> None:
        params = asked["params"]
        assert (asked["method"], params["threadId"]) == ("turn/start", SCRIPT_THREAD)
        self.number += 1
        self.turn_id = f"turn-{self.number}"
        self.send(id=asked["id"], result={"turn": {"id": self.turn_id}})
        mode = params.get("collaborationMode", {}).get("mode", "default")
        self.say(f"heard: {params['input'][0]['text']} ({params.get('model')}, {mode})")
        status, error = "completed", None
        try:
            for step in next(self.turns, []):
                if "fail" in step:
                    status, error = "failed", {"message": step["fail"]}
                else:
                    self.play(step)
        except InterruptedTurn:
            status = "interrupted"
        turn = {"id": self.turn_id, "status": status, "error": error}
        self.send(method="turn/completed", params={"threadId": SCRIPT_THREAD, "turn": turn})

    def play(self, step: dict[str, Any]) -> None:
        if "raw" in step:
            self.write(step["raw"])
            return
        if "die" in step:
            raise SystemExit(1)
        if "notify" in step:
            self.send(method=step["notify"], params=step["params"])
            return
        if "steer" in step:
            told = self.until_called("turn/steer")
            assert told["params"]["expectedTurnId"] == self.turn_id
            self.send(id=told["id"], result={"turnId": self.turn_id})
            self.say(f"steered: {told['params']['input'][0]['text']}")
            return
        request_id = step.get("id", 70)
        ids = {"threadId": SCRIPT_THREAD, "turnId": self.turn_id, "itemId": "item-1", "startedAtMs": 1}
        self.send(id=request_id, method=step["method"], params={**ids, **step["params"]})
        if "gone" in step:
            until = time.monotonic() + _PATIENCE
            while not Path(step["gone"]).exists() and time.monotonic() < until:
                time.sleep(0.01)
            self.send(
                method="serverRequest/resolved", params={"threadId": SCRIPT_THREAD, "requestId": request_id}
            )
            return
        reply = self.until_called(None)
        assert reply["id"] == request_id
        self.say(json.dumps(reply.get("result", {"error": reply.get("error")}), sort_keys=True))

    def until_called(self, method: str | None) -> dict[str, Any]:
        message = self.receive()
        while message.get("method") == "turn/steer" != method:
            self.send(id=message["id"], error={"code": -32600, "message": "not now"})
            message = self.receive()
        if message.get("method") == "turn/interrupt":
            assert message["params"] == {"threadId": SCRIPT_THREAD, "turnId": self.turn_id}
            self.send(id=message["id"], result={})
            raise InterruptedTurn
        assert message.get("method") == method
        return message

    def say(self, text: str) -> None:
        item = {"type": "agentMessage", "id": "m", "text": text}
        self.send(
            method="item/completed", params={"threadId": SCRIPT_THREAD, "turnId": self.turn_id, "item": item}
        )


if __name__ == "__main__":
    assert sys.argv[1] == "app-server"
    AppServer(json.loads(Path(sys.argv[2]).read_text())).serve()
