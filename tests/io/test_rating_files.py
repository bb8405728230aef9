"""Files of ratings as judgments, and letters as grades."""

import json

import polars as pl
import pytest

import rankgauge
from rankgauge.cli import call
from rankgauge.errors import DataError, ParameterError

RUN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 1.0}}


def expected():
    from math import log2

    return ((1 + 3 / log2(3)) / (3 + 1 / log2(3)) + 1) / 2


OPENSEARCH = {
    "name": "x",
    "judgmentRatings": [
        {"query": "q1", "ratings": [{"docId": "d1", "rating": "3.000"}, {"docId": "d2", "rating": "1"}]},
        {"query": "q2", "ratings": [{"docId": "d3", "rating": 2}]},
    ],
}
D1, D2 = {"_index": "i", "_id": "d1", "rating": 3}, {"_index": "i", "_id": "d2", "rating": 1}
RANK_EVAL = {
    "requests": [
        {"id": "q1", "request": {}, "ratings": [D1, D2]},
        {"id": "q2", "request": {}, "ratings": [{"_index": "i", "_id": "d3", "rating": 2}]},
    ],
    "metric": {"dcg": {"k": 20}},
}
ONE = {"placeholders": {"$query": "one"}}
TWO = {"queries": [{"placeholders": {"$query": "q2"}}], "relevant_documents": {"2": ["d3"]}}
GAINS = {"d1": {"gain": 3}, "d2": {"gain": 1}}
GROUPS = [{"name": "q1", "queries": [ONE], "relevant_documents": GAINS}, TWO]
RRE = {"index": "i", "id_field": "id", "topics": [{"description": "x", "query_groups": GROUPS}]}
RRE_FLAT = {
    "queries": [
        {"placeholders": {"$query": "q1"}, "relevant_documents": {"3": ["d1"], "1": ["d2"]}},
        {"placeholders": {"$query": "q2"}, "relevant_documents": {"2": ["d3"]}},
    ]
}
LETTERS = json.loads(json.dumps(OPENSEARCH).replace('"3.000"', '"E"').replace('"1"', '"C"'))
FILES = {"opensearch": OPENSEARCH, "rank_eval": RANK_EVAL, "rre": RRE, "rre without groups": RRE_FLAT}


def ndcg(qrels, **options):
    return rankgauge.evaluate(qrels, RUN, ["ndcg@10"], **options)["ndcg@10"].mean


@pytest.mark.parametrize("document", FILES.values(), ids=FILES)
def test_ratings_are_judgments(document, tmp_path):
    (tmp_path / "ratings.json").write_text(json.dumps(document, indent=1))
    assert ndcg(tmp_path / "ratings.json") == pytest.approx(expected(), rel=1e-12)
    assert rankgauge.preflight(tmp_path / "ratings.json", RUN).ok


def test_a_column_of_ratings_is_one_of_grades(tmp_path):
    """Quepid writes query, docid, rating."""
    (tmp_path / "ratings.csv").write_text("query,docid,rating\nq1,d1,3\nq1,d2,1\nq2,d3,2\n")
    assert ndcg(tmp_path / "ratings.csv") == pytest.approx(expected(), rel=1e-12)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "frame", "json", "bare"])
def test_letters_are_worth_what_is_said(form, tmp_path):
    rows = [("q1", "d1", "E"), ("q1", "d2", "C"), ("q2", "d3", "2")]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "label"], orient="row")
    qrels = tmp_path / f"qrels.{form}"
    if form == "csv":
        frame.write_csv(qrels)
    elif form == "tsv":
        frame.write_csv(qrels, separator="\t")
    elif form == "parquet":
        frame.write_parquet(qrels)
    elif form == "json":
        qrels.write_text(json.dumps(LETTERS))
    elif form == "frame":
        qrels = frame
    else:
        qrels.write_text("q1,d1,3\nq1,d2,C\nq2,d3,2\n")
        columns = {"qrels": "query,document,grade", "letters": "C=1"}
        assert ndcg(qrels, columns=columns) == pytest.approx(expected(), rel=1e-12)
        return
    assert ndcg(qrels, columns={"letters": "E=3, C=1, I=0"}) == pytest.approx(expected(), rel=1e-12)
    for columns in (None, {"letters": "C=1"}):
        with pytest.raises(DataError, match=r"--letters, such as E=3,S=2,C=1,I=0"):
            ndcg(qrels, columns=columns)


@pytest.mark.parametrize("written", ["E", "E=", "E=x", "=3", "E=3,E=2"])
def test_letters_that_say_nothing_are_refused(written):
    with pytest.raises(ParameterError, match="letters are LETTER=NUMBER, each once"):
        ndcg({"q1": {"d1": 1}}, columns={"letters": written})


def test_the_command_line_takes_letters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("query,docid,rating\nq1,d1,E\nq1,d2,C\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2 t\n")
    assert call(["trec", "q.csv", "run", "-m", "RR", "--letters", "E=1,C=0"]) == 0
    assert "1.0000" in capsys.readouterr().out
    assert call(["validate", "q.csv", "run", "--letters", "E=1,C=0"]) == 0
    assert call(["trec", "q.csv", "run", "-m", "RR"]) == 2


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([{"docId": "d1", "rating": "high"}], "is no number: 'high'; what letters are worth"),
        ([{"rating": 1}], "has no id of a document"),
        ([{"docId": "d1", "rating": 1}, {"docId": "d1", "rating": 2}], "'d1' is rated differently for query 'q1'"),
    ],
)
def test_what_is_wrong_with_ratings_is_said(ratings, message, tmp_path):
    (tmp_path / "r.json").write_text(json.dumps({"judgmentRatings": [{"query": "q1", "ratings": ratings}]}))
    with pytest.raises(DataError, match=message):
        ndcg(tmp_path / "r.json")
