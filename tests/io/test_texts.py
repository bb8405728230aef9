"""Texts by id, from the kinds of collections that people have."""

import gzip
import json

import pytest

from rankgauge.errors import DataError, UnreadableError
from rankgauge.io.file_records import read_texts


def read(catalog, path, *wanted):
    return read_texts(path, wanted, of="document", catalog=catalog)


def jsonl(path, *rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_only_wanted_texts_are_kept(catalog, tmp_path):
    path = jsonl(tmp_path / "c.jsonl", {"id": "a", "text": "A"}, {"id": "b", "text": "B"})
    assert read(catalog, path, "b", "z") == {"b": "B"}


@pytest.mark.parametrize(
    "row",
    [
        {"_id": "a", "contents": "A"},
        {"docno": "a", "body": "A"},
        {"qid": "a", "query": "A"},
        {"doc_id": "a", "text": "A"},
    ],
)
def test_common_names_of_ids_and_texts_are_known(catalog, tmp_path, row):
    assert read(catalog, jsonl(tmp_path / "c.jsonl", row), "a") == {"a": "A"}


def test_an_id_that_is_a_number_is_read_as_its_text(catalog, tmp_path):
    assert read(catalog, jsonl(tmp_path / "c.jsonl", {"id": 7, "text": "A"}), "7") == {"7": "A"}


def test_a_title_stands_before_the_text_unless_the_text_has_it(catalog, tmp_path):
    path = jsonl(
        tmp_path / "c.jsonl",
        {"id": "a", "title": "T", "text": "about a"},
        {"id": "b", "title": "T", "text": "T about b"},
        {"id": "c", "title": "T"},
        {"id": "d", "title": "", "text": ""},
    )
    assert read(catalog, path, "a", "b", "c", "d") == {"a": "T\nabout a", "b": "T about b", "c": "T"}


def test_tabs_separate_ids_from_texts_in_tsv_files(catalog, tmp_path):
    path = tmp_path / "queries.tsv.gz"
    path.write_bytes(gzip.compress(b"q1\twhat is\ta tab\r\nq2\n\nq3\tno\n"))
    assert read(catalog, path, "q1", "q2") == {"q1": "what is\ta tab"}


def test_rows_without_an_id_are_named_together(catalog, tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text('{"text": "A"}\n[1]\n{broken\n{"id": "a", "text": "A"}\n', encoding="utf-8")
    with pytest.raises(DataError) as raised:
        read(catalog, path, "a")
    assert [problem.line for problem in raised.value.problems] == [1, 2, 3]


def test_files_of_other_kinds_are_refused(catalog, tmp_path):
    (tmp_path / "c.txt").write_text("a A\n", encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"no reader for files ending in '\.txt'"):
        read(catalog, tmp_path / "c.txt", "a")
