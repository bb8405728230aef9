"""
Agreement: how often two judges give the same grade, and how much of that is more than chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

__all__ = ["Agreement", "agreement"]


class Agreement(NamedTuple):
    """
    How well two lists of labels agree.

    Attributes:
        n: How many pairs there are.

        same: How many of them have the same label.

        kappa: Cohen's kappa, from -1 to 1, where 0 is agreement by chance; None without pairs, and where both sides use
            one and the same label throughout, so that chance explains everything.
    """

    n: int
    same: int
    kappa: float | None


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> Agreement:
    """
    Return how well two lists of labels agree, pair by pair.

    ``kappa = (p_o - p_e) / (1 - p_e)`` with the observed agreement p_o and that expected of two judges who use each
    label as often as these do, at random. Cohen, A coefficient of agreement for nominal scales, 1960.
    """
    n = len(first)
    same = sum(one == other for one, other in zip(first, second, strict=True))
    own, its = Counter(first), Counter(second)
    by_chance = sum(count * its[label] for label, count in own.items())  # over n * n, kept whole
    if n * n == by_chance:
        return Agreement(n, same, None)
    return Agreement(n, same, (n * same - by_chance) / (n * n - by_chance))
