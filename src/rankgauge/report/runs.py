"""
Tables of runs, in plain text, because loading rich takes longer than evaluating a small run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rankgauge.report.wording import mean, score

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary, Result

__all__ = ["query_table", "run_table", "runs_table"]

_GAP = "  "


def run_table(result: Result) -> Iterator[str]:
    """Yield the lines of a table of one run's metrics."""
    columns = list(result.metrics.values())
    table = [
        ("metric", *map(_heading, columns)),
        ("value", *map(mean, columns)),
        ("n", *(f"{column.n:,}" for column in columns)),
    ]
    if any(column.n_undefined for column in columns):
        table.append(("undefined", *(f"{column.n_undefined:,}" for column in columns)))
    if any(column.n_missing for column in columns):
        table.append(("missing", *(f"{column.n_missing:,}" for column in columns)))
    yield from _aligned(list(zip(*table, strict=True)))


def runs_table(results: Mapping[str, Result], *, width: int) -> Iterator[str]:
    """Yield the lines of a table of several runs: a column a run, or a row a run where *width* is too small."""
    metrics = next(iter(results.values())).metrics
    table = [("metric", *map(_heading, metrics.values()))]
    table += [(run, *(mean(result.metrics[name]) for name in metrics)) for run, result in results.items()]
    lines = list(_aligned(list(zip(*table, strict=True))))
    if max(map(len, lines)) > width:
        lines = list(_aligned([("run", *table[0][1:]), *table[1:]]))
    yield from lines


def query_table(result: Result) -> Iterator[str]:
    """Yield the lines of a table of every query's scores; queries missing from the run are marked."""
    columns = list(result.metrics.values())
    table = [("query", *map(_heading, columns), "")]
    for place, query in enumerate(result.sample_ids):
        scores = [score(column, float(column.values[place])) for column in columns]
        flaw = next((column.status(place) for column in columns if column.status(place) != "scored"), "")
        table.append((query, *scores, flaw))
    yield from _aligned(table)


def _heading(column: MetricSummary) -> str:
    """Return a column's name as it was asked for."""
    return column.info.spellings[0]


def _aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    for row in table:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield _GAP.join((row[0].ljust(widths[0]), *cells)).rstrip()
