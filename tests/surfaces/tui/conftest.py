"""Tests of the terminal inbox are in UTC: what it shows is the reader's own time."""

import time
from collections.abc import Iterator

import pytest

__all__: list[str] = []


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Live in UTC for a test."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()
