"""Explaining: one score rank by rank, and what would change it."""

from rankgauge.explain.explanation import Explanation, Trial
from rankgauge.explain.sample import explain_batch, explain_sample
from rankgauge.explain.scorer import Scorer
from rankgauge.scoring.facts import MissingGold, RankFacts

__all__ = ["Explanation", "MissingGold", "RankFacts", "Scorer", "Trial", "explain_batch", "explain_sample"]
