"""Speaks as an opencode server does, on loopback: keeps what waits, tells events, and checks what it is sent."""

import json
import queue
import threading
import time
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs

from tests.patience import PATIENCE

__all__ = ["PASSWORD", "OpencodeDouble"]

PASSWORD = "open sesame"
_BEAT_SECONDS = 0.2
_SHOWN = f"Basic {b64encode(f'opencode:{PASSWORD}'.encode()).decode()}"


class OpencodeDouble:
    """A server of a test."""

    def __init__(self) -> None:
        self.waiting: dict[str, dict[str, Any]] = {"question": {}, "permission": {}}
        self.replies: list[tuple[str, str, str, Any]] = []
        """Kind, id, verb and body of what came back."""
        self.said: list[tuple[str, str]] = []
        """What agents were told, each in its session."""
        self.listeners: list[queue.Queue[str | None]] = []
        self.folders: set[str] = set()
        """All folders that requests were about; empty is the server's own."""
        self.delay_seconds = 0.0
        """How long it thinks before it says what waits."""
        self.lock = threading.Lock()
        self.server = _Server(self)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def ask(self, kind: str, request: dict[str, Any], *, is_told: bool = True) -> None:
        """Begin to wait for something."""
        with self.lock:
            self.waiting[kind][request["id"]] = request
        if is_told:
            self.tell(f"{kind}.asked", request)

    def settle(self, kind: str, request_id: str, *, how: str = "replied") -> None:
        """Wait for it no more: somebody decided it in opencode itself."""
        with self.lock:
            del self.waiting[kind][request_id]
        self.tell(f"{kind}.{how}", {"sessionID": "ses_1", "requestID": request_id})

    def tell(self, type_: str, properties: dict[str, Any]) -> None:
        """Tell everybody who listens."""
        self.write(json.dumps({"id": "evt_1", "type": type_, "properties": properties}))

    def write(self, line: str) -> None:
        """Send a line of the stream as it is."""
        with self.lock:
            for listener in self.listeners:
                listener.put(f"data: {line}\n\n")

    def hang_up(self) -> None:
        """Break every line."""
        with self.lock:
            for listener in self.listeners:
                listener.put(None)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()
        self.server.shutdown()
        self.thread.join(PATIENCE)
        self.server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, double: OpencodeDouble) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.double = double

    def handle_error(self, *_: object) -> None:
        """Say nothing where somebody hung up."""


class _Request(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: object) -> None:
        """Keep standard error for the test."""

    def _take_folder(self) -> None:
        """Keep the folder that a request is about, and leave the path without it."""
        self.path, _, query = self.path.partition("?")
        self.server.double.folders |= set(parse_qs(query).get("directory", [""]))

    def do_GET(self) -> None:
        self._take_folder()
        if self.headers.get("authorization") != _SHOWN:
            self._reply(401, {})
        elif self.path == "/event":
            self._stream()
        elif self.path.strip("/") in self.server.double.waiting:
            time.sleep(self.server.double.delay_seconds)
            with self.server.double.lock:
                self._reply(200, list(self.server.double.waiting[self.path.strip("/")].values()))
        else:
            self._reply(404, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        self._take_folder()
        double = self.server.double
        _, kind, request_id, verb = self.path.split("/")
        if (kind, verb) == ("session", "prompt_async"):
            (part,) = body["parts"]
            double.said.append((request_id, part["text"]))
            self._reply(204, None)
            return
        with double.lock:
            is_known = double.waiting[kind].pop(request_id, None) is not None
            if is_known:
                double.replies.append((kind, request_id, verb, body))
        if is_known:
            how = "rejected" if verb == "reject" else "replied"
            double.tell(f"{kind}.{how}", {"sessionID": "ses_1", "requestID": request_id})
        self._reply(200 if is_known else 404, is_known)

    def _reply(self, status: int, value: Any) -> None:
        written = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def _stream(self) -> None:
        told: queue.Queue[str | None] = queue.Queue()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        told.put('data: {"type": "server.connected", "properties": {}}\n\n')
        double = self.server.double
        with double.lock:
            double.listeners.append(told)
        while True:
            try:
                line = told.get(timeout=_BEAT_SECONDS)
            except queue.Empty:
                line = 'data: {"type": "server.heartbeat", "properties": {}}\n\n'
            if line is None:
                break
            self.wfile.write(line.encode())
            self.wfile.flush()
        with double.lock:
            double.listeners.remove(told)
