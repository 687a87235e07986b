"""The part of the desk that keeps the tail of a run's output.

Rule 1: only the driver that has the present fence hands output on; what a dead one had still to say is refused.
Rule 2: a run that has ended still takes its driver's last words: they are what people look for.
"""

from __future__ import annotations

from assent.engine.stamp import Stamp
from assent.hub.command import TellOutput
from assent.protocol.error import BadRequestError, NotFoundError, RunTakenError
from assent.protocol.tail import MAX_TAIL_BYTES, MAX_WRITTEN_BYTES, Tail, grow, tail_of
from assent.storage.port import Head, Transaction

__all__ = ["tell_output"]


def tell_output(transaction: Transaction, head: Head, request: TellOutput, stamp: Stamp) -> Tail:
    """Keep what a run's command printed; return how much there is now.

    Raises:
        NotFoundError: there is no such run.
        RunTakenError: another driver has it now.
        BadRequestError: it is more than is taken at once, or cannot be counted.
    """
    run = transaction.run(head.project, request.run_id)
    if run is None:
        raise NotFoundError(f"There is no run {request.run_id} here.")
    if run.fence != request.fence:
        raise RunTakenError(f"{run.driver or 'Another process'} drives {run.run_id} now.")
    if len(request.text) > MAX_TAIL_BYTES:
        raise BadRequestError(f"At most {MAX_TAIL_BYTES:,} bytes of output are taken at once.")
    known = transaction.tail(head, request.run_id)
    if known is None or known.command_id != stamp.command_id:
        kept = grow(known, request.text, request.skipped, stamp.at, stamp.command_id)
        if request.skipped < 0 or kept.written > MAX_WRITTEN_BYTES:
            raise BadRequestError(f"An output has 0 to {MAX_WRITTEN_BYTES:,} bytes.")
        transaction.put_tail(head, request.run_id, kept)
        known = kept
    return tail_of(known, known.written)
