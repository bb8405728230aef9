"""Files of documents that are left out for each query, in each form, and what is said of those that have none."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from rankgauge.errors import DataError
from rankgauge.exclusions import Excluded
from rankgauge.io.excluded_files import read_excluded

_WANTED = Excluded({"q1": ["x", "z"], "2": ["y"]}).fingerprint


_BRIGHT = """\
{"id": "q1", "excluded_ids": ["x", "z"], "gold_ids": ["a"]}
{"id": "2", "excluded_ids": ["y"]}
{"id": "3", "excluded_ids": ["N/A"]}
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.json", '{"q1": ["x", "z"], "2": ["y"], "q3": []}'),
        ("e.jsonl", '{"id": "q1", "excluded_ids": ["z", "x"]}\n{"id": 2, "excluded_ids": ["y"]}\n'),
        ("e.json", '[{"query_id": "q1", "excluded_ids": ["z", "x"]}, {"qid": "2", "excluded": ["y"]}]'),
        ("e.jsonl", '{"topic_id": "q1", "excluded_ids": ["z", "x"]}\n{"q_id": 2, "excluded_ids": ["y"]}\n'),
        ("bright.jsonl", _BRIGHT),
        ("e.txt", "q1 x\nq1\tz\n\n2 y\n"),
        ("e.qrels", "q1 0 x 1\nq1 0 z 1\n2 0 y 1\n"),
    ],
)
def test_each_form_holds_the_same(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert read_excluded(tmp_path / name).fingerprint == _WANTED
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
    assert read_excluded(tmp_path / f"{name}.gz").fingerprint == _WANTED


def test_parquet_is_read_as_hugging_face_has_it(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["q1", "2"], "excluded_ids": [["x", "z"], ["y"]]}).write_parquet(tmp_path / "e.parquet")
    assert read_excluded(tmp_path / "e.parquet").fingerprint == _WANTED


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("e.json", '{"q1": "x"}', "query 'q1': the documents are a list of ids, not 'x'"),
        ("e.jsonl", '{"id": "q1"}\n', "e.jsonl:1: a row has the id of a query"),
        ("e.jsonl", '{"id": "q1", "excluded_ids": [1.5]}\n', "not [1.5]"),
        ("e.txt", "q1 x\nq1\n", "e.txt:2: each line is a query and a document"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(name: str, content: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError) as refused:
        read_excluded(tmp_path / name)
    assert problem in str(refused.value)
