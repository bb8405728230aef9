"""Any metric with another aggregate, and aggregates that are told which end of the scores is the worse one."""

import copy
import pickle
from statistics import fmean, median
from types import SimpleNamespace

import pytest

import rankgauge
from rankgauge import Catalog, Engine
from rankgauge.errors import RankgaugeError
from rankgauge.plugin import aggregate, hookimpl


@aggregate("worst-decile")
def worst_decile(values, *, higher_is_better):
    """Mean of the worst tenth of the scores."""
    n = -(-len(values) // 10)
    return fmean(values[:n] if higher_is_better else values[-n:])


@aggregate("middle")
def middle(values):
    """The median."""
    return median(values)


@hookimpl
def declared():
    return [worst_decile, middle]


CATALOG = Catalog.discover(plugins={"tenths": SimpleNamespace(rankgauge_aggregates=declared)})

# The only relevant document stands at rank 1 of ten queries, at rank 4 of one, and at rank 2 of one: MRR 1, 0.25, 0.5.
RANKS = [1] * 10 + [4, 2]
QRELS = {f"q{n:02}": {"d": 1} for n in range(len(RANKS))}
RUN = {
    f"q{n:02}": {("d" if place == rank else f"x{place}"): 10.0 - place for place in range(1, 6)}
    for n, rank in enumerate(RANKS)
}


def score(*metrics):
    return rankgauge.evaluate(QRELS, RUN, list(metrics), catalog=CATALOG)


def test_the_worst_tenth_of_twelve_scores_is_two_of_them():
    result = score("RR(aggregate=worst-decile)", "RR")
    assert result["rr(aggregate=worst-decile)"].mean == (0.25 + 0.5) / 2
    assert result["rr"].mean == fmean([1] * 10 + [0.25, 0.5])


def test_where_lower_is_better_the_highest_scores_are_the_worst():
    (column,) = score("first_rank(aggregate=worst-decile)").metrics.values()
    assert not column.info.higher_is_better
    assert column.mean == (4 + 2) / 2


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("RR(aggregate=middle)", 1.0),
        ("RR(aggregate=sum)", 10.75),
        ("RR(aggregate=geometric)", (0.25 * 0.5) ** (1 / 12)),
        ("num_ret(aggregate=mean)", 5.0),
    ],
)
def test_any_metric_takes_any_aggregate(written, expected):
    (column,) = score(written).metrics.values()
    assert column.mean == pytest.approx(expected, abs=1e-12)
    assert column.info.aggregate in written


def test_its_own_aggregate_is_the_same_column():
    result = score("ndcg(aggregate=mean)@10", "ndcg@10")
    assert list(result.metrics) == ["ndcg@10"]
    assert result["ndcg@10"].info.fingerprint == score("ndcg@10")["ndcg@10"].info.fingerprint


def test_another_aggregate_is_another_column_with_another_fingerprint():
    result = score("ndcg(aggregate=worst-decile)@10", "ndcg@10")
    one, other = result.metrics.values()
    assert (one.name, other.name) == ("ndcg(aggregate=worst-decile)@10", "ndcg@10")
    assert one.info.fingerprint != other.info.fingerprint
    assert one.values.tolist() == other.values.tolist()


def test_samples_results_in_folders_and_other_processes_agree(tmp_path):
    samples = [{"id": query, "expected_output": ["d"], "actual_output": list(RUN[query])} for query in QRELS]
    evaluation = (
        Engine(catalog=CATALOG).dataset(samples).with_metrics(["ndcg(aggregate=middle)@10", "RR(aggregate=sum)"])
    )
    result = evaluation.run()
    means = [column.mean for column in result.metrics.values()]
    assert means == [1.0, 10.75]
    plan = pickle.loads(pickle.dumps(Engine().dataset(samples).with_metrics(["RR(aggregate=sum)"]).plan()))  # noqa: S301  # our own
    assert plan.metrics[0].metric.aggregate == "sum"
    assert copy.copy(plan.metrics[0].metric).aggregate == "sum"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("RR(aggregate=worst-decil)", "worst-decile"),
        ("RR(aggregate=3)", "is a name"),
        ("nothing(aggregate=mean)", "nothing"),
    ],
)
def test_what_cannot_be_an_aggregate_is_refused(written, message):
    with pytest.raises(RankgaugeError, match=message):
        score(written)
