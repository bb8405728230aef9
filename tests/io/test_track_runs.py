"""Runs of TREC tracks that are JSON."""

import gzip
import io
import json
import sys

import pytest

import rankgauge
from rankgauge.errors import DataError

QRELS = {"9-1_1": {"d1": 2, "d3": 1}, "9-1_2": {"d2": 1}}
RR = (1 / 2 + 1) / 2
"""The first turn has d1 at rank 2, the second d2 at rank 1."""

IKAT = {
    "run_name": "mine",
    "run_type": "automatic",
    "turns": [
        {
            "turn_id": "9-1_1",
            "responses": [
                {"rank": 2, "text": "b", "passage_provenance": [{"id": "d1", "score": 0.5, "used": True}]},
                {
                    "rank": 1,
                    "text": "a",
                    "passage_provenance": [{"id": "d9", "score": 0.9}, {"id": "d1", "score": 0.1}],
                },
            ],
        },
        {"turn_id": "9-1_2", "responses": [{"rank": 1, "text": "c", "passage_provenance": [{"id": "d2", "score": 7}]}]},
    ],
}
CAST = json.loads(json.dumps(IKAT).replace("passage_provenance", "provenance"))
UNSCORED = json.loads(json.dumps(IKAT))
for turn in UNSCORED["turns"]:
    for response in turn["responses"]:
        response["passage_provenance"] = [{"id": each["id"]} for each in response["passage_provenance"]]
IKAT_2025 = [
    {
        "metadata": {"team_id": "t", "run_id": "mine"},
        "turn_id": "9-1_1",
        "responses": [],
        "references": {"d1": 0.5, "d9": 0.9},
    },
    {"metadata": {"team_id": "t", "run_id": "mine"}, "turn_id": "9-1_2", "responses": [], "references": {"d2": 7}},
]
RAG = [
    {
        "run_id": "mine",
        "topic_id": "9-1_1",
        "topic": "x",
        "references": ["d9", "d1"],
        "answer": [{"text": "a", "citations": [0]}],
    },
    {"run_id": "mine", "topic_id": "9-1_2", "topic": "y", "references": ["d2"], "answer": []},
]
RAG_2025 = [
    {"metadata": {"narrative_id": row["topic_id"], "run_id": "mine"}, "references": row["references"]} for row in RAG
]
RERANKED = [
    {
        "query": {"qid": "9-1_1", "text": "x"},
        "candidates": [{"docid": "d1", "score": 1, "doc": {}}, {"docid": "d9", "score": 2.0}],
    },
    {"query": {"qid": "9-1_2", "text": "y"}, "candidates": [{"docid": "d2", "score": 1.5}]},
]
RUNS = {
    "ikat": IKAT, "cast": CAST, "without scores": UNSCORED, "ikat 2025": IKAT_2025, "rag": RAG, "rag 2025": RAG_2025,
    "reranked": RERANKED,
}  # fmt: skip


def forms(run, tmp_path):
    """Yield files of a run: a document, a list, a record a line, with and without an ending that says so."""
    records = run if isinstance(run, list) else [run]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    files = {
        "run.jsonl": lines,
        "run.json": json.dumps(run, indent=1),
        "run": lines,
        "lines.json": lines,
        "a.ikat.json": lines,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        yield tmp_path / name
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    yield tmp_path / "run.jsonl.gz"


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_runs_of_tracks_are_runs(run, tmp_path):
    found = {path.name: rankgauge.evaluate(QRELS, path, ["RR"])["RR"].mean for path in forms(run, tmp_path)}
    assert found == dict.fromkeys(found, RR)


def test_they_are_checked_too(tmp_path):
    for path in forms(RAG, tmp_path):
        checked = rankgauge.preflight(QRELS, path)
        assert checked.ok


def test_standard_input_may_be_one(monkeypatch):
    lines = "".join(f"{json.dumps(record)}\n" for record in RAG)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert rankgauge.evaluate(QRELS, "-", ["RR"])["RR"].mean == RR


def test_a_document_that_is_listed_twice_counts_once(tmp_path):
    (tmp_path / "run.jsonl").write_text(json.dumps({"topic_id": 1, "references": ["d9", "d1", "d9"]}))
    result = rankgauge.evaluate({"1": {"d1": 1}}, tmp_path / "run.jsonl", ["RR"])
    assert result["RR"].mean == 1 / 2
    assert any("lists a document more than once for '1'; its best place counts" in note for note in result.notes)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"references": ["d1"]}, "the record has no id of its topic"),
        ({"topic_id": "1", "references": ["d1", None]}, "item 1 has no id of a document"),
        ({"turn_id": "1", "references": {"d1": None, "d2": 1}}, "some items have a score, and some have none"),
        ({"turn_id": "1", "references": {"d1": "high"}}, "the score 'high' of 'd1' is not a finite number"),
        ({"turns": [{"responses": []}]}, r"turns\[0\]: the record has no id of its topic"),
        ({"topic_id": "a", "references": ["d1"]}, "there are two records for 'a'; keep one"),
        ({"topic_id": "1"}, "the record has no turns, references or candidates"),
        (["x"], "expected a record with turns, references or candidates, found list"),
        ("{", "not valid JSON"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(record, message, tmp_path):
    first = json.dumps({"topic_id": "a", "references": []})
    line = record if isinstance(record, str) else json.dumps(record)
    (tmp_path / "run.jsonl").write_text(f"{first}\n\n{line}\n")
    with pytest.raises(DataError, match=rf"run\.jsonl:3.*{message}"):
        rankgauge.evaluate(QRELS, tmp_path / "run.jsonl", ["RR"])
