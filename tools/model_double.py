"""A model on loopback that says what a script tells it to, to any agent program that can be given an address.

    with ModelDouble([{"tool": "Bash", "input": {"command": "ls"}}, {"text": "done"}]) as model:
        run_the_program(base_url=model.url)
        model.requests[0]["body"]["tools"]

It speaks the Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini interfaces
(tools/model_speech.py). Each request that offers tools is told the next step; after the last one the model
says "done". A request that offers none is a side talk of the program, such as a title for the session: it is
told "ok" and costs no step.

Rule 1: it listens on loopback only, on a free port, and ends with its block.
Rule 2: every request is kept as `{"path": …, "body": …}`, in the order in which it came, before it is answered.
Rule 3: a body that cannot be read is kept as `{"unreadable": …}`; the program is answered all the same.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tools.model_speech import (
    Stream,
    chat,
    chat_stream,
    gemini,
    messages,
    messages_stream,
    responses_stream,
)

__all__ = ["ModelDouble"]

_AFTER_THE_LAST: dict[str, Any] = {"text": "done"}
_SIDE_TALK: dict[str, Any] = {"text": "ok"}
_STEP_KEYS = ({"text"}, {"tool", "input"}, {"tool", "input", "namespace"})


class ModelDouble:
    """A scripted model; see the head of the file."""

    def __init__(self, steps: Sequence[dict[str, Any]]) -> None:
        for step in steps:
            if set(step) not in _STEP_KEYS:
                raise ValueError(f"{step!r} is no step: it has a text, or a tool and its input.")
        self.steps = list(steps)
        self.requests: list[dict[str, Any]] = []
        self.said = 0
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def is_spent(self) -> bool:
        """Whether every step was said."""
        return self.said >= len(self.steps)

    def keep(self, path: str, body: Any) -> int:
        """Keep a request and return its number."""
        with self._lock:
            self.requests.append({"path": path, "body": body})
            return len(self.requests)

    def next_step(self, body: Any) -> dict[str, Any]:
        """Return what is said to this request."""
        if isinstance(body, dict) and "unreadable" not in body and not body.get("tools"):
            return _SIDE_TALK
        with self._lock:
            self.said += 1
            return self.steps[self.said - 1] if self.said <= len(self.steps) else _AFTER_THE_LAST

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a program may hold its connection open for longer than its test lasts

    def __init__(self, model: ModelDouble) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.model = model

    def handle_error(self, *_: object) -> None:
        """Say nothing where a program hung up in the middle: that is its right."""


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Keep standard error for the test."""

    def do_HEAD(self) -> None:
        self._reply({})

    def do_GET(self) -> None:
        self.server.model.keep(self.path, None)
        if "models" in self.path:
            self._reply({"object": "list", "data": [{"id": "double", "object": "model"}], "models": []})
        else:
            self._reply({})

    def do_POST(self) -> None:
        model = self.server.model
        body = self._body()
        number = model.keep(self.path, body)
        path = self.path.partition("?")[0]
        asked = body if isinstance(body, dict) else {}
        name = str(asked.get("model", "double"))
        is_stream = bool(asked.get("stream"))
        if path.endswith(("/count_tokens", ":countTokens")):
            self._reply({"input_tokens": 10, "totalTokens": 10})
        elif path.endswith("/messages"):
            step = model.next_step(body)
            if is_stream:
                self._stream(messages_stream(step, number, name))
            else:
                self._reply(messages(step, number, name))
        elif path.endswith("/responses"):
            self._stream(responses_stream(model.next_step(body), number, name))
        elif path.endswith("/chat/completions"):
            step = model.next_step(body)
            if is_stream:
                self._stream(chat_stream(step, number, name))
            else:
                self._reply(chat(step, number, name))
        elif path.endswith(":streamGenerateContent"):
            self._stream([(None, gemini(model.next_step(body), number, name))])
        elif path.endswith(":generateContent"):
            self._reply(gemini(model.next_step(body), number, name))
        else:
            self._reply({})

    def _body(self) -> Any:
        raw = self._raw()
        try:
            if self.headers.get("content-encoding") == "gzip":
                raw = gzip.decompress(raw)
            return json.loads(raw or b"{}")
        except (ValueError, EOFError, OSError):
            return {"unreadable": raw[:200].decode("latin-1")}

    def _raw(self) -> bytes:
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts = []
        while size := int(self.rfile.readline().partition(b";")[0].strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _reply(self, value: Any) -> None:
        written = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(written)

    def _stream(self, events: Stream) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, value in events:
            named = f"event: {name}\n" if name else ""
            written = value if isinstance(value, str) else json.dumps(value)
            self.wfile.write(f"{named}data: {written}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True
