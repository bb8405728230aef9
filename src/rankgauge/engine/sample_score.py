"""
What evaluations return besides results: the scores of one sample, and the counts of a dataset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
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

    def described(self, name: str) -> str:
        """
        Return a sentence about the score, for a host to show as its reason.

        Args:
            name: The column.

        Returns:
            For example ``ndcg@10 is 0.4471 (k 10)``, or why there is no score and what counts instead.
        """
        if self.status == "scored":
            facts = ", ".join(_short(self.details or {}))
            return f"{name} is {self.value:.4g}{f' ({facts})' if facts else ''}"
        counts = "nothing counts" if self.value is None else f"{self.value:.4g} counts"
        return f"{name} is {self.status}, {counts}: {self.reason}"


def _short(details: Mapping[str, Any]) -> Iterator[str]:
    """Yield the short facts behind a score."""
    for key, value in details.items():
        if isinstance(value, float):
            yield f"{key} {value:.4g}"
        elif value is not None and not isinstance(value, list | dict):
            yield f"{key} {value}"


class DataCheck(NamedTuple):
    """
    What a data set holds.

    Attributes:
        samples: How many samples.

        without_output: How many of them have no output.

        malformed: How many have one that cannot be read.

        gold: How many have each kind of ground truth.

        notes: What the user should know.

        failed: Why the output of a sample cannot be scored, by sample id; with metrics that need ground truth, also why
            one of them fails.
    """

    samples: int
    without_output: int
    malformed: int
    gold: Mapping[str, int]
    notes: tuple[str, ...]
    failed: Mapping[str, str] = MappingProxyType({})
