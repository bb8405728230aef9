"""rankgauge.compat.classic gives the classic library's numbers and its report."""

from __future__ import annotations

import pytest

from features.compat.golden import cases, close
from rankgauge.compat.classic import (
    GradedRetrievalMetrics,
    GradedRetrievalResult,
    RetrievalEvaluator,
    RetrievalMetrics,
    RetrievalResult,
)
from tables import rows


def result(retrieved, relevant):
    return RetrievalResult("q", retrieved, set(relevant), [])


def call(case):
    given = {name: case[name] for name in ("k", "max_grade") if name in case}
    if "grades" in case:
        graded = GradedRetrievalResult("q", case["retrieved"], case["grades"])
        return getattr(GradedRetrievalMetrics, case["call"])(graded, **given)
    return getattr(RetrievalMetrics, case["call"])(result(case["retrieved"], case["relevant"]), **given)


@rows("case", cases("classic"))
def test_scores_are_the_same(case):
    if "refused" in case:
        with pytest.raises(ValueError, match=case["refused"]):
            call(case)
    else:
        assert close(case["score"]) == call(case)


@pytest.mark.parametrize("case", cases("classic", "evaluations"))
@pytest.mark.filterwarnings("ignore:there are no queries:RuntimeWarning")
def test_means_and_report_are_the_same(case):
    evaluator = RetrievalEvaluator(k_values=case["k"])

    means = evaluator.evaluate([result(query["retrieved"], query["relevant"]) for query in case["queries"]])

    assert list(case["means"]) == list(means)
    assert close(case["means"]) == means
    if "report" in case:
        assert "\n".join(case["report"]) == evaluator.generate_report(means)


def test_no_queries_are_warned_about():
    with pytest.warns(RuntimeWarning, match="no queries"):
        RetrievalEvaluator().evaluate([])


def test_the_usual_cutoffs_are_reported_in_the_order_of_their_names():
    evaluator = RetrievalEvaluator()
    report = evaluator.generate_report(evaluator.evaluate([result(["a"], ["a"])]))

    precisions = [line.partition(":")[0] for line in report.splitlines() if line.startswith("- P@")]
    assert evaluator.k_values == [1, 3, 5, 10, 20]
    assert precisions == ["- P@1", "- P@10", "- P@20", "- P@3", "- P@5"]
    assert "F1@" not in report
    assert "Hit@" not in report


def test_methods_can_be_called_on_an_instance():
    assert RetrievalMetrics().precision_at_k(result(["a"], ["a"]), 2) == 0.5
    assert GradedRetrievalMetrics().graded_ndcg_at_k(GradedRetrievalResult("q", ["a"], {"a": 2}), 1) == 1.0


def test_one_impossible_cutoff_refuses_the_evaluation():
    with pytest.raises(ValueError, match="not -1"):
        RetrievalEvaluator([1, -1]).evaluate([result(["a"], ["a"])])


def test_grades_below_zero_cost_gain_in_ndcg_and_are_negative_probabilities_in_err():
    graded = GradedRetrievalResult("q", ["a", "b"], {"a": -1, "b": 1})

    ideal_last, second = 0.5, 0.6309297535714575
    assert GradedRetrievalMetrics.graded_ndcg_at_k(graded, 2) == pytest.approx(
        (-0.5 + second) / (1 - ideal_last * second), rel=1e-12
    )
    # Rank 1: (1/2 - 1) / 8 = -1/16, so that 17/16 go on; rank 2: 1/8 of them, over 2.
    assert GradedRetrievalMetrics.expected_reciprocal_rank(graded) == -1 / 16 + 17 / 16 / 8 / 2
