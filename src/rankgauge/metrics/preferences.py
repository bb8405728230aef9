"""
Preferences: relevant against irrelevant results (bpref, infAP, AUC, fall-out), and compatibility with an ideal ranking.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import Flags
from rankgauge.metrics.family import USUAL, last_rank, per_gold, retrieval, tied, with_gold
from rankgauge.plugin import Cutoff, Judged, Rows, Scores, metric
from rankgauge.stats.agreement import agreement_weights, check_persistence

__all__ = ["auc", "bpref", "compatibility", "fall_out", "geometric_bpref", "inferred_average_precision"]

_EPSILON = 1e-5
"""What trec_eval adds to avoid division by zero when nothing above was judged."""


@metric("retrieval-bpref", short=("bpref",), laws=(*USUAL, "perfect-is-one"))
def bpref(judged: Judged) -> Scores:
    """
    How far the relevant items rank above judged nonrelevant ones.

    Formula: ``bpref = 1/R * sum over relevant retrieved items of 1 - min(n, R) / min(N, R)``, where *n* counts the
    judged nonrelevant items above it and *N* those of the ground truth; an item with none above counts 1. Items that
    were not judged are skipped, and so are negative grades, in *N* too. Source: trec_eval, measure `bpref`; Buckley &
    Voorhees, Retrieval evaluation with incomplete information, SIGIR 2004.

    When to use it: judgments are incomplete, and unjudged items should not count as wrong.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    relevant, nonrelevant = _known(judged)
    sample = judged.rows.sample[relevant]
    above = _above(judged, nonrelevant)[relevant]
    wanted = judged.n_gold()
    grades = judged.gold.grade
    others = judged.gold.sample[(grades >= 0) & ~judged.relevance.of(grades)]
    bound = np.minimum(np.bincount(others, minlength=judged.n), wanted)[sample]
    lost = np.divide(np.minimum(above, wanted[sample]), bound, out=np.zeros(len(sample)), where=above > 0)
    return per_gold(judged, np.bincount(sample, weights=1.0 - lost, minlength=judged.n))


@metric("retrieval-gm-bpref", short=("gm_bpref",), aggregate="geometric", laws=(*USUAL, "perfect-is-one"))
def geometric_bpref(judged: Judged) -> Scores:
    """
    Bpref, averaged over samples by the geometric mean.

    Formula: ``exp(mean of ln(max(bpref, 0.00001)))``; the score of one sample is its bpref. Source: trec_eval, measure
    `gm_bpref`.

    When to use it: like `retrieval-gm-map`, when judgments are incomplete.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    return bpref(judged)


@metric(
    "retrieval-inf-ap", short=("infAP", "inf_ap"), laws=("bounded", "relevant-helps", "padding", "tail", "duplicates")
)
def inferred_average_precision(judged: Judged) -> Scores:
    """
    Average precision, estimated from a sample of judgments.

    Formula: ``infAP = 1/R * sum over relevant ranks i of 1/i + (i-1)/i * (p / (i-1)) * (r + e) / (r + n + 2e)``, where
    *r* and *n* count the relevant and the judged nonrelevant items above rank i, *p* these and those with a negative
    grade (pooled, but left out of the sample that was judged), and e is 0.00001; a relevant item at rank 1 counts 1.
    Equal to average precision, but for e, where everything was judged. Source: trec_eval, measure `infAP`; Yilmaz &
    Aslam, Estimating average precision with incomplete and imperfect judgments, CIKM 2006.

    When to use it: only a random sample of a pool was judged, and the rest of the pool carries grade -1.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item is relevant.
    """
    relevant, nonrelevant = _known(judged)
    ahead = judged.rows.rank[relevant] - 1
    rel = _above(judged, relevant)[relevant]
    nonrel = _above(judged, nonrelevant)[relevant]
    pooled = _above(judged, judged.first & (judged.rows.grade < 0) & ~relevant)[relevant]
    share = np.divide(rel + nonrel + pooled, ahead, out=np.zeros(len(ahead)), where=ahead > 0)
    inferred = (rel + _EPSILON) / (rel + nonrel + 2 * _EPSILON)
    value = np.where(ahead == 0, 1.0, 1.0 / (ahead + 1) + ahead / (ahead + 1) * share * inferred)
    return per_gold(judged, np.bincount(judged.rows.sample[relevant], weights=value, minlength=judged.n))


def _known(judged: Judged) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows count as relevant, and which are the first to hold an item judged nonrelevant."""
    holds = judged.relevance.of(judged.rows.grade)
    once = judged.earns if judged.counts_repeats else judged.earns & judged.first
    return holds & once, ~holds & judged.first & (judged.rows.grade >= 0)


def _above(judged: Judged, counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return for each row how many rows of *counted* are above it in its sample."""
    running: NDArray[np.int64] = np.cumsum(counted) - counted
    sample = judged.rows.sample
    return running - running[np.searchsorted(sample, sample)] if len(sample) else running


Pairless = Literal["undefined", "by-hits"]
Among = Literal["retrieved", "judged", "collection"]


def _expected_auc(judged: Judged, *, k: Cutoff | None = None, pairless: Pairless = "undefined") -> Scores:
    """
    Return the expectation over the orders of ties: a pair that is tied is in the right order half of the time.

    A cutoff may part one tie of a sample. Each number of its relevant results that can be above the cutoff is as
    likely as its share of the ways to choose them; those that leave no pair have no value, and count for nothing.
    """
    ties = tied(judged)
    scores = np.full(judged.n, np.nan)
    last = last_rank(ties, k)
    ends = np.searchsorted(ties.rows.sample, np.arange(judged.n + 1))
    depths = judged.depth if k is None else np.minimum(judged.depth, k)
    for sample, depth in enumerate(depths.tolist()):
        chances, found, wrong = np.ones(1), np.zeros(1), np.zeros(1)
        for row in range(int(ends[sample]), int(ends[sample + 1])):
            if not ties.starts[row] or last[row] < ties.low[row]:
                continue
            m, r, c = int(ties.size[row]), int(ties.together[row]), int(last[row] - ties.low[row]) + 1
            j = np.arange(max(0, r - (m - c)), min(r, c) + 1)
            ways = [math.comb(r, each) * math.comb(m - r, c - each) / math.comb(m, c) for each in j.tolist()]
            chances = np.array(ways)  # only of the last tie are there several
            above = int(ties.low[row]) - 1 - found  # irrelevant results above the tie
            found, wrong = found + j, wrong + j * (above + (c - j) / 2)
        pairs = found * (depth - found)
        without = np.nan if pairless == "undefined" else (found > 0).astype(np.float64)
        each = np.where(pairs > 0, 1.0 - wrong / np.where(pairs > 0, pairs, 1.0), without)
        known = ~np.isnan(each)
        if known.any():
            scores[sample] = np.sum(chances[known] * each[known]) / np.sum(chances[known])
    return with_gold(judged, scores)


@retrieval("retrieval-auc", short=("AUC", "AUROC", "Accuracy"), laws=("bounded",), expectation=_expected_auc)
def auc(judged: Judged, *, k: Cutoff | None = None, pairless: Pairless = "undefined") -> Scores:
    """
    Probability that a relevant result ranks above an irrelevant one, both drawn from what was retrieved.

    Formula: ``pairs of a relevant and an irrelevant result in the right order / all such pairs``: the area under the
    ROC curve of the ranking. Source: ir_measures, measure `Accuracy`; torchmetrics, `RetrievalAUROC`.

    When to use it: to diagnose a classifier or reranker by its order alone; what was not retrieved plays no part.

    Args:
        pairless: What results without such a pair score: nothing (`undefined`), or `by-hits` 1 if all of them are
            relevant and 0 if none is, as in replay.

    Returns:
        Shape (n,), from 0 to 1; NaN if the results are all relevant, or all irrelevant.
    """
    hits = judged.hits(k)
    depth = judged.depth if k is None else np.minimum(judged.depth, k)
    relevant = np.bincount(hits.sample, minlength=judged.n)
    others = depth - relevant
    wrong = judged.sum(hits, (hits.rank - hits.nth()).astype(np.float64))
    pairs = relevant * others
    without = np.nan if pairless == "undefined" else with_gold(judged, (relevant > 0).astype(np.float64))
    return np.where(pairs > 0, 1.0 - wrong / np.maximum(pairs, 1), without)


def _has_gold(judged: Judged) -> Flags:
    return np.bincount(judged.gold.sample, minlength=judged.n) > 0


def _check(*, among: Among, collection: int) -> None:
    if collection < 0 or (collection > 0) != (among == "collection"):
        msg = f"among=collection needs the number of documents, and nothing else does: collection={collection}"
        raise ValueError(msg)


@retrieval(
    "retrieval-fall-out-at-k",
    short=("fall_out", "fallout", "FallOut"),
    higher_is_better=False,
    version="2",
    check=_check,
    defined=_has_gold,  # of results that are all irrelevant there is a share, too
    undefined="the ground truth names no item",
    laws=("bounded",),
    without=("tail", "last-rank"),  # it is a share of all that was retrieved
)
def fall_out(judged: Judged, *, k: Cutoff, among: Among = "retrieved", collection: int = 0) -> Scores:
    """
    Fraction of the irrelevant items that come within the first *k* ranks.

    Formula: ``|irrelevant in the first k| / |irrelevant|``. Source: Manning et al., Introduction to Information
    Retrieval, 2008, chapter 8; torchmetrics, `RetrievalFallOut`, for what was retrieved.

    When to use it: beside recall, as the other axis of a ROC curve.

    Args:
        among: Which irrelevant items there are: those in the whole ranking (`retrieved`), those that the ground truth
            names with a grade that is not relevant (`judged`), or all documents but the relevant ones (`collection`).

        collection: How many documents there are, for ``among=collection``.

    Returns:
        Shape (n,), from 0 to 1; NaN if nothing is irrelevant.
    """
    if among == "judged":
        wrong = judged.first & (judged.rows.grade >= 0) & ~judged.relevance.of(judged.rows.grade)
        retrieved = np.bincount(judged.rows.where(wrong).until(k).sample, minlength=judged.n)
        known = (judged.gold.grade >= 0) & ~judged.relevance.of(judged.gold.grade)
        total = np.bincount(judged.gold.sample[known], minlength=judged.n)
    else:
        retrieved = np.minimum(judged.depth, k) - judged.relevant_ranks(k)
        total = collection - judged.n_gold() if collection else judged.depth - judged.relevant_ranks()
    share = np.minimum(retrieved / np.maximum(total, 1), 1.0)  # a collection smaller than it was said to be
    return np.where((total > 0) & _has_gold(judged), share, np.nan)


def _check_preferences(*, p: float) -> None:
    check_persistence(p)


@retrieval(
    "retrieval-compatibility",
    short=("Compat", "compatibility"),
    uses_rel=False,
    check=_check_preferences,
    laws=("bounded", "best-first", "relevant-helps", "tail"),
    undefined="the ground truth has no item with a gain",
)
def compatibility(judged: Judged, *, k: Cutoff | None = None, p: float = 0.95, normalize: bool = True) -> Scores:
    """
    Rank-biased overlap of the ranking with the ideal ranking that is most like it.

    Formula: ``sum over depths d up to D of p**(d - 1) * |first d results that are among the first d ideal items| / d``,
    divided by its value for the ideal ranking itself. The ideal ranking has all items with a gain above 0, highest
    first; equal ones keep the order in which they were retrieved, which makes the overlap as high as it can be. *D*
    is *k*, or else the longer of both lengths. Only the order of gains has an effect, so levels of preference may serve
    as gains. Source: Clarke, Vtyurina & Smucker, Assessing top-k preferences, TOIS 2021; ir_measures, `Compat`. With
    ``@1000`` as in the authors' own tool.

    When to use it: judgments are preferences, or a few best items are known, and numbers for gains would be made up.

    Args:
        k: How deep to compare. None for the longer of ranking and ideal: unjudged results at the end of a short ranking
            then count, as in ir_measures.

        p: The persistence, above 0 and at most 0.9999.

        normalize: Whether to divide by the value of the ideal ranking; otherwise the divisor is the sum of all
            ``p**(d - 1)``, and few ideal items keep scores low.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold item has a gain.
    """
    judged = judged.by_gain()
    shown, cutoff = judged.depth if k is None else np.minimum(judged.depth, k), judged.ideal_cutoff(k)
    depth = np.maximum(shown, judged.n_gold()) if cutoff is None else np.broadcast_to(cutoff, judged.n)
    weights = agreement_weights(p, int(depth.max(initial=0)))
    end = np.minimum(depth, len(weights) - 1)
    found = judged.credits(k)
    ideal = _ideal(judged, found)
    place = np.zeros(len(judged.gold.sample), dtype=np.int64)
    place[ideal.gold] = ideal.rank

    def overlap(sample: np.ndarray, from_depth: np.ndarray) -> Scores:
        worth = weights[end[sample]] - weights[np.minimum(from_depth - 1, end[sample])]
        return np.bincount(sample, weights=worth, minlength=judged.n).astype(np.float64, copy=False)

    scores = overlap(found.sample, np.maximum(found.rank, place[found.gold]))
    best = overlap(ideal.sample, ideal.rank) if normalize else (1.0 - p ** depth.astype(np.float64)) / (1.0 - p)
    return with_gold(judged, np.minimum(scores / np.where(best > 0, best, 1.0), 1.0))


def _ideal(judged: Judged, found: Rows) -> Rows:
    """Return the gold items with a gain, best first; equal ones as they were found, those not found last."""
    gold = judged.gold.where(judged.relevance.of(judged.gold.grade))
    at = np.full(len(judged.gold.sample), np.iinfo(np.int64).max)
    at[found.gold[::-1]] = found.rank[::-1]
    ordered = gold.where(np.lexsort((at[gold.gold], -gold.grade, gold.sample)))
    return ordered._replace(rank=ordered.nth())
