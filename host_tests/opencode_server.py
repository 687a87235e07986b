"""A real opencode server, and what its user says to it."""

import json
import re
import subprocess
import threading
import urllib.request
from typing import Any

import pytest

from host_tests.settings import PATIENCE

__all__ = ["PASSWORD", "Opencode", "await_opencode"]

PASSWORD = "open sesame"


class Opencode:
    """An opencode server of a test."""

    def __init__(self, url: str, folder: str = "") -> None:
        self.url = url
        self.replies: list[Any] = []
        self._session = self.send("POST", f"/session{folder and f'?directory={folder}'}", {})["id"]

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request as its user."""
        given = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", given, method=method)
        request.add_header("content-type", "application/json")
        password = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        password.add_password(None, self.url, "opencode", PASSWORD)
        opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(password))
        with opener.open(request, timeout=PATIENCE) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def prompt(self) -> threading.Thread:
        """Say something to the agent; it takes as long as it takes."""
        body = {"parts": [{"type": "text", "text": "go"}]}
        path = f"/session/{self._session}/message"
        thread = threading.Thread(
            target=lambda: self.replies.append(self.send("POST", path, body)), daemon=True
        )
        thread.start()
        return thread

    def outputs(self) -> list[dict[str, Any]]:
        """Return how the tool calls of the session stand."""
        messages = self.send("GET", f"/session/{self._session}/message")
        return [part["state"] for each in messages for part in each["parts"] if part["type"] == "tool"]


def await_opencode(process: subprocess.Popen[str]) -> str:
    """Return the address of a server, once it listens."""
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        if found:
            return found[0]
    pytest.fail("opencode ended before it listened")
