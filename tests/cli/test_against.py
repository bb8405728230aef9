"""`rankgauge trec --against`: tables, JSON, queries, and what is refused."""

from __future__ import annotations

import json

import pytest

RUN = "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq1 Q0 c 3 1 t\nq2 Q0 a 1 1 t\nq3 Q0 a 1 1 t\n"
OTHER = "q1 Q0 b 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 d 3 1 t\nq2 Q0 a 1 1 t\nq4 Q0 a 1 1 t\n"


@pytest.fixture
def files(write):
    return write("a.run", RUN), write("b.run", OTHER)


def table(text):
    return {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}


def test_a_table_of_means(rankgauge, files):
    done = rankgauge("trec", files[0], "--against", files[1], "-m", "overlap@2", "-m", "jaccard", "-m", "tau")

    assert done.code == 0
    assert table(done.out) == {
        "measure": ["mean", "std", "lowest", "highest", "n", "undefined"],
        "overlap@2": ["1.0000", "0.0000", "1.0000", "1.0000", "2", "0"],
        "jaccard": ["0.7500", "0.3536", "0.5000", "1.0000", "2", "0"],
        "tau_b": ["-1.0000", "-", "-1.0000", "-1.0000", "1", "1"],
    }
    assert "1 query only in a.run, such as q3; left out" in done.err
    assert f"1 query only in {files[1]}, such as q4; left out" in done.err
    assert "policy: order=score ties=docno" in done.err


def test_every_query_before_the_means(rankgauge, files):
    done = rankgauge("trec", files[0], "--against", files[1], "-m", "jaccard", "-m", "tau", "-q", "-n")

    assert table(done.out) == {
        "query": ["jaccard", "tau_b"],
        "q1": ["0.5000", "-1.0000"],
        "q2": ["1.0000", "-"],
    }


def test_several_runs_have_a_row_each_and_judgments_choose_queries(rankgauge, files, write):
    qrels = write("qrels.txt", "q1 0 a 1\n")
    done = rankgauge("trec", qrels, *files, "--against", files[1], "-m", "jaccard")

    assert table(done.out) == {"run": ["jaccard"], "a.run": ["0.5000"], "b.run": ["1.0000"]}


def test_json_has_means_and_jsonl_has_queries(rankgauge, files):
    options = ("trec", files[0], "--against", files[1], "-m", "jaccard", "-m", "tau")
    report = json.loads(rankgauge(*options, "--json").out)
    lines = [json.loads(line) for line in rankgauge(*options, "-f", "jsonl").out.splitlines()]

    assert (report["run"], report["against"], report["queries"]) == ("a.run", str(files[1]), 2)
    assert (report["only"], report["only_other"]) == (["q3"], ["q4"])
    assert report["measures"]["jaccard"]["mean"] == 0.75
    assert report["measures"]["tau_b"]["undefined"] == 1
    assert lines == [
        {"run": "a.run", "query": "q1", "values": {"jaccard": 0.5, "tau_b": -1.0}},
        {"run": "a.run", "query": "q2", "values": {"jaccard": 1.0, "tau_b": None}},
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-l", "2"], "--relevance has no effect"),
        (["-J"], "--judged-only has no effect"),
        (["--gate", "ndcg@10 >= 0.5"], "--gate has no effect"),
        (["-f", "markdown"], "prints table, json, jsonl, not markdown"),
        (["-m", "ndcg@10"], "need judgments"),
    ],
)
def test_what_needs_judgments_is_refused(rankgauge, files, options, message):
    done = rankgauge("trec", files[0], "--against", files[1], *options)

    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_run_alone_is_told_what_it_lacks(rankgauge, files):
    done = rankgauge("trec", files[0])

    assert done.code == 2
    assert "judgments and a run, or a run and --against OTHER" in done.err
