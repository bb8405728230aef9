"""
Problems: how many of them are collected before reading stops.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from rankgauge.errors import Problem

__all__ = ["MOST", "first_problems"]

MOST = 10_000
"""More problems than this help nobody."""


def first_problems(found: Iterable[Problem], name: str) -> list[Problem]:
    """Return the first `MOST` problems of a file, with a last one that says so where reading stopped there."""
    problems = list(islice(found, MOST))
    if len(problems) == MOST:
        problems.append(Problem(f"reading stopped after {MOST:,} problems", name))
    return problems
