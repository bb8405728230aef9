"""Parquet, CSV and TSV files as judgments and runs."""

import gzip
import random

import polars as pl
import pytest
import zstandard

from draws import some
from ranked_tables import WORKED_QRELS, WORKED_RUN, qrels_frame, run_frame, scores_of, write_qrels, write_run
from rankgauge.errors import DataError, UnreadableError
from rankgauge.io import table_files as parquet
from rankgauge.io.field_names import Columns
from rankgauge.io.table_files import DelimitedRows, row_groups

COMPRESSED = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}


def messages(error):
    return [str(problem) for problem in error.value.problems]


def written(path, frame, separator=","):
    """Write a frame as delimited text and return the path."""
    text = frame.write_csv(separator=separator).encode()
    path.write_bytes(COMPRESSED[path.suffix if path.suffix in COMPRESSED else ""](text))
    return path


@pytest.mark.parametrize("rows_of_group", some([3, 100, 10**6], first=1))
@pytest.mark.parametrize("piece", some([500, 1]))
def test_parquet_scores_as_the_same_rows_in_trec_text(rows_of_group, piece, generated, as_trec, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_PIECE", piece)
    monkeypatch.setattr("rankgauge.io.table_rows._SMALL", 2)
    qrels, run = (tmp_path / "qrels.parquet", tmp_path / "run[1].pq")
    qrels_frame(generated[0]).write_parquet(qrels)
    frame = run_frame(generated[1]).with_columns(rank=1, text=pl.lit("a long text"))
    frame.write_parquet(run, row_group_size=rows_of_group)
    assert scores_of(qrels, str(run)) == as_trec


def test_parquet_is_known_by_what_stands_in_it(generated, as_trec, tmp_path):
    qrels, run = generated
    run_frame(run).write_parquet(tmp_path / "run")
    assert scores_of(qrels_frame(qrels), tmp_path / "run") == as_trec


@pytest.mark.parametrize("writer", ["polars", "pyarrow"])
@pytest.mark.parametrize("sizes", [[10], [4, 4, 2], [1] * 10])
def test_row_groups_are_counted_from_the_footer(writer, sizes, tmp_path):
    frame = pl.DataFrame({"a": list("abcdefghij"), "b": range(10), "c": [[True], *[[]] * 9], "d": [None, *[1.5] * 9]})
    path = tmp_path / "x.parquet"
    if writer == "polars":
        frame.write_parquet(path, row_group_size=sizes[0])
    else:
        arrow, files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        files.write_table(arrow.table(frame.to_dict(as_series=False)), path, row_group_size=sizes[0])
    counts = row_groups(path)
    assert sum(counts) == 10
    if writer == "pyarrow":
        assert counts == sizes


def test_a_footer_that_cannot_be_read_is_left_to_polars(tmp_path):
    path = tmp_path / "x.parquet"
    run_frame(WORKED_RUN).write_parquet(path)
    whole = path.read_bytes()
    for data in (b"", b"PAR1", whole[:-9] + whole[-8:], whole[:-8] + b"\xff\xff\xff\x7fPAR1", b"\xff" * 50 + b"PAR1"):
        path.write_bytes(data)
        with pytest.raises(UnreadableError, match="not a readable Parquet file"):
            scores_of(qrels_frame(WORKED_QRELS), path)


def test_every_row_of_a_parquet_file_that_cannot_be_used_is_told(tmp_path):
    path = tmp_path / "run.parquet"
    run_frame([*WORKED_RUN, ("q3", None, float("nan"))]).write_parquet(path, row_group_size=2)
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), path)
    assert messages(error) == [f"{path}, row 5: the document is missing; the score nan is not a finite number"]


def test_missing_columns_of_a_file_name_the_file(tmp_path):
    path = tmp_path / "run.parquet"
    run_frame(WORKED_RUN, ("query_id", "doc_id", "wert")).write_parquet(path)
    with pytest.raises(DataError, match=r"run\.parquet: no column for the score; the columns are 'query_id'"):
        scores_of(qrels_frame(WORKED_QRELS), path)
    assert scores_of(qrels_frame(WORKED_QRELS), path, columns={"score": "wert"})


@pytest.mark.parametrize("compression", COMPRESSED)
@pytest.mark.parametrize(("ending", "separator"), [(".csv", ","), (".csv", ";"), (".tsv", "\t")])
def test_text_with_a_header_scores_as_trec_text(compression, ending, separator, generated, as_trec, tmp_path):
    qrels = written(tmp_path / f"qrels{ending}{compression}", qrels_frame(generated[0]), separator)
    frame = run_frame(generated[1]).with_columns(text=pl.lit('said "no", then\nleft;'))
    assert scores_of(qrels, written(tmp_path / f"run{ending}{compression}", frame, separator)) == as_trec


@pytest.mark.parametrize("block", [1, 30, 1000])
def test_blocks_of_any_size_give_the_same_rows(block, tmp_path):
    frame = run_frame([("q1", "a", 0.5), ("q1", "b\n,c", 0.25), ("q2", 'd"e', 1.0)] * 20)
    path = written(tmp_path / "run.csv", frame)
    frames = [frame.rows for frame in DelimitedRows(path, "run", None, name="run", block=block).frames()]
    read = pl.concat(frames).with_columns(pl.col("value").cast(pl.Float64))
    assert read.rows() == frame.rows()


def test_numbers_are_read_to_the_last_bit(tmp_path):
    seeded = random.Random(5)  # noqa: S311  # data for tests
    numbers = [seeded.uniform(-1, 1) * 10 ** seeded.randint(-300, 300) for _ in range(2000)]
    lines = [f"q,{at},{number!r}\n" for at, number in enumerate(numbers)]
    (tmp_path / "run.csv").write_text("qid,docno,score\n" + "".join(lines), encoding="utf-8")
    frame = next(DelimitedRows(tmp_path / "run.csv", "run", None, name="").frames()).rows
    assert frame["value"].cast(pl.Float64).to_list() == numbers


def test_beir_judgments_with_a_byte_order_mark_line_ends_of_windows_and_blank_lines(tmp_path):
    text = "\ufeffquery-id\tcorpus-id\tscore\r\nq1\ta\t2\r\n\r\nq1\tb\t1\r\nq2\tc\t1\r\n\r\n"
    (tmp_path / "test.tsv").write_bytes(text.encode())
    run = write_run(tmp_path / "run", WORKED_RUN)
    assert scores_of(tmp_path / "test.tsv", run) == scores_of(write_qrels(tmp_path / "qrels", WORKED_QRELS), run)


@pytest.mark.parametrize("name", ["qrels.tsv", "qrels.csv", "qrels.txt", "qrels"])
def test_a_header_or_its_absence_tells_a_table_from_trec_text(name, tmp_path):
    run = write_run(tmp_path / "run.tsv", WORKED_RUN)
    path = tmp_path / name
    expected = scores_of(qrels_frame(WORKED_QRELS), run_frame(WORKED_RUN))
    assert scores_of(write_qrels(path, WORKED_QRELS), run) == expected
    assert scores_of(written(path, qrels_frame(WORKED_QRELS), "\t"), run) == expected


def test_three_columns_without_a_header_are_not_guessed(tmp_path):
    path = tmp_path / "qrels.tsv"
    path.write_text("# a comment\n10\t20\t1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"qrels\.tsv:2: .* has 3 columns and no header") as error:
        scores_of(path, run_frame(WORKED_RUN))
    assert "--columns query,document,grade" in str(error.value)


@pytest.mark.parametrize("name", ["run.csv", "run.txt"])
@pytest.mark.parametrize("garbage", [b"\x7fELF\x02\rthe\rrest\nof it", b"a\0b,c\n", b"x" * 200_000])
def test_a_file_that_is_no_text_is_told_and_no_inner_error(name, garbage, tmp_path):
    (tmp_path / name).write_bytes(garbage)
    with pytest.raises(DataError, match="the run cannot be read") as error:
        scores_of(qrels_frame(WORKED_QRELS), tmp_path / name)
    assert all(name in message for message in messages(error))


def test_a_header_of_other_names_says_which_columns_it_lacks(tmp_path):
    path = written(tmp_path / "run.csv", run_frame(WORKED_RUN, ("frage", "doc_id", "wert")))
    with pytest.raises(DataError, match=r"run\.csv: no column for the query; the columns are 'frage', 'doc_id'"):
        scores_of(qrels_frame(WORKED_QRELS), path)
    columns = {"run.query": "frage", "score": "wert"}
    assert scores_of(qrels_frame(WORKED_QRELS), path, columns=columns)


def test_every_line_that_cannot_be_used_is_told(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("qid,docno,score\nq1,a,1\n,b,2\nq1,,high\nq1,d\nq1,e,1e999\nq1,f, 1\n", encoding="utf-8")
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), path)
    assert messages(error) == [
        f"{path}:3: the query is missing",
        f"{path}:4: the document is missing; the score 'high' is not a finite number",
        f"{path}:5: the score is missing",
        f"{path}:6: the score '1e999' is not a finite number",
        f"{path}:7: the score ' 1' is not a finite number",
    ]


def test_rows_are_counted_where_they_are_no_lines(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text('qid,docno,score\nq1,"a\nb",1\nq1,c,\n', encoding="utf-8")
    with pytest.raises(DataError, match="row 1: the score is missing"):
        scores_of(qrels_frame(WORKED_QRELS), path)


def test_lines_with_too_many_fields_and_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes(b"qid,docno,score\nq1,a,1\nq1,b,2,3\nq1,c\xff,1\n")
    with pytest.raises(DataError) as error:
        scores_of(qrels_frame(WORKED_QRELS), path)
    assert messages(error) == [
        f"{path}:3: 4 fields, but the header has 3",
        f"{path}:4: bytes that are not UTF-8; save the file as UTF-8",
    ]
    path.write_bytes(b'qid,docno,score\nq1,a"b,1\nq1,c,1\n')
    with pytest.raises(DataError, match="must itself be quoted"):
        scores_of(qrels_frame(WORKED_QRELS), path)


def test_columns_are_found_in_the_header(tmp_path):
    path = written(tmp_path / "x.csv", pl.DataFrame({"rank": [1], "docno": ["a"], "qid": ["q"], "score": [1.0]}))
    rows = DelimitedRows(path, "run", None, name="x")
    assert rows._columns == Columns("qid", "docno", "score", rank="rank")
