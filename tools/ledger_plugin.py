"""The ledger's eyes inside pytest: which tests claim what, and how each test ended.

Loaded with `-p tools.ledger_plugin`; writes one JSON object to the file that `ASSENT_LEDGER_FILE` names:
`claims` (test to ids), `places` (test to file, class names and function name), `outcomes` (test to the
worst of its phases) and `broken` (what could not be collected, with its message).
Judges nothing; `tools/ledger.py` does.
"""

import json
import os
from pathlib import Path

import pytest

__all__ = ["FILE_VARIABLE", "pytest_configure"]

FILE_VARIABLE = "ASSENT_LEDGER_FILE"
_WORST_LAST = ("passed", "skipped", "failed")


def pytest_configure(config: pytest.Config) -> None:
    """Watch this run, unless it is a worker of one: workers report to the run that is watched."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Watcher(Path(os.environ[FILE_VARIABLE])))


class _Watcher:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.claims: dict[str, list[str]] = {}
        self.places: dict[str, list[str]] = {}
        self.outcomes: dict[str, str] = {}
        self.broken: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken[report.nodeid] = report.longreprtext

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            marks = list(item.iter_markers("proves"))
            if marks:
                self.claims[item.nodeid] = sorted({str(name) for mark in marks for name in mark.args})
                self.places[item.nodeid] = _place(item)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # An expected failure reports itself as skipped: it shows that the requirement does not hold.
        before = self.outcomes.get(report.nodeid, "passed")
        self.outcomes[report.nodeid] = max(before, report.outcome, key=_WORST_LAST.index)

    def pytest_sessionfinish(self) -> None:
        self.file.write_text(
            json.dumps(
                {
                    "claims": self.claims,
                    "places": self.places,
                    "outcomes": self.outcomes,
                    "broken": self.broken,
                }
            )
        )


def _place(item: pytest.Item) -> list[str]:
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return [str(item.path), *classes, getattr(item, "originalname", None) or item.name]
