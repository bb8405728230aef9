"""Explaining: one score rank by rank, and what would change it."""

from rankgauge.explain.explanation import Explanation, Trial
from rankgauge.explain.one_score import Scorer, explain_batch, explain_sample
from rankgauge.scoring.facts import MissingGold, RankFacts

__all__ = ["Explanation", "MissingGold", "RankFacts", "Scorer", "Trial", "explain_batch", "explain_sample"]
