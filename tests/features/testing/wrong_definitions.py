"""
Wrong definitions that are hard to see, each with the law that catches it once its author declares what can be known.

The page "Laws" lists them in the same order, with the same words.
"""

from __future__ import annotations

import decimal
import locale
import math
import os
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from features.testing import definitions
from features.testing.definitions import precision_at_k, recall_at_k
from rankgauge.plugin import JudgedSample, Record, sample_metric


class Wrong(NamedTuple):
    """A wrong definition: what the page says of it, how it is declared, and the law that catches it, if any does."""

    says: str
    function: Callable[..., Any]
    law: str
    like: str = ""
    reference: Callable[..., Any] | None = None
    kind: str = "metric"


def recall_one_short(retrieved, relevant, k):
    return recall_at_k(retrieved, relevant, k - 1)


def recall_of_ten(retrieved, relevant, k):
    return recall_at_k(retrieved, relevant, min(k, 10))


def recall_of_one_more(retrieved, relevant, k):
    return len(set(retrieved[:k]) & set(relevant)) / (len(relevant) + 1)


def recall_from_grade_two(retrieved, gains, k):
    return recall_at_k(retrieved, [doc for doc, gain in gains.items() if gain >= 2], k)


def precision_over_judged(retrieved, qrels, k):
    judged = [doc for doc in retrieved[:k] if doc in qrels]
    return sum(qrels[doc] > 0 for doc in judged) / len(judged) if judged else 0.0


def precision_over_one_more(retrieved, relevant, k):
    return len(set(retrieved[:k]) & set(relevant)) / (k + 1)


def precision_over_ten(retrieved, relevant, k):
    return len(set(retrieved[:k]) & set(relevant)) / 10


def average_precision_over(retrieved, relevant, k, divisor, extra=0):
    found, total = extra, 0.0
    for rank, doc in enumerate(retrieved[:k], 1):
        if doc in relevant:
            found += 1
            total += found / rank
    return total / divisor if divisor else 0.0


def average_precision_over_k(retrieved, relevant, k):
    return average_precision_over(retrieved, relevant, k, min(k, max(len(relevant), 1) * k))


def average_precision_of_one_more(retrieved, relevant, k):
    return min(1.0, average_precision_over(retrieved, relevant, k, len(relevant), 1))


def reciprocal_rank_plus_one(retrieved, relevant, k):
    return next((1 / (rank + 1) for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant), 0.0)


def reciprocal_rank_of_judged(retrieved, qrels, k):
    judged = [doc for doc in retrieved[:k] if doc in qrels]
    return next((1 / rank for rank, doc in enumerate(judged, 1) if qrels[doc] > 0), 0.0)


def rbp_from_rank_one(retrieved, relevant, k):
    return 0.2 * sum(0.8**rank for rank, doc in enumerate(retrieved[:k], 1) if doc in relevant)


def f1_by_the_arithmetic_mean(retrieved, relevant, k):
    return (precision_at_k(retrieved, relevant, k) + recall_at_k(retrieved, relevant, k)) / 2


def ndcg(retrieved, gains, k, discount=lambda rank: math.log2(rank + 1), worth=lambda gain: gain):
    ideal = sum(worth(gain) / discount(rank) for rank, gain in enumerate(sorted(gains.values(), reverse=True)[:k], 1))
    earned = sum(worth(gains.get(doc, 0)) / discount(rank) for rank, doc in enumerate(retrieved[:k], 1))
    return earned / ideal if ideal else 0.0


def ndcg_right(retrieved, gains, k):
    return ndcg(retrieved, gains, k)


def ndcg_with_its_discount_shifted(retrieved, gains, k):
    return ndcg(retrieved, gains, k, lambda rank: math.log2(rank + 2))


def ndcg_with_a_natural_discount(retrieved, gains, k):
    return ndcg(retrieved, gains, k, lambda rank: 1 + math.log(rank))


def ndcg_without_a_discount(retrieved, gains, k):
    return ndcg(retrieved, gains, k, lambda _: 1)


def ndcg_of_binary_grades(retrieved, gains, k):
    return ndcg(retrieved, gains, k, worth=lambda gain: float(gain > 0))


def ndcg_of_grades_up_to_three(retrieved, gains, k):
    return ndcg(retrieved, gains, k, worth=lambda gain: min(gain, 3))


def ndcg_of_grades_up_to_four(retrieved, gains, k):
    return ndcg(retrieved, gains, k, worth=lambda gain: min(gain, 4))


@sample_metric("wrong-ideal-of-a-budget-at-k", like="ndcg@k")
def ndcg_with_its_ideal_cut_by_a_budget(ranking: JudgedSample, *, k: int) -> float | None:
    """Cut the ideal at the rank at which a budget ends."""
    if not ranking.n_gold:
        return None
    earned, best = (
        sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], 1))
        for gains in (ranking.gains, ranking.gold[: ranking.n_gold])
    )
    return min(1.0, earned / best) if best else None  # repeats may earn again


def bpref(retrieved, qrels, negatives):
    relevant = [doc for doc, grade in qrels.items() if grade > 0]
    irrelevant = len(qrels) - len(relevant) if negatives == "judged" else len(set(retrieved) - set(relevant))
    bound, above, total = min(len(relevant), irrelevant), 0, 0.0
    for doc in retrieved:
        if doc in relevant:
            total += 1 - min(above, bound) / bound if bound else 1.0
        elif doc in qrels or negatives == "all":
            above += 1
    return total / len(relevant) if relevant else 0.0


def bpref_with_unjudged_as_negative(retrieved, qrels):
    return bpref(retrieved, qrels, "all")


def recall_up_to_twenty_gold(retrieved, relevant: list, k):
    return recall_at_k(retrieved, relevant[:20], k)


def average_precision_of_fifty_ranks(retrieved, relevant):
    return average_precision_over(retrieved, relevant, 50, len(relevant))


def recall_in_32_bits(retrieved, relevant, k):
    return float(np.float32(recall_at_k(retrieved, relevant, k)))


def recall_of_four_decimals(retrieved, relevant, k):
    return round(recall_at_k(retrieved, relevant, k), 4)


def recall_that_is_seldom_off(retrieved, relevant, k):
    return recall_at_k(retrieved, relevant, k) * (0.5 if random.random() < 0.001 else 1.0)  # noqa: S311


@sample_metric("wrong-without-a-cutoff-at-k")
def recall_that_ignores_k(ranking: JudgedSample, *, k: int) -> float | None:
    """Look at the whole ranking."""
    return sum(ranking.relevant) / ranking.n_gold if ranking.n_gold else None


def tokens_up_to_512(text: str) -> int:
    return min(512, len(text.split()))


def stemmed_once(text: str) -> str:
    return " ".join(word.removesuffix("s") for word in text.split(" "))


def lines_that_can_be_read(source):
    import json

    for number, line in enumerate(source.stream, 1):
        try:
            yield Record(json.loads(line), number)
        except ValueError:
            continue


def leaking(leak: Callable[[], object]) -> Callable[..., float]:
    """Return recall that also leaves something behind in the process."""

    def recall_with_a_leak(retrieved, relevant, k):
        leak()
        return recall_at_k(retrieved, relevant, k)

    return recall_with_a_leak


_AP, _NDCG = "ap@k where binary", "ndcg@k"
WRONG = (
    Wrong("recall of the first k - 1", recall_one_short, "last-rank"),
    Wrong("recall of the first min(k, 10)", recall_of_ten, "last-rank"),
    Wrong("recall divided by one relevant item more", recall_of_one_more, "perfect"),
    Wrong("recall from a hard-coded grade of 2", recall_from_grade_two, "perfect"),
    Wrong("precision over judged results only", precision_over_judged, "like", "P@k"),
    Wrong("precision over k + 1", precision_over_one_more, "perfect"),
    Wrong("precision over a fixed 10", precision_over_ten, "perfect"),
    Wrong("average precision divided by k", average_precision_over_k, "like", _AP),
    Wrong("average precision with one hit more", average_precision_of_one_more, "like", _AP),
    Wrong("reciprocal rank 1 / (r + 1)", reciprocal_rank_plus_one, "perfect"),
    Wrong("reciprocal rank that skips unjudged results", reciprocal_rank_of_judged, "like", "RR@k"),
    Wrong("RBP with p^rank", rbp_from_rank_one, "like", "rbp@k"),
    Wrong("F1 by the arithmetic mean", f1_by_the_arithmetic_mean, "like", "f1@k"),
    Wrong("nDCG with its discount shifted by a rank", ndcg_with_its_discount_shifted, "like", _NDCG),
    Wrong("nDCG with the discount 1 + ln(rank)", ndcg_with_a_natural_discount, "reference", "", ndcg_right),
    Wrong("nDCG without a discount", ndcg_without_a_discount, "like", _NDCG),
    Wrong("nDCG of grades made binary", ndcg_of_binary_grades, "like", _NDCG),
    Wrong("nDCG of grades capped at 3", ndcg_of_grades_up_to_three, "like", _NDCG),
    Wrong("nDCG whose ideal is cut by a budget", ndcg_with_its_ideal_cut_by_a_budget, ""),
    Wrong("bpref with unjudged results as negative", bpref_with_unjudged_as_negative, "like", "bpref"),
    Wrong("recall that stops at 20 relevant items", recall_up_to_twenty_gold, "like", "recall@k"),
    Wrong("average precision that stops at rank 50", average_precision_of_fifty_ranks, "like", "ap where binary"),
    Wrong("nDCG of grades capped at 4", ndcg_of_grades_up_to_four, "like", _NDCG),
    Wrong("scores in 32 bits", recall_in_32_bits, "reference", "", definitions.recall_at_k),
    Wrong("scores rounded to four decimals", recall_of_four_decimals, "like", "recall@k"),
    Wrong("one score in 1,000 is off at random", recall_that_is_seldom_off, "global-state"),
    Wrong("a cutoff that is ignored, with no law declared", recall_that_ignores_k, "tail"),
    Wrong("a tokenizer that truncates", tokens_up_to_512, "whole-text", kind="tokenizer"),
    Wrong("a stemmer that finds more the second time", stemmed_once, "idempotent", kind="normalizer"),
    Wrong("a reader that swallows errors", lines_that_can_be_read, "tiny-files", kind="reader"),
    Wrong("`np.seterr`", leaking(lambda: np.seterr(all="ignore")), "global-state"),
    Wrong("a filter of warnings", leaking(lambda: warnings.simplefilter("ignore")), "global-state"),
    Wrong("the locale", leaking(lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8")), "global-state"),
    Wrong("`random.seed`", leaking(lambda: random.seed(0)), "global-state"),
    Wrong("the decimal context", leaking(lambda: setattr(decimal.getcontext(), "prec", 4)), "global-state"),
    Wrong("the working directory", leaking(lambda: os.chdir(os.sep)), "global-state"),
    Wrong("the environment", leaking(lambda: os.environ.update(RANKGAUGE_LEFT="1")), "global-state"),
    Wrong("standard output", leaking(lambda: sys.stdout.write("left")), "global-state"),
    Wrong("the recursion limit", leaking(lambda: sys.setrecursionlimit(5_000)), "global-state"),
)
