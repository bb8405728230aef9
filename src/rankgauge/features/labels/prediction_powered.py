"""
Prediction-powered means: many values from a model that may be wrong, corrected by few values from people.

After Angelopoulos, Duchi & Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023, for a mean. It is the
regression estimator of survey sampling (Cochran, Sampling Techniques, 1977, chapter 7), whose errors for few values
from people are used here, since those of PPI++ hold for many.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.stats.aggregates import exact_sum
from rankgauge.stats.estimates import TIED, MeanEstimate, estimate_mean

__all__ = ["LEAST_LABELLED", "PoweredMean", "powered_mean"]

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

LEAST_LABELLED = 4
"""Fewer values from people leave no two degrees of freedom for what the model gets wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoweredMean:
    """
    A mean by people, by a model, and by both.

    Attributes:
        people: Of the values from people alone.

        model: Of all values from the model, as if it were never wrong.

        both: Of both; as that of people alone if the model says nothing about them.

        bias: Of what the model says too much, where people say something, too.

        weight: How much the model is listened to: 0 not at all, about 1 if it differs from people by a constant.

        correlation: Pearson's, of model and people on what both judged; None if either does not vary.

        looks_drawn: The two-sided p that the questions that people judged were drawn at random, by what the model says
            of them and of the others; None if that is unknown.
    """

    people: MeanEstimate
    model: MeanEstimate
    both: MeanEstimate
    bias: MeanEstimate
    weight: float
    correlation: float | None
    looks_drawn: float | None

    @property
    def worth(self) -> float | None:
        """Return how many questions people would have to judge alone for a standard error as small."""
        if not self.people.standard_error or not self.both.standard_error:
            return None
        return self.people.n * (self.people.standard_error / self.both.standard_error) ** 2


def powered_mean(model: _Floats, people: _Floats, labelled: _Ints, chance: _Floats | None = None) -> PoweredMean:
    """
    Estimate the mean of what people would say of each of N questions, of which they judged n, drawn at random.

    With H what people say, M what the model says, b the slope of H by M over the n questions, and r what it leaves,
    the mean is ``mean_n(H) + b (mean_N(M) - mean_n(M))``, and its squared error ``s_r**2 (1 / n + d**2 / S) + b**2
    s_M**2 / N``, with d the distance of both means of M, S the sum of squares of M over the n questions, s_r**2 the sum
    of squares of r over n - 2, and degrees of freedom by Satterthwaite. Where people judged a part of a question, H is
    what that part amounts to for the whole, and *chance* is how far the same part misleads about M; it is a second
    variable of the regression, whose true mean is 0.

    Args:
        model: Of every question; shape (N,), without NaN.

        people: Of some; shape (n,), without NaN.

        labelled: Which ones those are; shape (n,).

        chance: Of the same ones; shape (n,); None for 0, if people judged whole questions.

    Raises:
        ValueError: Fewer than `LEAST_LABELLED` values from people.
    """
    n, total = len(people), len(model)
    if n < LEAST_LABELLED:
        raise ValueError(f"{LEAST_LABELLED} values from people are needed, and there are {n}")
    own, all_of_model, seen = estimate_mean(people), estimate_mean(model), model[labelled]
    found = PoweredMean(
        people=own,
        model=all_of_model,
        both=own,
        bias=estimate_mean(seen - people if chance is None else seen + chance - people),
        weight=0.0,
        correlation=_correlation(seen if chance is None else seen + chance, people),
        looks_drawn=_p_of_drawing(model, labelled),
    )
    variables, known = [seen], [all_of_model.mean]
    if chance is not None and np.ptp(chance) > TIED:
        variables, known = [seen, chance], [all_of_model.mean, 0.0]
    means = [exact_sum(each) / n for each in variables]
    apart = np.stack([each - mean for each, mean in zip(variables, means, strict=True)])
    free = n - 1 - len(variables)
    spread = np.array([[exact_sum(one * other) for other in apart] for one in apart])
    if not own.std or np.ptp(seen) <= TIED or np.linalg.matrix_rank(spread) < len(variables):
        return found
    told = people - own.mean
    slopes = np.linalg.solve(spread, np.array([exact_sum(each * told) for each in apart]))
    distances = np.array(known) - means
    rest = told - slopes @ apart
    left = exact_sum(rest * rest) / free
    unknown = left * (1 / n + float(distances @ np.linalg.solve(spread, distances)))
    varying = float(slopes[0]) ** 2 * (all_of_model.standard_error or 0.0) ** 2
    squared = unknown + varying
    df = squared**2 / (unknown**2 / free + varying**2 / (total - 1)) if squared else free
    mean = own.mean + float(slopes @ distances)
    both = MeanEstimate(n=total, mean=mean, std=None, standard_error=math.sqrt(squared), df=max(1, int(df)))
    return replace(found, both=both, weight=float(slopes[0]))


def _correlation(one: _Floats, other: _Floats) -> float | None:
    if min(np.ptp(one), np.ptp(other)) <= TIED:
        return None
    apart = [each - exact_sum(each) / len(each) for each in (one, other)]
    common, first, second = (exact_sum(a * b) for a, b in ((apart[0], apart[1]), (apart[0],) * 2, (apart[1],) * 2))
    return common / math.sqrt(first * second)


def _p_of_drawing(model: _Floats, labelled: _Ints) -> float | None:
    """Return the p of Welch's t test between what the model says of the labelled questions and of the others."""
    others = np.delete(model, labelled)
    if len(others) < 2:
        return None
    one, other = estimate_mean(model[labelled]), estimate_mean(others)
    squares = [(each.standard_error or 0.0) ** 2 for each in (one, other)]
    if not sum(squares):
        return None
    df = sum(squares) ** 2 / (squares[0] ** 2 / one.df + squares[1] ** 2 / other.df)
    difference = MeanEstimate(
        n=len(model), mean=one.mean - other.mean, std=None, standard_error=math.sqrt(sum(squares)), df=max(1, int(df))
    )
    return difference.p
