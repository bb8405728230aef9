"""The keyword article's functions: reciprocal rank and nDCG of a keyword in texts, and recall of document ids."""

from rankgauge.features.compat.keyword import (
    Document,
    calculate_dcg,
    calculate_mrr,
    calculate_ndcg,
    calculate_recall_at_k,
)

__all__ = ["Document", "calculate_dcg", "calculate_mrr", "calculate_ndcg", "calculate_recall_at_k"]
