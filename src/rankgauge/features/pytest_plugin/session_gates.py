"""
The session: gathers what all tests logged, in other processes too, judges it once, and reports.

Tests pass their samples on in the report of their teardown, which pytest-xdist sends to the controller like any other
report. So there is one way with and without it, and a worker that crashes loses nothing that it reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted
from rankgauge.features.pytest_plugin.logged_gates import Judgment, Scoring, column_line, worst_lines
from rankgauge.gates.outcomes import outcome_line
from rankgauge.io.whole_files import replace_file
from rankgauge.report.json import SCHEMA_VERSION, per_sample_jsonl, summary

if TYPE_CHECKING:
    from rankgauge.gates.asked import Asked

__all__ = ["ATTRIBUTE", "Session"]

ATTRIBUTE = "rankgauge_logged"
"""The attribute of a test's report that holds its samples."""


class Session:
    """A pytest plugin for one session, registered where samples are gathered: never on a worker."""

    def __init__(self, scoring: Scoring, asked: Asked, json_path: Path | None) -> None:
        self._asked = asked
        self._scoring = scoring
        self._json_path = json_path
        self._tests: dict[str, dict[str, Any]] = {}
        self._records: list[dict[str, Any]] = []
        self._owners: dict[str, str] = {}
        self._judgment: Judgment | None = None
        self._remarks: list[tuple[str, bool]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test logged; a test that runs again replaces its samples."""
        payload = getattr(report, ATTRIBUTE, None)
        if payload is not None:
            self._tests[report.nodeid] = json.loads(payload)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge what was logged, write the report, and fail the session when a gate is missed."""
        if session.config.option.collectonly:
            return
        if exitstatus in {pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR}:
            self._remarks.append(("the session was stopped, so its gates were not judged", True))
            return
        self._gather()
        asked = self._everything()
        self._judgment = self._scoring.judge(self._records, asked)
        if not asked.specs:
            self._remarks.append(("no metric was asked for; give one with --rankgauge-metric or --rankgauge-min", True))
        ok = not self._judgment.failed
        if self._json_path is not None:
            ok = self._write(self._json_path) and ok
        if not ok and exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the session's metrics and gates."""
        if self._judgment is None and not self._remarks:
            return
        terminalreporter.section("rankgauge")
        if self._judgment is not None:
            self._tell(terminalreporter, self._judgment)
        for remark, is_bad in self._remarks:
            terminalreporter.line(remark, red=is_bad)

    def _gather(self) -> None:
        """Put all samples into one dataset; an id that several tests logged gets the test's name."""
        ids = [{sample["id"] for sample in logged["samples"]} for logged in self._tests.values()]
        times = Counter(sample_id for of_test in ids for sample_id in of_test)
        for test in sorted(self._tests):  # reports of several workers come in any order
            for sample in self._tests[test]["samples"]:
                sample_id = sample["id"] if times[sample["id"]] == 1 else f"{sample['id']} [{test}]"
                self._records.append({**sample, "id": sample_id})
                self._owners[sample_id] = test

    def _everything(self) -> Asked:
        """Return the session's metrics with those of its tests."""
        asked = self._asked
        known = {json.dumps(spec, sort_keys=True, default=repr) for spec in asked.specs}
        for test in sorted(self._tests):
            for spec in self._tests[test]["metrics"]:
                key = json.dumps(spec, sort_keys=True)
                if key not in known:
                    known.add(key)
                    asked = asked._replace(specs=(*asked.specs, spec))
        return asked

    def _tell(self, reporter: pytest.TerminalReporter, judgment: Judgment) -> None:
        def tell(line: str, **style: bool) -> None:
            reporter.line(visible(line), **style)

        tests = sum(bool(logged["samples"]) for logged in self._tests.values())
        logged_by = f"logged by {counted(tests, 'test')}" if tests else "logged"
        tell(f"{counted(len(self._owners), 'sample')} {logged_by}")
        for outcome in judgment.outcomes:
            is_bad = outcome.status in {"failed", "error"}
            tell(outcome_line(outcome), red=is_bad, green=outcome.status == "passed")
            for line in worst_lines(outcome, judgment, self._owners):
                tell(f"    {line}")
        gated = {outcome.gate.metric for outcome in judgment.outcomes}
        result = judgment.result
        lines = [(name, column_line(column)) for name, column in result.metrics.items()] if result is not None else []
        lines += [(name, f"       {name}: no value: {problem}") for name, problem in judgment.problems.items()]
        for name, line in lines:
            if name not in gated:
                tell(line)
        for note in result.notes if result is not None else ():
            tell(f"note: {note}", yellow=True)

    def _write(self, path: Path) -> bool:
        """Write the report, whole or not at all, and return whether that worked."""
        text = json.dumps(self._report(), indent=2, ensure_ascii=False) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, text.encode())
        except OSError as error:
            self._remarks.append((f"--rankgauge-json: cannot write {path}: {error.strerror or error}", True))
            return False
        self._remarks.append((f"wrote {path}", False))
        return True

    def _report(self) -> dict[str, Any]:
        judgment = self._judgment or Judgment(None)
        report: Mapping[str, Any] = {"schema_version": SCHEMA_VERSION, "samples": len(self._owners), "metrics": {}}
        per_sample: list[Mapping[str, Any]] = []
        if judgment.result is not None:
            report = summary(judgment.result)
            per_sample = [json.loads(line) for line in per_sample_jsonl(judgment.result).splitlines()]
        gates = [{"scope": "session", **outcome.to_dict()} for outcome in judgment.outcomes]
        gates += [gate for test in sorted(self._tests) for gate in self._tests[test]["gates"]]
        return {
            **report,
            "gates": gates,
            "unscored_metrics": dict(judgment.problems),
            "per_sample": [{**line, "test": self._owners[line["sample_id"]]} for line in per_sample],
        }
