"""Metrics with one value for a whole run: what they are given, how parts merge, and where such a value appears."""

from __future__ import annotations

import json
import pickle
import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite
from rankgauge import Engine, Result, compare, evaluate, html_report
from rankgauge.catalog import Catalog
from rankgauge.errors import DeclarationError, ParameterError, PlanError, ResultError
from rankgauge.gates.verdicts import judge_gates
from rankgauge.plugin import Cutoff, hookimpl, metric, run_metric
from rankgauge.report.json import json_report
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report
from rankgauge.testing import check_metric


@run_metric("whole-distinct-at-k", short=("distinct",), range=(0.0, None))
def distinct(rankings, *, k: Cutoff, scale: float = 1.0) -> float | None:
    """Count the different ids in the first results of all samples."""
    assert all(len(ranking) <= k for ranking in rankings)
    return scale * len({name for ranking in rankings for name in ranking})


@run_metric("whole-firsts", short=("firsts",), range=(None, None), higher_is_better=False)
def firsts(rankings) -> float | None:
    """Return the length of the first ranking in order of ids; no value for an empty one."""
    return float(len(rankings[0])) or None


@hookimpl
def rankgauge_metrics():
    return [distinct, firsts]


CATALOG = Catalog.discover(own_only=True, plugins={"whole": SimpleNamespace(rankgauge_metrics=rankgauge_metrics)})


def user(name, retrieved, relevant=("a",), **others):
    output = {} if retrieved is None else {"actual_output": list(retrieved)}
    return {"id": name, "expected_output": list(relevant), **output, **others}


USERS = [
    user("u1", "abc", metadata={"tags": ["x"]}),
    user("u2", "bad", metadata={"tags": ["y"]}),
    user("u3", "ef", metadata={"k": 1, "tags": ["x"]}),
    user("u4", None),
]
"""Of these the first two results are a, b; b, a; e, f; and with cutoffs of their own for u3 only e."""


def run(*metrics, users=USERS, policy=None, **options):
    evaluation = Engine(catalog=CATALOG).dataset(users).with_metrics(metrics).with_profile(**policy or {})
    return evaluation.run(**options)


def test_it_is_one_value_of_the_ids_of_all_samples_cut_at_k():
    column = run("distinct@2")["distinct@2"]

    assert (column.mean, column.n, column.n_missing, column.k) == (4.0, 3, 1, 2)
    assert (column.std, column.standard_error, column.interval(), column.histogram()) == (None, None, None, [])


def test_cutoffs_of_samples_count():
    assert run({"metric": "whole-distinct-at-k", "k": 2})["whole-distinct-at-k"].mean == 3.0


def test_parameters_and_a_value_that_does_not_exist():
    result = run("distinct(scale=0.5)@1", "firsts", users=[user("u1", "")])

    assert result["distinct(scale=0.5)@1"].mean == 0.0
    assert (result["firsts"].mean, result["firsts"].n) == (None, 1)


def test_duplicates_are_dropped_and_ties_are_settled_before():
    scored = [{"id": name, "score": score} for name, score in (("a", 1), ("a", 3), ("b", 2))]
    evaluation = Engine(catalog=CATALOG).dataset([user("u1", scored)]).with_metrics(["distinct@1", "distinct@2"])

    result = evaluation.with_profile(order="score").run()
    assert [column.mean for column in result.metrics.values()] == [1.0, 2.0]


def test_samples_without_ground_truth_count_and_items_without_an_id_do_not():
    users = [user("u1", "ab", relevant=[]), user("u2", [{"text": "x"}, "c"], relevant=[])]

    assert run("distinct@2", users=users)["distinct@2"].mean == 3.0


def test_failed_outputs_are_left_out_and_counted():
    column = run("distinct@2", users=[user("u1", "ab"), {**user("u2", None), "actual_output": 3}])["distinct@2"]

    assert (column.mean, column.n, column.n_failed) == (2.0, 1, 1)


def test_a_metric_that_fails_has_no_value_and_the_others_have_theirs(caplog):
    @run_metric("whole-broken")
    def broken(rankings) -> float:
        """Fail."""
        raise RuntimeError("not today")

    result = run(broken, "distinct@2")

    assert (result["whole-broken"].mean, result["distinct@2"].mean) == (None, 4.0)
    assert "not today" in caplog.text


IDS = st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True)


@given(lists=st.lists(IDS, min_size=1, max_size=8), size=st.integers(1, 4), order=st.randoms(use_true_random=False))
def test_parts_in_any_order_merge_to_the_whole(lists, size, order):
    users = [user(f"u{place}", ids) for place, ids in enumerate(lists)]
    evaluation = Engine(catalog=CATALOG).dataset(users).with_metrics(["distinct@3", "firsts"])
    parts = list(evaluation.stream(batch_size=size))
    order.shuffle(parts)
    whole, merged = evaluation.run(), Result.merge(parts)

    assert [column.mean for column in merged.metrics.values()] == [column.mean for column in whole.metrics.values()]
    assert whole["distinct@3"].mean == len({name for ids in lists for name in ids[:3]})


def test_cohorts_and_some_of_the_samples_have_values_of_their_own():
    cohorts = run("distinct@2").by_tag()

    assert {tag: cohort["distinct@2"].mean for tag, cohort in cohorts.items()} == {"x": 4.0, "y": 2.0, None: None}


def test_it_can_be_saved_loaded_merged_and_sent(tmp_path):
    first, second = run("distinct@2", users=USERS[:1]), run("distinct@2", users=USERS[1:])
    loaded = Result.load(first.save(tmp_path / "first"), catalog=CATALOG)

    assert loaded["distinct@2"].mean == 2.0
    assert Result.merge([loaded, second])["distinct@2"].mean == 4.0
    assert pickle.loads(pickle.dumps(second))["distinct@2"].mean == 4.0  # noqa: S301  # our own


def test_runs_against_judgments_have_it_too():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    runs = {"q1": {"a": 3.0, "x": 2.0}, "q2": {"a": 1.0, "y": 2.0}, "unjudged": {"z": 1.0}}
    column = evaluate(qrels, runs, ["distinct@1", "ndcg@2"], catalog=CATALOG)["distinct@1"]

    assert (column.mean, column.n, column.n_missing) == (2.0, 2, 1)  # a, y


def test_reports_show_the_value_and_say_that_it_is_no_mean():
    result = run("distinct@2", "MRR")

    for text in (terminal_report(result), markdown_report(result)):
        assert "distinct@2 is one value of the whole run and no mean" in text.replace("\\", "")
    entry = json.loads(json_report(result))["metrics"]["distinct@2"]
    assert (entry["mean"], entry["n"], entry["aggregate"], entry["histogram"]) == (4.0, 3, "whole run", [])


def test_html_opens_with_a_metric_that_has_scores_of_samples():
    page = html_report(run("distinct@2", "MRR"))

    assert '<td class="n strong">4.000</td>' in page
    assert re.findall(r"name=\"m\"> ([^<]+)<", page) == ["mrr", "distinct@2"]


def test_gates_hold_it_to_a_bound():
    allowed = run("distinct@2", policy={"max_failed": 0.25})
    report = judge_gates({"all": allowed}, ["distinct@2 >= 4", "distinct@2 >= 5"])

    assert [outcome.verdict for outcome in report.outcomes] == ["pass", "fail"]
    assert [outcome.value for outcome in report.outcomes] == [4.0, 4.0]
    (outcome,) = judge_gates(run("distinct@2"), "distinct@2 >= 4").outcomes
    assert (outcome.verdict, outcome.by_numbers) == ("fail", "pass")


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        ({"metric": "distinct@2", "max_drop": 0.1}, "no test of its difference"),
        ({"metric": "distinct@2", "min": 1, "per_sample": True}, "no sample has a value of its own"),
    ],
)
def test_gates_that_need_scores_of_samples_are_refused(gate, why):
    with pytest.raises(ParameterError, match=f"one value of the whole run.*{why}"):
        judge_gates({"all": run("distinct@2")}, [gate], baseline={"all": run("distinct@2")})


def test_comparing_says_how_it_differs_without_a_test():
    base, other = run("distinct@2", "MRR"), run("distinct@2", "MRR", users=[user("u1", "abc"), user("u2", "ab")])
    found = compare({"base": base, "other": other})

    assert list(found.comparisons[0].metrics) == ["mrr"]
    told = "distinct@2 is one value of a whole run, which is not tested: from 4.0000 to 2.0000, -2.0000"
    assert told in found.comparisons[0].notes
    with pytest.raises(ResultError, match="one value of a whole run, and only means are compared"):
        compare({"base": base, "other": other}, metrics=["distinct@2"])


def test_one_sample_has_no_score_of_it():
    with pytest.raises(PlanError, match="one value for a whole run, which score"):
        Engine(catalog=CATALOG).dataset([]).with_metrics(["distinct@2"]).score(USERS[0])
    result = run("distinct@2", "MRR")
    with pytest.raises(ResultError, match="no score of one sample to explain"):
        result.explain("u1", "distinct@2")
    assert result.explain("u1").metric == "mrr"  # the first that has scores of samples


def test_a_plan_says_what_it_is_of():
    plan = Engine(catalog=CATALOG).dataset([]).with_metrics(["distinct@2"]).plan()

    assert "over      the ids of the whole run, without ground truth" in plan.describe()


@in_thorough_suite()
def test_laws_of_whole_runs_are_checked():
    report = check_metric("distinct", catalog=CATALOG, cases=30)

    report.raise_if_broken()
    assert {"usable", "bounded", "parts", "batch-size", "order-of-samples", "twice"} <= set(report.holds)
    with pytest.raises(ParameterError, match="the law 'tail' is for metrics with a score of each sample"):
        check_metric("distinct", catalog=CATALOG, laws=["tail"])


@in_thorough_suite()
def test_laws_of_whole_runs_catch_a_range_that_is_wrong():
    narrow = run_metric("whole-narrow-at-k")(lambda_of_distinct)

    assert check_metric(narrow, cases=30).broken == ("bounded",)


def lambda_of_distinct(rankings, *, k: Cutoff) -> float:
    """Count, where a share is declared."""
    return float(len({name for ranking in rankings for name in ranking}))


def test_a_metric_whose_check_wants_a_parameter_is_not_checked_without_it():
    def check(*, path: str) -> None:
        if not path:
            raise ValueError("give a path")

    def picky(judged, *, path: str = ""):
        """Need a path."""
        return judged.found() / judged.n_gold()

    plain = metric("whole-picky", check=check)(picky)
    assert check_metric(plain, cases=5).unusable.startswith("give a path; check it with parameters")
    shown = metric("whole-shown", check=check, example={"path": "x"})(picky)
    report = check_metric(shown, laws=["bounded"], cases=5)
    assert (report.name, report.ok) == ("whole-shown", True)
    with pytest.raises(DeclarationError, match="has an example of size, and only path as parameters"):
        metric("whole-wrong", example={"size": 1})(picky)


def test_a_sample_that_cannot_be_measured_fails_under_a_budget():
    texts = [{"id": "a", "text": "one"}, {"id": "b"}]
    samples = [
        {"id": "q1", "expected_output": ["a"], "actual_output": [{"id": "a", "text": "one"}]},
        {"id": "q2", "expected_output": ["a"], "actual_output": texts[::-1]},
    ]
    result = Engine(catalog=CATALOG).dataset(samples).with_metrics(["distinct@9char", "recall@9char"]).run()
    whole, recall = result.metrics.values()

    assert [whole.status(place) for place in (0, 1)] == [recall.status(place) for place in (0, 1)]
    assert whole.status(1) == "failed"
    assert whole.reasons[1] == recall.reasons[1]
