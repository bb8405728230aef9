"""
REMem's retrieval metrics: recall, all-or-nothing recall and any-match nDCG over chunks of gold documents.

Profile `remem` has the same conventions. `ValueError` is raised where the original crashes or computes something else
than it says: no examples, no k, a k that is negative, lists of different length (which it cuts to the shorter one and
then divides by the longer).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rankgauge.columns import Judged, Scores
from rankgauge.compat.judging import ByText, ByValue, cutoff, judge_by_text, judge_by_value, scores_of
from rankgauge.logs import logger
from rankgauge.matchers.comparers import is_chunk_of_original as is_chunk_from_original
from rankgauge.metrics.ndcg import ndcg_any
from rankgauge.metrics.recall import recall, recall_all

__all__ = ["RetrievalNDCGAny", "RetrievalRecall", "RetrievalRecallAll", "is_chunk_from_original"]

_PROFILE = "remem"
_K_LIST = (1, 5, 10, 20)

Texts = Sequence[Sequence[str]]
PooledAndExamples = tuple[dict[str, float], list[dict[str, float]]]


class _Retrieval:
    """What is made with a configuration that it does not read."""

    def __init__(self, global_config: object = None) -> None:
        self.global_config = global_config


class RetrievalRecall(_Retrieval):
    """
    Share of the distinct gold documents that stand, letter by letter, among the first k chunks.

    Attributes:
        metric_name: What REMem calls it.

        global_config: Whatever was given; nothing is read from it.
    """

    metric_name: str = "retrieval_recall"

    def calculate_metric_scores(
        self, gold_docs: Texts, retrieved_chunks: Texts, k_list: Sequence[int] = _K_LIST
    ) -> PooledAndExamples:
        """
        Score every example at every k.

        Args:
            gold_docs: The gold documents of each example.

            retrieved_chunks: The chunks retrieved for each, best first.

            k_list: The cutoffs; repeated ones count once.

        Returns:
            The means over examples, rounded to four digits, and the scores of each example; by ``Recall@{k}`` in
            ascending order of k. An example without gold documents scores 0.

        Raises:
            ValueError: No examples, as many gold as retrieved lists are not given, or no usable k.
        """
        cutoffs = _checked(gold_docs, retrieved_chunks, k_list)
        pairs = zip(gold_docs, retrieved_chunks, strict=True)
        judged = judge_by_value([ByValue(gold, chunks) for gold, chunks in pairs], _PROFILE)
        return _pooled("Recall", recall, judged, cutoffs)


class RetrievalRecallAll(_Retrieval):
    """
    Whether each gold document has a chunk among the first k; never so where one is listed twice.

    Attributes:
        metric_name: What REMem calls it.

        global_config: Whatever was given; nothing is read from it.
    """

    metric_name: str = "retrieval_recall_all"

    def calculate_metric_scores(
        self, gold_docs: Texts, retrieved_chunks: Texts, k_list: Sequence[int] = _K_LIST
    ) -> PooledAndExamples:
        """
        Score every example at every k.

        Args:
            gold_docs: The gold documents of each example.

            retrieved_chunks: The chunks retrieved for each, best first.

            k_list: The cutoffs; repeated ones count once.

        Returns:
            The means over examples, rounded to four digits, and the scores of each example; by ``Recall_all@{k}`` in
            ascending order of k. An example without gold documents scores 0.

        Raises:
            ValueError: No examples, as many gold as retrieved lists are not given, or no usable k.
        """
        cutoffs = _checked(gold_docs, retrieved_chunks, k_list)
        return _pooled("Recall_all", recall_all, _chunks(recall_all, gold_docs, retrieved_chunks), cutoffs)


class RetrievalNDCGAny(_Retrieval):
    """
    Discounted share of the chunks that come from any gold document; ranks 1 and 2 weigh the same.

    Attributes:
        metric_name: What REMem calls it.

        global_config: Whatever was given; nothing is read from it.
    """

    metric_name: str = "retrieval_ndcg_any"

    def calculate_metric_scores(
        self, gold_docs: Texts, retrieved_chunks: Texts, k_list: Sequence[int] = _K_LIST
    ) -> PooledAndExamples:
        """
        Score every example at every k.

        Args:
            gold_docs: The gold documents of each example.

            retrieved_chunks: The chunks retrieved for each, best first.

            k_list: The cutoffs; repeated ones count once.

        Returns:
            The means over examples, rounded to four digits, and the scores of each example; by ``NDCG_any@{k}`` in
            ascending order of k. The best order is made of what was retrieved, so that 1 does not say that every
            gold document was found. An example in which nothing matches scores 0.

        Raises:
            ValueError: No examples, as many gold as retrieved lists are not given, or no usable k.
        """
        cutoffs = _checked(gold_docs, retrieved_chunks, k_list)
        return _pooled("NDCG_any", ndcg_any, _chunks(ndcg_any, gold_docs, retrieved_chunks), cutoffs)


def _checked(gold_docs: Texts, retrieved_chunks: Texts, k_list: Sequence[int]) -> list[int]:
    """Return the cutoffs in order, after everything was checked."""
    if len(gold_docs) != len(retrieved_chunks):
        msg = (
            f"gold_docs has {len(gold_docs)} examples and retrieved_chunks has {len(retrieved_chunks)}; "
            "they must be of the same length"
        )
        raise ValueError(msg)
    if not len(gold_docs):
        msg = "gold_docs and retrieved_chunks are empty: there is no mean over no examples"
        raise ValueError(msg)
    cutoffs = sorted({cutoff(k) for k in k_list})
    if not cutoffs:
        msg = "k_list is empty; give at least one cutoff"
        raise ValueError(msg)
    short = sum(len(chunks) < cutoffs[-1] for chunks in retrieved_chunks)
    if short:
        logger("compat.remem").warning(
            "%d of %d examples have fewer than k = %d chunks", short, len(retrieved_chunks), cutoffs[-1]
        )
    return cutoffs


def _chunks(metric: Callable[..., Scores], gold_docs: Texts, retrieved_chunks: Texts) -> Judged:
    pairs = zip(gold_docs, retrieved_chunks, strict=True)
    return judge_by_text([ByText(gold, chunks) for gold, chunks in pairs], "passages", _PROFILE, metric)


def _pooled(name: str, metric: Callable[..., Scores], judged: Judged, cutoffs: Sequence[int]) -> PooledAndExamples:
    columns = {f"{name}@{k}": scores_of(metric, judged, _PROFILE, k=k) for k in cutoffs}
    # Added one after the other, as the original does: a more exact sum could round to another fourth digit.
    pooled = {key: round(float(np.cumsum(scores)[-1]) / judged.n, 4) for key, scores in columns.items()}
    examples = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return pooled, examples
