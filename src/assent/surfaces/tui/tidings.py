"""What a sitting is told: what the stores say, and what became of what was sent.

Rule 1: news never move the ask or the run that is open; an ask that has ended stays so.
Rule 2: what was learned of an ask is never replaced by something older.
Rule 3: an answer that counted is this person's own, even where nobody said so in time.
"""

from __future__ import annotations

from datetime import datetime

from assent.protocol.ask import Ask, State
from assent.surfaces.board import BoardRun
from assent.surfaces.card import render_headline
from assent.surfaces.tui.reply import CHANGES
from assent.surfaces.tui.tray import Tray
from assent.surfaces.tui.view import Fate, Mode, RunDetail, Snapshot
from assent.surfaces.tui.wish import Send

__all__ = ["Tidings"]


class Tidings:
    """Takes news into the tray."""

    def __init__(self, tray: Tray) -> None:
        self._tray = tray
        self._has_looked = False

    def take(self, snapshot: Snapshot, now: datetime) -> bool:
        """Take in what the stores say; return whether something has come since the last time."""
        tray = self._tray
        fresh: dict[str, Ask] = {ask.ask_id: ask for ask in snapshot.asks if self._is_news(ask)}
        is_new = self._has_looked and any(ask_id not in tray.asks for ask_id in fresh)
        self._has_looked = True
        tray.asks |= fresh
        chosen = tray.view.run
        tray.change(
            runs=snapshot.runs,
            stores=snapshot.stores,
            troubles=snapshot.troubles,
            who=snapshot.who or tray.view.who,
            now=now,
            offline_since=None,
            # Why nothing was sent is of no use once it can be.
            problem="" if tray.view.offline_since is not None else tray.view.problem,
        )
        if chosen is not None:
            self._follow_run(chosen)
        tray.sort()
        return is_new

    def _is_news(self, ask: Ask) -> bool:
        # Looking takes a while: what was learned meanwhile is newer, and what has ended never waits again.
        known = self._tray.asks.get(ask.ask_id)
        return known is None or (known.is_open and ask.sequence >= known.sequence)

    def _follow_run(self, chosen: BoardRun) -> None:
        tray = self._tray
        keys = [_run_key(seen) for seen in tray.view.runs]
        if _run_key(chosen) in keys:
            tray.change(run_at=keys.index(_run_key(chosen)))
            return
        tray.change(run_at=max(0, min(tray.view.run_at, len(keys) - 1)))
        if tray.view.mode in (Mode.RUNS, Mode.RUN):  # another run is under the keys now
            tray.change(mode=Mode.RUNS, top=0, detail=RunDetail(), problem="That run is not there any more.")
            tray.arm()

    def gone(self, snapshot: Snapshot) -> list[Ask]:
        """Return the asks that were open here and are not among those that wait: how they ended is to be asked for."""
        waiting = {ask.ask_id for ask in snapshot.asks}
        return [ask for ask in list(self._tray.asks.values()) if ask.is_open and ask.ask_id not in waiting]

    def learn(self, ask: Ask, fate: Fate | None) -> None:
        """Take in one ask as it is now, and what became of the answer that was sent from here."""
        tray = self._tray
        if self._is_news(ask):
            tray.asks[ask.ask_id] = ask
        if fate is not None:
            sent = tray.sent.pop(ask.ask_id, None)
            # The answer may have counted though nobody said so: then it is not somebody else who was first.
            fate = Fate.MINE if sent is not None and _is_same(sent, ask, tray.view.who) else fate
            tray.change(fates={**tray.view.fates, ask.ask_id: fate}, sending=tray.view.current in tray.sent)
            if fate is Fate.MINE and not ask.is_open:
                tray.drafts.drop(ask.ask_id)
                tray.reasons.pop(ask.ask_id, None)
        tray.sort()

    def refuse(self, sentence: str, ask_id: str) -> None:
        """Show why something was refused; with an ask's id, why its answer was: it can be sent again."""
        tray = self._tray
        sent = tray.sent.pop(ask_id, None)
        if sent is not None and ask_id != tray.view.current:
            sentence = f"{render_headline(sent.ask)}: {sentence}"
        tray.change(problem=sentence, sending=tray.view.current in tray.sent)


def _run_key(seen: BoardRun) -> tuple[str, str]:
    return seen.run.project, seen.run.run_id


def _is_same(sent: Send, ask: Ask, who: str) -> bool:
    """Say whether an ask ended as this person wanted it to, and by them."""
    ended = ask.answer or ask.outcome
    if ended is None or ended.by.partition(":")[2] != who:
        return False
    if sent.reply is None:
        return ask.state is State.DECLINED
    if ask.answer is None:
        return False
    if sent.values is None:
        return ask.answer.text.strip() == sent.text
    given = {name: [text.removeprefix(CHANGES) for text in texts] for name, texts in sent.values.items()}
    return {name: list(values) for name, values in ask.answer.values.items()} == given
