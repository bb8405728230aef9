"""Intervals of means: scipy, a plain restatement of betting, clusters, and how often they cover the true mean."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import beta, binomtest
from scipy.stats import t as student

from draws import in_thorough_suite, some
from rankgauge.stats import estimate_mean, interval_of_mean, is_binary
from rankgauge.stats.intervals import _z, betting_interval, clopper_pearson, wilson
from tables import rows

UNIT = (0.0, 1.0)


def interval(values, *, exact=False, clusters=None, scale=UNIT, confidence=0.95):
    values = np.asarray(values, dtype=np.float64)
    codes = None if clusters is None else np.asarray(clusters)
    settings = {"binary": is_binary(values), "exact": exact, "values": values, "clusters": codes}
    return interval_of_mean(estimate_mean(values, codes), scale, confidence=confidence, **settings)


@rows("confidence", [0.5, 0.8, 0.95, 0.999])
@rows(("hits", "n"), [(0, 1), (1, 1), (10, 10), (0, 7), (3, 17), (500, 1_000), (123_456, 1_000_000)])
def test_shares_have_the_intervals_of_scipy(hits: int, n: int, confidence: float) -> None:
    test = binomtest(hits, n)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "exact")):
        expected = test.proportion_ci(confidence, method=method)
        assert ours(hits / n, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-10)


def test_ten_hits_of_ten_have_an_interval() -> None:
    """Wilson's lower end is n / (n + z**2), Clopper and Pearson's 0.025**(1 / n)."""
    assert interval([1.0] * 10) == (pytest.approx(10 / (10 + 1.959963984540054**2)), 1.0, "wilson")
    assert interval([1.0] * 10, exact=True) == (pytest.approx(0.025**0.1), 1.0, "clopper-pearson")
    assert interval([0.0] * 10).low == 0.0


def test_independent_hits_count_one_by_one() -> None:
    """Three hits of four, and each alone in its cluster."""
    for exact, function, name in ((False, wilson, "wilson"), (True, clopper_pearson, "clopper-pearson")):
        assert interval([1, 0, 1, 1], exact=exact) == (*function(0.75, 4), name)
    assert interval([1, 0, 1, 1], clusters=[0, 1, 2, 3]) == (*wilson(0.75, 4), "wilson")


def test_a_scale_without_width_has_no_interval() -> None:
    assert interval([2.0, 2.0], exact=True, scale=(2.0, 2.0)) is None


def test_only_scores_of_0_and_1_on_a_scale_from_0_to_1_are_shares() -> None:
    assert interval([0.0, 1.0, 1.0], scale=(None, None)).method == "t"
    assert interval([0.0, 1.0, 1.0], scale=(0.0, 2.0)).method == "t"
    assert interval([0.0, 0.5, 1.0]).method == "t"
    assert interval([0.5, 0.5, 0.5]) is None


def test_an_interval_of_t_ends_where_the_range_does() -> None:
    values = [1.0, 1.0, 0.9, 0.4]
    half = student.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    assert np.mean(values) + half > 1
    assert interval(values) == (pytest.approx(np.mean(values) - half), 1.0, "t")
    assert interval(values, scale=(None, 1.0)).high == 1.0
    assert interval([1.0, 2.0, 9.0], scale=(0.0, None)).low == 0.0


@pytest.mark.parametrize("values", [[0.5, 1.5], [-0.5, 0.5]])
def test_values_beyond_their_scale_have_no_exact_interval(values: list[float]) -> None:
    assert interval(values, exact=True) is None
    assert interval_of_mean(estimate_mean([0.25, 0.5]), UNIT, binary=False, exact=True) is None  # no values


def capital(values, mean, bet):
    """Return what is left of 1 after a constant bet on each value in turn."""
    left = 1.0
    for value in values:
        left *= max(0.0, 1 + bet * (value - mean))
    return left


def mixed(values, mean, alpha):
    """Return the capital of the half that bets on a higher mean, as the documentation describes it."""
    n, spread = len(values), math.sqrt(mean * (1 - mean))
    bets = [math.sqrt(2 * math.log(1 / alpha) * 2**place / n) / spread for place in range(2 + n.bit_length())]
    shares = [1 / (place + 1) for place in range(len(bets))]
    won = [capital(values, mean, min(bet, 1 / mean)) for bet in bets]
    return sum(share * each for share, each in zip(shares, won, strict=True)) / sum(shares)


@in_thorough_suite()
@rows("n", [1, 3, 12, 60])
@rows("confidence", [0.9, 0.95])
def test_a_betting_interval_holds_the_means_that_no_half_of_the_capital_refutes(n: int, confidence: float) -> None:
    values, alpha = np.random.default_rng(n).beta(2, 1, n).round(2), (1 - confidence) / 2
    low, high = betting_interval(values, confidence)
    for mean in np.linspace(0.001, 0.999, 97).tolist():
        up, down = mixed(values, mean, alpha), mixed(1 - values, 1 - mean, alpha)
        refuted = up >= 1 / alpha or down >= 1 / alpha
        assert refuted == (not low < mean < high)
    rising = [mixed(values, mean, alpha) for mean in np.linspace(0.001, 0.999, 97).tolist()]
    assert all(one >= other for one, other in itertools.pairwise(rising))


def test_bets_on_nothing_but_hits_end_where_clopper_and_pearson_do() -> None:
    """All bets stake everything there: capital is m**-n, which is 40 at 0.025**(1 / n)."""
    assert betting_interval(np.ones(10)) == (pytest.approx(0.025**0.1, abs=1e-9), 1.0)


def test_the_order_of_values_does_not_matter() -> None:
    values = np.random.default_rng(4).random(200)
    assert betting_interval(values) == betting_interval(values[::-1].copy())


def test_a_betting_interval_follows_the_scale() -> None:
    values = np.array([-0.5, 0.0, 0.25, 0.0])
    low, high = betting_interval((values + 1) / 2)
    assert interval(values, exact=True, scale=(-1.0, 1.0)) == (2 * low - 1, 2 * high - 1, "betting")
    assert interval(values, exact=True, scale=(0.0, 1.0)) is None  # a value that cannot be
    for scale in ((None, 1.0), (-1.0, None)):
        assert interval(values, exact=True, scale=scale).method == "t"


class TestClusters:
    """Twelve samples in four clusters of three."""

    CODES = np.repeat(np.arange(4), 3)

    def test_a_share_counts_as_many_as_independent_values_would(self) -> None:
        values = np.array([1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0], dtype=np.float64)
        share, n = values.mean(), len(values)
        sums = (values - share).reshape(4, 3).sum(axis=1)
        squared = (sums**2).sum() * 4 / 3 / n**2
        effect = squared / (values.var(ddof=1) / n)
        ratio = 1.959963984540054 / student.ppf(0.975, 3)
        expected = wilson(share, min(n, n / effect * ratio**2))
        assert interval(values, clusters=self.CODES) == (*map(pytest.approx, expected), "wilson")

    def test_two_clusters_are_enough_for_a_share(self) -> None:
        """Deviations of 4 of 6 and of 3 of 6 from 7/12 sum up to 1/2 and -1/2; t of one degree is Cauchy's."""
        values = [1, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0]
        squared = (1 / 4 + 1 / 4) * 2 / 12**2
        ratio = 1.959963984540054 / math.tan(math.pi * 0.475)
        expected = wilson(7 / 12, np.var(values, ddof=1) / squared * ratio**2)
        assert interval(values, clusters=np.repeat([0, 1], 6)) == (*map(pytest.approx, expected), "wilson")

    def test_equal_values_count_once_a_cluster(self) -> None:
        assert interval([1.0] * 12, clusters=self.CODES) == (*wilson(1.0, 4), "wilson")

    def test_exact_ones_bet_on_clusters(self) -> None:
        """Clusters of one size: the same as betting on their means."""
        values = np.random.default_rng(0).random(12)
        means = values.reshape(4, 3).mean(axis=1)
        expected = betting_interval(means)
        assert interval(values, exact=True, clusters=self.CODES)[:2] == tuple(map(pytest.approx, expected))
        assert interval([1.0] * 12, exact=True, clusters=self.CODES).low == pytest.approx(0.025**0.25, abs=1e-9)

    def test_an_exact_share_of_clusters_is_no_share_of_samples(self) -> None:
        values = [1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
        assert interval(values, exact=True, clusters=self.CODES).method == "betting"
        assert interval(values, exact=True).method == "clopper-pearson"

    def test_one_cluster_says_nothing(self) -> None:
        assert interval([1.0, 0.0, 1.0], clusters=[0, 0, 0]) is None


@in_thorough_suite()
@pytest.mark.parametrize("n", some([5, 10, 30, 100], of=2))
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_exact_intervals_cover_the_true_mean(n: int, share: float) -> None:
    """100 sets each; three standard errors of a coverage of .95 are .066."""
    rng = np.random.default_rng([n, int(100 * share)])
    hits = (rng.random((100, n)) < share).astype(np.float64)
    graded = hits * rng.beta(2, 2, (100, n)) if share < 0.5 else 1 - (1 - hits) * rng.beta(2, 2, (100, n))
    true = share / 2 if share < 0.5 else 1 - (1 - share) / 2
    for sets, mean in ((hits, share), (graded, true)):
        found = [interval(values, exact=True) for values in sets]
        assert np.mean([low <= mean <= high for low, high, _ in found]) >= 0.95 - 0.066


def test_all_hits_reach_the_end_of_the_range() -> None:
    assert {wilson(1.0, n)[1] for n in range(1, 50)} == {1.0}
    assert {wilson(0.0, n)[0] for n in range(1, 50)} == {0.0}


def test_no_rounding_leads_beyond_the_range() -> None:
    """Of shares of nearly all the sum is rounded to 1.0000000000000002 here and there."""
    assert max(wilson(1 - 2.0**-power, n)[1] for power in range(20, 53) for n in range(1, 50)) == 1.0


def test_an_interval_has_95_percent_unless_told() -> None:
    estimate = estimate_mean([0.25, 0.5, 0.75])
    assert interval_of_mean(estimate, (None, None), binary=False) == (*estimate.interval(0.95), "t")


@pytest.mark.parametrize("values", [[1.0, 1.0, 1.0, 1.0, 1.0], [0.9, 0.5, 0.8, 0.2, 1.0], [0.0, 0.0, 0.1, 0.0, 0.3]])
def test_clusters_of_unequal_sizes_bet_in_proportion_to_them(values: list[float]) -> None:
    """Of 3, 1 and 1 values: the small ones bet a third. Squares of the weights sum up to 1 + 1/9 + 1/9."""
    means, weights = [sum(values[:3]) / 3, *values[3:]], [1, 1 / 3, 1 / 3]
    size, alpha = 11 / 9, 0.025

    def won(means: list[float], mean: float) -> float:
        spread = math.sqrt(mean * (1 - mean))
        bets = [min(math.sqrt(2 * math.log(1 / alpha) * 2**k / size) / spread, 1 / mean) for k in range(3)]
        capitals = [
            math.prod(max(0.0, 1 + bet * weight * (each - mean)) for each, weight in zip(means, weights, strict=True))
            for bet in bets
        ]
        return sum(each / k for k, each in enumerate(capitals, 1)) / (1 + 1 / 2 + 1 / 3)

    low, high = betting_interval(np.array(values), clusters=np.array([0, 0, 0, 1, 2]))
    for mean in np.linspace(0.001, 0.999, 997).tolist():
        refuted = won(means, mean) >= 1 / alpha or won([1 - each for each in means], 1 - mean) >= 1 / alpha
        assert refuted == (not low < mean < high)


def test_hits_of_unequal_clusters_by_hand() -> None:
    """A cluster of two and twenty of one, which stake half: capital is ``1 / m * ((1 + 1 / m) / 2)**20``."""
    low, high = betting_interval(np.ones(22), clusters=np.array([0, 0, *range(1, 21)]))
    assert 1 / low * ((1 + 1 / low) / 2) ** 20 == pytest.approx(40, rel=1e-6)
    assert high == 1


def test_ends_of_clopper_and_pearson_have_all_digits() -> None:
    for hits, n in ((1, 2), (3, 17), (16, 17), (40, 90), (24, 100)):
        low, high = beta.ppf(0.025, hits, n - hits + 1), beta.ppf(0.975, hits + 1, n - hits)
        assert clopper_pearson(hits / n, n) == (pytest.approx(low, rel=1e-13), pytest.approx(high, rel=1e-13))


def test_no_values_are_not_binary() -> None:
    assert not is_binary(np.array([]))


def test_the_usual_quantile_is_that_of_the_standard_library() -> None:
    assert NormalDist().inv_cdf((1 + 0.95) / 2) == _z(0.95)
