"""
What was judged of a part of the samples, before anything is scored.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.columns import Words
from rankgauge.judging import Target
from rankgauge.scoring.score import JudgedBatch

__all__ = ["JudgedPart", "Sighting"]


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen in some of the samples that decides about all of them."""

    targets: frozenset[Target] = frozenset()  # kinds of ground truth that a sample has
    met: bool = False  # whether a retrieved id is a relevant id
    looks: tuple[str, str] | None = None  # one retrieved id and one gold id, for messages
    refused: bool = False  # whether there is ground truth that cannot be used

    def __or__(self, other: Sighting) -> Sighting:
        return Sighting(
            self.targets | other.targets,
            self.met or other.met,
            self.looks or other.looks,
            self.refused or other.refused,
        )


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """Samples that were judged in one process, to be scored in another; it can be pickled."""

    batch: JudgedBatch | None  # None where there was no sample
    ids: list[str]  # in order
    tags: list[tuple[str, ...]]  # the cohorts of each
    keys: Words  # a hash of what each was judged against
    sighting: Sighting
