"""A project that somebody else has for long keeps nobody but those who want it."""

from datetime import timedelta

import psycopg
import pytest

from assent.client.client import Client
from assent.hub.compose import hub_on_database
from assent.protocol.error import Expired
from assent.protocol.principal import Principal, Role
from tests.patience import PATIENCE

__all__: list[str] = []


def test_deadline_passes_while_the_head_of_another_project_is_held(database: str) -> None:
    """Who waits there is told in time, however long the other one is held."""
    hub = hub_on_database(database)
    agent = Principal(Role.AGENT, "coder")
    try:
        held, free = Client(hub, "a", agent), Client(hub, "b", agent)
        held.open("Ship it?", ["yes", "no"], deadline=timedelta(seconds=1), consequence="deny")
        waiting = free.open("Ship it?", ["yes", "no"], deadline=timedelta(seconds=1), consequence="deny")
        with psycopg.connect(database) as other:
            other.execute("SELECT 1 FROM assent.projects WHERE project = 'a' FOR UPDATE")
            with pytest.raises(Expired) as told:
                waiting.value(PATIENCE)
        assert told.value.ask is not None
    finally:
        hub.close()
