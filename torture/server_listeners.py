"""Those who follow a project on a server that dies again and again: over a WebSocket, as a stream, and by reading the log.

Each remembers the last number that it heard, as any client must, and comes again with it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx2
import msgspec
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from assent.protocol.error import AssentError
from torture.nursery import Wire
from torture.site import PROJECT, Trusted, caller

__all__ = ["WAYS", "listener"]

WAYS = ("socket", "stream", "log")
_PAUSE = 0.02
_SILENCE = 5.0


class _Told(msgspec.Struct):
    """What is read of an event."""

    sequence: int


_decode = msgspec.json.Decoder(_Told).decode


def listener(wire: Wire, way: str, who: Trusted) -> None:
    """Follow the project from its first event, and tell every number that does not follow the one before it."""
    trusted = msgspec.convert(who, Trusted)
    last = comings = 0
    while True:
        comings += 1
        try:
            for number in _FOLLOW[way](trusted, last):
                if number != last + 1:
                    wire.say(kind="gap", way=way, after=last, came=number)
                last = number
                wire.say(kind="heard", number=number, comings=comings)
        except (OSError, WebSocketException, httpx2.HTTPError, AssentError):
            pass  # the server died, or is not there yet
        time.sleep(_PAUSE)


def _over_socket(who: Trusted, last: int) -> Iterator[int]:
    where = f"{who.url.replace('http', 'ws', 1)}/projects/{PROJECT}/events?after={last}"
    headers = {"authorization": f"Bearer {who.secret}"}
    with connect(where, additional_headers=headers, open_timeout=_SILENCE, close_timeout=_PAUSE) as socket:
        for message in socket:
            yield _decode(message).sequence


def _over_stream(who: Trusted, last: int) -> Iterator[int]:
    headers = {
        "authorization": f"Bearer {who.secret}",
        "accept": "text/event-stream",
        "last-event-id": str(last),
    }
    where = f"{who.url}/projects/{PROJECT}/events"
    timeout = httpx2.Timeout(_SILENCE, read=3 * _SILENCE)
    with (
        httpx2.Client(trust_env=False, timeout=timeout) as client,
        client.stream("GET", where, headers=headers) as response,
    ):
        response.raise_for_status()
        for line in response.iter_lines():
            if line.startswith("data:"):
                yield _decode(line.removeprefix("data:")).sequence


def _over_log(who: Trusted, last: int) -> Iterator[int]:
    for record in caller(who).follow(last):
        yield record.sequence


_FOLLOW = {"socket": _over_socket, "stream": _over_stream, "log": _over_log}
