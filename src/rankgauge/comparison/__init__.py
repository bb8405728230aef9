"""Comparison: pairs of results, and what documents that nobody judged could change."""
