"""
`JudgedSample`: one judged ranking in plain values, for metrics written for one ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rankgauge.columns.seen import Seen

__all__ = ["JudgedSample"]


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """
    One judged ranking in plain Python values.

    Attributes:
        depth: How many items were retrieved, after policy.

        grades: The grade at each rank, None where the ground truth does not name the item; `depth` long.

        gains: The gain earned at each rank, 0.0 where none is; `depth` long.

        relevant: Whether each rank holds a relevant item; `depth` long.

        gold: The grades of all gold items, best first.

        n_gold: How many gold items are relevant.

        seen: What the metric asked to see, with ``needs=("texts", ...)``.

        cuts_ideal: As in `Judged`.
    """

    depth: int
    grades: tuple[float | None, ...]
    gains: tuple[float, ...]
    relevant: tuple[bool, ...]
    gold: tuple[float, ...]
    n_gold: int
    seen: Seen = field(default_factory=Seen)
    cuts_ideal: bool = True

    def ideal(self, k: int | None = None) -> tuple[float, ...]:
        """
        Return the grades of the best possible order of the relevant gold items.

        Args:
            k: The cutoff; None for none. One that stands for a budget cuts the ranking only.

        Returns:
            Descending grades.
        """
        relevant = self.gold[: self.n_gold]
        return relevant[:k] if self.cuts_ideal else relevant
