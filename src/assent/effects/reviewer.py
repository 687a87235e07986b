"""Having a reviewer look at intent or at completed work: a command gets the plan's context and prints its report (C38-C41).

Rule 1: a reviewer is told where to look with two absolute folders that exist. Anything else is the caller's mistake and is
        refused before anything is run: it is no failure of the reviewer (C-X13).
Rule 2: whatever keeps a report from being read means that there is none: a failed command, one that took too long or said
        nothing, and a report that is out of order (C45, C-X5). Even a good report is none if the command failed.
Rule 3: a command that stands in a repository's file runs only after a person accepted that file; `accept` sees to it.
Rule 4: a reviewer should only read (C-U8), and that is its command's own business: nothing here keeps it from writing.
        What is kept from it is to answer: it runs under an agent's name.

A reviewer only looks, so after a crash it is simply run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from assent.effects.command import Order, Speech, check_status, run_command
from assent.effects.performer import Intention, Performers, World
from assent.flows.confirm import RunReviewer
from assent.protocol.canonical import Json, canonical, parse_json
from assent.protocol.display import is_blank, quote
from assent.protocol.error import BadRequestError, EffectError
from assent.protocol.report import MAX_REPORT_BYTES, REPORT_FORMAT, parse_report
from assent.protocol.reviewer_file import Reviewer

__all__ = ["Accept", "check_folders", "reviewer_performers"]

Accept = Callable[[Reviewer], None]
"""Called before each run; it raises EffectError where no person accepted that this reviewer is run."""


def reviewer_performers(
    reviewers: Mapping[str, Reviewer], environ: Mapping[str, str], accept: Accept
) -> Performers:
    """Return who runs reviewers: those of a project, by name."""
    return {RunReviewer: _Reviewing(reviewers, environ, accept)}


def check_folders(workspace_dir: str, track_dir: str) -> None:
    """Make sure that a reviewer can be told where to look (C38).

    Raises:
        BadRequestError: one of them is missing, not absolute, or no folder.
    """
    for name, given in (("workspace_dir", workspace_dir), ("track_dir", track_dir)):
        if is_blank(given):
            raise BadRequestError(f"A reviewer needs {name}: the absolute path of a folder.")
        if not Path(given).is_absolute():
            raise BadRequestError(f'{name} is an absolute path, not "{quote(given)}".')
        if not _is_folder(Path(given)):
            raise BadRequestError(f'{name}: there is no folder "{quote(given)}".')


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # not ours to look into, too long, or no path at all
        return False


class _Reviewing:
    def __init__(self, reviewers: Mapping[str, Reviewer], environ: Mapping[str, str], accept: Accept) -> None:
        self._reviewers, self._environ, self._accept = reviewers, environ, accept

    def intend(self, effect: RunReviewer) -> Intention:
        """Keep what is asked of the reviewer."""
        check_folders(effect.workspace_dir, effect.track_dir)
        return Intention(f"reviewer {effect.agent}", content=msgspec.json.encode(effect))

    def look(self, intention: Intention) -> World:  # noqa: ARG002 - a reviewer leaves nothing to be seen
        """Say that it has yet to look."""
        return World.BEFORE

    def perform(self, intention: Intention) -> Json:
        """Run the reviewer; return its report."""
        effect = msgspec.json.decode(intention.content, type=RunReviewer)
        # Again: a flow may be resumed on another machine, where the folders are not.
        check_folders(effect.workspace_dir, effect.track_dir)
        reviewer = self._reviewers.get(effect.agent)
        if reviewer is None:
            raise EffectError(f'There is no reviewer "{quote(effect.agent)}" in this project.')
        self._accept(reviewer)
        order = Order(
            reviewer.command,
            Path(effect.workspace_dir),
            {**self._environ, **reviewer.env},
            reviewer.principal,
            reviewer.seconds,
            MAX_REPORT_BYTES,
            keeps_errors_apart=True,
        )
        speech = run_command(order, _render_request(effect))
        check_status(order, speech)
        return _read(quote(reviewer.command[0]), speech)


def _render_request(effect: RunReviewer) -> bytes:
    return msgspec.json.encode(
        {
            "workspace_dir": effect.workspace_dir,
            "track_dir": effect.track_dir,
            "plan": effect.plan,
            "moment": effect.moment,
            "owner": {"kind": effect.owner_kind, "id": effect.owner_id, "name": effect.owner_name},
            "summary": effect.summary,
            "format": REPORT_FORMAT,
        }
    )


def _read(program: str, speech: Speech) -> Json:
    if not speech.size:
        raise EffectError(f'"{program}" said nothing.')
    if speech.size > MAX_REPORT_BYTES:
        raise EffectError(
            f'"{program}" said {speech.size:,} bytes; a report has at most {MAX_REPORT_BYTES:,}.'
        )
    try:
        return parse_json(canonical(parse_report(speech.said)))
    except BadRequestError as error:
        raise EffectError(error.message) from None
