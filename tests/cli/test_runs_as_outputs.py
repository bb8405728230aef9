"""Judgments and runs in forms other than TREC's, as a search engineer types them."""

from __future__ import annotations

import io
import json

import pytest

JUDGED = [{"query_id": "q1", "doc_id": "d2", "relevance": 1}, {"query_id": "q1", "doc_id": "d1", "relevance": 0}]
RUN = "q1 Q0 d1 1 2.0 x\nq1 Q0 d2 2 1.0 x\nq2 Q0 d2 1 1.0 x\n"


def test_judgments_in_json_lines_go_with_a_run(rankgauge, write, monkeypatch):
    write("q.jsonl", JUDGED)
    write("r.run", RUN)
    assert rankgauge("trec", "q.jsonl", "r.run", "-m", "RR", "--json").mean("rr") == 0.5
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in JUDGED)))
    )
    assert rankgauge("trec", "-", "r.run", "-m", "RR", "--json").mean("rr") == 0.5


@pytest.mark.parametrize("workers", [1, 2])
def test_judgments_and_a_run_are_data_and_outputs(rankgauge, write, workers):
    write("r.run", RUN)
    write("q.jsonl", JUDGED)
    files = ["--data", "q.jsonl", "--outputs", "r.run", "--policy", "queries=intersection"]
    done = rankgauge("run", *files, "-m", "RR", "--workers", workers, "--json")
    assert (done.code, done.mean("rr")) == (0, 0.5)


def test_a_result_of_a_run_as_outputs_is_explained_and_kept(rankgauge, write):
    write("r.run", RUN)
    write("q.txt", "q1 0 d2 1\n")
    files = ["--data", "q.txt", "--outputs", "r.run", "--policy", "queries=intersection"]
    assert rankgauge("run", *files, "-m", "RR", "-o", "kept", "--keep-data").code == 0
    explained = rankgauge("explain", "kept", "q1", "--json")
    assert explained.code == 0
    assert "d2" in explained.out


RATINGS = {"judgmentRatings": [{"query": "q1", "ratings": [{"docId": "d2", "rating": "3.0"}]}]}
REQUESTS = {"requests": [{"id": "q1", "ratings": [{"_id": "d2", "rating": 3}, {"_id": "d1", "rating": 0}]}]}
RRE = {"topics": [{"query_groups": [{"name": "q1", "relevant_documents": {"3": ["d2"]}}]}]}
BY_QUERY = {"q1": {"d1": 2.0, "d2": 1.0}}
MTEB = {"mteb_model_meta": {"name": "m"}, "default": {"test": BY_QUERY}}
LONG = "x" * (1 << 16)
IKAT = {"turns": [{"turn_id": "q1", "responses": [{"text": LONG, "passage_provenance": [{"id": "d2", "score": 1}]}]}]}
CANDIDATES = {"query": {"qid": "q1", "text": LONG}, "candidates": [{"docid": "d1"}, {"docid": "d2"}]}


@pytest.mark.parametrize(
    ("judged", "run", "expected"),
    [
        (RATINGS, BY_QUERY, 0.5),
        (REQUESTS, MTEB, 0.5),
        (RRE, BY_QUERY, 0.5),
        ({"q1": {"d2": 1}}, IKAT, 1.0),
        ({"q1": {"d2": {"intent": 1}}}, BY_QUERY, 0.5),
        ({"q1": {"d2": 1, **dict.fromkeys(map(str, range(9000)), 0)}}, BY_QUERY, 0.5),
    ],
    ids=["OpenSearch", "_rank_eval", "RRE", "a long record", "intents", "a long document"],
)
def test_documents_of_judgments_and_runs_are_data_and_outputs_too(rankgauge, write, judged, run, expected):
    write("q.json", json.dumps(judged))
    write("r.json", json.dumps(run))
    assert rankgauge("trec", "q.json", "r.json", "-m", "RR", "--json").mean("rr") == expected
    done = rankgauge("run", "--data", "q.json", "--outputs", "r.json", "-m", "RR", "--json")
    assert (done.code, done.mean("rr")) == (0, expected)


def test_the_first_record_of_a_run_may_be_long(rankgauge, write):
    write("q.txt", "q1 0 d2 1\n")
    write("r.jsonl", [CANDIDATES])
    done = rankgauge("run", "--data", "q.txt", "--outputs", "r.jsonl", "-m", "RR", "--json")
    assert (done.code, done.mean("rr")) == (0, 0.5)


def test_outputs_by_id_are_outputs(rankgauge, write):
    write("q.txt", "q1 0 d2 1\n")
    write("r.json", json.dumps({"q1": {"seconds": 0.5}}))
    assert rankgauge("run", "--data", "q.txt", "--outputs", "r.json", "-m", "latency", "--json").code == 0


def test_passages_that_queries_nest_in_json_lines_are_judgments(rankgauge, write):
    rows = [
        {"query_id": "q1", "positive_passages": [{"docid": "d2"}, {"docid": "d3"}], "negative_passages": []},
        {"query_id": "q2", "positive_passages": [{"docid": "d9"}], "negative_passages": [{"docid": "d2"}]},
    ]
    write("q.jsonl", rows)
    write("q.json", json.dumps(rows))
    write("r.run", RUN)
    for file in ("q.jsonl", "q.json"):
        done = rankgauge("trec", file, "r.run", "-m", "R@5", "-m", "num_nonrel_judged_ret", "--json")
        assert (done.mean("r@5"), done.mean("num_nonrel_judged_ret")) == (0.25, 1)
    write("bad.jsonl", [{"query_id": "q1", "positive_passages": ["d2"]}])
    assert "bad.jsonl" in rankgauge("trec", "bad.jsonl", "r.run", "-m", "RR").err
