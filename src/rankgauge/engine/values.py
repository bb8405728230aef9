"""
What evaluations return besides results: the scores of one sample, and the counts of a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["DataCheck", "Progress", "SampleScore"]

Progress = Callable[[int, int | None], None]
"""Called with how many samples are done, and how many there are, if that is known."""


class SampleScore(NamedTuple):
    """
    One score of one sample.

    Attributes:
        value: What counts under the policy; None where nothing does.

        status: `scored`, `undefined`, `missing` or `failed`.

        reason: Why there is no score; empty for one that is `scored`.

        details: Facts behind the score, where they were asked for.
    """

    value: float | None
    status: str
    reason: str = ""
    details: Mapping[str, Any] | None = None


class DataCheck(NamedTuple):
    """
    What a data set holds.

    Attributes:
        samples: How many samples.

        without_output: How many of them have no output.

        malformed: How many have one that cannot be read.

        gold: How many have each kind of ground truth.

        notes: What the user should know.
    """

    samples: int
    without_output: int
    malformed: int
    gold: Mapping[str, int]
    notes: tuple[str, ...]
