"""Measure objects of ir_measures, wherever a metric can be given: read by their names, without that package."""

import pickle

import pytest

from rankgauge import Engine, HostScorer, compare, evaluate
from rankgauge.errors import UnknownNameError
from rankgauge.expression import as_written
from rankgauge.scale import ShardedRun
from tables import rows


class Measure:
    """What every measure of ir_measures is: callable, with a name as its text."""

    def __init__(self, name):
        self.name = name

    def __call__(self, **params):
        return self

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self):
        return hash(self.name)


Measure.__module__ = "ir_measures.measures.base"


class Precision(Measure):
    """A measure of somebody else, as `ir_measures.define` and plugins make them."""


def named(name):
    return Precision(name)


QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"b": 1}}
RUN = {"q1": {"b": 1.0, "a": 0.5}, "q2": {"a": 1.0, "b": 0.5}}
SAMPLES = [{"id": name, "expected_output": list(QRELS[name]), "actual_output": list(RUN[name])} for name in QRELS]
EVALUATION = Engine().dataset(SAMPLES)


@rows(
    ("name", "column"),
    [
        ("nDCG@10", "ndcg@10"),
        ("AP(rel=2)@10", "ap(rel=2)@10"),
        ("Judged@10", "judged@10"),
        ("nDCG(dcg='exp-log2')@10", "ndcg(gain=exponential)@10"),
        ("nDCG(gains={1:5})@10", 'ndcg(gains="1=5")@10'),
        ("IPrec@0.1", "iprec@0.1"),
        ("NumRet(rel=1)", "num_rel_ret(rel=1)"),
        ("RR", "rr"),
    ],
)
def test_a_measure_is_the_metric_of_its_name(name, column):
    by_name, result = (evaluate(QRELS, RUN, metric) for metric in (name, named(name)))
    assert list(result) == [column]
    assert result[column].values.tolist() == by_name[column].values.tolist()
    assert result[named(name)].name == column
    assert list(evaluate(QRELS, RUN, [named(name), "P@1"])) == [column, "p@1"]


def test_it_can_stand_wherever_a_metric_can():
    ndcg, rr = named("nDCG@10"), named("RR")
    assert list(EVALUATION.with_metrics(ndcg).run()) == ["ndcg@10"]
    asked = EVALUATION.with_metrics([ndcg, {"metric": named("P"), "k": [1, 2]}, {"metric": rr, "as": "first"}])
    result = asked.run()
    assert list(result) == ["ndcg@10", "p@1", "p@2", "first"]
    assert list(pickle.loads(pickle.dumps(asked)).run()) == list(result)  # noqa: S301  # ours
    assert result.gate([{"metric": ndcg, "min": 0.1}]).outcomes[0].gate.metric == "ndcg@10"
    assert result.explain("q1", ndcg).metric == "ndcg@10"
    assert result.worst(rr, 1)[0].metric == "first"
    assert list(compare({"a": result, "b": result}, metrics=ndcg).comparisons[0].metrics) == ["ndcg@10"]
    assert list(compare({"a": result, "b": result}, metrics=[ndcg, rr]).comparisons[0].metrics) == ["ndcg@10", "first"]
    assert list(evaluate(QRELS, runs={"a": RUN}, metrics=[ndcg])["a"]) == ["ndcg@10"]
    assert list(ShardedRun.plan(ndcg).merge([ShardedRun.plan(ndcg).shard(QRELS, RUN)])) == ["ndcg@10"]
    for metrics in (ndcg, [ndcg], (ndcg,)):
        assert HostScorer(metrics=metrics).column.name == "ndcg@10"


def test_one_whose_name_no_metric_has_is_an_unknown_metric():
    with pytest.raises(Exception, match="unknown metric 'mine'"):
        evaluate(QRELS, RUN, [named("mine")])
    assert issubclass(UnknownNameError, LookupError)


def test_other_objects_stay_as_they_are():
    class Measure:
        """One of another package."""

    other = Measure()
    assert as_written(other) is other
    assert as_written("nDCG@10") == "nDCG@10"
