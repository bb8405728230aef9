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
