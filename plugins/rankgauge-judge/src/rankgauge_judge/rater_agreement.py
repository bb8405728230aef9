"""
Agreement of judges: weighted kappa, Gwet's AC2 and Krippendorff's alpha, with intervals over questions.

All of them are functions of counts: how often one judge gave grade i where the other gave grade j. Counts are kept for
each question, so that a bootstrap draws questions and not documents, of which those of one question are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Coefficient", "Weights", "ac2", "alpha", "bootstrapped", "counted_pairs", "weighted_kappa"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

Weights = Literal["identity", "linear", "quadratic"]
"""How much two grades agree that differ: not at all, by their distance, or by its square; 1 if they are the same."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """
    A coefficient of agreement.

    Attributes:
        value: 1 for full agreement, 0 for that of chance; None if chance explains everything, as where one and the
            same grade was given throughout.

        low: The lower end of its bootstrap interval; None if fewer than half of the resamples have a value.

        high: The upper end.
    """

    value: float | None
    low: float | None
    high: float | None


def counted_pairs(questions: _Ints, first: _Ints, second: _Ints, grades: int) -> _Floats:
    """
    Count pairs of grades, given by their places on the scale.

    Returns:
        Shape (questions, grades, grades).
    """
    n = int(questions.max(initial=-1)) + 1
    places = (questions * grades + first) * grades + second
    counts: _Floats = np.bincount(places, minlength=n * grades * grades).astype(np.float64)
    return counts.reshape(n, grades, grades)


def _weights(scale: _Floats, kind: Weights) -> _Floats:
    """Return how much each two grades of a scale agree; shape (grades, grades)."""
    apart = np.abs(scale[:, None] - scale[None, :])
    span = apart.max(initial=0.0) or 1.0
    agree = apart == 0 if kind == "identity" else 1.0 - (apart / span) ** (2 if kind == "quadratic" else 1)
    return np.asarray(agree, dtype=np.float64)


def weighted_kappa(counts: _Floats, scale: _Floats, kind: Weights = "quadratic") -> _Floats:
    """
    Return Cohen's weighted kappa (Psychological Bulletin 1968), shape (...), NaN if chance explains everything.

    ``(A - E) / (1 - E)`` with the observed weighted agreement A, and E that of two judges who give each grade as often
    as these do, at random. *counts* have the shape (..., grades, grades).
    """
    weights, shares = _weights(scale, kind), _shares(counts)
    observed = (shares * weights).sum(axis=(-2, -1))
    rows, columns = shares.sum(axis=-1), shares.sum(axis=-2)
    expected = np.einsum("...i,ij,...j->...", rows, weights, columns)
    return _above_chance(observed, expected)


def ac2(counts: _Floats, scale: _Floats, kind: Weights = "quadratic") -> _Floats:
    """
    Return Gwet's AC2 (Handbook of Inter-Rater Reliability, 2014), as `weighted_kappa`.

    Chance is ``sum of weights / (q (q - 1)) * sum over grades of p (1 - p)``, with p the mean share of a grade and q
    grades on the scale; so it stays meaningful where nearly everything has one grade, where kappa falls to 0.
    """
    grades = counts.shape[-1]
    if grades < 2:
        return np.full(counts.shape[:-2], np.nan)
    weights, shares = _weights(scale, kind), _shares(counts)
    observed = (shares * weights).sum(axis=(-2, -1))
    prevalence = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    expected = weights.sum() / (grades * (grades - 1)) * (prevalence * (1 - prevalence)).sum(axis=-1)
    return _above_chance(observed, expected)


def alpha(counts: _Floats) -> _Floats:
    """
    Return Krippendorff's alpha for ordered grades (Content Analysis, 2004), as `weighted_kappa`.

    ``1 - D_o / D_e``: observed over expected disagreement, of which that of two grades is the square of how many values
    lie from the one to the other, half of each end. *counts* are of all ordered pairs of values of one document, each
    weighted by one over the number of its judges less one, and so symmetric; shape (..., grades, grades).
    """
    coincidences = (counts + np.swapaxes(counts, -2, -1)) / 2
    values = coincidences.sum(axis=-1)
    until = np.cumsum(values, axis=-1)
    middle = until - values / 2
    apart = (middle[..., :, None] - middle[..., None, :]) ** 2
    total = values.sum(axis=-1)
    observed = (coincidences * apart).sum(axis=(-2, -1))
    expected = np.einsum("...i,...ij,...j->...", values, apart, values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(1.0 - (total - 1) * observed / expected, dtype=np.float64)


def bootstrapped(values: _Floats, drawn: _Floats, *, confidence: float = 0.95) -> Coefficient:
    """Return a coefficient from its value, shape (), with the percentile interval of those of resamples, shape (r,)."""
    kept = drawn[~np.isnan(drawn)]
    value = None if np.isnan(values) else float(values)
    if value is None or 2 * len(kept) < len(drawn) or not len(drawn):
        return Coefficient(value, None, None)
    low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return Coefficient(value, low, high)


def _shares(counts: _Floats) -> _Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts / counts.sum(axis=(-2, -1), keepdims=True), dtype=np.float64)


def _above_chance(observed: _Floats, expected: _Floats) -> _Floats:
    left = 1.0 - expected
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(left > 1e-12, (observed - expected) / left, np.nan)
