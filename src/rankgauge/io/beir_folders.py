"""
Folders of BEIR and MTEB: queries and judgments as the records of a dataset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from rankgauge.catalog import Catalog
from rankgauge.io.file_records import read_texts, records
from rankgauge.io.files import digest, plain_suffix, reading
from rankgauge.io.problems import unreadable
from rankgauge.io.row_records import grades_of
from rankgauge.plugin.declarations import Record

__all__ = ["BEIR", "folder_digest", "folder_records"]

BEIR = "beir"
"""The preset that reads a folder."""

_QUERIES = ("queries.jsonl", "queries.jsonl.gz", "queries.parquet", "queries/*.parquet")
_QRELS = ("qrels/*.tsv", "qrels/*.jsonl", "qrels/*.parquet", "qrels/*.tsv.gz")
_SPLIT = "test"


def folder_records(source: Path, catalog: Catalog) -> Iterator[Record]:
    """
    Yield a sample for each query with judgments; *source* is the folder, or the judgments of one of its splits.

    A file that is neither holds samples, or outputs, and is read like any other.
    """
    if not source.is_dir() and source.parent.name != "qrels":
        yield from records(source, catalog)
        return
    queries, qrels = _files(source)
    gold = _judgments(qrels, catalog)
    texts = read_texts(queries, gold, of="query", catalog=catalog)
    for name, grades in gold.items():
        yield Record({"id": name, "input": texts.get(name), "expected_output": {"relevant": grades}}, None, name)


def folder_digest(source: Path) -> str:
    """Return the SHA-256 of the queries and the judgments, or of the file."""
    if not source.is_dir() and source.parent.name != "qrels":
        return digest(source)
    joined = "".join(digest(file) for file in _files(source))
    return f"sha256:{hashlib.sha256(joined.encode()).hexdigest()}"


def _files(source: Path) -> tuple[Path, Path]:
    folder = source if source.is_dir() else source.parent.parent
    with reading(str(source)):
        queries = [file for pattern in _QUERIES for file in sorted(folder.glob(pattern))]
        splits = [file for pattern in _QRELS for file in sorted(folder.glob(pattern))] if source == folder else [source]
    if not queries:
        raise unreadable(str(folder), "a folder of BEIR has the queries in queries.jsonl; there is no such file")
    test_splits = [file for file in splits if file.name.startswith(_SPLIT)]
    if len(splits) != 1 and len(test_splits) != 1:
        names = ", ".join(file.name for file in splits) or "none"
        why = f"it has no single test split in `qrels` (there are: {names})"
        why += f"; name the file of a split, such as {folder}/qrels/dev.tsv"
        raise unreadable(str(folder), why)
    return queries[0], (test_splits or splits)[0]


def _judgments(file: Path, catalog: Catalog) -> Mapping[str, dict[str, float]]:
    """Return the grades of each query; rows of JSON lines have the columns of the tables."""
    table: object = file
    if plain_suffix(file) == ".jsonl":
        import polars as pl

        with reading(str(file), form="JSON lines"):
            table = pl.read_ndjson(file)
    return grades_of(table, catalog)
