"""
Targets and evidence: what is to be judged, and a batch that was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from rankgauge.columns import Judged
from rankgauge.judging.budgets import Budget, Fits
from rankgauge.judging.keeping import Keeper, Lack
from rankgauge.judging.outputs import Ranking
from rankgauge.samples import GoldKind

__all__ = ["Evidence", "Target"]


class Target(NamedTuple):
    """
    What is judged against what, and how; metrics with equal targets share one judging.

    Attributes:
        gold: The kind of ground truth.

        judges: Whether the retrieved items are judged, or the generated answer.

        matcher: The matcher as written, for gold that is text; None for a join of ids, and for nuggets whose support
            the output gives.
    """

    gold: GoldKind
    judges: Literal["retrieved", "answer"] = "retrieved"
    matcher: str | None = None

    def __str__(self) -> str:
        judged = "" if self.judges == "retrieved" else " of the generated answer"
        joined = "id" if self.gold == "relevant" else "the support that the output gives"
        return f"{self.gold}{judged} by {joined if self.matcher is None else f'text, matcher {self.matcher}'}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """
    A judged batch, of samples or of a run's queries.

    Attributes:
        judged: The columns that metrics read.

        without_gold: The samples that do not have this kind of ground truth at all.

        faults: Why a sample could not be judged, by its place in the batch.

        rankings: What each sample retrieved, after policy, None where there is nothing; empty unless asked for.

        looks: One retrieved id and one gold id, of a sample that has both; for messages.

        textless: The first rank whose item has no text, of samples that were judged by text without all of them.

        lacks: What metrics asked to see and a sample lacks, by its place.

        fits: How many ranks of each sample fit into each budget that was asked for.

        n_tied: Of how many queries of a run the order of equal scores may change a score.

        n_dropped: How many duplicates were dropped from a run.
    """

    judged: Judged
    without_gold: Sequence[int] = ()
    faults: Mapping[int, str] = field(default_factory=dict)
    rankings: Sequence[Ranking | None] = ()
    looks: tuple[str, str] | None = None
    textless: Mapping[int, int] = field(default_factory=dict)
    lacks: Mapping[int, Sequence[Lack]] = field(default_factory=dict)
    fits: Mapping[Budget, Fits] = field(default_factory=dict)
    n_tied: int = 0
    n_dropped: int = 0

    @classmethod
    def kept(
        cls,
        keeper: Keeper,
        judged: Judged,
        without_gold: Sequence[int],
        faults: Mapping[int, str],
        **others: Any,  # noqa: ANN401  # the rest of the attributes
    ) -> Evidence:
        """Return a judged batch of samples with what was kept of them."""
        if keeper.shown is not None:
            judged = replace(judged, shown=keeper.shown)
        kept: dict[str, Any] = {"rankings": keeper.rankings, "lacks": keeper.lacks, "fits": keeper.fits}
        return cls(judged, without_gold, faults, **kept, **others)

    @property
    def has_gold(self) -> bool:
        """Return whether any sample has this kind of ground truth."""
        return len(self.without_gold) < self.judged.n
