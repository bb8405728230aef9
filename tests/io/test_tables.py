"""Frames and Arrow tables as judgments and runs: the same scores as from TREC text, and what is refused."""

import math
import sys

import polars as pl
import pytest

import rankgauge
from draws import in_thorough_suite
from ranked_tables import (
    WORKED,
    WORKED_QRELS,
    WORKED_RUN,
    qrels_frame,
    run_frame,
    scores_of,
    write_qrels,
    write_run,
)
from rankgauge.columns import Slices
from rankgauge.errors import DataError
from rankgauge.io import table_rankings as tables
from rankgauge.io import table_rows as rows
from rankgauge.io.short_ids import number_views, short_views
from rankgauge.io.table_rankings import TableRun
from rankgauge.io.table_rows import Ranged, query_begins


def messages(error):
    return [str(problem) for problem in error.value.problems]


def test_a_frame_gives_the_scores_that_were_worked_out_by_hand():
    ndcg = [(1 + 2 / math.log2(4)) / (2 + 1 / math.log2(3)), 1 / math.log2(3)]
    for metric, expected in {**WORKED, "ndcg@10": ndcg}.items():
        result = rankgauge.evaluate(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN), metric)
        frame = result.per_sample
        assert frame["sample_id"].to_list() == ["q1", "q2"]
        assert frame.to_series(2).to_list() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("form", ["polars", "lazy", "pandas", "pyarrow", "reader", "categorical"])
def test_every_table_scores_as_the_same_rows_in_trec_text(form, generated, as_trec):
    qrels, run = (qrels_frame(generated[0]), run_frame(generated[1]))
    if form == "lazy":
        qrels, run = qrels.lazy(), run.lazy()
    elif form == "categorical":
        names = pl.col("query_id", "doc_id").cast(pl.Categorical)
        run = run.with_columns(names)
    elif form == "pandas":
        pandas = pytest.importorskip("pandas")
        qrels, run = (pandas.DataFrame(frame.to_dict(as_series=False)) for frame in (qrels, run))
    elif form in {"pyarrow", "reader"}:
        arrow = pytest.importorskip("pyarrow")
        qrels, run = (arrow.table(frame.to_dict(as_series=False)) for frame in (qrels, run))
        if form == "reader":
            qrels, run = qrels.to_reader(), run.to_reader()
    assert scores_of(qrels, run) == as_trec


class Stream:
    """A table of a library that nobody knows, which speaks Arrow."""

    def __init__(self, frame):
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema=None):
        return self.frame.__arrow_c_stream__(requested_schema)


def test_whatever_offers_an_arrow_stream_is_a_table(generated, as_trec):
    assert scores_of(Stream(qrels_frame(generated[0])), Stream(run_frame(generated[1]))) == as_trec


def test_ids_of_bytes_are_texts_and_else_refused():
    binary = pl.col("doc_id").cast(pl.Binary)
    run = run_frame(WORKED_RUN)
    assert scores_of(qrels_frame(WORKED_QRELS), run.with_columns(binary)) == scores_of(qrels_frame(WORKED_QRELS), run)
    with pytest.raises(DataError, match="the columns of the DataFrame cannot be read"):
        scores_of(qrels_frame(WORKED_QRELS), run.with_columns(doc_id=pl.lit(b"\xff")))


def test_a_lone_surrogate_in_pandas_is_an_error_of_the_table():
    pandas = pytest.importorskip("pandas")
    run = pandas.DataFrame({"query_id": ["q1"], "doc_id": ["d\ud800"], "score": [1.0]})
    with pytest.raises(DataError, match=r"the columns of the DataFrame cannot be read: .*surrogates not allowed"):
        scores_of(qrels_frame(WORKED_QRELS), run)


def test_pandas_needs_no_pyarrow(generated, as_trec, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frames = [pandas.DataFrame(frame.to_dict(as_series=False)) for frame in map(run_frame, generated)]

    def absent(_):
        raise ImportError

    monkeypatch.setattr(pl, "from_pandas", absent)
    assert scores_of(*frames) == as_trec
    frames[1].loc[3, "doc_id"] = None
    with pytest.raises(DataError, match="row 3: the document is missing"):
        scores_of(*frames)


@in_thorough_suite()
@pytest.mark.parametrize("batch", [1, 7, 100])
def test_batches_and_parts_of_any_size_give_the_same_scores(batch, generated, as_trec, monkeypatch):
    monkeypatch.setattr(tables, "_ROWS", batch)
    monkeypatch.setattr(rows, "_PIECE", batch)
    monkeypatch.setattr(rows, "_SMALL", 2)
    monkeypatch.setattr(rows, "_LOOK", 1)
    assert scores_of(qrels_frame(generated[0]), run_frame(generated[1])) == as_trec


@pytest.mark.parametrize("count", [1, 2, 3, 5, 50])
def test_parts_begin_with_a_query_and_hold_every_row_once(count, generated, monkeypatch):
    monkeypatch.setattr(rows, "_SMALL", 2)
    frame = run_frame(generated[1], ("query", "document", "value"))
    parts = [list(part) for part in TableRun(Ranged.of(frame)).parts(count)]
    assert 1 <= len(parts) <= count
    queries = [query for part in parts for batch in part for query in batch.queries]
    assert queries == [query.encode() for query in frame["query"].unique(maintain_order=True)]
    documents = [text for part in parts for batch in part for text in batch.documents.texts()]
    assert documents == [document.encode() for document in frame["document"]]


def test_one_query_in_many_frames_stays_whole(monkeypatch):
    monkeypatch.setattr(rows, "_PIECE", 2)
    run = run_frame([("q1", f"d{number}", -float(number)) for number in range(9)])
    result = rankgauge.evaluate(qrels_frame([("q1", "d8", 1)]), run, "RR")
    assert result["RR"].mean == 1 / 9


def test_scattered_queries_are_grouped(generated, as_trec):
    """The rows go round robin over the queries, each query's own in order."""
    place, rounds = {}, []
    for row in generated[1]:
        place[row[0]] = place.get(row[0], 0) + 1
        rounds.append((place[row[0]], row))
    scattered = [row for _, row in sorted(rounds, key=lambda pair: pair[0])]
    assert scores_of(qrels_frame(generated[0][::-1]), run_frame(scattered)) == as_trec


def test_integer_ids_are_their_decimal_text(tmp_path):
    qrels, run = [(1, 20, 1), (2, 30, 1)], [(1, 20, 2), (1, -7, 1), (2, 31, 5)]
    expected = scores_of(write_qrels(tmp_path / "q", qrels), write_run(tmp_path / "r", run))
    assert scores_of(qrels_frame(qrels), run_frame(run)) == expected
    assert [row["ap"] for row in expected] == [1.0, 0.0]
    texts = pl.col("query_id", "doc_id").cast(pl.String)
    assert scores_of(qrels_frame(qrels), run_frame(run).with_columns(texts)) == expected


def test_grades_may_be_floats_or_truth_values():
    run = run_frame([("q", "b", 2.0), ("q", "a", 1.0)])
    floats = rankgauge.evaluate(qrels_frame([("q", "a", 2.5), ("q", "b", 1.5)]), run, "ndcg@10")
    best = 2.5 + 1.5 / math.log2(3)
    assert floats["ndcg@10"].mean == pytest.approx((1.5 + 2.5 / math.log2(3)) / best, rel=1e-12)
    flags = rankgauge.evaluate(qrels_frame([("q", "a", True), ("q", "b", False)]), run, "RR")
    assert flags["RR"].mean == 0.5


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        (("query_id", "doc_id", "relevance"), ("qid", "docno", "score")),
        (("qid", "docno", "label"), ("q_id", "pid", "sim")),
        (("Query-ID", "Corpus-ID", "Score"), ("topic", "document_id", "score")),
        (("query", "document", "grade"), ("query", "doc", "score")),
    ],
)
def test_columns_are_found_by_usual_names(qrels, run):
    assert scores_of(qrels_frame(WORKED_QRELS, qrels), run_frame(WORKED_RUN, run)) == scores_of(
        qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN)
    )


def test_an_id_beats_the_text_and_the_number_that_stand_beside_it():
    run = run_frame(WORKED_RUN, ("qid", "docno", "score"))
    texts = [pl.lit("a text").alias("query"), pl.lit("another").alias("document"), pl.lit(7).alias("docid")]
    assert scores_of(qrels_frame(WORKED_QRELS), run.with_columns(texts)) == scores_of(qrels_frame(WORKED_QRELS), run)


def test_columns_can_be_named_for_both_tables_or_for_one():
    expected = scores_of(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN))
    qrels = qrels_frame(WORKED_QRELS, ("frage", "seite", "note"))
    run = run_frame(WORKED_RUN, ("frage", "url", "wert"))
    columns = {"query": "frage", "qrels.document": "seite", "run.document": "url", "grade": "note", "score": "wert"}
    assert scores_of(qrels, run, columns=columns) == expected


def test_an_unknown_role_is_refused():
    with pytest.raises(DataError, match=r"columns has 'docment' \(did you mean 'document'"):
        scores_of(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN), columns={"docment": "doc_id"})


def test_a_column_that_is_not_there_is_an_error_that_lists_what_is():
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN, ("frage", "doc_id", "wert")))
    query, score = messages(error)
    assert "no column for the query; the columns are 'frage', 'doc_id', 'wert'" in query
    assert "columns={'query': ...}" in query
    assert "no column for the score" in score
    with pytest.raises(DataError, match=r"no column 'doc-id' for the document \(did you mean 'doc_id'"):
        scores_of(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN), columns={"run.document": "doc-id"})


def test_a_column_that_could_be_either_of_two_is_an_error():
    run = run_frame(WORKED_RUN).with_columns(pl.col("doc_id").alias("docno"))
    with pytest.raises(DataError, match="the document could be 'doc_id' or 'docno'; say which"):
        scores_of(qrels_frame(WORKED_QRELS), run)
    assert scores_of(qrels_frame(WORKED_QRELS), run, columns={"run.document": "docno"})


def test_every_row_that_cannot_be_used_is_told():
    run = run_frame([*WORKED_RUN, ("q3", None, 1.0), ("", "d", math.nan), ("q3", "e", math.inf), ("q3", "f", None)])
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), run)
    assert messages(error) == [
        "row 5: the document is missing",
        "row 6: the query is empty; the score nan is not a finite number",
        "row 7: the score inf is not a finite number",
        "row 8: the score is missing",
    ]
    with pytest.raises(DataError, match="row 1: the grade is missing"):
        scores_of(qrels_frame([("q1", "a", 1), ("q1", "b", None)]), run_frame(WORKED_RUN))


def test_no_more_problems_are_told_than_anybody_reads():
    run = run_frame([("q1", f"d{number}", math.nan) for number in range(10_100)])
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), run)
    assert len(error.value.problems) == 10_001
    assert "stopped after 10,000 problems" in messages(error)[-1]


def test_types_that_are_no_ids_and_no_numbers_are_refused():
    run = pl.DataFrame({"query_id": [1.0], "doc_id": [[1]], "score": ["1"]})
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), run)
    query, document, score = messages(error)
    assert "'query_id' are of type Float64; make them strings or integers; whole numbers become floats" in query
    assert "'doc_id' are of type List" in document
    assert "'score' are of type String; make them numbers" in score


def test_nothing_judged_and_nothing_retrieved():
    with pytest.raises(DataError, match="there are no judgments"):
        scores_of(qrels_frame(WORKED_QRELS).clear(), run_frame(WORKED_RUN))
    with pytest.raises(rankgauge.errors.NothingToEvaluateError, match="cannot evaluate the run"):
        scores_of(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN).clear())


def test_documents_that_are_judged_twice_are_refused():
    with pytest.raises(DataError, match="query 'q1' judges document 'a' more than once"):
        scores_of(qrels_frame([*WORKED_QRELS, ("q1", "a", 0)]), run_frame(WORKED_RUN))


def test_what_is_no_table_is_refused():
    with pytest.raises(DataError, match="expected a path, a mapping of mappings or a table, found a int"):
        scores_of(qrels_frame(WORKED_QRELS), 7)


@pytest.mark.skipif(sys.byteorder != "little", reason="views are read as little-endian integers")
def test_short_texts_are_read_where_they_stand():
    texts = ["a", "", "12345678", "123456789", "exactly12byt", "exactly12byt", "ünïcödé"]
    views = short_views(pl.Series(texts))
    assert views is not None
    assert views.slices().texts() == [text.encode() for text in texts]
    assert views.keys().tolist() == Slices.of(text.encode() for text in texts).keys().tolist()
    assert views.differ().tolist() == [True, True, True, True, False, True]
    assert short_views(pl.Series([*texts, "thirteenbytes"])) is None
    chunked = pl.concat([pl.Series(["x", "a"]), pl.Series(["b", "c"])]).slice(1, 2)
    assert short_views(chunked).slices().texts() == [b"a", b"b"]


@pytest.mark.skipif(sys.byteorder != "little", reason="views are written as little-endian integers")
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int32, pl.UInt32])
def test_short_numbers_are_written_as_their_decimal_texts(dtype):
    numbers = [0, 7, 10, 999, 1000, 9999, 10_000, 10_001, 99_999, 123_456, 1_000_000, 12_345_670, 99_999_999]
    texts = [str(number).encode() for number in numbers]
    views = number_views(pl.Series(numbers, dtype=dtype))
    assert views is not None
    assert views.slices().texts() == texts
    assert views.keys().tolist() == Slices.of(texts).keys().tolist()
    assert number_views(pl.Series([1, 10**8], dtype=dtype)) is None
    assert number_views(pl.Series([1, -1])) is None


def test_queries_begin_where_ids_change():
    expected = [0, 2, 3]
    for ids in (["a", "a", "b", "c"], ["a" * 20, "a" * 20, "b" * 20, "c"], [1, 1, 2, 3]):
        assert query_begins(pl.Series(ids)).tolist() == expected
    assert query_begins(pl.Series([], dtype=pl.String)).tolist() == []
