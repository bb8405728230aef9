"""
Early scores: the values of batches that were scored before all samples were read, in one array for each metric.

An array for each batch and then one of all of them would leave holes between what stays, which the allocator keeps: as
much memory as all scores take, 40 MB of a million samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.columns import Scores
from rankgauge.scoring.score import MetricScores, Outcome
from rankgauge.scoring.scored import join_outcomes

__all__ = ["EarlyScores"]

_NO_VALUES: Scores = np.empty(0)
_LEAST = 1 << 16


class EarlyScores:
    """Values of batches, each at the place of its samples."""

    def __init__(self) -> None:
        self._values: dict[str, Scores] = {}

    def taken(self, part: MetricScores, start: int) -> MetricScores:
        """Take the values of a batch whose samples begin at *start*; return the rest."""
        self._put(part.metric.name, start, part.outcome.values)
        return part._replace(outcome=part.outcome._replace(values=_NO_VALUES))

    def joined(self, name: str, outcomes: Sequence[Outcome]) -> Outcome:
        """Return the outcomes of all batches as one, with the values that were taken."""
        if name not in self._values:
            return join_outcomes(outcomes)
        start = 0
        for outcome in outcomes:
            if len(outcome.values):  # one that was not taken
                self._put(name, start, outcome.values)
            start += len(outcome.status)
        return join_outcomes(outcomes, self._values.pop(name)[:start])

    def _put(self, name: str, start: int, values: Scores) -> None:
        """Write values where they belong, into half as much room again if they have none."""
        kept, end = self._values.get(name, _NO_VALUES), start + len(values)
        if end > len(kept):
            room: Scores = np.empty(max(_LEAST, end + end // 2))
            room[: len(kept)] = kept
            self._values[name] = kept = room
        kept[start:end] = values
