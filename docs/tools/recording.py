"""
What a recorded measure of a tool is, and how drawn cases are laid out for tools.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from drawn import LABELS, Case

__all__ = ["Number", "Recording", "Score", "flat", "mean"]

Number = float | None
Score = Callable[[Case], Number]


class Recording(NamedTuple):
    """One measure of a tool on one kind of data."""

    spelling: str  # with {k} for the cutoff
    data: str
    labels: str
    score: Score


def mean(values: Iterable[float]) -> Number:
    """Return the mean; None of nothing."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else None


def flat(case: Case, labels: str) -> tuple[list[float], list[float], list[int]]:
    """Return the labels, scores and query numbers of all documents."""
    grade = LABELS[labels]
    return (
        [grade(each) for grades, _ in case.queries for each in grades],
        [score for _, scores in case.queries for score in scores],
        [place for place, (grades, _) in enumerate(case.queries) for _ in grades],
    )
