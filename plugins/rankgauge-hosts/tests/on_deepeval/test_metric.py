"""The metric inside DeepEval: through `evaluate`, `assert_test` and its way of copying metrics."""

from __future__ import annotations

import copy
import pickle

import pytest
from deepeval import assert_test
from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics.utils import copy_metrics
from deepeval.test_case import LLMTestCase, RetrievedContextData

from rankgauge.errors import PlanError
from rankgauge_hosts.deepeval import RankgaugeMetric


def case(retrieved, gold, **fields):
    return LLMTestCase(input="?", metadata={"retrieved": retrieved, "gold": gold}, **fields)


def test_telemetry_is_off_and_stays_off():
    from deepeval.telemetry import telemetry_opt_out

    assert telemetry_opt_out() is True


def test_a_score_comes_with_its_reason():
    metric = RankgaugeMetric("recall@2", threshold=0.5)
    assert metric.measure(case(["a", "x"], ["a", "b"])) == 0.5
    assert (metric.score, metric.success, metric.__name__) == (0.5, True, "recall@2")
    assert metric.reason == "recall@2 is 0.5 (k 2, relevant_count 2, found 1)"
    assert metric.score_breakdown["status"] == "scored"
    assert metric.score_breakdown["provenance"]["profile"] == "default"
    assert metric.measure(case(["x"], ["a", "b"])) == 0.0
    assert metric.success is False


def test_where_less_is_better_the_threshold_is_the_most(lateness):
    metric = RankgaugeMetric(lateness, threshold=1)
    metric.measure(case(["x", "a"], ["a"]))
    assert (metric.score, metric.is_successful()) == (1.0, True)
    metric.measure(case(["x", "y", "a"], ["a"]))
    assert (metric.score, metric.is_successful()) == (2.0, False)


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric)), lambda metric: copy_metrics([metric])[0]],
)
def test_a_copy_scores_as_the_original(copied):
    """DeepEval makes metrics again from the attributes that are called like arguments."""
    metric = RankgaugeMetric(
        {"metric": "recall", "k": 5},
        threshold=0.7,
        retrieved="hits",
        gold="truth",
        k=9,
        profile="haystack",
        policy={"no_gold": "undefined"},
        matchers={"passages": "exact"},
        flaky=True,
    )
    again = copied(metric)
    arguments = ("metric", "threshold", "retrieved", "gold", "config", "profile", "k", "policy", "matchers", "flaky")
    assert [getattr(again, name) for name in arguments] == [getattr(metric, name) for name in arguments]
    test_case = LLMTestCase(input="?", metadata={"hits": ["a"], "truth": ["a", "b"]})
    assert again.measure(test_case) == metric.measure(test_case) == 0.5


def test_deepevals_own_fields_are_read():
    contexts = ["The lighthouse is 41 metres tall.", RetrievedContextData(source="d9", context="Mice are curious.")]
    test_case = LLMTestCase(
        input="?",
        retrieval_context=contexts,
        context=["Mice are curious.", "Towels are useful."],
        expected_output="41 metres",
        actual_output="41 metres",
    )
    found = {}
    for metric in ("recall(matcher=exact)@5", "answer-containment-at-k", "answer-exact-match"):
        found[metric] = RankgaugeMetric(metric).measure(test_case)
    assert found == {"recall(matcher=exact)@5": 0.5, "answer-containment-at-k": 1.0, "answer-exact-match": 1.0}
    by_id = LLMTestCase(input="?", retrieval_context=contexts[1:], metadata={"gold": ["d9"]})
    assert RankgaugeMetric("hit@1").measure(by_id) == 1.0


def test_what_is_undefined_is_not_passed(driver):
    samples = [
        {"id": "defined", "expected_output": ["a"], "actual_output": ["a"]},
        {"id": "undefined", "expected_output": [], "actual_output": ["a"]},
    ]
    tests = driver.evaluated(samples, [RankgaugeMetric("recall@5")])
    assert [data.score for data in tests["defined"].metrics_data] == [1.0]
    (undefined,) = tests["undefined"].metrics_data
    assert (undefined.score, undefined.success) == (None, False)
    metric = RankgaugeMetric("recall@5")
    assert metric.measure(case(["a"], [])) is None
    assert (metric.skipped, metric.score, metric.is_successful()) == (False, None, False)
    assert "undefined, nothing counts" in metric.error
    metric = RankgaugeMetric("recall@5", threshold=None)
    assert metric.measure(case(["a"], [])) is None
    assert (metric.skipped, metric.error, metric.is_successful()) == (True, None, None)


def test_a_test_case_that_is_declared_unanswerable_is_skipped():
    metric = RankgaugeMetric("recall@5")
    metadata = {"retrieved": ["a"], "gold": ["a"], "answerable": False}
    assert metric.measure(LLMTestCase(input="?", metadata=metadata)) is None
    assert (metric.skipped, metric.error, metric.is_successful()) == (True, None, None)


def test_a_missing_or_failed_output_never_passes_unless_the_policy_allows_it():
    failed = LLMTestCase(input="?", metadata={"retrieved": 5, "gold": ["a"]})
    for policy, passed in ((None, False), ({"max_failed": 1}, True)):
        metric = RankgaugeMetric("recall@5", threshold=0.0, policy=policy)
        assert (metric.measure(failed), metric.is_successful()) == (0.0, passed)


@pytest.mark.parametrize("output", [None, {"results": []}])
def test_an_output_that_is_excluded_is_an_error_and_otherwise_zero(output, driver):
    samples = [{"id": "q", "expected_output": ["a"], "actual_output": output}]
    (counted,) = driver.evaluated(samples, [RankgaugeMetric("recall@5")])["q"].metrics_data
    assert (counted.score, counted.success, counted.error) == (0.0, False, None)
    assert "0 counts" in counted.reason
    policy = {"missing_output": "exclude", "failed_output": "exclude"}
    (excluded,) = driver.evaluated(samples, [RankgaugeMetric("recall@5", policy=policy)])["q"].metrics_data
    assert (excluded.score, excluded.success) == (None, False)
    assert "nothing counts" in excluded.error


def test_a_state_does_not_outlive_its_test_case():
    metric = RankgaugeMetric("recall@5", policy={"missing_output": "exclude"})
    metric.measure(LLMTestCase(input="?", metadata={"gold": ["a"]}))
    assert metric.error is not None
    assert metric.measure(case(["a"], ["a"])) == 1.0
    assert (metric.error, metric.is_successful()) == (None, True)


def test_assert_test_passes_and_fails():
    assert_test(case(["a"], ["a"]), [RankgaugeMetric("recall@5", threshold=1.0)])
    with pytest.raises(AssertionError, match="recall@5"):
        assert_test(case(["x"], ["a"]), [RankgaugeMetric("recall@5", threshold=0.1)])


def test_without_a_threshold_there_is_no_verdict():
    metric = RankgaugeMetric("recall@5", threshold=None)
    metric.measure(case(["x"], ["a"]))
    assert (metric.score, metric.is_successful()) == (0.0, None)


def test_a_test_case_without_ground_truth_says_what_to_give():
    metric = RankgaugeMetric("recall@5")
    with pytest.raises(MissingTestCaseParamsError, match=r"no ground truth for recall@5: give metadata\['gold'\]"):
        metric.measure(LLMTestCase(input="?", name="q7", metadata={"retrieved": ["a"]}))


def test_mistakes_surface_when_the_metric_is_made():
    with pytest.raises(PlanError, match="unknown metric 'ndgc'"):
        RankgaugeMetric("ndgc@10")
    with pytest.raises(ValueError, match="one score at a time"):
        RankgaugeMetric("recall@1,5")
