"""
REMem's retrieval metrics: recall, all-or-nothing recall and any-match nDCG over chunks of gold documents.

Profile `remem` has the same conventions. `ValueError` is raised if the original crashes or computes something other
than it says: no examples, no k, a negative k, or lists of different length (it cuts them to the shorter one, then
divides by the longer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from rankgauge.base.logs import logger
from rankgauge.columns import Judged, Scores
from rankgauge.features.compat.plain_values import ByText, ByValue, cutoff, judge_by_text, judge_by_value, scores_of
from rankgauge.matchers.comparers import is_chunk_of_original as is_chunk_from_original
from rankgauge.metrics.ndcg import ndcg_any
from rankgauge.metrics.recall import recall, recall_all

__all__ = ["RetrievalNDCGAny", "RetrievalRecall", "RetrievalRecallAll", "is_chunk_from_original"]

_PROFILE = "remem"
_K_LIST = (1, 5, 10, 20)

Texts = Sequence[Sequence[str]]
PooledAndExamples = tuple[dict[str, float], list[dict[str, float]]]


class _Retrieval:
    """
    A retrieval metric of REMem; its subclasses say which.

    Attributes:
        metric_name: Its name in REMem.

        global_config: What was given; it is not read.
    """

    metric_name: str
    _key: str
    _metric: Callable[..., Scores]

    def __init__(self, global_config: object = None) -> None:
        self.global_config = global_config

    def calculate_metric_scores(
        self, gold_docs: Texts, retrieved_chunks: Texts, k_list: Sequence[int] = _K_LIST
    ) -> PooledAndExamples:
        """
        Score every example at every k.

        Args:
            gold_docs: The gold documents of each example.

            retrieved_chunks: The chunks retrieved for each, best first.

            k_list: The cutoffs; duplicates count once.

        Returns:
            The means over examples, rounded to four digits, and the scores of each example, by name such as
            ``Recall@5`` in ascending order of k. An example without gold documents, or without a match, scores 0.

        Raises:
            ValueError: There are no examples, the two lists differ in length, or there is no usable k.
        """
        if len(gold_docs) != len(retrieved_chunks):
            sizes = f"gold_docs has {len(gold_docs)} examples and retrieved_chunks has {len(retrieved_chunks)}"
            raise ValueError(f"{sizes}; they must be of the same length")
        if not len(gold_docs):
            raise ValueError("there are no examples: gold_docs and retrieved_chunks are empty")
        cutoffs = sorted({cutoff(k) for k in k_list})
        if not cutoffs:
            raise ValueError("k_list is empty; give at least one cutoff")
        short = sum(len(chunks) < cutoffs[-1] for chunks in retrieved_chunks)
        if short:
            logger("compat.remem").warning(
                "%d of %d examples have fewer than k = %d chunks", short, len(retrieved_chunks), cutoffs[-1]
            )
        judged = self._judged(zip(gold_docs, retrieved_chunks, strict=True))
        columns = {f"{self._key}@{k}": scores_of(self._metric, judged, _PROFILE, k=k) for k in cutoffs}
        # Summed one after the other, as the original does: a more exact sum could round to another fourth digit.
        pooled = {key: round(float(np.cumsum(scores)[-1]) / judged.n, 4) for key, scores in columns.items()}
        return pooled, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _judged(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Judged:
        return judge_by_text([ByText(gold, chunks) for gold, chunks in pairs], "passages", _PROFILE, self._metric)


class RetrievalRecall(_Retrieval):
    """Share of the distinct gold documents found, letter by letter, among the first k chunks (``Recall@{k}``)."""

    metric_name = "retrieval_recall"
    _key = "Recall"
    _metric = staticmethod(recall)

    def _judged(self, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Judged:
        return judge_by_value([ByValue(gold, chunks) for gold, chunks in pairs], _PROFILE)


class RetrievalRecallAll(_Retrieval):
    """
    Whether each gold document has a chunk among the first k (``Recall_all@{k}``); never if one is listed twice.
    """

    metric_name = "retrieval_recall_all"
    _key = "Recall_all"
    _metric = staticmethod(recall_all)


class RetrievalNDCGAny(_Retrieval):
    """
    nDCG of the chunks that come from any gold document (``NDCG_any@{k}``); ranks 1 and 2 weigh the same.

    The ideal order is that of the retrieved chunks, so a score of 1 does not mean that every gold document was found.
    """

    metric_name = "retrieval_ndcg_any"
    _key = "NDCG_any"
    _metric = staticmethod(ndcg_any)
