"""Cutoffs that no ranking of a run reaches: said on every road, once for all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from rankgauge import Engine, Result, evaluate
from rankgauge.scale import ShardedRun, ShardedSamples

QRELS = {"q1": {"d0": 1}, "q2": {"d1": 1, "d9": 1}}
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


def of_files(folder: Path, qrels: Mapping[str, Mapping[str, int]], metrics: list[str]) -> Result:
    """Evaluate the run from files."""
    lines = [f"{name} Q0 {item} 0 {score} t\n" for name, items in RUN.items() for item, score in items.items()]
    folder.joinpath("run").write_text("".join(lines), encoding="utf-8")
    lines = [f"{name} 0 {item} {grade}\n" for name, items in qrels.items() for item, grade in items.items()]
    folder.joinpath("qrels").write_text("".join(lines), encoding="utf-8")
    return evaluate(folder / "qrels", folder / "run", metrics)


def test_a_file_of_a_run_says_the_same(tmp_path: Path) -> None:
    assert of_files(tmp_path, QRELS, METRICS).notes == (SAID,)


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


# d9 earns nothing, so all that does was found
ALL_FOUND = {"q1": {"d0": 1, "d9": 0}, "q2": {"d1": 2}}
JUDGED_SAID = "no ranking reaches the cutoff of judged@6: the longest has 5 results"


def graded(qrels: Mapping[str, Mapping[str, int]]) -> list[dict[str, object]]:
    return [{**each, "expected_output": {"relevant": qrels[str(each["id"])]}} for each in SAMPLES]


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        (ALL_FOUND, ()),
        (
            {**ALL_FOUND, "q2": {"d1": 2, "d7": 1}},
            ("no ranking reaches the cutoffs of recall@6, ndcg@6, p@10: the longest has 5 results",),
        ),
    ],
)
def test_longer_lists_do_not_matter_where_all_is_found(
    qrels: dict[str, dict[str, int]], said: tuple[str, ...], tmp_path: Path
) -> None:
    metrics = ["recall@6", "ndcg@6", "P@10"]
    many = {name: {item: np.float32(score) for item, score in items.items()} for name, items in RUN.items()}
    assert evaluate(qrels, RUN, metrics).notes == evaluate(qrels, many, metrics).notes == said
    assert of_files(tmp_path, qrels, metrics).notes == said
    samples = graded(qrels)
    tmp_path.joinpath("samples.jsonl").write_text("".join(map("{}\n".format, map(json.dumps, samples))), "utf-8")
    for data in (samples, tmp_path / "samples.jsonl"):
        evaluation = Engine().dataset(data).with_metrics(metrics)
        assert evaluation.run().notes == evaluation.run(batch_size=1).notes == evaluation.check().notes == said
    assert evaluation.run(workers=2).notes == said
    of_samples = ShardedSamples(Engine().dataset([]).with_metrics(metrics))
    assert of_samples.merge([of_samples.shard([sample]) for sample in samples]).notes == said
    of_runs = ShardedRun.plan(metrics)
    shards = [of_runs.shard({name: qrels[name]}, {name: RUN[name]}) for name in RUN]
    assert of_runs.merge(shards).notes == said


def test_a_metric_that_sees_what_earns_nothing_could_change_in_any_case() -> None:
    assert evaluate(ALL_FOUND, RUN, ["recall@6", "judged@6"]).notes == (JUDGED_SAID,)
    assert Engine().dataset(graded(ALL_FOUND)).with_metrics(["recall@6", "judged@6"]).run().notes == (JUDGED_SAID,)


def test_what_a_missing_query_lacks_is_said_of_it_alone() -> None:
    qrels = {**ALL_FOUND, "q3": {"d0": 1}}
    for policy in ({}, {"ties": "average"}):
        (note,) = evaluate(qrels, RUN, "recall@6", policy=policy).notes
        assert "1 of 3 judged queries without results" in note
    result = Engine().dataset([*graded(ALL_FOUND), {"id": "q3", "expected_output": ["d0"], "actual_output": None}])
    assert not any("cutoff" in note for note in result.with_metrics("recall@6").run().notes)


def test_passages_that_are_all_found_together_and_what_is_forbidden() -> None:
    text = "The small oven in Hamburg costs twelve euros a day and is rented by the week only."
    halves = [{"text": text[:40]}, {"text": text[40:]}]
    samples = [
        {
            "id": name,
            "expected_output": {"passages": [text], "forbidden": [{"text": "a draft that nobody retrieved"}]},
            "actual_output": {"retrieved": halves[: 1 + number]},
        }
        for number, name in enumerate("ab")
    ]
    (note,) = Engine().dataset(samples).with_metrics(["recall@3", "forbidden_count@3"]).run().notes
    assert note == "no ranking reaches the cutoff of forbidden_count@3: the longest has 2 results"
