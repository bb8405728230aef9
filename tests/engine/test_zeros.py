"""What a sample without a score counts as: a broken system never looks better than a bad one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import some
from rankgauge import Catalog, Engine, Policy, Result
from rankgauge.errors import MetricFailedError
from rankgauge.plugin import Cutoff, Judged, JudgedSample, Scores, metric, sample_metric

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
BY_ID = [
    alias
    for alias, claim in ENGINE.catalog.metrics.items()
    if claim.declaration.judging.gold[:1] == ("relevant",) and not claim.declaration.needs_max_grade
]


@metric("waste-at-k", higher_is_better=False, laws=("bounded",))
def waste(judged: Judged, *, k: Cutoff) -> Scores:
    """Share of the first k retrieved items that are not relevant."""
    looked_at = np.minimum(judged.depth, k)
    return (looked_at - judged.relevant_ranks(k)) / np.maximum(looked_at, 1)


@sample_metric("top-heavy-at-k")
def top_heavy(ranking: JudgedSample, *, k: int) -> float | None:
    """Share of the relevant results among the first k that stand in the upper half."""
    hits = [rank for rank, is_relevant in enumerate(ranking.relevant[:k], 1) if is_relevant]
    return sum(rank <= k / 2 for rank in hits) / len(hits) if hits else None


def run(samples, metrics, policy=None):
    evaluation = ENGINE.dataset(samples).with_metrics(metrics)
    return (evaluation if policy is None else evaluation.with_profile(policy)).run()


def sample(name, output, gold=None):
    return {"id": name, "expected_output": {"a": 1, "b": 0} if gold is None else gold, "actual_output": output}


@pytest.mark.parametrize("output", [None, "not json", {"retrieved": 3}])
def test_missing_and_failed_outputs_count_as_the_worst_where_less_is_better(output):
    column = run([sample("hit", ["a"]), sample("broken", output)], [waste])["waste-at-k"]
    assert column.values.tolist() == [0.0, 1.0]
    assert column.mean == 0.5


def test_missing_output_counts_where_a_metric_has_no_value_for_an_empty_ranking():
    # judged@10 of [a] is 1; a missing output has depth 0, where judged@k itself has no value.
    column = run([sample("one", ["a"]), sample("two", None)], ["judged@10"])["judged@10"]
    assert (column.mean, column.n, column.n_missing, column.n_undefined) == (0.5, 2, 1, 0)


def test_missing_output_counts_where_a_plugin_metric_gives_none():
    column = run([sample("one", ["a"]), sample("two", None)], [top_heavy])["top-heavy-at-k"]
    assert (column.mean, column.n, column.n_missing, column.n_undefined) == (0.5, 2, 1, 0)


def test_sample_without_ground_truth_stays_undefined_when_its_output_is_missing():
    column = run([sample("one", ["a"]), sample("two", None, gold=[])], ["hit@1"])["hit@1"]
    assert (column.mean, column.n, column.n_missing, column.n_undefined) == (1.0, 1, 0, 1)


def test_plain_list_stays_undefined_for_judged_when_its_output_is_missing():
    samples = [sample("one", ["a"]), sample("two", None, gold=["a"])]
    column = run(samples, ["judged@1"])["judged@1"]
    assert (column.n, column.n_missing, column.n_undefined) == (1, 0, 1)


def test_value_that_a_metric_does_not_have_is_told_apart_from_missing_ground_truth():
    column = run([sample("one", ["b"])], [top_heavy])["top-heavy-at-k"]
    assert column.reasons == {0: "the metric has no value for this ranking"}


@pytest.mark.parametrize("alias", some(BY_ID, of=6))
@given(ranking=st.lists(st.sampled_from("abcdefg"), max_size=6, unique=True))
def test_taking_an_output_away_never_helps(alias, ranking):
    gold = {"a": 2, "b": 1, "c": 0}
    kept = run([sample("s", ranking, gold)], [alias])[alias]
    lost = run([sample("s", None, gold)], [alias])[alias]
    declaration = ENGINE.catalog.metrics[alias].declaration
    if declaration.describes:
        assert lost.mean == run([sample("s", [], gold)], [alias])[alias].mean  # it has no better and no worse
    elif declaration.range[not declaration.higher_is_better] is None:
        assert lost.n == 0  # there is no worst score that could count
    else:
        sign = 1 if declaration.higher_is_better else -1
        assert lost.n == 1
        assert kept.mean is None or sign * lost.mean <= sign * kept.mean


def test_excluded_outputs_count_nowhere():
    policy = Policy(missing_output="exclude")
    column = run([sample("hit", ["a"]), sample("two", None)], [waste], policy)["waste-at-k"]
    assert (column.mean, column.n, column.n_missing) == (0.0, 1, 1)


def test_wrong_shape_fails_every_sample_and_is_not_tried_one_by_one():
    @metric("one-number-at-k")
    def one_number(judged: Judged, *, k: Cutoff) -> Scores:
        """Return the mean over the batch, by mistake."""
        return np.array([float(judged.found(k).mean())])

    with pytest.raises(MetricFailedError) as failed:
        run([sample(f"q{n}", ["a"]) for n in range(3)], [one_number])
    column = failed.value.result["one-number-at-k"]
    assert column.n_failed == 3
    assert "(1,) where (3,) is needed" in column.reasons[0]


def test_a_score_too_large_to_sum_fails_the_sample():
    @metric("huge-at-k")
    def huge(judged: Judged, *, k: Cutoff) -> Scores:
        """Return scores whose sum is no number."""
        return np.where(judged.found(k) > 0, 1e308, 1.0)

    samples = [sample("q1", ["a"]), sample("q2", ["a"]), sample("q3", ["b"])]
    column = run(samples, [huge])["huge-at-k"]
    assert column.n_failed == 2
    assert "it returned a score beyond 1e+100" in column.reasons[0]


def test_a_score_of_the_largest_size_counts_and_the_next_float_does_not(tmp_path):
    @metric("large-at-k", range=(None, None))
    def large(judged: Judged, *, k: Cutoff) -> Scores:
        """Return the largest score that is one, or the next float."""
        return np.where(judged.found(k) > 0, 1e100, np.nextafter(-1e100, -np.inf))

    result = run([sample("q1", ["a"]), sample("q2", ["b"])], [large])
    column = result["large-at-k"]
    assert (column.values[0], column.n_failed) == (1e100, 1)
    again = Result.load(result.save(tmp_path / "out"))
    assert again["large-at-k"].values[0] == 1e100


def test_gains_too_large_for_a_float_fail_the_sample_and_say_so():
    samples = [sample("fine", ["a"]), sample("huge", ["a"], gold={"a": 2000})]
    with pytest.raises(MetricFailedError, match="a highest grade of 2000 is too large") as failed:
        run(samples, ["ndcg(gain=exponential)@5", "err(max_grade=2000)@5"])
    first, second = failed.value.result.metrics.values()
    assert (first.values.tolist(), first.n_failed) == ([1.0, 0.0], 1)
    assert "2000" in first.reasons[1]
    assert (second.n_failed, "too large" in second.reasons[0]) == (2, True)


def test_details_that_raise_leave_the_scores_alone():
    def broken(judged: Judged, *, k: Cutoff) -> dict[str, list[int]]:
        raise ZeroDivisionError

    @metric("with-broken-details-at-k", details=broken)
    def fine(judged: Judged, *, k: Cutoff) -> Scores:
        """Count what was found."""
        return judged.found(k).astype(float)

    result = ENGINE.dataset([sample("q", ["a"])]).with_metrics([fine]).run(details=True)
    (column,) = result.metrics.values()
    assert column.mean == 1.0
    assert "ZeroDivisionError" in column.details[0]["details_failed"]


def test_judged_only_leaves_a_sample_alone_whose_ground_truth_names_no_ids():
    answered = {"id": "s", "expected_output": "x", "actual_output": [{"id": "d", "text": "x"}]}
    column = run([answered], ["containment@1"], Policy(judged_only=True))["containment@1"]
    assert column.mean == 1.0
