"""Debounce guard: the one place that decides whether a key may act.

Rule 1: a key acts 0.4 s after the screen under it was drawn and after the key before it, whichever is later. So nobody
        who types on, and no text that is pasted as keys, marks or sends anything.
Rule 2: after a field went away under somebody's hands no key acts before Esc and a quiet second.
Rule 3: a key of no text, such as F2, may follow the letters of its own field at once.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["BEAT_SECONDS", "QUIET_SECONDS", "KeyGuard"]

BEAT_SECONDS = 0.4
"""So long no key counts after an ask was drawn, and after another key."""
QUIET_SECONDS = 1.0
"""So long no key counts after somebody left a field whose words could not be sent any more."""


class KeyGuard:
    """Says whether the key that is being handled may act."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._drawn_at = self._key_at = clock()
        self._wanted = BEAT_SECONDS
        self.is_held = False
        """A field went away under somebody's hands: only Esc counts."""
        self.may_act = False
        """The key that came last may act."""

    def is_quiet(self, at: float | None = None) -> bool:
        """Say whether a key that came now, or at that moment, may act."""
        now = self._clock() if at is None else at
        return not self.is_held and now - max(self._drawn_at, self._key_at) >= self._wanted

    def take_key(self, at: float | None = None, *, is_text: bool = True) -> None:
        """Decide on a key that came now, or at that moment; one of no text may follow letters at once."""
        now = self._clock() if at is None else at
        is_drawn = not self.is_held and now - self._drawn_at >= self._wanted
        self.may_act = self.is_quiet(now) if is_text else is_drawn
        self._key_at = max(self._key_at, now)
        if self.may_act:
            self._wanted = BEAT_SECONDS

    def begin(self, seconds: float = BEAT_SECONDS) -> None:
        """Begin the beat anew: the screen is another, or somebody has just come back to it."""
        self._drawn_at = self._clock()
        self._wanted = max(seconds, self._wanted)

    def hold(self) -> None:
        """Let no key act before Esc: somebody may still be typing into a field that is gone."""
        self.is_held = True

    def release(self) -> None:
        """Let keys act again after a quiet second."""
        self.is_held = False
        self.begin(QUIET_SECONDS)
