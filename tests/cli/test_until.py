"""`run --until` as its user sees it: exit codes, every report, config, and what is refused."""

from __future__ import annotations

import json

import pytest

from draws import in_thorough_suite

SYSTEM = """
def good(given):
    return ["a"] if given % 5 else ["b"]

def bad(given):
    return ["b"] if given % 5 else ["a"]
"""
CONFIG = """\
version: 1
datasets: {mine: {path: samples.jsonl}}
metrics: {use: [rr]}
until:
  - hit@1 >= 0.5
"""


@pytest.fixture
def run(rankgauge, write, monkeypatch):
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    write("samples.jsonl", [{"id": f"q{number}", "input": number, "expected_output": ["a"]} for number in range(200)])
    write("answers.py", SYSTEM)
    write("rankgauge.yaml", CONFIG)

    def start(*arguments, system="good"):
        sut = ["--sut", f"answers.py:{system}", "--concurrency", "1"] if system else []
        data = [] if "rankgauge.yaml" in arguments else ["--data", "samples.jsonl"]
        return rankgauge("run", *arguments, *data, *sut)

    return start


@pytest.mark.parametrize(("system", "code", "says"), [("good", 0, "meets"), ("bad", 1, "is below")])
def test_a_decision_has_the_exit_code_of_a_gate_and_stands_in_every_report(run, tmp_path, system, code, says):
    files = ["--junit", "gates.xml", "--markdown", "gates.md", "--html", "report.html", "-o", "kept"]
    done = run("--until", "hit@1 >= 0.5", *files, "--force", system=system)
    assert done.code == code
    sentence = f"hit@1: the mean of all 200 samples {says} the minimum 0.5, decided after "
    assert sentence in done.out
    assert "saved by stopping early" in done.out
    assert "partial" in done.err
    for name in ("gates.md", "report.html", "gates.xml"):
        text = (tmp_path / name).read_text("utf-8")
        assert "partial" in text
        assert "which saved" in text
    assert sentence in (tmp_path / "gates.md").read_text("utf-8")
    report = json.loads((tmp_path / "kept" / "summary.json").read_text("utf-8"))
    assert report["until"]["saved"] == 200 - report["samples"]
    printed = json.loads(run("--until", "hit@1 >= 0.5", "--json", system=system).out)
    assert printed["gates"][0]["decision"]["verdict"] == ("pass" if code == 0 else "fail")
    assert printed["gates"][0]["decision"]["of"] == 200


def test_a_config_has_gates_that_end_a_run_and_judges_them_as_others_where_nothing_is_called(run):
    assert "decided after" in run("rankgauge.yaml").out
    without = run("rankgauge.yaml", system="")
    assert "0.0000 is below the minimum 0.5 (mean of n=200, 200 missing)" in without.out


@in_thorough_suite()
def test_a_stopped_run_goes_on_is_rescored_as_it_is_and_enters_no_history(run, rankgauge, tmp_path):
    first = run("--until", "hit@1 >= 0.5", "-o", "kept", "--history", "history", "--save-baseline", "base.json")
    assert first.code == 0
    assert "was not added to history. The run stopped early" in first.err
    assert "the baseline base.json was not saved" in first.err
    assert not (tmp_path / "base.json").exists()
    again = rankgauge("rescore", "kept", "-m", "rr", "--json", "-o", "rescored")
    called = json.loads(again.out)["samples"]
    assert (again.code, json.loads(again.out)["metrics"]["rr"]["n_missing"]) == (0, 0)
    harder = json.loads(run("--until", "hit@1 >= 0.75", "--resume", "kept", "--json").out)
    assert called < harder["samples"]
    assert harder["samples"] == harder["outputs"]["calls"]["n"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--until", "dcg@5 >= 1"], "'dcg@5 >= 1' cannot end a run: 'dcg@5' has no highest value"),
        (["--until", "hit@1"], "--until: 'hit@1' is not a gate"),
        (["--until", "hit@1 >= 0.5 where tags=x"], "no sample has the tag 'x'"),
        (["--until", "hit@1 >= 0.5", "--seed", "-1"], "--seed"),
    ],
)
def test_what_cannot_end_a_run_is_refused(run, arguments, says):
    done = run(*arguments)
    assert done.code == 2
    assert says in done.err


def test_until_needs_a_system(run):
    done = run("--until", "hit@1 >= 0.5", system="")
    assert (done.code, "--until is for calls of a system under test" in done.err) == (2, True)
