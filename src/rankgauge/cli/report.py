"""
`rankgauge report`: saved results as one HTML file.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.arguments import command_parser, read_arguments
from rankgauge.cli.console import remark
from rankgauge.cli.stored import stored_results
from rankgauge.errors import ParameterError, ResultError

if TYPE_CHECKING:
    from rankgauge.comparison.differences import Comparison
    from rankgauge.result import ResultValues

__all__ = ["HELP", "HTML_HELP", "add_text_options", "check_html", "report", "write_html"]

HELP = """\
Write an HTML report of result folders: one file that opens by double click.

It shows the verdict, every metric, every sample to filter and sort, ranked
lists, cohorts and depth; of several results, the first is the baseline. The
file loads nothing and needs no server.

Exit codes: 0 done, 2 usage, unreadable input or results that do not compare,
5 internal error.
"""

HTML_HELP = "Also write an HTML report: one file that opens by double click."
_RUNS_HINT = "of TREC runs, rankgauge compare --qrels QRELS --html FILE writes a report"
_TEXTS_HELP = "Texts of documents, for runs that have ids only: JSONL, Parquet or TSV."
_QUERIES_HELP = "Texts of queries, likewise."


def report(arguments: Sequence[str]) -> int:
    """Run the command with what was typed behind ``report``, and return the exit code."""
    parser = command_parser("report", "rankgauge report [OPTIONS] FOLDER [FOLDER ...]", HELP)
    add = parser.add_argument
    add("folders", metavar="FOLDER", nargs="+", help="Result folders, or baseline files.")
    add("-o", "--output", type=Path, default=Path("report.html"), metavar="FILE", help="The file. [report.html]")
    add("--dataset", metavar="NAME", help="Which dataset, where there are several.")
    add_text_options(parser)
    given = read_arguments(parser, arguments)
    if isinstance(given, int):
        return given
    check_html(given.output)
    results = stored_results(given.folders, given.dataset, of_runs=_RUNS_HINT)
    write_html(given.output, results, texts=given.texts, queries=given.queries)
    return 0


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for texts that runs do not have."""
    parser.add_argument("--texts", type=Path, metavar="FILE", help=_TEXTS_HELP)
    parser.add_argument("--queries", type=Path, metavar="FILE", help=_QUERIES_HELP)


def check_html(path: Path | None) -> None:
    """Refuse a path that cannot be written, before anything is computed."""
    from rankgauge.io.whole_files import obstacle

    if path is not None and (why := obstacle(path)):
        msg = f"cannot write the report {visible(str(path))}: {why}"
        raise ParameterError(msg)


def write_html(
    path: Path,
    results: Mapping[str, ResultValues] | ResultValues,
    *,
    comparison: Comparison | None = None,
    texts: Path | None = None,
    queries: Path | None = None,
) -> None:
    """Write a report, and the folders above it; the file is complete, or as it was."""
    from rankgauge.engine.html_report import gather
    from rankgauge.io.whole_files import replace_file
    from rankgauge.report.html import lay_out

    data = gather(results, comparison=comparison, texts=texts, queries=queries)
    text = lay_out(data)
    for note in data.notes:
        remark(visible(note))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
    except OSError as error:
        msg = f"cannot write the report {visible(str(path))}: {error.strerror or error}; nothing was written"
        raise ResultError(msg) from error
    remark(f"wrote {visible(str(path))}")
