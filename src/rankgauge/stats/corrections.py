"""
Corrections: p values of several tests, adjusted so that the chance of any false finding stays at the level.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """
    Return p values adjusted by Holm's step-down method (Scandinavian Journal of Statistics, 1979).

    Args:
        p_values: The p of each test.

    Returns:
        The adjusted p of each test, in the same order, at most 1; the smallest is multiplied by the number of tests,
        the next by one less, and none is below the one before it.
    """
    count = len(p_values)
    adjusted = [0.0] * count
    highest = 0.0
    for rank, place in enumerate(sorted(range(count), key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, (count - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted
