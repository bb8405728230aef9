"""The plugin obeys the laws, and gives the numbers worked out by hand."""

import pytest

import rankgauge_example
from rankgauge import Catalog, Engine
from rankgauge.testing import check_plugin

ENGINE = Engine(catalog=Catalog.discover(own_only=True, plugins={"example": rankgauge_example}))


def score(metric, expected, output):
    sample = {"id": "q", "expected_output": expected, "actual_output": output}
    (only,) = ENGINE.dataset([]).with_metrics([metric]).score(sample).values()
    return only.value


def test_the_plugin_obeys_the_laws():
    check_plugin(rankgauge_example, cases=20).raise_if_broken()


def test_capped_recall_is_one_when_every_rank_holds_a_relevant_item():
    assert score("capped_recall@2", ["a", "b", "c"], ["b", "a", "x"]) == 1.0
    assert score("capped_recall@3", ["a", "b"], ["a", "x", "y"]) == 0.5


def test_ncg_does_not_mind_the_order():
    gains = {"a": 3, "b": 1, "c": 1}
    assert score("ncg@2", gains, ["b", "a"]) == score("ncg@2", gains, ["a", "b"]) == 1.0
    assert score("ncg@2", gains, ["b", "x", "a"]) == pytest.approx(1 / 4)


def test_typography_does_not_keep_an_answer_from_being_found():
    output = [{"id": "d", "text": "She said: “It’s late…”"}]
    assert score("containment(matcher=contains-plain)@1", {"answer": "it's late..."}, output) == 1.0
