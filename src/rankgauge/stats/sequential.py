"""
A test of a mean that may be looked at after every value: the values of a finite set come one by one, in random order.

Waudby-Smith & Ramdas, Estimating means of bounded random variables by betting (JRSS B 2024), section 5: sampling
without replacement. What it promises, and how that was simulated: docs/explanation/comparing.md.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["BoundTest"]

_BETS = (np.arange(1, 21) / 20) ** 1.5
"""The shares of the capital that are bet; each starts with as much, and small ones are closer together."""

_SLACK = 1e-9
"""How much of a value rounding may make up where a mean is certain."""


class BoundTest:
    """
    Whether the mean of *n* values from 0 to 1 is at least a bound, decided as soon as the values so far show it.

    At every moment, and so at the moment of the decision, the probability of a wrong one is at most *level*, where all
    orders of the values are equally likely. Let m be what the mean of the values to come has to be for the whole mean
    to equal the bound. A bet of a share c on a higher mean multiplies its capital by ``1 - c + c value / m``. Where the
    mean is below the bound, that is at most 1 on average, so that the capital ever reaches ``1 / level`` with a
    probability of at most *level* (Ville). The same holds for bets on a lower mean, with ``1 - value`` and ``1 - m``,
    where the mean is the bound or more. Only one of the two can be wrong. A value that does not count takes part as the
    bound itself, which leaves the side that the mean of the others is on.

    Attributes:
        verdict: Whether the mean is at least the bound; None as long as that is open.

        seen: How many values were added before it was decided.
    """

    def __init__(self, n: int, bound: float, level: float = 0.05) -> None:
        """Begin with no value."""
        self.verdict: bool | None = None
        self.seen = 0
        self._left, self._bound, self._slack = n, bound, _SLACK * n
        self._needed = n * bound  # what the values to come have to sum up to
        self._wanted = math.log(len(_BETS) / level)
        self._higher, self._lower = np.zeros(len(_BETS)), np.zeros(len(_BETS))

    def add(self, value: float) -> bool | None:
        """Take the next value, NaN for one that does not count; return the verdict."""
        if self.verdict is not None:
            return self.verdict
        self.seen += 1
        counts = not math.isnan(value)
        if self._bound <= 0:
            self.verdict = True if counts else None
            return self.verdict
        value = value if counts else self._bound
        mean = self._needed / self._left
        with np.errstate(divide="ignore"):
            if mean > 0:
                self._higher += np.log1p(_BETS * (value / mean - 1))
            if mean < 1:
                self._lower += np.log1p(_BETS * ((1 - value) / (1 - mean) - 1))
        self._needed -= value
        self._left -= 1
        if self._needed <= -self._slack or np.logaddexp.reduce(self._higher) >= self._wanted:
            self.verdict = True
        elif self._needed >= self._left + self._slack or np.logaddexp.reduce(self._lower) >= self._wanted:
            self.verdict = False
        return self.verdict
