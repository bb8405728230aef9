"""
Tables of runs, in plain text: they have to be there before anything that lays out tables could be loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary, Result

__all__ = ["query_table", "run_table", "runs_table"]

_GAP = "  "


def run_table(result: Result) -> Iterator[str]:
    """
    Lay out the metrics of one run.

    Args:
        result: The scores.

    Yields:
        Lines, without their ends.
    """
    columns = list(result.metrics.values())
    rows = [[_heading(column), _value(column), f"{column.n:,}"] for column in columns]
    header = ["metric", "value", "n"]
    if any(column.n_undefined for column in columns):
        header.append("undefined")
        rows = [[*row, f"{column.n_undefined:,}"] for row, column in zip(rows, columns, strict=True)]
    if any(column.n_missing for column in columns):
        header.append("missing")
        rows = [[*row, f"{column.n_missing:,}"] for row, column in zip(rows, columns, strict=True)]
    yield from _aligned(header, rows)


def runs_table(results: Mapping[str, Result], *, width: int) -> Iterator[str]:
    """
    Lay out several runs: a column a run, or a row a run where columns do not fit.

    Args:
        results: The scores by run, in the order wanted.

        width: How many characters fit into a line.

    Yields:
        Lines, without their ends.
    """
    metrics = next(iter(results.values())).metrics
    headings = [_heading(column) for column in metrics.values()]
    rows = [
        [heading, *(_value(result.metrics[name]) for result in results.values())]
        for heading, name in zip(headings, metrics, strict=True)
    ]
    lines = list(_aligned(["metric", *results], rows))
    if max(map(len, lines)) > width:
        rows = [[run, *(_value(result.metrics[name]) for name in metrics)] for run, result in results.items()]
        lines = list(_aligned(["run", *headings], rows))
    yield from lines


def query_table(result: Result) -> Iterator[str]:
    """
    Lay out the scores of every query of a run.

    Args:
        result: The scores.

    Yields:
        Lines, without their ends; queries that the run lacks are marked.
    """
    columns = list(result.metrics.values())
    rows = []
    for place, query in enumerate(result.sample_ids):
        scores = [_number(float(column.values[place]), column) for column in columns]
        flaw = next((column.status(place) for column in columns if column.status(place) != "scored"), "")
        rows.append([query, *scores, flaw])
    yield from _aligned(["query", *map(_heading, columns), ""], rows)


def _heading(column: MetricSummary) -> str:
    """Return a column's name as it was asked for."""
    return column.info.spellings[0]


def _value(column: MetricSummary) -> str:
    return "-" if column.mean is None else _number(column.mean, column)


def _number(value: float, column: MetricSummary) -> str:
    if value != value:  # noqa: PLR0124  # NaN
        return "-"
    return f"{value:,.0f}" if column.info.aggregate == "sum" and value == int(value) else f"{value:.4f}"


def _aligned(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, cells)) for cells in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield _GAP.join((row[0].ljust(widths[0]), *cells)).rstrip()
