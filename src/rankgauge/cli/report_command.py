"""
`rankgauge report`: saved results as one HTML file.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.command_line import Command
from rankgauge.cli.console import progress_bar, remark
from rankgauge.cli.shared_options import add_report_options, path
from rankgauge.errors import ParameterError, ResultError

if TYPE_CHECKING:
    from pathlib import Path

    from rankgauge.comparison.differences import Comparison
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.result import ResultValues

__all__ = ["REPORT", "check_html", "write_html"]

_ABOUT = """\
It is one self-contained file: it opens by double-click, loads nothing and needs no server. It shows the verdict, every
metric, every sample to filter and sort, ranked lists, cohorts and depth; of several results, the first is the baseline.

Exit codes: 0 done, 2 usage, unreadable input or results that do not compare, 5 internal error.
"""

_RUNS_HINT = "of TREC runs, rankgauge compare --qrels QRELS --html FILE writes a report"


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folders", metavar="FOLDER", nargs="+", help="Result folders, or baseline files.")
    file = "The file. [default: %(default)s]"
    add("-o", "--output", type=path, default="report.html", metavar="FILE", help=file)
    add("--dataset", metavar="NAME", help="Which dataset, where there are several.")
    add_report_options(parser)


def _report(given: argparse.Namespace) -> int:
    from rankgauge.cli.result_folders import stored_results

    check_html(given.output)
    results = stored_results(given.folders, given.dataset, of_runs=_RUNS_HINT)
    write_html(given.output, results, texts=given.texts, queries=given.queries)
    return 0


def check_html(file: Path | None) -> None:
    """Refuse a path that cannot be written, before anything is computed."""
    from rankgauge.io.whole_files import obstacle

    if file is not None and (why := obstacle(file)):
        raise ParameterError(f"cannot write the report {visible(str(file))}: {why}")


def write_html(
    file: Path,
    results: Mapping[str, ResultValues] | ResultValues,
    *,
    comparison: Comparison | None = None,
    texts: Path | None = None,
    queries: Path | None = None,
    gates: GateReport | None = None,
) -> None:
    """Write a report, and the folders above it; the file is complete, or as it was."""
    from rankgauge.engine.html_report import gather
    from rankgauge.io.whole_files import replace_file
    from rankgauge.report.html import lay_out

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
        msg = f"cannot write the report {visible(str(file))}: {error.strerror or error}; nothing was written"
        raise ResultError(msg) from error
    remark(f"wrote {visible(str(file))}")


REPORT = Command("[OPTIONS] FOLDER [FOLDER ...]", _ABOUT, _add_options, _report)
