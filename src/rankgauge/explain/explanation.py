"""
`Explanation`: one score of one sample, with everything that a report lays out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from rankgauge.errors import counted
from rankgauge.scoring.facts import MissingGold, RankFacts, plain_facts

__all__ = ["Explanation", "Trial"]


@dataclass(frozen=True, slots=True)
class Trial:
    """
    The score after one change of the ranking.

    Attributes:
        rank: The rank of the result that was left out, or of the gold item that was put on top, if it has one.

        id: The result or the gold item; None for a result that has a text only.

        score: The score then; None where there is none.
    """

    rank: int | None
    id: str | None
    score: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """
    One score of one sample: what each rank adds, what is missing, and what would change it.

    Attributes:
        sample: The sample's id.

        input: The sample's input, such as the question; any JSON value.

        metric: The column's name.

        expression: The metric with its parameters.

        higher_is_better: Whether more is better.

        judged: What was judged against what, and how.

        judges: Whether the retrieved items were judged, or the generated answer.

        by_text: Whether texts were matched, rather than ids joined.

        score: What counts under the policy; None where nothing does.

        status: `scored`, `undefined`, `missing` or `failed`.

        reason: Why there is no score; empty for one that is `scored`.

        k: The cutoff; None for none. Under a budget, how many results fit into it.

        budget: What the budget is, where the cutoff is one; else empty.

        ranks: The ranks within the cutoff. Of rankings deeper than 100 those below are left out unless they hold a gold
            item, so that the contributions always add up to the score.

        n_ranks: How many ranks there are within the cutoff.

        missing: The relevant gold items not found within the cutoff, best first.

        arithmetic: The score as one line that adds up; where the score is no sum over ranks, None.

        without: The score without each result of `ranks`, in that order.

        with_missing_on_top: The score with each of the best 20 missing gold items at rank 1.

        notes: Remarks, such as on a plugin whose contributions do not add up.
    """

    sample: str
    input: Any = None  # any JSON value: the system under test defines it
    metric: str
    expression: str
    higher_is_better: bool = True
    judged: str
    judges: Literal["retrieved", "answer"] = "retrieved"
    by_text: bool = False
    score: float | None
    status: str
    reason: str = ""
    k: int | None
    ranks: tuple[RankFacts, ...]
    n_ranks: int
    missing: tuple[MissingGold, ...]
    arithmetic: str | None
    without: tuple[Trial, ...] = ()
    with_missing_on_top: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()
    budget: str = ""

    @property
    def cost_most(self) -> Trial | None:
        """Return the result without which the score would be best, if that is better than it is."""
        return self._best(self.without)

    @property
    def would_help_most(self) -> Trial | None:
        """Return the missing gold item that would help most at rank 1, if any would."""
        return self._best(self.with_missing_on_top)

    def __repr__(self) -> str:
        score = "none" if self.score is None else f"{self.score:.4f}"
        ranks, missing = counted(self.n_ranks, "rank"), f"{len(self.missing):,} missing"
        return f"<Explanation of {self.sample!r}: {self.metric}={score}, {ranks}, {missing}>"

    def __str__(self) -> str:
        """Return what `rankgauge explain` prints."""
        from rankgauge.report.explanation import explanation_lines

        return "\n".join(explanation_lines(self))

    def change(self, trial: Trial) -> float | None:
        """
        Return by how much a trial changes the score.

        Args:
            trial: One of `without` or `with_missing_on_top`.

        Returns:
            The difference; None where one of the two scores does not exist.
        """
        return None if trial.score is None or self.score is None else trial.score - self.score

    def as_dict(self) -> dict[str, Any]:
        """
        Return the explanation as JSON values: what `rankgauge explain --json` prints.

        Returns:
            `sample`, `metric`, `score`, `ranks`, `missing`, `arithmetic`, `without` and `with_missing_on_top`.
        """
        return {
            "sample": self.sample,
            "metric": self.metric,
            "score": self.score,
            "ranks": [plain_facts(each) for each in self.ranks],
            "missing": [plain_facts(each) for each in self.missing],
            "arithmetic": self.arithmetic,
            "without": [{"rank": each.rank, "score": each.score} for each in self.without],
            "with_missing_on_top": [{"id": each.id, "score": each.score} for each in self.with_missing_on_top],
        }

    def _best(self, trials: tuple[Trial, ...]) -> Trial | None:
        sign = 1 if self.higher_is_better else -1
        better = [(sign * change, trial) for trial in trials if (change := self.change(trial))]
        gained, best = max(better, key=lambda each: each[0], default=(0.0, None))
        return best if gained > _LAST_BITS else None


_LAST_BITS = 1e-12
"""A smaller change is how sums round."""
