import gzip
import json

import polars as pl
import pytest
import yaml
import zstandard

from rankgauge.catalog import Catalog
from rankgauge.errors import UnreadableError
from rankgauge.io.datasets import DatasetReader, DataSource
from rankgauge.io.file_records import records
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import Fault, read_sample

CATALOG = Catalog.discover(own_only=True)

# Parquet columns have one type each, so every sample has the same form.
ROWS = [
    {
        "id": "q1",
        "input": {"question": "How tall is the lighthouse?"},
        "expected_output": {"relevant": ["d3", "d9"], "answer": "41 metres"},
        "actual_output": {
            "retrieved": [{"id": "d1", "text": "Né à l'été", "score": 2.5}, {"id": "d3", "text": "b", "score": 1.0}],
            "answer": "41",
        },
        "metadata": {"k": 3, "tags": ["a", "b"]},
    },
    {
        "id": "q2",
        "input": {"question": "Who?"},
        "expected_output": {"relevant": ["d2"], "answer": "007"},
        "metadata": {"tags": []},
    },
    {
        "id": "q3",
        "input": {"question": "When?"},
        "expected_output": {"relevant": [], "answer": "no"},
        "actual_output": {"retrieved": [{"id": "d1", "text": "12:30", "score": 0.0}]},
    },
]


def in_format(suffix, tmp_path):
    match suffix:
        case ".jsonl":
            return "".join(f"{json.dumps(row)}\n" for row in ROWS).encode()
        case ".json":
            return json.dumps({"schema_version": "rankgauge.dataset.v1", "name": "x", "samples": ROWS}).encode()
        case ".yaml":
            return yaml.safe_dump({"name": "x", "samples": ROWS}, allow_unicode=True).encode()
        case ".parquet":
            path = tmp_path / "made.parquet"
            pl.DataFrame(ROWS).write_parquet(path)
            return path.read_bytes()


def write(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def read(path):
    return list(records(path, CATALOG))


def refusal(path):
    with pytest.raises(UnreadableError) as caught:
        read(path)
    (problem,) = caught.value.problems
    assert str(path) == problem.file
    return problem


@pytest.mark.parametrize("compression", ["", ".gz", ".zst"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".yaml", ".parquet"])
def test_every_format_holds_the_same_samples(tmp_path, suffix, compression):
    compress = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[compression]
    path = write(tmp_path, f"samples{suffix}{compression}", compress(in_format(suffix, tmp_path)))
    reader = DatasetReader(DataSource(path), catalog=CATALOG, contract=DEFAULT_CONTRACT)
    found = [sample for batch in reader.batches() for sample in batch]
    problems = []
    expected = [read_sample(row, problems=problems) for row in ROWS]
    assert problems == []
    # Metadata is kept as given; Parquet knows no absent fields inside of a struct, only null ones.
    plain = [sample._replace(metadata=None) for sample in found]
    assert [sample._replace(metadata=None) for sample in expected] == plain


@pytest.mark.parametrize("name", ["a.ndjson", "a.JSONL", "a.yml", "a.pq"])
def test_other_endings_of_the_formats_are_known(tmp_path, name):
    suffix = {"ndjson": ".jsonl", "JSONL": ".jsonl", "yml": ".yaml", "pq": ".parquet"}[name.partition(".")[2]]
    path = write(tmp_path, name, in_format(suffix, tmp_path))
    assert [record.value["id"] for record in read(path)] == ["q1", "q2", "q3"]


def test_json_lines_know_their_line_and_skip_blank_ones(tmp_path):
    path = write(tmp_path, "a.jsonl", '{"id": 1}\n\n  \r\n{"id": 2}\r\n{"id": 3}')
    assert [(item.line, item.value) for item in read(path)] == [(1, {"id": 1}), (4, {"id": 2}), (5, {"id": 3})]


def test_json_lines_may_begin_with_a_byte_order_mark(tmp_path):
    path = write(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"id": 1}\r\n')
    assert [item.value for item in read(path)] == [{"id": 1}]


def test_a_line_that_is_no_json_is_a_fault_with_line_and_column(tmp_path):
    found = read(write(tmp_path, "a.jsonl", '{"id": 1}\n{"id": 2,}\n{"id": 3}\n'))
    assert [item.line for item in found] == [1, 2, 3]
    assert isinstance(found[1].value, Fault)
    assert "not valid JSON" in found[1].value.reason
    assert "column" in found[1].value.reason


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_a_number_that_json_has_not_is_left_to_its_reader(tmp_path, name, word):
    """Python writes them, and one of them should harm no more than its sample."""
    text = f'{{"id": "q", "score": {word}}}'
    (item,) = read(write(tmp_path, name, f"{text}\n" if name == "a.jsonl" else f"[{text}]"))
    assert str(item.value) == str({"id": "q", "score": float(word)})


@pytest.mark.parametrize("word", ["NaN", "Infinity"])
def test_a_line_that_is_no_json_even_so_is_a_fault_that_names_the_number(tmp_path, word):
    (item,) = read(write(tmp_path, "a.jsonl", f'{{"id": "q", "score": {word}\n'))
    assert f"{word} is not a JSON number" in item.value.reason


def test_a_line_that_is_not_utf8_is_a_fault_with_the_offset_in_the_file(tmp_path):
    first = b'{"id": 1}\n'  # ten bytes, and seven before the wrong one in the second line
    found = read(write(tmp_path, "a.jsonl", first + b'{"id":"\xe9"}\n'))
    assert "byte 17 (0xe9) is not UTF-8" in found[1].value.reason


def test_the_offset_in_json_lines_counts_the_byte_order_mark(tmp_path):
    (item,) = read(write(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"id":"\xe9"}\n'))
    assert "byte 10 (0xe9) is not UTF-8" in item.value.reason  # three bytes of mark, seven before it


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_document_that_is_not_utf8_is_refused_with_the_offset(tmp_path, suffix):
    problem = refusal(write(tmp_path, f"a{suffix}", b'[{"id":\n"\xe9"}]'))
    assert "byte 9 (0xe9) is not UTF-8" in problem.message
    assert problem.line == 2


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_the_offset_in_a_document_counts_the_byte_order_mark(tmp_path, suffix):
    problem = refusal(write(tmp_path, f"a{suffix}", b'\xef\xbb\xbf["\xe9"]'))
    assert "byte 5 (0xe9) is not UTF-8" in problem.message


def test_broken_json_is_refused_with_line_and_column(tmp_path):
    problem = refusal(write(tmp_path, "a.json", '{"samples": [\n  {"id": 1},\n  {"id": }\n]}'))
    assert problem.line == 3
    assert "not valid JSON" in problem.message
    assert "column" in problem.message


def test_nan_in_a_broken_json_document_is_named(tmp_path):
    assert "NaN is not a JSON number" in refusal(write(tmp_path, "a.json", '[{"a": NaN]')).message


def test_a_hundred_thousand_open_brackets_of_json_do_not_crash(tmp_path):
    assert "not valid JSON" in refusal(write(tmp_path, "a.json", "[" * 100_000)).message
    (item,) = read(write(tmp_path, "a.jsonl", "[" * 100_000))
    assert "not valid JSON" in item.value.reason


def test_broken_yaml_is_refused_with_its_line(tmp_path):
    problem = refusal(write(tmp_path, "a.yaml", "samples:\n  - id: [1\n"))
    assert "not valid YAML" in problem.message
    assert problem.line is not None


def test_duplicate_keys_of_yaml_are_refused_with_both_lines(tmp_path):
    problem = refusal(write(tmp_path, "a.yaml", "samples:\n- id: q1\n  input: x\n  id: q2\n"))
    assert problem.line == 4
    assert "line 2" in problem.message


def test_the_records_of_yaml_know_line_and_place(tmp_path):
    found = read(write(tmp_path, "a.yaml", "name: x\nsamples:\n  - id: 1\n\n  - id: 2\n"))
    assert [(item.line, item.path) for item in found] == [(3, "samples[0]"), (5, "samples[1]")]


def test_the_records_of_json_know_their_place(tmp_path):
    found = read(write(tmp_path, "a.json", '{"samples": [{"id": 1}, {"id": 2}]}'))
    assert [item.path for item in found] == ["samples[0]", "samples[1]"]


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_a_document_may_be_a_bare_list(tmp_path, suffix):
    assert [item.value for item in read(write(tmp_path, f"a{suffix}", '[{"id": 1}]'))] == [{"id": 1}]


@pytest.mark.parametrize("version", ["rankgauge.dataset.v1", "eval-harness.dataset.v1"])
def test_known_schema_versions_are_read(tmp_path, version):
    path = write(tmp_path, "a.json", json.dumps({"schema_version": version, "samples": [{"id": 1}]}))
    assert [item.value for item in read(path)] == [{"id": 1}]


def test_an_unknown_schema_version_is_refused_with_a_suggestion_and_its_line(tmp_path):
    problem = refusal(write(tmp_path, "a.yaml", "name: x\nschema_version: rankgauge.dataset.v9\nsamples: []\n"))
    assert problem.line == 2
    assert "'rankgauge.dataset.v9'" in problem.message
    assert "did you mean 'rankgauge.dataset.v1'?" in problem.message


@pytest.mark.parametrize("text", ["samples: 3", "samples: {a: 1}", "samples:", "just words"])
def test_samples_that_are_no_list_are_a_fault(tmp_path, text):
    (item,) = read(write(tmp_path, "a.yaml", text))
    assert "expected a list of records" in item.value.reason


def test_nulls_of_parquet_are_left_out_at_any_depth(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame([{"id": "q1", "a": {"x": None, "y": 1}, "b": None}, {"id": "q2", "a": None, "b": [1]}]).write_parquet(
        path
    )
    assert [item.value for item in read(path)] == [{"id": "q1", "a": {"y": 1}}, {"id": "q2", "b": [1]}]


def test_rows_of_parquet_know_their_number(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": [f"q{n}" for n in range(5000)]}).write_parquet(path)
    found = read(path)
    assert (found[-1].path, found[-1].value) == ("row 4999", {"id": "q4999"})


@pytest.mark.parametrize("name", ["a.parquet", "a.parquet.gz"])
def test_a_file_that_is_no_parquet_is_refused(tmp_path, name):
    data = b"this is no table"
    path = write(tmp_path, name, gzip.compress(data) if name.endswith("gz") else data)
    assert "not a readable Parquet file" in refusal(path).message


@pytest.mark.parametrize("name", ["a[1].parquet", "a*.parquet", "a?b.parquet"])
def test_a_parquet_name_is_a_name_and_no_pattern(tmp_path, name):
    made = tmp_path / "made.bin"
    pl.DataFrame({"id": ["q1"]}).write_parquet(made)
    path = made.rename(tmp_path / name)
    assert [item.value for item in read(path)] == [{"id": "q1"}]


def test_an_unknown_ending_is_refused_with_the_known_ones_and_a_suggestion(tmp_path):
    message = refusal(write(tmp_path, "a.jsonlines", "{}")).message
    assert "'.jsonlines'" in message
    assert "did you mean" in message
    assert ".parquet" in message


@pytest.mark.parametrize("name", ["data", "data.jsonl", "data.parquet"])
def test_a_directory_is_called_a_directory_whatever_its_name(tmp_path, name):
    path = tmp_path / name
    path.mkdir()
    assert "directory" in refusal(path).message
