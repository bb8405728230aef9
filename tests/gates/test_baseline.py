"""Baselines: what is saved comes back, changes little where little changed, and says what is wrong with it."""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import Result, evaluate, load_baseline, save_baseline
from rankgauge.columns import IdSketch
from rankgauge.engine.runs import evaluate_runs, plan_run
from rankgauge.errors import ResultError
from rankgauge.io.open_sources import open_qrels

ROWS: list[dict[str, Any]] = [
    {"id": "q2", "expected_output": ["a"], "actual_output": ["b", "a"], "metadata": {"tags": ["x"]}},
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"tags": ["x", "y"]}},
    {"id": "q3", "expected_output": ["a"]},
    {"id": "q4", "expected_output": [], "actual_output": ["a"]},
]


@pytest.fixture
def result(engine) -> Result:
    return engine.dataset(ROWS).with_metrics(["MRR", "ndcg@10"]).run(sketch_ids=True)


def test_everything_that_comparing_needs_comes_back(result: Result, tmp_path: Path) -> None:
    path = save_baseline({"mine": result}, tmp_path / "deep/main.json")
    (loaded,) = load_baseline(path).values()
    order = [1, 0, 2, 3]  # by id
    assert loaded.sample_ids == ("q1", "q2", "q3", "q4")
    assert loaded.tags == tuple(result.tags[place] for place in order)
    for name, column in result.metrics.items():
        np.testing.assert_array_equal(column.values[order], loaded[name].values)
        np.testing.assert_array_equal(column.codes[order], loaded[name].codes)
        assert loaded[name].info.fingerprint == column.info.fingerprint
        assert loaded[name].mean == column.mean
    assert loaded["nDCG@10"].name == "ndcg@10"
    assert loaded.manifest["policy"] == result.manifest["policy"]
    assert loaded.manifest["dataset"]["fingerprint"] == result.manifest["dataset"]["fingerprint"]
    assert loaded.manifest["retrieved_ids"] == result.manifest["retrieved_ids"]
    assert loaded.manifest["baseline"] == str(path)


def test_values_are_the_same_to_the_last_bit(engine, tmp_path: Path) -> None:
    rows = [
        {"id": f"q{n}", "expected_output": [f"d{n % 7}"], "actual_output": [f"d{m}" for m in range(n % 9)]}
        for n in range(50)
    ]
    result = engine.dataset(rows).with_metrics(["ndcg@10", "AP", "rbp"]).run()
    (loaded,) = load_baseline(save_baseline({"": result}, tmp_path / "b.json")).values()
    places = [result.sample_ids.index(name) for name in loaded.sample_ids]
    for name, column in result.metrics.items():
        assert column.values[places].tobytes() == loaded[name].values.tobytes()


def test_a_file_holds_all_datasets_and_nothing_of_this_machine(result: Result, tmp_path: Path) -> None:
    path = save_baseline({"b": result, "a": result.take([0])}, tmp_path / "main.json")
    text = path.read_text(encoding="utf-8")
    assert list(json.loads(text)["datasets"]) == ["a", "b"]
    assert str(Path(__file__).parent.parent) not in text
    assert ".py" not in text
    assert [len(each) for each in load_baseline(path).values()] == [1, 4]


def test_one_changed_sample_changes_one_line(engine, tmp_path: Path) -> None:
    def lines(name: str, rows: list[dict[str, Any]]) -> list[str]:
        found = engine.dataset(rows).with_metrics(["MRR"]).run(sketch_ids=True)
        return save_baseline({"d": found}, tmp_path / name).read_text(encoding="utf-8").splitlines()

    rows = [
        {"id": f"q{n:03}", "expected_output": [f"d{n}"], "actual_output": [f"d{n + m}" for m in range(10)]}
        for n in range(300)
    ]
    before = lines("before", rows)
    after = lines("after", [*rows[1:], {**rows[0], "actual_output": ["new", "d0"]}])
    changed = [line for line in difflib.ndiff(before, after) if line[:2] in {"- ", "+ "}]
    about = {line[2:].partition(":")[0].strip('"') for line in changed}
    samples = [line[2:] for line in changed if line[2:].startswith('{"id"')]
    first, second = (json.loads(line.removesuffix(",")) for line in samples)
    assert (first.pop("scores"), second.pop("scores")) == ([1.0], [0.5])
    assert first == second
    assert len(changed) <= 10
    assert "manifest" in about  # the data set has another fingerprint
    assert max(map(len, before)) < 2000


def test_a_result_folder_and_a_folder_of_them_are_baselines_too(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "out/one")
    result.save(tmp_path / "out/two")
    assert list(load_baseline(tmp_path / "out/one")) == ["one"]
    found = load_baseline(tmp_path / "out")
    assert list(found) == ["one", "two"]
    assert found["two"]["MRR"].mean == result["MRR"].mean
    assert found["two"].manifest["baseline"] == str(tmp_path / "out/two")


def test_a_baseline_that_is_not_there_names_the_option_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"there is no baseline .*main\.json; .* --save-baseline .*main\.json"):
        load_baseline(tmp_path / "main.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a baseline that can be read"),
        ("{}", "has the schema None"),
        ('{"schema_version": "rankgauge.baseline.v9"}', "this version reads 'rankgauge.baseline.v1'"),
        ('{"schema_version": "rankgauge.baseline.v1"}', "KeyError: 'created_at'"),
        ('{\n<<<<<<< HEAD\n"x"', "conflict markers of a merge; write it again"),
    ],
)
def test_what_is_not_a_baseline_is_said(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ResultError, match=message):
        load_baseline(path)


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("manifest", "policy"), [1]),
        (("manifest", "dataset", "name"), 7),
        (("manifest", "profile"), None),
        (("metrics", 0, "aggregate"), 5),
        (("metrics", 0, "range"), [0, "1"]),
        (("metrics", 0, "k"), [3]),
        (("metrics", 0, "inferred"), "x"),
        (("metrics", 0, "name"), 1),
        (("metrics", 0, "expression"), "ndcg("),
        (("samples", 0, "id"), 1),
        (("samples", 0, "tags"), [1]),
        (("samples", 0, "gold"), "f" * 17),
        (("samples", 0, "scores"), [1e308, 1]),
        (("retrieved_ids", "gold"), "many"),
        (("retrieved_ids", "hashes"), ["P@2"]),
    ],
)
def test_what_no_baseline_holds_is_refused_where_it_is_read(
    result: Result, tmp_path: Path, where: tuple[Any, ...], value: object
) -> None:
    path = save_baseline({"mine": result}, tmp_path / "b.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    part = document["datasets"]["mine"]
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ResultError, match=r"b\.json is not a baseline that can be read"):
        load_baseline(path)


def test_a_pipe_is_no_baseline(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "b.json")
    with pytest.raises(ResultError, match=r"cannot read the baseline .*b\.json: this is a pipe"):
        load_baseline(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ({"id": "q1", "scores": [1]}, "a score for each of 2"),
        ({"id": "q1", "scores": [1, "x"]}, "could not convert"),
        ({"id": "q1", "scores": [1, 1], "status": ["scored", "lost"]}, "'lost'"),
        ({"id": "q2", "scores": [1, 1]}, "a sample is in it twice"),
        ("q1", "TypeError"),
    ],
)
def test_scores_that_do_not_fit_are_said(result: Result, tmp_path: Path, sample: object, message: str) -> None:
    path = save_baseline({"mine": result}, tmp_path / "b.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["datasets"]["mine"]["samples"][0] = sample
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ResultError, match=message):
        load_baseline(path)


def test_a_folder_without_results_is_said(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="neither a baseline file nor a result folder"):
        load_baseline(tmp_path)


def test_what_cannot_be_saved_leaves_the_old_file(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text("old", encoding="utf-8")
    stopped = Result(result.sample_ids, result.tags, result.metrics, {**result.manifest, "interrupted": True})
    with pytest.raises(ResultError, match="'mine' was interrupted"):
        save_baseline({"mine": stopped}, path)
    with pytest.raises(ResultError, match="no result"):
        save_baseline({}, path)
    unspeakable = Result(["\ud800", *result.sample_ids[1:]], result.tags, result.metrics, result.manifest)
    with pytest.raises(ResultError, match=r"b\.json: .*surrogates not allowed.*; nothing was written"):
        save_baseline({"mine": unspeakable}, path)
    assert path.read_text(encoding="utf-8") == "old"


class TestSketch:
    """Ids are collected where they are known, on every road, if they are asked for."""

    RUN = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"b": 1.0, "c": 0.5}, "unjudged": {"z": 1.0}}  # noqa: RUF012  # never changed
    QRELS = {"q1": {"a": 1, "d": 1}, "q2": {"e": 1}}  # noqa: RUF012  # as above

    @staticmethod
    def of(result: Result) -> IdSketch:
        return IdSketch.from_dict(result.manifest["retrieved_ids"])

    def test_it_is_the_same_for_samples_mappings_and_files(self, engine, tmp_path: Path) -> None:
        """Judged queries retrieve a, b and c; of the relevant a, d and e one is found."""
        plan = plan_run(["ndcg@10"])
        path = tmp_path / "run.txt"
        path.write_text(
            "".join(f"{q} Q0 {d} 0 {s} t\n" for q, docs in self.RUN.items() for d, s in docs.items()), encoding="utf-8"
        )
        runs = {"mapping": self.RUN, "file": str(path)}
        found = evaluate_runs(plan, open_qrels(self.QRELS), runs, sketch_ids=True)
        rows = [
            {"id": name, "expected_output": gold, "actual_output": list(self.RUN[name])}
            for name, gold in self.QRELS.items()
        ]
        by_samples = engine.dataset(rows).with_metrics(["ndcg@10", "recall@5"]).run(sketch_ids=True)
        sketches = {self.of(result) for result in (*found.values(), by_samples)}
        assert len(sketches) == 1
        (sketch,) = sketches
        assert (len(sketch.hashes), sketch.gold, sketch.found) == (3, 3, 1)

    def test_scattered_lines_change_nothing(self, tmp_path: Path) -> None:
        plan = plan_run(["ndcg@10"])
        lines = ["q1 Q0 a 0 3 t\n", "q2 Q0 b 0 1 t\n", "q1 Q0 b 0 2 t\n", "q2 Q0 c 0 .5 t\n"]
        (tmp_path / "scattered").write_text("".join(lines), encoding="utf-8")
        (tmp_path / "together").write_text("".join(sorted(lines)), encoding="utf-8")
        runs = {name: str(tmp_path / name) for name in ("scattered", "together")}
        one, two = evaluate_runs(plan, open_qrels(self.QRELS), runs, sketch_ids=True).values()
        assert self.of(one) == self.of(two)

    def test_nobody_pays_who_does_not_ask(self, engine) -> None:
        assert "retrieved_ids" not in engine.dataset(ROWS).with_metrics(["MRR"]).run().manifest
        assert "retrieved_ids" not in evaluate(self.QRELS, self.RUN, ["ndcg@10"]).manifest

    def test_a_called_system_is_sketched_too(self, engine) -> None:
        evaluation = engine.dataset(ROWS[:2]).with_metrics(["MRR"])
        called = evaluation.run(sut=lambda _: ["b", "a"], sketch_ids=True)
        assert self.of(called) == self.of(evaluation.run(sketch_ids=True))

    def test_parts_merge_to_the_whole(self, engine, result: Result) -> None:
        def of(rows: list[dict[str, Any]], **options: Any) -> Result:
            found: Result = engine.dataset(rows).with_metrics(["MRR", "ndcg@10"]).run(**options)
            return found

        parts = [of(ROWS[:1], sketch_ids=True), of(ROWS[1:], sketch_ids=True)]
        assert self.of(Result.merge(parts)) == self.of(result)
        assert "retrieved_ids" not in Result.merge([of(ROWS[:1]), of(ROWS[1:], sketch_ids=True)]).manifest
