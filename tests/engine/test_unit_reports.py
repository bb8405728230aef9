"""Reports, explanations and saved results of scores whose ids are rolled up, for samples and for runs."""

import json

import pytest

import rankgauge
from rankgauge import Engine, Result, evaluate, html_report
from rankgauge.errors import RankgaugeError
from rankgauge.features.html.rereading import reread
from rankgauge.scale import ShardedRun

METRICS = ["recall@3", "recall(unit=document)@3", "P(unit='^([^#]+)#')@1"]
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}, "q3": {"a": 1}}
RUN = {"q1": {"x#1": 5.0, "a#1": 4.0, "a#2": 3.0, "b#1": 2.0}, "q2": {"c#9": 1.0, "c#8": 2.0}}
VALUES = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
"""By hand, of q1 to q3: x, a, b hold both relevant documents of q1; c that of q2; nothing was retrieved for q3."""


def of_samples():
    samples = [
        {"id": query, "expected_output": {"relevant": gold}, "actual_output": list_of(query)}
        for query, gold in QRELS.items()
    ]
    return Engine().dataset(samples).with_metrics(METRICS).run()


def list_of(query):
    ranking = RUN.get(query, {})
    return [{"id": name, "score": score} for name, score in sorted(ranking.items(), key=lambda item: -item[1])]


def of_run():
    return evaluate(QRELS, RUN, METRICS)


@pytest.mark.parametrize("make", [of_samples, of_run])
def test_reports_and_explanations_show_units(make, tmp_path):
    result = make()
    assert [column.values.tolist() for column in result.metrics.values()] == VALUES
    lists = reread(result, None, {"depths": ["recall(unit=document)@1", "recall(unit=document)@2"]})
    facts = lists.lists.columns["recall(unit=document)@3"]
    assert list(facts.lists.items.ids) == ["x", "a", "b", "c"]
    assert list(lists.lists.columns["recall@3"].lists.items.ids)[:4] == ["x#1", "a#1", "a#2", "b#1"]
    assert [column.mean for column in lists.others["depths"]] == [1 / 3, 0.5]
    explanation = result.explain("q1", "recall(unit=document)@3")
    assert [(fact.rank, fact.id, fact.score) for fact in explanation.ranks] == [
        (1, "x", 5.0),
        (2, "a", 4.0),
        (3, "b", 2.0),
    ]
    assert "recall(unit=document)@3" in html_report(result)
    result.save(tmp_path / "saved")
    loaded = Result.load(tmp_path / "saved")
    assert [column.values.tolist() for column in loaded.metrics.values()] == VALUES
    assert [column.info.fingerprint for column in loaded.metrics.values()] == [
        column.info.fingerprint for column in result.metrics.values()
    ]


def test_shards_of_a_run_roll_up_as_one_run_does():
    whole = of_run()
    sharded = ShardedRun.plan(METRICS)
    parts = [sharded.shard({name: QRELS[name]}, {name: RUN[name]} if name in RUN else {}) for name in QRELS]
    merged = sharded.merge(parts)
    assert [column.values.tolist() for column in merged.metrics.values()] == VALUES
    assert [column.mean for column in merged.metrics.values()] == [column.mean for column in whole.metrics.values()]


def test_bounds_are_of_units():
    """Under recall of documents the first three ranks of q1 hold all that is relevant; as they are, nothing is."""
    bounds = of_run().bounds()
    assert bounds["recall(unit=document)@3"].worst <= VALUES[1][0] * 2 / 3 <= bounds["recall(unit=document)@3"].best
    assert bounds["recall(unit=document)@3"] != bounds["recall@3"]


def test_results_with_other_units_do_not_compare():
    one, other = (
        evaluate(QRELS, RUN, [{"metric": "recall", "k": 3, "as": "found", **unit}])
        for unit in ({}, {"unit": "document"})
    )
    with pytest.raises(RankgaugeError, match="judged"):
        rankgauge.compare({"one": one, "other": other})


def test_a_repeated_chunk_in_a_run_is_refused_and_two_chunks_of_a_document_are_not(tmp_path):
    run = tmp_path / "run.txt"
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 a 1\n", "utf-8")
    run.write_text("q Q0 a#1 1 2 t\nq Q0 a#2 2 1 t\n", "utf-8")
    assert evaluate(qrels, run, "RR(unit=document)").leading.mean == 1.0
    run.write_text("q Q0 a#1 1 2 t\nq Q0 a#1 2 1 t\n", "utf-8")
    with pytest.raises(RankgaugeError, match="is retrieved 2 times"):
        evaluate(qrels, run, "RR(unit=document)")


def test_intents_roll_up_with_their_documents():
    """Documents a (intents 1 and 2) and b (intent 2), by hand and cut into parts, on samples."""
    gold = [("a#1", "1"), ("a#2", "2"), ("b#1", "2")]
    cut = {"id": "q", "expected_output": [{"id": name, "gain": 1, "intent": intent} for name, intent in gold]}
    whole = json.loads(json.dumps(cut).replace("#1", "").replace("#2", ""))
    cut["actual_output"], whole["actual_output"] = ["x#1", "b#7", "a#9", "b#1"], ["x", "b", "a"]
    found = Engine().dataset([cut]).with_metrics("alpha-ndcg(unit=document)@3").run().leading
    assert found.mean == Engine().dataset([whole]).with_metrics("alpha-ndcg@3").run().leading.mean
