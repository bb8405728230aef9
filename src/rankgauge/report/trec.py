"""
trec_eval's output, byte for byte.

Sums are added as trec_eval adds them, one query after the other, so that the last decimal is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rankgauge.columns import Floats
    from rankgauge.result import MetricSummary, Result

__all__ = ["TrecLine", "trec_lines"]

_SMALLEST = 1e-5
"""A geometric mean takes smaller values as this."""


class TrecLine(NamedTuple):
    """A measure to print; `runid` has no column, and *only_all* measures stand in the summary alone."""

    label: str
    column: str
    is_count: bool = False
    only_all: bool = False


def trec_lines(
    result: Result,
    measures: Sequence[TrecLine],
    *,
    per_query: bool,
    summary: bool,
    hide_missing: bool = False,
    n_relevant: int | None = None,
) -> Iterator[str]:
    """
    Yield the lines that trec_eval prints for these measures.

    Up to version 9 it hides queries missing from the run. Asked for all queries, it sums `num_rel` over all judgments,
    whatever the level of relevance: that is *n_relevant*, None for the sum over queries.
    """
    columns = {measure.column: result.metrics[measure.column] for measure in measures if measure.column}
    if per_query:
        yield from _queries(
            result, [line for line in measures if not line.only_all], columns, hide_missing=hide_missing
        )
    if not summary:
        return
    for measure in measures:
        if not measure.column:
            yield _line(measure.label, "all", str((result.manifest.get("outputs") or {}).get("tag") or ""))
            continue
        column = columns[measure.column]
        value = _total(column.values, column.info.aggregate)
        if measure.label == "num_rel" and n_relevant is not None:
            value = n_relevant
        yield _line(measure.label, "all", _number(value, is_count=measure.is_count))


def _queries(
    result: Result, measures: Sequence[TrecLine], columns: dict[str, MetricSummary], *, hide_missing: bool
) -> Iterator[str]:
    shown: Iterable[int] = range(len(result))
    if hide_missing:
        first = next(iter(columns.values()))
        shown = (place for place in shown if first.status(place) != "missing")
    values = [columns[measure.column].values.tolist() for measure in measures]
    begins = [f"{measure.label:<22}\t" for measure in measures]
    counts = [measure.is_count for measure in measures]
    for place in shown:
        query = result.sample_ids[place]
        for begin, is_count, column in zip(begins, counts, values, strict=True):
            value = column[place]
            yield f"{begin}{query}\t{int(value)}\n" if is_count else f"{begin}{query}\t{value:6.4f}\n"


def _line(label: str, query: str, value: str) -> str:
    return f"{label:<22}\t{query}\t{value}\n"


def _number(value: float, *, is_count: bool) -> str:
    return str(int(value)) if is_count else f"{value:6.4f}"


def _total(values: Floats, how: str) -> float:
    counted = values[~np.isnan(values)]
    if not len(counted):
        return 0.0
    if how == "geometric":
        logs = [math.log(max(value, _SMALLEST)) for value in counted.tolist()]
        return math.exp(float(np.cumsum(logs)[-1]) / len(logs))
    added = float(np.cumsum(counted)[-1])  # from the first on, unlike numpy's and Python's own sums
    return added if how == "sum" else added / len(counted)
