"""What explanations say of gold items of a plugin's kind that are nearly found."""

from types import SimpleNamespace

import numpy as np
import pytest

from rankgauge import Catalog, Engine, Explanation
from rankgauge.plugin import Covers, GoldItem, gold_kind, hookimpl


def overlap(retrieved, gold):
    """Return how much of the union of two squares both share; squares are known by their left end and width 10."""
    return np.array(
        [
            [max(0.0, 10 - abs(item.metadata["x"] - x)) / (10 + min(10, abs(item.metadata["x"] - x))) for x in gold]
            for item in retrieved
        ]
    )


@gold_kind("squares", judge=overlap)
def squares(raw):
    """Squares."""
    return [GoldItem(x, f"square {x}") for x in raw]


def held(retrieved, gold):
    """Return which numbers of a stretch from 0 to 10 the results hold."""
    parts = [(row, 0, item.metadata["from"], item.metadata["to"]) for row, item in enumerate(retrieved)]
    return Covers(*np.array(parts, dtype=np.int64).reshape(-1, 4).T, np.array([10 for _ in gold]), len(retrieved))


@gold_kind("stretches", judge=held, covers=True, threshold=0.8)
def stretches(raw):
    """One stretch."""
    return [GoldItem(name, name) for name in raw]


PLUGIN = SimpleNamespace(rankgauge_gold_kinds=hookimpl(specname="rankgauge_gold_kinds")(lambda: [squares, stretches]))
ENGINE = Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": PLUGIN}))


def explained(expected, retrieved, metric) -> Explanation:
    items = [{"id": str(place), "metadata": known} for place, known in enumerate(retrieved)]
    sample = {"id": "q", "expected_output": expected, "actual_output": {"retrieved": items}}
    return ENGINE.dataset([sample]).with_metrics([metric]).run().explain("q")


def test_the_score_of_the_nearest_result_is_told():
    """Squares 3 apart share 7 of 13, which is found; those 5 apart 5 of 15, those 8 apart 2 of 18."""
    expected = {"squares": [0, 13, 100]}
    explanation = explained(expected, [{"x": 8}, {"x": 5}], "recall(gold=squares)@5")
    assert {gold.id: gold.nearest for gold in explanation.missing} == {
        "square 0": "rank 2 scores 0.33; 0.5 is needed",
        "square 13": "rank 1 scores 0.33; 0.5 is needed",
        "square 100": "",
    }
    lines = str(explanation).splitlines()
    at = lines.index("  square 0    grade 1, not retrieved; the best ranking has it at 1")
    assert lines[at + 1] == "      nearest: rank 2 scores 0.33; 0.5 is needed"
    assert Explanation.from_dict(explanation.to_dict()) == explanation
    assert explained({"squares": [5]}, [{"x": 8}], "recall(gold=squares)@5").missing == ()


@pytest.mark.parametrize(
    ("joint", "told"),
    [
        ("true", "results hold 0.70 of it together; 0.8 is needed"),
        ("false", "rank 1 holds 0.50 of it; 0.8 is needed"),
    ],
)
def test_the_share_that_results_hold_is_told(joint, told):
    """The second result holds 3 to 7, of which the first has 3 and 4."""
    retrieved = [{"from": 0, "to": 5}, {"from": 3, "to": 7}]
    metric = f"recall(gold=stretches, joint={joint})@5"
    (gold,) = explained({"stretches": ["s"]}, retrieved, metric).missing
    assert (gold.nearest, gold.rank) == (told, None)
    (gold,) = explained({"stretches": ["s"]}, retrieved[:1], metric).missing
    assert gold.nearest == "rank 1 holds 0.50 of it; 0.8 is needed"
