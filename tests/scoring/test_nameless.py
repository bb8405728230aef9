"""Items without an id, where ids are compared: held against a sample as far as the metric looks, as texts are."""

from __future__ import annotations

import json

import pytest

from rankgauge import Engine, HostScorer
from tables import rows

RANKING = ["x", {"id": "y"}, {"text": "of no id"}, "a"]
TEXTS = [{"text": "one"}, {"text": "two"}]


@rows(("k", "status"), [(2, "scored"), (3, "failed"), (4, "failed")])
@rows("metric", ["recall", "ndcg", "P"])
def test_an_item_without_id_fails_a_sample_at_the_cutoff_and_not_beyond(score, metric, k, status):
    """The item at rank 3 is the last that k=3 looks at, and the first that k=2 does not."""
    found = score(f"{metric}@{k}", {"relevant": ["a", "b"]}, RANKING)
    assert (found.status, found.value) == (status, 0.0)
    said = "judging by id needs an id for every retrieved item; the item at rank 3 has none"
    assert (said in found.reason) == (status == "failed")


@rows(
    ("metric", "ranking", "status"),
    [
        ("hit@3", ["a", *TEXTS], "scored"),
        ("recall@3", ["a", *TEXTS], "scored"),
        ("RR", ["a", *TEXTS], "scored"),
        ("RR", ["x", *TEXTS, "a"], "failed"),
        ("P@3", ["a", *TEXTS], "failed"),
        ("first_rank", ["a", *TEXTS], "scored"),  # less is better, and nothing is better than 1
        ("first_rank", ["x", *TEXTS, "a"], "failed"),
        ("num_ret", [], "scored"),
    ],
)
def test_it_is_no_matter_once_the_score_cannot_change(score, metric, ranking, status):
    assert score(metric, {"relevant": ["a"]}, ranking).status == status


def test_without_ground_truth_there_is_nothing_to_miss(score):
    assert score("recall@5", {"relevant": {"a": 0}}, TEXTS).status == "undefined"


def test_texts_and_places_are_compared_as_before(score):
    assert score("recall@5", {"passages": ["one"]}, TEXTS).status == "scored"


@pytest.mark.parametrize("expression", ["recall(unit=document)@5", "complete_sets@5", "recall(stage=dense)@5"])
def test_units_sets_and_stages_are_judged_by_id_too(expression):
    sample = {
        "id": "q",
        "expected_output": {"relevant": ["a", "b"], "sets": [{"all_of": ["a", "b"]}]},
        "actual_output": {"stages": [{"name": "dense", "retrieved": TEXTS}], "retrieved": TEXTS},
    }
    (found,) = Engine().dataset([]).with_metrics(expression).score(sample).values()
    assert found.status == "failed"
    assert "the item at rank 1 has none" in found.reason


def test_every_road_says_so(tmp_path):
    samples = [
        {"id": "q1", "expected_output": ["a"], "actual_output": TEXTS},
        {"id": "q2", "expected_output": ["a"], "actual_output": ["a"]},
    ]
    file = tmp_path / "samples.jsonl"
    file.write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    questions = [{key: sample[key] for key in ("id", "expected_output")} for sample in samples]
    outputs = {sample["id"]: sample["actual_output"] for sample in samples}
    for result in (
        Engine().dataset(file).with_metrics("recall@5").run(),
        Engine().dataset(samples).with_metrics("recall@5").run(batch_size=1),
        Engine().dataset(questions).with_metrics("recall@5").run(outputs=outputs),
        next(Engine().dataset(samples).with_metrics("recall@5").stream()),
    ):
        column = result["recall@5"]
        assert (column.status(0), column.values.tolist()) == ("failed", [0.0, 1.0])
        assert result.is_incomplete
        assert "has none (give each its id, or judge texts" in repr(result)
    assert HostScorer(metrics="recall@5").score(expected=["a"], retrieved=TEXTS)["recall@5"].status == "failed"
