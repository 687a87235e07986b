"""The example on the page about durable flows runs as it stands there."""

import os
import re
import threading
from pathlib import Path

import pytest

from assent.client.client import Client
from assent.client.connect import open_hub
from assent.protocol.principal import Principal, Role
from tests.patience import PATIENCE

__all__: list[str] = []

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "durable-flows.md"


def test_example_of_durable_flows_asks_and_writes_the_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Answered from another client, and run a second time it only returns."""
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / ".assent").mkdir()
    monkeypatch.chdir(tmp_path)
    with Client(
        open_hub(tmp_path / ".assent" / "assent.db", os.environ), tmp_path.name, Principal(Role.HUMAN, "ana")
    ) as ana:
        running = threading.Thread(target=exec, args=(example, {}))
        with ana.hub.follow(ana.project, 0) as feed:
            running.start()
            while ana.count() == 0:
                assert feed.wait(PATIENCE)
        ana.answer(ana.inbox()[0].ask_id, "SQLite")
        running.join(PATIENCE)
        exec(example, {})
    assert capsys.readouterr().out == "SQLite\nSQLite\n"
    assert (tmp_path / "plan.md").read_text() == "Database: SQLite\n"
