"""
A field of the samples' metadata, read from the data by itself: clusters and weights of samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rankgauge.errors import ResultError, did_you_mean
from rankgauge.io.datasets import DatasetReader
from rankgauge.io.file_records import read_clusters
from rankgauge.result import Result
from rankgauge.result.query_weights import weighted

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["metadata_of", "weighted_as_set_up", "weights_from"]


def metadata_of(evaluation: Evaluation, field: str, act: str = "cluster") -> dict[str, object]:
    """Return a field of the metadata by sample id; raise `ResultError`, of an *act*, where no sample has it."""
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
        raise ResultError(f"cannot {act} by {field!r}: no sample has this field in its metadata{hint}{there}")
    return known


def weights_from(evaluation: Evaluation) -> Mapping[str, object]:
    """Return the weight of each sample of an evaluation that has weights; its data are read if metadata has them."""
    weights = evaluation.weights
    if isinstance(weights, Mapping):
        return weights
    if isinstance(weights, Path):
        return read_clusters(str(weights), "weights", "weight")
    return metadata_of(evaluation, str(weights).removeprefix("metadata."), "weigh samples")


def weighted_as_set_up(result: Result, evaluation: Evaluation | None) -> Result:
    """Return a result in whose means samples count as its evaluation says; the result itself where it says nothing."""
    if evaluation is None or evaluation.weights is None:
        return result
    by = "weights" if isinstance(evaluation.weights, Mapping) else str(evaluation.weights)
    return weighted(result, weights_from(evaluation), by)
