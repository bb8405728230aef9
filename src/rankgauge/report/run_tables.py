"""
Tables of runs in plain text, with what unjudged results could make of each mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

import orjson

from rankgauge.base.tables import aligned, text_width
from rankgauge.result.wording import ERRORS, counts, errors, mean, score

if TYPE_CHECKING:
    from rankgauge.pooling.bounds import Bounds
    from rankgauge.result import MetricSummary, ResultValues

__all__ = ["NOTES", "Further", "add_to_json", "further_means", "query_table", "run_table", "runs_table"]

Further = Mapping[str, Mapping[str, float | None]]
"""For each column its further means: `condensed`, `worst` and `best`, those that were asked for."""

NOTES: Mapping[str, str] = MappingProxyType(
    {
        "condensed": "condensed: documents without a judgment are dropped before ranks are counted",
        "bounds": "worst, best: retrieved documents without a judgment may have any grade of the judgments; - where no "
        "bounds are known",
    }
)
"""What the further means are, by the option that asks for them."""


def further_means(
    result: ResultValues, *, condensed: ResultValues | None = None, bounds: Mapping[str, Bounds | None] | None = None
) -> Further:
    """Return the further means of each column of a result."""
    found: dict[str, dict[str, float | None]] = {}
    for name in result.metrics:
        found[name] = {} if condensed is None else {"condensed": condensed[name].mean}
        if bounds is not None:
            worst, best = bounds[name] or (None, None)
            found[name] |= {"worst": worst, "best": best}
    return found


def add_to_json(report: str, further: Further) -> str:
    """Return a JSON report with the further means of each metric."""
    document = orjson.loads(report)
    for name, means in further.items():
        document["metrics"][name] |= means
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def run_table(result: ResultValues, further: Further | None = None) -> Iterator[str]:
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
    results: Mapping[str, ResultValues], *, width: int | None, further: Mapping[str, Further] | None = None
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


def query_table(result: ResultValues) -> Iterator[str]:
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
