"""The attacker: puts a hostile text into every field of every command, through the client and the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import assent
from assent.client.client import Client
from assent.client.connect import open_hub
from assent.hub.audit import verify
from assent.protocol.error import AssentError
from assent.protocol.principal import Principal, Role, parse_principal
from assent.protocol.prompt import Field, Option, Prompt
from torture.hostile_cases import json_texts, strange_values, texts, whole_json_texts
from torture.nursery import Wire
from torture.shell import Ran, run_command, run_in_terminal, store_url

__all__ = ["FIELDS", "Attempt", "attacker", "onlooker"]

PROJECT = "siege"


class Attempt(msgspec.Struct, frozen=True):
    """What came of one attack."""

    where: str
    code: str
    """Empty when it was accepted; `crash` for an error that is none of ours."""
    sentence: str
    seconds: float


class Castle:
    """One hub, and both sides of it."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.hub = open_hub(store, os.environ)
        self.agent = Client(self.hub, PROJECT, Principal(Role.AGENT, "coder"))
        self.person = Client(self.hub, PROJECT, Principal(Role.HUMAN, "ana"))
        self.place = ["--store", store_url(store), "--project", PROJECT]

    def open(self, **told: Any) -> str:
        """Open an ask that is plain but for what is told."""
        option = Option(
            told.pop("option_key", "Yes"), told.pop("label", "Yes"), description=told.pop("description", "")
        )
        field = Field(
            told.pop("name", "q1"),
            told.pop("text", ""),
            (option, Option("No", "No")),
            free=told.pop("free", False),
        )
        prompt = Prompt(
            told.pop("title", "A title"),
            told.pop("body", ""),
            (field,),
            told.pop("action", None),
            told.pop("risk", None),
            told.pop("commands", ()),
        )
        return str(self.agent.open(prompt, **told).ask_id)

    def with_principal(self, name: str, act: Callable[[Client, str], object]) -> object:
        """Do something as a person of that name."""
        return act(Client(self.hub, PROJECT, parse_principal(f"human:{name}")), self.open())


def _open_with(name: str) -> Callable[[Castle, str], object]:
    return lambda castle, text: castle.open(**{name: text})


def _connect(castle: Castle, text: str) -> object:
    with assent.connect(castle.store, project=text) as client:
        return client.open("From elsewhere?", ["Yes", "No"])


def _ask_as(castle: Castle, text: str) -> object:
    client = Client(castle.hub, PROJECT, parse_principal(f"agent:{text}"))
    return client.open("By whom?", ["Yes", "No"])


def _by_command_line(*arguments: str) -> Callable[[Castle, str], object]:
    def act(castle: Castle, text: str) -> object:
        ask_id = castle.open(free=True)
        words = [text if word == "{}" else ask_id if word == "{ask}" else word for word in arguments]
        if any("\0" in word for word in words):
            raise AssentError(
                "No program can be given that."
            )  # the system itself refuses a NUL in an argument
        # The place comes first: behind `--` it would be taken for more words.
        ran = run_command([words[0], *castle.place, *words[1:]], text.encode(errors="surrogatepass"))
        return _check_ran(ran)

    return act


def _check_ran(ran: Ran) -> object:
    if ran.status == 0:
        return None
    sentence = ran.err.decode().partition("\n")[0]
    if ran.status not in range(1, 7) or b"Traceback" in ran.err:
        raise RuntimeError(f"exit status {ran.status}: {ran.err[-300:]!r}")
    raise AssentError(sentence)


FIELDS: dict[str, Callable[[Castle, str], object]] = {
    "title": _open_with("title"),
    "body": _open_with("body"),
    "label of an option": _open_with("label"),
    "key of an option": _open_with("option_key"),
    "description of an option": _open_with("description"),
    "name of a field": _open_with("name"),
    "text of a field": _open_with("text"),
    "risk": _open_with("risk"),
    "command": lambda castle, text: castle.open(commands=(text,)),
    "text in an action": lambda castle, text: castle.open(action={"run": [text]}),
    "key in an action": lambda castle, text: castle.open(action={text: 1}),
    "key of an ask": _open_with("key"),
    "run": _open_with("run_id"),
    "somebody to escalate to": _open_with("escalate_to"),
    "kind": _open_with("kind"),
    "consequence": _open_with("consequence"),
    "project": _connect,
    "asker": _ask_as,
    "reply": lambda castle, text: castle.person.answer(castle.open(free=True), text),
    "value": lambda castle, text: castle.person.answer(castle.open(free=True), {"q1": [text]}),
    "name of a value": lambda castle, text: castle.person.answer(castle.open(free=True), {text: ["Yes"]}),
    "reason to decline": lambda castle, text: castle.person.decline(castle.open(), text),
    "reason to withdraw": lambda castle, text: castle.agent.withdraw(castle.open(), text),
    "reason of a failed delivery": lambda castle, text: castle.agent.report_undelivered(castle.open(), text),
    "name of who answers": lambda castle, text: castle.with_principal(
        text, lambda c, ask: c.answer(ask, "1")
    ),
    "name of who claims": lambda castle, text: castle.with_principal(text, lambda c, ask: c.claim(ask)),
    "id": lambda castle, text: castle.agent.show(text),
    "ask on the command line": _by_command_line(
        "ask", "--no-wait", "--option", "Yes", "--option", "No", "--", "{}"
    ),
    "option on the command line": _by_command_line(
        "ask", "Which?", "--no-wait", "--option", "Yes", "--option={}"
    ),
    "name on the command line": _by_command_line("ask", "Who?", "--no-wait", "--as={}"),
    "reply on the command line": _by_command_line("answer", "{ask}", "--", "{}"),
    "reply on standard input": _by_command_line("answer", "{ask}", "-"),
    "reason on the command line": _by_command_line("answer", "{ask}", "--decline", "--reason={}"),
    "id on the command line": _by_command_line("show", "--", "{}"),
}


def attacker(wire: Wire, store: str) -> None:
    """Attack as ordered: a text in a field, a JSON file, or a Python value."""
    castle = Castle(Path(store))
    hostile, values = texts(), strange_values()
    whole = whole_json_texts()
    files = whole + json_texts()
    wire.say(texts=len(hostile), whole=len(whole), files=len(files), values=len(values))
    while True:
        order = wire.hear()
        number = order["number"]
        act: Callable[[], object]
        if order["what"] == "text":
            act = partial(FIELDS[order["field"]], castle, hostile[number])
        elif order["what"] == "file":
            act = partial(_ask_by_file, castle, files[number])
        else:
            act = partial(castle.open, action=values[number])
        attempt = _try(order.get("field", order["what"]), act)
        wire.say(attempt=attempt)


def _ask_by_file(castle: Castle, file: bytes) -> object:
    return _check_ran(run_command(["ask", "--file", "-", "--no-wait", *castle.place], file))


def _try(where: str, act: Callable[[], object]) -> Attempt:
    began = time.monotonic()
    code = sentence = ""
    try:
        act()
    except AssentError as error:
        code, sentence = error.code, error.message
    except Exception as error:  # noqa: BLE001 - an error that is none of ours is what we look for
        code, sentence = "crash", repr(error)[:500]
    shown = sentence.encode(errors="backslashreplace").decode()
    return Attempt(where, code, shown, time.monotonic() - began)


def onlooker(wire: Wire, store: str) -> None:
    """Show everything that was stored, in every way there is, and tell what appeared."""
    castle = Castle(Path(store))
    os.environ["NO_COLOR"] = "1"
    with castle.hub.reading() as reader:
        projects = [head.project for head in reader.heads()]
        ids = [(ask.project, ask.ask_id) for ask in reader.asks(None, None, 1_000_000)]
    wire.say(shows=len(ids))
    url = ["--store", store_url(Path(store))]
    for project in projects:
        place = [*url, "--project", project]
        wire.say(shown=_text(run_command(["inbox", "--here", "--limit", "100000", *place])), by="inbox")
        wire.say(shown=_text(run_command(["inbox", "--format", "{newest} {projects}", *place])), by="inbox")
        wire.say(shown=_text(run_command(["log", *place])), by="log")
        wire.say(shown=_text(run_command(["inbox", "--here", "--json", *place])), by="json")
        wire.say(shown=_text(run_command(["log", "--json", *place])), by="json")
    for number, (project, ask_id) in enumerate(ids):
        words = ["show", ask_id, *url, "--project", project]
        wire.say(shown=_text(run_command(words)), by="show")
        if number % 20 == 0:
            ran = run_in_terminal(words, [])
            wire.say(shown=ran.out.decode(errors="surrogateescape").replace("\r\n", "\n"), by="terminal")
    wire.say(problems=list(verify(castle.hub.store).problems))


def _text(ran: Ran) -> str:
    said = ran.out + ran.err
    return (
        said.decode(errors="replace") if ran.status == 0 else f"\x00exit status {ran.status}: {said[:300]!r}"
    )
