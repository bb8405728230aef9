"""
Judging: each sample's output against one kind of its ground truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rankgauge.catalog import ResolvedMatcher
from rankgauge.judging.by_id import IdJudge, SupportJudge
from rankgauge.judging.by_text import TextJudge
from rankgauge.judging.evidence import Evidence, Target
from rankgauge.judging.keeping import NOTHING, Keep
from rankgauge.judging.outputs import stands_as_given
from rankgauge.policy import DEFAULT_CONTRACT, Profile
from rankgauge.samples import Sample

__all__ = ["Judge", "judge", "make_judge", "takes_blocks"]

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


def takes_blocks(targets: Iterable[Target], profile: Profile) -> bool:
    """Return whether plain samples may be judged as blocks: by id, under a policy that keeps order and first items."""
    policy = profile.policy
    is_plain = stands_as_given(policy) and policy.duplicates == "first" and profile.contract == DEFAULT_CONTRACT
    return is_plain and all(target == Target("relevant") for target in targets)


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
