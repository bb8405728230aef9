"""
Tables of runs in plain text: ours, and trec_eval's output byte for byte.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line, aligned, text_width
from rankgauge.catalog.trec_eval import TrecColumn
from rankgauge.columns import Floats
from rankgauge.errors import ParameterError
from rankgauge.report.terminal import best_cohorts, cohort_table, mean_table
from rankgauge.result import MetricSummary, Result
from rankgauge.result.wording import ERRORS, Further, errors, json_text, mean, score
from rankgauge.scoring.score import MISSING

if TYPE_CHECKING:
    from rankgauge.explain.bounds import Bounds

__all__ = ["NOTES", "Further", "add_to_json", "further_means", "query_table", "run_table", "runs_table", "trec_lines"]

_NOTHING: Mapping[str, Further] = MappingProxyType({})


def run_table(
    result: Result,
    further: Further | None = None,
    *,
    width: int | None = None,
    is_whole: bool = False,
    rule: str = "─",
    aside: int | None = None,
) -> Iterator[Line]:
    """
    Yield the lines of a table of one run's metrics, with any *further* means, no wider than *width*.

    Counts and standard errors are shown if it *is_whole*; a long table is in two halves if *aside* allows it.
    """
    columns = list(result.metrics.values())
    means = [dict(further[column.name]) if further else {} for column in columns]
    if not is_whole:
        more = {
            name: [score(column, own[name]) for column, own in zip(columns, means, strict=True)] for name in means[0]
        }
        names = list(map(_heading, columns))
        how: dict[str, Any] = {"width": width, "rule": rule, "more": more, "heading": "value", "aside": aside}
        yield from mean_table(names, columns, **how)
        yield from map(Line, best_cohorts(result))
        return
    rows = [("metric", *map(_heading, columns)), ("value", *map(mean, columns))]
    rows += [(name, *map(score, columns, (own[name] for own in means))) for name in next(iter(means), {})]
    if any(column.info.aggregate == "mean" for column in columns):
        rows += zip(ERRORS, *(errors(column).values() for column in columns), strict=True)
    for name in ("n", "undefined", "missing", "failed"):
        counts = [column.counts[name] for column in columns]
        if name == "n" or any(counts):
            rows.append((name, *(f"{count:,}" for count in counts)))
    yield from (Line(line, "row") for line in aligned(list(zip(*rows, strict=True)), width))
    if any(result.tags):
        yield from cohort_table(result, width, rule)


def runs_table(
    results: Mapping[str, Result], *, width: int | None, further: Mapping[str, Further] | None = None
) -> Iterator[str]:
    """Yield the lines of a table of several runs: a column a run, or a row a run if that alone fits into *width*."""
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
    layouts = (list(zip(*table, strict=True)), [("run", *table[0][1:]), *table[1:]])
    for lines in map(list, map(aligned, layouts)):
        if width is None or max(map(text_width, lines)) <= width:
            yield from lines
            return
    yield from aligned(layouts[0], width)


def query_table(result: Result, *, width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table of every query's scores; queries missing from the run are marked."""
    columns = list(result.metrics.values())
    table = [("query", *map(_heading, columns), "")]
    for place, query in enumerate(result.sample_ids):
        scores = [score(column, float(column.values[place])) for column in columns]
        flaw = next((column.status(place) for column in columns if column.status(place) != "scored"), "")
        table.append((query, *scores, flaw))
    yield from aligned(table, width)


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
    result: Result, *, condensed: Result | None = None, bounds: Mapping[str, Bounds | None] | None = None
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


_SMALLEST = 1e-5
"""A geometric mean takes smaller values as this."""


def trec_lines(
    result: Result,
    measures: Sequence[TrecColumn],
    *,
    per_query: bool,
    summary: bool,
    hide_missing: bool = False,
    n_relevant: int | None = None,
    texts: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Iterator[str]:
    """
    Yield the lines that trec_eval prints for these measures.

    Up to version 9 it hides queries missing from the run. Asked for all queries, it sums `num_rel` over all judgments,
    whatever the level of relevance: that is *n_relevant*, None for the sum over queries. *texts* are those of queries,
    by label; a measure that is a text and not among them is the run's tag.
    """
    by_spelling = {spelling: column for column in result.metrics.values() for spelling in column.info.spellings}
    ordered = [
        (f"{measure.label:<22}\t", measure, by_spelling.get(measure.spec or ""))
        for measure in sorted(measures, key=lambda measure: measure.place or (0, 0))
    ]
    tag = str((result.manifest.get("outputs") or {}).get("tag") or "")
    _check_printable(result.sample_ids if per_query else (), tag if summary else "")
    if per_query:
        yield from _queries(result, ordered, texts, hide_missing=hide_missing)
    for label, measure, column in ordered if summary else ():
        if measure.label in texts:
            continue
        if column is None:  # runid
            value = tag
        elif measure.label == "num_rel" and n_relevant is not None:
            value = str(n_relevant)
        else:
            total = _total(column.values, column.info.aggregate)
            value = str(int(total)) if measure.kind == "integer" else f"{total:6.4f}"
        yield f"{label}all\t{value}\n"


def _check_printable(queries: Sequence[str], tag: str) -> None:
    """Refuse names that would break the lines: with white space, with control characters, or empty."""
    names = [*(("query", query) for query in queries), *([("run tag", tag)] if tag else ())]
    for what, name in names:
        if not name or " " in name or name != visible(name):
            raise ParameterError(
                f"--format trec cannot print the {what} {name!r}: white space separates the parts of a line, and "
                "control characters could hide some; use another format, such as --format jsonl"
            )


def _queries(
    result: Result,
    measures: Sequence[tuple[str, TrecColumn, MetricSummary | None]],
    texts: Mapping[str, Sequence[str]],
    *,
    hide_missing: bool,
) -> Iterator[str]:
    columns: list[tuple[str, str, Sequence[float | str]]] = []
    for label, measure, column in measures:
        if (own := texts.get(measure.label or "")) is not None:
            columns.append((label, measure.kind, own))
        elif column is not None and not measure.only_all:
            columns.append((label, measure.kind, column.values.tolist()))
    all_columns = result.metrics.values() if hide_missing else ()
    missing = {int(place) for column in all_columns for place in np.flatnonzero(column.codes == MISSING)}
    for place, query in enumerate(result.sample_ids):
        if place in missing:
            continue
        for label, kind, values in columns:
            value = values[place]
            yield f"{label}{query}\t{_written(value, kind)}\n"


def _written(value: float | str, kind: str) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return str(int(value)) if kind == "integer" else f"{value:6.4f}"


def _total(values: Floats, how: str) -> float:
    counted = values[~np.isnan(values)]
    if not len(counted):
        return 0.0
    if how == "geometric":
        logs = [math.log(max(value, _SMALLEST)) for value in counted.tolist()]
        return math.exp(float(np.cumsum(logs)[-1]) / len(logs))
    added = float(np.cumsum(counted)[-1])  # from the first on, unlike numpy's and Python's own sums
    return added if how == "sum" else added / len(counted)
