"""The client in another language that the docs show really asks, waits, and gets its answer."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from assent.protocol.ask import Ask
from assent.testing import throwaway
from assent.testing.server import ThrowawayServer
from tests.patience import PATIENCE
from tools.node import find_node
from tools.page import ROOT

__all__: list[str] = []

EXAMPLE = ROOT / "examples" / "ask_over_http.mjs"
PAGE = ROOT / "docs" / "reference" / "wire-format.md"
QUESTION = ("Which database?", "PostgreSQL", "SQLite")


@pytest.fixture
def server() -> Iterator[ThrowawayServer]:
    with throwaway(project="shop") as store, ThrowawayServer(store) as running:
        yield running


def start_example(server: ThrowawayServer, *words: str) -> subprocess.Popen[str]:
    """Start the example as an agent would."""
    environ = {
        "PATH": os.environ["PATH"],
        "ASSENT_STORE": server.url,
        "ASSENT_TOKEN": server.token("agent", "js"),
    }
    return subprocess.Popen(
        [find_node(), str(EXAMPLE), "shop", *words],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def await_ask(server: ThrowawayServer) -> Ask:
    """Return the first ask, as soon as there is one."""
    ana = server.store.person()
    with ana.hub.follow(ana.project, 0) as feed:
        while not (waiting := ana.inbox()):
            assert feed.wait(PATIENCE)
    return waiting[0]


def finish(example: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return how it ended, and what it said."""
    try:
        out, err = example.communicate(timeout=PATIENCE)
    finally:
        example.kill()
    return example.returncode, out, err


def test_example_asks_waits_and_prints_the_answer(server: ThrowawayServer) -> None:
    """And started again it has the answer at once: the question is not asked twice."""
    example = start_example(server, *QUESTION)
    server.person("ana").answer(await_ask(server).ask_id, "b")
    assert finish(example) == (0, "SQLite\n", "")
    assert finish(start_example(server, *QUESTION)) == (0, "SQLite\n", "")


def test_example_waits_on_over_a_restart_of_the_server(server: ThrowawayServer) -> None:
    """It comes again until somebody is there, and its answer is not lost."""
    example = start_example(server, *QUESTION)
    ask = await_ask(server)
    server.stop()
    server.start()
    server.person("ana").answer(ask.ask_id, "PostgreSQL")
    status, out, _ = finish(example)
    assert (status, out) == (0, "PostgreSQL\n")


def test_example_tells_a_no_from_an_answer(server: ThrowawayServer) -> None:
    """By its exit status, as our own commands do."""
    example = start_example(server, *QUESTION)
    server.person("ana").decline(await_ask(server).ask_id, "not today")
    assert finish(example) == (4, "", "no answer: declined\n")


def test_example_says_what_the_server_refuses(server: ThrowawayServer) -> None:
    """Another question under the same key is no question of ours."""
    server.agent("js").open("Which database?", ["Oracle"], key="Which database?")
    status, out, err = finish(start_example(server, *QUESTION))
    assert (status, out) == (1, "")
    assert err.startswith("key_reused: ")


def test_page_shows_the_example_that_is_run() -> None:
    """Byte for byte, and it needs nothing but what a machine with node has."""
    program = EXAMPLE.read_text(encoding="utf-8")
    assert f"```js\n{program}```\n" in PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r'from "(.+)"', program)) == {"node:crypto", "node:timers/promises"}
    assert len(program.splitlines()) < 60


def test_page_of_the_wire_format_shows_no_secret_of_a_real_server() -> None:
    """What looks like one is the same made-up one everywhere."""
    secrets = set(re.findall(r"assent_[0-9a-f]{64}", "".join(map(_text, (ROOT / "docs").rglob("*.md")))))
    assert secrets == {"assent_" + "0123456789abcdef" * 4}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
