"""`assent notify`: who is told of asks, and how that goes.

Only a person sets targets, where the store is, and where an agent runs the command it is refused. An address is a secret:
it is printed by nothing, and can be read from standard input so that no shell remembers it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from getpass import getpass
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from assent.cli.carriers import find_carriers, find_smtp, find_url
from assent.cli.exit import DONE, FAILED, say
from assent.cli.group import PlacedGroup
from assent.cli.json_line import echo_json
from assent.cli.place import Place, now
from assent.client.connect import open_hub
from assent.client.door import run_call
from assent.client.embedded import EmbeddedDoor
from assent.client.identity import agent_mark, assurance_here
from assent.client.identity import person as person_here
from assent.client.outbox import add_target, open_outbox, remove_target
from assent.effects.interrupt import uninterrupted
from assent.hub.ids import new_ask_id, new_signing_secret
from assent.protocol.ask import Ask, Kind, State
from assent.protocol.display import quote
from assent.protocol.ending import render_instant, render_name
from assent.protocol.error import AssentError, BadRequestError, ForbiddenError, NotFoundError
from assent.protocol.principal import Assurance, Principal
from assent.protocol.prompt import question
from assent.protocol.target import (
    Delivery,
    Notice,
    Secret,
    Service,
    Target,
    What,
    check_target_name,
    person_of,
    read_people,
)
from assent.surfaces.notify.delivery import Parcel
from assent.surfaces.notify.letter import write_letter
from assent.surfaces.notify.sender import Sender
from assent.surfaces.width import columns, pad

__all__ = ["command", "render_targets"]

_COLUMNS = ("target", "service", "host", "state")


@click.group("notify", cls=PlacedGroup)
def command() -> None:
    """Have people and programs told of asks: in a chat, on a phone, by mail, or by a webhook.

    An address begins with its service: https:// (a webhook), slack://, ntfy://, smtp://, mailto:, or whatever Apprise
    knows. Targets are set where the store is. A server delivers by itself; without one, `assent notify send` does.

    \b
      assent notify add phone ntfy://ntfy.sh/some-secret-topic
      assent notify add team slack://xoxb-TOKEN@C024BE91L --people U024BE7LH=ana
      assent notify test phone
      assent notify list
    """  # noqa: D301 - \b is click's mark for lines that stay as they are


@command.command("add")
@click.argument("name", metavar="NAME", type=click.UNPROCESSED)
@click.argument("address", metavar="ADDRESS", type=click.UNPROCESSED)
@click.option("--kinds", metavar="KINDS", help="Only of these, as in approval,gate. [default: all]")
@click.option("--people", metavar="USER=NAME", multiple=True, help="Who may press buttons in a chat.")
@click.option("--for", "person", metavar="WHO", help="Whose it is, as in human:ana. [default: everybody's]")
@click.option("--allow-internal", is_flag=True, help="The address may lead into your own network.")
@click.option("--unattended", is_flag=True, help="Add it where no terminal is; the log says so.")
@click.pass_obj
def _add(place: Place, /, **given: Any) -> int:
    """Tell ADDRESS of this project's asks from now on; `-` asks for it, so that no shell remembers it.

    An ask that is escalated to somebody is told to their own targets (--for), and to those that are nobody's own.

    The secret that signs a webhook is printed once, and the address never is.

    Exit status: 0 added, 1 the host is not there or is inside your network, 2 the name or the address cannot be,
    4 refused, 6 the name is taken.
    """
    who, assurance = _person(place), assurance_here()
    address = _read_address() if given["address"] == "-" else given["address"]
    name, people = check_target_name(given["name"]), read_people(given["people"])
    person = person_of(given["person"]) if given["person"] is not None else ""
    allows_internal = given["allow_internal"]
    service = find_carriers().check_address(
        address, smtp=find_smtp(place.environ), allows_internal=allows_internal
    )
    if people and service is not Service.SLACK:
        raise BadRequestError("Only a Slack bot has buttons, so only there people are named.")
    signing = new_signing_secret() if service is Service.WEBHOOK else ""
    with _own_door(place) as door, uninterrupted(is_final=True):
        calls = place.client(door, who, assurance=assurance).calls
        try:
            target = run_call(
                add_target(
                    calls,
                    name,
                    Secret(address, signing),
                    kinds=_kinds(given["kinds"]),
                    people=people,
                    allows_internal=allows_internal,
                    person=person,
                    is_unattended=given["unattended"],
                )
            )
        except ForbiddenError as refusal:
            if given["unattended"] or assurance is not Assurance.DECLARED:
                raise
            raise ForbiddenError(
                f"{refusal.message} --unattended says that you mean it all the same."
            ) from None
    if signing:
        click.echo(signing)
        say("That is the secret with which each message is signed. It is not shown again.")
    whose = f", for {render_name(target.person)}," if target.person else ""
    say(
        f"{target.name}: {target.service} at {quote(target.host)}{whose} is told of the asks of {target.project}."
    )
    say(f"Try it: assent notify test {target.name}")
    say("A server tells it by itself (assent serve); without one: assent notify send --watch")
    return DONE


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help='Print {"targets": […]}, without their addresses.')
@click.pass_obj
def _list(place: Place, /, as_json: bool) -> int:
    """List the targets of this project: who is told, how far each one is, and what went wrong."""
    found: list[tuple[Target, Delivery, int]] = []
    if place.own_address and place.is_there():  # looking makes no store
        with _own_door(place) as door:
            outbox = open_outbox(door)
            found = [
                (target, far, outbox.pending(target, far))
                for target, far in outbox.targets(place.project_name)
            ]
    if as_json:
        echo_json(msgspec.json.encode({"targets": [_public(*each) for each in found]}))
    elif found:
        click.echo("\n".join(render_targets(found)))
    else:
        say("Nobody is told of the asks of this project: assent notify add.")
    return DONE


@command.command("remove")
@click.argument("name", metavar="NAME", type=click.UNPROCESSED)
@click.pass_obj
def _remove(place: Place, /, name: str) -> int:
    """Tell a target nothing more, and forget its address.

    Exit status: 0 removed, 1 there is none, 4 refused.
    """
    who = _person(place)
    with _own_door(place) as door, uninterrupted(is_final=True):
        target = run_call(remove_target(place.client(door, who, assurance=assurance_here()).calls, name))
    say(f"{target.name} is told nothing more, and its address is forgotten.")
    return DONE


@command.command("test")
@click.argument("name", metavar="NAME", type=click.UNPROCESSED)
@click.pass_obj
def _test(place: Place, /, name: str) -> int:
    """Send one message to a target, to see whether it arrives. No ask is opened.

    Exit status: 0 delivered, 1 not delivered, or there is no such target, 4 refused.
    """
    who = _person(place)
    with _own_door(place) as door:
        found = open_outbox(door).find(place.project_name, name)
    if found is None:
        raise NotFoundError(f'There is no target "{quote(name, 60)}" here.')
    target, secret = found
    notice = _sample(target, who)
    letter = write_letter(notice, find_url(place.environ))
    silent = replace(target, people={})  # no button: there is nothing that a press could answer
    try:
        find_carriers().deliver(Parcel(silent, secret, notice, letter, now(), find_smtp(place.environ)))
    except AssentError as error:
        say(f"{target.name}: {error.message}")
        return FAILED
    click.echo(f"{target.name}: {target.service} at {quote(target.host)} took the message.")
    return DONE


@command.command("send")
@click.option("--watch", is_flag=True, help="Go on until you stop it.")
@click.pass_obj
def _send(place: Place, /, watch: bool) -> int:
    """Deliver what is due, where no server does it. Any number of these may run.

    Exit status: 0 all is delivered, 1 something could not be, and is perhaps tried again later.
    """
    _person(place)
    with _own_door(place) as door:
        outbox = open_outbox(door)
        sender = Sender(
            outbox,
            door.now,
            find_carriers().deliver,
            url=find_url(place.environ),
            smtp=find_smtp(place.environ),
        )
        if watch:
            _watch(sender)
        else:
            while sender.send_due():
                pass
        waiting = [
            target.name
            for target, far in outbox.targets(place.project_name)
            if far.attempts and outbox.pending(target, far)
        ]
    counts = sender.counts
    click.echo(f"{counts.delivered} delivered, {counts.failed} failed, {counts.given_up} given up.")
    if waiting:
        say(f"Tried again later: {', '.join(waiting)}. What went wrong: assent notify list")
    return FAILED if counts.failed or waiting else DONE


def _watch(sender: Sender) -> None:
    is_over = threading.Event()

    def run() -> None:
        try:
            sender.run()
        finally:
            is_over.set()

    thread = threading.Thread(target=run, name="assent-notify")
    thread.start()
    try:
        is_over.wait()  # a `join` that is interrupted takes the thread for one that has ended, in some Pythons
    except KeyboardInterrupt:
        sender.stop()
    thread.join()


@contextmanager
def _own_door(place: Place) -> Iterator[EmbeddedDoor]:
    """Give the door to a store of this place: targets are set and told where it is, and not over a server."""
    hub = open_hub(place.own_address, place.environ, is_named=place.is_named())
    try:
        yield EmbeddedDoor(hub)
    finally:
        hub.close()


def _person(place: Place) -> Principal:
    mark = agent_mark(place.environ)
    if mark is not None:
        raise ForbiddenError(
            f"{mark} is set, so an agent runs this command, and only a person can say who is told of asks. "
            "A person can do it in a terminal of their own: assent notify."
        )
    return person_here(place.environ)


def _read_address() -> str:
    """Return the address that is typed, unseen, or piped in."""
    if sys.stdin.isatty():
        return getpass("Address: ").strip()
    return sys.stdin.readline().strip()


def _kinds(text: str | None) -> tuple[Kind, ...]:
    if text is None:
        return ()
    kinds = [part.strip() for part in text.split(",")]
    unknown = [kind for kind in kinds if kind not in list(Kind)]
    if unknown:
        raise BadRequestError(f'"{quote(unknown[0], 60)}" is no kind of ask: there are {", ".join(Kind)}.')
    return tuple(Kind(kind) for kind in kinds)


def _sample(target: Target, who: Principal) -> Notice:
    prompt = question("Does this arrive?", ("Yes",))
    ask_id = new_ask_id()
    ask = Ask(ask_id, target.project, Kind.QUESTION, State.OPEN, None, prompt, "", str(who), None, now())
    return Notice(f"msg_test_{ask_id}", What.OPENED, ask, 0, now(), is_test=True)


def _public(target: Target, far: Delivery, pending: int) -> dict[str, object]:
    return {
        "name": target.name,
        "project": target.project,
        "service": target.service,
        "host": target.host,
        "kinds": target.kinds,
        "people": target.people,
        "person": target.person or None,
        "allows_internal": target.allows_internal,
        "created_at": target.created_at,
        "created_by": target.created_by,
        "disabled_at": target.disabled_at,
        "failed": target.failed,
        "pending": pending,
        "attempts": far.attempts,
        "next_try_at": _instant(far.next_try_at) if far.attempts else None,
        "last_error": far.last_error or None,
    }


def _state(target: Target, far: Delivery, pending: int) -> str:
    if target.disabled_at is not None:
        return f"gone since {render_instant(target.disabled_at)}: the other side says so"
    parts = [f"for {render_name(target.person)}"] if target.person else []
    parts.append(f"{pending} to be told" if pending else "told of everything")
    if target.failed:
        parts.append(f"{target.failed} given up")
    if pending and far.attempts:
        times = "once" if far.attempts == 1 else f"{far.attempts} times"
        again = render_instant(_instant(far.next_try_at))
        parts.append(f"tried {times}, again at {again}: {far.last_error}")
    return "; ".join(parts)


def _instant(at: int) -> datetime:
    return datetime.fromtimestamp(at / 1e6, UTC)


def render_targets(found: list[tuple[Target, Delivery, int]]) -> list[str]:
    """Return the targets as a table; no address is in it."""
    rows = [_COLUMNS] + [
        (
            target.name,
            target.service.value,
            quote(target.host, 60),
            f"{_state(target, far, pending)} (added by {render_name(target.created_by)})",
        )
        for target, far, pending in found
    ]
    widths = [max(columns(row[place]) for row in rows) for place in range(len(_COLUMNS) - 1)]
    return [
        "  ".join([*(pad(text, width) for text, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]
