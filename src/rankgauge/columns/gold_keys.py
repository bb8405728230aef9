"""
Gold keys: hashes of what is judged relevant, which do not depend on the order of the judgments.
"""

from __future__ import annotations

import numpy as np

from rankgauge.columns.rows import Floats, Ints
from rankgauge.columns.slices import Words, mixed

__all__ = ["bits", "keys_of_gold"]


def keys_of_gold(keys: Words, grades: Floats, owners: Ints, n: int) -> Words:
    """
    Return a hash for each of *n* owners, whatever the order of what it owns.

    Args:
        keys: A hash of each document (`Slices.keys`).

        grades: The grade of each.

        owners: Whose it is, from 0.

        n: How many owners there are.

    Returns:
        One word for each owner; 0 for one that owns nothing.
    """
    sums = np.zeros(n, dtype=np.uint64)
    np.add.at(sums, owners, mixed(keys, bits(grades)))
    return sums


def bits(grades: Floats) -> Words:
    """Return grades as words; those of 0 and -0 are the same."""
    words: Words = (np.asarray(grades, dtype=np.float64) + 0.0).view(np.uint64)
    return words
