"""The last lines of the screen: what is marked, whether keys count, what silence does; and the keys, as many as fit. Pure.

Nothing here is ever scrolled or cut: what there is no room for is left out, the least important first.
"""

from __future__ import annotations

from collections.abc import Sequence

from assent.protocol.approval import is_approval
from assent.protocol.ask import Ask
from assent.protocol.display import display
from assent.surfaces.tui.line import ACCENT, DANGER, FAINT, Line, fit, line
from assent.surfaces.tui.reply import (
    WAYS,
    is_free_only,
    is_long,
    is_plain_check,
    is_yes_no,
    keycap,
    lacking,
    send_label,
    summary,
)
from assent.surfaces.tui.stakes import silence_of
from assent.surfaces.tui.view import Mode, View, keeps_own
from assent.surfaces.width import columns, cut

__all__ = ["caps_of", "key_line", "status_line"]

_GAP = "   "
_LEAST_SAID = 8
_HELD = "Press Esc: somebody was typing when the inbox ended."


def status_line(view: View, width: int) -> Line:
    """Return the one line that says where one is."""
    ask = view.ask
    if view.is_held:
        return line(cut(_HELD, width), DANGER)
    if view.problem:
        return line(cut(display(view.problem, lines=False), width), DANGER)
    if ask is None or view.mode in (Mode.LIST, Mode.RUNS, Mode.RUN, Mode.HELP):
        return line(cut(_elsewhere(view), width), FAINT)
    if not ask.is_open:
        return line(cut("Ended. n goes on with the next one.", width), FAINT)
    if view.check:
        return line(cut("Nothing is sent before y or yes. Esc leaves it unsent.", width), DANGER)
    lack = lacking(ask, view.reply)
    said = display(summary(ask, view.reply), lines=False)
    keys = _readiness(view, ask, lack)
    marked = f"{said}. {lack}." if lack else f"Marked: {said}."
    wishes = (
        _GAP.join((marked, keys, silence_of(ask, view.now))),
        f"{marked}{_GAP}{keys}",
        f"{said}.  {keys}",
    )
    told = next((wish for wish in wishes if columns(wish) <= width), "")
    if not told:
        # What is marked gives way, never what Enter does.
        room = width - columns(keys) - 2
        told = f"{cut(said, room)}  {keys}" if room > _LEAST_SAID else cut(keys, width)
    return line(told, FAINT if not view.is_armed else "" if lack else ACCENT)


def _readiness(view: View, ask: Ask, lack: str) -> str:
    if view.sending:
        return "Sending."
    if view.offline_since is not None:
        return "Offline: kept as a draft."
    if not view.is_armed:
        return "Keys arm in a moment . . ."
    label = display(send_label(ask, view.reply), lines=False)
    return "Keys ready." if lack else f"Enter: {label}."


def _elsewhere(view: View) -> str:
    """Return what is to be said where nothing can be marked."""
    if view.offline_since is not None:
        return "Offline: nothing is sent."
    if view.mode is Mode.LIST:
        return f"Filter: {display(view.words, lines=False)}. Esc shows all." if view.words else ""
    if view.mode in (Mode.RUNS, Mode.RUN) and view.runs:
        return "Keys ready." if view.is_armed else "Keys arm in a moment . . ."
    return ""


# The keys

_Key = tuple[int, str, str]
"""How soon it is left out (0 never is), the key, and what it does."""

_LIST: tuple[_Key, ...] = (
    (2, "j k", "move"),
    (1, "Enter", "open"),
    (3, "/", "filter"),
    (5, "o", "oldest"),
    (6, "z", "snooze"),
    (4, "r", "runs"),
    (0, "?", "keys"),
    (5, "q", "leave"),
)
_ENDED: tuple[_Key, ...] = (
    (0, "n", "next"),
    (3, "y", "copy id"),
    (2, "Esc", "list"),
    (4, "r", "runs"),
    (0, "?", "keys"),
)
_WHOLE: tuple[_Key, ...] = ((0, "Space", "page"), (1, "b", "up"), (2, "x", "JSON"), (0, "Esc", "back"))
_RUN: tuple[_Key, ...] = (
    (1, "p", "pause"),
    (1, "r", "resume"),
    (2, "e", "escalate"),
    (1, "x", "cancel"),
    (3, "Space", "page"),
    (0, "Esc", "back"),
    (4, "?", "keys"),
)
_RUNS: tuple[_Key, ...] = ((3, "j k", "move"), (2, "Enter", "open"), *_RUN[:4], *_RUN[5:])
_CHECK: tuple[_Key, ...] = ((0, "y Enter", "send"), (0, "Esc", "back"))
_ESC: tuple[_Key, ...] = ((0, "Esc", "and a quiet second: keys count"),)
_HELP: tuple[_Key, ...] = ((0, "Space", "page"), (0, "Esc", "back"))


def _answering(view: View, ask: Ask) -> list[_Key]:
    caps = caps_of(ask, view.field_at)
    field = ask.prompt.fields[view.field_at]
    writes = any(each.free for each in ask.prompt.fields)
    says_no = is_approval(ask.prompt)
    keys: list[_Key | None] = [
        (1, _armed(view, _span(caps)), "mark") if caps else None,
        (1, _armed(view, "0-9 or #"), "pick") if is_long(field) else None,
        (0, _armed(view, "Enter"), "send"),
        (2, ":", "command") if ask.prompt.commands else None,
        (2, "i", "write") if writes else (2, "i", "no, with words") if says_no else None,
        (6, "e", "editor") if writes or says_no else None,
        (4, "j k", "next"),
        (3, "Space", "page"),
        (7, "v", "whole"),
        (5, "d", "decline"),
        (8, "/", "filter"),
        (8, "o", "oldest"),
        (9, "Tab", "runs"),
        (5, "Esc", "list"),
        (0, "?", "keys"),
    ]
    shown = [each for each in keys if each is not None]
    return [(soon, f"Alt-{key}" if key.upper() in caps else key, does) for soon, key, does in shown]


def _ended(view: View) -> list[_Key]:
    """Return the keys of an ask that has ended; what was kept of one's own is what is copied then."""
    return [
        (soon, key, "copy yours" if key == "y" and keeps_own(view) else does) for soon, key, does in _ENDED
    ]


def _armed(view: View, key: str) -> str:
    return key if view.is_armed else f"[{key}]"


def caps_of(ask: Ask, field_at: int) -> list[str]:
    """Return the keys that mark something where the cursor is."""
    if is_yes_no(ask):
        return [way.letter for way in WAYS]
    if is_plain_check(ask):
        return ["Y", "N"]
    field = ask.prompt.fields[field_at]
    if is_free_only(field) or is_long(field):
        return []
    return [keycap(ask.prompt, field, place) for place in range(len(field.options) + field.free)]


def _span(caps: Sequence[str]) -> str:
    """Return keys as short as can be: `A-C`, `1-4`, `Y C N`."""
    points = [ord(cap[0]) for cap in caps]
    is_row = len(caps) > 1 and points == list(range(points[0], points[0] + len(caps)))
    return f"{caps[0]}-{caps[-1]}" if is_row else " ".join(caps)


def key_line(view: View, width: int) -> Line:
    """Return the keys that count where one is; what does not fit is on the page of all keys."""
    ask = view.ask
    keys: Sequence[_Key] = {
        Mode.LIST: _LIST,
        Mode.WHOLE: _WHOLE,
        Mode.RUNS: _RUNS,
        Mode.RUN: _RUN,
        Mode.HELP: _HELP,
    }.get(view.mode, _LIST if ask is None else _answering(view, ask) if ask.is_open else _ended(view))
    shown = list(_ESC if view.is_held else _CHECK if view.check else keys)
    while columns(_told(shown)) + 2 > width and len(shown) > 1:
        shown.remove(max(shown, key=lambda each: each[0]))
    return fit(line(f" {_told(shown)}", FAINT), width)


def _told(keys: Sequence[_Key]) -> str:
    return "  ".join(f"{key} {does}" for _, key, does in keys)
