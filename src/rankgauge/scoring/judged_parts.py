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
    """
    What was seen in some of the samples that decides about all of them.

    Attributes:
        targets: Kinds of ground truth that a sample has.

        met: Whether a retrieved id is a relevant id.

        looks: One retrieved id and one gold id, for messages.

        refused: Whether there is ground truth that cannot be used.
    """

    targets: frozenset[Target] = frozenset()
    met: bool = False
    looks: tuple[str, str] | None = None
    refused: bool = False

    def __or__(self, other: Sighting) -> Sighting:
        return Sighting(
            self.targets | other.targets,
            self.met or other.met,
            self.looks or other.looks,
            self.refused or other.refused,
        )


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """
    Samples that were judged in one process, to be scored in another; it can be pickled.

    Attributes:
        batch: What was judged; None where there was no sample.

        ids: The samples, in order.

        tags: The cohorts of each.

        keys: A hash of what each was judged against.

        sighting: What decides about all samples.
    """

    batch: JudgedBatch | None
    ids: list[str]
    tags: list[tuple[str, ...]]
    keys: Words
    sighting: Sighting
