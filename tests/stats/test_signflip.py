"""Sign-flip tests: exact p values, agreement of every way to compute them, the same bits, and rates under the null."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from draws import in_thorough_suite, is_thorough
from rankgauge.stats.effects import holm
from rankgauge.stats.paired_tests import _units, flip_signs
from stats.reference import DARWIN, SLEEP_1, SLEEP_2
from tables import rows

SCORES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 2 / 3, 1.0])


def test_few_differences_of_a_metric_are_tried_exactly_among_many_of_another() -> None:
    """Of five ones all signs are equal in two of 32 patterns."""
    differences = np.ones((20, 2))
    differences[5:, 0] = 0
    found = flip_signs(differences, resamples=100)
    assert (found.exact.tolist(), found.p[0]) == ([True, False], 2 / 32)


def brute_force(differences: np.ndarray) -> tuple[list[float], list[float]]:
    """Return p and step-down max-T p over all patterns of signs, in rational steps small enough to tell ties."""
    flips = np.array(list(itertools.product([1, -1], repeat=len(differences)))) @ differences
    norms = np.sqrt((differences**2).sum(axis=0))
    sizes, observed = np.abs(flips) / norms, np.abs(differences.sum(axis=0)) / norms
    p = [(sizes[:, j] >= observed[j] - 1e-9).mean() for j in range(len(norms))]
    adjusted = [0.0] * len(p)
    highest = 0.0
    order = np.argsort(-observed, kind="stable")
    for rank, j in enumerate(order):
        highest = max(highest, (sizes[:, order[rank:]].max(axis=1) >= observed[j] - 1e-9).mean())
        adjusted[j] = highest
    return p, adjusted


def test_darwins_maize_is_exact() -> None:
    found = flip_signs(DARWIN[:, None])
    assert found.p.tolist() == [1_726 / 32_768]
    assert (found.exact.tolist(), found.resamples) == ([True], 0)


def test_students_sleep_is_exact() -> None:
    """One patient slept alike under both drugs and halves numerator and denominator."""
    assert flip_signs((SLEEP_1 - SLEEP_2)[:, None]).p.tolist() == [4 / 1_024]


@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=10))
def test_p_is_that_of_scipy_where_all_signs_are_tried(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).T
    theirs = stats.permutation_test(
        (first, second),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    # Theirs doubles the smaller tail, which for this symmetric distribution counts the same patterns.
    assert flip_signs((first - second)[:, None]).p[0] == pytest.approx(theirs.pvalue, rel=1e-12)


def test_max_t_over_all_signs_is_brute_force() -> None:
    differences = np.random.default_rng(5).integers(-4, 6, (9, 3)) / 5
    p, adjusted = brute_force(differences)
    found = flip_signs(differences)
    assert found.p.tolist() == pytest.approx(p, rel=1e-12)
    assert found.p_adjusted.tolist() == pytest.approx(adjusted, rel=1e-12)


@pytest.mark.parametrize(("level", "critical", "of_one"), [(0.25, 7, 0.25), (0.5, 5, 0.5), (0.6, 5, 0.5)])
def test_the_critical_statistic_and_its_level_by_hand(level: float, critical: float, of_one: float) -> None:
    """The sizes of 1 + 2 + 4, with all signs, are 7, 5, 3 and 1, two patterns each; the norm is sqrt(21)."""
    flips = flip_signs(np.array([[1.0], [2.0], [4.0]]), level=level)
    assert flips.critical == pytest.approx(critical / math.sqrt(21))
    assert flips.levels is not None
    assert flips.levels.tolist() == [of_one]


def test_a_level_that_no_pattern_reaches_has_no_critical_statistic() -> None:
    assert flip_signs(np.array([[1.0], [2.0], [4.0]]), level=0.2).critical == math.inf


@pytest.mark.parametrize(("n", "blocks"), [(60, "tables"), (1_500, "transforms")])
def test_random_signs_agree_with_the_normal_limit(n: int, blocks: str) -> None:
    rng = np.random.default_rng(n)
    shift = np.linspace(0, 0.2, 4) * math.sqrt(60 / n)
    differences = rng.normal(size=(n, 4)) + shift
    found = flip_signs(differences)
    z = differences.sum(axis=0) / np.sqrt((differences**2).sum(axis=0))
    wanted = 2 * stats.norm.sf(np.abs(z))
    assert found.p == pytest.approx(wanted, abs=0.012), blocks
    assert found.resamples >= 100_000
    assert (found.p_adjusted >= found.p).all()


def test_random_signs_agree_with_all_signs() -> None:
    """One pair more than is enumerated, which is too small to matter, moves p by the Monte-Carlo error only."""
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1, (16, 1))
    exact, tried = flip_signs(differences), flip_signs(np.vstack([differences, [[1e-9]]]))
    assert (bool(exact.exact[0]), bool(tried.exact[0])) == (True, False)
    assert tried.p[0] == pytest.approx(exact.p[0], abs=4 * math.sqrt(0.25 / 100_000))


def test_clusters_flip_together() -> None:
    differences = np.arange(1.0, 7)[:, None]
    clusters = np.array([3, 3, 5, 5, 5, 9])
    assert flip_signs(differences, clusters=clusters).p[0] == flip_signs(np.array([[3.0], [12], [6]])).p[0] == 0.25


def test_order_does_not_matter_where_all_signs_are_tried() -> None:
    assert flip_signs(DARWIN[::-1, None]).p == flip_signs(DARWIN[:, None]).p


def test_a_unit_of_measure_does_not_matter() -> None:
    differences = np.random.default_rng(2).normal(0.1, 1, (40, 2))
    assert (flip_signs(differences).p == flip_signs(differences * 1024).p).all()


def test_nothing_differs() -> None:
    found = flip_signs(np.array([[0.0, 1e-13], [0.0, 0.0]]))
    assert found.p.tolist() == found.p_adjusted.tolist() == [1.0, 1.0]


def test_m_differences_cannot_give_a_smaller_p_than_their_signs_allow() -> None:
    for m in range(1, 9):
        differences = np.concatenate([np.full(m, 0.5), np.zeros(30)])[:, None]
        assert flip_signs(differences).p[0] == 2 ** (1 - m)


def test_p_is_never_0() -> None:
    assert flip_signs(np.ones((200, 1))).p[0] == 1 / 100_001


BITS = """
import numpy as np
from rankgauge.stats.paired_tests import flip_signs
raw = np.random.Philox(key=7).random_raw(3 * 1500).astype(np.float64).reshape(1500, 3) / 2.0**64 - 0.48
small, large = flip_signs(raw[:300], seed=3), flip_signs(raw, seed=3)
print([value.hex() for found in (small, large) for value in (*found.p.tolist(), *found.p_adjusted.tolist())])
"""


@pytest.mark.usefixtures("process")
def test_two_processes_and_two_threads_give_the_same_bits() -> None:
    printed = {
        subprocess.run([sys.executable, "-c", BITS], capture_output=True, text=True, check=True, env=env).stdout
        for env in (_environment("1"), _environment("2"))
    }
    assert len(printed) == 1
    differences = np.random.default_rng(0).normal(0.05, 1, (1_200, 2))
    found: list[list[float]] = []
    threads = [threading.Thread(target=lambda: found.append(flip_signs(differences).p.tolist())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == flip_signs(differences).p.tolist()


def _environment(threads: str) -> dict[str, str]:
    return {**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}


def test_bits_are_the_same_as_ever() -> None:
    """Written down once: another value is another test, and changes every published p."""
    raw = np.random.Philox(key=7).random_raw(2 * 1_500).astype(np.float64).reshape(1_500, 2) / 2.0**64 - 0.48
    small, large = flip_signs(raw[:300], seed=3), flip_signs(raw, seed=3)
    counts = [(small.p * 100_001).tolist(), (large.p * (large.resamples + 1)).tolist()]
    assert [[round(count) for count in each] for each in counts] == [SMALL, LARGE]
    assert flip_signs(raw[:300], seed=4).p.tolist() != small.p.tolist()


SMALL = [21516, 12605]
LARGE = [34688, 708]


@in_thorough_suite()
@pytest.mark.parametrize("n", [40, 1_100])
def test_rejection_rates_under_the_null(n: int) -> None:
    """Metrics that agree with each other: any false finding at .05 must be rare; a single one must be uniform."""
    tries = (1_000 if n < 1_000 else 400) if is_thorough() else 60
    resamples = 999 if n < 1_000 else 1
    rng = np.random.default_rng(n)
    single = family = by_holm = 0
    for seed in range(tries):
        common = rng.normal(size=(n, 1))
        differences = np.round(0.8 * common + 0.6 * rng.normal(size=(n, 6)), 2) * (rng.random((n, 6)) < 0.7)
        found = flip_signs(differences, resamples=resamples, seed=seed)
        single += bool(found.p[0] <= 0.05)
        family += bool(found.p_adjusted.min() <= 0.05)
        by_holm += min(holm(found.p.tolist())) <= 0.05
    error = math.sqrt(0.05 * 0.95 / tries)
    assert abs(single / tries - 0.05) <= 3.5 * error
    assert abs(family / tries - 0.05) <= 3.5 * error
    assert by_holm <= family  # which is why Holm is not used over metrics


@pytest.mark.parametrize(("n", "resamples"), [(16, 0), (17, 100)])
def test_all_signs_of_sixteen_differences_are_tried(n: int, resamples: int) -> None:
    assert flip_signs(np.arange(1.0, n + 1)[:, None], resamples=100).resamples == resamples


def test_a_test_has_a_level_of_5_percent_unless_told() -> None:
    differences = np.arange(1.0, 9)[:, None]
    assert flip_signs(differences).critical == flip_signs(differences, level=0.05).critical < math.inf


@pytest.mark.parametrize(("resamples", "is_one_within"), [(38, False), (39, True), (50, True)])
def test_one_of_forty_random_flips_is_within_5_percent(resamples: int, is_one_within: bool) -> None:
    """With the observed signs, two of 40 are; so the highest statistic drawn is significant, and no other one."""
    found = flip_signs(np.arange(1.0, 21)[:, None], resamples=resamples)
    assert (found.resamples, found.critical < math.inf) == (resamples, is_one_within)


def test_statistics_that_are_nearly_equal_are_told_apart() -> None:
    """The sizes of 4 + 2 + 1e-7 are 6 + 1e-7, 6 - 1e-7, 2 + 1e-7 and 2 - 1e-7; a quarter reaches the first only."""
    found = flip_signs(np.array([[4.0], [2.0], [1e-7]]), level=0.25)
    assert found.critical == pytest.approx((6 + 1e-7) / math.sqrt(20), rel=1e-10)
    assert found.levels is not None
    assert found.levels.tolist() == [0.25]


def test_tiny_differences_are_told_apart() -> None:
    """Of 1.5 + 1.0001 - 1 the sizes are 3.5001, 1.5001, 1.4999 and 0.5; two of these four are at least 1.5001."""
    assert flip_signs(np.array([[1.5], [1.0001], [-1.0]]) * 1e-11).p.tolist() == [0.5]


@rows("seed", range(5))
@rows("level", [0.05, 0.2, 0.5])
def test_the_critical_statistic_is_the_least_that_the_level_allows(seed: int, level: float) -> None:
    """Of all 1,024 patterns of three metrics, the highest statistics are sorted, and those within the level counted."""
    differences = np.random.default_rng(seed).normal(size=(10, 3))
    signs = np.array(list(itertools.product([1, -1], repeat=10)))
    highest = np.sort((np.abs(signs @ differences) / np.sqrt((differences**2).sum(axis=0))).max(axis=1))[::-1]
    beyond = highest[math.floor(level * 1024)]
    assert flip_signs(differences, level=level).critical == pytest.approx(highest[highest > beyond + 1e-9].min())


def test_differences_become_integers_whose_sums_are_exact() -> None:
    """Whichever sign the largest has, no sum of all sizes reaches the 53 bits of a float."""
    differences = np.array([[-1.0, 1.0], [1e-9, -1e-9], [-0.5, 0.5]])
    units, _ = _units(differences, None)
    assert (np.abs(units).sum(axis=0) < 2.0**53).all()
    assert (np.abs(units).sum(axis=0) > 2.0**50).all()
