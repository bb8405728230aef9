"""Pairs of two results: by fingerprint and sample id, and refused where they do not mean the same."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Engine, Result, compare, evaluate, load_baseline, save_baseline
from rankgauge.comparison.layouts import comparison_lines
from rankgauge.comparison.pairing import pair_results
from rankgauge.errors import ParameterError, ResultError
from rankgauge.plugin import JudgedSample, run_metric, sample_metric

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"d": 1}, "q4": {"e": 0}}
FIRST = {"q1": {"a": 2, "x": 1}, "q2": {"x": 2, "c": 1}, "q3": {"d": 1}, "q4": {"e": 1}}
SECOND = {"q1": {"b": 2, "a": 1}, "q2": {"c": 2, "x": 1}, "q4": {"e": 1}}


def name_of(metric: str) -> str:
    """Return the name of a metric's column."""
    return next(iter(evaluate(QRELS, FIRST, metric).metrics))


def run(ranking: dict[str, dict[str, int]], metrics: Any = ("AP", "P@2"), **options: Any) -> Result:
    return evaluate(QRELS, ranking, list(metrics), **options)


def test_scores_pair_by_sample() -> None:
    pairs = pair_results(run(FIRST), run(SECOND))
    assert pairs.sample_ids == ("q1", "q2", "q3", "q4")
    assert list(pairs.columns) == list(run(FIRST).metrics)
    column = pairs.columns["p@2"]
    assert column.baseline.tolist() == [0.5, 0.5, 0.5, 0.0]
    assert column.differences.tolist() == [0.5, 0.0, -0.5, 0.0]
    assert column.dropped == dict.fromkeys(column.dropped, 0)


def test_columns_pair_by_fingerprint_under_the_baselines_name() -> None:
    pairs = pair_results(run(FIRST, ["AP"]), run(SECOND, [{"metric": "map", "as": "mine"}]))
    assert list(pairs.columns) == list(run(FIRST, ["AP"]).metrics)


def test_samples_of_one_side_only_are_counted() -> None:
    first, second = run(FIRST).take([0, 1, 3]), run(SECOND).take([3, 2, 1])
    pairs = pair_results(first, second)
    assert pairs.sample_ids == ("q2", "q4")
    assert (pairs.columns["p@2"].dropped["only_in_baseline"], pairs.columns["p@2"].dropped["only_in_run"]) == (1, 1)


def undefined_at(result: Result, places: list[int]) -> Result:
    (column,) = result.metrics.values()
    values, codes = column.values.copy(), column.codes.copy()
    values[places], codes[places] = float("nan"), 1
    return result.with_columns([dataclasses.replace(column, values=values, codes=codes)])


def test_a_score_that_is_undefined_in_either_makes_no_pair() -> None:
    first = undefined_at(run(FIRST, ["P@2"]), [1, 3])
    second = undefined_at(run(SECOND, ["P@2"]), [2, 3])
    pairs = pair_results(first, second).columns["p@2"]
    assert pairs.is_pair.tolist() == [True, False, False, False]
    assert (pairs.dropped["undefined"], pairs.dropped["undefined_in_one"], pairs.dropped["excluded"]) == (1, 2, 0)


def test_what_the_policy_leaves_out_makes_no_pair() -> None:
    policy = {"missing_output": "exclude"}
    pairs = pair_results(run(FIRST, policy=policy), run(SECOND, policy=policy)).columns["p@2"]
    assert pairs.is_pair.tolist() == [True, True, False, True]
    assert (pairs.dropped["excluded"], pairs.dropped["undefined_in_one"]) == (1, 0)


def test_counts_are_left_out_with_a_note() -> None:
    pairs = pair_results(run(FIRST, ["P@2", "num_rel_ret"]), run(SECOND, ["P@2", "num_rel_ret"]))
    assert list(pairs.columns) == ["p@2"]
    assert pairs.notes == (f"{name_of('num_rel_ret')} is a sum over samples, and only means are compared; left out",)


def test_a_metric_of_the_baseline_alone_is_left_out_with_a_note() -> None:
    assert pair_results(run(FIRST), run(SECOND, ["P@2"])).notes == (
        f"{name_of('AP')} is in the baseline only; left out",
    )


def refusal(first: Result, second: Result, metrics: list[str] | None = None) -> str:
    with pytest.raises(ResultError) as caught:
        pair_results(first, second, metrics, names=("old", "new"))
    message = str(caught.value)
    assert message.startswith("cannot compare new with old: ")
    return message.removeprefix("cannot compare new with old: ")


def test_other_judgments_are_refused() -> None:
    other = evaluate({**QRELS, "q1": {"a": 1, "b": 1}, "q3": {"d": 1, "e": 1}}, FIRST, ["P@2"])
    assert refusal(run(FIRST, ["P@2"]), other) == (
        "2 of 4 samples were judged against different ground truth or cutoffs, such as 'q1', 'q3'; evaluate both with "
        "the same judgments, or compare the samples whose ground truth is the same: --common unchanged; in a gate, "
        "common: unchanged"
    )


EDITED = {**QRELS, "q1": {"a": 1, "b": 1}, "q3": {"d": 1, "e": 1}, "q5": {"a": 1}}


def test_samples_whose_ground_truth_is_unchanged_are_compared_on_demand() -> None:
    other = evaluate(EDITED, {**SECOND, "q5": {"a": 1}}, ["P@2"])
    pairs = pair_results(run(FIRST, ["P@2"]), other, common="unchanged")
    assert pairs.sample_ids == ("q2", "q4")
    column = pairs.columns["p@2"]
    assert (column.baseline.tolist(), column.values.tolist()) == ([0.5, 0.0], [0.5, 0.0])
    assert {why: n for why, n in column.dropped.items() if n} == {"only_in_run": 1, "other_ground_truth": 2}
    comparison = compare({"old": run(FIRST, ["P@2"]), "new": other}, common="unchanged")
    assert comparison["new"]["p@2"].n == 2
    assert "2 judged against other ground truth" in "\n".join(
        line.text for line in comparison_lines(comparison, width=80)
    )


def test_the_same_samples_are_compared_where_nothing_changed() -> None:
    same = pair_results(run(FIRST), run(SECOND))
    assert pair_results(run(FIRST), run(SECOND), common="unchanged").sample_ids == same.sample_ids


def test_all_samples_with_other_ground_truth_cannot_be_compared() -> None:
    other = evaluate({"q1": {"x": 1}}, FIRST, ["P@2"])
    with pytest.raises(ResultError, match=r"1 of 1 sample.*such as 'q1'; evaluate both with the same judgments$"):
        pair_results(run(FIRST, ["P@2"]), other, common="unchanged")


def test_unchanged_samples_are_not_guessed_where_a_result_does_not_record_its_ground_truth() -> None:
    first = run(FIRST)
    unknown = Result(first.sample_ids, first.tags, first.metrics, first.manifest)
    assert len(pair_results(unknown, first).sample_ids) == 4
    with pytest.raises(ResultError, match="is not known, since the baseline does not record it"):
        pair_results(unknown, first, common="unchanged")
    with pytest.raises(ResultError, match="is not known, since the other result does not record it"):
        pair_results(first, unknown, common="unchanged")


def test_which_samples_are_compared_has_two_answers() -> None:
    with pytest.raises(ParameterError, match=r"'unchnged' \(did you mean 'unchanged'\?\)"):
        compare({"old": run(FIRST), "new": run(SECOND)}, common="unchnged")  # type: ignore[arg-type]


def test_the_same_judgments_may_stand_elsewhere_and_in_another_order(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q4 0 e 0\nq1 0 b 2\nq1 0 a 1\nq3 0 d 1\nq2 0 c 1\n", encoding="utf-8")
    other = evaluate(str(path), SECOND, ["P@2"])
    assert len(pair_results(run(FIRST, ["P@2"]), other).sample_ids) == 4


def test_judgments_of_more_queries_are_no_other_judgments() -> None:
    other = evaluate({**QRELS, "q5": {"a": 1}}, {**SECOND, "q5": {"a": 1}}, ["P@2"])
    assert pair_results(run(FIRST, ["P@2"]), other).columns["p@2"].dropped["only_in_run"] == 1


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        ({}, False),
        ({"actual_output": ["b"]}, False),
        ({"expected_output": {"relevant": ["c", "a"]}}, False),
        ({"expected_output": ["a", "d"]}, True),
        ({"metadata": {"k": 1}}, True),
    ],
)
def test_other_ground_truth_of_a_sample_is_refused(change: dict[str, object], is_other: bool, tmp_path: Path) -> None:
    """Saved and loaded results know it, too, and so do baselines."""
    rows = [{"id": f"s{place}", "expected_output": ["a", "c"], "actual_output": ["a"]} for place in range(3)]
    first = Engine().dataset(rows).with_metrics(["recall@5"]).run()
    second = Engine().dataset([rows[0], {**rows[1], **change}, rows[2]]).with_metrics(["recall@5"]).run()
    loaded = Result.load(first.save(tmp_path / "folder"))
    kept = load_baseline(save_baseline({"main": first}, tmp_path / "main.json"))["main"]
    for baseline in (
        first,
        loaded,
        kept,
        pickle.loads(pickle.dumps(first)),  # noqa: S301  # our own
        Result.merge([first.take([0, 2]), first.take([1])]),
    ):
        if is_other:
            assert "1 of 3 samples were judged against different ground truth or cutoffs, such as 's1'" in refusal(
                baseline, second
            )
        else:
            assert len(pair_results(baseline, second).sample_ids) == 3


def test_another_policy_is_refused_by_name() -> None:
    reason = refusal(run(FIRST), run(SECOND, policy={"missing_output": "exclude"}))
    assert "policy missing_output=zero in one, policy missing_output=exclude in the other" in reason


def test_another_set_of_queries_is_refused() -> None:
    reason = refusal(run(FIRST), run(SECOND, policy={"queries": "intersection"}))
    assert reason == "one was evaluated with the policy queries=judged and the other with queries=intersection"


def test_another_level_of_relevance_is_refused_by_name() -> None:
    assert "relevance=1.0 in one, relevance=2.0 in the other" in refusal(run(FIRST), run(SECOND, rel=2))


def test_another_cutoff_of_one_name_is_refused() -> None:
    spec = {"metric": "retrieval-precision-at-k", "as": "mine"}
    reason = refusal(run(FIRST, [{**spec, "k": 2}]), run(SECOND, [{**spec, "k": 3}]))
    assert reason == "mine does not mean the same in both: k=2 in one, k=3 in the other; evaluate both alike"


def test_another_parameter_is_refused_by_name() -> None:
    reason = refusal(run(FIRST, ["ndcg@2"]), run(SECOND, [{"metric": "ndcg(gain=exponential)@2", "as": "ndcg@2"}]))
    assert "gain=linear in one, gain=exponential in the other" in reason


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, " (fingerprints {} and another); evaluate both with the same version and profile"),
        (
            {"range": (0.0, 2.0), "higher_is_better": False, "version": "9"},
            (
                ": range=(0.0, 1.0), higher_is_better=True, version=1 in one, "
                "range=(0.0, 2.0), higher_is_better=False, version=9 in the other; evaluate both alike"
            ),
        ),
        (
            {"k": (3, 3), "range": (0.0, 2.0), "higher_is_better": False, "version": "9"},
            (
                ": k=2, range=(0.0, 1.0), higher_is_better=True in one, "
                "k=3, range=(0.0, 2.0), higher_is_better=False in the other and 1 more; evaluate both alike"
            ),
        ),
    ],
)
def test_three_differences_of_definition_are_named(changes: dict[str, Any], told: str) -> None:
    first = run(FIRST, ["P@2"])
    column = first["p@2"]
    info = dataclasses.replace(column.info, fingerprint="another", **changes)
    second = first.with_columns([dataclasses.replace(column, info=info)])
    said = f"p@2 does not mean the same in both{told.format(column.info.fingerprint)}"
    assert refusal(first, second) == said


@run_metric("whole-results", short=("results_in_all",), range=(0.0, None))
def results_in_all(rankings) -> float | None:  # type: ignore[no-untyped-def]
    """Count the results of all samples; no value for fewer than six."""
    count = sum(map(len, rankings))
    return float(count) if count > 5 else None


def test_one_value_of_a_whole_run_is_told_and_not_tested() -> None:
    both, whole = ["P@2", results_in_all], "whole-results is one value of a whole run"
    two, three, one = (run({**FIRST, "q1": dict.fromkeys("xyz"[:n], 1)}, both) for n in (2, 3, 1))
    told = {
        (two, three): f"{whole}, which is not tested: from 6.0000 to 7.0000, +1.0000",
        (two, one): f"{whole}, and one of the two has none",
        (one, two): f"{whole}, and one of the two has none",
        (two, run(FIRST, ["P@2"])): "whole-results is in the baseline only; left out",
    }
    for (old, new), note in told.items():
        assert pair_results(old, new).notes == (note,)
    assert refusal(two, three, ["whole-results"]) == f"{whole}, and only means are compared"


def test_a_namesake_is_found_by_any_spelling() -> None:
    first = run(FIRST, ["P@2"])
    column = first["p@2"]
    info = dataclasses.replace(column.info, name="mine", fingerprint="another")
    second = Result(first.sample_ids, first.tags, {"mine": dataclasses.replace(column, info=info)}, first.manifest)
    assert refusal(first, second).startswith("p@2 does not mean the same in both")


def test_a_result_without_samples_has_none_in_common() -> None:
    first = run(FIRST, ["P@2"])
    assert refusal(first, first.take([])).endswith("one has 'q1', 'q2', 'q3', ..., the other none")


def test_a_result_without_metrics_has_none_in_common() -> None:
    first = run(FIRST, ["P@2"])
    bare = Result(first.sample_ids, first.tags, {}, first.manifest)
    assert refusal(first, bare) == "they have no mean in common; one has p@2, the other no metric"
    assert refusal(bare, first) == "they have no mean in common; one has no metric, the other p@2"
    assert refusal(first, bare, ["P@2"]) == "it has no p@2; it has no metric"


def test_what_was_found_in_the_data_has_to_be_the_same() -> None:
    first, second = run(FIRST, ["err@5"]), run(SECOND, ["err@5"])
    column = second["err@5"]
    info = dataclasses.replace(column.info, inferred={"max_grade": 3.0})
    second = second.with_columns([dataclasses.replace(column, info=info)])
    assert refusal(first, second).startswith("err@5 took max_grade=2 from the data of one and max_grade=3 from that of")


def test_a_metric_that_is_absent_is_refused_where_it_was_asked_for() -> None:
    assert refusal(run(FIRST), run(SECOND, ["P@2"]), ["AP"]) == f"it has no {name_of('AP')}; it has p@2"
    assert refusal(run(FIRST), run(SECOND), ["p@22"]).startswith("no column 'p@22' (did you mean 'p@2'?)")


def test_a_count_is_refused_where_it_was_asked_for() -> None:
    first, second = (run(each, ["num_rel_ret"]) for each in (FIRST, SECOND))
    assert refusal(first, second, ["num_rel_ret"]).endswith("only means are compared")
    whole = refusal(first, second)
    assert whole.startswith("there is no mean to compare: ")
    assert whole.endswith(", and only means are compared")


def test_why_nothing_can_be_compared_is_said_of_pooled_means_and_of_metrics_that_failed_everywhere() -> None:
    """Both were refused as having no mean in common, with the same names on both sides."""
    first, second = (run(each, ["recall(aggregate=pooled)@2"]) for each in (FIRST, SECOND))
    assert refusal(first, second) == (
        "there is no mean to compare: recall(aggregate=pooled)@2 is a pooled mean, whose samples count by what their "
        "scores are shares of, and only means are compared"
    )


def test_no_metric_in_common_is_refused() -> None:
    assert refusal(run(FIRST, ["P@2"]), run(SECOND, ["P@3"])) == (
        "they have no mean in common; one has p@2, the other p@3"
    )


def test_no_sample_in_common_is_refused() -> None:
    reason = refusal(run(FIRST).take([0]), run(SECOND).take([1]))
    assert reason == "they have no sample in common; one has 'q1', the other 'q2'"


@sample_metric("fails-for-one")
def fails_for_one(ranking: JudgedSample) -> float:
    """Fails for a ranking of one result."""
    if ranking.depth == 1:
        raise ValueError("too short")
    return 1.0


def test_samples_that_failed_are_no_secret_of_the_results() -> None:
    results = {"old": run(FIRST, ["AP", fails_for_one]), "new": run(SECOND, ["AP", fails_for_one])}
    (pair,) = compare(results).comparisons
    said = "of 4 samples failed in {} for fails-for-one, and count as the policy says"
    assert pair.notes == (f"1 {said.format('old')}",)  # q3; nothing is relevant for q4, and the new run lacks q3

    broken = [{"id": name, "expected_output": ["a"], "actual_output": {"retrieved": 5}} for name in ("q1", "q2")]
    whole = [{**sample, "actual_output": ["a"]} for sample in broken]
    for metrics in (["AP", "RR"], ["AP"]):
        old, new = (Engine().dataset(each).with_metrics(metrics).run() for each in (whole, broken))
        (pair,) = compare({"old": old, "new": new}).comparisons
        assert pair.notes == ("2 of 2 samples failed in new, and count as the policy says",)


def test_nobody_can_change_what_was_paired() -> None:
    column = pair_results(run(FIRST), run(SECOND)).columns[name_of("AP")]
    assert [values.flags.writeable for values in (column.baseline, column.values)] == [False, False]
