"""What a caller holds while its command is on its way."""

import threading

import pytest

from assent.hub.future import LightFuture
from assent.protocol.error import StoreBusyError
from tests.patience import PATIENCE

__all__: list[str] = []


@pytest.mark.parametrize("error", [None, StoreBusyError()])
def test_result_that_is_not_there_yet_is_waited_for(error: StoreBusyError | None) -> None:
    """Nothing passes for a reply before there is one: an ask that may still fail must not look saved."""
    future: LightFuture[str] = LightFuture()
    got: list[object] = []

    def read() -> None:
        try:
            got.append(future.result())
        except StoreBusyError as refusal:
            got.append(refusal)

    reader = threading.Thread(target=read)
    reader.start()
    reader.join(0.05)
    assert (reader.is_alive(), got) == (True, [])
    future.set("saved" if error is None else None, error)
    reader.join(PATIENCE)
    assert got == [error or "saved"]
