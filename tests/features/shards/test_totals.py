"""Totals: what a result comes to without the score of each sample, over any parts of it."""

import dataclasses
import pickle
import random

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge import Catalog, Engine
from rankgauge.errors import ParameterError, ResultError
from rankgauge.features.shards.totals import MetricTotals, Totals
from rankgauge.plugin import aggregate, hookimpl, sample_metric

METRICS = ["ndcg@5", "recall@5", "gm_map", "num_rel_ret", "RR"]


def rows(count=200, seed=4):
    chance = random.Random(seed)  # noqa: S311  # data
    return [
        {
            "id": f"q{number}",
            "expected_output": {f"d{chance.randrange(20)}": chance.randrange(4) for _ in range(4)},
            **({"actual_output": [f"d{place}" for place in chance.sample(range(20), 8)]} if number % 9 else {}),
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def evaluation(engine):
    return engine.dataset(rows()).with_metrics(METRICS)


@pytest.mark.parametrize("size", [pytest.param(1, marks=in_thorough_suite()), 3, 50, 1000])
def test_parts_come_to_what_the_whole_does(evaluation, size):
    whole = evaluation.run()
    totals = Totals.merge([Totals.of(part) for part in evaluation.stream(batch_size=size)])
    assert totals.n == len(whole) == 200
    for name, column in whole.metrics.items():
        found = totals[name]
        for fact in ("mean", "n", "n_undefined", "n_missing", "n_failed", "info"):
            assert getattr(found, fact) == getattr(column, fact), (name, fact)
        assert found.std == pytest.approx(column.std, rel=1e-14)
        assert (found.estimate is None) == (column.estimate is None) == (name in {"gm_map", "num_rel_ret"})
        if column.estimate is not None:
            assert found.standard_error == pytest.approx(column.standard_error, rel=1e-14)
            assert found.interval(0.9) == pytest.approx(column.interval(0.9), rel=1e-12)
        assert (found.percentile(0), found.percentile(100)) == (column.percentile(0), column.percentile(100))
        assert found.percentile(50) is None


def test_any_order_of_parts_and_of_merging_gives_the_same_bits(evaluation):
    parts = [Totals.of(part) for part in evaluation.stream(batch_size=17)]
    forward, backward = Totals.merge(parts), Totals.merge([Totals.merge(parts[:4:-1]), Totals.merge(parts[:5])])
    assert {name: (each.mean, each.std) for name, each in forward.metrics.items()} == {
        name: (each.mean, each.std) for name, each in backward.metrics.items()
    }


def test_a_worked_example(engine):
    """Values 1, 1/2 and 0: mean 1/2, variance (1/4 + 0 + 1/4) / 2, standard deviation 1/2."""
    samples = [
        {"id": str(number), "expected_output": ["a"], "actual_output": output}
        for number, output in enumerate((["a"], ["x", "a"], ["x"]))
    ]
    totals = Totals.of(engine.dataset(samples).with_metrics(["RR"]).run())
    assert totals["recip_rank"].mean == 1 / 2
    assert totals["RR"].std == 1 / 2
    assert repr(totals) == "<Totals of 3 samples: rr=0.5000>"


def test_equal_values_say_nothing_of_other_samples(engine):
    samples = [{"id": str(n), "expected_output": ["a"], "actual_output": ["x", "y", "a"]} for n in range(3)]
    found = Totals.of(engine.dataset(samples).with_metrics(["RR"]).run())["RR"]
    assert (found.mean, found.std, found.interval()) == (1 / 3, 0.0, None)


@pytest.mark.parametrize(("second", "has_spread"), [(0.1 + 0.2, False), (0.3 + 1e-11, True)])
def test_values_that_differ_by_rounding_are_equal(engine, second, has_spread):
    sample = {"expected_output": ["a"], "actual_output": ["a"]}
    result = engine.dataset([{"id": "s", **sample}, {"id": "t", **sample}]).with_metrics(["RR"]).run()
    column = dataclasses.replace(result["RR"], values=np.array([0.3, second]))
    assert (MetricTotals.of(column).interval() is not None) == (column.interval() is not None) == has_spread


def test_without_a_value_there_is_no_mean(engine):
    samples = [{"id": "s", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"answerable": False}}]
    found = Totals.of(engine.dataset(samples).with_metrics(["RR"]).run())["RR"]
    assert (found.mean, found.std, found.estimate, found.percentile(0), found.n_undefined) == (None,) * 4 + (1,)


def test_totals_are_small_and_can_be_pickled(evaluation):
    totals = Totals.merge([Totals.of(part) for part in evaluation.stream(batch_size=10)])
    sent = pickle.dumps(totals)
    assert len(sent) < len(METRICS) * 2500 + 4000
    again = pickle.loads(sent)  # noqa: S301  # our own
    assert again["ndcg@5"] == totals["ndcg@5"]


def test_an_aggregate_that_needs_every_score_is_refused():
    @aggregate("top")
    def top(values) -> float:
        """Return the highest."""
        return max(values)

    @sample_metric("best-depth", aggregate="top")
    def best_depth(ranking) -> float:
        """Return how much was retrieved."""
        return float(ranking.depth)

    class Plugin:
        @hookimpl
        def rankgauge_metrics(self):
            return [best_depth]

        @hookimpl
        def rankgauge_aggregates(self):
            return [top]

    engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": Plugin()}))
    result = engine.dataset(rows(5)).with_metrics(["best-depth"]).run()
    with pytest.raises(ParameterError, match="'best-depth' cannot be added up: its aggregate 'top' needs the score"):
        Totals.of(result)


def test_parts_that_differ_are_refused(engine):
    one, other = (Totals.of(engine.dataset(rows(4)).with_metrics([name]).run()) for name in ("RR", "ndcg@5"))
    with pytest.raises(ResultError, match="cannot merge: the columns differ: rr and ndcg@5"):
        Totals.merge([one, other])
    with pytest.raises(ResultError, match="nothing to merge"):
        Totals.merge([])
    assert list(one) == ["rr"]
    with pytest.raises(KeyError, match="did you mean 'rr'"):
        one["rrr"]
