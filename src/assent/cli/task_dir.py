"""The `config.json` of a task directory: what the agent that works there is told of the policy (Q29).

Rule 1: it is replaced whole, in one move, or left as it was; what stands in it beside the policy stays.
Rule 2: agents write into such directories, so nothing there leads us elsewhere: no link is followed, and what is no
        ordinary file is refused.
"""

from __future__ import annotations

import os
from pathlib import Path

from assent.effects.document import DocumentWriter, read_document_in
from assent.effects.place import Place
from assent.flows.document import WriteDocument
from assent.protocol.canonical import Json, parse_json
from assent.protocol.display import quote
from assent.protocol.error import BadRequestError, EffectError, PathRefusedError
from assent.protocol.policy import HIL_CONFIG, Policy
from assent.protocol.policy_text import config_json

__all__ = ["CONFIG_FILE", "write_config"]

CONFIG_FILE = "config.json"
_GIT = ".git"


def write_config(task_dir: Path, policy: Policy) -> Path:
    """Write the policy into `config.json` of `task_dir`, which is made if it is missing; return the file's path.

    Raises:
        PathRefusedError: the directory, or the file in it, is a link or nothing ordinary.
        EffectError: it cannot be written there.
        BadRequestError: the file that is there is no JSON object.
    """
    place = Place(_enter(task_dir))
    path = task_dir / CONFIG_FILE
    # Looked at before, so that a link is told as one. One that comes in between leads nowhere but into the directory.
    if (place.root / CONFIG_FILE).is_symlink():
        raise PathRefusedError(f'"{quote(str(path))}" is a link, and is not followed.')
    known = read_document_in(place, CONFIG_FILE)
    content = config_json(policy, {} if known.digest is None else _beside(path, known.content))
    writer = DocumentWriter(place)
    writer.perform(writer.intend(WriteDocument(CONFIG_FILE, known.digest, content)))
    return path


def _enter(task_dir: Path) -> Path:
    """Return the directory itself, made if only it is missing."""
    shown = quote(str(task_dir))
    try:
        real = task_dir.resolve()
        if task_dir.is_symlink():
            raise PathRefusedError(f'"{shown}" is a link, and is not followed.')
        if any(part.casefold() == _GIT for part in real.parts):
            raise PathRefusedError(f'"{shown}" lies in a folder of git, and is left alone.')
        if not real.is_dir():
            real.mkdir()
    except FileExistsError:
        raise PathRefusedError(f'"{shown}" is no folder.') from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no folder has such a name"
        raise EffectError(f'"{shown}" cannot be used: {reason}.') from None
    if not os.access(real, os.W_OK | os.X_OK):
        raise EffectError(f'"{shown}" cannot be used: it may not be written to.')
    return real


def _beside(path: Path, content: bytes) -> dict[str, Json]:
    """Return what the file holds beside the policy."""
    shown = quote(str(path))
    try:
        config = parse_json(content)
    except BadRequestError as error:
        raise type(error)(f'"{shown}" is left as it is: {error.message}') from None
    if not isinstance(config, dict):
        raise BadRequestError(f'"{shown}" is left as it is: it must be a JSON object.')
    return {key: value for key, value in config.items() if key != HIL_CONFIG}
