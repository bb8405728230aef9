"""Arguments of another kind than a public function takes: an error in words, where it was given."""

from __future__ import annotations

import pytest

import rankgauge
from rankgauge import Catalog, Engine
from rankgauge.errors import ParameterError
from tables import rows

CATALOG = Catalog.discover(own_only=True)
SAMPLE = {"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}
QRELS, RUN = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}


@pytest.fixture
def evaluation():
    return Engine(catalog=CATALOG).dataset([SAMPLE])


@pytest.mark.parametrize("wrong", [3, None])
@pytest.mark.parametrize(
    ("method", "takes"),
    [
        ("with_metrics", r"takes metrics, such as 'ndcg@10' or \['ndcg@10', 'AP'\]"),
        ("with_fields", "takes where the data has each field, such as {'id': 'qid'}"),
        ("with_cohorts", r"takes fields such as 'metadata\.language'"),
        ("with_preset", "takes the name of a preset, such as 'ragas'"),
        ("with_matchers", "takes a matcher by kind of gold, such as {'passages': 'exact'}"),
        ("with_outputs", "takes a file, outputs by sample id, or rows"),
    ],
)
def test_what_an_evaluation_is_given_is_checked_at_once(evaluation, method, takes, wrong):
    with pytest.raises(ParameterError, match=f"^{method} {takes}, not {wrong}$"):
        getattr(evaluation, method)(wrong)


@rows("results", [3, {"a": 3}, [1]])
@rows("function", ["compare", "html_report", "judge_gates"])
def test_what_is_no_result_is_refused_by_name_of_the_function(function, results):
    further = [["RR >= 0.5"]] if function == "judge_gates" else []
    with pytest.raises(ParameterError, match=f"^{function} takes results by name, such as "):
        getattr(rankgauge, function)(results, *further)


def test_a_baseline_of_another_kind_is_refused(evaluation):
    result = evaluation.with_metrics("RR").run()
    with pytest.raises(ParameterError, match=r"^baseline takes results by name, such as "):
        result.gate("RR >= 0.5", baseline=3)


@pytest.mark.parametrize("function", ["evaluate", "preflight"])
@pytest.mark.parametrize(("given", "got"), [({}, "neither"), ({"run": RUN, "runs": {"a": RUN}}, "both")])
def test_one_run_or_several_are_given_and_not_neither_or_both(function, given, got):
    metrics = {"metrics": "RR"} if function == "evaluate" else {}
    with pytest.raises(ParameterError, match=f"^{function} takes one run, or several as .*; it got {got}$"):
        getattr(rankgauge, function)(QRELS, **given, **metrics)


def test_evaluate_says_what_it_lacks():
    with pytest.raises(ParameterError, match=r"^evaluate needs metrics, such as 'ndcg@10'"):
        rankgauge.evaluate(QRELS, RUN)
    with pytest.raises(ParameterError, match=r"^runs are given by name, such as {'bm25': 'run.txt'}, not 3$"):
        rankgauge.evaluate(QRELS, runs=3, metrics="RR")


def test_one_gate_may_be_given_as_it_is(evaluation):
    result = evaluation.with_metrics("RR").run()
    assert [outcome.verdict for outcome in result.gate("RR >= 0.5").outcomes] == ["pass"]
    assert [outcome.verdict for outcome in result.gate({"metric": "RR", "min": 0.6}).outcomes] == ["fail"]


def test_a_result_compares_itself_with_a_baseline():
    """RR: 1/2 and 1 for the two queries here, 1 and 1 there."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    worse = rankgauge.evaluate(qrels, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}, "RR", catalog=CATALOG)
    best = rankgauge.evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, "RR", catalog=CATALOG)
    metric = worse.compare(best)["this"].metrics["rr"]
    assert (metric.baseline_mean, metric.mean, metric.difference) == (1.0, 0.75, -0.25)


def test_a_profile_is_given_by_name_with_options_of_your_own(evaluation):
    chosen = evaluation.with_profile("trec10", ties="error").profile
    assert (chosen.name, chosen.policy.order, chosen.policy.ties) == ("trec10", "score", "error")
    assert evaluation.with_profile(missing_output="exclude").profile.name == evaluation.profile.name
    assert evaluation.with_profile(missing_output="exclude").profile.policy.missing_output == "exclude"
