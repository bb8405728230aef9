"""Pooled means: all numerators over all denominators, on every road and wherever results go."""

from __future__ import annotations

import math
import pickle
import re

import numpy as np
import pytest

import rankgauge
from rankgauge import Catalog, Engine, HostScorer, Result, evaluate, judge_gates
from rankgauge.errors import DeclarationError, ParameterError, PlanError, ResultError
from rankgauge.plugin import Judged, Scores, aggregate, metric
from rankgauge.scale import ShardedRun, Totals
from tables import rows

CATALOG = Catalog.discover(own_only=True)
ENGINE = Engine(catalog=CATALOG)

QRELS = {
    "a": {"x": 1, "y": 2, "z": 1},  # x and n retrieved
    "b": {"x": 1, "n": 0},  # n above x
    "c": {"n": 0},  # nothing relevant
    "d": {"x": 1, "y": 1},  # not in the run
}
RUN = {"a": {"x": 2.0, "n": 1.0}, "b": {"n": 2.0, "x": 1.0}, "c": {"n": 1.0}}


def samples():
    for name, relevant in QRELS.items():
        ranked = sorted(RUN.get(name, {}), key=lambda each: -RUN[name][each])
        output = {"retrieved": [{"id": each} for each in ranked]} if name in RUN else None
        yield {"id": name, "expected_output": {"relevant": relevant}, "actual_output": output, "tags": ["t"]}


def pooled(metric_name, **more):
    return evaluate(QRELS, RUN, [metric_name], catalog=CATALOG, **more)[metric_name]


@rows(
    ("metric_name", "expected"),
    [
        ("recall(aggregate=pooled)@2", (1 + 1 + 0) / (3 + 1 + 2)),
        ("P(aggregate=pooled)@2", (1 + 1 + 0) / (2 + 2 + 2)),
        ("P(aggregate=pooled, denominator=retrieved)@5", (1 + 1 + 0) / (2 + 2 + 1)),
        ("relative_P(aggregate=pooled)@2", (1 + 1 + 0) / (2 + 1 + 2)),
        ("OPA(aggregate=pooled)", (1 + 0 + 0) / (2 + 1)),  # in a: x and z below y; x was retrieved, y and z not
        ("ARP(aggregate=pooled)", (1 * 1 + 2 * 1) / 2),
    ],
)
def test_values_worked_out_by_hand(metric_name, expected):
    """A missing output counts by what could have been found."""
    if metric_name.startswith("OPA"):
        expected = 0 / 3  # of a: yx and yz, neither in order, as y is not there; of b: n stands above x
    assert pooled(metric_name).mean == pytest.approx(expected, rel=1e-14)
    of_samples = ENGINE.dataset(list(samples())).with_metrics(metric_name).run()
    assert next(iter(of_samples.metrics.values())).mean == pytest.approx(expected, rel=1e-14)


def test_what_is_undefined_counts_for_nothing_whatever_its_value():
    names = ["recall(aggregate=pooled)@2", "recall(aggregate=pooled, undefined=1)@2"]
    found = [column.mean for column in evaluate(QRELS, RUN, names, catalog=CATALOG).metrics.values()]
    assert found == [2 / 6, 2 / 6]
    nothing = evaluate({"c": {"n": 0}}, RUN, names, catalog=CATALOG)
    assert [column.mean for column in nothing.metrics.values()] == [None, None]
    assert nothing[names[1]].failure == "all that would be pooled is 0"


def test_the_error_is_that_of_a_ratio_of_two_sums():
    column = pooled("recall(aggregate=pooled)@2")
    found, wanted = np.array([1, 1, 0]), np.array([3, 1, 2])
    ratio = found.sum() / wanted.sum()
    deviations = found - ratio * wanted
    expected = math.sqrt(3 / 2 * (deviations**2).sum()) / wanted.sum()
    assert column.standard_error == pytest.approx(expected, rel=1e-12)
    low, high = column.interval()
    assert low < ratio < high


def test_weights_count_numerators_and_denominators():
    weights = {"a": 2, "b": 1, "c": 5, "d": 0}
    assert pooled("recall(aggregate=pooled)@2", weights=weights).mean == pytest.approx((2 * 1 + 1) / (2 * 3 + 1))


def test_results_keep_denominators(tmp_path):
    result = evaluate(QRELS, RUN, ["recall(aggregate=pooled)@2", "recall@2"], catalog=CATALOG)
    column = result["recall(aggregate=pooled)@2"]
    assert column.denominators.tolist() == [3, 1, 0, 2]
    result.save(tmp_path / "folder")
    path = rankgauge.save_baseline({"run": result}, tmp_path / "baseline.json")
    for kept in (
        Result.load(tmp_path / "folder"),
        Result.from_dict(result.to_dict()),
        pickle.loads(pickle.dumps(result)),  # noqa: S301
        result.take(range(4)),
        rankgauge.load_baseline(path)["run"],
    ):
        again = kept[column.name]
        assert (again.mean, again.interval()) == (column.mean, column.interval())
        assert kept["recall@2"].denominators is None
        denominators = dict(zip(kept.sample_ids, again.denominators.tolist(), strict=True))
        assert denominators == {"a": 3, "b": 1, "c": 0, "d": 2}
    assert result.per_sample[f"{column.info.safe_name}_denominator"].to_list() == [3, 1, 0, 2]
    assert "shows the pooled mean" in (tmp_path / "folder" / "report.md").read_text()
    damaged = result.to_dict()
    damaged["per_sample"][f"{column.info.safe_name}_denominator"][0] = -1
    with pytest.raises(ResultError, match=r"a denominator of .* is no number of 0 or more"):
        Result.from_dict(damaged)


def test_parts_and_shards_merge_to_the_whole():
    names = ["recall(aggregate=pooled)@2", "OPA(aggregate=pooled)"]
    evaluation = ENGINE.dataset(list(samples())).with_metrics(names)
    whole = evaluation.run()
    merged = Result.merge(list(evaluation.stream(batch_size=1)))
    sharded = ShardedRun.plan(names, catalog=CATALOG)
    parts = [sharded.shard({name: QRELS[name]}, {name: RUN[name]} if name in RUN else {}) for name in QRELS]
    for name in names:
        assert (merged[name].mean, merged[name].interval()) == (whole[name].mean, whole[name].interval())
        assert sharded.merge(parts)[name].mean == whole[name].mean
    assert sharded.scores(sharded.shard(None, {"e": {"x": 1.0}})).columns == sharded.scores(parts[0]).columns
    with pytest.raises(ParameterError, match="its aggregate 'pooled' needs the score of every sample"):
        Totals.of(whole)


def test_a_bound_is_judged_by_the_pooled_mean_and_a_drop_is_refused():
    result = evaluate(QRELS, RUN, ["recall(aggregate=pooled)@2"], catalog=CATALOG)
    assert judge_gates(result, "recall(aggregate=pooled)@2 >= 0.33").exit_code == 0
    assert judge_gates(result, "recall(aggregate=pooled)@2 >= 0.34").exit_code == 1
    with pytest.raises(ParameterError, match=r"max_drop compares means, and .* is a pooled mean over the samples"):
        judge_gates(result, "recall(aggregate=pooled)@2 max_drop 0.1", baseline=result)
    with pytest.raises(ParameterError, match="from 0 to 1, can keep the bound 2"):
        judge_gates(result, "recall(aggregate=pooled)@2 >= 2")


def test_a_comparison_leaves_it_out_with_the_reason():
    results = {name: evaluate(QRELS, RUN, ["recall(aggregate=pooled)@2", "recall@2"], catalog=CATALOG) for name in "ab"}
    why = "is a pooled mean, whose samples count by what their scores are shares of, and only means are compared"
    assert any(why in note for note in rankgauge.compare(results).comparisons[0].notes)
    with pytest.raises(ResultError, match=why):
        rankgauge.compare(results, metrics=["recall(aggregate=pooled)@2"])


def test_unjudged_results_have_no_bounds_that_are_known():
    names = ["P(aggregate=pooled)@2", "P@2"]
    assert [found is None for found in evaluate(QRELS, RUN, names, catalog=CATALOG).bounds().values()] == [True, False]


@rows("name", ["RR", "ndcg", "hit"])
def test_what_is_no_share_is_not_pooled(name):
    with pytest.raises(PlanError, match="is no share of a number that is known for each sample"):
        ENGINE.dataset([]).with_metrics(f"{name}(aggregate=pooled)@5").plan()


def test_the_refusal_names_all_that_can_be_pooled():
    declared = [claim.declaration for claim in CATALOG.metrics.values()]
    can = {metric.short[0].lower() for metric in declared if metric.denominators is not None}
    with pytest.raises(PlanError, match=r"out of 'RR\(aggregate=pooled\)@5'; (.*) can be pooled") as refused:
        ENGINE.dataset([]).with_metrics("RR(aggregate=pooled)@5").plan()
    said = re.search(r"'; (.*) can be pooled", str(refused.value))
    assert said is not None
    assert set(re.split(", | and ", said[1].lower())) == can


def test_scores_alone_are_not_pooled():
    scorer = HostScorer(metrics="recall(aggregate=pooled)@2", catalog=CATALOG)
    assert scorer.score(expected=["x", "y"], retrieved=["x"])["recall(aggregate=pooled)@2"].value == 0.5
    with pytest.raises(ParameterError, match="weighs each score by what it is a share of"):
        scorer.aggregated([0.5, 1.0])


def test_repeats_are_not_pooled():
    evaluation = ENGINE.dataset(list(samples())).with_metrics("recall(aggregate=pooled)@2")
    with pytest.raises(ParameterError, match="pools samples that have one output each, and these have repeats"):
        evaluation.run(sut=lambda _: {"retrieved": ["x"]}, repeat=2)


@rows(
    ("denominators", "why"),
    [
        (lambda judged: np.full(judged.n, -1.0), "it returned what is no number of 0 or more"),
        (lambda judged: np.zeros(judged.n + 1), r"it returned the shape \(5,\) where \(4,\) is needed"),
        (lambda judged: 1 / 0, "division by zero"),
    ],
)
def test_denominators_that_cannot_be_used_fail_every_sample(denominators, why):
    @metric("half", denominators=denominators, aggregate="pooled")
    def half(judged: Judged) -> Scores:
        """Return one half."""
        return np.full(judged.n, 0.5)

    with pytest.raises(rankgauge.errors.RankgaugeError, match=f"its `denominators`.*{why}"):
        evaluate(QRELS, RUN, [half], catalog=CATALOG)


def test_the_name_is_taken():
    with pytest.raises(DeclarationError, match="the aggregate 'pooled' is built in"):
        aggregate("pooled")(sum)
