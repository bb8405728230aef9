import math
from fractions import Fraction
from itertools import pairwise

import pytest

from rankgauge.stats import PERCENTILES, aggregate, histogram, pass_rate, percentile, standard_deviation
from rankgauge.stats.aggregates import exact_reading, terms
from tables import rows


class TestAggregate:
    def test_the_mean_is_the_sum_over_the_count(self):
        assert aggregate([0.0, 0.5, 1.0, 0.25]) == 0.4375

    def test_the_sum_is_exactly_rounded(self):
        # Added from left to right, ten tenths make 0.9999999999999999.
        assert aggregate([0.1] * 10, "sum") == 1.0
        assert aggregate([1e16, 1.0, -1e16], "sum") == 1.0

    def test_the_mean_does_not_depend_on_the_order(self):
        values = [1e16, 1.0, 0.1, -1e16, 0.3]
        assert aggregate(values) == aggregate(values[::-1]) == aggregate(sorted(values))

    def test_the_geometric_mean_is_the_root_of_the_product(self):
        # sqrt(0.25 * 1) = 0.5.
        assert aggregate([0.25, 1.0], "geometric") == pytest.approx(0.5, rel=1e-12)

    def test_the_geometric_mean_raises_small_values_to_its_floor(self):
        # sqrt(1e-5 * 1e-5) = 1e-5.
        assert aggregate([0.0, 1e-9], "geometric") == pytest.approx(1e-5, rel=1e-12)

    def test_nothing_has_no_mean_and_the_sum_zero(self):
        assert aggregate([]) is None
        assert aggregate([], "geometric") is None
        assert aggregate([], "sum") == 0.0


class TestStandardDeviation:
    def test_it_divides_by_one_less_than_the_count(self):
        # Mean 3; squares 4 + 1 + 0 + 1 + 4 = 10; 10 / 4 = 2.5.
        assert standard_deviation([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(math.sqrt(2.5), rel=1e-12)

    def test_equal_values_have_none(self):
        assert standard_deviation([0.5, 0.5, 0.5]) == 0.0

    @pytest.mark.parametrize("values", [[], [0.5]])
    def test_fewer_than_two_values_have_no_deviation(self, values):
        assert standard_deviation(values) is None


class TestPercentile:
    @pytest.mark.parametrize(
        ("p", "expected"),
        [
            (0, 0.0),
            (25, 0.1875),  # place 0.75: three quarters of the way from 0 to 0.25
            (50, 0.375),  # place 1.5: half way from 0.25 to 0.5
            (100, 1.0),
        ],
    )
    def test_it_is_interpolated_between_closest_ranks(self, p, expected):
        assert percentile([0.0, 1.0, 0.5, 0.25], p) == expected

    def test_one_value_is_every_percentile(self):
        assert [percentile([0.3], p) for p in (0, 50, 100)] == [0.3, 0.3, 0.3]

    def test_nothing_has_no_percentile(self):
        assert percentile([], 50) is None

    @pytest.mark.parametrize("p", [-0.1, 100.5, math.nan])
    def test_a_percentile_outside_of_its_bounds_is_refused(self, p):
        with pytest.raises(ValueError, match="from 0 to 100"):
            percentile([0.5], p)


class TestPassRate:
    def test_a_value_at_the_threshold_passes(self):
        assert pass_rate([1.0, 0.49, 0.5]) == 2 / 3

    def test_the_threshold_can_be_chosen(self):
        assert pass_rate([1.0, 0.49, 0.5, 0.0], 0.49) == 0.75

    def test_nothing_has_no_rate(self):
        assert pass_rate([]) is None


class TestHistogram:
    def test_there_are_ten_buckets_the_empty_ones_included(self):
        found = histogram([0.0, 0.5, 1.0, 0.25])
        assert [count for _, _, count in found] == [1, 0, 1, 0, 0, 1, 0, 0, 0, 1]
        assert found[0][:2] == (0.0, 0.1)
        assert found[-1][:2] == (0.9, 1.0)

    @rows("step", range(10))
    def test_a_lower_edge_belongs_to_its_bucket(self, step):
        # Tenths as they are written: 0.3 is below 3 * 0.1 and not below 3 / 10.
        counts = [count for _, _, count in histogram([step / 10])]
        assert [int(place == step) for place in range(10)] == counts

    @rows("step", range(1, 10))
    def test_a_value_just_below_an_edge_belongs_to_the_bucket_before(self, step):
        counts = [count for _, _, count in histogram([math.nextafter(step / 10, 0)])]
        assert [int(place == step - 1) for place in range(10)] == counts

    def test_the_last_bucket_holds_its_upper_edge(self):
        assert histogram([1.0, math.nextafter(1.0, 0)])[-1] == (0.9, 1.0, 2)

    def test_values_outside_count_at_the_ends(self):
        counts = [count for _, _, count in histogram([-3.0, 7.0])]
        assert counts == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]

    def test_bounds_and_number_of_buckets_can_be_chosen(self):
        assert histogram([1.0, 2.0, 3.0], 1.0, 3.0, 2) == [(1.0, 2.0, 1), (2.0, 3.0, 2)]

    def test_bounds_that_coincide_hold_everything_in_the_first_bucket(self):
        assert histogram([2.0, 2.0], 2.0, 2.0)[0] == (2.0, 2.0, 2)

    def test_edges_meet(self):
        found = histogram([], 0.0, 1.0)
        assert all(left[1] == right[0] for left, right in pairwise(found))


class TestAgainstTheEvalHarness:
    """Its report over four samples: the second metric failed for one of them, which leaves that pair out."""

    M1 = (0.0, 0.5, 1.0, 0.25)
    M2 = (1.0, 0.49, 0.5)

    @pytest.mark.parametrize(
        ("values", "mean", "p50", "p95", "rate"),
        [
            pytest.param(M1, 0.4375, 0.375, 0.9249999999999998, 0.5, id="m1"),
            pytest.param(M2, 0.6633333333333333, 0.5, 0.95, 0.6666666666666666, id="m2"),
            pytest.param((0.0, 0.5), 0.25, 0.25, 0.475, 0.5, id="m1 of cohort a"),
            pytest.param((1.0, 0.49), 0.745, 0.745, 0.9744999999999999, 0.5, id="m2 of cohort a"),
            pytest.param((0.0, 0.25), 0.125, 0.125, 0.2375, 0.0, id="m1 of cohort b"),
            pytest.param((1.0, 0.5), 0.75, 0.75, 0.975, 1.0, id="m2 of cohort b"),
            pytest.param((1.0,), 1.0, 1.0, 1.0, 1.0, id="m1 of the untagged"),
        ],
    )
    def test_means_percentiles_and_pass_rates_agree(self, values, mean, p50, p95, rate):
        assert aggregate(values) == pytest.approx(mean, rel=1e-12)
        assert percentile(values, 50) == pytest.approx(p50, rel=1e-12)
        assert percentile(values, 95) == pytest.approx(p95, rel=1e-12)
        assert pass_rate(values) == pytest.approx(rate, rel=1e-12)

    @pytest.mark.parametrize(
        ("values", "counts"),
        [
            pytest.param(M1, [1, 0, 1, 0, 0, 1, 0, 0, 0, 1], id="m1"),
            pytest.param(M2, [0, 0, 0, 0, 1, 1, 0, 0, 0, 1], id="m2"),
            pytest.param((), [0] * 10, id="m3, which failed everywhere"),
        ],
    )
    def test_distributions_agree(self, values, counts):
        found = histogram(values)
        assert counts == [count for _, _, count in found]
        assert [low for low, _, _ in found] == pytest.approx([step / 10 for step in range(10)], rel=1e-12)
        assert [high for _, high, _ in found] == pytest.approx([step / 10 for step in range(1, 11)], rel=1e-12)

    def test_a_metric_that_failed_everywhere_has_no_numbers_where_the_source_shows_zeros(self):
        assert (aggregate(()), percentile((), 50), pass_rate(())) == (None, None, None)


def test_scores_are_read_as_the_fractions_that_they_stand_for():
    assert exact_reading(0.6) == Fraction(3, 5)
    assert exact_reading(1 / 3) == Fraction(1, 3)
    assert exact_reading(0.12345678901) == Fraction(0.12345678901)


@pytest.mark.parametrize(
    ("value", "steps", "is_read"),
    [(0.5, 2, True), (0.5, 3, False), (0.6, 2, True), (0.6, -1, True), (0.6, -2, False)],
)
def test_a_fraction_is_no_further_than_four_roundings_away(value, steps, is_read):
    """A rounding is half a step from float to float, and 0.6 lies a fifth of a step below 3/5."""
    moved = value + steps * math.ulp(value)
    assert exact_reading(moved) == (Fraction(str(value)) if is_read else Fraction(moved))


def test_only_a_geometric_mean_adds_logarithms():
    """The smallest value that counts there is 1e-5."""
    assert terms([0.5, 0.0], "mean") == [0.5, 0.0]
    assert terms([1.0, 0.0], "geometric") == [0.0, math.log(1e-5)]


@pytest.mark.parametrize(
    ("name", "of_five", "of_one"),
    [("min", 0.0, 0.5), ("p5", 0.2, 0.5), ("p10", 0.4, 0.5), ("p50", 2.0, 0.5), ("p95", 3.8, 0.5), ("max", 4.0, 0.5)],
)
def test_tails_are_aggregates(name, of_five, of_one):
    assert PERCENTILES[name]([0.0, 1.0, 2.0, 3.0, 4.0]) == pytest.approx(of_five, rel=1e-12)
    assert PERCENTILES[name]([0.5]) == of_one
