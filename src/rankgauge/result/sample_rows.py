"""
What a result says of single samples: the frame of their scores, their texts, and why a sample has no score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import plain
from rankgauge.errors import MissingExtraError
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.score import STATUSES

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["SampleError", "SampleText", "pandas_frame", "score_frame", "without_score"]


@dataclass(frozen=True, slots=True)
class SampleError:
    """
    Why a sample has no score.

    Attributes:
        sample_id: The sample.

        metric: The column; None when it holds for every metric.

        status: `undefined`, `missing` or `failed`.

        reason: A sentence.
    """

    sample_id: str
    metric: str | None
    status: str
    reason: str


class SampleText(NamedTuple):
    """
    The question of a sample and its top results.

    Attributes:
        input: The sample's input; any JSON value.

        retrieved: Id and text of each result after policy, rank 1 first; None for what it lacks.
    """

    input: Any
    retrieved: tuple[tuple[str | None, str | None], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values: `input`, and `retrieved` as a list of ``{id, text}``."""
        return {"input": plain(self.input), "retrieved": [{"id": name, "text": text} for name, text in self.retrieved]}


def _text_columns(texts: Sequence[SampleText]) -> dict[str, pl.Series]:
    """Return the columns `input`, an input that is no text as JSON, and `retrieved`, a list of ``{id, text}``."""
    import polars as pl

    inputs = [_written(each.input) for each in texts]
    retrieved = [each.to_dict()["retrieved"] for each in texts]
    kind = pl.List(pl.Struct({"id": pl.String, "text": pl.String}))
    return {"input": pl.Series(inputs, dtype=pl.String), "retrieved": pl.Series(retrieved, dtype=kind)}


def _written(given: Any) -> str | None:  # noqa: ANN401  # any JSON value: the system under test defines it
    if given is None or isinstance(given, str):
        return given
    return json.dumps(given, ensure_ascii=False, default=repr)


WEIGHT = "weight"
"""The column of how much samples count in means; the entry of a manifest is `weights`."""

DENOMINATOR = "_denominator"
"""What the column of denominators is called behind the name of a pooled mean."""

CLUSTER = "cluster"
"""The column, and the entry of a manifest, of samples that are not independent."""


def score_frame(
    sample_ids: Sequence[str],
    tags_of_each: Sequence[tuple[str, ...]],
    metrics: Mapping[str, MetricSummary],
    texts: Sequence[SampleText] | None,
) -> pl.DataFrame:
    """Return one row a sample: what `Result.per_sample` describes."""
    import polars as pl

    kinds: dict[tuple[str, ...], int] = {}  # a list takes polars some microseconds, and most samples share theirs
    numbers = [kinds.setdefault(tags, len(kinds)) for tags in tags_of_each]
    frame: dict[str, pl.Series] = {
        "sample_id": pl.Series(sample_ids, dtype=pl.String),
        "tags": pl.Series(list(map(list, kinds)), dtype=pl.List(pl.String)).gather(numbers),
    }
    if (clusters := next((column.clusters for column in metrics.values()), None)) is not None:
        frame[CLUSTER] = pl.Series(clusters, dtype=pl.Int64)
    weights = next((column.weights for column in metrics.values() if column.weights is not None), None)
    if weights is not None:
        frame[WEIGHT] = pl.Series(weights, dtype=pl.Float64)
    for column in metrics.values():
        safe = column.info.safe_name
        frame[safe] = pl.Series(column.values, dtype=pl.Float64).fill_nan(None)
        names = np.array(STATUSES, dtype=object)[column.codes]
        frame[f"{safe}_status"] = pl.Series(names.tolist(), dtype=pl.String)
        if column.rankings is not None:
            frame[f"{safe}_ids"] = pl.Series(list(map(list, column.rankings)), dtype=pl.List(pl.String))
        if column.denominators is not None:
            frame[f"{safe}{DENOMINATOR}"] = pl.Series(column.denominators, dtype=pl.Float64)
        if column.repeats is not None:
            scores = [[None if score != score else score for score in row] for row in column.repeats.tolist()]  # noqa: PLR0124  # NaN
            frame[f"{safe}_repeats"] = pl.Series(scores, dtype=pl.List(pl.Float64))
    return pl.DataFrame(frame | ({} if texts is None else _text_columns(texts)))


def pandas_frame(frame: pl.DataFrame) -> pd.DataFrame:
    """Return a polars frame as one of pandas, without pyarrow; raise `MissingExtraError` if pandas is absent."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError("Result.to_pandas", "pandas") from error
    return pd.DataFrame(
        {
            column.name: column.to_numpy() if column.dtype.is_numeric() else pd.Series(column.to_list(), dtype=object)
            for column in frame
        }
    )


def without_score(sample_ids: Sequence[str], columns: Sequence[MetricSummary]) -> Iterator[SampleError]:
    """Yield every pair of sample and metric without a score; one for a sample of which all metrics say the same."""
    for place in sorted(set().union(*(column.reasons for column in columns)) if columns else ()):
        said = {(column.status(place), column.reasons.get(place)) for column in columns}
        sample_id = sample_ids[place]
        if len(said) == 1:
            status, reason = said.pop()
            yield SampleError(sample_id, None, status, reason or "")
            continue
        for column in columns:
            if place in column.reasons:
                yield SampleError(sample_id, column.name, column.status(place), column.reasons[place])
