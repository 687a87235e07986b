"""Logs and topics of some forty stories, byte for byte, on both stores: what is stored does not change by accident.

Each story has its log in `logs/`. After a change of what is stored, which must be meant: python -m tests.golden
"""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from assent.hub.record import Recorded
from tests.golden import asks, runs, work
from tests.golden.stage import Stage, set_stage

__all__ = ["LOGS", "STORIES"]

LOGS = Path(__file__).parent / "logs"
STORIES: tuple[Callable[[Stage], None], ...] = (*asks.STORIES, *runs.STORIES, *work.STORIES)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_log_of_a_story_is_as_it_always_was(
    request: pytest.FixtureRequest, story: Callable[[Stage], None], kind: str
) -> None:
    """The bodies, their order, their moments, who is named in them, and the end of the chain; the rows fit them."""
    database = request.getfixturevalue("database") if kind == "postgres" else None
    with set_stage(database) as stage:
        story(stage)
        assert stage.log() == (LOGS / f"{story.__name__}.jsonl").read_text().splitlines()
        assert stage.ana.verify().problems == ()


def test_logs_are_of_the_stories_and_hold_every_event() -> None:
    """None is left behind by a story that went, and none of the events that the product writes is in no story."""
    assert {path.stem for path in LOGS.iterdir()} == {story.__name__ for story in STORIES}
    lines = [line for path in LOGS.iterdir() for line in path.read_text().splitlines()[:-1]]
    assert {msgspec.json.decode(line)[2] for line in lines} == {
        each.__struct_config__.tag for each in get_args(Recorded)
    }
