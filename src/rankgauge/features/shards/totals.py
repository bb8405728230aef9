"""
`Totals`: what the columns of a result come to, without the scores of each sample.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from rankgauge.base.frozen import FrozenMap, frozen, refuse_attribute
from rankgauge.errors import ParameterError, ResultError, counted, listed
from rankgauge.pickling import reduced
from rankgauge.result.column_info import MetricInfo, find_column
from rankgauge.result.meaning import Part, difference, merged_info, merged_manifest
from rankgauge.result.result import Result
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.flaws import Tried
from rankgauge.stats import (
    AGGREGATES,
    TIED,
    ExactSum,
    MeanEstimate,
    MeanInterval,
    concluded,
    interval_of_mean,
    sum_of_squares,
    terms,
)

__all__ = ["MetricTotals", "Totals"]


@dataclass(frozen=True)
class MetricTotals:
    """
    One metric over all samples, without the score of each.

    Attributes:
        info: What the column is.

        n: How many values count in the aggregate.

        n_undefined: How many samples have no score because their ground truth allows none.

        n_missing: How many samples have no output.

        n_failed: How many samples failed.

        terms: The exact sum of what the aggregate adds up: values, or their logarithms.

        values: The exact sum of the values.

        squares: The exact sum of their squares.

        lowest: The lowest value that counts; None without any.

        highest: The highest value that counts; None without any.

        tried: Whether the metric scored any sample, and what its code failed with.
    """

    info: MetricInfo
    n: int
    n_undefined: int
    n_missing: int
    n_failed: int
    terms: ExactSum
    values: ExactSum
    squares: ExactSum
    lowest: float | None
    highest: float | None
    tried: Tried = field(default_factory=Tried, repr=False)
    __reduce__ = reduced

    @classmethod
    def of(cls, column: MetricSummary) -> Self:
        """
        Add up a column.

        Args:
            column: A column of a result.

        Returns:
            What it comes to.

        Raises:
            ParameterError: Its aggregate is a plugin's, which needs every score; or its samples have weights.
        """
        info, values = column.info, column.counted
        if column.weights is not None:
            raise ParameterError(
                f"{column.name!r} cannot be added up: totals are sums over samples that count the same, and these have "
                "weights; merge the results with their scores, or leave the weights out"
            )
        if info.aggregate not in AGGREGATES:
            raise ParameterError(
                f"{column.name!r} cannot be added up: its aggregate {info.aggregate!r} needs the score of every "
                "sample; leave the metric out, or keep the scores"
            )
        return cls(
            info=info,
            n=column.n,
            n_undefined=column.n_undefined,
            n_missing=column.n_missing,
            n_failed=column.n_failed,
            terms=ExactSum.of(terms(values, info.aggregate)),
            values=ExactSum.of(values),
            squares=sum_of_squares(values),
            lowest=min(values, default=None),
            highest=max(values, default=None),
            tried=Tried.of(column.name, column.codes, column.reasons),
        )

    @classmethod
    def total(cls, parts: Sequence[MetricTotals]) -> Self:
        """
        Add up the same column over parts of the data.

        Args:
            parts: What it comes to over each part.

        Returns:
            What it comes to over all, whatever the parts.
        """
        return cls(
            info=merged_info([part.info for part in parts]),
            n=sum(part.n for part in parts),
            n_undefined=sum(part.n_undefined for part in parts),
            n_missing=sum(part.n_missing for part in parts),
            n_failed=sum(part.n_failed for part in parts),
            terms=ExactSum.total(part.terms for part in parts),
            values=ExactSum.total(part.values for part in parts),
            squares=ExactSum.total(part.squares for part in parts),
            lowest=min((part.lowest for part in parts if part.lowest is not None), default=None),
            highest=max((part.highest for part in parts if part.highest is not None), default=None),
            tried=functools.reduce(operator.or_, (part.tried for part in parts), Tried()),
        )

    @property
    def name(self) -> str:
        """Return the column's name."""
        return self.info.name

    @cached_property
    def mean(self) -> float | None:
        """Return the aggregate: the same float as `MetricSummary.mean` over all samples at once."""
        how = self.info.aggregate
        return concluded(self.terms.rounded, self.n, how) if self.n or how == "sum" else None

    @cached_property
    def std(self) -> float | None:
        """Return the sample standard deviation; it may differ from that of a `MetricSummary` in the last digits."""
        if self.n < 2:
            return None
        total, squares = (sum(map(Fraction, each.parts), Fraction()) for each in (self.values, self.squares))
        variance = (squares - total * total / self.n) / (self.n - 1)
        return math.sqrt(max(variance, Fraction()))

    @property
    def standard_error(self) -> float | None:
        """Return ``std / sqrt(n)``, the standard error of the mean; None for fewer than two values, or no mean."""
        return None if self.estimate is None else self.estimate.standard_error

    @cached_property
    def estimate(self) -> MeanEstimate | None:
        """Return the mean with its standard error; None without a value, and for a metric that is no mean."""
        if self.mean is None or self.lowest is None or self.highest is None or self.info.aggregate != "mean":
            return None
        std = 0.0 if self.std is not None and self.highest - self.lowest <= TIED else self.std
        error = None if std is None else std / math.sqrt(self.n)
        return MeanEstimate(n=self.n, mean=self.mean, std=std, standard_error=error, df=self.n - 1)

    def interval(self, confidence: float = 0.95) -> tuple[float, float] | None:
        """
        Return the interval of the mean over samples like these; see `interval_found` for which one.

        Args:
            confidence: The probability that such an interval covers the true mean, above 0 and below 1.

        Returns:
            As `MetricSummary.interval`; None if `interval_found` is.
        """
        known = self.interval_found(confidence)
        return None if known is None else (known.low, known.high)

    def interval_found(self, confidence: float = 0.95) -> MeanInterval | None:
        """
        Return the interval of the mean over samples like these, and how it was found.

        Args:
            confidence: The probability that such an interval covers the true mean, above 0 and below 1.

        Returns:
            As `MetricSummary.interval_found`, but None for a betting interval, which needs the score of every sample:
            with ``interval=exact`` there are intervals of scores that are all 0 or 1, since for these alone the exact
            sum of squares is that of the values.
        """
        if self.estimate is None or self.lowest is None or self.highest is None:
            return None
        binary = self.lowest >= 0 and self.highest <= 1 and self.squares == self.values
        exact = self.info.interval == "exact"
        return interval_of_mean(self.estimate, self.info.range, binary=binary, exact=exact, confidence=confidence)

    def percentile(self, p: float) -> float | None:
        """
        Return a percentile, as far as it is known.

        Args:
            p: From 0 to 100.

        Returns:
            The lowest value for 0 and the highest for 100; None for what would need the score of every sample.
        """
        return self.lowest if p == 0 else self.highest if p == 100 else None

    def __repr__(self) -> str:
        mean = "none" if self.mean is None else f"{self.mean:.4f}"
        return (
            f"<{self.name} mean={mean} n={self.n} undefined={self.n_undefined} missing={self.n_missing} "
            f"failed={self.n_failed}>"
        )


class Totals:
    """
    The means of an evaluation, and what else is known without the score of each sample.

    ::

        totals = Totals.merge([Totals.of(batch) for batch in evaluation.stream()])
        totals["ndcg@10"].mean

    Attributes:
        n: How many samples were evaluated.

        metrics: The columns by name, in order.

        manifest: As that of a result.

        notes: Remarks on the data.
    """

    n: int
    metrics: FrozenMap[str, MetricTotals]
    manifest: FrozenMap[str, Any]
    notes: tuple[str, ...]

    def __init__(
        self, n: int, metrics: Mapping[str, MetricTotals], manifest: Mapping[str, Any], notes: Sequence[str] = ()
    ) -> None:
        """
        Put totals together; usually `of` and `merge` do.

        Args:
            n: How many samples were evaluated.

            metrics: The columns by name, each over all samples.

            manifest: As that of a result.

            notes: Remarks on the data.
        """
        vars(self).update(n=n, metrics=FrozenMap(metrics), manifest=frozen(manifest), notes=tuple(notes))

    __setattr__ = __delattr__ = refuse_attribute

    @classmethod
    def of(cls, result: Result) -> Self:
        """
        Add up a result.

        Args:
            result: The result, for example one batch of `Evaluation.stream`.

        Returns:
            Its totals, some hundred bytes a metric whatever the number of samples.

        Raises:
            ParameterError: The aggregate of a metric is a plugin's, which needs every score.
        """
        metrics = {name: MetricTotals.of(column) for name, column in result.metrics.items()}
        return cls(len(result), metrics, result.manifest, result.notes)

    @classmethod
    def merge(cls, parts: Sequence[Totals]) -> Self:
        """
        Join the totals of parts of a data set. That no sample is in two of them cannot be checked.

        Args:
            parts: Totals with the same columns.

        Returns:
            The totals of the whole: means, counts and extremes to the last bit, in any order of the parts.

        Raises:
            ResultError: The list is empty, or columns or definitions differ.
        """
        parts = list(parts)
        if not parts:
            raise ResultError("there is nothing to merge")
        first, *others = (Part(part.metrics, part.manifest) for part in parts)
        for other in others:
            if (reason := difference(first, other)) is not None:
                raise ResultError(f"cannot merge: {reason}")
        columns = zip(*(part.metrics.values() for part in parts), strict=True)
        metrics = {name: MetricTotals.total(same) for name, same in zip(first.metrics, columns, strict=True)}
        notes = dict.fromkeys(note for part in parts for note in part.notes)
        manifest = merged_manifest([part.manifest for part in parts])
        return cls(sum(part.n for part in parts), metrics, manifest, tuple(notes))

    def __getitem__(self, name: object) -> MetricTotals:
        """
        Return a column by its name, its safe name, or any spelling of its metric.

        Args:
            name: As for a `Result`.

        Returns:
            The column.

        Raises:
            KeyError: No column has this name, or several do.
        """
        return find_column(self.metrics, name)

    def __iter__(self) -> Iterator[str]:
        """
        Iterate over the names of the columns.

        Returns:
            The names, in order.
        """
        return iter(self.metrics)

    def __repr__(self) -> str:
        columns = [
            f"{name}={'none' if column.mean is None else f'{column.mean:.4f}'}" for name, column in self.metrics.items()
        ]
        return f"<Totals of {counted(self.n, 'sample')}: {listed(columns)}>"
