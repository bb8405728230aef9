"""The judged columns: the one structure that every metric reads."""

from rankgauge.judged.columns import Judged, JudgedSample
from rankgauge.judged.rows import ANY_GRADE, POSITIVE, Cutoff, Flags, Floats, Ints, Relevance, Rows, Scores

__all__ = [
    "ANY_GRADE",
    "POSITIVE",
    "Cutoff",
    "Flags",
    "Floats",
    "Ints",
    "Judged",
    "JudgedSample",
    "Relevance",
    "Rows",
    "Scores",
]
