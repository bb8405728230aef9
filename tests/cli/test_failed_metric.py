"""A metric that fails for every sample: everything else is done and saved, and then the command says so with 3."""

import json

import pytest

from rankgauge import Result

BROKEN = """\
from rankgauge.plugin import hookimpl, sample_metric

@sample_metric("broken-metric", short=("broken",))
def broken(ranking):
    \"\"\"Fail for every ranking.\"\"\"
    return ranking.nothing

@hookimpl
def rankgauge_metrics():
    return [broken]
"""


@pytest.fixture(autouse=True)
def _files(tmp_path, installed, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    installed.add("breaks", BROKEN)
    (tmp_path / "qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    for name in ("one", "two"):
        (tmp_path / name).write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\n")
    samples = [
        {"id": "q1", "expected_output": ["a"], "actual_output": ["a"]},
        {"id": "q2", "expected_output": ["b"], "actual_output": ["a", "b"]},
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))


WHY = "error: a metric failed for every sample: "


def test_a_run_is_saved_and_printed_first(rankgauge, tmp_path):
    done = rankgauge("run", "--data", "data.jsonl", "-m", "broken", "-m", "RR", "-o", "out", "--max-failed", "1")
    assert (done.code, WHY in done.err) == (3, True)
    assert "0.7500" in done.out
    assert Result.load(tmp_path / "out")["RR"].mean == 0.75
    again = rankgauge("rescore", "out", "-m", "broken", "-m", "P@1")
    assert (again.code, WHY in again.err) == (3, True)
    assert rankgauge("run", "--data", "data.jsonl", "-m", "RR").code == 0


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "markdown"])
def test_a_trec_run_is_printed_first_in_every_format(rankgauge, form):
    done = rankgauge("trec", "qrels", "one", "-m", "broken", "-m", "RR", "--format", form)
    assert (done.code, WHY in done.err, ("1.0" if form == "jsonl" else "0.75") in done.out) == (3, True, True)


def test_of_several_runs_each_is_named(rankgauge):
    done = rankgauge("trec", "qrels", "one", "two", "-m", "broken", "-m", "RR")
    assert (done.code, [f"{WHY}{run}: metric 'broken'" in done.err for run in ("one", "two")]) == (3, [True, True])


def test_a_comparison_leaves_it_out_and_says_so(rankgauge):
    done = rankgauge("compare", "--qrels", "qrels", "one", "two", "-m", "broken", "-m", "RR")
    assert (done.code, WHY in done.err) == (3, True)
    assert "broken failed for every sample of one of the two" in done.out


def test_a_gate_on_it_cannot_be_judged(rankgauge):
    done = rankgauge("trec", "qrels", "one", "-m", "RR", "--gate", "broken >= 0")
    assert (done.code, "cannot be judged: metric 'broken'" in done.out + done.err) == (3, True)
