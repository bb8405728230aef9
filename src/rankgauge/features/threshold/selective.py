"""
Selective answering: risk against coverage, the area under that curve, and whether scores are probabilities.

A system that says nothing below some score answers a share of the questions, its coverage, at a risk, the mean loss of
those that it answers (El-Yaniv & Wiener, JMLR 2010; Geifman & El-Yaniv, NeurIPS 2017).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bin", "Calibration", "calibration", "risk_area", "risk_area_interval", "risks"]

_Floats = NDArray[np.float64]


def risks(scores: _Floats, losses: _Floats) -> _Floats:
    """
    Return the risk at each coverage 1/n, 2/n, ..., 1: the mean loss of so many questions with the highest scores.

    Questions with equal scores come in no order: each of them counts as their mean. Shapes (n,), losses from 0 to 1.
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    begins = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    counts = np.diff(np.append(begins, len(ordered)))
    means = np.add.reduceat(losses[order], begins) / counts
    found: _Floats = np.cumsum(np.repeat(means, counts)) / np.arange(1, len(ordered) + 1)
    return found


def risk_area(scores: _Floats, losses: _Floats) -> float:
    """
    Return the area under the curve of risk by coverage: the mean of `risks`.

    It is the mean loss where scores say nothing, and lower the better they tell good answers from bad ones (AURC;
    Geifman, Uziel & El-Yaniv, ICLR 2019).
    """
    return float(risks(scores, losses).mean())


def risk_area_interval(
    scores: _Floats,
    losses: _Floats,
    clusters: NDArray[np.int64] | None = None,
    *,
    confidence: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of `risk_area`, drawing questions, or whole clusters of them."""
    codes = np.arange(len(scores)) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
    chance = np.random.Generator(np.random.Philox(key=seed))
    areas = np.empty(resamples)
    for nth in range(resamples):
        drawn = chance.integers(len(members), size=len(members))
        chosen = drawn if clusters is None else np.concatenate([members[each] for each in drawn])
        areas[nth] = risk_area(scores[chosen], losses[chosen])
    low, high = np.quantile(areas, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return low, high


class Bin(NamedTuple):
    """Questions whose scores lie between two bounds, the upper one included."""

    low: float
    high: float
    n: int
    score: float  # their mean score
    value: float  # the mean of what came true


class Calibration(NamedTuple):
    """Whether scores can be read as probabilities."""

    bins: tuple[Bin, ...]  # those that are not empty
    error: float  # the expected calibration error: the mean distance of score and value of a bin, weighted by n
    brier: float  # the mean squared distance of score and value


def calibration(scores: _Floats, values: _Floats, bins: int = 10) -> Calibration | None:
    """
    Compare scores with what came true, in bins of equal width; None if a score is no probability.

    The error is that of Naeini, Cooper & Hauskrecht (AAAI 2015), the score that of Brier (Monthly Weather Review 1950).
    Shapes (n,), values from 0 to 1.
    """
    if scores.min() < 0 or scores.max() > 1:
        return None
    places = np.maximum(np.ceil(scores * bins).astype(np.int64) - 1, 0)
    kept = []
    for place in range(bins):
        held = places == place
        if held.any():
            means = float(scores[held].mean()), float(values[held].mean())
            kept.append(Bin(place / bins, (place + 1) / bins, int(held.sum()), *means))
    error = sum(each.n * abs(each.score - each.value) for each in kept) / len(scores)
    return Calibration(tuple(kept), error, float(((scores - values) ** 2).mean()))
