"""Ordered pair accuracy and the average relevance position, by hand and pair by pair."""

from __future__ import annotations

import random

import pytest

from rankgauge import evaluate
from rankgauge.catalog import Catalog
from tables import rows

CATALOG = Catalog.discover(own_only=True)
GOLD = {"a": 2, "b": 1, "c": 1, "n": 0, "u": -1}


@rows(
    ("metric", "ranking", "expected"),
    [
        # pairs: ab, ac, an, bn, cn
        ("OPA", "abcn", 1.0),
        ("OPA", "acbn", 1.0),
        ("OPA", "nxa", 2 / 5),  # of b and c, which were not retrieved, n stands above
        ("OPA", "uxban", 3 / 5),  # all but ab and cn: b and c make no pair, nor do x and u
        ("OPA", "x", 0.0),
        ("ARP", "xayb", (2 * 2 + 1 * 4) / 3),
        ("ARP", "nbu", 2.0),
    ],
)
def test_values_worked_out_by_hand(score, metric, ranking, expected):
    assert score(metric, {"relevant": GOLD}, list(ranking)).value == pytest.approx(expected, rel=1e-14)


@rows(("metric", "gold"), [("OPA", {"a": 1, "b": 1}), ("OPA", {"a": 1, "u": -1}), ("ARP", {"n": 0, "b": 1})])
def test_without_pairs_or_anything_found_there_is_no_value(score, metric, gold):
    assert score(metric, {"relevant": gold}, ["a", "n"]).status == "undefined"


def test_an_output_that_is_missing_has_every_pair_in_the_wrong_order():
    result = evaluate({"p": GOLD, "q": GOLD}, {"p": {"a": 2.0, "b": 1.0}}, ["OPA"], catalog=CATALOG)
    assert result["OPA"].values.tolist() == [4 / 5, 0.0]  # neither c nor n was retrieved
    assert result["OPA"].counts == {"n": 2, "undefined": 0, "missing": 1, "failed": 0}


def test_pairs_are_counted_as_one_by_one():
    """Over grades that are no whole numbers, and more of them than bits."""
    draw = random.Random(7)  # noqa: S311  # no secret
    qrels = {f"q{q}": {f"d{d}": draw.choice([-1, 0, 0.25, 1, 2, 7.5]) for d in range(9)} for q in range(60)}
    run = {q: {f"d{d}": draw.random() for d in draw.sample(range(12), draw.randint(1, 12))} for q in qrels}
    found = evaluate(qrels, run, ["OPA"], catalog=CATALOG)
    for query, value in zip(found.sample_ids, found["OPA"].values.tolist(), strict=True):
        grades, scores = qrels[query], run[query]
        pairs = [(a, b) for a in grades for b in grades if grades[a] > grades[b] >= 0]
        right = sum(scores.get(a, -1.0) > scores.get(b, -1.0) for a, b in pairs)
        assert value == pytest.approx(right / len(pairs), rel=1e-14)
