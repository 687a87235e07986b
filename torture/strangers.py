"""Thousands of silent sockets and of bad tokens, while a person answers: nobody gets in, and the person is served."""

from __future__ import annotations

import asyncio
import resource
import time
from collections import Counter

import msgspec

from assent.hub.ids import new_command_id
from assent.protocol.principal import Role
from assent.surfaces.http.connection import MAX_SILENT
from torture.log import read_log
from torture.nest import Nest, Worker
from torture.nursery import Wire
from torture.site import PROJECT, Served, Trusted, caller
from torture.trial import Plan, Tally, Trial, Twin, Verdict

__all__ = ["TRIAL", "guessers", "person", "run", "silent"]

SOCKETS = 5_000
TOKENS = 10_000
ANSWERS = 100
_LINES = 4
_SLACK = 50
"""Connections that speak just now do not count as silent."""
_LONGEST_ANSWER = 5_000.0
_REFUSED = (401, 429)


def run(plan: Plan) -> Verdict:
    """Let them all come at the same time."""
    tally = Tally(
        ("let in", "never slowed down", "silent ones kept", "slow answers", "restarts", "audit problems")
    )
    sockets, tokens, answers = (
        plan.count(SOCKETS, 2 * MAX_SILENT),
        plan.count(TOKENS),
        plan.count(ANSWERS, 20),
    )
    with Nest(plan.twin) as nest:
        served = Served(nest)
        agent, human = served.trust((Role.AGENT, "coder"), (Role.HUMAN, "ana"))
        somebody = nest.start("torture.strangers:person", agent=agent, human=human)
        calm = sorted(_ask_for(somebody, answers))
        crowd = nest.start("torture.strangers:silent", port=served.port, count=sockets)
        crowd.hear(120)
        thieves = nest.start("torture.strangers:guessers", port=served.port, count=tokens)
        thieves.hear()
        pressed = sorted(_ask_for(somebody, answers))
        statuses = Counter({int(status): number for status, number in thieves.hear(300)["statuses"].items()})
        crowd.say(look=True)
        still = crowd.hear()["still"]
        tally.check(not served.worker.is_gone, "restarts", served.worker.error)
        log = read_log(nest, PROJECT)
    tally.add("silent sockets", sockets)
    tally.add("silent sockets let go of", sockets - still)
    tally.add("bad tokens", statuses.total())
    tally.add("told to wait", statuses[429])
    tally.add("answers", len(pressed))
    for name, times in (("in peace", calm), ("meanwhile", pressed)):
        tally.notes[f"ms an answer {name} p50"] = round(times[len(times) // 2], 1)
        tally.notes[f"ms an answer {name} p99"] = round(times[min(len(times) - 1, len(times) * 99 // 100)], 1)
    for status, number in statuses.items():
        tally.check(status in _REFUSED, "let in", (status, number))
    tally.check(statuses[429] > 0, "never slowed down", dict(statuses))
    tally.check(still <= MAX_SILENT + _SLACK, "silent ones kept", still)
    tally.check(pressed[-1] < _LONGEST_ANSWER, "slow answers", pressed[-1])
    answered = sum(entry.type == "ask.answered" for entry in log.entries)
    tally.check(answered == 2 * answers, "let in", (answered, answers))
    for problem in log.problems:
        tally.fault("audit problems", problem)
    tally.require("silent sockets", sockets)
    tally.require("bad tokens", tokens)
    tally.require("answers", answers)
    return tally.verdict()


def _ask_for(somebody: Worker, answers: int) -> list[float]:
    somebody.say(answers=answers)
    times: list[float] = somebody.hear(300)["times"]
    return times


# Workers


def person(wire: Wire, agent: Trusted, human: Trusted) -> None:
    """Answer one ask after the other; tell the milliseconds that each took."""
    asking, answering = (caller(msgspec.convert(who, Trusted)) for who in (agent, human))
    while True:
        times = []
        for _ in range(wire.hear()["answers"]):
            ask_id = asking.open("Go on?", ["Yes", "No"]).ask_id
            began = time.perf_counter()
            answering.answer(ask_id, "1")
            times.append(1000 * (time.perf_counter() - began))
        wire.say(times=times)


def silent(wire: Wire, port: int, count: int) -> None:
    """Open so many connections and say nothing on any of them."""
    asyncio.run(_be_silent(wire, port, count))


async def _be_silent(wire: Wire, port: int, count: int) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kept = []
    for _ in range(count):
        try:
            kept.append(await asyncio.open_connection("127.0.0.1", port))
        except ConnectionError:
            continue  # let go of before it was made
    wire.say(opened=len(kept))
    await asyncio.get_running_loop().run_in_executor(None, wire.hear)
    wire.say(still=sum(not reader.at_eof() and reader.exception() is None for reader, _ in kept))
    await asyncio.get_running_loop().run_in_executor(None, wire.hear)


def guessers(wire: Wire, port: int, count: int) -> None:
    """Show so many tokens that are none, over a few connections; tell what was replied."""
    wire.say(begins=True)
    statuses: Counter[int] = Counter()
    left = iter(range(count))

    async def guess() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in left:
            # As long as a real one, so that it is looked up like a real one, or no token at all.
            secret = f"assent_{number:064x}" if number % 2 else new_command_id()
            head = f"GET /projects/{PROJECT}/asks HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {secret}\r\n\r\n"
            writer.write(head.encode())
            told = await reader.readuntil(b"\r\n\r\n")
            statuses[int(told.split()[1])] += 1
            length = int(told.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            await reader.readexactly(length)
        writer.close()

    async def guess_all() -> None:
        await asyncio.gather(*(guess() for _ in range(_LINES)))

    asyncio.run(guess_all())
    wire.say(statuses={str(status): number for status, number in statuses.items()})
    wire.hear()


TRIAL = Trial(
    "strangers",
    "thousands of silent sockets and bad tokens get nothing, are let go of, and keep nobody from answering",
    run,
    (
        Twin("any-number-of-tries", "whoever guesses tokens is slowed down", "never slowed down", 0.02),
        Twin("any-number-of-silent", "whoever says nothing is let go of", "silent ones kept", 0.05),
    ),
    share=0.02,
)
