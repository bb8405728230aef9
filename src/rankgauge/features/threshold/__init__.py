"""Abstention: the score below which a system should say nothing, and what that costs."""

from rankgauge.features.threshold.threshold import Half, Share, Threshold, threshold

__all__ = ["Half", "Share", "Threshold", "threshold"]
