"""Documents that are judged several times for a query, by intent or assessor: the highest counts, which is said."""

import json

import polars as pl
import pytest

import rankgauge
from rankgauge import evaluate

RUN = {"q1": {"a": 2.0, "b": 1.0}}
SAID = "2 documents have several judgments for a query in "
ROWS = [("q1", "A", "a", 0), ("q1", "B", "a", 3), ("q1", "A", "b", 1), ("q1", "B", "b", 1), ("q1", "A", "c", 1)]


def by_intent():
    judged = {}
    for query, intent, document, grade in ROWS:
        judged.setdefault(query, {}).setdefault(document, {})[intent] = grade
    return judged


def table():
    columns = zip(*ROWS, strict=True)
    return pl.DataFrame(dict(zip(("query_id", "subtopic_id", "doc_id", "relevance"), map(list, columns), strict=True)))


@pytest.fixture(params=["TREC", "mapping", "JSON", "table", "Parquet", "TSV"])
def qrels(request, tmp_path):
    """Return the judgments in one of the forms that can have several for a document."""
    match request.param:
        case "TREC":
            (tmp_path / "q.txt").write_text("".join(f"{q} {i} {d} {g}\n" for q, i, d, g in ROWS))
            return tmp_path / "q.txt"
        case "mapping":
            return by_intent()
        case "JSON":
            (tmp_path / "q.json").write_text(json.dumps(by_intent()))
            return tmp_path / "q.json"
        case "table":
            return table()
        case "Parquet":
            table().write_parquet(tmp_path / "q.parquet")
            return tmp_path / "q.parquet"
    table().write_csv(tmp_path / "q.tsv", separator="\t")
    return tmp_path / "q.tsv"


@pytest.mark.parametrize("profile", ["trec9", "trec10", "default"])
def test_the_highest_counts_and_a_note_says_so(qrels, profile):
    result = evaluate(qrels, RUN, "CG@1", profile=profile)
    assert result["CG@1"].mean == 3
    (note,) = [note for note in result.notes if SAID in note]
    assert "the highest counts, and trec_eval refuses them" in note
    assert "alpha_ndcg@10" in note


def test_each_of_several_runs_says_so(qrels):
    results = evaluate(qrels, runs={"x": RUN, "y": RUN}, metrics="CG@1")
    assert all(any(SAID in note for note in result.notes) for result in results.values())


def test_metrics_by_intent_read_each_and_nothing_is_merged_for_them(qrels):
    assert not any(SAID in note for note in evaluate(qrels, RUN, "alpha_ndcg@5").notes)


def test_preflight_says_so(qrels):
    assert rankgauge.preflight(qrels, RUN).find("merged-judgments").counts == {"judgments": 2}


def test_judgments_by_one_assessor_each_are_not_merged(tmp_path):
    (tmp_path / "q.txt").write_text("q1 A a 1\nq1 B b 1\n")
    assert not any("several judgments" in note for note in evaluate(tmp_path / "q.txt", RUN, "P@1").notes)
    assert rankgauge.preflight(tmp_path / "q.txt", RUN).find("merged-judgments") is None
