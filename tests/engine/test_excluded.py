"""Documents left out for each query: samples, runs, results that are opened again, and what reports say of them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rankgauge
from draws import in_thorough_suite
from rankgauge import Engine, Policy, Result, evaluate
from rankgauge.errors import PolicyError, ResultError
from rankgauge.exclusions import Excluded
from rankgauge.policy import PROFILES
from rankgauge.scoring.score import UNDEFINED

_QRELS = {"q1": {"a": 1, "z": 2}, "q2": {"c": 1}}
_RUN = {"q1": {"x": 9.0, "z": 8.0, "a": 7.0}, "q2": {"y": 5.0, "c": 4.0}}
_EXCLUDED = {"q1": ["x", "z"]}
_SAMPLES: list[dict[str, Any]] = [
    {"id": query, "expected_output": {"relevant": _QRELS[query]}, "actual_output": list(_RUN[query])} for query in _RUN
]


def _values(result: Result, name: str = "rr") -> list[float]:
    return result[name].values.tolist()


def test_rankings_and_gold_lack_what_is_left_out() -> None:
    # q1 ranks a first once x and z are gone, and a is all there is to find; q2 stays at rank 2
    evaluation = Engine().dataset(_SAMPLES).with_metrics(["rr", "recall@1"]).with_profile(excluded=_EXCLUDED)
    result = evaluation.run()
    assert (_values(result), _values(result, "recall@1")) == ([1.0, 0.5], [1.0, 0.0])
    run = rankgauge.evaluate(_QRELS, _RUN, ["rr", "recall@1"], policy={"excluded": _EXCLUDED})
    assert (_values(run), _values(run, "recall@1")) == ([1.0, 0.5], [1.0, 0.0])
    assert _values(rankgauge.evaluate(_QRELS, _RUN, "rr")) == [0.5, 0.5]


def test_stages_texts_places_and_sets_follow() -> None:
    sample = {
        "id": "q1",
        "expected_output": {
            "sets": [{"all_of": ["a", "x"]}],
            "spans": [{"document": "x", "start": 0, "end": 9}, {"document": "d", "start": 0, "end": 9}],
        },
        "actual_output": {
            "stages": [
                {"name": "first", "retrieved": ["x", "a"]},
                {
                    "name": "last",
                    "retrieved": [
                        {"id": "c1", "document": "x", "start": 0, "end": 9},
                        {"id": "c2", "document": "d", "start": 0, "end": 9},
                        {"id": "a"},
                    ],
                },
            ],
        },
    }
    evaluation = Engine().dataset([sample]).with_metrics(["complete_sets@2", "span_recall@1", "P(stage=first)@2"])
    before = evaluation.run()
    after = evaluation.with_profile(excluded={"q1": ["x"]}).run()
    # before: x is missing from the set; one of two spans; both of the stage are relevant
    assert [_values(before, name)[0] for name in before.metrics] == [0.0, 0.5, 1.0]
    assert [_values(after, name)[0] for name in after.metrics] == [1.0, 1.0, 0.5]


def test_units_are_left_out_as_documents() -> None:
    run = {"q1": {"x#1": 9.0, "a#2": 8.0}}
    qrels = {"q1": {"a": 1, "x": 1}}
    scores = rankgauge.evaluate(
        qrels, run, ["rr(unit=document)", "recall(unit=document)@5"], policy={"excluded": {"q1": ["x"]}}
    )
    assert [_values(scores, name) for name in scores.metrics] == [[1.0], [1.0]]


def test_a_file_is_in_the_fingerprint_and_what_it_leaves_out_is_not_its_place(tmp_path: Path) -> None:
    for name, content in {"a.json": '{"q1": ["z", "x"]}', "b.txt": "q1 x\nq1 z\n"}.items():
        (tmp_path / name).write_text(content)
    plain, given, one, other = (
        rankgauge.evaluate(_QRELS, _RUN, "rr", policy=policy)["rr"].info.fingerprint
        for policy in (None, {"excluded": _EXCLUDED}, *({"excluded": tmp_path / name} for name in ("a.json", "b.txt")))
    )
    assert given == one == other != plain


def test_a_changed_file_is_read_again_and_no_plan_of_before(tmp_path: Path) -> None:
    path = tmp_path / "e.txt"
    found = []
    for content in ("q1 x\n", "q1 x\nq1 z\n"):
        path.write_text(content)
        found.append(_values(rankgauge.evaluate(_QRELS, _RUN, "ndcg@1", policy={"excluded": str(path)}), "ndcg@1")[0])
    assert found == [1.0, 1.0]
    path.write_text("q1 z\n")
    assert _values(rankgauge.evaluate(_QRELS, _RUN, "ndcg@1", policy={"excluded": str(path)}), "ndcg@1")[0] == 0.0


@pytest.mark.parametrize("is_run", [False, True])
def test_a_saved_result_is_opened_with_the_file_unless_that_has_changed(is_run: bool, tmp_path: Path) -> None:
    path = tmp_path / "e.txt"
    path.write_text("q1 x\nq1 z\n")
    if is_run:
        for name, content in {"qrels.json": _QRELS, "run.json": _RUN}.items():
            (tmp_path / name).write_text(json.dumps(content))
        result = rankgauge.evaluate(tmp_path / "qrels.json", tmp_path / "run.json", "rr", policy={"excluded": path})
    else:
        (tmp_path / "s.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in _SAMPLES))
        result = Engine().dataset(tmp_path / "s.jsonl").with_metrics("rr").with_profile(excluded=path).run()
    result.save(tmp_path / "out")
    again = Result.load(tmp_path / "out")
    assert again.manifest["policy"]["excluded"]["path"] == str(path.resolve())
    shown = again.explain("q1", "rr")
    assert shown.score == 1.0
    path.write_text("q1 x\n")
    with pytest.raises(ResultError, match=r"documents to leave out .* is not what the result was computed from"):
        Result.load(tmp_path / "out").explain("q1", "rr")


def test_a_folder_with_its_data_has_the_file_too(tmp_path: Path) -> None:
    path = tmp_path / "e.txt"
    path.write_text("q1 x\nq1 z\n")
    Engine().dataset(_SAMPLES).with_metrics("rr").with_profile(excluded=path).run().save(
        tmp_path / "out", keep_data=True
    )
    path.unlink()
    assert Result.load(tmp_path / "out").explain("q1", "rr").score == 1.0


def test_a_result_from_memory_says_the_documents_itself(tmp_path: Path) -> None:
    evaluation = Engine().dataset(_SAMPLES).with_metrics("rr").with_profile(excluded=_EXCLUDED)
    evaluation.run().save(tmp_path / "out", keep_data=True)
    assert Result.load(tmp_path / "out").explain("q1", "rr").score == 1.0
    sent = pickle.loads(pickle.dumps(evaluation))  # noqa: S301  # made here
    assert _values(sent.run()) == [1.0, 0.5]


def test_a_config_names_the_file_by_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "e.txt").write_text("q1 x\nq1 z\n")
    (tmp_path / "in" / "s.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in _SAMPLES))
    (tmp_path / "in" / "c.yaml").write_text(
        "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [rr]}\npolicy: {excluded: e.txt}\n"
    )
    assert _values(Engine.from_config(tmp_path / "in" / "c.yaml").dataset("d").run()) == [1.0, 0.5]


def test_each_dataset_of_a_config_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in _SAMPLES))
    (tmp_path / "e.txt").write_text("q2 y\n")
    (tmp_path / "c.yaml").write_text(
        "version: 1\n"
        "datasets:\n"
        "  own: {path: s.jsonl, excluded: e.txt}\n"
        "  given: {path: s.jsonl, excluded: {q1: [x]}}\n"
        "  all: {path: s.jsonl}\n"
        "metrics: {use: [rr]}\n"
        "policy: {excluded: {q1: [x, z]}}\n"
    )
    engine = Engine.from_config(tmp_path / "c.yaml")
    assert _values(engine.dataset("own").run()) == [0.5, 1.0]
    assert _values(engine.dataset("given").run()) == [1.0, 0.5]
    engine.dataset("own").run().save(tmp_path / "out")
    assert Result.load(tmp_path / "out").explain("q2", "rr").score == 1.0
    assert _values(engine.dataset("all").run(), "rr") == [1.0, 0.5]


@pytest.mark.parametrize("value", ["q1", 3, ["x"], {"q1": "x"}, {"q1": [1]}, {1: ["x"]}])
def test_what_is_no_list_by_query_is_refused(value: Any) -> None:
    with pytest.raises(PolicyError, match="'excluded' is documents by query"):
        Policy(excluded=value)


def test_queries_that_are_not_there_are_said() -> None:
    result = rankgauge.evaluate(_QRELS, _RUN, "rr", policy={"excluded": {"9": ["x"]}})
    assert any("leaves out nothing" in note and "`9`" in note and "`q1`" in note for note in result.notes)
    assert not rankgauge.evaluate(_QRELS, _RUN, "rr", policy={"excluded": _EXCLUDED}).notes


def test_documents_that_no_ranking_has_are_said(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 z 2\nq2 0 c 1\n", encoding="utf-8")
    lines = "".join(f"{query} Q0 {name} 1 {score} t\n" for query, own in _RUN.items() for name, score in own.items())
    (tmp_path / "run").write_text(lines, encoding="utf-8")

    def notes(excluded: dict[str, list[str]]) -> list[list[str]]:
        evaluation = Engine().dataset(_SAMPLES).with_metrics("rr").with_profile(excluded=excluded)
        return [
            [note.partition("; ")[2] for note in result.notes if "no ranking has a document of policy excluded" in note]
            for result in (
                evaluation.run(),
                evaluate(_QRELS, _RUN, "rr", policy={"excluded": excluded}),
                evaluate(tmp_path / "qrels", tmp_path / "run", "rr", policy={"excluded": excluded}),
            )
        ]

    said = "do both use the same ids? Its look like `x.txt`, retrieved ones like `x`"
    assert notes({"q1": ["x.txt", "z.txt"]}) == [[said]] * 3
    assert notes({"q1": ["x.txt"], "q2": ["x"]}) == [[]] * 3  # the ids are alike, though q2 lacks it
    assert notes({"9": ["x.txt"]}) == [[]] * 3  # of which it is said that no query is evaluated


@in_thorough_suite()
def test_documents_that_no_ranking_has_are_said_of_stages_rolled_ids_and_workers(tmp_path: Path) -> None:
    staged = {"stages": [{"name": "first", "retrieved": ["x"]}, {"name": "last", "retrieved": ["a"]}]}
    of_stages = [{"id": q, "expected_output": ["a"], "actual_output": staged} for q in ("q1", "q2")]
    rolled = [{"id": q, "expected_output": ["a"], "actual_output": ["a#1"]} for q in ("q1", "q2")]
    many = tmp_path / "many.jsonl"
    rows = [{"id": f"q{n}", "expected_output": ["a"], "actual_output": ["b", "a"]} for n in range(40)]
    many.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def said(data: Any, excluded: str, metric: str = "rr", **options: Any) -> bool:
        evaluation = Engine().dataset(data).with_metrics(metric).with_profile(excluded={"q1": [excluded]})
        return any("no ranking has a document" in note for note in evaluation.run(**options).notes)

    assert [said(of_stages, name) for name in ("x", "X")] == [False, True]
    assert [said(rolled, name, 'rr(unit="^(.+?)#")') for name in ("a", "X")] == [
        False,
        False,
    ]  # it may be named by unit
    assert [said(many, name, workers=2) for name in ("b", "X")] == [False, True]


def test_two_that_leave_out_the_same_have_one_fingerprint() -> None:
    given, of_file = Excluded({"a": ["x", "y"], "b": []}), Excluded({"a": ["y", "x", "x"]}, "file.txt")
    assert given.fingerprint == of_file.fingerprint
    assert given.fingerprint != Excluded({"b": ["x", "y"]}).fingerprint
    assert given != of_file  # which a plan that is kept would name


def test_a_query_that_has_no_judgment_left_is_undefined_on_every_road_though_it_has_no_ranking(tmp_path: Path) -> None:
    """In samples it had no ground truth; in runs it was missing, and counted as 0 in judged@2."""
    qrels, run = {"q": {"a": -1}, "r": {"b": 4}}, {"r": {"b": 1.0}}
    (tmp_path / "qrels").write_text("q 0 a -1\nr 0 b 4\n", encoding="utf-8")
    (tmp_path / "run").write_text("r Q0 b 1 1.0 t\n", encoding="utf-8")
    usual = PROFILES["default"]
    profile = replace(usual, policy=replace(usual.policy, excluded=Excluded.of({"q": ["a"]})))
    samples = [
        {"id": "q", "expected_output": {"relevant": qrels["q"]}},
        {"id": "r", "expected_output": {"relevant": qrels["r"]}, "actual_output": ["b"]},
    ]
    results = [
        evaluate(qrels, run, ["judged@2"], profile=profile),
        evaluate(tmp_path / "qrels", tmp_path / "run", ["judged@2"], profile=profile),
        Engine().dataset(samples).with_profile(profile).with_metrics(["judged@2"]).run(),
    ]
    for result in results:
        assert (result["judged@2"].mean, result["judged@2"].codes[result.sample_ids.index("q")]) == (1.0, UNDEFINED)
