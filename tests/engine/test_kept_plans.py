"""Plans are kept for what was asked for before, mappings included."""

from rankgauge.engine.runs import run_evaluator


def evaluator(*metrics, catalog):
    return run_evaluator(metrics, catalog=catalog)


def test_a_metric_given_as_a_mapping_is_planned_once(catalog):
    first = evaluator({"metric": "ndcg@10", "as": "m0"}, "RR", catalog=catalog)
    assert evaluator({"metric": "ndcg@10", "as": "m0"}, "RR", catalog=catalog) is first
    assert [metric.name for metric in first.plan.metrics] == ["m0", "rr"]
    assert evaluator({"metric": "ndcg@10", "as": "m1"}, "RR", catalog=catalog) is not first


def test_numbers_of_another_kind_ask_for_something_else(catalog):
    """Python takes 2 and 2.0 for equal."""
    whole, decimal = (evaluator({"metric": "recall", "k": 5, "rel": rel}, catalog=catalog) for rel in (2, 2.0))
    assert whole is not decimal
    assert [dict(each.plan.metrics[0].settings) for each in (whole, decimal)] == [{"rel": 2}, {"rel": 2.0}]


def test_a_mapping_is_read_as_it_is_when_it_is_given(catalog):
    asked = {"metric": "recall", "k": 5}
    assert evaluator(asked, catalog=catalog).plan.metrics[0].cut.k == 5
    asked["k"] = 7
    assert evaluator(asked, catalog=catalog).plan.metrics[0].cut.k == 7
