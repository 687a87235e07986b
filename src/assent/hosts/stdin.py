"""For programs that read a line with `input()`: the same question as an ask, which anybody can answer from anywhere.

    from assent.hosts.stdin import ask_instead_of_input

    with ask_instead_of_input(key="nightly"):
        main()  # as it is

Rule 1: a line is what a person typed. Nobody's silence is a line: what ends otherwise raises `NoAnswer`.
Rule 2: an empty line means something to many programs, and nobody can send an empty answer. `EMPTY_LINE` stands for it,
        and each ask says so.
Rule 3: under a key the first question is always the first ask, the second the second. A program that was killed and
        started again gets the lines that it had, and goes on. If it asks something else there, `KeyReusedError` stops it.
"""

from __future__ import annotations

import builtins
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from assent.client.calls import value_of
from assent.client.client import Client
from assent.client.connect import connect
from assent.client.door import Call, run_call
from assent.hosts.framework import host_key
from assent.protocol.display import is_blank
from assent.protocol.host_question import HostQuestion, host_prompt

__all__ = ["EMPTY_LINE", "ask_instead_of_input", "human_input"]

EMPTY_LINE = "(empty line)"
_NO_PROMPT = "The program waits for a line."
_line_ends = re.compile(r"\r\n?|\n")
_BODY = f"For an empty line, answer {EMPTY_LINE}."


def human_input(
    prompt: object = "",
    *,
    client: Client | None = None,
    key: str | None = None,
    title: str = "",
    wait: float | None = None,
) -> str:
    """Ask for a line of text and return it; a drop-in for `input`, without a terminal.

    `title` stands for a prompt that shows nothing. `wait` are seconds; None is without end.

    Raises:
        NoAnswer: declined, withdrawn or expired.
        StillOpen: the time is over; the ask stays open, and with a `key` the next call finds it.
    """
    with connect() if client is None else nullcontext(client) as asker:
        return run_call(_line(asker, str(prompt), key, title, wait))


@contextmanager
def ask_instead_of_input(
    client: Client | None = None, *, key: str | None = None, title: str = "", wait: float | None = None
) -> Iterator[None]:
    """Have `input()` ask a person through Assent, in all threads, for as long as the block lasts.

    The parts are those of `human_input`, for each line.
    """
    numbers = itertools.count(1)
    before = builtins.input

    with connect() if client is None else nullcontext(client) as asker:

        def ask(prompt: object = "", /) -> str:
            line_key = None if key is None else host_key("input", key, str(next(numbers)))
            return human_input(prompt, client=asker, key=line_key, title=title, wait=wait)

        builtins.input = ask
        try:
            yield
        finally:
            builtins.input = before


def _line(client: Client, prompt: str, key: str | None, title: str, wait: float | None) -> Call[str]:
    text = title or _NO_PROMPT if is_blank(prompt) else prompt
    shown = host_prompt([HostQuestion("", text)], body=_BODY)
    ask = yield from client.calls.open(shown, key=key)
    ended = (yield from client.calls.wait(ask.ask_id, wait)) if ask.is_open else ask
    line: Any = value_of(ended)
    return "" if line.strip() == EMPTY_LINE else _line_ends.sub(" ", line)
