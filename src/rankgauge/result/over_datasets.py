"""
The mean over datasets, each of which counts the same, as of BEIR, BRIGHT and CQADupStack.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from rankgauge.errors import ParameterError
from rankgauge.result.result import Result

__all__ = ["DatasetMean", "over_datasets"]


class DatasetMean(NamedTuple):
    """
    The mean of one metric over datasets.

    Attributes:
        mean: The sum of their means over their number; None if one of them has no mean.

        standard_error: The root of the sum of their squared standard errors, over their number, as of independent
            samples: how much it varies with the queries of these datasets, not with the choice of datasets. None if
            one of them has none.

        means: The mean of each dataset, by name; None if it has none.
    """

    mean: float | None
    standard_error: float | None
    means: Mapping[str, float | None]

    @property
    def without(self) -> tuple[str, ...]:
        """Return the datasets that have no mean."""
        return tuple(name for name, mean in self.means.items() if mean is None)

    def to_dict(self) -> dict[str, Any]:
        """Return it as reports hold it."""
        return {"mean": self.mean, "standard_error": self.standard_error, "datasets": dict(self.means)}


def over_datasets(results: Mapping[str, Result]) -> dict[str, DatasetMean]:
    r"""
    Return the means over datasets in which each dataset counts the same, however many queries it has.

    $$\bar{x} = \frac{1}{m} \sum_{i=1}^m \bar{x}_i \qquad s = \frac{1}{m} \sqrt{\sum_{i=1}^m s_i^2}$$

    Args:
        results: The results of one system by the name of the dataset; two or more.

    Returns:
        A mean for each column that all results have and that is a mean in each, in the order of the first result. A
        dataset without a mean leaves its column without one: a mean over fewer datasets is another number.

    Raises:
        ParameterError: Fewer than two results.
    """
    if len(results) < 2:
        raise ParameterError(f"a mean over datasets is one of two or more, and {len(results)} given")
    first, *others = results.values()
    found = {}
    for name in first.metrics:
        if any(name not in other.metrics for other in others):
            continue
        columns = {dataset: result.metrics[name] for dataset, result in results.items()}
        if any(column.info.aggregate != "mean" for column in columns.values()):
            continue
        means = {dataset: column.mean for dataset, column in columns.items()}
        errors = [column.standard_error for column in columns.values()]
        known = [mean for mean in means.values() if mean is not None]
        squares = [error * error for error in errors if error is not None]
        m = len(columns)
        found[name] = DatasetMean(
            math.fsum(known) / m if len(known) == m else None,
            math.sqrt(math.fsum(squares)) / m if len(squares) == m else None,
            means,
        )
    return found
