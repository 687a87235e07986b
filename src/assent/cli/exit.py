"""How every command ends: one table from errors to exit statuses, and one place that says what went wrong.

0 done   1 anything else   2 usage, or a reply that was not recognised   3 still open   4 declined or refused
5 withdrawn, expired, superseded, cancelled   6 somebody else was first, or the key or run is taken
7 a loop that came to its limit, or is stuck   8 a store that this user has neither made nor adopted

A person sees one plain sentence on standard error. A program that asked for JSON also gets the error as JSON on
standard output. Nobody sees a stack trace, unless ASSENT_DEBUG is set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

import click

from assent.protocol.error import (
    ApprovalDiffersError,
    AssentError,
    BadRequestError,
    ConfirmFirstError,
    ConflictError,
    ControlExpiredError,
    Declined,
    FlowTakenError,
    ForbiddenError,
    InvalidStateError,
    KeyReusedError,
    NoAnswer,
    RunEndedError,
    RunTakenError,
    StillOpen,
    StoreUntrustedError,
    UnauthorisedError,
    UnrecognisedError,
)

__all__ = [
    "DONE",
    "ENDED",
    "FAILED",
    "REFUSED",
    "STATUSES",
    "STILL_OPEN",
    "TAKEN",
    "UNFINISHED",
    "UNTRUSTED",
    "USAGE",
    "complain",
    "run",
    "say",
    "status_of",
]

DONE, FAILED, USAGE, STILL_OPEN, REFUSED, ENDED, TAKEN, UNFINISHED, UNTRUSTED = range(9)

STATUSES: dict[type[AssentError], int] = {
    AssentError: FAILED,
    BadRequestError: USAGE,
    UnrecognisedError: USAGE,
    ConfirmFirstError: USAGE,
    StillOpen: STILL_OPEN,
    Declined: REFUSED,
    ForbiddenError: REFUSED,
    UnauthorisedError: REFUSED,
    ApprovalDiffersError: REFUSED,
    NoAnswer: ENDED,
    ConflictError: TAKEN,
    KeyReusedError: TAKEN,
    FlowTakenError: TAKEN,
    InvalidStateError: REFUSED,
    ControlExpiredError: ENDED,
    RunEndedError: ENDED,
    RunTakenError: TAKEN,
    StoreUntrustedError: UNTRUSTED,
}
"""The nearest class in an error's line of parents counts."""

_COMPLETE = "_ASSENT_COMPLETE"


def status_of(error: AssentError) -> int:
    """Return the exit status for `error`."""
    return next(STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)


def run(arguments: Sequence[str]) -> int:
    """Run one command; return its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a narrow locale must not stop an answer
    try:
        status = _perform(list(arguments))
    except BrokenPipeError:
        status = FAILED
    is_told = _flush(sys.stdout)
    _flush(sys.stderr)
    return status if is_told else status or FAILED


def _flush(stream: TextIO | None) -> bool:
    """Say whether all that was written has gone out. A stream that was closed from the start is None."""
    if stream is None:
        return True
    try:
        stream.flush()
    except OSError:
        _let_go(stream)
        return False
    return True


def _perform(arguments: list[str]) -> int:
    from assent.cli.group import root
    from assent.cli.place import Place

    before_rest = arguments[: arguments.index("--")] if "--" in arguments else arguments
    wants_json = "--json" in before_rest
    try:
        if _COMPLETE in os.environ:
            root.main(arguments, prog_name="assent", complete_var=_COMPLETE, obj=Place())
        with root.make_context("assent", arguments, obj=Place()) as context:
            return root.invoke(context) or DONE
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        return _complain_of_usage(error, wants_json)
    except (KeyboardInterrupt, click.Abort):
        say("")
        return STILL_OPEN
    except AssentError as error:
        return complain(error, wants_json)
    except BrokenPipeError:
        raise
    except Exception as error:
        if os.environ.get("ASSENT_DEBUG"):
            raise
        return complain(AssentError(_describe(error)), wants_json)


def say(text: str, *, nl: bool = True) -> None:
    """Write to standard error. A terminal that is gone hears nothing, and that changes no exit status."""
    with suppress(OSError):
        click.echo(text, err=True, nl=nl)


def complain(error: AssentError, wants_json: bool = False) -> int:
    """Say what went wrong, in the form that was asked for; return the exit status."""
    from assent.protocol.display import display

    say(display(error.message, lines=False))
    if wants_json:
        _echo_json(error)
    return status_of(error)


def _complain_of_usage(error: click.ClickException, wants_json: bool) -> int:
    from assent.protocol.display import display

    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        say(error.format_message())
        return USAGE
    say(display(error.format_message()))
    if context is not None:
        say(f"{context.command_path} --help shows how it is used.")
    if wants_json:
        _echo_json(BadRequestError(error.format_message()))
    return USAGE if isinstance(error, click.UsageError) else FAILED


def _echo_json(error: AssentError) -> None:
    import msgspec

    ask = getattr(error, "ask", None)
    details = {} if ask is None else {"ask": ask}
    said = {"error": {"code": error.code, "message": error.message, "details": details}}
    click.echo(msgspec.json.encode(said))


def _describe(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}."
    told = f": {error}" if str(error) else ""
    return f"Something unexpected happened ({type(error).__name__}{told}); ASSENT_DEBUG=1 shows where."


def _let_go(stream: TextIO) -> None:
    # Nobody reads it any more. Python would complain once more, with a status of its own, when it closes it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
