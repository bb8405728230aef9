"""
Statuses of scores, and what is wrong with a sample or query for all metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from rankgauge.samples import OF_SOME, Fault, GoldKind, Sample

__all__ = ["FAILED", "MISSING", "SCORED", "STATUSES", "UNDEFINED", "Flaw", "flaws", "missing_queries"]

Status = Literal["scored", "undefined", "missing", "failed"]
STATUSES: tuple[Status, ...] = ("scored", "undefined", "missing", "failed")
SCORED, UNDEFINED, MISSING, FAILED = range(4)


class Flaw(NamedTuple):
    """Why a sample has no score of any metric: its status code and the reason."""

    status: int
    reason: str
    of_output: Flaw | None = None  # of an unanswerable sample, what is wrong with its output, if anything

    def seen_by(self, gold: GoldKind) -> Flaw | None:
        """Return the flaw that metrics of a kind of gold see: those of `OF_SOME` score unanswerable samples, too."""
        return self.of_output if self.status == UNDEFINED and gold in OF_SOME else self


def flaws(samples: Sequence[Sample], *, start: int = 0) -> dict[int, Flaw]:
    """Return which samples cannot be scored by any metric, and why; *start* is the place of the first."""
    flawed: dict[int, Flaw] = {}
    for place, sample in enumerate(samples, start):
        flaw = None
        if sample.output is None:
            flaw = Flaw(MISSING, "there is no output for this sample")
        elif isinstance(sample.output, Fault):
            flaw = Flaw(FAILED, sample.output.reason)
        if not sample.answerable:
            flaw = Flaw(UNDEFINED, "the sample is declared unanswerable (metadata.answerable: false)", flaw)
        if flaw is not None:
            flawed[place] = flaw
    return flawed


def missing_queries(places: Iterable[int]) -> dict[int, Flaw]:
    """Return that a run lacks some queries, as their flaw."""
    return dict.fromkeys(places, Flaw(MISSING, "the run has no results for this query"))
