"""
`rankgauge report`: results as one HTML file.

What is slow to load is imported where it is used, since the help of the command loads this file.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rankgauge.cli import shared_options as shared
from rankgauge.cli.shared_options import DATASET, Command, Options, file, value

if TYPE_CHECKING:
    from pathlib import Path

    from rankgauge.comparison import Comparison
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.result import Result

__all__ = ["REPORT", "execute_report", "write_html"]

_ABOUT_REPORT = """\
It is one self-contained file: it opens by double-click, loads nothing and needs no server. It shows the verdict, every
metric, every sample to filter and sort, ranked lists, cohorts and depth; of several results, the first is the baseline.

Exit codes: 0 done, 2 usage, unreadable input or results that do not compare, 5 internal error.
"""
_REPORT_OPTIONS: Options = (
    value("folders", "FOLDER", "Result folders, or baseline files.", nargs="+"),
    file("-o --output", "The file.", default="report.html"),
    DATASET,
    *shared.TEXTS,
)
REPORT = Command("[OPTIONS] FOLDER [FOLDER ...]", _ABOUT_REPORT, _REPORT_OPTIONS, f"{__name__}:execute_report")


def execute_report(given: argparse.Namespace) -> int:
    """Write saved results as one HTML file."""
    from rankgauge.cli.result_folders import check_html, stored_results

    check_html(given.output)
    hint = "of TREC runs, rankgauge compare --qrels QRELS --html FILE writes a report"
    results = stored_results(given.folders, given.dataset, of_runs=hint)
    write_html(given.output, results, texts=given.texts, queries=given.queries)
    return 0


def write_html(
    file: Path,
    results: Mapping[str, Result],
    *,
    comparison: Comparison | None = None,
    texts: Path | None = None,
    queries: Path | None = None,
    gates: GateReport | None = None,
) -> None:
    """Write an HTML report, and the folders above it; the file is complete, or as it was."""
    from rankgauge.base.plain_text import visible
    from rankgauge.cli.console import progress_bar, remark
    from rankgauge.errors import ResultError
    from rankgauge.features.html.html_report import gather
    from rankgauge.features.html.page import lay_out
    from rankgauge.io.whole_files import replace_file

    with progress_bar("report", wanted=True) as report:
        data = gather(results, comparison=comparison, texts=texts, queries=queries, gates=gates)
        if report is not None:
            report(1, 2)  # laying out is the other half
        text = lay_out(data)
    for note in data.notes:
        remark(visible(note))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode())
    except OSError as error:
        why = f"{error.strerror or error}; nothing was written"
        raise ResultError(f"cannot write the report {visible(str(file))}: {why}") from error
    remark(f"wrote {visible(str(file))}")
