"""
Judging: each sample's output against one kind of its ground truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.by_id import IdJudge
from rankgauge.judging.by_support import SupportJudge
from rankgauge.judging.by_text import TextJudge
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.keeping import NOTHING, Keep
from rankgauge.policy import Profile
from rankgauge.samples import Sample

__all__ = ["Judge", "judge", "make_judge"]

Judge = IdJudge | SupportJudge | TextJudge
"""Judges one batch: `add(samples)` any number of times, then `evidence()`."""


def make_judge(
    target: Target, profile: Profile, matcher: ResolvedMatcher | None = None, *, keep: Keep = NOTHING
) -> Judge:
    """Make a judge for one batch; *matcher* is the one that the target names, None for a join."""
    if matcher is None and target.gold == "nuggets":
        return SupportJudge(profile, keep=keep)
    if matcher is None:
        return IdJudge(profile, keep=keep)
    return TextJudge(target, profile, matcher, keep=keep)


def judge(
    samples: Sequence[Sample],
    target: Target,
    profile: Profile,
    matcher: ResolvedMatcher | None = None,
    *,
    keep: Keep = NOTHING,
) -> Evidence:
    """Judge a batch in one step; samples that cannot be judged have no rows, and stand among the faults."""
    judging = make_judge(target, profile, matcher, keep=keep)
    judging.add(samples)
    return judging.evidence()
