"""The ledger inside pytest: a whole run of the suite ends with what it proved, and fails where a claim cannot stand.

`tests/conftest.py` loads it. Claims travel with the reports of the tests, so they arrive from the processes of a pool,
too. A narrowed run says nothing and judges nothing. What a whole run saw is kept in pytest's cache, for `make ledger`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.ledger import Report, Verdict, judge, summary

__all__ = ["pytest_configure"]

KEPT = "assent/ledger"
_CLAIM = "proves"
_WORST_LAST = ("passed", "skipped", "failed")
_NARROWING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "collectonly")


def pytest_configure(config: pytest.Config) -> None:
    """Watch this run."""
    config.pluginmanager.register(_Claims())
    config.pluginmanager.register(_Ledger(config))


class _Claims:
    """Puts what a test claims, and where the test stands, into its reports."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            marks = list(item.iter_markers(_CLAIM))
            if marks:
                ids = sorted({str(name) for mark in marks for name in mark.args})
                item.user_properties.append((_CLAIM, [ids, _place(item)]))


class _Ledger:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._report = Report({}, {}, {})
        self._verdict: Verdict | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            self._note(item.nodeid, item.user_properties)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report.nodeid, report.user_properties)
        # An expected failure reports itself as skipped: it shows that the requirement does not hold.
        before = self._report.outcomes.get(report.nodeid, "passed")
        self._report.outcomes[report.nodeid] = max(before, report.outcome, key=_WORST_LAST.index)

    def _note(self, test: str, properties: list[tuple[str, Any]]) -> None:
        for name, value in properties:
            if name == _CLAIM:
                self._report.claims[test], self._report.places[test] = value

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        cache = getattr(self._config, "cache", None)
        if self._config.option.collectonly and cache is not None:
            cache.set(f"{KEPT}-claims", self._report.as_json())
        if exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not self._is_whole():
            return
        self._verdict = judge(self._report)
        if cache is not None:
            cache.set(KEPT, self._report.as_json())
        if self._verdict.faults:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _is_whole(self) -> bool:
        config = self._config
        named = {Path(config.invocation_params.dir, each).resolve() for each in config.args}
        whole = {(config.rootpath / each).resolve() for each in config.getini("testpaths")}
        return named == whole and not any(getattr(config.option, name, None) for name in _NARROWING)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._verdict is not None:
            terminalreporter.section("requirements", sep="-")
            for line in [
                *summary(self._verdict.proven),
                *(f"ledger: {each}" for each in self._verdict.faults),
            ]:
                terminalreporter.line(line)


def _place(item: pytest.Item) -> list[str]:
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return [str(item.path), *classes, getattr(item, "originalname", None) or item.name]
