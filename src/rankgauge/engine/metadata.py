"""
A field of the samples' metadata, read from the data by itself: clusters and weights of samples.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rankgauge.errors import ParameterError, ResultError, did_you_mean
from rankgauge.io.datasets import DatasetReader
from rankgauge.io.file_records import read_clusters
from rankgauge.result import Result
from rankgauge.result.query_weights import Weights, weighted

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["metadata_of", "weighing", "weights_from"]


def metadata_of(evaluation: Evaluation, field: str, act: str = "cluster") -> dict[str, object]:
    """Return a field of the metadata by sample id; raise `ResultError`, of an *act*, if no sample has it."""
    contract = evaluation.profile.contract
    reader = DatasetReader(evaluation.data, catalog=evaluation.catalog(), contract=contract, needs_gold=False)
    known: dict[str, object] = {}
    fields: dict[str, None] = {}
    short = field.removeprefix("metadata.")  # as cohorts and gates call it
    for batch in reader.batches(4096):
        for sample in batch:
            metadata = cast("Mapping[str, object]", sample.metadata or {})
            fields.update(dict.fromkeys(metadata))
            value = metadata.get(field, metadata.get(short))
            if value is not None:
                known[sample.id] = value if isinstance(value, str | int | float) else repr(value)
    if not known:
        hint = did_you_mean(field, fields)
        there = f"; there are {', '.join(fields)}" if fields else ""
        raise ResultError(f"cannot {act} by {field!r}: no sample has this field in its metadata{hint}{there}")
    return known


def weights_from(
    weights: Weights, in_metadata: Callable[[str], Mapping[str, object]]
) -> tuple[Mapping[str, object], str]:
    """Return the weight of each sample and what it is called by; *in_metadata* returns a field of each sample's."""
    given: object = weights
    if isinstance(given, Mapping):
        return given, "weights"
    if isinstance(given, Path):
        return read_clusters(str(given), "weights", "weight"), str(given)
    if not isinstance(given, str):
        raise ParameterError(
            f"weights are a field of the samples' metadata, the path of a file, or a weight by sample id, not {given!r}"
        )
    return in_metadata(given.removeprefix("metadata.")), given


def weighing(evaluation: Evaluation | None) -> Callable[[Result], Result]:
    """Return what lets the samples of results count as an evaluation says; weights are read once, for the first."""
    if evaluation is None or evaluation.weights is None:
        return lambda result: result
    of_field = functools.partial(metadata_of, evaluation, act="weigh samples")
    read = functools.cache(functools.partial(weights_from, evaluation.weights, of_field))
    return lambda result: weighted(result, *read())
