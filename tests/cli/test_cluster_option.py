"""`--cluster` of `run`, `rescore`, `trec` and `power`: whose errors are those of clusters, and where it says so."""

from __future__ import annotations

import json

import pytest

from draws import in_thorough_suite

HITS = [1, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0]
ERROR = (4 / 3 * (2 * 1.5**2 + 2 * 0.5**2)) ** 0.5 / 12
"""Of four clusters of three, whose sums of deviations from the mean of 1 / 2 are 1.5, -1.5, 0.5 and -0.5."""


def samples(hits=HITS):
    return [
        {
            "id": f"q{number}",
            "expected_output": ["a"],
            "actual_output": ["a" if hit else "b"],
            "metadata": {"document": f"d{number // 3}"},
        }
        for number, hit in enumerate(hits)
    ]


@pytest.fixture
def data(write):
    write("samples.jsonl", samples())
    write("clusters.txt", "".join(f"q{n} {n // 3}\n" for n in range(12)))


@pytest.mark.parametrize("cluster", ["document", "clusters.txt"])
def test_run_says_by_which_clusters(rankgauge, data, cluster, tmp_path):
    files = ["--html", "report.html", "-o", "kept", "--gate", "hit@1 >= 0.1", "--junit", "gates.xml"]
    files += ["--markdown", "pr.md"]
    done = rankgauge("run", "--data", "samples.jsonl", "-m", "hit@1", "--cluster", cluster, *files)
    assert done.code == 0
    sentence = "standard errors and intervals are those of 4 clusters by "
    assert sentence in done.out
    assert (
        "se: standard error of the mean, by clusters"
        in rankgauge("run", "--data", "samples.jsonl", "-m", "hit@1", "--cluster", cluster, "--all-columns").out
    )
    for name in ("report.html", "gates.xml", "pr.md", "kept/report.md"):
        assert sentence in (tmp_path / name).read_text("utf-8")
    summary = json.loads((tmp_path / "kept" / "summary.json").read_text("utf-8"))
    assert summary["cluster"]["n"] == 4
    assert summary["metrics"]["hit@1"]["standard_error"] == pytest.approx(ERROR, rel=1e-12)


def test_a_config_says_it_too_and_rescore_takes_the_option(rankgauge, data, write):
    config = "version: 1\ndatasets: {d: {path: samples.jsonl}}\nmetrics: {use: [hit@1]}\ncluster: document\n"
    write("rankgauge.yaml", config)
    assert "4 clusters by document" in rankgauge("run", "rankgauge.yaml", "-o", "kept").out
    again = rankgauge("rescore", "kept", "-m", "rr", "--cluster", "document", "-o", "again")
    assert "4 clusters by document" in again.out


def test_an_unknown_field_is_refused_before_anything_is_scored(rankgauge, data):
    done = rankgauge("run", "--data", "samples.jsonl", "-m", "hit@1", "--cluster", "page")
    assert (done.code, done.out) == (2, "")
    assert "no sample has this field" in done.err


@in_thorough_suite()
def test_power_plans_with_clusters(rankgauge, data, write):
    write("samples.jsonl", samples([1, 1, 0, 0, 1, 0] * 10))
    rankgauge("run", "--data", "samples.jsonl", "-m", "hit@1", "-o", "pilot")
    done = rankgauge("power", "pilot", "--cluster", "document", "--json")
    assert json.loads(done.out)["metrics"]["hit@1"]["clusters"] == 20


def test_trec_takes_a_file(rankgauge, write):
    write("qrels.txt", "".join(f"q{n} 0 a 1\n" for n in range(12)))
    write("a.run", "".join(f"q{n} Q0 {'a' if hit else 'b'} 1 1 t\n" for n, hit in enumerate(HITS)))
    write("clusters.txt", "".join(f"q{n} {n // 3}\n" for n in range(12)))
    done = rankgauge("trec", "qrels.txt", "a.run", "-m", "hit@1", "--cluster", "clusters.txt", "--json")
    (metric,) = json.loads(done.out)["metrics"].values()
    assert metric["standard_error"] == pytest.approx(ERROR, rel=1e-12)
