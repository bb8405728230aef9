"""
Judging a batch: each sample's output against one kind of its ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.by_id import judge_by_id
from rankgauge.judging.by_text import judge_by_text
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.policy import Profile
from rankgauge.samples import Sample

__all__ = ["judge"]


def judge(
    samples: Sequence[Sample],
    target: Target,
    profile: Profile,
    matcher: ResolvedMatcher | None = None,
    *,
    keep_rankings: bool = False,
) -> Evidence:
    """
    Judge a batch.

    Args:
        samples: The batch.

        target: What is judged against what.

        profile: The policy, and what counts as relevant.

        matcher: The matcher that `target` names; None for a join of ids.

        keep_rankings: Whether the evidence is to hold the rankings, too.

    Returns:
        The judged batch. Samples that cannot be judged have no rows, and stand among the faults.
    """
    if matcher is None:
        return judge_by_id(samples, profile, keep_rankings=keep_rankings)
    return judge_by_text(samples, target, profile, matcher, keep_rankings=keep_rankings)
