"""
Comparers: scores in [0, 1] for a block of retrieved texts against a block of gold texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.plugin import comparer

__all__ = ["contained", "equal"]


@comparer("equal")
def equal(retrieved: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
    """
    Score 1 where two texts are equal and not empty, else 0.

    Args:
        retrieved: Retrieved texts, normalized.

        gold: Gold texts, normalized.

    Returns:
        Shape (retrieved, gold).
    """
    return _block([[found == wanted != "" for wanted in gold] for found in retrieved], len(gold))


@comparer("contained")
def contained(
    retrieved: Sequence[str],
    gold: Sequence[str],
    *,
    direction: Literal["gold-in-retrieved", "retrieved-in-gold", "either"] = "gold-in-retrieved",
) -> NDArray[np.float64]:
    """
    Score 1 where one text, not empty, is a part of the other, else 0.

    Args:
        retrieved: Retrieved texts, normalized.

        gold: Gold texts, normalized.

        direction: Which of the two is to be the part.

    Returns:
        Shape (retrieved, gold).
    """
    forward = direction in {"gold-in-retrieved", "either"}
    backward = direction in {"retrieved-in-gold", "either"}
    rows = [
        [
            bool(found and wanted) and ((forward and wanted in found) or (backward and found in wanted))
            for wanted in gold
        ]
        for found in retrieved
    ]
    return _block(rows, len(gold))


def _block(rows: list[list[bool]], width: int) -> NDArray[np.float64]:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)
