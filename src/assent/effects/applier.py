"""How fixes get into a document: computed one after another, each on what the one before left, and nothing is written.

Rule 1: a fix that is an exact edit is made here. One in words is made by an applier: a function, or a command that
        gets `{"finding": {…}, "document": "…"}` on standard input and prints the whole new document (W-X20).
Rule 2: whatever goes wrong is that one fix's failure, in a sentence. The document goes on as it was before it (W66).
Rule 3: an applier is an agent. What it gives back is looked at as a document, and it can answer nothing.
Rule 4: what people deferred stays in the document: the report says that it stands there.

All of this only looks: after a crash it is simply done again.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from assent.effects.command import Order, check_status, run_command
from assent.effects.direct import Direct
from assent.effects.document import document_performers, is_read_only, read_document_in
from assent.effects.performer import Performers
from assent.effects.place import MAX_FILE_BYTES, Place
from assent.flows.walk_through.effect import CheckAppend, Edited, MakeEdits, Writable
from assent.flows.walk_through.execution import NO_FIX
from assent.protocol.applier_file import APPLIER_PRINCIPAL, APPLIER_SECONDS
from assent.protocol.canonical import Json
from assent.protocol.deferral import loses_deferrals
from assent.protocol.display import quote
from assent.protocol.edit import apply_edit, is_made, with_line_ends_of
from assent.protocol.error import EffectError
from assent.protocol.finding import Finding

__all__ = ["NO_APPLIER", "Apply", "Progress", "run_applier", "walk_through_performers"]

NO_APPLIER = (
    "No applier is configured that works a fix in words into a document: name one with `--applier COMMAND` or in "
    "`.assent/review.toml`, or give the finding an exact `edit`."
)
_READ_ONLY = "document is read-only in this environment"
_LONGEST_SENTENCE = 500

Apply: TypeAlias = Callable[[dict[str, Json], str], str]
"""Gets a finding as JSON and the document's text; returns the whole new text. What it raises is why the fix failed."""
Progress: TypeAlias = Callable[[int, int, Finding], None]
"""Called before each fix, with how many are through, how many there are in all, and the finding."""


def walk_through_performers(root: Path, apply: Apply | None, progress: Progress | None = None) -> Performers:
    """Return who does what a walk-through wants done to documents under `root`."""
    place = Place(root)

    def check(effect: CheckAppend) -> Json:
        found = replace(_look_at(place, effect.path), takes_words=apply is not None)
        json: Json = msgspec.to_builtins(found)
        return json

    def make(effect: MakeEdits) -> Json:
        json: Json = msgspec.to_builtins(_work_in(place, effect, apply, progress))
        return json

    return {
        **document_performers(root),
        CheckAppend: Direct(CheckAppend, check),
        MakeEdits: Direct(MakeEdits, make),
    }


def run_applier(
    command: Sequence[str], folder: Path, environ: Mapping[str, str], seconds: float = APPLIER_SECONDS
) -> Apply:
    """Return an applier that runs `command` for each fix. A command from a repository's file is accepted before."""
    order = Order(
        command, folder, environ, APPLIER_PRINCIPAL, seconds, MAX_FILE_BYTES, keeps_errors_apart=True
    )
    program = quote(command[0])

    def apply(finding: dict[str, Json], document: str) -> str:
        speech = run_command(order, msgspec.json.encode({"finding": finding, "document": document}))
        check_status(order, speech)
        if not speech.size:
            raise EffectError(f'"{program}" printed nothing.')
        if speech.size > MAX_FILE_BYTES:
            raise EffectError(
                f'"{program}" printed {speech.size:,} bytes; a document has at most {MAX_FILE_BYTES:,}.'
            )
        try:
            return speech.said.decode()
        except UnicodeDecodeError:
            raise EffectError(f'What "{program}" printed is not UTF-8 text.') from None

    return apply


# Whether it can be appended to


def _look_at(place: Place, path: str) -> Writable:
    with place.folder(path) as (folder, name):
        try:
            known = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return Writable(False, "document does not exist")
        if not stat.S_ISREG(known.st_mode):
            return Writable(False, "document is not an ordinary file")
        # It is replaced and not written to, which takes the folder. On a disk that is mounted read-only the system
        # says no to both, also to root.
        if is_read_only(folder, name, known) or not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
            return Writable(False, _READ_ONLY)
    return Writable(True)


# Working fixes in


def _work_in(place: Place, effect: MakeEdits, apply: Apply | None, progress: Progress | None) -> Edited:
    document = read_document_in(place, effect.path)
    if document.digest is None:
        raise EffectError(f'There is no document "{quote(effect.path)}".')
    content = document.content
    failed: dict[str, str] = {}
    present: list[str] = []
    for done, finding in enumerate(effect.findings):
        if progress is not None:
            progress(done, len(effect.findings), finding)
        try:
            if _is_there(document.content, finding):
                present.append(finding.finding_id)
            else:
                content = _work_in_one(content, finding, apply)
        except Exception as error:  # noqa: BLE001 - an applier is somebody else's code: what it raises is its failure
            failed[finding.finding_id] = _render_failure(error)
    return Edited(document.digest, content, failed, tuple(present))


def _is_there(content: bytes, finding: Finding) -> bool:
    edit = finding.edit if finding.has_fix else None
    return edit is not None and is_made(content, edit, finding.evidence)


def _work_in_one(content: bytes, finding: Finding, apply: Apply | None) -> bytes:
    if not finding.has_fix:
        raise EffectError(NO_FIX)
    if finding.edit is not None:
        after = apply_edit(content, finding.edit)
    elif apply is not None:
        after = _have_applied(content, finding, apply)
    else:
        raise EffectError(NO_APPLIER)
    if not after.strip():
        raise EffectError("Nothing would be left of the document.")
    if len(after) > MAX_FILE_BYTES:
        raise EffectError(f"The document would have {len(after):,} bytes; it has at most {MAX_FILE_BYTES:,}.")
    if after == content:
        raise EffectError("The applier changed nothing.")
    return after


def _have_applied(content: bytes, finding: Finding, apply: Apply) -> bytes:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise EffectError(
            "The document is not UTF-8 text, so only an exact edit can be made in it."
        ) from None
    came: object = apply(msgspec.json.decode(msgspec.json.encode(finding)), text)
    if not isinstance(came, str):
        raise EffectError("The applier gave back no text.")
    try:
        after = came.encode()
    except UnicodeEncodeError:
        raise EffectError("The applier gave back half of a surrogate pair, which is no text.") from None
    # Programs that print a document tend to print LF; nobody decided to change the end of every line.
    after = with_line_ends_of(content, after)
    if loses_deferrals(content, after):
        raise EffectError("The applier would change what was deferred in the document.")
    return after


def _render_failure(error: Exception) -> str:
    words = " ".join(str(error).split())
    return quote(words or f"The applier failed with {type(error).__name__}.", _LONGEST_SENTENCE)
