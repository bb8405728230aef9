"""
The built-in tests of a difference, declared as those of plugins are; and how any of them gives a p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

from rankgauge.base.guard import ForeignError, guarded, shown
from rankgauge.catalog import Claim
from rankgauge.columns.judged_rows import Floats, Ints
from rankgauge.plugin import hookimpl
from rankgauge.plugin.paired_test import PairedTest, paired_test
from rankgauge.stats import paired_tests as statistics
from rankgauge.stats.estimates import bootstrap_bca, estimate_mean

__all__ = ["BUILT_IN", "p_of", "rankgauge_paired_tests"]


@paired_test("sign-flip")
def sign_flip(
    differences: Floats, *, clusters: Ints | None, weights: Floats | None = None, resamples: int, seed: int
) -> float:
    """Sign-flip permutation of paired differences, two-sided."""
    how: dict[str, Any] = {"clusters": clusters, "weights": weights, "resamples": resamples, "seed": seed}
    flips = statistics.flip_signs(differences[:, None], **how)
    return float(flips.p[0])


@paired_test("t")
def student(differences: Floats, *, clusters: Ints | None, weights: Floats | None = None) -> float | None:
    """Paired t test, two-sided."""
    return estimate_mean(differences, clusters, weights).p


@paired_test("wilcoxon")
def signed_ranks(differences: Floats) -> float:
    """Wilcoxon's signed-rank test, two-sided, which does not test the mean."""
    return statistics.wilcoxon(differences)


@paired_test("bootstrap-bca")
def bootstrap(
    differences: Floats, *, weights: Floats | None = None, confidence: float, resamples: int, seed: int
) -> float | None:
    """BCa bootstrap of paired differences, two-sided."""
    how: dict[str, Any] = {"confidence": confidence, "resamples": resamples, "seed": seed}
    return bootstrap_bca(differences, weights=weights, **how).p


_TESTS: Sequence[Any] = (sign_flip, student, signed_ranks, bootstrap)

BUILT_IN: Mapping[str, PairedTest] = {test.__rankgauge__.name: test.__rankgauge__ for test in _TESTS}
"""The built-in tests by name."""


@hookimpl
def rankgauge_paired_tests() -> Sequence[Callable[..., float | None]]:
    """Return the built-in tests."""
    return _TESTS


_ROUNDED = 1 + 1e-9
"""What is no more is 1, but for rounding."""


def p_of(
    claim: Claim[PairedTest],
    differences: Floats,
    clusters: Ints | None,
    settings: Mapping[str, float],
    weights: Floats | None = None,
) -> tuple[float | None, str]:
    """
    Return the p that the test of a plugin gives, and why it gives none.

    *differences* are those of one metric, of which at least one is not 0; *settings* are what a test may be given
    beside clusters and weights, by name.
    """
    test, offered = claim.declaration, {**settings, "clusters": clusters, "weights": weights}
    own = differences.copy()
    own.setflags(write=False)
    try:
        with guarded():
            p: object = test.function(own, **{name: offered[name] for name in test.settings})
            is_number = isinstance(p, Real) and not isinstance(p, bool)
            number = float(p) if is_number else math.nan  # type: ignore[arg-type]  # a real number
    except ForeignError as error:
        return None, f"the test {test.name} (by {claim.provider}) failed, so there is no p: {error}"
    if p is None or (is_number and math.isnan(number)):
        return None, f"the test {test.name} (by {claim.provider}) gives no p for these differences"
    if not 0 <= number <= _ROUNDED:
        wrong = f"it returned {shown(p)} where a p from 0 to 1 is needed"
        return None, f"the test {test.name} (by {claim.provider}) failed, so there is no p: {wrong}"
    return min(number, 1.0), ""
