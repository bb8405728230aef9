"""Limits: what one line, one query or one compressed file may hold, on every road that reads files."""

import gzip
import json
import tracemalloc

import pytest
import zstandard

from draws import in_thorough_suite
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, ParameterError
from rankgauge.io.file_records import records
from rankgauge.io.files import open_file
from rankgauge.io.open_sources import open_qrels, open_run
from rankgauge.io.problems import MAX_LINE, limited, longest_piece, parse_size, written_size
from rankgauge.policy import DEFAULT_CONTRACT
from tables import rows

LIMIT = 1 << 16
PACKED = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}
CATALOG = Catalog.discover(own_only=True)


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setenv(MAX_LINE, "64KB")


def write(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(PACKED.get(path.suffix, bytes)(data))
    return path


def all_rows(path):
    return [row for batch in open_run(path).grouped() for row in batch.names.texts()]


def read(kind, path):
    if kind == "run":
        return all_rows(path)
    if kind == "qrels":
        return open_qrels(path)
    return list(records(path, CATALOG))


def refused(kind, path):
    with pytest.raises(DataError) as caught:
        read(kind, path)
    (problem,) = caught.value.problems
    assert problem.file == str(path)
    return problem


@pytest.mark.parametrize(
    ("written", "size"), [("1", 1), ("64KB", 65_536), ("256 MB", 268_435_456), ("2gb", 2_147_483_648), ("7b", 7)]
)
def test_sizes_are_read_with_units(written, size):
    assert parse_size(written, "here") == size


@rows("written", ["", "0", "-1", "1.5MB", "MB", "1TB", "nan", "9" * 40])
def test_other_sizes_are_refused_by_the_name_of_their_origin(written):
    with pytest.raises(ParameterError, match=r"--max-line is a size above 0, such as 512MB or 2GB"):
        parse_size(written, "--max-line")


def test_sizes_are_shown_in_the_largest_whole_unit():
    assert [written_size(size) for size in (1, 1500, 65_536, 3 << 20, 1 << 30)] == [
        "1 bytes",
        "1,500 bytes",
        "64 KB",
        "3 MB",
        "1 GB",
    ]


def test_the_limit_is_256_mb_and_can_be_changed_for_a_while(monkeypatch):
    monkeypatch.delenv(MAX_LINE, raising=False)
    assert longest_piece() == 268_435_456
    with limited("1MB", "--max-line"):
        assert longest_piece() == 1_048_576
    assert longest_piece() == 268_435_456


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize(
    ("kind", "name", "line"),
    [
        ("samples", "a.jsonl", b'{"id": "%s"}\n'),
        ("run", "run", b"q1 Q0 %s 1 1.0 t\n"),
        ("qrels", "qrels", b"q1 0 %s 1\n"),
        ("qrels", "qrels.tsv", b"query-id\tcorpus-id\tscore\nq1\t%s\t1\n"),
    ],
)
def test_a_line_beyond_the_limit_is_an_error_with_its_number(kind, name, line, packed, tmp_path):
    short = line % b"d"
    header = short.count(b"\n") - 1
    path = write(tmp_path, name + packed, short + b"\n" * 3 + line[line.rfind(b"\n", 0, -1) + 1 :] % (b"x" * 2 * LIMIT))
    problem = refused(kind, path)
    assert "the line has more than 64 KB; raise the limit with --max-line or RANKGAUGE_MAX_LINE" in problem.message
    assert problem.line == header + 5


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("packed", PACKED)
def test_files_of_any_size_pass_whose_lines_are_short(packed, tmp_path):
    data = b"".join(b'{"id": "%d"}\n' % n for n in range(20_000))
    assert len(data) > 4 * LIMIT
    assert len(read("samples", write(tmp_path, f"a.jsonl{packed}", data))) == 20_000


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize("packed", [".gz", ".zst"])
@pytest.mark.parametrize(
    ("kind", "name", "data"),
    [
        ("samples", "a.json", b"[" + b"1,\n" * LIMIT + b"1]"),
        ("samples", "a.yaml", b"- 1\n" * LIMIT),
        ("samples", "a.parquet", b"PAR1\n" * LIMIT),
        ("qrels", "qrels", b"q1 0 d1 1\n" * LIMIT),
        ("qrels", "qrels.json", b"{\n" * LIMIT),
        ("run", "run.parquet", b"PAR1\n" * LIMIT),
    ],
)
def test_what_is_read_whole_may_not_expand_beyond_the_limit(kind, name, data, packed, tmp_path):
    problem = refused(kind, write(tmp_path, name + packed, data))
    assert problem.message == (
        "it has more than 64 KB once decompressed; decompress the file, or raise the limit with --max-line or "
        "RANKGAUGE_MAX_LINE"
    )


@pytest.mark.usefixtures("small_limit")
def test_what_is_read_whole_may_be_of_any_size_on_the_disk(tmp_path):
    rows = "".join(f"q1 0 d{n} 1\n" for n in range(20_000))
    assert open_qrels(write(tmp_path, "qrels", rows.encode())).n_judgments == 20_000


@in_thorough_suite()
@pytest.mark.usefixtures("small_limit")
def test_one_query_of_a_run_beyond_the_limit_is_refused_by_its_name(tmp_path):
    lines = b"".join(b"q1 Q0 d%d 1 1.0 t\n" % n for n in range(200_000))
    problem = refused("run", write(tmp_path, "run", lines))
    assert "the lines of query 'q1' have more than 64 KB together" in problem.message


@pytest.mark.usefixtures("small_limit")
def test_a_row_of_a_table_whose_quote_is_not_closed_is_refused(tmp_path):
    rows = b"query-id,corpus-id,score\nq1,d1,1\n" + b'q2,"d2,1\n' + b"q3,d3,1\n" * 20_000
    problem = refused("qrels", write(tmp_path, "qrels.csv", rows))
    assert "a row has more than 64 KB; a quote may not be closed" in problem.message
    assert problem.line == 3


@pytest.mark.parametrize("packed", [".gz", ".zst"])
def test_expanding_takes_little_memory_however_small_the_file(packed, tmp_path):
    """32 MB of blank lines, from a few KB, are read in blocks; so no more than that is ever held."""
    path = write(tmp_path, f"a.jsonl{packed}", b"\n" * (32 << 20))
    assert path.stat().st_size < 50_000
    with open_file(path) as opened:
        tracemalloc.start()
        total = sum(map(len, iter(lambda: opened.stream.read(1 << 16), b"")))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert total == 32 << 20
    assert peak < 36 << 20


def test_a_sample_of_ten_thousand_brackets_is_a_problem_of_its_line(tmp_path):
    path = write(tmp_path, "a.jsonl", b'{"id": "a"}\n' + b"[" * 10_000 + b"]" * 10_000 + b"\n")
    assert [record.line for record in records(path, CATALOG)] == [1, 2]


@pytest.mark.parametrize("field", ["id", "actual_output"])
def test_values_nested_a_thousand_deep_are_reported_without_being_shown(field, tmp_path):
    from rankgauge.io.output_files import read_outputs

    deep = "[" * 1000 + "]" * 1000
    row = {"id": '"a"', "actual_output": '["d1"]', field: deep}
    text = ", ".join(f'"{key}": {value}' for key, value in row.items())
    path = write(tmp_path, "outputs.jsonl", f"{{{text}}}\n".encode())
    if field == "id":
        with pytest.raises(DataError, match="an output needs the 'id' of its sample") as caught:
            read_outputs(path, catalog=CATALOG, contract=DEFAULT_CONTRACT)
        assert len(str(caught.value)) < 500
    else:
        assert "retrieved[0]" in read_outputs(path, catalog=CATALOG, contract=DEFAULT_CONTRACT).by_id["a"].reason


@in_thorough_suite()
@pytest.mark.parametrize("length", [131_073, 1_100_000])
def test_long_fields_of_tables_are_read(length, tmp_path):
    document = "d" * length
    path = write(tmp_path, "qrels.csv", f'query-id,corpus-id,score\nq1,"{document}",1\n'.encode())
    assert open_qrels(path).names == (document,)


def test_a_wrong_table_with_long_fields_is_explained(tmp_path):
    rows = f'query-id,corpus-id,score\nq1,{"d" * 140_000},1\nq2,d"2"x,1,1,1\n'
    with pytest.raises(DataError) as caught:
        open_qrels(write(tmp_path, "qrels.csv", rows.encode()))
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "not valid CSV: field larger than field limit (131072)")
    ]


def test_nothing_of_the_limit_shows_in_json(tmp_path):
    path = write(tmp_path, "a.json", json.dumps([{"id": "a"}]).encode())
    assert [record.value for record in records(path, CATALOG)] == [{"id": "a"}]
