"""Letter grades in judgments that are read as samples, wherever a command takes them."""

from __future__ import annotations

import pytest

from rankgauge import Engine
from rankgauge.errors import DataError, ParameterError

LETTERS = "E=3,S=2,C=1,I=0"


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ratings.csv").write_text("query,docid,rating\nq1,a,E\nq1,b,I\nq2,c,S\n")
    (tmp_path / "outputs.jsonl").write_text(
        '{"id":"q1","actual_output":["b","a"]}\n{"id":"q2","actual_output":["c"]}\n'
    )
    (tmp_path / "run.txt").write_text("q1 Q0 x 1 2.0 t\nq1 Q0 a 2 1.0 t\nq2 Q0 c 1 1.0 t\n")
    (tmp_path / "corpus.jsonl").write_text('{"id":"a","text":"x"}\n')
    return tmp_path


def test_run_scores_by_what_letters_are_worth(ratings, rankgauge):
    typed = ("run", "--data", "ratings.csv", "--outputs", "outputs.jsonl", "-m", "rr", "-m", "num_rel", "--json")
    assert '"mean": 0.75' in rankgauge(*typed, "--letters", LETTERS).out
    refused = rankgauge(*typed)
    assert (refused.code, "said by --letters" in refused.err) == (2, True)


def test_a_config_says_it_and_results_are_scored_again(ratings, rankgauge):
    (ratings / "config.yaml").write_text(
        f'version: 1\ndatasets:\n  x: {{path: ratings.csv, outputs: outputs.jsonl, letters: "{LETTERS}"}}\n'
        "metrics: {use: [rr]}\n"
    )
    assert rankgauge("run", "config.yaml", "-o", "result").code == 0
    assert rankgauge("rescore", "result").code == 0


@pytest.mark.parametrize(
    "typed",
    [
        ("validate", "ratings.csv", "--outputs", "outputs.jsonl"),
        ("validate", "ratings.csv", "run.txt"),
        ("gold", "check", "--qrels", "ratings.csv", "--corpus", "corpus.jsonl"),
        ("gold", "check", "ratings.csv", "--corpus", "corpus.jsonl"),
        ("judge", "queue", "run.txt", "--qrels", "ratings.csv", "-o", "queue.jsonl"),
    ],
)
def test_every_command_that_reads_judgments_takes_letters(typed, ratings, rankgauge):
    refused = rankgauge(*typed)
    assert (refused.code != 0, "not a finite number" in refused.out + refused.err) == (True, True)
    assert rankgauge(*typed, "--letters", LETTERS).code == 0


def test_letters_in_python(ratings):
    evaluation = Engine().dataset(ratings / "ratings.csv").with_outputs(ratings / "outputs.jsonl").with_metrics("rr")
    assert evaluation.with_reader(letters=LETTERS).run()["rr"].mean == 0.75
    with pytest.raises(DataError, match="--letters"):
        evaluation.run()
    with pytest.raises(ParameterError, match="letters"):
        evaluation.with_reader(letters="E3")
