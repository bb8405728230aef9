"""Prediction-powered comparison: means judged by a model, and corrected by what people said of some questions."""

from rankgauge.features.labels.powered_comparison import (
    JudgedQuestions,
    PoweredComparison,
    PoweredDifference,
    PoweredMetric,
    compare_powered,
)

__all__ = ["JudgedQuestions", "PoweredComparison", "PoweredDifference", "PoweredMetric", "compare_powered"]
