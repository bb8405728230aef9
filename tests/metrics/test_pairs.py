"""Relevant against irrelevant results, worked out by hand."""

import pytest

from rankgauge.errors import PlanError

GOLD = {"a": 1, "b": 1, "m": 0, "n": 0}
RANKING = ["a", "x", "b", "m"]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("AUC", 3 / 4),  # a above x and m, b above m, b below x
        ("AUC@3", 1 / 2),
        ("Accuracy@2", 1.0),
        ("fall_out@2", 1 / 2),  # x, of x and m
        ("fall_out(among=judged)@3", 0.0),
        ("fall_out(among=judged)@4", 1 / 2),  # m, of m and n
        ("fall_out(among=collection, collection=102)@4", 2 / 100),
    ],
)
def test_shares_of_irrelevant_results(score, metric, expected):
    assert score(metric, {"relevant": GOLD}, RANKING).value == pytest.approx(expected)


@pytest.mark.parametrize("ranking", [["a", "b"], ["x", "y"], []])
def test_one_kind_of_result_alone_makes_no_pairs(score, ranking):
    assert score("AUC", {"relevant": GOLD}, ranking).status == "undefined"


@pytest.mark.parametrize("metric", ["fall_out(among=collection)@3", "fall_out(collection=9)@3"])
def test_the_collection_and_its_size_go_together(engine, metric):
    with pytest.raises(PlanError, match="among=collection needs the number of documents"):
        engine.dataset([]).with_metrics([metric]).plan()


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("fall_out@1", 1 / 3),
        ("fall_out@5", 1.0),
        ("fall_out(among=judged)@1", 1 / 2),  # m, of m and n
        ("fall_out(among=collection, collection=10)@2", 2 / 10),
    ],
)
def test_fall_out_needs_nothing_relevant(score, metric, expected):
    assert score(metric, {"relevant": {"m": 0, "n": 0}}, ["m", "x", "y"]).value == pytest.approx(expected)


def test_fall_out_of_nothing_irrelevant_is_undefined(score):
    assert score("fall_out@3", {"relevant": GOLD}, ["a", "b"]).status == "undefined"
    assert score("fall_out(among=judged)@3", {"relevant": {"a": 1}}, ["x"]).status == "undefined"
    assert score("fall_out@3", {"relevant": {}}, ["x"]).status == "undefined"


def test_set_map_is_one_quotient(score):
    # 3 of 4 results are relevant, and 40 items are: (3/4) * (3/40), which two roundings take below .05625.
    gold = {str(place): 1 for place in range(40)}

    assert score("set_map", {"relevant": gold}, ["0", "1", "2", "x"]).value == 0.05625
    assert score("set_map", {"relevant": gold}, []).value == 0.0
