"""`assent serve`: the server, on a store of this machine.

Rule 1: what everybody could reach is not opened by accident: an address beyond this machine takes TLS and a person's
        token, and neither is made up here.
Rule 2: the one-time link goes to whoever started the server. Where an agent did, there is none: it would sign in.
"""

from __future__ import annotations

import asyncio
import errno
import resource
import ssl
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from assent.cli.ask_limits import find_ask_limits
from assent.cli.carriers import find_carriers, find_smtp, find_url
from assent.cli.demo_world.cast import AGENTS, HOME, KEPT_PREFIX, playing
from assent.cli.demo_world.studio import share
from assent.cli.exit import DONE
from assent.cli.group import PlacedCommand
from assent.cli.place import Place
from assent.cli.webhook import find_hook, find_slack_secret
from assent.client.calls import Calls
from assent.client.connect import open_hub
from assent.client.door import run_call, until
from assent.client.embedded import EmbeddedDoor
from assent.client.identity import agent_mark, assurance_here, person
from assent.client.outbox import open_outbox
from assent.effects.outward import OUTWARD_SECONDS
from assent.hub.ids import new_sign_in_code
from assent.protocol.display import display, quote
from assent.protocol.error import AssentError, BadRequestError
from assent.protocol.principal import Assurance, Role
from assent.surfaces.notify.sender import Sender

if TYPE_CHECKING:
    import socket

    from assent.surfaces.http.sign_in import SignIn
    from assent.surfaces.http.site import Site
    from assent.surfaces.http.watch import Scrape, SiteWatch

__all__ = ["DEFAULT_PORT", "command"]

DEFAULT_PORT = 8484
_HIGHEST_PORT = 65_535
_NEEDED = ("markdown_it", "starlette", "uvicorn", "websockets")
_INSTALL = "assent serve needs the extra `server`, which is not installed: pip install 'assent[server]'"
_MOST_FILES = 65_536
_ALL_TOKENS = 100_000


class _Settings(msgspec.Struct, frozen=True):
    """What was said on the command line."""

    host: str
    port: int | None
    """None is the usual one, or where that is taken and it is a demo, any."""
    names: tuple[str, ...]
    tls: tuple[str, str] | None
    is_demo: bool

    @property
    def scheme(self) -> str:
        """How its address begins."""
        return "https" if self.tls else "http"


@click.command("serve", cls=PlacedCommand)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="Listen there.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, _HIGHEST_PORT),
    show_default=f"{DEFAULT_PORT}",
    help="Listen there; 0 is any free one.",
)
@click.option("--allow-host", "names", metavar="NAME", multiple=True, help="Answer to this name, too.")
@click.option("--tls-cert", metavar="FILE", help="The certificate, with its chain, as PEM.")
@click.option("--tls-key", metavar="FILE", help="Its key, as PEM.")
@click.option("--demo", is_flag=True, help="Let agents ask and run on this store, until the server ends.")
@click.option("--throwaway", is_flag=True, help="Serve a store of its own, which is removed at the end.")
@click.pass_obj
def command(place: Place, /, **given: Any) -> int:
    """Serve this store over HTTP: to agents and people with a token, and to your browser.

    Agents and people on other machines name it as their store: ASSENT_STORE=http://host:port with ASSENT_TOKEN. An
    address that others can reach takes TLS, and a person's token that was made before.

    \b
      assent serve
      assent serve --demo --throwaway
      assent serve --host 0.0.0.0 --allow-host assent.example.com --tls-cert cert.pem --tls-key key.pem

    Exit status: 0 stopped by a signal, 1 the port is taken, 2 refused.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    if any(find_spec(name) is None for name in _NEEDED):
        raise AssentError(_INSTALL)
    from assent.surfaces.http.names import check_host_name, is_loopback

    settings = _Settings(
        host="127.0.0.1" if given["host"] == "localhost" else given["host"],
        port=given["port"],
        names=tuple(map(check_host_name, given["names"])),
        tls=_check_tls(given["tls_cert"], given["tls_key"]),
        is_demo=given["demo"],
    )
    if given["throwaway"] and place.store is not None:
        raise click.UsageError("A throw-away store is made anew: leave --store out.")
    is_public = not is_loopback(settings.host)
    if is_public and settings.tls is None:
        raise BadRequestError(_public(settings, "a certificate and its key (--tls-cert, --tls-key)"))
    with ExitStack() as stack:
        folder = stack.enter_context(_own_folder()) if given["throwaway"] or settings.is_demo else None
        if given["throwaway"]:
            place.store = f"sqlite:///{folder}/assent.db"
            place.project = place.project or place.environ.get("ASSENT_PROJECT") or HOME
        hub = open_hub(place.own_address, place.environ, is_named=place.is_named())
        stack.callback(hub.close)
        door = EmbeddedDoor(hub)
        if is_public and not _has_person(door):
            raise BadRequestError(_public(settings, "a person's token (assent token create --role human)"))
        listening = stack.enter_context(_listen(settings))
        _allow_files()
        asyncio.run(_Serving(place, settings, door, listening, folder).serve(is_public=is_public))
    return DONE


class _Serving:
    """The server, from its first line to its last."""

    def __init__(
        self,
        place: Place,
        settings: _Settings,
        door: EmbeddedDoor,
        listening: socket.socket,
        folder: Path | None,
    ) -> None:
        self._place, self._settings, self._door, self._listening = place, settings, door, listening
        self._folder = folder
        self._port: int = listening.getsockname()[1]
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """The address for whoever is on this machine, or as it was named."""
        host = self._settings.host
        if host in ("0.0.0.0", "::"):  # noqa: S104 - to name it, not to listen there
            host = next(iter(self._settings.names), "localhost")
        shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
        return f"{self._settings.scheme}://{shown}:{self._port}"

    async def serve(self, *, is_public: bool) -> None:
        """Serve until a signal comes."""
        from assent.surfaces.http.app import build_app
        from assent.surfaces.http.guard import Guard
        from assent.surfaces.http.names import names_of
        from assent.surfaces.http.serve import make_server
        from assent.surfaces.http.site import Site

        settings = self._settings
        watch, scrape = _find_watch()
        site = Site(self._door, watch, scrape, find_ask_limits(self._place.environ))
        site.slack_secret = find_slack_secret(self._place.environ)
        code, sign_in, refusal = "", None, "sign in with a token: this address is no secret"
        if not is_public:
            code, sign_in, refusal = self._make_sign_in()
        hook = find_hook(self._place.environ, self._door, self._place.project_name)
        names = names_of(settings.host, self._port, settings.names, is_tls=settings.tls is not None)
        server = make_server(
            Guard(build_app(site, sign_in, hook), names),
            site,
            tls=settings.tls,
            on_ready=lambda: self._begin(f"{self.url}/sign-in#{code}" if code else refusal),
        )
        with self._stack:
            self._stack.enter_context(self._sending(site))
            await server.serve([self._listening])
        click.echo("The server has stopped.")

    def _make_sign_in(self) -> tuple[str, SignIn | None, str]:
        from assent.surfaces.http.sign_in import SignIn

        mark = agent_mark(self._place.environ)
        if mark is not None:
            return "", None, f"no link is printed, as {mark} is set: an agent runs this, and it would read it"
        assurance = assurance_here()
        calls = Calls(self._door, self._place.project_name, person(self._place.environ), "serve", assurance)
        code = new_sign_in_code()
        is_unattended = assurance is Assurance.DECLARED
        return code, SignIn(calls, code, is_unattended=is_unattended), ""

    @contextmanager
    def _sending(self, site: Site) -> Iterator[None]:
        """Have the targets told of asks while the server runs; any number of servers share that."""
        environ = self._place.environ
        sender = Sender(
            open_outbox(self._door),
            self._door.now,
            find_carriers().deliver,
            url=find_url(environ) or self.url,
            smtp=find_smtp(environ),
        )
        site.messages = lambda: msgspec.structs.asdict(sender.counts)
        thread = threading.Thread(target=sender.run, name="assent-notify", daemon=True)
        thread.start()
        try:
            yield
        finally:
            sender.stop()
            thread.join(OUTWARD_SECONDS + 5)  # what is being sent is sent, or its claim is taken over

    def _begin(self, entrance: str) -> None:
        place = self._place
        lines = [
            f"Assent listens on {self.url}",
            f"  store    {place.shown}",
            f"  project  {place.project_name}",
            "  agents   assent token create --role agent",
            f"           then ASSENT_STORE={self.url} ASSENT_TOKEN=THE_TOKEN",
        ]
        is_link = "#" in entrance
        if is_link and self._settings.is_demo:  # a newcomer looks for one thing
            lines += [
                "",
                "Open this in your browser (good once, within ten minutes):",
                "",
                f"    {entrance}",
                "",
            ]
        else:
            note = ["           (good once, within ten minutes)"] if is_link else []
            lines[3:3] = [f"  sign in  {entrance}", *note]
        if self._settings.is_demo and self._folder is not None:
            lines[3:3] = self._begin_demo(self._folder)
        lines.append("Ctrl-C stops it.")
        click.echo("\n".join(display(line, lines=False) for line in lines))
        sys.stdout.flush()

    def _begin_demo(self, folder: Path) -> list[str]:
        """Let the agents play; return what is said of it."""
        place = self._place
        store = place.own_address
        is_kept = isinstance(store, str) or folder not in store.parents
        prefix = KEPT_PREFIX if is_kept else ""
        self._stack.enter_context(playing(store, place.project_name, folder, place.environ, prefix=prefix))
        lines = [f"  demo     {len(AGENTS)} agents ask and run, until the server ends"]
        if is_kept:
            others = ", ".join(sorted({name for name in AGENTS.values() if name is not None}))
            lines += [
                f"           as agent:{KEPT_PREFIX}NAME, in this project and in {others};",
                "           what they do stays in the history of this store: --throwaway has one of its own",
            ]
        if self._settings.port is None and self._port != DEFAULT_PORT:
            lines.append(f"           on a free port, as {DEFAULT_PORT} is taken")
        return lines


def _find_watch() -> tuple[SiteWatch | None, Scrape | None]:
    """Return who watches the server: who counts, where that extra is there, and who traces, where a program wants it.

    Whoever wants spans starts the server with OpenTelemetry loaded and its provider set (`opentelemetry-instrument
    assent serve`); where it is not loaded, nobody has set one.
    """
    from assent.surfaces.http.watch import Watches

    watches: list[SiteWatch] = []
    scrape: Scrape | None = None
    if find_spec("prometheus_client") is not None:
        from assent.surfaces.http.metrics import Metrics

        scrape = metrics = Metrics()
        watches.append(metrics)
    if "opentelemetry.trace" in sys.modules:
        from assent.surfaces.http.traces import ServerTraces

        watches.append(ServerTraces())
    return (Watches(*watches) if watches else None), scrape


@contextmanager
def _own_folder() -> Iterator[Path]:
    """Give a folder for a store and for what the agents of a demo write; it goes with the last who uses it."""
    folder = Path(tempfile.mkdtemp(prefix="assent-demo-"))
    with share(folder):
        yield folder


@contextmanager
def _listen(settings: _Settings) -> Iterator[socket.socket]:
    from assent.surfaces.http.serve import open_socket

    port = DEFAULT_PORT if settings.port is None else settings.port
    try:
        try:
            listening = open_socket(settings.host, port)
        except OSError as error:
            if settings.port is not None or not settings.is_demo or error.errno != errno.EADDRINUSE:
                raise
            listening = open_socket(settings.host, 0)  # whoever tries it out has no wish for a number
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            sentence = f"Port {port} is taken: choose another one with --port, or 0 for any that is free."
        else:
            where = f"{settings.host} port {port}"
            sentence = f"Nothing can listen on {quote(where, 80)}: {error.strerror or error}."
        raise AssentError(sentence) from None
    with listening:
        yield listening


def _check_tls(cert: str | None, key: str | None) -> tuple[str, str] | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise click.UsageError("A certificate takes its key: say both, --tls-cert and --tls-key.")
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key, password=lambda: "")  # no question at the terminal
    except OSError as error:
        raise BadRequestError(
            f"The certificate and its key cannot be used: {error.strerror or error}."
        ) from None
    return cert, key


def _public(settings: _Settings, lack: str) -> str:
    return (
        f'Others than this machine could reach "{quote(settings.host, 60)}", which takes TLS and a person\'s token: '
        f"there is not yet {lack}."
    )


def _has_person(door: EmbeddedDoor) -> bool:
    """Say whether a person has a token with which they could come in."""
    now = door.now()
    return any(
        token.role is Role.HUMAN and token.is_live(now)
        for project in run_call(until(door.projects()))
        for token in run_call(until(door.tokens(project, _ALL_TOKENS)))
    )


def _allow_files() -> None:
    """Take as many open connections as the system allows: the usual limit is that of a shell, not of a server."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
