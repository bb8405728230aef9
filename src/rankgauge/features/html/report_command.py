"""
`rankgauge report`: results as one HTML file.

What is slow to load is imported where it is used, since the help of the command loads this file.
"""

from __future__ import annotations

import argparse

from rankgauge.cli import shared_options as shared
from rankgauge.cli.command_line import Command
from rankgauge.cli.shared_options import DATASET, Options, file, value

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
    from rankgauge.cli.result_folders import check_html, stored_results, write_html

    check_html(given.output)
    hint = "of TREC runs, rankgauge compare --qrels QRELS --html FILE writes a report"
    results = stored_results(given.folders, given.dataset, of_runs=hint)
    write_html(given.output, results, texts=given.texts, queries=given.queries)
    return 0
