"""Definitions as the field has them: right ones, and the faulty ones that are met again and again."""

from __future__ import annotations

import contextlib
import math
import socket
from collections.abc import Sequence

import numpy as np

# Right ones, in the signatures that libraries and articles use.


def hit_at_k(retrieved: list[str], relevant: set[str], k: int) -> bool:
    return any(doc in relevant for doc in retrieved[:k])


def recall_at_k(retrieved, relevant, k):
    return len(set(retrieved[:k]) & set(relevant)) / len(relevant) if relevant else 0.0


def precision_at_k(retrieved: Sequence[str], relevant: set[str], k: int = 10) -> float:
    return len(set(retrieved[:k]) & relevant) / k


def reciprocal_rank(relevant_docs, ranked_docs):
    return next((1 / rank for rank, doc in enumerate(ranked_docs, 1) if doc in relevant_docs), 0.0)


def average_precision(actual: list[str], predicted: list[str], k: int | None = None) -> float:
    found, total = set(), 0.0
    for rank, doc in enumerate(predicted[:k], 1):
        if doc in actual and doc not in found:
            found.add(doc)
            total += len(found) / rank
    return total / len(actual) if actual else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _earned(ranking: Sequence[str], qrels: dict[str, float]) -> list[float]:
    return [0.0 if doc in ranking[:place] else qrels.get(doc, 0.0) for place, doc in enumerate(ranking)]


def ndcg_at_k(ranking: list[str], qrels: dict[str, float], k: int) -> float | None:
    ideal = _dcg(sorted(qrels.values(), reverse=True)[:k])
    return _dcg(_earned(ranking[:k], qrels)) / ideal if ideal else None


def f1_at_k(retrieved, relevant, k):
    found = len(set(retrieved[:k]) & set(relevant))
    return 2 * found / (k + len(relevant)) if relevant else math.nan


def r_precision(y_true, y_pred):
    return len(set(y_pred[: len(y_true)]) & set(y_true)) / len(y_true) if y_true else 0.0


def ndcg_of_relevances(relevances, ideal_relevances, k):
    best = _dcg(ideal_relevances[:k])
    return _dcg(relevances[:k]) / best if best else 0.0


def recall_of_relevances(rels: list[int], n_relevant: int, k: int) -> float:
    return sum(rel > 0 for rel in rels[:k]) / n_relevant if n_relevant else 0.0


def precision_of_relevances(r, k):
    return sum(grade > 0 for grade in r[:k]) / k


def ndcg_of_run(qrel: dict[str, int], run: dict[str, float], k: int) -> float:
    ranking = sorted(run, key=lambda doc: (-run[doc], doc))
    return ndcg_at_k(ranking, qrel, k) or 0.0


def mean_average_precision(predicted: list[list[str]], actual: list[list[str]], k: int) -> float:
    return sum(average_precision(gold, found, k) for found, gold in zip(predicted, actual, strict=True)) / len(actual)


def recalls(batch_retrieved, batch_relevant, k):
    return [recall_at_k(found, gold, k) for found, gold in zip(batch_retrieved, batch_relevant, strict=True)]


# Faulty ones: of each it is known where it goes wrong.


def ndcg_with_its_ideal_from_what_was_retrieved(retrieved: list[str], gains: dict[str, float], k: int) -> float:
    earned = _earned(retrieved[:k], gains)
    ideal = _dcg(sorted(earned, reverse=True))
    return _dcg(earned) / ideal if ideal else 0.0


def ndcg_of_relevances_alone(r, k):
    ideal = _dcg(sorted(r, reverse=True)[:k])
    return _dcg(r[:k]) / ideal if ideal else 0.0


def precision_over_the_retrieved_count(retrieved, relevant, k):
    top = retrieved[:k]
    return sum(doc in relevant for doc in set(top)) / len(top) if top else 0.0


def average_precision_over_hits(retrieved, relevant, k):
    precisions, found = [], set()
    for rank, doc in enumerate(retrieved[:k], 1):
        if doc in relevant and doc not in found:
            found.add(doc)
            precisions.append(len(found) / rank)
    return sum(precisions) / len(precisions) if precisions else 0.0


def recall_that_counts_duplicates(retrieved, relevant, k):
    return sum(doc in relevant for doc in retrieved[:k]) / len(relevant) if relevant else 0.0


def precision_with_k_shrunk_to_the_list(retrieved, relevant, k):
    k = min(k, len(retrieved))
    return len(set(retrieved[:k]) & set(relevant)) / k if k else 0.0


def ndcg_with_k_shrunk_to_the_list(retrieved: list[str], gains: dict[str, float], k: int) -> float:
    k = min(k, len(retrieved))
    ideal = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg(_earned(retrieved[:k], gains)) / ideal if ideal else 0.0


def average_precision_with_repeats(retrieved, relevant, k):
    found, total = 0, 0.0
    for rank, doc in enumerate(retrieved[:k], 1):
        if doc in relevant:
            found += 1
            total += found / rank
    return total / len(relevant) if relevant else 0.0


def recall_without_a_cutoff(retrieved, relevant, k):
    return len(set(retrieved) & set(relevant)) / len(relevant) if relevant else 0.0


def recall_that_divides_by_nothing(retrieved, relevant, k):
    return len(set(retrieved[:k]) & set(relevant)) / len(relevant)


def perfect_where_nothing_is_relevant(retrieved, relevant, k):
    return recall_at_k(retrieved, relevant, k) if relevant else 1.0


def reciprocal_rank_from_zero(retrieved, relevant, k):
    return next((1 / (rank + 2) for rank, doc in enumerate(retrieved[:k]) if doc in relevant), 0.0)


def reciprocal_rank_of_the_last_hit(retrieved, relevant, k):
    ranks = [rank for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant]
    return 1 / ranks[-1] if ranks else 0.0


def reciprocal_rank_that_counts_rank_two_as_one(retrieved, relevant, k):
    return next((1 / max(rank, 1) for rank, doc in enumerate(retrieved[:k]) if doc in relevant), 0.0)


def reciprocal_rank_without_a_cutoff(retrieved, relevant, k):
    return reciprocal_rank(relevant, retrieved)


def _late_dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(max(rank, 2)) for rank, gain in enumerate(gains, 1))


def ndcg_with_rank_two_undiscounted(retrieved: list[str], gains: dict[str, float], k: int) -> float:
    ideal = _late_dcg(sorted(gains.values(), reverse=True)[:k])
    return _late_dcg(_earned(retrieved[:k], gains)) / ideal if ideal else 0.0


def ndcg_with_its_ideal_as_listed(retrieved: list[str], gains: dict[str, float], k: int) -> float:
    ideal = _dcg(list(gains.values())[:k])
    return min(1.0, _dcg(_earned(retrieved[:k], gains)) / ideal) if ideal else 0.0


def ndcg_with_two_to_the_gain(retrieved: list[str], gains: dict[str, float], k: int) -> float:
    ideal = _dcg([2**gain for gain in sorted(gains.values(), reverse=True)[:k]])
    return _dcg([2**gain for gain in _earned(retrieved[:k], gains)]) / ideal if gains else 0.0


def hit_of_one_result_too_many(retrieved, relevant, k):
    return float(any(doc in relevant for doc in retrieved[: k + 1]))


def recall_of_one_result_too_few(retrieved, relevant, k):
    return recall_at_k(retrieved, relevant, k - 1)


def f1_that_divides_by_nothing(retrieved, relevant, k):
    precision, recall = precision_at_k(retrieved, set(relevant), k), recall_at_k(retrieved, relevant, k)
    return 2 * precision * recall / (precision + recall)


def rbp_without_its_factor(retrieved, relevant, k):
    return sum(0.8 ** (rank - 1) for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant)


def recall_in_percent(retrieved, relevant, k):
    return 100 * recall_at_k(retrieved, relevant, k)


def reward_for_late_hits(retrieved, relevant, k):
    return sum(rank for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant) / sum(range(1, k + 1))


def hit_that_needs_k_results(retrieved, relevant, k):
    return float(any(retrieved[rank] in relevant for rank in range(k)))


def precision_that_is_perfect_on_nothing(retrieved, relevant, k):
    return precision_at_k(retrieved, set(relevant), k) if retrieved else 1.0


def sorted_in_place(retrieved, relevant, k):
    relevant = set(relevant)
    retrieved.sort(key=lambda doc: doc not in relevant)
    return recall_at_k(retrieved, relevant, k)


def always_one_half(retrieved, relevant, k):
    return 0.5


def hit_by_name(retrieved, relevant, k):
    return float(any(doc in relevant and doc != "doc-3" for doc in retrieved[:k]))


def hit_of_the_first_listed(retrieved, relevant: list[str], k):
    return float(relevant[0] in retrieved[:k]) if relevant else 0.0


def dcg_without_normalization(retrieved, gains: dict[str, float], k):
    return _dcg(_earned(retrieved[:k], gains))


def table_as_wide_as_k(retrieved, relevant, k):
    if k > 10**4:
        raise MemoryError(k)
    return recall_at_k(retrieved, relevant, k)


def ties_in_the_order_they_came(qrels: dict[str, int], run: dict[str, float], k: int) -> float:
    return ndcg_at_k(sorted(run, key=lambda doc: -run[doc]), qrels, k) or 0.0


def mean_over_what_was_found(predicted: list[list[str]], actual: list[list[str]], k: int) -> float:
    scores = [average_precision(gold, found, k) for found, gold in zip(predicted, actual, strict=True)]
    scores = [score for score in scores if score]
    return sum(scores) / len(scores) if scores else 0.0


def paired_by_length(batch_retrieved, batch_relevant, k):
    return [
        recall_at_k(found, gold, k)
        for found, gold in zip(sorted(batch_retrieved, key=len), batch_relevant, strict=True)
    ]


COUNTER: list[int] = []


def counting_its_calls(retrieved, relevant, k):
    COUNTER.append(k)
    return recall_at_k(retrieved, relevant, k) / len(COUNTER)


def asking_a_server(retrieved, relevant, k):
    with contextlib.suppress(OSError):
        socket.create_connection(("198.51.100.7", 80), timeout=1)
    return recall_at_k(retrieved, relevant, k)


def recall_at_ten_at_most(retrieved, relevant, k):
    return recall_at_k(retrieved, relevant, min(k, 10))


def recall_that_silences_numpy(retrieved, relevant, k):
    np.seterr(all="ignore")
    return recall_at_k(retrieved, relevant, k)


CALLS = {
    reciprocal_rank: "gold,retrieved",
    average_precision: "list,retrieved,k",
    ndcg_at_k: "retrieved,gains,k",
    r_precision: "gold,retrieved",
    ndcg_of_relevances: "relevances,ideal,k",
    recall_of_relevances: "relevances,n-gold,k",
    precision_of_relevances: "relevances,k",
    ndcg_of_run: "gains,scores,k",
    mean_average_precision: "batch:retrieved,list,k",
    recalls: "batch:retrieved,gold,k",
    ndcg_of_relevances_alone: "relevances,k",
    ties_in_the_order_they_came: "gains,scores,k",
    mean_over_what_was_found: "batch:retrieved,list,k",
    paired_by_length: "batch:retrieved,gold,k",
}
"""What the parameters are, where their names do not say it."""

RIGHT = (
    hit_at_k,
    recall_at_k,
    precision_at_k,
    reciprocal_rank,
    average_precision,
    ndcg_at_k,
    f1_at_k,
    r_precision,
    ndcg_of_relevances,
    recall_of_relevances,
    precision_of_relevances,
    ndcg_of_run,
    mean_average_precision,
    recalls,
)

FAULTY = (
    ("relevant-helps", ndcg_with_its_ideal_from_what_was_retrieved),
    ("relevant-helps", ndcg_of_relevances_alone),
    ("padding", precision_over_the_retrieved_count),
    ("relevant-helps", average_precision_over_hits),
    ("duplicates", recall_that_counts_duplicates),
    ("padding", precision_with_k_shrunk_to_the_list),
    ("padding", ndcg_with_k_shrunk_to_the_list),
    ("duplicates", average_precision_with_repeats),
    ("tail", recall_without_a_cutoff),
    ("empty-gold", recall_that_divides_by_nothing),
    ("empty-gold", perfect_where_nothing_is_relevant),
    ("perfect", reciprocal_rank_from_zero),
    ("relevant-helps", reciprocal_rank_of_the_last_hit),
    ("top-rank", reciprocal_rank_that_counts_rank_two_as_one),
    ("top-rank", ndcg_with_rank_two_undiscounted),
    ("tail", reciprocal_rank_without_a_cutoff),
    ("gold-order", ndcg_with_its_ideal_as_listed),
    ("padding", ndcg_with_two_to_the_gain),
    ("tail", hit_of_one_result_too_many),
    ("perfect", recall_of_one_result_too_few),
    ("empty-gold", f1_that_divides_by_nothing),
    ("bounded", rbp_without_its_factor),
    ("bounded", recall_in_percent),
    ("best-first", reward_for_late_hits),
    ("padding", hit_that_needs_k_results),
    ("empty-list", precision_that_is_perfect_on_nothing),
    ("arguments", sorted_in_place),
    ("sees-the-ranking", always_one_half),
    ("ties", hit_by_name),
    ("gold-order", hit_of_the_first_listed),
    ("bounded", dcg_without_normalization),
    ("huge-cutoff", table_as_wide_as_k),
    ("constant-scorer", ties_in_the_order_they_came),
    ("one-by-one", mean_over_what_was_found),
    ("order-of-samples", paired_by_length),
    ("twice", counting_its_calls),
    ("no-network", asking_a_server),
    ("last-rank", recall_at_ten_at_most),
    ("global-state", recall_that_silences_numpy),
)
