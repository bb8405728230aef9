"""
Clusters: samples that are not independent, such as questions about one document, and means whose errors know of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.columns.judged_rows import Ints
from rankgauge.errors import ResultError, counted
from rankgauge.result import Result
from rankgauge.result.sample_rows import CLUSTER

__all__ = ["cluster_codes", "clustered"]


def cluster_codes(
    sample_ids: Sequence[str], clusters: Mapping[str, object], by: str | None, what: str = "compare"
) -> Ints:
    """Return the cluster of each sample as an integer; refuse to do *what* if one has none."""
    lost = [sample_id for sample_id in sample_ids if clusters.get(sample_id) is None]
    if lost:
        raise ResultError(
            f"cannot {what} by clusters{f' of {by}' if by else ''}: {len(lost):,} of "
            f"{counted(len(sample_ids), 'sample')} {'has' if len(lost) == 1 else 'have'} none, such as "
            f"{', '.join(map(visible, lost[:3]))}"
        )
    known: dict[object, int] = {}
    return np.array([known.setdefault(clusters[sample_id], len(known)) for sample_id in sample_ids], dtype=np.int64)


def clustered(result: Result, clusters: Mapping[str, object], by: str | None) -> Result:
    """Return a result whose standard errors and intervals are those of clusters, given by sample id."""
    codes = cluster_codes(result.sample_ids, clusters, by, "estimate errors")
    columns = [replace(column, clusters=codes) for column in result.metrics.values()]
    return result.with_columns(columns).with_manifest(
        {CLUSTER: {"by": by or "clusters", "n": len(set(codes.tolist()))}}
    )
