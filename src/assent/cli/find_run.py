"""From a run's id, or the beginning or end of one, to the run and the door to its store.

Rule 1: an id as it is written wins, wherever it is found: nobody steers `deploy-2` who typed `deploy` and has a run
        of that name.
Rule 2: a part of an id means an active run, in this project first, then in this store, then wherever this user works.
Rule 3: what is not found is not refused here. It is sent to the current project: the protocol has an answer for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from assent.cli.find import look
from assent.cli.place import Place, acting
from assent.client.calls import SHORTEST_ID
from assent.client.client import Client
from assent.client.door import Door, run_call, until
from assent.protocol.display import display
from assent.protocol.error import NotFoundError
from assent.protocol.principal import Principal
from assent.protocol.run import Run, RunId, Status, check_run_id

__all__ = ["FoundRun", "complete_run", "finding_run"]

_ALL = 100_000
_MOST_NAMED = 5


class FoundRun(NamedTuple):
    """A run, where it is or would be, and what could not be looked at."""

    door: Door
    project: str
    run_id: RunId
    troubles: list[str]

    def client(self, principal: Principal) -> Client:
        """Return a client in the run's own project; on a server it acts for whoever the token belongs to."""
        return Client(self.door, self.project, acting(self.door, principal), via="cli")


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
        with place.door() as door:
            yield FoundRun(door, place.project_name, RunId(given), troubles)
    else:
        address, run = found
        with place.door(address) as door:
            yield FoundRun(door, run.project, run.run_id, troubles)


_Placed = tuple[Path | str, Run]


def _search(place: Place, given: str, troubles: list[str]) -> _Placed | None:
    here = place.address
    scopes: list[tuple[Sequence[Path | str], str | None]] = [([here], place.project_name)]
    if place.project is None:
        scopes += [([here], None), (place.others, None)]
    near: list[_Placed] = []
    for addresses, project in scopes:
        read = partial(_runs_called, given=given, project=project)
        found = [(address, run) for address in addresses for run in look(place, address, read, troubles)]
        exact = [(address, run) for address, run in found if run.run_id == given]
        if exact:
            return _only([pair for pair in exact if pair[1].is_active] or exact[:1], given)
        near = near or found
    return _only(near, given) if near else None


def _only(found: list[_Placed], given: str) -> _Placed:
    if len(found) == 1:
        return found[0]
    named = ", ".join(f"{run.run_id} in {run.project}" for _, run in found[:_MOST_NAMED])
    raise NotFoundError(f'"{given}" may mean {len(found)} runs: {named}. Give more of the id, or --project.')


def _runs_called(door: Door, given: str, project: str | None) -> list[Run]:
    """Return the runs of this id, active or not, or else the active ones whose id begins or ends so."""
    projects = [project] if project is not None else run_call(until(door.projects()))
    known = [run_call(until(door.find_run(name, RunId(given)))) for name in projects]
    exact = [run for run in known if run is not None]
    if exact or len(given) < SHORTEST_ID:
        return exact
    return [
        run
        for run in run_call(until(door.runs(project, _ALL, active=True)))
        if run.run_id.startswith(given) or run.run_id.endswith(given)
    ]


_STEERABLE = {"pause": Status.RUNNING, "resume": Status.PAUSED}
"""What a command can be used on; those that are not here, on any active run."""


def complete_run(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Offer the active runs of everywhere. A key press must be quick and quiet: whatever goes wrong offers nothing."""
    from assent.cli.lookout import Lookout
    from assent.surfaces.board import render_place

    try:
        place = context.find_object(Place)
        if place is None:
            return []
        with Lookout(place, everywhere=True) as lookout:
            runs = [seen.run for seen in lookout.look(lookout.now())]
    except Exception:  # noqa: BLE001 - see above
        return []
    wanted = _STEERABLE.get(context.info_name or "")
    return [
        CompletionItem(run.run_id, help=display(f"{render_place(run)}  {run.title}", lines=False)[:60])
        for run in runs
        if run.run_id.startswith(incomplete) and wanted in (None, run.status)
    ]
