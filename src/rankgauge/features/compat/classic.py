"""
The classic blog library of retrieval metrics: binary and graded metrics of one query, and an evaluator over many.

Profile `classic` has the same conventions: `ndcg_at_k` is `retrieval-ndcg-any-at-k` there, and `graded_ndcg_at_k` is
`retrieval-ndcg-at-k`. A negative k, which the original reads as a slice from the end, raises `ValueError`, except in
`precision_at_k`, where the original returns 0. As in the original, `expected_reciprocal_rank` does not check grades:
one below 0 or above the scale gives a probability outside 0 to 1.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.columns import Judged, Scores
from rankgauge.features.compat.plain_values import ByValue, cutoff, judge_by_value, scores_of
from rankgauge.metrics.average_precision import average_precision
from rankgauge.metrics.ndcg import ndcg, ndcg_any
from rankgauge.metrics.precision import f1, precision
from rankgauge.metrics.recall import hit, recall
from rankgauge.metrics.reciprocal_rank import expected_reciprocal_rank, reciprocal_rank

__all__ = [
    "GradedRetrievalMetrics",
    "GradedRetrievalResult",
    "RetrievalEvaluator",
    "RetrievalMetrics",
    "RetrievalResult",
]

_PROFILE = "classic"
_AT_K: Mapping[str, Callable[..., Scores]] = {"P": precision, "R": recall, "F1": f1, "NDCG": ndcg_any, "Hit": hit}
_UNCUT: Mapping[str, Callable[..., Scores]] = {"MAP": average_precision, "MRR": reciprocal_rank}


@dataclass
class RetrievalResult:
    """
    The documents that one query retrieved, and the relevant ones.

    Attributes:
        query_id: The query; no metric reads it.

        retrieved_doc_ids: The retrieved ids, rank 1 first.

        relevant_doc_ids: The relevant ids.

        retrieval_scores: One score for each retrieved id; required, but no metric reads it.
    """

    query_id: str
    retrieved_doc_ids: Sequence[str]
    relevant_doc_ids: Collection[str]
    retrieval_scores: Sequence[float]


@dataclass
class GradedRetrievalResult:
    """
    The documents that one query retrieved, and the grades of judged ones.

    Attributes:
        query_id: The query; no metric reads it.

        retrieved_doc_ids: The retrieved ids, rank 1 first.

        relevance_grades: The grade of each judged id; all others have grade 0.
    """

    query_id: str
    retrieved_doc_ids: Sequence[str]
    relevance_grades: Mapping[str, float]


class RetrievalMetrics:
    """
    The binary metrics of one query; all are 0 without relevant ids.

    *k* is how many ranks count; all but `precision_at_k` raise `ValueError` if it is negative, or not an integer.
    """

    @staticmethod
    def precision_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return the share of the first *k* ranks that hold a relevant id; duplicates count again; 0 for a *k* below 1.
        """
        return _at_k(precision, _judged([result]), max(k, 0))[0]

    @staticmethod
    def recall_at_k(result: RetrievalResult, k: int) -> float:
        """Return the share of the relevant ids among the first *k* ranks."""
        return _at_k(recall, _judged([result]), k)[0]

    @staticmethod
    def f1_at_k(result: RetrievalResult, k: int) -> float:
        """Return the harmonic mean of `precision_at_k` and `recall_at_k`; 0 if both are 0."""
        return _at_k(f1, _judged([result]), k)[0]

    @staticmethod
    def average_precision(result: RetrievalResult) -> float:
        """
        Return the sum of the precision at every rank that holds a relevant id, divided by the number of relevant ids.

        There is no cutoff. Above 1 if relevant ids are retrieved more than once.
        """
        return scores_of(average_precision, _judged([result]), _PROFILE)[0]

    @staticmethod
    def reciprocal_rank(result: RetrievalResult) -> float:
        """Return 1 / the first rank that holds a relevant id, without a cutoff."""
        return scores_of(reciprocal_rank, _judged([result]), _PROFILE)[0]

    @staticmethod
    def ndcg_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return nDCG of the first *k* ranks, from 0 to 1; the ideal is the best order of these same ranks.

        Relevant ids that were not retrieved do not lower it.
        """
        return _at_k(ndcg_any, _judged([result]), k)[0]

    @staticmethod
    def hit_rate_at_k(result: RetrievalResult, k: int) -> float:
        """Return 1 if the first *k* ranks hold a relevant id, else 0."""
        return _at_k(hit, _judged([result]), k)[0]


class RetrievalEvaluator:
    """
    The means of the binary metrics over queries.

    Attributes:
        k_values: The cutoffs, in the order in which they are reported.
    """

    def __init__(self, k_values: Sequence[int] = (1, 3, 5, 10, 20)) -> None:
        self.k_values = list(k_values)

    def evaluate(self, results: Sequence[RetrievalResult]) -> dict[str, float]:
        """
        Return the mean of every metric over queries.

        Args:
            results: The queries.

        Returns:
            For each k ``P@k``, ``R@k``, ``F1@k`` (the mean of F1, not the F1 of means), ``NDCG@k`` and ``Hit@k``, then
            ``MAP`` and ``MRR``. All are NaN, with a `RuntimeWarning`, when there are no queries.

        Raises:
            ValueError: A k is negative or not an integer.
        """
        judged = _judged(results)
        columns = {f"{name}@{k}": _at_k(metric, judged, k) for k in self.k_values for name, metric in _AT_K.items()}
        columns |= {name: scores_of(metric, judged, _PROFILE) for name, metric in _UNCUT.items()}
        if not results:
            warnings.warn("there are no queries, so every mean is NaN", RuntimeWarning, stacklevel=2)
            return dict.fromkeys(columns, math.nan)
        return {name: float(np.mean(scores)) for name, scores in columns.items()}

    def generate_report(self, evaluation: Mapping[str, float]) -> str:
        """
        Return the means of `evaluate` as Markdown: precision, recall, NDCG, then MAP and MRR, with four digits.

        Names are sorted as text, so ``P@10`` comes before ``P@3``; F1 and hit rate are left out.
        """
        lines = ["# Retrieval Evaluation Report"]
        for title, prefix in (("Precision", "P@"), ("Recall", "R@"), ("NDCG", "NDCG@")):
            lines += ["", f"## {title}"]
            lines += [f"- {name}: {evaluation[name]:.4f}" for name in sorted(evaluation) if name.startswith(prefix)]
        lines += ["", "## Overall", *(f"- {name}: {evaluation[name]:.4f}" for name in _UNCUT)]
        return "\n".join(lines) + "\n"


class GradedRetrievalMetrics:
    """The graded metrics of one query; duplicates count again, so scores can pass 1."""

    @staticmethod
    def graded_ndcg_at_k(result: GradedRetrievalResult, k: int) -> float:
        """
        Return nDCG of the first *k* ranks with gain ``2**grade - 1``; the ideal is the best order of all grades.

        0 if no grade is above 0; above 1 if ids are retrieved more than once. `ValueError` is raised if *k* is
        negative or not an integer.
        """
        return scores_of(ndcg, _graded(result), _PROFILE, k=cutoff(k))[0]

    @staticmethod
    def expected_reciprocal_rank(result: GradedRetrievalResult, max_grade: float = 3) -> float:
        """
        Return the expected value of 1 / the rank at which a reader who goes down the list is satisfied.

        Args:
            result: The query.

            max_grade: The highest grade of the scale; higher ones are not checked, and make the score meaningless.

        Returns:
            From 0 to below 1: even the highest grade satisfies only with probability ``1 - 2**-max_grade``. There is no
            cutoff.
        """
        judged = _graded(result)
        return scores_of(expected_reciprocal_rank, judged, _PROFILE, k=judged.depth, max_grade=max_grade)[0]


def _judged(results: Sequence[RetrievalResult]) -> Judged:
    return judge_by_value(
        [ByValue(list(result.relevant_doc_ids), result.retrieved_doc_ids) for result in results], _PROFILE
    )


def _graded(result: GradedRetrievalResult) -> Judged:
    """Judge a query with all its grades, 0 and below included."""
    grades = result.relevance_grades
    query = ByValue(list(grades), result.retrieved_doc_ids, list(grades.values()))
    return judge_by_value([query], _PROFILE).at_least(-math.inf)


def _at_k(metric: Callable[..., Scores], judged: Judged, k: int) -> list[float]:
    """Return the scores of a binary metric; all are 0 at k = 0."""
    cut = cutoff(k)
    return scores_of(metric, judged, _PROFILE, k=cut) if cut else [0.0] * judged.n
