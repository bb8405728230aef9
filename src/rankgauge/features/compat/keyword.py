"""
The keyword article's functions: reciprocal rank and nDCG of a keyword in texts, and recall of document ids.

Profile `keyword` has the same conventions. `ValueError` is raised for a negative k, which the originals read as a slice
from the end, and for a text or keyword that is not a string.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from rankgauge.columns import Judged
from rankgauge.features.compat.plain_values import ByText, ByValue, cutoff, judge_by_text, judge_by_value, scores_of
from rankgauge.metrics.answer import keyword_ndcg, keyword_reciprocal_rank
from rankgauge.metrics.ndcg import discounted
from rankgauge.metrics.recall import recall

__all__ = ["Document", "calculate_dcg", "calculate_mrr", "calculate_ndcg", "calculate_recall_at_k"]

_PROFILE = "keyword"


class Document(Protocol):
    """A retrieved document, as in LangChain."""

    @property
    def page_content(self) -> str:
        """Return its text."""

    @property
    def metadata(self) -> Mapping[str, object]:
        """Return its metadata; `id` is its id."""


def calculate_mrr(keyword: str, retrieved_docs: Sequence[Document]) -> float:
    """
    Return 1 / rank of the first document whose text has the keyword, without a cutoff; 0 if none has it.

    Args:
        keyword: Found in upper or lower case and inside words; the empty keyword is in every text.

        retrieved_docs: The documents, best first.

    Raises:
        ValueError: A text or the keyword is not a string.
    """
    return scores_of(keyword_reciprocal_rank, _judged(keyword, retrieved_docs), _PROFILE)[0]


def calculate_dcg(relevances: Sequence[float], k: int) -> float:
    """
    Return the sum of ``relevance / log2(rank + 1)`` over the first *k* relevances, one for each rank.

    Raises:
        ValueError: *k* is negative or not an integer.
    """
    ranks = range(len(relevances))
    judged = judge_by_value([ByValue(ranks, ranks, relevances)], _PROFILE).at_least(-math.inf)
    return float(discounted(judged, judged.credits(cutoff(k)))[0])


def calculate_ndcg(keyword: str, retrieved_docs: Sequence[Document], k: int = 10) -> float:
    """
    Return the nDCG of the first *k* documents, relevant if the text has the keyword, as in `calculate_mrr`.

    Returns:
        From 0 to 1; 0 when no text has the keyword. The ideal order is that of the first *k* documents, so others with
        the keyword do not lower it.

    Raises:
        ValueError: *k* is negative or not an integer, or a text or the keyword is not a string.
    """
    return scores_of(keyword_ndcg, _judged(keyword, retrieved_docs), _PROFILE, k=cutoff(k))[0]


def calculate_recall_at_k(retrieved_docs: Sequence[Document], relevant_ids: Collection[object], k: int) -> float:
    """
    Return the share of the relevant ids among the first *k* documents; 0 when no id is relevant.

    Args:
        retrieved_docs: The documents, best first; one without `id` in its metadata has the id None.

        relevant_ids: The ids to find; repeated ones count once.

        k: How many documents count.

    Raises:
        ValueError: *k* is negative or not an integer.
    """
    query = ByValue(list(relevant_ids), [document.metadata.get("id") for document in retrieved_docs])
    return scores_of(recall, judge_by_value([query], _PROFILE), _PROFILE, k=cutoff(k))[0]


def _judged(keyword: str, retrieved_docs: Sequence[Document]) -> Judged:
    texts = [document.page_content for document in retrieved_docs]
    if keyword == "":  # it is in every text, but no matcher lets an empty text match
        keyword, texts = "any", ["any"] * len(texts)
    return judge_by_text([ByText([keyword], texts)], "keywords", _PROFILE, keyword_ndcg)
