"""
What a profile takes for relevant, and what for judged.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from rankgauge.columns import ANY_GRADE, POSITIVE, Relevance
from rankgauge.policy import Profile

__all__ = ["judged_ids", "relevance_of"]


def relevance_of(profile: Profile) -> Relevance:
    """Return from which grade on an item is relevant under a profile."""
    match profile.relevance:
        case "positive":
            return POSITIVE
        case "listed":
            return ANY_GRADE
        case minimum:
            return Relevance.from_grade(minimum)


def judged_ids(gold: Mapping[str, float], profile: Profile) -> Container[str | None]:
    """Return the ids of *gold* that count as judged under a profile."""
    if profile.negatives == "judged" or not profile.policy.judged_only:
        return gold
    return {name for name, grade in gold.items() if grade >= 0}
