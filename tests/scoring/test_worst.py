"""What samples without a score count as, for every metric there is: never as the best."""

import math

import numpy as np
import pytest

import rankgauge
from rankgauge import Engine
from rankgauge.plugin import metric
from rankgauge.report.run_tables import run_table
from rankgauge.scoring.score import FAILED, MISSING, UNDEFINED, worst_value
from tables import rows

QRELS = {"hit": {"a": 1, "b": 0}, "none": {"x": 1, "y": 0}, "empty": {"x": 1}, "missing": {"x": 1}, "no gold": {"b": 0}}
RUN = {"hit": {"b": 2.0, "a": 1.0}, "none": {"b": 2.0, "a": 1.0}, "empty": {}, "no gold": {"b": 2.0, "a": 1.0}}


def metrics(catalog):
    declared = {claim.declaration.alias: claim.declaration for claim in catalog.metrics.values()}
    return [
        each
        for each in declared.values()
        if each.judging.gold[:1] == ("relevant",) and not each.judging.needs and not each.is_whole
    ]


def is_best(declared, value):
    """Return whether a value is as good as it gets: at the end of the range, or 0 where that end is open."""
    best = declared.range[1 if declared.higher_is_better else 0]
    return not math.isnan(value) and best is not None and value == best


@pytest.mark.parametrize("profile", ["trec10", "default", "classic", "haystack"])
def test_no_sample_without_a_score_counts_as_the_best(catalog, profile):
    """Every metric, of plugins too, by its declared range and direction."""
    usual = [each for each in metrics(catalog) if not each.describes]
    assert len(usual) > 40
    options = {"missing_output": "zero", "no_gold": "zero"}
    wanted = [{"metric": each.alias, **({"max_grade": 3} if each.needs_max_grade else {})} for each in usual]
    columns = rankgauge.evaluate(QRELS, RUN, wanted, profile=profile, policy=options).metrics.values()
    by_alias = {each.alias: each for each in usual}
    for column in columns:
        declared = by_alias[column.info.alias]
        without = np.flatnonzero(np.isin(column.codes, (UNDEFINED, MISSING, FAILED)))
        wrong = [float(column.values[place]) for place in without if is_best(declared, column.values[place])]
        assert not wrong, (column.name, wrong)


@rows(
    ("low", "high", "higher_is_better", "expected"),
    [
        (0.0, 1.0, True, 0.0),
        (-1.0, 1.0, True, -1.0),
        (1.0, 5.0, True, 1.0),
        (None, 1.0, True, 0.0),
        (None, 0.0, True, math.nan),
        (None, None, True, 0.0),
        (0.0, 1.0, False, 1.0),
        (0.0, None, False, math.nan),
        (1.0, None, False, math.nan),
        (None, None, False, math.nan),
    ],
)
def test_the_worst_value_follows_from_range_and_direction(low, high, higher_is_better, expected):
    @metric("my-metric", gold=("relevant",), range=(low, high), higher_is_better=higher_is_better)
    def my_metric(judged):
        """Return something."""
        return np.zeros(judged.n)

    assert worst_value(my_metric.__rankgauge__) == pytest.approx(expected, nan_ok=True)


def test_a_run_that_finds_nothing_has_no_first_rank():
    qrels = {f"q{number}": {"a": 1} for number in range(3)}
    nothing = {query: {"x": 1.0} for query in qrels}
    some = {query: {"x": 2.0, "a": 1.0} for query in qrels}

    assert rankgauge.evaluate(qrels, nothing, ["first_rank"])["first_rank"].mean is None
    assert rankgauge.evaluate(qrels, some, ["first_rank"])["first_rank"].mean == 2.0


def test_auc_of_nothing_but_relevant_results_is_undefined():
    column = rankgauge.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, ["AUC"])["AUC"]

    assert (column.mean, column.n, column.n_undefined) == (None, 0, 1)


def test_a_missing_output_is_not_the_best_count():
    """A count of faults, the fewer the better, is 0 for an empty ranking."""

    @metric("faults", gold=("relevant",), range=(0.0, None), higher_is_better=False)
    def faults(judged):
        """Return something."""
        return np.asarray(judged.depth - judged.relevant_ranks(), dtype=np.float64)

    samples = [
        {"id": "a", "expected_output": {"x": 1}, "actual_output": ["y"]},
        {"id": "b", "expected_output": {"x": 1}},
    ]
    column = Engine().dataset(samples).with_metrics([faults]).run()["faults"]

    assert column.mean == 1.0
    assert column.n_missing == 1


def test_policy_zero_of_a_bounded_metric_is_its_worst():
    samples = [{"id": "a", "expected_output": {"x": 0}, "actual_output": ["y"]}]
    evaluation = Engine().dataset(samples).with_metrics(["fall_out@3"]).with_profile(no_gold="zero")
    column = evaluation.run()["fall_out@3"]

    assert column.values.tolist() == [1.0]


def test_a_run_says_which_queries_a_metric_failed_for():
    @metric("fragile", gold=("relevant",))
    def fragile(judged):
        """Return something."""
        if (judged.depth > 1).any():
            raise ValueError("too long")
        return np.ones(judged.n)

    qrels = {query: {"a": 1} for query in ("q1", "q2", "q3")}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 0.5}, "q3": {"a": 1.0}}
    result = rankgauge.evaluate(qrels, run, [fragile])

    assert result["fragile"].mean == 2 / 3
    (note,) = result.notes
    assert note.startswith("fragile: 1 of 3 queries failed, counted as the worst score; the first is q2: ")
    assert "too long" in note
    assert "failed" in "\n".join(line.text for line in run_table(result))
