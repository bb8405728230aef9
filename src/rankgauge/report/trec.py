"""
trec_eval's output, byte for byte.

Sums are added as trec_eval adds them, one query after the other, so that the last decimal is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.catalog.trec_eval import TrecColumn
from rankgauge.columns import Floats
from rankgauge.errors import ParameterError
from rankgauge.result import MetricSummary, ResultValues
from rankgauge.scoring.score import MISSING

__all__ = ["trec_lines"]

_SMALLEST = 1e-5
"""A geometric mean takes smaller values as this."""


def trec_lines(
    result: ResultValues,
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
    result: ResultValues,
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
