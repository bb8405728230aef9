"""
Nuggets: how many of the facts that a good answer states, the generated answer states.

A nugget is vital or okay, which is its grade: 1 or 0.5. It is supported if its match score is 1, and partially if
that is lower.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.columns import Flags, Floats
from rankgauge.plugin import Contributions, Judged, Scores, metric

__all__ = ["answer_all_nuggets", "answer_vital_nuggets", "answer_weighted_nuggets"]

_over_nuggets = functools.partial(
    metric, gold="nuggets", judges="answer", uses_rel=False, laws=("bounded", "relevant-helps")
)


def _vital(grades: Floats) -> Floats:
    return (grades >= 1).astype(np.float64)


def _has_vital(judged: Judged) -> Flags:
    return _total(judged, _vital(judged.gold.grade)) > 0


def _gains(judged: Judged, weights: Floats, *, strict: bool) -> Floats:
    return np.where(judged.score >= 1, 1.0, 0.0 if strict else 0.5) * weights[judged.rows.gold]


def _total(judged: Judged, weights: Floats) -> Scores:
    return judged.sum(judged.gold, weights)


def _sum(judged: Judged, weights: Floats, *, strict: bool) -> Contributions:
    """Return what the supported nuggets add to a share of the weights of all."""
    gains = _gains(judged, weights, strict=strict)
    return Contributions(judged.rows, gains, None, _total(judged, weights), "weight of the nuggets")


def _share(judged: Judged, weights: Floats, *, strict: bool) -> Scores:
    with np.errstate(invalid="ignore"):
        return judged.sum(judged.rows, _gains(judged, weights, strict=strict)) / _total(judged, weights)


def _details(judged: Judged) -> dict[str, list[int]]:
    """Count nuggets by importance, and those that are supported and partially supported."""
    n, full = judged.n, judged.score >= 1
    rows, gold = judged.rows.sample, judged.gold.sample
    vital = _vital(judged.gold.grade)
    counts = {
        "vital": np.bincount(gold, weights=vital, minlength=n),
        "okay": np.bincount(gold, weights=1 - vital, minlength=n),
        "supported": np.bincount(rows, weights=full, minlength=n),
        "partially_supported": np.bincount(rows, weights=~full, minlength=n),
    }
    return {name: values.astype(int).tolist() for name, values in counts.items()}


@_over_nuggets(
    "answer-vital-nuggets",
    short=("vital_nuggets",),
    undefined="the ground truth has no vital nugget",
    defined=_has_vital,
    details=_details,
    contributions=lambda judged, *, strict: _sum(judged, _vital(judged.gold.grade), strict=strict),
)
def answer_vital_nuggets(judged: Judged, *, strict: bool = False) -> Scores:
    """
    Fraction of the vital nuggets that the answer supports.

    Formula: ``sum over vital nuggets of support / |vital nuggets|``, where support is 1, 1/2 if it is partial, or 0.
    Source: TREC's RAG track (Pradeep et al., AutoNuggetizer, 2024), where it is called V, and V_strict with
    ``strict=true``, the track's main measure. Without a vital nugget it is undefined here, and 0 there.

    When to use it: answers are longer than a phrase, and you know the facts that they must state.

    Args:
        strict: Whether partial support counts 0 instead of 1/2.

    Returns:
        Shape (n,), from 0 to 1; NaN if no nugget is vital.
    """
    return _share(judged, _vital(judged.gold.grade), strict=strict)


@_over_nuggets(
    "answer-all-nuggets",
    short=("all_nuggets",),
    undefined="the ground truth has no nugget",
    details=_details,
    contributions=lambda judged, *, strict: _sum(judged, np.ones(len(judged.gold.grade)), strict=strict),
)
def answer_all_nuggets(judged: Judged, *, strict: bool = False) -> Scores:
    """
    Fraction of the nuggets, vital or okay, that the answer supports.

    Formula: as `answer-vital-nuggets`, over all nuggets. Source: TREC's RAG track, where it is called A, and A_strict
    with ``strict=true``.

    When to use it: an answer should be rich, not only sufficient.

    Args:
        strict: As in `answer_vital_nuggets`.

    Returns:
        Shape (n,), from 0 to 1; NaN if there is no nugget.
    """
    return _share(judged, np.ones(len(judged.gold.grade)), strict=strict)


@_over_nuggets(
    "answer-weighted-nuggets",
    short=("weighted_nuggets",),
    undefined="the ground truth has no nugget",
    details=_details,
    contributions=lambda judged, *, strict: _sum(judged, judged.gold.grade, strict=strict),
)
def answer_weighted_nuggets(judged: Judged, *, strict: bool = False) -> Scores:
    """
    Fraction of the nuggets that the answer supports, of which an okay one weighs half as much as a vital one.

    Formula: ``sum over nuggets of weight * support / sum of weights``, with weight 1 for vital and 1/2 for okay.
    Source: TREC's RAG track, where it is called W, and W_strict with ``strict=true``.

    When to use it: as `answer-all-nuggets`, when the vital ones matter more.

    Args:
        strict: As in `answer_vital_nuggets`.

    Returns:
        Shape (n,), from 0 to 1; NaN if there is no nugget.
    """
    return _share(judged, judged.gold.grade, strict=strict)
