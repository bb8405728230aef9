"""
Query weights: how much each sample counts in means, and results in which they do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.guard import shown
from rankgauge.base.plain_text import visible
from rankgauge.errors import ResultError, counted
from rankgauge.planning.identity import fingerprint_of
from rankgauge.plugin.metric import POOLED
from rankgauge.result.result import Result
from rankgauge.scoring.score import LARGEST

__all__ = ["Weights", "weight_array", "weighted"]

Weights = str | Path | Mapping[str, float]
"""How much samples count in means: a field of the metadata, a file with an id and a weight a line, or by sample id."""


def weighted(result: Result, weights: Mapping[str, object], by: str = "") -> Result:
    """
    Return a result in whose means each sample counts as much as it weighs; *by* names where weights come from.

    Sums, geometric means, aggregates of plugins and metrics of whole runs stay as they are. Raises `ResultError` for
    a sample without a weight, for what is no weight, and where nothing weighs more than 0.
    """
    array = weight_array(result.sample_ids, weights, by)
    columns = []
    for column in result.metrics.values():
        if column.info.aggregate not in {"mean", POOLED}:
            columns.append(column)
            continue
        plain = column.info.unweighted or column.info.fingerprint
        info = replace(column.info, unweighted=plain, fingerprint=fingerprint_of({"unweighted": plain}))
        columns.append(replace(column, info=info, weights=array))
    return result.with_columns(columns).with_manifest({"weights": {"by": by or "weights"}})


def weight_array(sample_ids: Sequence[str], weights: Mapping[str, object], by: str = "") -> NDArray[np.float64]:
    """Return the weight of each sample; shape (samples,). Weights of samples that are not there are left out."""
    of = f" by {visible(by)}" if by else ""
    lost = [sample_id for sample_id in sample_ids if weights.get(sample_id) is None]
    if lost:
        raise ResultError(
            f"cannot weigh samples{of}: {len(lost):,} of {counted(len(sample_ids), 'sample')} "
            f"{'has' if len(lost) == 1 else 'have'} no weight, such as {', '.join(map(visible, lost[:3]))}; give one "
            "to each, 0 for a sample that is not to count"
        )
    found = [_weight(sample_id, weights[sample_id], of) for sample_id in sample_ids]
    if sample_ids and not any(found):
        raise ResultError(f"cannot weigh samples{of}: all weights are 0, so that nothing would count")
    array = np.array(found, dtype=np.float64)
    array.setflags(write=False)
    return array


def _weight(sample_id: str, given: object, of: str) -> float:
    """Return a weight, which files have as a text; refuse what is none."""
    number = math.nan
    with suppress(ValueError, TypeError, OverflowError):
        number = math.nan if isinstance(given, bool) else float(given)  # type: ignore[arg-type]  # or a TypeError
    if not 0 <= number <= LARGEST:
        raise ResultError(
            f"cannot weigh samples{of}: {visible(sample_id)} has {shown(given)}, and a weight is a number of 0 or more"
        )
    return number
