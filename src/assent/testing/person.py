"""A person who answers by script, on a thread of their own, as somebody at another screen would.

They follow the feed: an ask is seen when it is committed and not before. On a `FakeClock` the delays of the script
are its time; otherwise they are real time.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from heapq import heappop, heappush
from typing import Self

from assent.client.client import Client
from assent.hub.feed import Feed
from assent.protocol.ask import Ask
from assent.protocol.error import AssentError, UnrecognisedError
from assent.storage.port import Record
from assent.testing.clock import FakeClock
from assent.testing.script import Line, Match, Move, Reply, ScriptError, matches

__all__ = ["ScriptedPerson"]

_PATIENCE_SECONDS = 10.0
"""No test waits longer for a scripted person to look."""
_WHILE = 3_600.0


class ScriptedPerson:
    """Answers the asks of a client's project by script.

    Each line serves one ask: the first line that fits and is unused. A reply that is not recognised leaves the ask
    open, so the next line that fits has its turn. What no line fits stays open. Asks that ended before this person
    came are of no interest; one that somebody else ends first gets them a conflict.

    >>> from assent.testing import throwaway
    >>> with throwaway() as store, store.scripted_person() as ana:
    ...     ana.will_answer_wrongly("Which database?", "nonsense").will_answer("Which database?", "SQLite")
    ...     store.agent().ask("Which database?", ["PostgreSQL", "SQLite"], wait=10)
    ScriptedPerson(human:ana)
    'SQLite'
    >>> [refusal.code for refusal in ana.refused]
    ['unrecognised']

    Leaving the block raises `ScriptError` when a line was never used, unless `strict` is off.
    """

    def __init__(self, client: Client, *, strict: bool = True) -> None:
        self.client = client
        self.strict = strict
        self.seen: list[Ask] = []
        """Every ask that was shown, as it was then."""
        self.given: list[Ask] = []
        """Every ask that this person ended, as it was right after."""
        self.refused: list[AssentError] = []
        """Why the other replies did not count."""
        self._script: list[Line] = []
        self._waiting: list[Ask] = []
        self._plans: list[tuple[int, int, Line, Ask]] = []
        self._planned = 0
        self._news = threading.Condition()
        self._feed: Feed[Record] | None = None
        self._thread: threading.Thread | None = None
        self._cursor = 0
        self._came_at = 0
        self._is_over = False
        self._failure: BaseException | None = None

    # The script

    def will_answer(self, match: Match, reply: Reply, *, after: float | timedelta = 0) -> Self:
        """Answer the next ask that fits; `after` the deadline it is too late, and refused."""
        return self._will(Line(Move.ANSWER, match, reply, after=_microseconds(after)))

    def will_answer_wrongly(self, match: Match, reply: Reply, *, after: float | timedelta = 0) -> Self:
        """Send a reply that must not be recognised; the ask then waits for the next line that fits."""
        return self._will(Line(Move.ANSWER_WRONGLY, match, reply, after=_microseconds(after)))

    def will_decline(self, match: Match, reason: str = "", *, after: float | timedelta = 0) -> Self:
        """Say no to being asked."""
        return self._will(Line(Move.DECLINE, match, reason=reason, after=_microseconds(after)))

    def will_ignore(self, match: Match) -> Self:
        """Look at an ask and do nothing about it, ever."""
        return self._will(Line(Move.IGNORE, match))

    def _will(self, line: Line) -> Self:
        with self._news:
            self._script.append(line)
            if self._feed is not None:
                self._assign()
                self.act()
        return self

    # What a clock needs

    def catch_up(self) -> None:
        """Return when everything that the log holds now has been looked at.

        Raises:
            ScriptError: that takes too long.
        """
        if self._feed is None or threading.current_thread() is self._thread:
            return
        with self.client.hub.store.reading() as reader:
            head = reader.head_sequence(self.client.project)
        with self._news:
            self._news.wait_for(lambda: self._cursor >= head or self._failure is not None, _PATIENCE_SECONDS)
            if self._failure is not None:
                raise self._failure
            if self._cursor < head:
                raise ScriptError(f"{self} saw nothing of the last {head - self._cursor} events.")

    def next_due(self) -> int | None:
        """Return the moment of the next planned reply."""
        with self._news:
            return self._plans[0][0] if self._plans else None

    def act(self) -> None:
        """Do what is planned up to now."""
        with self._news:
            while self._plans and self._plans[0][0] <= self.client.hub.clock.now():
                _, _, line, ask = heappop(self._plans)
                self._perform(line, ask)

    # The thread

    def __enter__(self) -> Self:
        self._is_over = False
        with self.client.hub.store.reading() as reader:
            self._came_at = reader.head_sequence(self.client.project)
        self._feed = self.client.hub.follow(self.client.project, self._cursor)
        if isinstance(self.client.hub.clock, FakeClock):
            self.client.hub.clock.plan(self)
        self._thread = threading.Thread(target=self._run, args=(self._feed,), daemon=True, name=str(self))
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.catch_up()
        finally:
            self._leave()
        if kind is None and self._failure is not None:
            raise self._failure
        with self._news:
            left = [*self._script, *(line for _, _, line, _ in self._plans)]
        if kind is None and self.strict and left:
            raise ScriptError(f"{self} never came to: {'; '.join(map(str, left))}.")

    def _leave(self) -> None:
        clock, feed, thread = self.client.hub.clock, self._feed, self._thread
        if isinstance(clock, FakeClock):
            clock.forget(self)
        if feed is not None and thread is not None:
            self._is_over = True
            feed.close()
            thread.join(_PATIENCE_SECONDS)
        self._feed = None

    def _run(self, feed: Feed[Record]) -> None:
        try:
            while not self._is_over:
                records = feed.wait(self._until_next())
                with self._news:
                    for record in records:
                        self._look(record)
                    self._assign()
                    self.act()
                    self._cursor = feed.cursor
                    self._news.notify_all()
        except BaseException as failure:  # noqa: BLE001 - it is raised again where the test can see it
            with self._news:
                self._failure = failure
                self._news.notify_all()

    def _until_next(self) -> float:
        due = self.next_due()
        if due is None or isinstance(self.client.hub.clock, FakeClock):
            return _WHILE
        return max(0.0, (due - self.client.hub.clock.now()) / 1e6)

    def _look(self, record: Record) -> None:
        if record.type != "ask.opened":
            return
        ask = self.client.show(record.subject)
        self.seen.append(ask)
        # What was asked in this block is theirs also when somebody else has already ended it: they come too late.
        if ask.is_open or record.sequence > self._came_at:
            self._waiting.append(ask)

    def _assign(self) -> None:
        """Give every ask that waits the first unused line that fits it."""
        for ask in list(self._waiting):
            line = next((line for line in self._script if matches(line.match, ask)), None)
            if line is None:
                continue
            self._script.remove(line)
            self._waiting.remove(ask)
            if line.move is not Move.IGNORE:
                self._planned += 1
                due = self.client.hub.clock.now() + line.after
                heappush(self._plans, (due, self._planned, line, ask))

    def _perform(self, line: Line, ask: Ask) -> None:
        try:
            if line.move is Move.DECLINE:
                ended = self.client.decline(ask.ask_id, line.reason)
            else:
                ended = self.client.answer(
                    ask.ask_id, line.reply(ask) if callable(line.reply) else line.reply
                )
        except AssentError as refusal:
            self.refused.append(refusal)
            if isinstance(refusal, UnrecognisedError):
                self._waiting.append(ask)
                self._assign()
            return
        self.given.append(ended)
        if line.move is Move.ANSWER_WRONGLY:
            raise ScriptError(f"{self} should have been refused, but the reply was taken: {line}.")

    def __repr__(self) -> str:
        return f"ScriptedPerson({self.client.principal})"


def _microseconds(span: float | timedelta) -> int:
    given = span if isinstance(span, timedelta) else timedelta(seconds=span)
    return given // timedelta(microseconds=1)
