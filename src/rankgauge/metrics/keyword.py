"""
Keywords: how many expected keywords occur in the retrieved texts, and how early.
"""

from __future__ import annotations

import functools
from typing import Literal

import numpy as np

from rankgauge.metrics.family import USUAL, per_gold
from rankgauge.metrics.recall import each_found
from rankgauge.plugin import Contributions, Cutoff, Judged, Law, Rows, Scores, metric

__all__ = ["keyword_coverage", "keyword_ndcg", "keyword_reciprocal_rank"]

_LAWS: tuple[Law, ...] = ("bounded", "relevant-helps", "padding", "tail", "duplicates")
_over_keywords = functools.partial(
    metric, gold="keywords", matcher="keyword", uses_rel=False, undefined="the ground truth has no keyword"
)


def _coverage_details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    return {"keyword_count": judged.n_gold().tolist(), "found": judged.found(k).tolist()}


@_over_keywords(
    "keyword-coverage-at-k",
    short=("keyword_coverage",),
    laws=(*USUAL, "monotone-in-k"),
    details=_coverage_details,
    contributions=each_found,
)
def keyword_coverage(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Fraction of the keywords that occur in the texts of the first *k* results.

    Formula: *recall* over keywords: ``|keywords found in the first k texts| / |keywords|``, without regard to case and
    word boundaries. Source: the keyword article, which calls it Recall@k.

    When to use it: there is no gold passage, but you know what a good answer has to mention.

    Returns:
        Shape (n,), from 0 to 1; NaN where there is no keyword.
    """
    return per_gold(judged, judged.found(k))


def _reciprocals(judged: Judged, *, k: Cutoff | None) -> Contributions:
    return each_found(judged, k=k)._replace(discounts=1.0 / judged.finds(k).rank)


@_over_keywords("keyword-mrr", short=("keyword_mrr",), laws=(*_LAWS, "monotone-in-k"), contributions=_reciprocals)
def keyword_reciprocal_rank(judged: Judged, *, k: Cutoff | None = None) -> Scores:
    """
    Mean over a sample's keywords of one over the rank of the first text that has the keyword.

    Formula: ``sum over keywords of 1 / rank, divided by |keywords|``; a keyword that is never found counts 0.
    Source: the keyword article ("average MRR").

    When to use it: like `keyword-coverage-at-k`, when it matters how early a keyword comes.

    Returns:
        Shape (n,), from 0 to 1; NaN where there is no keyword.
    """
    first = judged.rows.where(judged.first).until(k)
    return per_gold(judged, judged.sum(first, 1.0 / first.rank))


@_over_keywords("keyword-ndcg-at-k", short=("keyword_ndcg",), laws=_LAWS)
def keyword_ndcg(judged: Judged, *, k: Cutoff | None, credit: Literal["keyword", "rank"] = "keyword") -> Scores:
    """
    Mean over a sample's keywords of the nDCG of the texts that have the keyword.

    Formula: with credit `keyword`, ``1 / log2(rank + 1)`` of the first such text, whose ideal is rank 1; with credit
    `rank`, every such text earns, and the ideal is the best order of what was retrieved. Source: the keyword article,
    which computes the latter.

    When to use it: like `keyword-mrr`, with a gentler discount.

    Args:
        credit: Whether a keyword earns once, or at every rank that has it.

    Returns:
        Shape (n,), from 0 to 1; NaN where there is no keyword.
    """
    if credit == "keyword":
        first = judged.rows.where(judged.first).until(k)
        scores = judged.sum(first, 1 / np.log2(first.rank + 1))
    else:
        scores = _over_what_was_retrieved(judged, judged.rows.until(k))
    return per_gold(judged, scores)


def _over_what_was_retrieved(judged: Judged, rows: Rows) -> Scores:
    """Return the sum over keywords of the discounted gain over that of the same texts ranked first."""
    keywords = len(judged.gold.sample)
    order = np.argsort(rows.gold, kind="stable")
    by_keyword = rows.where(order)
    earned = np.bincount(by_keyword.gold, weights=1 / np.log2(by_keyword.rank + 1), minlength=keywords)
    place = np.arange(len(order)) - np.searchsorted(by_keyword.gold, by_keyword.gold) + 1
    best = np.bincount(by_keyword.gold, weights=1 / np.log2(place + 1), minlength=keywords)
    ratio = np.divide(earned, best, out=np.zeros(keywords), where=best > 0)
    return judged.sum(judged.gold, ratio)
