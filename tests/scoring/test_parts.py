"""What a collector makes of batches and parts: of many the same as of one."""

import json

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge.errors import MissingGoldError
from rankgauge.io.datasets import DatasetReader
from rankgauge.plugin import Cutoff, hookimpl, run_metric
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import read_sample
from rankgauge.scoring import collect
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.score import Outcome
from rankgauge.scoring.scored import join_outcomes

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
FOUND = {"id": "q0", "expected_output": ["a"], "actual_output": ["a"]}
LOST = {"id": "q1", "expected_output": ["b"], "actual_output": ["x"]}


def plan_of(*asked):
    return ENGINE.dataset([]).with_metrics(asked).plan()


def collected(plan, *records, **options):
    """Return a collector that was given these samples one by one."""
    made = Collector(plan, **options)
    for record in records:
        made.add([read_sample(record, problems=[])])
    return made


@pytest.fixture
def written(tmp_path):
    """Return the path of a file with both samples."""
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (FOUND, LOST)), encoding="utf-8")
    return path


def test_parts_are_scored_as_if_all_samples_were_in_one_place():
    plan = plan_of("hit@1")
    joined = Collector(plan)
    for record in (FOUND, LOST):
        joined.add_part(collected(plan, record).part())
    scored = joined.finish()
    assert (scored.sample_ids, scored.metrics[0].outcome.values.tolist()) == (["q0", "q1"], [1, 0])
    assert len(set(scored.gold_keys.tolist())) == 2
    assert scored.gold_keys.tolist() == collected(plan, FOUND, LOST).finish().gold_keys.tolist()
    assert Collector(plan).part().batch is None
    begun = collected(plan, FOUND)
    begun.add_part(collected(plan, LOST).part())
    assert begun.finish().metrics[0].outcome.values.tolist() == [1, 0]


def test_samples_without_ground_truth_are_refused_unless_none_is_required():
    made = collected(plan_of("hit@1"), {"id": "q", "expected_output": {"answer": "x"}, "actual_output": ["a"]})
    with pytest.raises(MissingGoldError):
        made.finish()
    assert made.finish(require_gold=False).metrics[0].outcome.status.tolist() == [1]


@pytest.fixture
def sizes(monkeypatch):
    """Return what grows by how many samples a metric is called with."""
    sizes, score = [], collect.score_metric
    monkeypatch.setattr(collect, "score_metric", lambda *given: sizes.append(len(given[3].ks)) or score(*given))
    return sizes


def test_a_batch_that_is_full_is_scored_as_one(sizes):
    records = [{**FOUND, "id": f"q{at}"} for at in range(5)]
    assert collected(plan_of("hit@1"), *records, batch_size=2).finish().metrics[0].outcome.values.tolist() == [1] * 5
    assert sizes == [2, 2, 1]


def test_a_block_that_fills_a_batch_is_scored_as_one(sizes, written):
    made = Collector(plan_of("hit@1"), batch_size=1)
    assert made.takes_blocks
    for _ in range(2):
        (block,) = DatasetReader(
            ENGINE.dataset(written).data, catalog=ENGINE.catalog, contract=DEFAULT_CONTRACT
        ).blocks({"ids"})
        made.add_block(block)
    assert made.finish().metrics[0].outcome.values.tolist() == [1, 0, 1, 0]
    assert sizes == [2, 2]


def test_an_output_that_is_refused_does_not_excuse_missing_ground_truth():
    record = {"id": "q", "expected_output": ["a"], "actual_output": ["a", "a"]}
    chosen = ENGINE.dataset([record]).with_metrics(["hit@1", "containment@1"]).with_profile(duplicates="error")
    with pytest.raises(MissingGoldError, match="containment@1"):
        chosen.run()


def test_batches_become_one_outcome_with_rankings_where_they_have_them():
    values, status = np.array([0.5]), np.array([0], dtype=np.uint8)
    plain, failed = Outcome(values, status, {}), Outcome(values, status, {0: "why"})
    assert join_outcomes([plain, failed])[2:] == ({1: "why"}, None, None, None)
    assert join_outcomes([])[2:] == ({}, None, None, None)
    ranked = [Outcome(values, status, {}, (ids,)) for ids in (("a",), ("b", "c"))]
    assert join_outcomes(ranked).rankings == (("a",), ("b", "c"))


class RunSizes:
    """A plugin with a metric of whole runs."""

    @hookimpl
    def rankgauge_metrics(self):
        @run_metric("runs-in-budget-at-k", range=(0, None))
        def sizes(rankings, *, k: Cutoff) -> float:
            """Return how many results there are."""
            return float(sum(map(len, rankings)))

        return [sizes]


def test_a_metric_of_whole_runs_leaves_out_what_is_unfit_for_its_budget():
    engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"sizes": RunSizes()}))
    items = [{"id": name, "text": "one two"} for name in "ab"]
    outputs = [{"retrieved": items}, {"retrieved": [{"id": "a"}]}]
    samples = [{"id": f"q{n}", "actual_output": output} for n, output in enumerate(outputs)]
    asked = "runs-in-budget-at-k(tokenizer=words)@2tok"
    (column,) = engine.dataset(samples).with_metrics([asked]).run().metrics.values()
    assert (column.mean, column.status(0), column.status(1)) == (1, "scored", "failed")


def test_details_of_a_file_are_those_of_its_samples(written):
    (column,) = ENGINE.dataset(written).with_metrics(["hit@1"]).run(details=True).metrics.values()
    assert [[rank["id"] for rank in facts["explanation"]["ranks"]] for facts in column.details] == [["a"], []]


def test_the_ids_of_a_file_are_sketched_and_its_relevant_ones_counted_once(written):
    """Two distinct ids were retrieved; there are two relevant ones, of which one was found."""
    for asked in (["hit@1"], ["hit@1", "recall(unit='doc#chunk')@1"]):
        found, same = (
            ENGINE.dataset(data).with_metrics(asked).run(sketch_ids=True).manifest["retrieved_ids"]
            for data in (written, [FOUND, LOST])
        )
        assert (found["gold"], found["found"], len(found["hashes"])) == (2, 1, 2)
        assert found == same


def test_relevant_ids_are_counted_whatever_is_judged_first():
    expected = {"relevant": ["a", "b", "c"], "passages": ["one"]}
    samples = [{"id": "q", "expected_output": expected, "actual_output": [{"id": "a", "text": "one"}]}]
    chosen = ENGINE.dataset(samples).with_metrics(["recall(gold=passages)@1", "hit@1"])
    assert chosen.run(sketch_ids=True).manifest["retrieved_ids"]["gold"] == 3


def test_only_a_metric_with_a_scale_looks_for_the_highest_grade():
    record = {"id": "q", "expected_output": {"a": 3}, "actual_output": ["a"]}
    plain, scaled = collected(plan_of("hit@1", "err(max_grade=4)@5"), record).finish().metrics
    assert (plain.top, scaled.top) == (0, 3)
    lower = {"id": "r", "expected_output": {"a": 1}, "actual_output": ["a"]}
    (column,) = collected(plan_of("err(max_grade=4)@5"), record, lower, batch_size=1).finish().metrics
    assert column.top == 3


def test_leaks_are_counted_down_to_the_lowest_of_all_cutoffs():
    """Of the first sample one result fits into two words, of the second both."""
    items = [{"id": "x", "text": "one"}, {"id": "y", "text": "two"}]
    outputs = [{"retrieved": [{**items[0], "text": "one two"}, items[1]]}, {"retrieved": items}]
    gold = {"relevant": ["a"], "forbidden": [{"id": "x"}, {"id": "y"}]}
    samples = [{"id": f"q{n}", "expected_output": gold, "actual_output": each} for n, each in enumerate(outputs)]
    for asked, count in (
        (["forbidden_count@1"], 2),
        (["forbidden_count@2", "forbidden_count@1"], 4),
        (["forbidden_count"], 4),
        (["forbidden_count(tokenizer=words)@2tok"], 3),
    ):
        (note,) = ENGINE.dataset(samples).with_metrics(asked).run().notes
        assert note.startswith(f"{count} forbidden items retrieved for 2 samples: "), asked


def test_unlike_ids_are_told_of_relevant_items_only():
    gold = {"relevant": ["a"], "forbidden": [{"id": "x"}]}
    samples = [{"id": "q", "expected_output": gold, "actual_output": ["a"]}]
    for asked in (["forbidden_count@1"], ["forbidden_count@1", "hit@1"], ["hit@1", "forbidden_count@1"]):
        assert ENGINE.dataset(samples).with_metrics(asked).run().notes == ()


def test_a_sample_has_the_details_of_each_of_its_repeats():
    """The system finds the gold item in its second answer to the first sample only."""
    answers = iter((["x"], ["x"], ["a"], ["x"]))
    samples = [{"id": name, "input": name, "expected_output": ["a"]} for name in "pq"]
    evaluation = ENGINE.dataset(samples).with_metrics(["hit@1"])
    (column,) = evaluation.run(sut=lambda _: next(answers), repeat=2, concurrency=1, details=True).metrics.values()
    found = [[len(each["explanation"]["ranks"]) for each in facts["repeats"]] for facts in column.details]
    assert (column.values.tolist(), found) == ([0.5, 0], [[0, 1], [0, 0]])
