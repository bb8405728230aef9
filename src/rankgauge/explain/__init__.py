"""Explaining: one score rank by rank, and what would change it."""

from rankgauge.explain.explanation import Explanation, Trial
from rankgauge.scoring.facts import MissingGold, RankFacts

__all__ = ["Explanation", "MissingGold", "RankFacts", "Trial"]
