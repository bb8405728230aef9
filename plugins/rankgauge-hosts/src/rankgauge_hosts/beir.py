"""
rankgauge in place of BEIR's `EvaluateRetrieval.evaluate`: the same call, the same dictionaries, the same numbers.

BEIR is not imported here; ``EvaluateRetrieval.evaluate = staticmethod(rankgauge_hosts.beir.evaluate)`` puts it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import rankgauge

__all__ = ["evaluate"]

Means = dict[str, float]

_MEASURES = ("NDCG", "MAP", "Recall", "P")


def evaluate(
    qrels: Mapping[str, Mapping[str, int]],
    results: Mapping[str, Mapping[str, float]],
    k_values: Sequence[int],
    ignore_identical_ids: bool = True,  # noqa: FBT001, FBT002  # as BEIR has it
) -> tuple[Means, Means, Means, Means]:
    """
    Return nDCG, MAP, recall and precision at every cutoff, over the judged queries that have results.

    Args:
        qrels: The grades of the judged documents of each query.

        results: The scores of the retrieved documents of each query; unlike BEIR, this leaves them as they are.

        k_values: The cutoffs.

        ignore_identical_ids: Whether to drop a retrieved document whose id is the query's.

    Returns:
        Four dictionaries such as ``{"NDCG@10": 0.71932}``, rounded to five places.

    Raises:
        RankgaugeError: Judgments, results or cutoffs cannot be used, or no query with results is judged.
    """
    names = [[f"{measure}@{k}" for k in k_values] for measure in _MEASURES]
    metrics = [{"metric": name, "as": name} for of_measure in names for name in of_measure]
    policy = {"exclude_self": ignore_identical_ids, "queries": "intersection"}
    scores = rankgauge.evaluate(qrels, results, metrics, profile="trec9", policy=policy)
    ndcg, average_precision, recall, precision = (
        {name: round(scores.metrics[name].mean or 0.0, 5) for name in of_measure} for of_measure in names
    )
    return ndcg, average_precision, recall, precision
