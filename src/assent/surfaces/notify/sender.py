"""The sender: takes what is due from the outbox, and has it carried.

Rule 1: any number of senders may run, in any number of processes: the outbox gives each target to one of them at a time.
Rule 2: what a message says is delivered in order. A target that fails is tried again after growing pauses, and holds up
        nobody else; a message that fails `MOST_TRIES` times is given up, and the log says so.
Rule 3: an error of ours never ends the sender: the next look finds the same message again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import msgspec

from assent.client.door import Following
from assent.client.outbox import Claim, Due, Outbox
from assent.protocol.error import AssentError, StoreError
from assent.protocol.target import Notice
from assent.surfaces.notify.carrier import Carrier
from assent.surfaces.notify.delivery import DeliveryError, Parcel
from assent.surfaces.notify.letter import write_letter

__all__ = ["FIRST_PAUSE_SECONDS", "LONGEST_PAUSE_SECONDS", "MOST_TRIES", "Counts", "Sender", "pause_after"]

MOST_TRIES = 10
"""So often a message is tried, over about half an hour."""
FIRST_PAUSE_SECONDS = 5.0
LONGEST_PAUSE_SECONDS = 600.0
_AT_ONCE = 4
"""So many targets are told at the same time."""
_LOOK_SECONDS = 5.0
_AGAIN_SECONDS = 1.0
_FRESH_SECONDS = 10.0
"""After so long since the last word from the store, the claim is made sure of before anything is sent."""

_log = logging.getLogger("assent.notify")


def pause_after(attempts: int) -> float:
    """Return how long to wait after so many failures in a row.

    >>> [pause_after(number) for number in (1, 2, 3, 20)]
    [5.0, 10.0, 20.0, 600.0]
    """
    return min(FIRST_PAUSE_SECONDS * (1 << min(attempts - 1, 20)), LONGEST_PAUSE_SECONDS)


class Counts(msgspec.Struct):
    """What came of it, in this process."""

    delivered: int = 0
    failed: int = 0
    """Tries that did not get through."""
    given_up: int = 0


class Sender:
    """Delivers what is due, until it is stopped."""

    def __init__(
        self,
        outbox: Outbox,
        now: Callable[[], datetime],
        carry: Carrier,
        *,
        url: str = "",
        smtp: str = "",
        pause: Callable[[int], float] = pause_after,
        most_tries: int = MOST_TRIES,
    ) -> None:
        self._outbox, self._now, self._url, self._smtp = outbox, now, url, smtp
        self._carry, self._pause, self._most_tries = carry, pause, most_tries
        self._is_stopping = threading.Event()
        self._feed: Following[Due] | None = None
        self._counting = threading.Lock()
        self.counts = Counts()

    def run(self) -> None:
        """Deliver until `stop`, from a thread of its own."""
        with ThreadPoolExecutor(_AT_ONCE, "assent-notify") as pool, self._outbox.follow() as feed:
            self._feed = feed
            while not self._is_stopping.is_set():
                try:
                    self._outbox.tick()
                    for due in feed.wait(_LOOK_SECONDS):
                        # Claimed here and not by whoever works on it: what is claimed is not due any more.
                        claim = self._outbox.claim(due.project, due.name)
                        if claim is not None:
                            pool.submit(self._work, claim, time.monotonic())
                except StoreError as error:
                    _log.warning("the outbox cannot be read: %s", error.code)
                    self._is_stopping.wait(_AGAIN_SECONDS)
                except Exception as error:  # noqa: BLE001 - rule 3; its text may have a secret in it
                    _log.error("the outbox cannot be read: %s", type(error).__name__)
                    self._is_stopping.wait(_AGAIN_SECONDS)

    def stop(self) -> None:
        """End `run` once what is being sent was sent."""
        self._is_stopping.set()
        feed = self._feed
        if feed is not None:
            feed.close()

    def send_due(self) -> int:
        """Deliver what is due now, on this thread; return how many targets had something."""
        found = 0
        for due in self._outbox.due():
            claim = self._outbox.claim(due.project, due.name)
            if claim is not None:
                found += 1
                self._work(claim, time.monotonic())
        return found

    def _work(self, claim: Claim, heard: float) -> None:
        """Deliver all that a target is to be told; `heard` is when the store last said that it is ours."""
        try:
            self._deliver_all(claim, heard)
        except StoreError as error:
            # The claim ends by itself, and whoever comes next finds the same message.
            _log.warning("%s: the outbox cannot be written: %s", claim.target.name, error.code)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others go on; its text may have a secret in it
            _log.error("%s: the sender failed with %s", claim.target.name, type(error).__name__)

    def _deliver_all(self, claim: Claim, heard: float) -> None:
        while not self._is_stopping.is_set():
            claim, notice = self._outbox.next_notice(claim)
            if notice is None:
                self._outbox.let_go(claim)
                return
            if time.monotonic() - heard > _FRESH_SECONDS and not self._outbox.keep(claim):
                return
            behind = self._deliver_one(claim, notice)
            if behind is None:
                return
            claim, heard = behind, time.monotonic()
        self._outbox.leave(claim)

    def _deliver_one(self, claim: Claim, notice: Notice) -> Claim | None:
        """Deliver one message; return the claim behind it, None where it is no longer ours."""
        letter = write_letter(notice, self._url)
        parcel = Parcel(claim.target, claim.secret, notice, letter, self._now(), self._smtp)
        try:
            reference = self._carry(parcel)
        except AssentError as error:
            return self._fail(claim, notice, error)
        except Exception as error:  # noqa: BLE001 - a service's library may raise anything, with the address in it
            return self._fail(claim, notice, AssentError(f"It failed with {type(error).__name__}."))
        moved = self._outbox.delivered(claim, notice, reference)
        if moved is not None:
            self._count("delivered")
        return moved

    def _fail(self, claim: Claim, notice: Notice, error: AssentError) -> Claim | None:
        self._count("failed")
        attempts = claim.delivery.attempts + 1
        is_gone = isinstance(error, DeliveryError) and error.is_gone
        if is_gone or attempts >= self._most_tries:
            self._count("given_up")
            return self._outbox.give_up(claim, notice, error.message, is_gone=is_gone)
        wanted = error.retry_seconds if isinstance(error, DeliveryError) else 0.0
        self._outbox.put_off(claim, max(self._pause(attempts), wanted), error.message)
        return None

    def _count(self, what: str) -> None:
        with self._counting:
            setattr(self.counts, what, getattr(self.counts, what) + 1)
