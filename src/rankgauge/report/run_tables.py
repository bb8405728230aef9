"""
Tables of runs in plain text, with what unjudged results could make of each mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from types import MappingProxyType

import orjson

from rankgauge.base.tables import aligned, text_width
from rankgauge.pooling.bounds import Bounds
from rankgauge.result import MetricSummary, ResultValues
from rankgauge.result.wording import ERRORS, Further, errors, json_text, mean, score

__all__ = ["NOTES", "Further", "add_to_json", "further_means", "query_table", "run_table", "runs_table"]

_NOTHING: Mapping[str, Further] = MappingProxyType({})


def run_table(result: ResultValues, further: Further | None = None) -> Iterator[str]:
    """Yield the lines of a table of one run's metrics, with any *further* means."""
    columns = list(result.metrics.values())
    means = [dict(further[column.name]) if further else {} for column in columns]
    rows = [("metric", *map(_heading, columns)), ("value", *map(mean, columns))]
    rows += [(name, *map(score, columns, (own[name] for own in means))) for name in next(iter(means), {})]
    if any(column.info.aggregate == "mean" for column in columns):
        rows += zip(ERRORS, *(errors(column).values() for column in columns), strict=True)
    for name in ("n", "undefined", "missing"):
        counts = [column.counts[name] for column in columns]
        if name == "n" or any(counts):
            rows.append((name, *(f"{count:,}" for count in counts)))
    yield from aligned(list(zip(*rows, strict=True)))


def runs_table(
    results: Mapping[str, ResultValues], *, width: int | None, further: Mapping[str, Further] | None = None
) -> Iterator[str]:
    """Yield the lines of a table of several runs: a column a run, or a row a run where *width* is too small."""
    further = further or _NOTHING
    more = tuple(next((means for run in further.values() for means in run.values()), ()))
    metrics = next(iter(results.values())).metrics.values()
    names = [(_heading(column), *(f"{_heading(column)} {name}" for name in more)) for column in metrics]
    table = [("metric", *chain.from_iterable(names))]
    for run, result in results.items():
        cells = [
            (mean(column), *(score(column, further[run][name][means]) for means in more))
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


def _heading(column: MetricSummary) -> str:
    """Return a column's name as it was asked for."""
    return column.info.spellings[0]


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
    further: dict[str, dict[str, float | None]] = {}
    for name in result.metrics:
        further[name] = {} if condensed is None else {"condensed": condensed[name].mean}
        if bounds is not None:
            further[name] |= zip(("worst", "best"), bounds[name] or (None, None), strict=True)
    return further


def add_to_json(report: str, further: Further) -> str:
    """Return a JSON report with the further means of each metric."""
    document = orjson.loads(report)
    for name, means in further.items():
        document["metrics"][name] |= means
    return json_text(document)
