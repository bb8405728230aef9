"""
Clusters of samples by a field of their metadata, read from the data that results came from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from rankgauge.engine.reopen import evaluation_of, is_of_run
from rankgauge.engine.setup import Setup
from rankgauge.errors import DataError, ParameterError, ResultError, did_you_mean
from rankgauge.io.datasets import DatasetReader
from rankgauge.result import ResultValues

__all__ = ["Cluster", "clusters_of", "named_clusters"]

Cluster = str | Mapping[str, object]
"""A field of the samples' metadata, or the cluster by sample id."""


def named_clusters(
    results: Mapping[str, ResultValues], cluster: Cluster | None
) -> tuple[str | None, Mapping[str, object] | None]:
    """Return the field that names clusters, if one does, and the cluster of each sample; None for no clusters."""
    if isinstance(cluster, str):
        return cluster, _of_results(results, cluster) if results else None
    slip: object = cluster
    if slip is not None and not isinstance(slip, Mapping):
        msg = f"cluster is a field of the samples' metadata, or a mapping from sample ids to clusters, not {slip!r}"
        raise ParameterError(msg)
    return None, cluster


def _of_results(results: Mapping[str, ResultValues], field: str) -> dict[str, object]:
    """Return a field of each sample's metadata, as the data of the first result that can be read again has it."""
    why: Exception | None = None
    for result in results.values():
        if is_of_run(result) or "queries" in (result.manifest.get("dataset") or {}):
            raise ResultError(
                f"cannot cluster by {field!r}: queries of a TREC run have no metadata; give the cluster of each query "
                "in a file (--cluster FILE) or as a mapping (cluster={...})"
            )
        try:
            evaluation = evaluation_of(result)
        except (ResultError, DataError) as error:
            why = error
            continue
        return clusters_of(evaluation, field)
    raise ResultError(f"cannot cluster by {field!r}: the samples of these results cannot be read again: {why}")


def clusters_of(evaluation: Setup, field: str) -> dict[str, object]:
    """Return a field of the metadata by sample id; raise `ResultError` where no sample has it."""
    contract = evaluation.profile.contract
    reader = DatasetReader(evaluation.data, catalog=evaluation.catalog(), contract=contract, needs_gold=False)
    known: dict[str, object] = {}
    fields: dict[str, None] = {}
    for batch in reader.batches(4096):
        for sample in batch:
            metadata = cast("Mapping[str, object]", sample.metadata or {})
            fields.update(dict.fromkeys(metadata))
            value = metadata.get(field)
            if value is not None:
                known[sample.id] = value if isinstance(value, str | int | float) else repr(value)
    if not known:
        hint = did_you_mean(field, fields)
        there = f"; there are {', '.join(fields)}" if fields else ""
        raise ResultError(f"cannot cluster by {field!r}: no sample has this field in its metadata{hint}{there}")
    return known
