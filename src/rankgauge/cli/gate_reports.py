"""
What follows from judged gates: reports for CI systems, the lines on a terminal, the next baseline, and the exit code.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import complain, remark, show
from rankgauge.extensions import extension
from rankgauge.io.whole_files import replace_file

if TYPE_CHECKING:
    from rankgauge.comparison.pairing import Common
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.result import Result

__all__ = ["JudgedGates"]


@dataclass(frozen=True, kw_only=True)
class JudgedGates:
    """
    What became of the gates of a command.

    Attributes:
        given: What was typed; None for an option that the command does not have.

        report: The verdicts; None if there was nothing to judge, or a run was interrupted.

        baseline: What changes were judged against.

        first: The name of the result that the others are compared with; empty if the baseline is a file.

        shows_names: Whether messages name the result that they are about.

        begins: Whether a history begins with this run.

        common: Which samples changes are shown of, as the gates on changes have it.
    """

    given: argparse.Namespace
    report: GateReport | None = None
    baseline: Mapping[str, Result] | None = None
    first: str = ""
    shows_names: bool = False
    begins: bool = False
    common: Common = "all"

    @property
    def are_numbers_shown(self) -> bool:
        """Return whether numbers may be shown: those of changed ids would look like others."""
        return self.report is None or not self.report.ids_changed

    @property
    def exit_code(self) -> int:
        """Return how the command ends, if all samples were scored."""
        return 0 if self.report is None else self.report.exit_code

    def added(self, reports: Mapping[str, str], form: str) -> Mapping[str, str]:
        """Return reports by dataset, those in JSON with their gates."""
        if form != "json" or self.report is None or not self.report.outcomes:
            return reports
        options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        return {
            name: orjson.dumps({**orjson.loads(text), **self.entry(name)}, option=options).decode()
            for name, text in reports.items()
        }

    def entry(self, dataset: str | None = None) -> dict[str, Any]:
        """Return the verdicts as an entry of a JSON report, of all results or of one; empty without a report."""
        if self.report is None:
            return {}
        outcomes = [outcome for outcome in self.report.outcomes if dataset in {None, outcome.dataset}]
        return {"gates": [outcome.to_dict() for outcome in outcomes]}

    def write_reports(self, results: Mapping[str, Result]) -> None:
        """Write the JUnit file, and annotate the run and its summary page if this is a job of GitHub Actions."""
        if self.report is None:
            return
        from rankgauge.gates.ci_reports import github_annotations, junit_xml  # most runs have no gates

        if self.given.junit is not None:
            _write(self.given.junit, junit_xml(self.report, results))
        if not os.environ.get("GITHUB_ACTIONS"):
            return
        for line in github_annotations(self.report):
            remark(line, is_command=True)
        if page := os.environ.get("GITHUB_STEP_SUMMARY"):
            data = self._markdown(results).encode()
            try:
                with Path(page).open("ab") as file:
                    file.write(data)
            except OSError as error:
                remark(f"the step summary cannot be written: {error.strerror or error}")

    def save(self, results: Mapping[str, Result]) -> None:
        """Write the Markdown summary, and the baseline if it was asked for and all samples were scored."""
        if self.given.markdown is not None:
            _write(self.given.markdown, self._markdown(results).encode())
        path = self.given.save_baseline
        if path is None:
            return
        from rankgauge.result.wording import partial_line

        is_partial = any(result.is_incomplete or partial_line(result) for result in results.values())
        if is_partial or not self.are_numbers_shown:
            remark(f"the baseline {path} was not saved, because this run is not one to compare with")
            return
        from rankgauge.gates.baseline import save_baseline

        save_baseline(results, path)
        remark(f"saved the baseline {path}")

    def remember(self, saved: Sequence[Path], results: Mapping[str, Result]) -> None:
        """Add the results that were saved to the history that was named, with what became of their gates."""
        if self.given.history is not None:
            extension("results over time")(self.given.history, saved, results, self.report, begins=self.begins)

    def tell(self, form: str) -> None:
        """Show the verdicts line by line: beside a table on stdout, beside other formats on stderr."""
        if self.report is None:
            return
        from rankgauge.gates.outcomes import baseline_line, gate_lines

        if self.baseline is not None and "baseline" in next(iter(self.baseline.values())).manifest:
            remark(visible(baseline_line(self.baseline)))
        for name, why in self.report.ids_changed.items():
            complain(visible(f"{name}: {why}" if self.shows_names else why))
        if self.report.outcomes:
            lines = list(gate_lines(self.report))
            show(lines) if form == "table" else remark("\n".join(line.text for line in lines))

    def _markdown(self, results: Mapping[str, Result]) -> str:
        from rankgauge.gates.ci_reports import pull_request_markdown

        changes = {}
        if self.baseline is not None:
            from rankgauge.gates.drop import baseline_of, changes_since

            earlier = {name: baseline_of(name, self.baseline, results) for name in results}
            known = {name: old for name, old in earlier.items() if old is not None}
            changes = {name: changes_since(results[name], old, self.common) for name, old in known.items()}
        return pull_request_markdown(results, self.report, self.baseline, changes, first=self.first)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data)
