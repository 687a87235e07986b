"""`assent doctor`: what is installed, which store or server, what is wrong and what to do about it.

It looks and never makes: no store, no folder of one. It works on a store that nothing else works on. Of a server it
knows what the server tells: the files there are not its business.
"""

from __future__ import annotations

import os
import platform
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import apsw
import click
import msgspec

from assent import __version__
from assent.cli.doctor_check import REMEDIES, Check, guarded
from assent.cli.doctor_hosts import look_at_hosts
from assent.cli.exit import DONE, FAILED
from assent.cli.group import PlacedCommand
from assent.cli.place import Place, is_there
from assent.client.door import run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.client.identity import agent, agent_mark, person
from assent.client.place import find_root
from assent.client.trust import noted_stores
from assent.protocol.display import display, quote
from assent.protocol.error import AssentError, ForbiddenError, UnauthorisedError
from assent.protocol.principal import Role
from assent.protocol.words import count
from assent.storage.sqlite.bell import runtime_folder
from assent.storage.sqlite.connection import OLDEST_SQLITE
from assent.storage.sqlite.place import NETWORK_FILE_SYSTEMS, file_system_of
from assent.surfaces.ink import ink_for
from assent.surfaces.moment import render_span

__all__ = ["Check", "command", "look"]

_EXTRAS = {
    "server": "starlette",
    "tui": "textual",
    "postgres": "psycopg",
    "mcp": "mcp",
    "notify": "apprise",
    "metrics": "prometheus_client",
    "traces": "opentelemetry",
}
_ALL = 100_000
_MOST_NAMED = 3
_LONGEST_NAME = 40
_ROLES = {
    Role.HUMAN: "answers and steers",
    Role.OPERATOR: "operates the server",
    Role.AGENT: "asks, and answers nothing",
    Role.OBSERVER: "looks on",
}


@click.command("doctor", cls=PlacedCommand)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.pass_obj
def command(place: Place, /, as_json: bool) -> int:
    """Say what is installed, which store is used, and what is wrong, with a remedy for each.

    It names the agent hosts that are here, which of them are connected, and what each can show.

    \b
      assent doctor
      assent doctor --store sqlite:///path/file.db --json

    Exit status: 0 all is well, 1 something is wrong.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    checks = list(look(place))
    is_well = all(check.ok for check in checks)
    if as_json:
        click.echo(msgspec.json.encode({"ok": is_well, "checks": checks}))
        return DONE if is_well else FAILED
    ink = ink_for(sys.stdout, os.environ)
    for check in checks:
        sign = ink.good("ok") if check.ok else ink.danger("!!")
        click.echo(f"{sign}  {check.name:<12} {display(check.value, lines=False)}")
        if check.remedy:
            click.echo(f"    {'':<12} {check.remedy}")
    click.echo(
        ink.good("All is well.") if is_well else ink.danger("Something is wrong: see the lines with !!")
    )
    return DONE if is_well else FAILED


def look(place: Place) -> Iterator[Check]:
    """Look at everything; nothing that is found stops the looking."""
    yield Check("assent", __version__)
    yield Check("python", f"{platform.python_version()} ({sys.executable})")
    yield from _parts(place)
    installed = [name for name, module in _EXTRAS.items() if find_spec(module) is not None]
    absent = [name for name in _EXTRAS if name not in installed]
    yield Check("extras", f"{', '.join(installed) or 'none'} (not installed: {', '.join(absent) or 'none'})")
    yield from look_at_hosts(find_root(Path.cwd()), place.environ)


def _parts(place: Place) -> Iterator[Check]:
    try:
        is_server, is_database = place.is_server, place.is_database
    except AssentError:  # the address is of no known form, which is told in its place
        is_server = is_database = False
    if is_server:
        return _server(place)
    return _database(place) if is_database else _embedded(place)


def _database(place: Place) -> Iterator[Check]:
    yield Check("store", f"{place.shown} (by {_source(place)})")
    yield guarded("project", lambda: Check("project", place.project_name))
    if find_spec("psycopg") is None:
        remedy = "pip install 'assent[postgres]'"
        yield Check("psycopg", "not installed, and a database needs it", ok=False, remedy=remedy)
    else:
        from assent.cli.doctor_database import look_at_database

        found = list(look_at_database(str(place.address)))
        yield from found
        if found[-1].ok and found[-1].name == "contents":
            yield guarded("clock", lambda: _clock(place))
            yield guarded("runs", lambda: _runs(place))
    yield from _who(place)


def _embedded(place: Place) -> Iterator[Check]:
    yield _sqlite()
    yield from _store(place)
    yield _bell()
    yield from _who(place)


def _server(place: Place) -> Iterator[Check]:
    yield Check("http", f"httpx2 {version('httpx2')}")
    yield Check("server", f"{place.address} (by {_source(place)})")
    yield guarded("project", lambda: Check("project", place.project_name))
    yield Check(
        "token", "ASSENT_TOKEN is set" if place.environ.get("ASSENT_TOKEN") else "ASSENT_TOKEN is not set"
    )
    yield guarded("who", lambda: _holder(place))
    yield _marks(place)


def _holder(place: Place) -> Check:
    """Return whose token it is, which only a server that answers can tell."""
    with place.door() as door:
        who = run_call(until(door.who()))
    if who is None:
        return Check(
            "who", "nobody: the server knows no such token", ok=False, remedy=REMEDIES[UnauthorisedError]
        )
    return Check("who", f"{who} {_ROLES[who.role]}")


def _sqlite() -> Check:
    version = apsw.sqlite_lib_version()
    told = f"SQLite {version}, apsw {apsw.apsw_version()}"
    if tuple(int(part) for part in version.split(".")) < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        return Check(
            "sqlite", told, ok=False, remedy=f"It can corrupt shared files: install apsw {wanted} or newer."
        )
    return Check("sqlite", told)


def _store(place: Place) -> Iterator[Check]:
    try:
        path, project = place.path, place.project_name
    except AssentError as error:
        remedy = "Write it as sqlite:///path/file.db, or as http://host:port for a server."
        yield Check("store", error.message, ok=False, remedy=remedy)
        return
    yield Check("store", f"{path} (by {_source(place)})")
    yield Check("project", project)
    yield _file_system(path)
    if not is_there(path):
        yield Check("file", "not there yet; the first ask makes it")
        return
    yield guarded("file", lambda: _file(path))
    contents = guarded("contents", lambda: _contents(place))
    yield contents
    if contents.ok:
        yield guarded("clock", lambda: _clock(place))
        yield guarded("runs", lambda: _runs(place))


def _source(place: Place) -> str:
    """Return what named the store."""
    if place.store:
        return "--store"
    return "ASSENT_STORE" if place.environ.get("ASSENT_STORE") else "this folder"


def _file_system(path: Path) -> Check:
    folder = next((parent for parent in path.parents if parent.exists()), Path("/"))
    kind = file_system_of(folder)
    if kind in NETWORK_FILE_SYSTEMS:
        remedy = "A network file system cannot keep a store safe: name a --store on a local disk."
        return Check("file system", kind, ok=False, remedy=remedy)
    return Check("file system", kind or "unknown")


def _file(path: Path) -> Check:
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    told = f"{found.st_size:,} bytes, mode {mode:04o}, owner {found.st_uid}"
    if found.st_uid not in (os.geteuid(), 0):
        return Check("file", told, ok=False, remedy="It belongs to another user: name a --store of your own.")
    if mode & 0o077:
        return Check("file", told, ok=False, remedy=f"Others can read it: chmod 600 '{path}'")
    return Check("file", told)


def _contents(place: Place) -> Check:
    with place.door(reads=True) as door:
        projects = run_call(until(door.projects()))
        events = sum(run_call(until(door.head(project))) for project in projects)
        waiting = run_call(until(door.count(None)))
    held = f"{count(len(projects), 'project')}, {count(events, 'event')}, {count(waiting, 'open ask')}"
    return Check("contents", f"WAL, full sync; {held}")


def _clock(place: Place) -> Check:
    with place.door(reads=True) as door:
        assert isinstance(door, EmbeddedDoor)  # noqa: S101 - a server is not looked into
        found, now = door.find_ahead(), door.now()
    if not found:
        return Check("clock", "no event is dated more than 5 minutes ahead of it")
    told = "; ".join(
        f"{quote(each.project, _LONGEST_NAME)}: {count(each.events, 'event')} from {each.first.sequence} on,"
        f" by up to {render_span(each.until - now)}"
        for each in found[:_MOST_NAMED]
    )
    remedy = (
        "A clock was wrong when they were written: set it right where assent log marks them;"
        " they move no deadline and need no repair."
    )
    return Check("clock", f"events are dated ahead of the clock: {told}", ok=False, remedy=remedy)


def _runs(place: Place) -> Check:
    with place.door(reads=True) as door:
        runs = run_call(until(door.runs(None, _ALL, active=True)))
        lost = [run for run in runs if not run_call(until(door.is_driven(run.project, run.run_id)))]
    told = f"{count(len(runs), 'active run')} in this store"
    if not lost:
        return Check("runs", told)
    # No fault: a driver may come back at any time. But nothing happens until then.
    remedy = "assent runs --all shows them; assent loop --run-id goes on with one, assent cancel ends it."
    return Check("runs", f"{told}, {len(lost)} without a live driver", remedy=remedy)


def _bell() -> Check:
    folder = runtime_folder()
    if folder is None:
        remedy = (
            "Answers arrive by looking every 50 ms. Set XDG_RUNTIME_DIR to a folder of yours with mode 0700."
        )
        return Check("doorbell", "no runtime folder that is yours alone", ok=False, remedy=remedy)
    return Check("doorbell", str(folder))


def _who(place: Place) -> Iterator[Check]:
    try:
        you = f"{person(place.environ)} answers, {agent(place.environ)} asks"
    except ForbiddenError:
        you = f"{agent(place.environ)} asks; nobody answers from here"
    except AssentError as error:
        yield Check("who", error.message, ok=False, remedy="Correct ASSENT_PRINCIPAL, or unset it.")
        return
    yield Check("who", you)
    yield _marks(place)
    yield Check("noted", f"{count(len(noted_stores(place.environ)), 'store')} of yours")


def _marks(place: Place) -> Check:
    mark = agent_mark(place.environ)
    told = f"{mark} is set: an agent runs here, so answering and steering are refused" if mark else "none"
    return Check("agent marks", told)
