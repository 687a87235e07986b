"""The first lines of the screen: how much waits, where one is, whether it is live, and what went wrong. Pure."""

from __future__ import annotations

from assent.protocol.display import display
from assent.surfaces.tui.line import CAUTION, FAINT, STRONG, Line, fit, join, line
from assent.surfaces.tui.stakes import local
from assent.surfaces.tui.view import View
from assent.surfaces.width import columns, wrap

__all__ = ["head_lines", "place_of"]

_ROOM_FOR_STORES = 100
_ROOM_FOR_NAMES = 60


def place_of(view: View) -> str:
    """Return which of all asks is open: `2 of 7`."""
    ids: list[str] = [each.ask_id for each in view.groups.open]
    if view.current in ids:
        return f"{ids.index(view.current) + 1} of {len(ids)}"
    return "" if view.ask is None else "ended"


def head_lines(view: View, width: int, *, is_compact: bool) -> list[Line]:
    """Return the head, with the place of the open ask where no line below has room for it."""
    count, is_live = len(view.groups.open), view.offline_since is None
    verb = ("waits" if count == 1 else "wait") if is_live else "waited"
    said = f" Assent{' ' if is_compact else '   '}{count} {verb}"
    if width >= _ROOM_FOR_STORES:
        said += f"   {view.stores} store{'' if view.stores == 1 else 's'}, all projects"
    paint = FAINT if is_live else CAUTION
    end = next(wish for wish in _ends(view, width, is_compact=is_compact) if columns(said + wish) < width)
    gap = " " * (width - columns(said) - columns(end))
    lines = [join(line(said, STRONG), gap, line(end, paint))]
    return [*lines, *(fit(line(f" {part}", CAUTION), width) for part in _troubles(view, width))]


def _ends(view: View, width: int, *, is_compact: bool) -> list[str]:
    """Return what may stand at the end, the longest first."""
    state = "live"
    if view.offline_since is not None:
        state = f"OFFLINE since {local(view.offline_since):%H:%M:%S}"
    place = place_of(view) if is_compact else ""
    told = [state, f"{local(view.now):%H:%M:%S}"]
    if width >= _ROOM_FOR_NAMES and view.who:
        told.insert(0, display(view.who, lines=False))
    short = state if view.offline_since is None else "OFFLINE"
    wishes = ["   ".join(filter(None, [place, *told])), "  ".join(filter(None, [place, state])), state, short]
    return [*(f"{wish} " for wish in (wishes if width >= _ROOM_FOR_NAMES else wishes[1:])), ""]


def _troubles(view: View, width: int) -> list[str]:
    if view.offline_since is not None:
        return wrap("What you see was true then. Nothing is sent; drafts are kept.", width - 2)
    if not view.troubles:
        return []
    first, *more = view.troubles
    others = f" (and {len(more)} more)" if more else ""
    return [f"Not looked at: {display(first, lines=False)}{others}"]
