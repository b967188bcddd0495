"""Pytest options and the mark `proves`, for docs/conformance.md.

`--proofs FILE` keeps what this run has shown, `--conformance PAGE` writes the page from it and
from the other files beside FILE, and fails the run where a rule has no proof.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.conformance.page import page, unproven
from tests.conformance.proofs import Proofs
from tests.conformance.rules import rules
from tests.conformance.witness import ran_on

_PROVES, _ON = "proves", "ran on"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--proofs", type=Path, metavar="FILE", help="keep what this run has shown")
    group.addoption(
        "--conformance", type=Path, metavar="PAGE", help="write the page; needs --proofs"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "proves(*rules): shows that these rules hold")
    # Only the process that sees every report, not a worker of xdist.
    if config.option.proofs is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Collector(config), "conformance")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if unknown := [rule for rule in _rules_of(item) if rule not in rules()]:
            raise pytest.UsageError(f"{item.nodeid} proves {unknown}, of which no rule is named")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    holds = call.when == "call" and report.passed and not hasattr(report, "wasxfail")
    if holds and (proven := _rules_of(item)):
        report.user_properties += [(_PROVES, proven), (_ON, sorted(ran_on(item)))]
    return report


def _rules_of(item: pytest.Item) -> list[str]:
    return sorted({rule for mark in item.iter_markers(_PROVES) for rule in mark.args})


class _Collector:
    """Gathers what reports say and writes it at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self.file: Path = config.option.proofs
        self.page: Path | None = config.option.conformance
        self.proofs = Proofs()
        self.told: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        said = dict(report.user_properties)
        for rule in said.get(_PROVES, ()):
            self.proofs.add(rule, report.nodeid, said[_ON])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.proofs.write(self.file)
        if self.page is None:
            return
        for other in self.file.parent.glob("*.json"):
            self.proofs.join(Proofs.read(other))
        text = page(self.proofs)
        was = self.page.read_text(encoding="utf-8") if self.page.exists() else ""
        if text != was:
            self.page.write_text(text, encoding="utf-8")
            self.told.append(f"{self.page} has changed: commit it")
        if missing := unproven(self.proofs):
            self.told.append(f"no passing test proves: {', '.join(missing)}")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        else:
            self.told.append(f"{len(rules())} rules, each proven")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.told:
            terminalreporter.write_line(f"conformance: {line}")
