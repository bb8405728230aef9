"""
Spans: how much of some stretches of documents the first results hold together, however the documents are cut.

Smith and Troynikov, Evaluating chunking strategies for retrieval, 2024. Here every character counts once. Their code
divides recall by overlapping gold spans as often as they overlap, precision and IoU by chunks that overlap, so that no
overlapping chunking can reach 1; it takes as many results as chunks of the corpus touch a gold span, where we have k;
and it counts results of other documents by their offsets in these.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Literal

import numpy as np

from rankgauge.columns import Cover, Floats, Lengths
from rankgauge.columns.seen import unasked
from rankgauge.plugin import Cutoff, Judged, Law, Scores, metric

__all__ = ["span_f1", "span_iou", "span_precision", "span_recall"]

Per = Literal["sample", "span"]

_LAWS: tuple[Law, ...] = ("bounded", "relevant-helps", "tail", "duplicates")

over_spans = functools.partial(
    metric, gold="spans", needs=("cover",), undefined="the ground truth has no relevant span", laws=_LAWS
)
"""Declare a metric over the characters of gold spans and results."""


def _details(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
    lengths = _of_samples(judged, k)
    names = ("gold_characters", "retrieved_characters", "covered_characters")
    return {name: column.astype(int).tolist() for name, column in zip(names, lengths, strict=True)}


@over_spans(
    "span-recall-at-k",
    short=("span-recall", "span_recall"),
    laws=(*_LAWS, "best-first", "padding", "monotone-in-k"),
    details=_details,
)
def span_recall(judged: Judged, *, k: Cutoff, per: Per = "sample") -> Scores:
    """
    Share of the characters of the gold spans that the first *k* results cover together.

    Formula: ``|gold and retrieved| / |gold|`` over characters, each once: two halves of a passage in two chunks make a
    whole. Source: Smith and Troynikov, Evaluating chunking strategies for retrieval, 2024, whose code counts where gold
    spans overlap twice in the denominator.

    When to use it: to compare chunkings, or systems that chunk differently; under a budget (``span-recall@2000tok``)
    where chunks differ in length.

    Args:
        per: Whether all gold spans of a sample are one set of characters (`sample`), or each is scored for itself, with
            the results that meet it, and the mean is taken (`span`).

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold span is relevant.
    """
    return _score(judged, k, per, lambda lengths: lengths.both / lengths.gold)


@over_spans("span-precision-at-k", short=("span-precision", "span_precision"), details=_details)
def span_precision(judged: Judged, *, k: Cutoff, per: Per = "sample") -> Scores:
    """
    Share of the characters of the first *k* results that are in gold spans.

    Formula: ``|gold and retrieved| / |retrieved|`` over characters, each once; 0 if nothing was retrieved. Source:
    as `span-recall-at-k`; the authors' code counts where chunks overlap twice in the denominator.

    When to use it: to see how much of what a reader is given is beside the point. Long chunks lower it.

    Args:
        per: As in `span_recall`. With `span`, results that meet no gold span do not count.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold span is relevant.
    """
    return _score(judged, k, per, lambda lengths: lengths.both / lengths.retrieved)


@over_spans("span-iou-at-k", short=("span-iou", "span_iou"), details=_details)
def span_iou(judged: Judged, *, k: Cutoff, per: Per = "sample") -> Scores:
    """
    Characters that the gold spans and the first *k* results have in common, over those that either has.

    Formula: ``|gold and retrieved| / |gold or retrieved|`` over characters, each once. Source: as `span-recall-at-k`;
    the authors' code adds up chunks that overlap in the denominator.

    When to use it: one number for recall and precision, strict about both.

    Args:
        per: As in `span_precision`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold span is relevant.
    """
    return _score(judged, k, per, lambda lengths: lengths.both / (lengths.gold + lengths.retrieved - lengths.both))


@over_spans("span-f1-at-k", short=("span-f1", "span_f1"), details=_details)
def span_f1(judged: Judged, *, k: Cutoff, per: Per = "sample") -> Scores:
    """
    Harmonic mean of span recall and span precision.

    Formula: ``2 |gold and retrieved| / (|gold| + |retrieved|)`` over characters, each once. Source: as
    `span-recall-at-k`.

    When to use it: as `span-iou-at-k`, on the usual scale of F1.

    Args:
        per: As in `span_precision`.

    Returns:
        Shape (n,), from 0 to 1; NaN if no gold span is relevant.
    """
    return _score(judged, k, per, lambda lengths: 2 * lengths.both / (lengths.gold + lengths.retrieved))


def _cover(judged: Judged) -> Cover:
    if judged.cover is None:
        raise unasked("cover")
    return judged.cover


def _of_samples(judged: Judged, k: Cutoff) -> Lengths:
    return _cover(judged).until(k).of_samples(judged.n, judged.relevance.of(judged.gold.grade))


def _score(judged: Judged, k: Cutoff, per: Per, share: Callable[[Lengths], Floats]) -> Scores:
    """Return the share of each sample, or the mean over its relevant gold spans; 0 if nothing is covered."""
    relevant = judged.relevance.of(judged.gold.grade)
    lengths = _of_samples(judged, k) if per == "sample" else _cover(judged).until(k).of_spans()
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(lengths.both > 0, share(lengths), 0.0)
        if per == "sample":
            return np.where(judged.n_gold() > 0, shares, np.nan)
        return judged.sum(judged.gold.where(relevant), shares[relevant]) / judged.n_gold()
