"""Clusters of samples: their standard errors reach means, cohorts, folders, gates, plans and every report."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankgauge
from draws import in_thorough_suite
from rankgauge import Catalog, Engine, Result, judge_gates
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import plan_power
from rankgauge.engine.metadata import metadata_of
from rankgauge.errors import ResultError

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
HITS = [1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0]


def samples(hits=HITS, size=3):
    return [
        {
            "id": f"q{number}",
            "expected_output": ["a"],
            "actual_output": ["a" if hit else "b"],
            "metadata": {"document": f"d{number // size}", "tags": ["even"] * (number % 2 == 0)},
        }
        for number, hit in enumerate(hits)
    ]


def result(hits=HITS, size=3, **policy):
    return ENGINE.dataset(samples(hits, size)).with_metrics(["hit@1"]).with_profile(**policy).run()


def error_by_hand(hits, size):
    """G / (G - 1) / n**2 times the squared sums of deviations, by cluster."""
    mean = sum(hits) / len(hits)
    sums = [sum(hit - mean for hit in hits[start : start + size]) for start in range(0, len(hits), size)]
    return math.sqrt(len(sums) / (len(sums) - 1) * sum(each**2 for each in sums)) / len(hits)


def test_a_mean_has_the_error_and_interval_of_its_clusters():
    plain, by_document = result()["hit@1"], result().with_clusters("document")["hit@1"]
    assert by_document.standard_error == pytest.approx(error_by_hand(HITS, 3), rel=1e-12)
    assert by_document.mean == plain.mean
    assert by_document.std == plain.std
    assert by_document.interval() == plain.interval_found(clusters=[f"d{n // 3}" for n in range(12)])[:2]
    assert by_document.interval(0.9) != by_document.interval()
    assert by_document.interval()[0] < plain.interval()[0] < plain.interval()[1] < by_document.interval()[1]


def test_clusters_of_one_are_no_clusters():
    alone = result().with_clusters({f"q{n}": n for n in range(12)})["hit@1"]
    assert alone.standard_error == pytest.approx(result()["hit@1"].standard_error, rel=1e-12)
    assert alone.interval() == pytest.approx(result()["hit@1"].interval(), abs=0.06)


def test_one_cluster_alone_has_no_interval():
    one = result().with_clusters(dict.fromkeys((f"q{n}" for n in range(12)), "same"))["hit@1"]
    assert (one.standard_error, one.interval()) == (None, None)


def test_cohorts_and_folders_keep_their_clusters(tmp_path):
    clustered = result().with_clusters("document")
    even = clustered.by_tag()["even"]["hit@1"]
    assert even.standard_error == pytest.approx(error_by_hand_of(even), rel=1e-12)
    loaded = Result.load(clustered.save(tmp_path / "run"))
    assert loaded["hit@1"].interval() == clustered["hit@1"].interval()
    assert loaded.manifest["cluster"] == {"by": "document", "n": 4}
    assert loaded.per_sample["cluster"].to_list() == [number // 3 for number in range(12)]


def error_by_hand_of(column):
    values, groups = column.values.tolist(), column.clusters.tolist()
    mean = sum(values) / len(values)
    sums = [sum(value - mean for value, group in zip(values, groups, strict=True) if group == g) for g in set(groups)]
    return math.sqrt(len(sums) / (len(sums) - 1) * sum(each**2 for each in sums)) / len(values)


def test_exact_intervals_bet_on_clusters():
    exact = result(interval="exact").with_clusters("document")["hit@1"].interval_found()
    assert exact.method == "betting"
    plain = result(interval="exact")["hit@1"].interval()
    assert exact.low < plain[0] < plain[1] < exact.high


def test_a_gate_on_a_change_goes_by_clusters():
    """Every question of a document changes alike, so that 40 questions say no more than 4."""
    before, after = [1] * 40, [1] * 20 + [0] * 10 + [1] * 10
    new, old = result(after, 10), result(before, 10)
    (plain,) = judge_gates(new, "hit@1 max_drop 0.1", baseline=old).outcomes
    (clustered,) = judge_gates(new.with_clusters("document"), "hit@1 max_drop 0.1", baseline=old).outcomes
    compared = rankgauge.compare({"old": old, "new": new}, cluster="document", confidence=0.9)["new"]["hit@1"]
    assert plain.verdict == "fail"
    assert clustered.verdict == "inconclusive"
    assert clustered.drop.worst == pytest.approx(compared.difference - 2.3533634 * error_by_hand(after, 10), rel=1e-6)


def test_parts_with_clusters_do_not_merge():
    first, second = result().take(range(6)), result().take(range(6, 12))
    with pytest.raises(ResultError, match="merge the parts first"):
        Result.merge([first.with_clusters({f"q{n}": n // 3 for n in range(6)}), second])


def test_samples_without_a_cluster_and_fields_that_nobody_has_are_refused():
    with pytest.raises(ResultError, match=r"cannot estimate errors by clusters: 11 of 12 samples have none"):
        result().with_clusters({"q0": 1})
    with pytest.raises(ResultError, match="did you mean 'document'"):
        result().with_clusters("documents")
    assert metadata_of(ENGINE.dataset(samples()).with_metrics("hit@1"), "document")["q4"] == "d1"


def drawn(rng, groups, shift, size=5):
    """Scores of questions about documents, whose differences share half of their variance within a document."""
    per_group = rng.normal(size=groups).repeat(size)
    return shift + 0.2 * math.sqrt(0.5) * (per_group + rng.normal(size=groups * size))


def as_result(values):
    made = result([1] * len(values), 5)
    column = made["hit@1"]
    replaced = [type(column)(column.info, np.asarray(values, dtype=float), column.codes)]
    return made.with_columns(replaced)


@in_thorough_suite()
def test_questions_that_make_one_cluster_show_nothing():
    """Of clusters of twelve, 20 questions make one and 30 two."""
    rng = np.random.default_rng(3)
    pilot = {"a": as_result(np.zeros(240)), "b": as_result(rng.random(240))}
    clusters = {f"q{n}": n // 12 for n in range(240)}
    for test, shown in (("t", 30), ("sign-flip", 100)):  # signs take six clusters
        curve = dict(plan_power(pilot, method=Method(test=test), clusters=clusters).metrics["hit@1"].curve)
        assert next(n for n, size in curve.items() if size is not None) == shown


@in_thorough_suite()
def test_a_plan_with_clusters_shows_the_difference_that_it_promises():
    """The comparison of as many questions as were planned is significant in about 80 % of drawn sets."""
    rng = np.random.default_rng(5)
    pilot = {"a": as_result(np.zeros(1000)), "b": as_result(drawn(rng, 200, 0.0))}
    clusters = {f"q{n}": n // 5 for n in range(1000)}
    method = Method(test="t")
    plan = plan_power(pilot, method=method, sizes=[0.1], clusters=clusters).metrics["hit@1"]
    alone = plan_power(pilot, method=method, sizes=[0.1]).metrics["hit@1"]
    assert plan.clusters == 200
    assert 2 < plan.needed[0].n / alone.needed[0].n < 4  # the design effect is 3
    groups, shown = -(-plan.needed[0].n // 5), 0
    for _ in range(200):
        values = drawn(rng, groups, 0.1)
        results = {"a": as_result(np.zeros(len(values))), "b": as_result(values)}
        known = {f"q{n}": n // 5 for n in range(len(values))}
        shown += rankgauge.compare(results, test="t", cluster=known)["b"]["hit@1"].p_adjusted < 0.05
    assert 0.72 <= shown / 200 <= 0.9
