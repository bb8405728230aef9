"""The mean over datasets behind the tables and reports of `run` and of `trec --also`."""

import json

import pytest

CONFIG = """\
version: 1
datasets:
  one: {path: one.jsonl}
  two: {path: two.jsonl}
metrics: {use: [hit@1]}
"""


def _samples(hits):
    return [
        {"id": f"q{number}", "expected_output": ["a"], "actual_output": ["a" if hit else "b"]}
        for number, hit in enumerate(hits)
    ]


@pytest.fixture
def config(write):
    write("one.jsonl", _samples([1, 0]))
    write("two.jsonl", _samples([1, 1, 1, 0, 0, 0]))
    write("rankgauge.yaml", CONFIG)


@pytest.fixture
def runs(write):
    write("one.qrels", "1 0 a 1\n2 0 b 1\n")
    write("one.run", "1 Q0 a 1 9 t\n2 Q0 x 1 9 t\n")
    write("two.qrels", "1 0 a 1\n2 0 b 1\n3 0 c 1\n")
    write("two.run", "1 Q0 a 1 9 t\n2 Q0 b 1 9 t\n3 Q0 c 1 9 t\n")


def test_run_prints_it_behind_the_tables(rankgauge, config):
    done = rankgauge("run", "rankgauge.yaml")
    table = done.out.partition("mean over 2 datasets, each of which counts the same")[2]
    # variances over n: 1/2 / 2 and 3/10 / 6; the root of their sum, over 2
    assert ["hit@1", "0.5000", "0.2739"] in [line.split() for line in table.splitlines()]
    assert "mean over" not in rankgauge("run", "rankgauge.yaml", "--dataset", "one").out


def test_json_has_it_in_each_report_and_markdown_too(rankgauge, config):
    reports = json.loads(rankgauge("run", "rankgauge.yaml", "--json").out)
    assert [report["dataset"]["name"] for report in reports] == ["one", "two"]
    over = reports[0]["over_datasets"]
    assert over == reports[1]["over_datasets"]
    assert over["datasets"] == ["one", "two"]
    found = over["metrics"]["hit@1"]
    assert (found["mean"], found["datasets"]) == (0.5, {"one": 0.5, "two": 0.5})
    assert found["standard_error"] == pytest.approx((1 / 4 + 1 / 20) ** 0.5 / 2, rel=1e-12)
    assert "| hit@1 | 0.5000 | 0.2739 |" in rankgauge("run", "rankgauge.yaml", "-f", "markdown").out


def test_trec_adds_datasets(rankgauge, runs):
    done = rankgauge("trec", "one.qrels", "one.run", "-m", "P@1", "--also", "two.qrels,two.run")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert ["metric", "one.run", "two.run"] in rows
    assert ["P@1", "0.5000", "1.0000"] in rows
    assert ["P@1", "0.7500", "0.2500"] in rows  # standard errors 1/2 and 0, so 1/4
    reports = json.loads(
        rankgauge("trec", "one.qrels", "one.run", "-m", "P@1", "--also", "two.qrels,two.run", "--json").out
    )
    over = reports[1]["over_datasets"]
    assert [report["run"] for report in reports] == ["one.run", "two.run"]
    assert over["metrics"].keys() == reports[0]["metrics"].keys()
    assert [found["mean"] for found in over["metrics"].values()] == [0.75]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["one.qrels", "one.run", "two.run", "--also", "two.qrels,two.run"], "one run each, and 2 runs are given"),
        (["one.qrels", "one.run", "--also", "two.qrels"], "judgments and a run with a comma between them"),
        (["one.qrels", "one.run", "--also", "two.qrels,two.run", "-f", "trec"], "leave --also out"),
        (["one.qrels", "one.run", "--also", "two.qrels,one.run"], "one.run is given twice"),
    ],
)
def test_what_does_not_go_together_is_refused(rankgauge, runs, arguments, problem):
    done = rankgauge("trec", *arguments)
    assert done.code == 2
    assert problem in done.err
