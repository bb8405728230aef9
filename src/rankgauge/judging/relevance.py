"""
Relevance: from which grade on a profile takes an item as relevant.
"""

from __future__ import annotations

from rankgauge.columns import ANY_GRADE, POSITIVE, Relevance
from rankgauge.policy import Profile

__all__ = ["relevance_of"]


def relevance_of(profile: Profile) -> Relevance:
    """Return from which grade on an item is relevant under a profile."""
    match profile.relevance:
        case "positive":
            return POSITIVE
        case "listed":
            return ANY_GRADE
        case minimum:
            return Relevance.from_grade(minimum)
