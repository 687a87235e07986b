"""Workers of the crowd trial: two servers that say how many wait at them, agents by the thousand, and who answers.

An agent is a task with one connection: it asks for the answer with a long poll, and when that breaks or lapses it asks
again, at the other server, after a moment of its own. So do the clients behind a load balancer.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import threading
from typing import Any
from urllib.parse import urlsplit

import msgspec

from assent.client.connect import open_hub
from assent.engine.ask import AnswerAsk, OpenAsk
from assent.hub import hub as hub_module
from assent.hub.command import Request
from assent.hub.hub import Hub
from assent.hub.ids import new_ask_id, new_command_id
from assent.protocol.ask import Ask, AskId
from assent.protocol.canonical import digest
from assent.protocol.principal import Principal, Role
from assent.protocol.prompt import encode_prompt, question
from torture import site
from torture.nursery import Wire
from torture.site import PROJECT, Trusted

__all__ = ["agents", "crowd_server", "desk", "value_for"]

OPTIONS = ("Red", "Green", "Blue")
_GROUP = 250
_POLL_SECONDS = 55
_JITTER = 2.0
_TELL_SECONDS = 0.1
_PROMPT = question("Which colour?", OPTIONS)
_DIGEST = digest(encode_prompt(_PROMPT))


class _Answer(msgspec.Struct):
    values: dict[str, list[str]]


class _Shown(msgspec.Struct):
    """What is read of an ask."""

    ask_id: str
    state: str
    answer: _Answer | None = None


_decode = msgspec.json.Decoder(_Shown).decode


def value_for(ask_id: str) -> str:
    """Return the answer that this very ask gets."""
    return OPTIONS[sum(ask_id.encode()) % len(OPTIONS)]


def crowd_server(wire: Wire, store: str, port: int, untold: int) -> None:
    """Run a server, and tell whenever asked how many wait at it and how much memory it has."""
    threading.Thread(target=_tell_size, args=(wire,), daemon=True).start()
    site.server(wire, store, port, untold)


def _tell_size(wire: Wire) -> None:
    while True:
        wire.hear()
        waiting = sum(len(hub.waiters._waiting) for hub in list(hub_module._hubs))
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - one line of the kernel's
            pages = int(statm.read().split()[1])
        wire.say(waiting=waiting, mebibytes=pages * resource.getpagesize() >> 20)


# Agents


def agents(wire: Wire, who: list[Trusted], asks: list[str]) -> None:
    """Wait for the answers to these asks, each in a task of its own."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(_wait_for_all(wire, msgspec.convert(who, list[Trusted]), asks))
    wire.hear()


async def _wait_for_all(wire: Wire, who: list[Trusted], asks: list[str]) -> None:
    told: list[tuple[str, str, str]] = []
    troubles: list[str] = []
    tasks = [
        asyncio.ensure_future(_wait_for(ask_id, who, number, told, troubles))
        for number, ask_id in enumerate(asks)
    ]
    everyone = asyncio.gather(*tasks)
    while not everyone.done() or told or troubles:
        await asyncio.sleep(_TELL_SECONDS)
        if told or troubles:
            wire.say(got=told[:], troubles=troubles[:])
            told.clear()
            troubles.clear()


async def _wait_for(
    ask_id: str, who: list[Trusted], number: int, told: list[tuple[str, str, str]], troubles: list[str]
) -> None:
    await asyncio.sleep(random.uniform(0, _JITTER))
    while True:
        try:
            shown = await _poll(ask_id, who[number % len(who)])
        except (OSError, EOFError, asyncio.IncompleteReadError):
            # The server is gone; the other one is not, and not everybody comes to it at once.
            number += 1
            await asyncio.sleep(random.uniform(0, _JITTER))
            continue
        except ValueError as error:
            troubles.append(f"{ask_id}: {error}")
            await asyncio.sleep(1)
            continue
        if shown.state != "open":
            value = shown.answer.values["q1"][0] if shown.answer else shown.state
            told.append((ask_id, shown.ask_id, value))
            return


async def _poll(ask_id: str, who: Trusted) -> _Shown:
    """Ask for the ask with its answer; it comes when it has ended or the poll is over."""
    place = urlsplit(who.url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(
            f"GET /projects/{PROJECT}/asks/{ask_id}/answer?wait={_POLL_SECONDS} HTTP/1.1\r\n"
            f"Host: {place.netloc}\r\nAuthorization: Bearer {who.secret}\r\nConnection: close\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.read()
    finally:
        writer.close()
    if not head.startswith(b"HTTP/1.1 200"):
        raise ValueError(f"{head[:40]!r} {body[:200]!r}")
    if not body:
        raise EOFError
    return _decode(body)


# Who asks and answers


def desk(wire: Wire, url: str) -> None:
    """Open asks and answer them, on the database itself, many at a time."""
    hub = open_hub(url, os.environ)
    while True:
        order = wire.hear()
        if "opens" in order:
            wire.say(asks=asyncio.run(_open(hub, order["opens"])))
        else:
            asyncio.run(_answer(hub, order["answers"]))
            wire.say(answered=len(order["answers"]))


async def _open(hub: Hub, count: int) -> list[str]:
    requests = [OpenAsk(new_ask_id(), _PROMPT, _DIGEST) for _ in range(count)]
    await _send_all(hub, list(requests), Principal(Role.AGENT, "coder"))
    return [str(request.ask_id) for request in requests]


async def _answer(hub: Hub, asks: list[str]) -> None:
    requests: list[Request] = [
        AnswerAsk(AskId(ask_id), "", {"q1": (value_for(ask_id),)}, "torture") for ask_id in asks
    ]
    await _send_all(hub, requests, Principal(Role.HUMAN, "ana"))


async def _send_all(hub: Hub, requests: list[Any], who: Principal) -> None:
    loop = asyncio.get_running_loop()
    for first in range(0, len(requests), _GROUP):
        futures = [
            hub.handle(request, project=PROJECT, principal=who, command_id=new_command_id(), loop=loop)
            for request in requests[first : first + _GROUP]
        ]
        for future in futures:
            assert isinstance(future, asyncio.Future)
            assert isinstance(await future, Ask)
