"""Results made of scores that a test writes down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rankgauge import Result, evaluate

__all__ = ["result"]


def result(
    *columns: Sequence[float], tags: Sequence[tuple[str, ...]] | None = None, ids: Sequence[str] | None = None
) -> Result:
    """Return a result with one column for each list of scores: P@1, P@2, ..."""
    n = len(columns[0])
    names = list(ids or (f"q{place:03}" for place in range(n)))
    judged: Mapping[str, Mapping[str, int]] = {name: {"a": 1} for name in names}
    made = evaluate(judged, judged, [f"P@{place}" for place in range(1, len(columns) + 1)])
    metrics = {}
    for column, scores in zip(made.metrics.values(), columns, strict=True):
        values = np.array(scores, dtype=np.float64)
        metrics[column.name] = replace(column, values=values, codes=np.isnan(values).astype(np.uint8))
    return Result(made.sample_ids, tags or made.tags, metrics, made.manifest, made.notes)
