"""A draft: the answers that a person has given to a part of a round, kept until the rest is there.

Rule 1: it is the person's own, in their own folder, and no part of the store: nobody has answered anything yet.
Rule 2: it holds for one ask and one prompt. What does not fit the prompt any more is left out, and never guessed.
Rule 3: there are only so many; the oldest go first.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assent.client.place import state_folder
from assent.protocol.answer import FieldValues, check_values
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, TooLargeError
from assent.protocol.principal import Principal

__all__ = ["add_to_draft", "drop_draft", "load_draft"]

_MOST_KEPT = 200
_MOST_BYTES = 1 << 20
"""As large as a prompt may be."""


class _Draft(msgspec.Struct, frozen=True):
    by: str
    digest: str
    values: FieldValues


_decoder = msgspec.json.Decoder(_Draft)


def load_draft(environ: Mapping[str, str], ask: Ask, who: Principal) -> FieldValues:
    """Return what `who` has answered of `ask` so far."""
    path = _path(environ, ask)
    try:
        if path is None or path.stat().st_size > _MOST_BYTES:
            return {}
        kept = _decoder.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError):
        return {}
    if (kept.by, kept.digest) != (str(who), ask.digest):
        return {}
    values: FieldValues = {}
    for field in ask.prompt.fields:
        if field.name in kept.values:
            with suppress(AssentError):
                alone = replace(ask.prompt, fields=(field,))
                values |= check_values(alone, {field.name: kept.values[field.name]})
    return values


def add_to_draft(
    environ: Mapping[str, str], ask: Ask, who: Principal, values: FieldValues, wrong: Collection[str] = ()
) -> FieldValues:
    """Keep `values` beside what was kept before, and drop what was for the fields `wrong`; return all that is kept.

    Where nothing can be kept, nothing is: it is a convenience.

    Raises:
        TooLargeError: it is more than a draft may hold.
    """
    path = _path(environ, ask)
    if path is None:
        return {}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(path.parent):
            before = load_draft(environ, ask, who)
            kept = {name: given for name, given in before.items() if name not in wrong} | values
            if kept:
                _write(path, _Draft(str(who), ask.digest, kept))
            else:
                path.unlink(missing_ok=True)
            _prune(path.parent)
    except OSError:
        return {}
    return kept


def drop_draft(environ: Mapping[str, str], ask: Ask) -> None:
    """Forget what was kept of `ask`."""
    path = _path(environ, ask)
    with suppress(OSError):
        if path is not None:
            path.unlink(missing_ok=True)


def _path(environ: Mapping[str, str], ask: Ask) -> Path | None:
    folder = state_folder(environ)
    return folder / "drafts" / f"{ask.ask_id}.json" if folder else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    # Two parts that are given at the same moment must both be kept.
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(path: Path, draft: _Draft) -> None:
    encoded = msgspec.json.encode(draft)
    if len(encoded) > _MOST_BYTES:
        raise TooLargeError(f"So much cannot be kept: a draft has at most {_MOST_BYTES:,} bytes.")
    fresh = path.with_name(f"{path.name}.fresh")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(encoded)
    fresh.replace(path)


def _prune(folder: Path) -> None:
    drafts = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in drafts[:-_MOST_KEPT]:
        path.unlink(missing_ok=True)
