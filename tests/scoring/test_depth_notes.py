"""Cutoffs that no ranking of a run reaches: said on every road, once for all of them."""

from __future__ import annotations

from rankgauge import Engine, evaluate
from rankgauge.scale import ShardedSamples

QRELS = {"q1": {"d0": 1}, "q2": {"d1": 1}}
DEPTHS = {"q1": 3, "q2": 5}
RUN = {name: {f"d{rank}": -float(rank) for rank in range(depth)} for name, depth in DEPTHS.items()}
SAMPLES = [
    {"id": name, "expected_output": list(QRELS[name]), "actual_output": [f"d{rank}" for rank in range(depth)]}
    for name, depth in DEPTHS.items()
]
METRICS = ["recall@6", "ndcg@5", "P@10", "AP"]
SAID = "no ranking reaches the cutoffs of recall@6, p@10: the longest has 5 results"


def test_a_run_says_which_cutoffs_it_does_not_reach() -> None:
    assert evaluate(QRELS, RUN, METRICS).notes == (SAID,)
    assert evaluate(QRELS, RUN, ["recall@5", "AP"]).notes == ()


def test_a_file_of_a_run_says_the_same(tmp_path) -> None:
    lines = [f"{name} Q0 {item} 0 {score} t\n" for name, items in RUN.items() for item, score in items.items()]
    tmp_path.joinpath("run").write_text("".join(lines), encoding="utf-8")
    tmp_path.joinpath("qrels").write_text("q1 0 d0 1\nq2 0 d1 1\n", encoding="utf-8")
    assert evaluate(tmp_path / "qrels", tmp_path / "run", METRICS).notes == (SAID,)


def test_samples_say_the_same() -> None:
    evaluation = Engine().dataset(SAMPLES).with_metrics(METRICS)
    assert evaluation.run().notes == (SAID,)
    assert evaluation.run(batch_size=1).notes == (SAID,)
    assert (
        Engine().dataset(SAMPLES).with_metrics(["recall@5", "retrieval-recall-at-k"]).run().notes == ()
    )  # 10 by default, unsaid


def test_shards_ask_for_the_longest_of_all() -> None:
    sharded = ShardedSamples(Engine().dataset([]).with_metrics(["recall@5", "recall@6"]))
    result = sharded.merge([sharded.shard([sample]) for sample in SAMPLES])
    assert result.notes == ("no ranking reaches the cutoff of recall@6: the longest has 5 results",)


def test_a_policy_that_cuts_rankings_counts() -> None:
    said = ("no ranking reaches the cutoff of recall@5: the longest has 4 results",)
    assert evaluate(QRELS, RUN, "recall@5", policy={"depth": 4}).notes == said
    assert Engine().dataset(SAMPLES).with_metrics("recall@5").with_profile(depth=4).run().notes == said


def test_rankings_of_nothing_are_another_matter() -> None:
    assert evaluate(QRELS, {"q1": {}, "q2": {}}, "recall@5").notes == evaluate(QRELS, {"q1": {}, "q2": {}}, "AP").notes
