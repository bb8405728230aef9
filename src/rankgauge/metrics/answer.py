"""
Answers: whether the retrieved texts hold the answer, and how close the generated answer is to it.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from rankgauge.columns.judged_rows import first_of_each
from rankgauge.metrics.recall import any_found, first_found
from rankgauge.plugin import Contributions, Cutoff, Judged, Law, Scores, metric

__all__ = ["answer_containment", "answer_exact_match", "answer_f1"]


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
    laws=get_args(Law),  # every law
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
        Shape (n,), 0 or 1; NaN where there is no answer.
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
        Shape (n,), 0 or 1; NaN where there is no answer.
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
        Shape (n,), from 0 to 1; NaN where there is no answer.
    """
    best = np.zeros(judged.n)
    np.maximum.at(best, judged.rows.sample, judged.score)
    return np.where(judged.n_gold() > 0, best, np.nan)
