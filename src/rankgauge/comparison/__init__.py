"""Comparison: pairs of results, their differences, and what documents that nobody judged could change."""
