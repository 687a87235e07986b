"""`assent hook`: what an agent's host starts at its events. The event comes on standard input, the reply goes out as JSON.

Rule 1: standard output is a reply that the host understands, or nothing. A person's words go to standard error.
Rule 2: fails closed. A call that must be approved is refused by every fault, and by a reply that comes too late: the host
        takes a hook that hangs for one that had nothing to say, so ours ends before the host loses patience.
Rule 3: a host that ends its hook does not wait any more: where somebody sits at it, the ask is taken back.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import click

from assent.cli.exit import DONE, USAGE, say
from assent.cli.group import PlacedCommand
from assent.cli.place import Place
from assent.cli.span import SPAN
from assent.hosts.claude_code.glance import HOST, Watch, concerns, make_watch, read_event
from assent.hosts.claude_code.pattern import check_pattern

__all__ = ["DEFAULT_WAIT_SECONDS", "GRACE_SECONDS", "check_patterns", "command", "watching"]

DEFAULT_WAIT_SECONDS = 540
"""Claude Code gives a hook 600 seconds where nothing else is said."""
GRACE_SECONDS = 20
"""So much later than its wait, a hook that is not done refuses and ends."""
_LEAVE_SECONDS = 5.0
"""So long a hook that the host has ended may take to take its ask back."""
_AGAIN_SECONDS = 1.0

_WATCHING = (
    click.option(
        "--ask",
        "patterns",
        multiple=True,
        metavar="PATTERN",
        help="A call that must be approved, as in 'Bash(rm *)'.",
    ),
    click.option(
        "--confirm",
        "confirmed",
        multiple=True,
        metavar="PATTERN",
        help="A call that the host asks about in its own dialog.",
    ),
    click.option(
        "--category",
        metavar="CATEGORY",
        default="",
        help="What kind of change those of --ask are: the policy decides. [default: always asks]",
    ),
    click.option("--wait", type=SPAN, metavar="TIME", help="How long people have to answer. [default: 9m]"),
)


class _OverError(BaseException):
    """The time is over, or the host has ended this. It is no `Exception`: nothing on the way may take it for its own."""


def watching(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options that say which calls are watched, and how long people have to answer."""
    for option in reversed(_WATCHING):
        command = option(command)
    return command


def check_patterns(patterns: Iterable[str]) -> None:
    """Refuse what is no pattern.

    Raises:
        click.UsageError: one of them is none.
    """
    for pattern in patterns:
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise click.UsageError(str(error)) from None


@click.command("hook", cls=PlacedCommand)
@click.argument("host", metavar="HOST", type=click.Choice([HOST]))
@watching
@click.option("--headless", is_flag=True, help="Nobody sits at the host. [default: as the host tells]")
@click.pass_obj
def command(
    place: Place,
    /,
    host: str,
    patterns: tuple[str, ...],
    confirmed: tuple[str, ...],
    category: str,
    wait: timedelta | None,
    *,
    headless: bool,
) -> int:
    """Carry what an agent's host wants to know to the inbox, and the answer back.

    The host starts it; assent install claude-code writes that into its settings. Questions and requests for permission
    can be answered in the host's own dialog or anywhere else, and the first answer wins. A call that matches a PATTERN
    happens only after a person approved exactly that call; for one of --confirm the host's own dialog is enough. Where
    nobody sits at the host, both are approvals, and what nobody answers in time is put off until the session is resumed.

    \b
      assent hook claude-code --ask 'Bash(rm *)' --ask 'Write(.env)' < event.json

    Exit status: 0 the reply is on standard output, or there is none, 2 the event cannot be read.
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    check_patterns((*patterns, *confirmed))
    try:
        event = read_event()
    except ValueError as error:
        say(f"What Claude Code wrote to standard input {error}, so nothing was asked.")
        return USAGE
    watch = make_watch(list(patterns), confirmed, place.environ, is_headless=headless, category=category)
    if concerns(event, watch):
        seconds = DEFAULT_WAIT_SECONDS if wait is None else wait.total_seconds()
        reply = _reply(place, host, event, watch, seconds)
        if reply is not None:
            sys.stdout.write(json.dumps(reply) + "\n")
    return DONE


def _reply(
    place: Place, host: str, event: Mapping[str, Any], watch: Watch, seconds: float
) -> dict[str, Any] | None:
    from assent.hosts.claude_code.hook import failed, reply_at_once
    from assent.protocol.error import AssentError

    try:
        with _in_time(seconds + GRACE_SECONDS):
            return reply_at_once(event, watch) or _ask(place, host, event, watch, seconds)
    except AssentError as error:
        sentence = error.message
    except _OverError as over:
        sentence = str(over)
    except Exception as error:  # noqa: BLE001 - rule 2: whatever it is, it is no yes
        sentence = f"Something unexpected happened ({type(error).__name__})."
    from assent.protocol.display import display

    say(display(sentence, lines=False))
    return failed(event, watch, sentence)


def _ask(
    place: Place, host: str, event: Mapping[str, Any], watch: Watch, seconds: float
) -> dict[str, Any] | None:
    from assent.cli.place import is_there
    from assent.client.door import run_call
    from assent.client.identity import agent
    from assent.hosts.claude_code.hook import PASSING, key_of, reply_to, take_back

    folder = place.environ.get("CLAUDE_PROJECT_DIR")
    if folder:
        os.chdir(folder)  # where the agent happens to stand is no place for a store
    if event["hook_event_name"] in PASSING and not is_there(place.address):
        return None  # nothing was asked there, and there is no need to make it
    key = key_of(event)
    with place.door() as door:
        calls = place.client(door, agent(place.environ, host), via=f"host:{host}").calls
        try:
            return run_call(reply_to(calls, event, watch, seconds, key))
        except _OverError:
            if not watch.is_headless:  # else the session can be resumed, and finds it
                run_call(take_back(calls, key))
            raise


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    """Stop what takes longer, or what the host does not want any more, wherever it is."""
    is_on = True

    def stop(number: int, _: object) -> None:
        if not is_on:
            return
        if number != signal.SIGALRM:
            signal.setitimer(signal.ITIMER_REAL, _LEAVE_SECONDS, _AGAIN_SECONDS)
            signal.signal(number, signal.SIG_IGN)
            raise _OverError("Claude Code has ended this.")
        raise _OverError("It took too long.")

    numbers = (signal.SIGALRM, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    # More than once: whoever was interrupted might have gone on.
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        is_on = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
