"""
`RunCounts`: how a run fits the judgments, in numbers that add up over its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from rankgauge.errors import counted
from rankgauge.policy import Policy

__all__ = ["RunCounts"]


class RunCounts(NamedTuple):
    """
    How a run fits the judgments.

    Attributes:
        queries: How many queries are evaluated.

        missing: How many of these have no results in the run.

        unjudged: How many queries of the run are not judged, and so left out.

        tied: How many queries have equal scores whose order may change a score.

        dropped: How many repeated results the policy dropped.
    """

    queries: int = 0
    missing: int = 0
    unjudged: int = 0
    tied: int = 0
    dropped: int = 0

    @classmethod
    def total(cls, parts: Iterable[RunCounts]) -> RunCounts:
        """Return the counts of a run from those of its parts, each of which has other queries."""
        return cls(*(sum(column) for column in zip(cls(), *parts, strict=True)))

    def notes(self, policy: Policy) -> list[str]:
        """Say what a user should know of how the run fits the judgments."""
        notes = []
        if self.missing:
            how = "counted as 0" if policy.missing_output == "zero" else "left out of every mean"
            of = counted(self.queries, "judged query", "judged queries")
            notes.append(f"{self.missing:,} of {of} without results in the run; {how}")
        if self.unjudged:
            notes.append(f"{counted(self.unjudged, 'query', 'queries')} of the run not judged; left out")
        if self.dropped:
            notes.append(f"{counted(self.dropped, 'repeated result')} dropped (policy duplicates={policy.duplicates})")
        if self.tied:
            of = counted(self.queries, "query", "queries")
            notes.append(
                f"{self.tied:,} of {of} with equal scores whose order can change a metric (policy ties={policy.ties})"
            )
        return notes

    def facts(self) -> dict[str, Any]:
        """Return the counts as a manifest has them."""
        return {
            "queries_missing": self.missing,
            "queries_unjudged": self.unjudged,
            "queries_with_ties": self.tied,
            "results_dropped": self.dropped,
        }
