"""What the tests of messages start from."""

from collections.abc import Iterator

import pytest

from assent.testing import FakeClock, throwaway
from tests.samples import NOON
from tests.surfaces.notify.mail_sink import Letterbox, mail_sink
from tests.surfaces.notify.office import Office
from tests.surfaces.notify.sink import CERTIFICATE, Sink, sink
from tests.surfaces.notify.slack_double import SlackDouble, slack_double

__all__ = ["http", "letterbox", "office", "slack", "trust"]


@pytest.fixture
def office() -> Iterator[Office]:
    """Give a store at noon, and nobody who is told of anything."""
    clock = FakeClock(NOON)
    with throwaway(project="shop", clock=clock) as store:
        yield Office(store, clock)


@pytest.fixture
def http() -> Iterator[Sink]:
    """Give somebody who takes what is sent over HTTP."""
    with sink() as made:
        yield made


@pytest.fixture
def slack() -> Iterator[SlackDouble]:
    """Give a Slack."""
    with slack_double() as made:
        yield made


@pytest.fixture
def letterbox() -> Iterator[Letterbox]:
    """Give a mail server without TLS."""
    with mail_sink() as made:
        yield made


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Believe the certificate of this machine's servers."""
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
