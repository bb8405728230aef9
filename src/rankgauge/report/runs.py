"""
Tables of runs, in plain text, because loading rich takes longer than evaluating a small run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from rankgauge.report.wording import ERRORS, counts, errors, mean, score
from rankgauge.tables import aligned, text_width

if TYPE_CHECKING:
    from rankgauge.report.unjudged import Further
    from rankgauge.result import MetricSummary, Result

__all__ = ["query_table", "run_table", "runs_table"]


def run_table(result: Result, further: Further | None = None) -> Iterator[str]:
    """Yield the lines of a table of one run's metrics, with any *further* means."""
    columns = list(result.metrics.values())
    table = [("metric", *map(_heading, columns)), ("value", *map(mean, columns))]
    table += [
        (name, *(score(column, (further or {})[column.name][name]) for column in columns))
        for name in _further_names(further)
    ]
    if any(column.info.aggregate == "mean" for column in columns):
        trust = [errors(column) for column in columns]
        table += [(name, *(each[name] for each in trust)) for name in ERRORS]
    for name in ("n", "undefined", "missing"):
        numbers = [counts(column)[name] for column in columns]
        if name == "n" or any(numbers):
            table.append((name, *(f"{number:,}" for number in numbers)))
    yield from aligned(list(zip(*table, strict=True)))


def runs_table(
    results: Mapping[str, Result], *, width: int | None, further: Mapping[str, Further] | None = None
) -> Iterator[str]:
    """
    Yield the lines of a table of several runs: a column a run, or a row a run where *width* is too small.

    The *further* means of a run stand under each metric.
    """
    metrics = next(iter(results.values())).metrics
    more = _further_names(next(iter((further or {}).values()), None))
    headings = [(_heading(column), *(f"{_heading(column)} {name}" for name in more)) for column in metrics.values()]
    table = [("metric", *chain.from_iterable(headings))]
    for run, result in results.items():
        own = (further or {}).get(run, {})
        cells = [
            (mean(column), *(score(column, own[name][means]) for means in more))
            for name, column in result.metrics.items()
        ]
        table.append((run, *chain.from_iterable(cells)))
    lines = list(aligned(list(zip(*table, strict=True))))
    if width is not None and max(map(text_width, lines)) > width:
        lines = list(aligned([("run", *table[0][1:]), *table[1:]]))
    yield from lines


def query_table(result: Result) -> Iterator[str]:
    """Yield the lines of a table of every query's scores; queries missing from the run are marked."""
    columns = list(result.metrics.values())
    table = [("query", *map(_heading, columns), "")]
    for place, query in enumerate(result.sample_ids):
        scores = [score(column, float(column.values[place])) for column in columns]
        flaw = next((column.status(place) for column in columns if column.status(place) != "scored"), "")
        table.append((query, *scores, flaw))
    yield from aligned(table)


def _further_names(further: Further | None) -> tuple[str, ...]:
    """Return which further means there are; the same for every metric."""
    return tuple(next(iter((further or {}).values()), ()))


def _heading(column: MetricSummary) -> str:
    """Return a column's name as it was asked for."""
    return column.info.spellings[0]
