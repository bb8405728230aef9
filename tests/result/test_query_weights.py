"""Weights of queries: means, intervals, tests, gates, folders and merges in which samples count differently."""

from __future__ import annotations

import itertools
import json
import math
import pickle

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

import rankgauge
from draws import in_thorough_suite
from rankgauge import Catalog, Engine, Result, evaluate, judge_gates
from rankgauge.errors import ParameterError, ResultError
from rankgauge.result.query_weights import weighted
from rankgauge.scale import Totals
from rankgauge.stats.estimates import bootstrap_bca, effective_size, estimate_mean
from rankgauge.stats.intervals import betting_interval, interval_of_mean, wilson
from rankgauge.stats.paired_tests import flip_signs

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
VALUES, WEIGHTS = np.array([1, 0.5, 0, 0.25, 1, 0.2]), np.array([4, 1, 0.5, 2, 1, 3])
CLUSTERS = np.array([0, 0, 1, 1, 2, 2])

QRELS = {f"q{number}": {"d": 1} for number in range(1, 7)}
RANKS = {"q1": 1, "q2": 2, "q3": 0, "q4": 4, "q5": 1, "q6": 5}
OF_QUERIES = dict(zip(QRELS, WEIGHTS.tolist(), strict=True))

SCORES = st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0])
WEIGHED = st.lists(st.tuples(SCORES, st.integers(1, 4)), min_size=2, max_size=12)


def run_of(ranks=RANKS):
    def ranking(rank):
        return {f"x{place}": 9.0 - place for place in range(1, 6) if place != rank} | (
            {"d": 9.0 - rank} if rank else {}
        )

    return {query: ranking(rank) for query, rank in ranks.items()}


def scored(weights=OF_QUERIES, ranks=RANKS, metrics="RR"):
    return evaluate(QRELS, run_of(ranks), metrics, weights=weights)


def samples(weights):
    for (query, ranking), weight in zip(run_of().items(), weights, strict=True):
        yield {
            "id": query,
            "expected_output": {"relevant": QRELS[query]},
            "actual_output": {"retrieved": sorted(ranking, key=ranking.__getitem__, reverse=True)},
            "metadata": {} if weight is None else {"importance": weight},
        }


def test_mean_and_errors_are_those_of_statsmodels():
    """DescrStatsW's mean; the errors of WLS on a constant with HC1 and by clusters."""
    sums = [4 + 0.5 + 0 + 0.5 + 1 + 0.6, 11.5]
    estimate = estimate_mean(VALUES, None, WEIGHTS)
    assert estimate.mean == pytest.approx(sums[0] / sums[1], abs=1e-15)
    deviations = [weight * (value - sums[0] / sums[1]) for value, weight in zip(VALUES, WEIGHTS, strict=True)]
    by_hand = math.sqrt(6 / 5 * sum(each**2 for each in deviations)) / 11.5
    assert (estimate.standard_error, estimate.df) == (pytest.approx(by_hand, rel=1e-13), 5)
    model = sm.WLS(VALUES, np.ones(6), weights=WEIGHTS)
    assert estimate.standard_error == pytest.approx(model.fit(cov_type="HC1").bse[0], rel=1e-12)
    by_clusters = model.fit(cov_type="cluster", cov_kwds={"groups": CLUSTERS}).bse[0]
    assert estimate_mean(VALUES, CLUSTERS, WEIGHTS).standard_error == pytest.approx(by_clusters, rel=1e-12)


@given(WEIGHED)
def test_a_whole_weight_is_a_cluster_of_so_many_copies(weighed):
    values, weights = (np.array(each, dtype=np.float64) for each in zip(*weighed, strict=True))
    copies = np.repeat(values, weights.astype(int))
    clusters = np.repeat(np.arange(len(values)), weights.astype(int))
    own, copied = estimate_mean(values, None, weights), estimate_mean(copies, clusters)
    assert (own.mean, own.df) == (pytest.approx(copied.mean, abs=1e-15), copied.df)
    assert own.standard_error == pytest.approx(copied.standard_error, abs=1e-12)
    assert betting_interval(values, 0.95, None, weights) == pytest.approx(
        betting_interval(copies, 0.95, clusters), abs=1e-9
    )
    p = flip_signs((values - 0.3)[:, None], weights=weights).p[0]
    assert p == flip_signs((copies - 0.3)[:, None], clusters=clusters).p[0]


@given(WEIGHED, st.sampled_from([1.0, 0.1, 7.0]))
def test_equal_weights_change_nothing(weighed, weight):
    values = np.array([value for value, _ in weighed])
    same = np.full(len(values), weight)
    own, plain = estimate_mean(values, None, same), estimate_mean(values)
    assert (own.mean, own.std, own.standard_error) == pytest.approx((plain.mean, plain.std, plain.standard_error))
    binary = np.round(values)
    for exact in (False, True):
        how = {"binary": True, "exact": exact, "values": binary}
        found = interval_of_mean(estimate_mean(binary, None, same), (0.0, 1.0), **how, weights=same)
        if exact:
            assert found.method == "betting"
            assert found[:2] == pytest.approx(betting_interval(binary), abs=1e-9)
        else:
            assert found[:2] == pytest.approx(interval_of_mean(estimate_mean(binary), (0.0, 1.0), **how)[:2])


def test_sign_flips_are_those_of_all_patterns_of_weighted_differences():
    differences, weights = np.array([0.5, -0.25, 0.75, 0.0, 0.5]), np.array([1.0, 4.0, 2.0, 9.0, 0.5])
    own = [difference * weight for difference, weight in zip(differences, weights, strict=True)]
    patterns = itertools.product((1, -1), repeat=5)
    sums = [sum(sign * each for sign, each in zip(signs, own, strict=True)) for signs in patterns]
    reached = sum(abs(each) >= abs(sum(own)) for each in sums)
    assert flip_signs(differences[:, None], weights=weights).p[0] == reached / len(sums)


@in_thorough_suite()
def test_the_bootstrap_draws_values_with_their_weights():
    generator = np.random.default_rng(7)
    values, weights = generator.normal(0.2, 1, 60), generator.uniform(0.5, 3, 60)
    drawn = generator.integers(0, 60, (20_000, 60))
    means = (values * weights)[drawn].sum(axis=1) / weights[drawn].sum(axis=1)
    low, high = bootstrap_bca(values, weights=weights, resamples=20_000).interval
    assert (low, high) == pytest.approx(np.percentile(means, [2.5, 97.5]), abs=0.05)
    assert bootstrap_bca(values, weights=np.full(60, 3.0)).interval == pytest.approx(bootstrap_bca(values).interval)


def test_wilson_takes_the_size_that_unequal_weights_leave():
    values, weights = np.array([1.0, 0, 1, 1, 0, 1, 1, 0]), np.array([1.0, 2, 3, 1, 1, 2, 1, 1])
    estimate = estimate_mean(values, None, weights)
    n = (estimate.std / estimate.standard_error) ** 2
    how = {"binary": True, "values": values, "weights": weights}
    assert interval_of_mean(estimate, (0.0, 1.0), **how)[:2] == pytest.approx(wilson(8 / 12, n))
    ones = np.ones(8)
    found = interval_of_mean(estimate_mean(ones, None, weights), (0.0, 1.0), **{**how, "values": ones})
    assert found[:2] == pytest.approx(wilson(1.0, 12**2 / 22))
    assert effective_size(weights) == pytest.approx(12**2 / 22)


def test_means_of_a_run_are_weighted_and_sums_are_not():
    result = scored(metrics=["RR", "num_ret", "gm_map"])
    plain = scored(None, metrics=["RR", "num_ret", "gm_map"])
    assert result["RR"].mean == np.average(VALUES, weights=WEIGHTS)
    assert result["RR"].info.fingerprint != plain["RR"].info.fingerprint
    for name in ("num_ret", "gm_map"):
        assert result[name].mean == plain[name].mean
        assert result[name].info == plain[name].info
    assert result["RR"].values.tolist() == plain["RR"].values.tolist()


def test_a_weight_of_nought_counts_for_nothing():
    weights = {**OF_QUERIES, "q1": 0, "q6": 0.0}
    assert scored(weights)["RR"].mean == np.average(VALUES[1:5], weights=WEIGHTS[1:5])
    assert scored(weights)["RR"].estimate.n == 4
    alone = scored(weights).take([0, 5])
    assert (alone["RR"].mean, alone["RR"].interval()) == (None, None)
    assert alone["RR"].failure == "all samples that count weigh 0"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (-1, "q2 has -1, and a weight is a number of 0 or more"),
        (math.nan, "q2 has nan"),
        (math.inf, "q2 has inf"),
        (True, "q2 has True"),
        ("much", "q2 has 'much'"),
        ([1], "q2 has "),
        (None, "1 of 6 samples has no weight, such as q2"),
    ],
)
def test_what_is_no_weight_is_refused(wrong, why):
    with pytest.raises(ResultError, match=r"cannot weigh samples by weights: .*" + why):
        scored({**OF_QUERIES, "q2": wrong})


def test_weights_that_are_all_nought_are_refused():
    with pytest.raises(ResultError, match="all weights are 0, so that nothing would count"):
        scored(dict.fromkeys(QRELS, 0))


def test_a_comparison_is_of_weighted_means():
    new = scored(ranks={**RANKS, "q3": 1, "q4": 1, "q6": 1})
    (pair,) = rankgauge.compare({"old": scored(), "new": new}, matters=0.1).comparisons
    metric = pair.metrics["rr"]
    after = np.array([1, 0.5, 1, 1, 1, 1])
    means = [np.average(each, weights=WEIGHTS) for each in (VALUES, after)]
    assert (metric.baseline_mean, metric.mean) == pytest.approx(means)
    assert metric.difference == pytest.approx(means[1] - means[0])
    assert metric.p == 2 / 2**3
    assert metric.p_t == pytest.approx(estimate_mean(after - VALUES, None, WEIGHTS).p)
    for test in ("t", "bootstrap-bca"):
        assert rankgauge.compare({"old": scored(), "new": new}, test=test).comparisons[0].metrics["rr"].p < 0.2
    with pytest.raises(ParameterError, match="the test wilcoxon counts all samples alike"):
        rankgauge.compare({"old": scored(), "new": new}, test="wilcoxon")


def test_a_sample_without_weight_makes_no_pair():
    weights = {**OF_QUERIES, "q3": 0}
    new = scored(weights, {**RANKS, "q3": 1})
    metric = rankgauge.compare({"old": scored(weights), "new": new}).comparisons[0].metrics["rr"]
    assert (metric.n, metric.dropped["weightless"], metric.difference) == (5, 1, 0.0)


def test_other_weights_or_none_are_not_compared():
    with pytest.raises(ResultError, match="1 of 6 samples weigh something else in one, such as 'q4': 2 and 5"):
        rankgauge.compare({"a": scored(), "b": scored({**OF_QUERIES, "q4": 5})})
    with pytest.raises(ResultError, match="weights=of queries in one, no weights in the other"):
        rankgauge.compare({"a": scored(), "b": scored(None)})


def test_gates_judge_weighted_means(tmp_path):
    worse = scored(ranks={**RANKS, "q1": 0})
    assert judge_gates(scored(), "RR >= 0.57").exit_code == 0
    assert judge_gates(scored(None), "RR >= 0.57").exit_code == 1
    path = rankgauge.save_baseline({"run": scored()}, tmp_path / "baseline.json")
    report = judge_gates({"run": worse}, "RR max_drop 0.02", baseline=rankgauge.load_baseline(path))
    drop = report.outcomes[0].drop
    assert drop.difference == pytest.approx(-4 / 11.5)
    assert drop.baseline == scored()["RR"].mean


def test_results_keep_weights(tmp_path):
    result = scored()
    result.save(tmp_path / "folder")
    for kept in (Result.load(tmp_path / "folder"), pickle.loads(pickle.dumps(result)), result.take(range(6))):  # noqa: S301
        assert kept["RR"].mean == result["RR"].mean
        assert kept["RR"].weights.tolist() == WEIGHTS.tolist()
        assert kept.per_sample["weight"].to_list() == WEIGHTS.tolist()
    said = "means are weighted by weights: 6 samples, as many as 4.232 of one weight"
    assert said in (tmp_path / "folder" / "report.md").read_text()
    assert json.loads((tmp_path / "folder" / "summary.json").read_text())["weights"] == {"by": "weights"}
    assert result.with_weights(dict.fromkeys(QRELS, 1))["RR"].mean == scored(None)["RR"].mean
    with pytest.raises(ParameterError, match="weights are a field"):
        result.with_weights(3)


def test_a_stream_reads_its_weights_once(tmp_path):
    path = tmp_path / "weights.txt"
    path.write_text("".join(f"{name} {weight}\n" for name, weight in OF_QUERIES.items()))
    parts = ENGINE.dataset(list(samples(WEIGHTS.tolist()))).with_metrics("RR").with_weights(path).stream(batch_size=2)
    first = next(parts)
    path.unlink()
    assert [part["RR"].weights.tolist() for part in (first, *parts)] == WEIGHTS.reshape(3, 2).tolist()


def test_parts_merge_to_the_whole():
    evaluation = ENGINE.dataset(list(samples(WEIGHTS.tolist()))).with_metrics(["RR", "hit@1"])
    whole = evaluation.with_weights("importance").run()
    assert whole["RR"].mean == np.average(VALUES, weights=WEIGHTS)
    assert whole.evaluation().with_metrics("RR").run()["RR"].mean == whole["RR"].mean
    parts = list(evaluation.with_weights("metadata.importance").stream(batch_size=2))
    merged = Result.merge(parts)
    assert (merged["RR"].mean, merged["RR"].interval()) == (whole["RR"].mean, whole["RR"].interval())
    with pytest.raises(ResultError, match="cannot merge: 'rr' does not mean the same in both"):
        Result.merge([parts[0], *list(evaluation.stream(batch_size=2))[1:]])
    with pytest.raises(ParameterError, match="and these have weights"):
        Totals.of(whole)


def test_metadata_has_to_say_a_weight_of_each_sample():
    evaluation = ENGINE.dataset(list(samples([1, 2, None, 1, "3", 0]))).with_metrics("RR")
    with pytest.raises(ResultError, match="1 of 6 samples has no weight, such as q3"):
        evaluation.with_weights("importance").run()
    with pytest.raises(ResultError, match="did you mean 'importance'"):
        evaluation.with_weights("importanc").run()
    with pytest.raises(ParameterError, match="with_weights takes a field"):
        evaluation.with_weights(3)


def test_bounds_are_of_the_weighted_mean():
    result = scored()
    bounds = result.bounds()["rr"]
    best = np.average([1.0, 1, 1, 1, 1, 1], weights=WEIGHTS)
    assert (bounds.worst, bounds.best) == pytest.approx((result["RR"].mean, best))


def test_condensed_lists_keep_weights():
    result = scored()
    assert result.condensed()["RR"].mean == pytest.approx((11.5 - 0.5) / 11.5)  # q3 retrieves nothing that is judged


def test_what_weighs_parts_is_named_once():
    first, second = (weighted(scored(None).take(places), OF_QUERIES, by) for places, by in (([0, 1], "a"), ([2], "b")))
    assert Result.merge([first, second]).manifest["weights"] == {"by": "a, b"}
