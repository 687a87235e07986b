"""What works fixes in words into a document: the command that was given, or the one of the project's file."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import click

from assent.cli.exit import say
from assent.cli.gate_file import FOLDER, read_bounded
from assent.client.place import find_root
from assent.effects.applier import Apply, run_applier
from assent.protocol.applier_file import MAX_APPLIER_FILE_BYTES, parse_applier
from assent.protocol.canonical import digest
from assent.protocol.display import display, quote
from assent.protocol.error import EffectError
from assent.protocol.finding import Finding
from assent.protocol.words import count

__all__ = ["APPLIER_FILE", "Accept", "find_applier", "given_applier"]

APPLIER_FILE = f"{FOLDER}/review.toml"

_CANNOT = "Such a fix cannot be applied"

Accept = Callable[[str, str, Mapping[str, Sequence[str]]], None]
"""Gets a file, its digest and its commands; raises EffectError unless a person has accepted them."""


def given_applier(text: str, environ: Mapping[str, str]) -> Apply:
    """Return the applier that a command line names.

    Raises:
        UsageError: it is no command that can be run.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise click.UsageError(f"--applier cannot be read as a command: {error}.") from None
    if not words:
        raise click.UsageError("The applier is a command, as in --applier 'python3 apply.py'.")
    if shutil.which(words[0]) is None:
        raise click.UsageError(f'There is no program "{quote(words[0])}" for --applier.')
    return run_applier(words, Path.cwd(), environ)


def find_applier(findings: Iterable[Finding], environ: Mapping[str, str], accept: Accept) -> Apply | None:
    """Return the applier of the project's file, where any of the `findings` that may be applied needs one.

    Its command is accepted by a person first. That is settled before the first question: after the last one it would
    cost every decision.
    """
    prose = sum(finding.has_fix and finding.edit is None for finding in findings)
    if not prose:
        return None
    root = find_root(Path.cwd())
    file = root / APPLIER_FILE
    text = read_bounded(file, MAX_APPLIER_FILE_BYTES) if file.exists() else b""
    applier = parse_applier(text, APPLIER_FILE)
    if applier is None:
        has = "has its fix" if prose == 1 else "have their fixes"
        say(f"{count(prose, 'finding')} {has} in words only, and no applier is named.")
        say(f"{_CANNOT}: see --applier in assent review --help.")
        return None
    words = [*(f"{key}={value}" for key, value in applier.env.items()), *applier.command]
    try:
        accept(APPLIER_FILE, digest(text), {"applier": words})
    except EffectError as error:
        say(display(f"{error.message} {_CANNOT}.", lines=False))
        return None
    return run_applier(applier.command, root, {**environ, **applier.env}, applier.seconds)
