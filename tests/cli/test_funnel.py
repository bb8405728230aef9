"""``rankgauge funnel`` and ``run --stage``: of a result folder and of runs."""

from __future__ import annotations

import json

import pytest

from rankgauge.cli import call

STAGES = {"dense": ["a", "x", "b"], "rerank": ["x", "a"]}
QRELS = "q1 0 a 1\nq1 0 b 1\nq2 0 c 1\n"


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    told = [{"name": name, "retrieved": items} for name, items in STAGES.items()]
    sample = {"id": "q1", "expected_output": ["a", "b"], "actual_output": {"stages": told}}
    tmp_path.joinpath("data.jsonl").write_text(json.dumps(sample), encoding="utf-8")
    assert call(["run", "--data", "data.jsonl", "-m", "recall@2", "-o", "out"]) == 0
    for name, items in STAGES.items():
        lines = [f"q1 Q0 {item} {rank} {-rank} t\n" for rank, item in enumerate(items, 1)]
        tmp_path.joinpath(f"{name}.run").write_text("".join(lines), encoding="utf-8")
    tmp_path.joinpath("qrels").write_text(QRELS, encoding="utf-8")
    capsys.readouterr()
    return tmp_path


def as_json(capsys, *line):
    assert call(["funnel", *line, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_folder_and_its_lost_items(folder, capsys):
    assert call(["funnel", "out"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert " ".join(lines[:2]) == (
        "no stage lowers recall@2; ranked below 2 since dense: 1 of 2 relevant items (50.0%), 1 question"
    )
    assert "q1  b: dense 3, ranked below 2 since dense" in lines


def test_runs_give_the_same_but_for_queries_that_nobody_retrieved(folder, capsys):
    of_folder = as_json(capsys, "out")
    stages = ("--stage", "dense=dense.run", "--stage", "rerank=rerank.run")
    of_runs = as_json(capsys, "--qrels", "qrels", *stages, "-m", "recall@2")
    assert of_folder["fates"] == {"found": 1, "dense": 0, "rerank": 0, "below since dense": 1, "never": 0}
    assert of_runs["fates"] == {"found": 1, "dense": 0, "rerank": 0, "below since dense": 1, "never": 1}
    assert of_runs["samples"] == 2  # a query without results is one that a stage found nothing for
    assert [stage["held"] for stage in of_runs["stages"]] == [stage["held"] for stage in of_folder["stages"]]
    assert [stage["score"]["mean"] for stage in of_runs["stages"]] == [0.25, 0.25]


def test_branches_of_runs(folder, capsys):
    stages = ("--stage", "dense=dense.run", "--stage", "other=rerank.run", "--from", "other=")
    funnel = as_json(capsys, "--qrels", "qrels", *stages, "-m", "recall@2")
    assert [stage["sources"] for stage in funnel["stages"]] == [[], []]
    assert [stage["added"] for stage in funnel["stages"]] == [1, 0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ((), "give a result folder; or, of runs, --qrels, --stage and -m (--qrels is missing)"),
        (("out", "--qrels", "qrels"), "--qrels is for runs"),
        (("out", "-J"), "--judged-only is for runs"),
        (("--qrels", "qrels", "--stage", "dense.run", "-m", "AP"), "--stage takes NAME=RUN, not 'dense.run'"),
        (("--qrels", "qrels", "--stage", "a=x", "--stage", "a=y", "-m", "AP"), "--stage names 'a' twice"),
        (("--qrels", "qrels", "--stage", "a=x", "--from", "b=a", "-m", "AP"), "no --stage is called 'b'"),
        (("--qrels", "qrels", "--stage", "a=x", "--from", "a=a", "-m", "AP"), "'a' is no earlier --stage"),
        (("--qrels", "qrels", "--stage", "a=dense.run", "-m", "official"), "stands for"),
        (("out", "-m", "recal@2"), "recal@2"),
    ],
)
def test_what_cannot_be_followed_is_said(folder, capsys, line, words):
    assert call(["funnel", *line]) == 2
    assert words in capsys.readouterr().err


def test_a_run_scores_stages_that_are_named_or_told(folder, capsys):
    for typed in (["--stage", "dense", "--stage", "rerank"], ["--stages"]):
        assert call(["run", "--data", "data.jsonl", "-m", "recall@2", *typed, "--format", "json"]) == 0
        metrics = json.loads(capsys.readouterr().out)["metrics"]
        assert list(metrics) == ["recall@2", "recall(stage=dense)@2", "recall(stage=rerank)@2"]


def test_stages_are_not_looked_up_in_outputs_that_are_not_there(folder, capsys):
    assert call(["run", "--data", "data.jsonl", "-m", "recall@2", "--stages", "--sut", "a:b"]) == 2
    assert "name them instead" in capsys.readouterr().err


def test_explain_says_where_a_missing_item_was_lost(folder, capsys):
    assert call(["explain", "out", "q1"]) == 0
    assert "b: dense 3, ranked below 2 since dense" in capsys.readouterr().out
