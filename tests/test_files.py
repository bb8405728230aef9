"""`rankgauge.files`, as a plugin or another program uses it."""

from __future__ import annotations

import gzip
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from rankgauge import Catalog, evaluate, files
from rankgauge.errors import DataError, NothingToEvaluateError, ParameterError, Problem, ResultError
from rankgauge.plugin import Record, hookimpl, reader


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_judgments_are_those_that_evaluate_takes():
    Path("qrels.txt").write_text("q2 0 d1 0\nq1 0 d1 2\nq1 0 d2 -1\n", encoding="utf-8")
    qrels = files.read_qrels("qrels.txt")
    assert qrels == {"q2": {"d1": 0.0}, "q1": {"d1": 2.0, "d2": -1.0}}
    run = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}
    assert evaluate(qrels, run, "rr")["rr"].mean == evaluate("qrels.txt", run, "rr")["rr"].mean == 0.25


def test_ids_that_are_not_utf_8_come_back_as_they_were():
    """Latin-1 `é` is one byte that UTF-8 does not have: it is a surrogate, and the same bytes again in a run."""
    Path("qrels.txt").write_bytes(b"q1 0 caf\xe9 1\n")
    Path("run.txt").write_bytes(b"q1 Q0 caf\xe9 1 2.5 tag\n")
    ((query, ranking),) = files.read_run("run.txt")
    assert files.read_qrels("qrels.txt") == {"q1": {"caf\udce9": 1.0}}
    assert (query, ranking) == ("q1", [("caf\udce9", 2.5)])
    assert ranking[0][0].encode("utf-8", "surrogateescape") == b"caf\xe9"
    assert evaluate(files.read_qrels("qrels.txt"), {query: dict(ranking)}, "rr")["rr"].mean == 1.0


def test_merged_judgments_are_noted():
    Path("qrels.txt").write_text("q1 a d1 1\nq1 b d1 3\n", encoding="utf-8")
    notes: list[str] = []
    assert files.read_qrels("qrels.txt", notes=notes) == {"q1": {"d1": 3.0}}
    assert len(notes) == 1
    assert "several judgments" in notes[0]
    assert files.read_qrels("qrels.txt") == {"q1": {"d1": 3.0}}


def test_a_run_is_read_in_its_order_and_each_query_once():
    lines = ["q1 Q0 d2 9 1.0 tag", "q2 Q0 d1 1 4.0 tag", "q1 Q0 d1 1 3.0 tag"]
    Path("run.txt").write_text("\n".join(lines), encoding="utf-8")
    assert sorted(files.read_run("run.txt")) == [("q1", [("d2", 1.0), ("d1", 3.0)]), ("q2", [("d1", 4.0)])]


def test_tables_have_columns_of_their_own_names():
    pl.DataFrame({"frage": ["q1"], "stelle": ["d1"], "note": [2]}).write_parquet("qrels.parquet")
    columns = {"query": "frage", "document": "stelle", "grade": "note"}
    assert files.read_qrels("qrels.parquet", columns=columns) == {"q1": {"d1": 2.0}}


def test_every_line_that_cannot_be_used_is_named():
    Path("qrels.txt").write_text("q1 0 d1 x\nq1 0 d2 1\nq1 0 d3 y\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        files.read_qrels("qrels.txt")
    assert [problem.line for problem in caught.value.problems] == [1, 3]


def test_a_corpus_is_read_with_titles():
    Path("corpus.jsonl").write_text('{"id": "d1", "title": "Tides", "text": "The sea."}\n{"_id": "d2", "text": "A"}\n')
    corpus = files.read_corpus("corpus.jsonl")
    assert (corpus.ids, corpus.titles, corpus.texts) == (("d1", "d2"), ("Tides", ""), ("The sea.", "A"))
    assert corpus.wholes[0] == "Tides\nThe sea."
    assert corpus.number_of == {"d1": 0, "d2": 1}
    Path("empty.jsonl").write_text("")
    with pytest.raises(NothingToEvaluateError):
        files.read_corpus("empty.jsonl")


def test_a_sample_is_read_or_its_problems_are_listed():
    problems: list[Problem] = []
    record = {"id": "q1", "expected_output": {"relevant": ["d1"]}, "actual_output": ["d2", "d1"]}
    sample = files.read_sample(record, problems=problems)
    assert sample is not None
    assert isinstance(sample.output, files.Output)
    assert (sample.output.ids, problems) == (["d2", "d1"], [])
    wrong = files.read_sample({"id": "q2", "expected_output": {"relevant": 3}}, problems=problems, file="a", line=7)
    assert wrong is None
    assert [(problem.file, problem.line) for problem in problems] == [("a", 7)]
    with pytest.raises(DataError, match="the samples cannot be used:"):
        files.refuse("the samples cannot be used:", problems)
    files.refuse("the samples cannot be used:", [])
    unlabelled = files.read_sample({"id": "q3"}, problems=[], needs_gold=False)
    assert unlabelled is not None
    faulty = files.read_sample({**record, "actual_output": 3}, problems=[])
    assert faulty is not None
    assert isinstance(faulty.output, files.Fault)


def test_records_are_read_in_the_format_of_the_ending():
    Path("rows.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n\n{broken\n'))
    first, second = files.records("rows.jsonl.gz")
    assert (first.value, first.line) == ({"a": 1}, 1)
    assert isinstance(second.value, files.Fault)
    assert second.line == 3
    assert files.plain_suffix("ROWS.JSONL.GZ") == ".jsonl"

    @reader("words", suffixes=(".words",))
    def read_words(source):
        yield Record(source.stream.read().decode().split())

    plugin = SimpleNamespace(rankgauge_readers=hookimpl(lambda: [read_words]))
    plugin.rankgauge_readers.__name__ = "rankgauge_readers"
    catalog = Catalog.discover(plugins={"acme": plugin})
    Path("a.words").write_text("b c")
    assert [record.value for record in files.records("a.words", catalog=catalog)] == [["b", "c"]]
    assert [record.value for record in files.records("a.words", catalog=catalog, reader="words")] == [["b", "c"]]
    with pytest.raises(DataError, match="no reader for files ending in"):
        list(files.records("a.words", catalog=Catalog.discover(own_only=True)))


def test_an_open_file_is_decompressed_and_has_no_mark():
    Path("a.json.gz").write_bytes(gzip.compress(b'\xef\xbb\xbf{"a": [1, 2]}'))
    with files.open_file("a.json.gz") as source:
        assert files.read_json(source) == {"a": [1, 2]}
    assert files.read_bytes("a.json.gz") == b'{"a": [1, 2]}'
    Path("b.json").write_text('{"a":\n 1,}')
    with pytest.raises(DataError, match=r"b\.json:2: not valid JSON"), files.open_file("b.json") as source:
        files.read_json(source)
    with pytest.raises(DataError, match=r"c\.json"):
        files.read_bytes("c.json")


def test_rows_of_json_lines_and_of_parquet_have_their_places():
    pl.DataFrame({"a": [1, 2], "b": [None, "x"]}).write_parquet("a.parquet")
    with files.open_file("a.parquet") as source:
        assert list(files.read_parquet(source)) == [
            Record({"a": 1}, None, "row 0"),
            Record({"a": 2, "b": "x"}, None, "row 1"),
        ]
    Path("a.log").write_text('{"a": 1}\n\n[2]\n')
    with files.open_file("a.log") as source:
        assert list(files.read_jsonl(source)) == [Record({"a": 1}, 1), Record([2], 3)]


@pytest.mark.parametrize(
    ("names", "kind", "expected"),
    [
        (["qid", "docno", "sim"], "run", {"query": "qid", "document": "docno", "score": "sim"}),
        (["qid", "docno", "rank"], "run", {"query": "qid", "document": "docno", "rank": "rank"}),
        (["query_id", "doc_id", "label"], "qrels", {"query": "query_id", "document": "doc_id", "grade": "label"}),
    ],
)
def test_columns_are_found_by_their_usual_names(names, kind, expected):
    assert files.find_columns(names, kind) == expected


def test_columns_that_are_not_there_or_are_no_role_are_refused():
    assert files.find_columns(["a", "docno", "sim"], "run", {"query": "a"})["query"] == "a"
    with pytest.raises(DataError, match="query"):
        files.find_columns(["docno", "sim"], "run")
    with pytest.raises(DataError, match="quary"):
        files.find_columns(["qid", "docno", "sim"], "run", {"quary": "qid"})


def test_values_are_found_by_the_paths_of_presets():
    value = {"hits": [{"doc": {"id": "d1"}}, {"doc": {"id": "d2"}}], "body": '{"answer": "yes"}'}
    assert list(files.values_at(value, "hits[].doc.id")) == ["d1", "d2"]
    assert list(files.values_at(value, "body.answer")) == ["yes"]
    assert list(files.values_at(value, "hits[].title")) == []


def test_files_are_written_all_or_none():
    files.write_whole({Path("a"): b"1", Path("b"): files.json_lines([{"id": "\udce9"}, {"id": "é"}])})
    assert Path("b").read_bytes() == '{"id": "\\udce9"}\n{"id": "é"}\n'.encode()
    with pytest.raises(ResultError, match="cannot write c and a: File exists; nothing was written there"):
        files.write_whole({Path("c"): b"3", Path("a"): b"4"})
    assert sorted(path.name for path in Path().iterdir()) == ["a", "b"]
    assert Path("a").read_bytes() == b"1"


def test_an_output_is_checked_before_the_work():
    files.check_new_file(Path("new"))
    Path("old").symlink_to("nowhere")
    with pytest.raises(ParameterError, match="old exists; choose another name"):
        files.check_new_file(Path("old"))
    with pytest.raises(ParameterError, match="there is no folder missing"):
        files.check_new_file(Path("missing/new"))
