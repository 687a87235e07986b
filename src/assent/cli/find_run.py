"""From a run's id, or the beginning or end of one, to the run and its hub.

Rule 1: an id as it is written wins, wherever it is found: nobody steers `deploy-2` who typed `deploy` and has a run
        of that name.
Rule 2: a part of an id means an active run, in this project first, then in this store, then wherever this user works.
Rule 3: what is not found is not refused here. It is sent to the current project: the protocol has an answer for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from assent.cli.find import look
from assent.cli.place import Place
from assent.client.calls import SHORTEST_ID
from assent.client.client import Client
from assent.hub.hub import Hub
from assent.protocol.display import display
from assent.protocol.error import NotFoundError
from assent.protocol.principal import Principal
from assent.protocol.run import Run, RunId, Status, check_run_id
from assent.storage.port import Reader

__all__ = ["FoundRun", "complete_run", "finding_run"]

_ALL = 100_000
_MOST_NAMED = 5


class FoundRun(NamedTuple):
    """A run, where it is or would be, and what could not be looked at."""

    hub: Hub
    project: str
    run_id: RunId
    troubles: list[str]

    def client(self, principal: Principal) -> Client:
        """Return a client in the run's own project."""
        return Client(self.hub, self.project, principal, via="cli")


@contextmanager
def finding_run(place: Place, given: str) -> Iterator[FoundRun]:
    """Give the one run that `given` means.

    Raises:
        BadRequestError: no run can be called so.
        NotFoundError: several are meant.
    """
    check_run_id(given)
    troubles: list[str] = []
    found = _search(place, given, troubles)
    if found is None:
        with place.hub() as hub:
            yield FoundRun(hub, place.project_name, RunId(given), troubles)
    else:
        path, run = found
        with place.hub(path) as hub:
            yield FoundRun(hub, run.project, run.run_id, troubles)


def _search(place: Place, given: str, troubles: list[str]) -> tuple[Path, Run] | None:
    here = place.path
    scopes: list[tuple[list[Path], str | None]] = [([here], place.project_name)]
    if place.project is None:
        scopes += [([here], None), (place.others, None)]
    near: list[tuple[Path, Run]] = []
    for paths, project in scopes:
        read = partial(_runs_called, given=given, project=project)
        found = [(path, run) for path in paths for run in look(place, path, read, troubles)]
        exact = [(path, run) for path, run in found if run.run_id == given]
        if exact:
            return _only([pair for pair in exact if pair[1].is_active] or exact[:1], given)
        near = near or found
    return _only(near, given) if near else None


def _only(found: list[tuple[Path, Run]], given: str) -> tuple[Path, Run]:
    if len(found) == 1:
        return found[0]
    named = ", ".join(f"{run.run_id} in {run.project}" for _, run in found[:_MOST_NAMED])
    raise NotFoundError(f'"{given}" may mean {len(found)} runs: {named}. Give more of the id, or --project.')


def _runs_called(reader: Reader, given: str, project: str | None) -> list[Run]:
    """Return the runs of this id, active or not, or else the active ones whose id begins or ends so."""
    projects = [project] if project is not None else [head.project for head in reader.heads()]
    exact = [run for name in projects if (run := reader.run(name, given)) is not None]
    if exact or len(given) < SHORTEST_ID:
        return exact
    return [
        run
        for run in reader.runs(project, _ALL, active=True)
        if run.run_id.startswith(given) or run.run_id.endswith(given)
    ]


_STEERABLE = {"pause": Status.RUNNING, "resume": Status.PAUSED}
"""What a command can be used on; those that are not here, on any active run."""


def complete_run(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the active runs of everywhere. A key press must be quick and quiet: whatever goes wrong offers nothing."""
    from assent.cli.lookout import Lookout
    from assent.cli.place import now
    from assent.surfaces.board import render_place

    try:
        place = context.find_object(Place)
        if place is None:
            return []
        with Lookout(place, everywhere=True) as lookout:
            runs = [seen.run for seen in lookout.look(now())]
    except Exception:  # noqa: BLE001 - see above
        return []
    wanted = _STEERABLE.get(context.info_name or "")
    return [
        CompletionItem(run.run_id, help=display(f"{render_place(run)}  {run.title}", lines=False)[:60])
        for run in runs
        if run.run_id.startswith(incomplete) and wanted in (None, run.status)
    ]
