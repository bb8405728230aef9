"""
`Contributions`: what each judged row adds to the score of its sample, for metrics that are sums over ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankgauge.columns import Floats, Judged, Rows, Scores

__all__ = ["Contributions"]


class Contributions(NamedTuple):
    """
    A score as a sum over ranks: ``sum of gain * discount over the rows of a sample, divided by its divisor``.

    Attributes:
        rows: The judged rows that add to a score, in order of sample, then rank.

        gains: What each is worth; shape (rows,).

        discounts: What each gain is multiplied by because of its rank; shape (rows,). None for 1.

        divisors: What the sum of each sample is divided by; shape (n,). None for 1. NaN says that the score of a sample
            is no such sum, such as one that was clipped.

        divisor_is: What the divisors are, such as ``ideal DCG``, for people.
    """

    rows: Rows
    gains: Floats
    discounts: Floats | None = None
    divisors: Scores | None = None
    divisor_is: str = ""

    def values(self) -> Floats:
        """
        Return what each row adds to the score of its sample.

        Returns:
            Shape (rows,); 0 where the divisor is 0, NaN where it is NaN.
        """
        sums = self.gains if self.discounts is None else self.gains * self.discounts
        if self.divisors is None:
            return sums
        divisors = self.divisors[self.rows.sample]
        return np.divide(sums, divisors, out=np.zeros(len(sums)), where=divisors != 0)

    def scores(self, judged: Judged) -> Scores:
        """
        Return the scores that the rows add up to.

        Args:
            judged: The batch that they are of.

        Returns:
            Shape (n,); NaN where the divisor is NaN.
        """
        added = judged.sum(self.rows, self.values())
        return added if self.divisors is None else np.where(np.isnan(self.divisors), np.nan, added)
