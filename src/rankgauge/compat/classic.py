"""The classic blog library of retrieval metrics: binary and graded metrics of one query, and an evaluator over many."""

from rankgauge.features.compat.classic import (
    GradedRetrievalMetrics,
    GradedRetrievalResult,
    RetrievalEvaluator,
    RetrievalMetrics,
    RetrievalResult,
)

__all__ = [
    "GradedRetrievalMetrics",
    "GradedRetrievalResult",
    "RetrievalEvaluator",
    "RetrievalMetrics",
    "RetrievalResult",
]
