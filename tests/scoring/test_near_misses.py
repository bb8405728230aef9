"""Near misses: for each gold text that nothing matched, the retrieved text that came nearest."""

from __future__ import annotations

import pytest

from rankgauge import Catalog, Engine

FUZZY = "hit(gold=passages, matcher=fuzzy-chunk)@5"


@pytest.fixture(scope="module")
def facts():
    engine = Engine(catalog=Catalog.discover(own_only=True))

    def explain(metric, passages, texts, **options):
        retrieved = [{"id": f"c{place}", "text": text} for place, text in enumerate(texts)]
        sample = {"id": "s", "expected_output": {"passages": passages}, "actual_output": retrieved}
        (column,) = engine.dataset([sample]).with_metrics([metric]).run(**options).metrics.values()
        return column.details[0]

    return explain


def test_best_text_stands_with_its_rank_and_uncut_score(facts):
    # "abcdefghij" is 3 edits from "abcdefgXYZ": 0.7, below the threshold of 0.9.
    (miss,) = facts(FUZZY, ["say abcdefgXYZ now"], ["zzzz", "abcdefghij"], near_misses=True)["near_misses"]
    assert miss == {"gold": "say abcdefgXYZ now", "score": 0.7, "rank": 2, "retrieved": "abcdefghij"}


def test_gold_that_was_matched_is_no_miss(facts):
    found = facts(FUZZY, ["one two three", "four five six"], ["two three"], near_misses=True)["near_misses"]
    assert [miss["gold"] for miss in found] == ["four five six"]


def test_an_item_without_a_text_hides_no_other(facts):
    (miss,) = facts(FUZZY, ["say abcdefgXYZ now"], [None, "abcdefghij"], near_misses=True)["near_misses"]
    assert (miss["score"], miss["rank"]) == (0.7, 2)


def test_nothing_retrieved_comes_near_nothing(facts):
    (miss,) = facts(FUZZY, ["one"], [], near_misses=True)["near_misses"]
    assert (miss["score"], miss["rank"], miss["retrieved"]) == (0.0, None, None)


def test_they_are_computed_only_when_asked_for(facts):
    assert "near_misses" not in facts(FUZZY, ["one"], ["two"], details=True)


def test_metrics_by_id_have_none():
    sample = {"id": "s", "expected_output": ["a"], "actual_output": ["b"]}
    (column,) = Engine().dataset([sample]).with_metrics(["hit@1"]).run(near_misses=True).metrics.values()
    assert "near_misses" not in column.details[0]


@pytest.mark.parametrize("output", [None, {"retrieved": [{"id": "a"}]}])
def test_an_output_without_texts_comes_near_nothing(output):
    samples = [
        {"id": "p", "expected_output": {"passages": ["one"]}, "actual_output": [{"id": "a", "text": "one"}]},
        {"id": "q", "expected_output": {"passages": ["one"]}, "actual_output": output},
    ]
    (column,) = Engine().dataset(samples).with_metrics([FUZZY]).run(near_misses=True).metrics.values()
    misses = [[(miss["score"], miss["rank"]) for miss in facts["near_misses"]] for facts in column.details]
    assert misses == [[], [(0.0, None)]]


def test_a_text_that_has_nothing_in_common_does_not_come_near(facts):
    (miss,) = facts(FUZZY, ["abc"], ["xyz"], near_misses=True)["near_misses"]
    assert (miss["score"], miss["rank"], miss["retrieved"]) == (0.0, None, None)
