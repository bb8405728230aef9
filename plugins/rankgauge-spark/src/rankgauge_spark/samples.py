"""
Samples: evaluates DataFrames whose rows are samples, with their ground truth, outputs and texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from rankgauge import Catalog, Engine, Policy, Profile, Result
from rankgauge.errors import DataError, Problem, RankgaugeError
from rankgauge.scale import SampleShard, ShardedSamples
from rankgauge.text import did_you_mean
from rankgauge.typing import MetricSpec
from rankgauge_spark.transport import collected
from rankgauge_spark.workers import PAYLOAD, payload

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["evaluate_samples"]

_FIELDS = ("id", "input", "expected_output", "actual_output", "metadata")
_NEEDED = ("id", "expected_output")
_PIECE = 1024
"""How many samples make a shard; each may have some dozen texts."""


def evaluate_samples(
    df: DataFrame,
    metrics: Sequence[MetricSpec] | MetricSpec,
    *,
    profile: str | Policy | Profile = "default",
    policy: Mapping[str, Any] | None = None,
    k: int | None = None,
    matchers: Mapping[Any, str] | None = None,
    fields: Mapping[str, Any] | None = None,
    cohorts: Sequence[str] = (),
    catalog: Catalog | None = None,
    partitions: int | None = None,
) -> Result:
    """
    Evaluate samples, a row each, where they are: nothing is shuffled, and texts stay on the workers.

    Args:
        df: Columns `id`, `expected_output`, `actual_output`, and if wanted `input` and `metadata`, as the dataset
            contract has them: strings, arrays, structs and maps, such as ``map<string,double>`` for gains. Nulls are
            left out, at any depth.

        metrics: Metrics in any spelling.

        profile: The conventions.

        policy: Policy options that differ from the profile's.

        k: Default cutoff, used when a metric has none.

        matchers: The matcher for a kind of gold (`passages`, `answer`, `keywords`), for metrics that say none.

        fields: Where the rows have each of our fields, as in `Evaluation.with_fields`.

        cohorts: Fields of the metadata whose values make cohorts, as in `Evaluation.with_cohorts`.

        catalog: What plugins offer; by default everything that is installed on the driver. Workers look for the same
            distributions, and refuse if theirs differ.

        partitions: Into how many partitions the rows are put; by default they stay as they are.

    Returns:
        What `Evaluation.run` returns for the same samples, to the last bit, in order of their ids.

    Raises:
        PlanError: Metrics or matchers that cannot be resolved, or would mean something else on a worker.

        DataError: Columns or samples that cannot be used, with every problem of the first shard of each partition that
            has any.

        MissingGoldError: No sample has the kind of ground truth that a metric needs.

        SampleRefusedError: The policy turns a sample into an error.

        ResultError: Two rows have the same id.
    """
    evaluation = Engine(catalog=catalog).dataset([]).with_metrics(metrics).with_profile(profile, **(policy or {}))
    if k is not None:
        evaluation = evaluation.with_defaults(k=k, source="k")
    if matchers:
        evaluation = evaluation.with_matchers(matchers)
    if cohorts:
        evaluation = evaluation.with_cohorts(cohorts)
    if fields:
        evaluation = evaluation.with_fields(fields)
    else:
        df = df.select(*_columns(df.columns))
    sharded = ShardedSamples(evaluation)
    rows = df if partitions is None else df.repartition(partitions)
    shards: list[SampleShard] = collected(rows.mapInArrow(_Samples(sharded).__call__, PAYLOAD))
    if not sharded.agree(shards):
        sharded = sharded.knowing(shards)
        shards = collected(rows.mapInArrow(_Samples(sharded).__call__, PAYLOAD))
    return sharded.merge(shards)


@dataclass(frozen=True)
class _Samples:
    """Evaluates the partitions of a DataFrame of samples."""

    sharded: ShardedSamples

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a payload for each shard; after an error of the data or the plan nothing more."""
        try:
            for batch in batches:
                for start in range(0, batch.num_rows, _PIECE):
                    rows = batch.slice(start, _PIECE).to_pylist(maps_as_pydicts="strict")
                    yield payload(self.sharded.shard(map(_without_nulls, rows)))
        except DataError as error:
            yield payload(DataError(str(error).splitlines()[0], map(_without_place, error.problems)))
        except RankgaugeError as error:
            yield payload(error)


def _without_nulls(value: Any) -> Any:  # noqa: ANN401  # plain data of any shape
    """Return a row without what it leaves empty, at any depth."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return list(map(_without_nulls, value)) if isinstance(value, list) else value


def _columns(names: Sequence[str]) -> list[str]:
    """Return which columns are fields of a sample; a `DataError` names those that are missing."""
    there = f"the columns are {', '.join(names)}"
    problems = [
        Problem(f"no column {name!r}{did_you_mean(name, names)}; {there}; say which it is: fields={{{name!r}: ...}}")
        for name in _NEEDED
        if name not in names
    ]
    if problems:
        raise DataError("the samples cannot be used:", problems)
    return [name for name in _FIELDS if name in names]


def _without_place(problem: Problem) -> Problem:
    """Return a problem without the places of rows, which a DataFrame does not have."""
    message = re.sub(r" \(first in samples\[\d+\]\)", "", problem.message)
    return problem._replace(message=message, path=re.sub(r"^samples\[\d+\]\.?", "", problem.path))
