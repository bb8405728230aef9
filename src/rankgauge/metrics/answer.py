"""
Answers and keywords: whether retrieved texts hold them, how early, and how close the generated answer is.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import numpy as np

from rankgauge.columns.judged_rows import first_of_each
from rankgauge.metrics.family import USUAL, per_gold, with_gold
from rankgauge.metrics.recall import any_found, each_found, first_found
from rankgauge.plugin import Contributions, Cutoff, Judged, Law, Rows, Scores, metric

__all__ = [
    "answer_containment",
    "answer_exact_match",
    "answer_f1",
    "keyword_coverage",
    "keyword_ndcg",
    "keyword_reciprocal_rank",
]


def _containing(*, case_sensitive: bool = False, fold: Literal["casefold", "lower"] = "casefold") -> str:
    """Choose the matcher of `answer-containment-at-k`."""
    if case_sensitive:
        return "contains-cased"
    return "contains" if fold == "casefold" else "contains-lower"


def _details(judged: Judged, *, k: Cutoff) -> dict[str, list[Any]]:
    return {"matched_rank": [rank or None for rank in judged.first_rank(k).tolist()]}


@metric(
    "answer-containment-at-k",
    short=("containment", "answer_containment"),
    gold="answer",
    matcher=_containing,
    uses_rel=False,
    laws=(*USUAL, "perfect-is-one", "monotone-in-k"),
    undefined="the ground truth has no answer",
    details=_details,
    joins=("expected_span",),
    contributions=first_found,
)
def answer_containment(judged: Judged, *, k: Cutoff) -> Scores:
    """
    Whether an accepted answer occurs in the text of one of the first *k* results.

    Formula: *hit* over answers: ``1 if some answer is a substring of one of the first k texts else 0``, after runs of
    Unicode white space are collapsed, both sides are trimmed, and case is folded (unless `case_sensitive`; by
    lower-casing when ``fold=lower``). Word boundaries play no part. Source: the eval-harness metric of that name.

    When to use it: ids do not survive re-chunking, but the answer is a span of text.

    Returns:
        Shape (n,), 0 or 1; NaN if there is no answer.
    """
    return any_found(judged, k)


@metric(
    "answer-exact-match",
    short=("exact_match", "EM"),
    gold="answer",
    judges="answer",
    matcher="exact",
    uses_rel=False,
    laws=("bounded", "relevant-helps", "perfect-is-one"),
    undefined="the ground truth has no answer",
    contributions=first_found,
)
def answer_exact_match(judged: Judged) -> Scores:
    """
    Whether the generated answer equals an accepted answer.

    Formula: ``1 if actual_output.answer is one of the accepted answers else 0``, character by character; another
    matcher may be given (``answer-exact-match(matcher=folded)``). An output without an answer is a failed score.
    Source: Haystack's `AnswerExactMatchEvaluator`; with ``matcher=squad`` SQuAD's exact match (Rajpurkar et al., EMNLP
    2016).

    When to use it: answers are short and spelled one way.

    Returns:
        Shape (n,), 0 or 1; NaN if there is no answer.
    """
    return any_found(judged, None)


def _best(judged: Judged) -> Contributions:
    """Return for each sample the row of the accepted answer with the highest match score."""
    order = np.lexsort((-judged.score, judged.rows.sample))
    best = order[first_of_each(judged.rows.sample[order])]
    return Contributions(judged.rows.where(best), judged.score[best])


@metric(
    "answer-f1",
    short=("answer_f1", "token_f1"),
    gold="answer",
    judges="answer",
    matcher="squad-f1",
    uses_rel=False,
    laws=("bounded", "relevant-helps", "perfect-is-one"),
    undefined="the ground truth has no answer",
    contributions=_best,
)
def answer_f1(judged: Judged) -> Scores:
    """
    Token F1 of the generated answer and the accepted answer that is nearest to it.

    Formula: ``max over accepted answers of 2 * |common tokens| / (|tokens of one| + |tokens of the other|)``, after
    case, ASCII punctuation and English articles are removed (SQuAD's normalization). Two answers of which nothing is
    left score 1. With another matcher, the highest match score. An output without an answer is a failed score. Source:
    SQuAD 2.0's evaluation script (Rajpurkar, Jia & Liang, ACL 2018).

    When to use it: answers are short, and partly right is better than wrong.

    Returns:
        Shape (n,), from 0 to 1; NaN if there is no answer.
    """
    best = np.zeros(judged.n)
    np.maximum.at(best, judged.rows.sample, judged.score)
    return with_gold(judged, best)


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
        Shape (n,), from 0 to 1; NaN if there is no keyword.
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
        Shape (n,), from 0 to 1; NaN if there is no keyword.
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
        Shape (n,), from 0 to 1; NaN if there is no keyword.
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
