"""
Grades of the first results as a text for each query: trec_eval's `relstring`.
"""

from __future__ import annotations

import numpy as np

from rankgauge.engine.unjudged import evaluation_behind, judged_again
from rankgauge.result import Result

__all__ = ["grade_strings"]

_NOT_POOLED, _UNJUDGED, _HIGH = "-", ".", ">"


def grade_strings(result: Result, length: int) -> list[str]:
    """
    Return one character for each of the first *length* results of every query of a run, which is read again.

    It is the grade from 0 to 9, without a fraction, or ``>`` for a higher one, ``-`` for a document that the judgments
    do not name, and ``.`` for one with a grade below 0: pooled, and not judged.
    """
    judged = judged_again(evaluation_behind(result, None), result)
    depth = np.minimum(judged.depth, length)
    shown = [[_NOT_POOLED] * count for count in depth.tolist()]
    rows = judged.rows.until(length)
    for sample, rank, grade in zip(rows.sample.tolist(), rows.rank.tolist(), rows.grade.tolist(), strict=True):
        shown[sample][rank - 1] = _UNJUDGED if grade < 0 else _HIGH if grade >= 10 else str(int(grade))
    return ["".join(letters) for letters in shown]
