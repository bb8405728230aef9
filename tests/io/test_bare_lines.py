"""Runs and judgments without a header that are not TREC's, and tables that have ranks."""

import gzip
from typing import NamedTuple

import polars as pl
import pytest

import rankgauge
from rankgauge.errors import DataError

QUERIES = [f"q{number}" for number in range(12)]
RANKED = [(query, f"{query}-{rank}", rank) for query in QUERIES for rank in (1, 2, 3, 4)]
QRELS = {query: {f"{query}-1": 1} for query in QUERIES}
"""What is relevant stands at rank 1, so that a reversed ranking has a reciprocal rank of 1/4."""


def lines(rows, separator="\t"):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def write(tmp_path):
    def write_file(rows, name="run.tsv", separator="\t"):
        path = tmp_path / name
        data = lines(rows, separator).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return path

    return write_file


def rr(run, qrels=QRELS, **options):
    return rankgauge.evaluate(qrels, run, ["RR"], **options)["RR"].mean


def with_scores(rows, score):
    return [(query, document, rank, score(rank)) for query, document, rank in rows]


@pytest.mark.parametrize("name", ["run.tsv", "run.txt", "top1000.dev", "run", "run.tsv.gz"])
@pytest.mark.parametrize("separator", ["\t", " ", "   "])
def test_columns_that_count_ranks_are_ranks(write, name, separator):
    """The file that MS MARCO's script reads: query, document, rank."""
    path = write(RANKED, name, separator)
    result = rankgauge.evaluate(QRELS, path, ["RR"])
    assert result["RR"].mean == 1.0
    assert any("has no header, and 3 columns: the third is the rank" in note for note in result.notes)


def test_ranks_count_within_a_query_whose_lines_are_scattered(write):
    assert rr(write(sorted(RANKED, key=lambda row: row[2]))) == 1.0


def test_a_score_behind_ranks_orders_as_they_do(write):
    """ColBERT's query, document, rank, score."""
    result = rankgauge.evaluate(QRELS, write(with_scores(RANKED, lambda rank: 9.5 - rank)), ["RR"])
    assert result["RR"].mean == 1.0
    assert any("the fourth is the score" in note for note in result.notes)


NOT_CERTAIN = {
    "too few queries": RANKED[: 9 * 4],
    "too few results": [row for row in RANKED if row[2] < 3],
    "from 0 on": [(query, document, rank - 1) for query, document, rank in RANKED],
    "descending": [(query, document, 5 - rank) for query, document, rank in RANKED],
    "a gap": [*RANKED[:-1], ("q11", "q11-4", 5)],
    "scores": [(query, document, f"{9 - rank}.25") for query, document, rank in RANKED],
    "one is none": [*RANKED[:-1], ("q11", "q11-4", "4.5")],
    "scores that rise with ranks": with_scores(RANKED, lambda rank: 9.5 + rank),
    "a line is short": [*RANKED[:-1], ("q11", "q11-4")],
}


@pytest.mark.parametrize("rows", NOT_CERTAIN.values(), ids=NOT_CERTAIN)
def test_what_is_not_certain_is_asked_for(write, rows):
    with pytest.raises(DataError, match=r"run\.tsv:1: .*--columns query,document,rank"):
        rr(write(rows))


@pytest.mark.parametrize(
    ("rows", "columns", "separator"),
    [
        (RANKED[:8], "query,document,rank", "\t"),
        (RANKED[:8], "query,document,rank", ","),
        (RANKED[:8], "query,document,rank", ";"),
        ([(q, d, 9 - r) for q, d, r in RANKED], "query,document,score", "  "),
        ([(q, d, 9 - r) for q, d, r in RANKED], "query,document,score", ","),
        (with_scores(RANKED[:8], lambda rank: -rank), "query,document,rank,score", " "),
        (with_scores(RANKED[:8], lambda rank: rank), "query,document,rank,-", " "),
        (with_scores(RANKED[:8], lambda rank: rank), "query, document, -, rank", ","),
        ([(d, "x", q, r) for q, d, r in RANKED[:8]], "document,-,query,rank", "\t"),
        ([(q, "Q0", d, r, 5 - r, "tag") for q, d, r in RANKED[:8]], "query,-,document,-,score,-", " "),
    ],
)
def test_columns_are_what_they_are_said_to_be(write, rows, columns, separator):
    qrels = {query: QRELS[query] for query in dict.fromkeys(row[0].partition("-")[0] for row in rows)}
    assert rr(write(rows, "run.csv", separator), qrels, columns={"run": columns}) == 1.0


def test_the_first_column_need_not_be_the_query_where_lines_are_scattered(write):
    rows = sorted([(d, q, r) for q, d, r in RANKED[:8]], key=lambda row: row[2])
    assert rr(write(rows), {q: QRELS[q] for q in QUERIES[:2]}, columns={"run": "document,query,rank"}) == 1.0


def test_lines_of_trec_stay_lines_of_trec_beside_named_columns(write):
    rows = [(q, "Q0", d, r, 9 - r, "tag") for q, d, r in RANKED]
    assert rr(write(rows, separator=" "), columns={"run": "query,document,rank"}) == 1.0


def test_ranks_that_are_called_scores_are_refused(write):
    """Reading them as scores would reverse every ranking."""
    with pytest.raises(DataError, match=r"counts 1, 2, 3, .* as ranks do, .*write query,document,rank"):
        rr(write(RANKED), columns={"run": "query,document,score"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("query,document,rang", "'rang' in 'query,document,rang' is no column of the run"),
        (
            "query,document,grade",
            "'grade' in .* is no column of the run; known are query, document, score, rank, and -",
        ),
        ("query,document", "has no score or rank"),
        ("query,query,rank", "has 'query' twice"),
        ("document,rank", "has no query"),
        ("query,-,rank", "has no document"),
    ],
)
def test_columns_that_cannot_be_are_refused(write, columns, message):
    with pytest.raises(DataError, match=message):
        rr(write(RANKED), columns={"run": columns})


def test_lines_of_another_number_of_columns_are_refused(write):
    with pytest.raises(DataError, match=r"has 3 columns, and --columns names 4"):
        rr(write(RANKED[:8]), columns={"run": "query,document,rank,score"})
    rows = [*RANKED[:3], ("q9", "d")]
    for name, separator, message in (("a.tsv", "\t", "2 fields where 3 are needed"), ("a.csv", ",", "rank is missing")):
        with pytest.raises(DataError, match=message):
            rr(write(rows, name, separator), columns={"run": "query,document,rank"})


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("rank", ["1.5", "-1", "nan"])
def test_ranks_are_whole_numbers(write, rank, separator):
    with pytest.raises(DataError, match=rf"run.csv:2: the rank '{rank}' is not a whole number from 0 on"):
        rr(write([("q1", "a", 1), ("q1", "b", rank)], "run.csv", separator), columns={"run": "query,document,rank"})


def test_judgments_without_a_header_are_asked_for(write):
    rows = [(query, document, 1) for query, judged in QRELS.items() for document in judged]
    for name, separator in (("qrels.tsv", "\t"), ("qrels", " "), ("qrels.csv", ",")):
        path, run = write(rows, name, separator), {query: {f"{query}-1": 1.0} for query in QUERIES}
        with pytest.raises(DataError, match=r"--columns query,document,grade"):
            rr(run, path)
        assert rr(run, path, columns={"qrels": "query,document,grade"}) == 1.0


def test_judgments_without_a_header_may_name_intents(write):
    rows = [("q1", "a", "i1", 1), ("q1", "a", "i2", 1), ("q1", "b", "i1", 0)]
    result = rankgauge.evaluate(
        write(rows, "qrels"), {"q1": {"a": 2.0}}, ["strec@5"], columns={"qrels": "query,document,intent,grade"}
    )
    assert result["strec@5"].mean == 1.0


def as_frame(rows, names=("qid", "docno", "rank")):
    return pl.DataFrame(rows, schema=list(names), orient="row")


class RankedDoc(NamedTuple):
    query_id: str
    doc_id: str
    rank: int


def as_tuples(rows):
    return [RankedDoc(*row) for row in rows]


def test_without_scores_the_ranks_of_a_table_order_it(tmp_path, write):
    frame = as_frame(RANKED)
    frame.write_parquet(tmp_path / "run.parquet")
    runs = [frame, frame.lazy(), tmp_path / "run.parquet", as_tuples(RANKED), frame.sample(fraction=1.0, seed=1)]
    runs += [
        write([("qid", "docno", "rank"), *RANKED], f"run.{ending}", sep)
        for ending, sep in (("tsv", "\t"), ("csv", ","))
    ]
    assert [rr(run) for run in runs] == [1.0] * len(runs)
    renamed = frame.rename({"rank": "position"})
    assert rr(renamed, columns={"rank": "position"}) == rr(renamed, columns={"run.rank": "position"}) == 1.0


def test_without_scores_a_rank_is_a_whole_number():
    with pytest.raises(DataError, match=r"row 1: the rank 1\.5 is not a whole number from 0 on"):
        rr(as_frame([("q1", "a", 1.0), ("q1", "b", 1.5)]))
    with pytest.raises(DataError, match="ranks in column 'rank' are of type String; make them numbers"):
        rr(as_frame([("q1", "a", "1")]))


NAMES = ("qid", "docno", "rank", "score")


@pytest.mark.parametrize("ending", ["", "parquet", "csv", "bare"])
def test_with_both_scores_order_and_a_conflict_is_said(ending, tmp_path, write):
    """The scores of two queries rise in the order of ranks, so that rank 4 comes first."""
    rows = [(q, d, r, r if q in {"q3", "q4"} else 9 - r) for q, d, r in RANKED]
    run, columns = as_frame(rows, NAMES), None
    if ending == "parquet":
        run.write_parquet(tmp_path / "run.parquet")
        run = tmp_path / "run.parquet"
    elif ending:
        run = write([NAMES, *rows] if ending == "csv" else rows, "run.csv", ",")
        columns = None if ending == "csv" else {"run": "query,document,rank,score"}
    result = rankgauge.evaluate(QRELS, run, ["RR"], columns=columns)
    assert result["RR"].mean == pytest.approx((10 + 2 / 4) / 12, rel=1e-12)
    said = [note for note in result.notes if "ranks beside its scores that contradict them" in note]
    assert len(said) == 1
    assert "for query 'q3' and 1 other query; the scores order it" in said[0]


def test_ranks_that_agree_with_scores_or_are_missing_are_no_conflict():
    agreeing = [(q, d, r - 1, 9.0 - r) for q, d, r in RANKED]
    tied = [(q, d, r, 1.0) for q, d, r in RANKED]
    missing = [(q, d, None, 9.0 - r) for q, d, r in RANKED]
    texts = [(q, d, f"#{r}", 9.0 - r) for q, d, r in RANKED]
    for rows in (agreeing, agreeing[::-1], tied, missing, texts):
        assert not [note for note in rankgauge.evaluate(QRELS, as_frame(rows, NAMES), ["RR"]).notes if "rank" in note]


def test_preflight_looks_at_the_ranks_of_tables_too(write):
    rows = [(q, d, r, r) for q, d, r in RANKED]
    found = rankgauge.preflight(QRELS, as_frame(rows, NAMES))
    assert [each.code for each in found.errors] == ["score-direction"]
    assert rankgauge.preflight(QRELS, write(RANKED)).ok
    assert rankgauge.preflight(QRELS, write(RANKED[:8]), columns={"run": "query,document,rank"}).ok
