"""
Interpretation bands: a word for a mean, for readers who meet a metric for the first time.

The cut points are those of the keyword article. What they mean for reciprocal rank is stated here as arithmetic
has it: a first relevant item that always stands at rank 2 gives exactly 0.5, at rank 3 a third.
"""

from __future__ import annotations

__all__ = ["band"]

_RANKED = ((1.0, "perfect"), (0.9, "excellent"), (0.75, "good"), (0.5, "acceptable"), (0.0, "poor"))
_RECALL = ((1.0, "complete"), (0.75, "good"), (0.5, "acceptable"), (0.0, "missing much"))
_BANDS = {
    "retrieval-mrr": _RANKED,
    "keyword-mrr": _RANKED,
    "retrieval-ndcg-at-k": _RANKED,
    "retrieval-ndcg-any-at-k": _RANKED,
    "keyword-ndcg-at-k": _RANKED,
    "retrieval-recall-at-k": _RECALL,
    "keyword-coverage-at-k": _RECALL,
}


def band(alias: str, mean: float | None) -> str:
    """Return the word for a mean of the metric with this alias; empty for a metric without bands."""
    if mean is None:
        return ""
    return next((word for least, word in _BANDS.get(alias, ()) if mean >= least), "")
