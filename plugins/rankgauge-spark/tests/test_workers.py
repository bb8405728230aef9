"""Pieces of whole queries, and rows that cannot be used."""

import polars as pl
import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed here; `make test-spark` has it")

from rankgauge.errors import DataError
from rankgauge_spark.workers import refuse_unusable, whole_queries


def frames(queries, size):
    table = pl.DataFrame({"query": list(queries), "place": range(len(queries))})
    return [table.slice(start, size) for start in range(0, table.height, size)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 12])
@pytest.mark.parametrize("piece", [1, 2, 4, 100])
def test_pieces_hold_every_row_once_and_no_query_twice(size, piece):
    queries = "aaabccccccdd"
    pieces = list(whole_queries(frames(queries, size), piece))
    assert pl.concat(pieces)["place"].to_list() == list(range(len(queries)))
    names = [set(each["query"]) for each in pieces]
    assert sum(map(len, names)) == len(set().union(*names)) == 4


def test_pieces_are_no_larger_than_their_queries_ask_for():
    """Ten queries of four rows, of which two make eight rows: a third one is carried over when it has come in part."""
    pieces = list(whole_queries(frames("".join(letter * 4 for letter in "abcdefghij"), 3), 8))
    assert max(each.height for each in pieces) <= 8 + 3
    assert len(pieces) >= 4


def test_nothing_makes_no_piece():
    assert list(whole_queries([])) == []
    assert list(whole_queries(frames("", 3))) == []


def test_a_query_that_is_missing_is_a_query_of_its_own():
    rows = pl.DataFrame({"query": [None, None, "a", "b"]})
    assert [each["query"].to_list() for each in whole_queries([rows, rows.tail(1)], 4)] == [
        [None, None, "a"],
        ["b", "b"],
    ]


def test_unusable_rows_are_told_by_their_ids():
    rows = pl.DataFrame(
        [
            (True, "q1", "a", 1.0),
            (True, "q1", None, 1.0),
            (True, "q2", "", None),
            (False, "", "b", float("nan")),
            (False, "q3", "c", float("-inf")),
        ],
        schema=["is_run", "query", "document", "value"],
        orient="row",
    )
    with pytest.raises(DataError) as caught:
        refuse_unusable(rows)
    assert sorted(map(str, caught.value.problems)) == [
        "a judgment of document 'b' has no query, the grade nan, which is not a finite number",
        "a judgment of query 'q3' and document 'c' has the grade -inf, which is not a finite number",
        "a result of query 'q1' has no document",
        "a result of query 'q2' has no document, no score",
    ]
    refuse_unusable(rows.head(1))
