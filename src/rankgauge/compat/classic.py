"""
The classic blog library of retrieval metrics: binary and graded metrics of one query, and an evaluator over many.

Profile `classic` has the same conventions: `ndcg_at_k` is `retrieval-ndcg-any-at-k` there, and `graded_ndcg_at_k` is
`retrieval-ndcg-at-k`. `ValueError` is raised for a negative k, which the original takes for a slice from the end,
except by `precision_at_k`, where the original says that it scores 0. A grade below 0 or above the scale is taken for a
probability that is none by `expected_reciprocal_rank`, as in the original.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankgauge.columns import Judged, Scores
from rankgauge.compat.judging import ByValue, cutoff, judge_by_value, scores_of
from rankgauge.metrics.average_precision import average_precision
from rankgauge.metrics.err import expected_reciprocal_rank
from rankgauge.metrics.hit import hit
from rankgauge.metrics.ndcg import ndcg, ndcg_any
from rankgauge.metrics.precision import f1, precision
from rankgauge.metrics.recall import recall
from rankgauge.metrics.reciprocal_rank import reciprocal_rank

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
    What one query retrieved, and what is relevant to it.

    Attributes:
        query_id: The query; read by no metric.

        retrieved_doc_ids: The retrieved ids, rank 1 first.

        relevant_doc_ids: The relevant ids.

        retrieval_scores: One score for each retrieved id; required, and read by no metric.
    """

    query_id: str
    retrieved_doc_ids: Sequence[str]
    relevant_doc_ids: Collection[str]
    retrieval_scores: Sequence[float]


@dataclass
class GradedRetrievalResult:
    """
    What one query retrieved, and how relevant what is.

    Attributes:
        query_id: The query; read by no metric.

        retrieved_doc_ids: The retrieved ids, rank 1 first.

        relevance_grades: The grade of each judged id; others have grade 0.
    """

    query_id: str
    retrieved_doc_ids: Sequence[str]
    relevance_grades: Mapping[str, float]


class RetrievalMetrics:
    """The binary metrics of one query; without relevant ids, all of them are 0."""

    @staticmethod
    def precision_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return how many of the first *k* ranks hold a relevant id, divided by *k*; repeated ids count again.

        Args:
            result: The query.

            k: How many ranks count.

        Returns:
            From 0 to 1; 0 for a *k* of 0 or less.
        """
        return _at_k(precision, _judged([result]), max(k, 0))[0]

    @staticmethod
    def recall_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return the share of the relevant ids that stand in the first *k* ranks.

        Args:
            result: The query.

            k: How many ranks count.

        Returns:
            From 0 to 1.

        Raises:
            ValueError: *k* is negative or no integer.
        """
        return _at_k(recall, _judged([result]), k)[0]

    @staticmethod
    def f1_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return the harmonic mean of `precision_at_k` and `recall_at_k`.

        Args:
            result: The query.

            k: How many ranks count.

        Returns:
            From 0 to 1; 0 where both are 0.

        Raises:
            ValueError: *k* is negative or no integer.
        """
        return _at_k(f1, _judged([result]), k)[0]

    @staticmethod
    def average_precision(result: RetrievalResult) -> float:
        """
        Return the sum of the precision at every rank that holds a relevant id, divided by the number of relevant ids.

        Args:
            result: The query.

        Returns:
            0 or more; above 1 where relevant ids are repeated. Nothing is cut.
        """
        return scores_of(average_precision, _judged([result]), _PROFILE)[0]

    @staticmethod
    def reciprocal_rank(result: RetrievalResult) -> float:
        """
        Return one over the first rank that holds a relevant id.

        Args:
            result: The query.

        Returns:
            From 0 to 1. Nothing is cut.
        """
        return scores_of(reciprocal_rank, _judged([result]), _PROFILE)[0]

    @staticmethod
    def ndcg_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return the discounted share of the first *k* ranks over that of the same ranks in the best order.

        Args:
            result: The query.

            k: How many ranks count.

        Returns:
            From 0 to 1. Relevant ids that were not retrieved do not lower it.

        Raises:
            ValueError: *k* is negative or no integer.
        """
        return _at_k(ndcg_any, _judged([result]), k)[0]

    @staticmethod
    def hit_rate_at_k(result: RetrievalResult, k: int) -> float:
        """
        Return whether the first *k* ranks hold a relevant id.

        Args:
            result: The query.

            k: How many ranks count.

        Returns:
            0 or 1.

        Raises:
            ValueError: *k* is negative or no integer.
        """
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
            ``MAP`` and ``MRR``. Without queries all of them are NaN, and a `RuntimeWarning` says so.

        Raises:
            ValueError: A k is negative or no integer.
        """
        judged = _judged(results)
        columns = {f"{name}@{k}": _at_k(metric, judged, k) for k in self.k_values for name, metric in _AT_K.items()}
        columns |= {name: scores_of(metric, judged, _PROFILE) for name, metric in _UNCUT.items()}
        if not results:
            warnings.warn("there are no queries, so that every mean is NaN", RuntimeWarning, stacklevel=2)
            return dict.fromkeys(columns, math.nan)
        return {name: float(np.mean(scores)) for name, scores in columns.items()}

    def generate_report(self, evaluation: Mapping[str, float]) -> str:
        """
        Write means down as Markdown.

        Args:
            evaluation: What `evaluate` returned.

        Returns:
            Precision, recall, NDCG, then MAP and MRR, with four digits. Names are sorted as text, so that ``P@10``
            stands before ``P@3``; F1 and hit rate are left out.
        """
        lines = ["# Retrieval Evaluation Report"]
        for title, prefix in (("Precision", "P@"), ("Recall", "R@"), ("NDCG", "NDCG@")):
            lines += ["", f"## {title}"]
            lines += [f"- {name}: {evaluation[name]:.4f}" for name in sorted(evaluation) if name.startswith(prefix)]
        lines += ["", "## Overall", *(f"- {name}: {evaluation[name]:.4f}" for name in _UNCUT)]
        return "\n".join(lines) + "\n"


class GradedRetrievalMetrics:
    """The graded metrics of one query; repeated ids count again, and nothing holds their scores below 1."""

    @staticmethod
    def graded_ndcg_at_k(result: GradedRetrievalResult, k: int) -> float:
        """
        Return the discounted gain ``2**grade - 1`` of the first *k* ranks over that of the best order of all grades.

        Args:
            result: The query.

            k: How many ranks count.

        Returns:
            0 where no grade counts; above 1 where ids are repeated.

        Raises:
            ValueError: *k* is negative or no integer.
        """
        return scores_of(ndcg, _graded(result), _PROFILE, k=cutoff(k))[0]

    @staticmethod
    def expected_reciprocal_rank(result: GradedRetrievalResult, max_grade: float = 3) -> float:
        """
        Return one over the rank at which a reader who goes down the list is expected to be satisfied.

        Args:
            result: The query.

            max_grade: The highest grade of the scale. A higher one goes unnoticed, and the score may be anything.

        Returns:
            From 0 to below 1, as even the highest grade satisfies with ``1 - 2**-max_grade`` only. Nothing is cut.
        """
        judged = _graded(result)
        return scores_of(expected_reciprocal_rank, judged, _PROFILE, k=judged.depth, max_grade=max_grade)[0]


def _judged(results: Sequence[RetrievalResult]) -> Judged:
    return judge_by_value(
        [ByValue(list(result.relevant_doc_ids), result.retrieved_doc_ids) for result in results], _PROFILE
    )


def _graded(result: GradedRetrievalResult) -> Judged:
    """Return a query judged with all its grades, those of 0 and below included."""
    grades = result.relevance_grades
    query = ByValue(list(grades), result.retrieved_doc_ids, list(grades.values()))
    return judge_by_value([query], _PROFILE).at_least(-math.inf)


def _at_k(metric: Callable[..., Scores], judged: Judged, k: int) -> list[float]:
    """Return the scores of a binary metric, all of which are 0 in the first 0 ranks."""
    cut = cutoff(k)
    return scores_of(metric, judged, _PROFILE, k=cut) if cut else [0.0] * judged.n
