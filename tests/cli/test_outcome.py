"""What becomes of results: saved before they are printed, in folders that stay where they belong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from rankgauge import Engine, Result

SAMPLES = [
    {
        "id": "q1",
        "expected_output": {"relevant": ["a"], "answer": "x-y"},
        "actual_output": {"retrieved": ["a"], "answer": "XY"},
    },
    {
        "id": "q2",
        "expected_output": {"relevant": ["b"], "answer": "z"},
        "actual_output": {"retrieved": ["a"], "answer": "z"},
    },
]


class Gone:
    """A stdout whose reader has gone."""

    encoding = "utf-8"

    def write(self, _text):
        raise BrokenPipeError

    def flush(self):
        raise BrokenPipeError

    def isatty(self):
        return False

    def fileno(self):
        return sys.__stdout__.fileno()


def test_a_result_is_saved_even_when_nobody_reads_what_is_printed(rankgauge, write, monkeypatch):
    data = write("s.jsonl", SAMPLES)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Gone())
        patched.setattr("os.dup2", lambda *_: None)
        rankgauge("run", "--data", data, "-m", "hit@1", "-o", "kept")
    assert Result.load("kept")["hit@1"].mean == 0.5


def test_what_a_system_prints_does_not_reach_the_result(rankgauge, write):
    write("talking_sut.py", "print('imported')\n\ndef sut(given):\n    print('called')\n    return ['a']\n")
    done = rankgauge("run", "--data", write("s.jsonl", SAMPLES), "-m", "hit@1", "--sut", "talking_sut:sut", "--json")
    assert json.loads(done.out)["metrics"]["hit@1"]["mean"] == 0.5
    assert "imported" in done.err
    assert "called" in done.err


def test_a_system_that_exits_on_import_is_a_usage_error(rankgauge, write):
    write("exiting_sut.py", "import sys\nsys.exit(0)\n")
    done = rankgauge("run", "--data", write("s.jsonl", SAMPLES), "-m", "hit@1", "--sut", "exiting_sut:sut", "--json")
    assert (done.code, done.out) == (2, "")
    assert "SystemExit" in done.err


def test_results_before_a_dataset_that_fails_are_kept(rankgauge, write):
    write("one.jsonl", SAMPLES)
    text = "version: 1\ndatasets: {one: {path: one.jsonl}, two: {path: gone.jsonl}}\nmetrics: {use: [hit@1]}\n"
    done = rankgauge("run", write("c.yaml", text), "-o", "out")
    assert done.code == 2
    assert "gone.jsonl" in done.err
    assert "hit@1" in done.out
    assert Result.load("out/one")["hit@1"].n == 2


def test_a_dataset_name_never_leads_out_of_the_folder(rankgauge, write):
    write("s.jsonl", SAMPLES)
    text = 'version: 1\ndatasets: {"../out": {path: s.jsonl}, "a/b": {path: s.jsonl}}\nmetrics: {use: [hit@1]}\n'
    assert rankgauge("run", write("c.yaml", text), "-o", "here").code == 0
    assert sorted(path.name.rpartition("-")[0] for path in Path("here").iterdir()) == ["a-b", "out"]
    assert not Path("out").exists()


def test_the_resolved_config_of_a_result_runs_again_from_anywhere(rankgauge, write, tmp_path, monkeypatch):
    write("s.jsonl", SAMPLES)
    text = (
        "version: 1\ndatasets: {mine: {path: s.jsonl}}\nmetrics:\n  retrieval: {default_k: 1}\n"
        "  use: [retrieval-hit-at-k, EM(matcher=loose)]\n"
        "matchers: {loose: 'strip-punctuation | casefold > equal >= 1'}\npolicy: {no_gold: zero}\n"
    )
    assert rankgauge("run", write("c.yaml", text), "-o", "first").code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    resolved = Path("first/config.resolved.yaml").resolve()
    monkeypatch.chdir(elsewhere)
    again = Engine.from_config(resolved).dataset("mine").run()
    assert yaml.safe_load(resolved.read_text(encoding="utf-8"))["policy"]["no_gold"] == "zero"
    assert [column.mean for column in again.metrics.values()] == [0.5, 1.0]


def test_a_policy_option_can_be_typed(rankgauge, write):
    scored = [
        {"id": "q", "expected_output": ["b"], "actual_output": [{"id": "a", "score": 1}, {"id": "b", "score": 2}]}
    ]
    data = write("s.jsonl", scored)
    done = rankgauge("run", "--data", data, "-m", "hit@1", "--policy", "order=score", "--json")
    assert done.json["metrics"]["hit@1"]["mean"] == 1.0
    assert rankgauge("run", "--data", data, "-m", "hit@1", "--policy", "order").code == 2
    assert "did you mean 'order'" in rankgauge("run", "--data", data, "-m", "hit@1", "--policy", "ordr=score").err


def test_validate_tells_everything_that_is_wrong_at_once(rankgauge, write):
    write("bad.jsonl", '{"id": "q"}\n')
    text = (
        "version: 1\ndatasets: {one: {path: bad.jsonl}, two: {path: gone.jsonl}}\nmetrics:\n  use: [ndgc@1]\n"
        "  sets: {strict: [rcall@2]}\nmatchers:\n  first: 'nonorm > equal'\n  second: 'casefold > nocomp'\n"
    )
    done = rankgauge("validate", write("c.yaml", text))
    assert done.code == 2
    for part in ("c.yaml:4", "ndgc", "rcall", "c.yaml:7", "nonorm", "c.yaml:8", "nocomp", "bad.jsonl:1", "gone.jsonl"):
        assert part in done.err
