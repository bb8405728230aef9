"""Judgments and runs in JSON with an object for each row: JSON lines, or one list."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from rankgauge import Engine, evaluate
from rankgauge.errors import DataError

QRELS = [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 2)]
RUN = [("q1", "d2", 2.0), ("q1", "d1", 1.5), ("q2", "d3", 1)]


def rows(tuples: Any, *names: str) -> list[dict[str, Any]]:
    return [dict(zip(names, each, strict=True)) for each in tuples]


def lines(records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


JUDGED = rows(QRELS, "query_id", "doc_id", "relevance")
RANKED = rows(RUN, "query_id", "doc_id", "score")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qrels.jsonl", lines(JUDGED)), ("qrels.ndjson", "\n" + lines(JUDGED)), ("qrels", lines(JUDGED)),
        ("qrels.json", json.dumps(JUDGED)), ("qrels.json", json.dumps(JUDGED, indent=2)), ("q.txt", json.dumps(JUDGED)),
        ("qrels.jsonl", lines(rows(QRELS, "query-id", "corpus-id", "score"))), ("qrels.jsonl.gz", lines(JUDGED)),
    ],
)  # fmt: skip
def test_rows_in_json_are_judgments(name, text, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    run = {"q1": {"d2": 2.0, "d1": 1.5}, "q2": {"d3": 1.0}}
    assert evaluate(path, run, "RR")["RR"].mean == (1 / 2 + 1) / 2
    samples = Engine().dataset(path).with_metrics(["RR", "num_rel"])
    result = samples.run(outputs={"q1": ["d2", "d1"], "q2": ["d3"]})
    assert [result["RR"].mean, result["num_rel"].mean] == [(1 / 2 + 1) / 2, 2.0]


@pytest.mark.parametrize("text", [lines(RANKED), json.dumps(RANKED), lines(rows(RUN, "qid", "docno", "score"))])
def test_rows_in_json_are_a_run(text, tmp_path):
    (tmp_path / "run.json").write_text(text)
    assert evaluate({"q1": {"d1": 1}, "q2": {"d3": 1}}, tmp_path / "run.json", "RR")["RR"].mean == (1 / 2 + 1) / 2


def test_ranks_of_rows_in_json_order_them(tmp_path):
    ranked = rows([("q1", "d2", 1), ("q1", "d1", 2)], "query_id", "doc_id", "rank")
    (tmp_path / "run.jsonl").write_text(lines(ranked))
    assert evaluate({"q1": {"d1": 1}}, tmp_path / "run.jsonl", "RR")["RR"].mean == 1 / 2


def test_whole_and_other_numbers_and_ids_make_one_column(tmp_path):
    (tmp_path / "q.jsonl").write_text(
        '{"query_id": 1, "doc_id": "a", "relevance": 1}\n{"query_id": "1", "doc_id": 7, "relevance": 0.5}\n'
    )
    assert evaluate(tmp_path / "q.jsonl", {"1": {"7": 2.0, "a": 1.0}}, "DCG@1")["DCG@1"].mean == 0.5


def test_columns_of_another_name_are_said(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"question": "q1", "doc_id": "a", "relevance": 1}\n')
    found = evaluate(tmp_path / "q.jsonl", {"q1": {"a": 1.0}}, "RR", columns={"query": "question"})
    assert found["RR"].mean == 1.0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"query_id": "q1", "doc_id": "a"}', r"q\.jsonl:2|row 1: the grade is missing"),
        ('{"query_id": "q1", "doc_id": "", "relevance": 1}', "the document is empty"),
        ('{"query_id": "q1", "doc_id": "a", "relevance": "high"}', "grades in column 'relevance' are of type String"),
        ("[1]", r"q\.jsonl:2.*expected a row, found list"),
        ('{"query_id": ', r"q\.jsonl:2.*not valid JSON"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(line, said, tmp_path):
    (tmp_path / "q.jsonl").write_text(f"{lines(JUDGED[:1])}{line}\n")
    with pytest.raises(DataError, match=said):
        evaluate(tmp_path / "q.jsonl", {"q1": {"a": 1.0}}, "RR")


@pytest.mark.parametrize("n_records", [1, 2])
@pytest.mark.parametrize("record", [{"id": "q1", "expected_output": ["a"]}, {"id": "q1", "retrieved": ["a"]}])
def test_samples_in_place_of_judgments_and_runs_are_said(record, n_records, tmp_path):
    (tmp_path / "q.jsonl").write_text(lines([record] * n_records))
    for given in [(tmp_path / "q.jsonl", {"q1": {"a": 1.0}}), ({"q1": {"a": 1.0}}, tmp_path / "q.jsonl")]:
        with pytest.raises(DataError, match=r"`rankgauge run --data SAMPLES"):
            evaluate(*given, "RR")
