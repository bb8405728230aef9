"""
Problems: what readers say that could not read, and how much of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from rankgauge.errors import DataError, Problem, UnreadableError

__all__ = ["MOST", "MalformedError", "first_problems", "no_judgments", "unreadable"]

MOST = 10_000
"""More problems than this help nobody."""


class MalformedError(Exception):
    """A file has a wrong line; reading it carefully tells which ones, and why."""


def first_problems(found: Iterable[Problem], name: str) -> list[Problem]:
    """Return the first `MOST` problems of a file, with a last one that says so where reading stopped there."""
    problems = list(islice(found, MOST))
    if len(problems) == MOST:
        problems.append(Problem(f"reading stopped after {MOST:,} problems", name))
    return problems


def unreadable(name: str, message: str, line: int | None = None) -> UnreadableError:
    """Return the error of a file that cannot be read at all, for one reason."""
    return UnreadableError(f"cannot read {name}:", [Problem(message, name, line)])


def no_judgments(name: str = "") -> DataError:
    """Return the error of judgments that are empty."""
    return DataError("the judgments cannot be used:", [Problem("there are no judgments", name)])
