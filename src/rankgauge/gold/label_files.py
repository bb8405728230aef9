"""
Labels in files of judgments: TREC qrels and tables like them as records of samples, and the lines they are written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, Problem
from rankgauge.io.file_records import read_texts
from rankgauge.io.files import is_there, plain_suffix
from rankgauge.io.open_sources import open_qrels
from rankgauge.io.problems import refuse
from rankgauge.io.recognize import recognize, sniff

__all__ = ["is_judgments", "judgment_lines", "judgment_records"]

_TABLES = {".csv", ".tsv"}


def is_judgments(path: Path, catalog: Catalog) -> bool:
    """Return whether a file holds judgments: TREC lines, or a table of them, and not samples."""
    suffix = plain_suffix(path)
    if suffix in _TABLES:
        try:
            recognize(path, "qrels", None, name=str(path))
        except DataError:
            return False
        return True
    if catalog.reader(suffix) is not None or not is_there(path) or path.is_dir():
        return False
    return bool(suffix) or sniff(path).kind == "judgments"


def judgment_records(path: Path, queries: Path | None, catalog: Catalog) -> list[dict[str, Any]]:
    """Return each query of a file of judgments as the record of a sample, with its text where *queries* has it."""
    qrels = open_qrels(path, catalog=catalog)
    names, grades = iter(qrels.names), iter(qrels.grades.tolist())
    records = []
    for query, length in zip(qrels.query_names, qrels.lengths.tolist(), strict=True):
        relevant = {next(names): next(grades) for _ in range(length)}
        records.append({"id": query, "expected_output": {"relevant": relevant}})
    texts = {} if queries is None else read_texts(queries, qrels.query_names, catalog=catalog)
    return [record if record["id"] not in texts else {**record, "input": texts[record["id"]]} for record in records]


def judgment_lines(records: Iterable[Mapping[str, Any]], path: Path) -> bytes:
    """Return what `judgment_records` read as lines of TREC qrels; a `DataError` names ids that these cannot hold."""
    rows = list(_rows(records))
    flaw = "TREC qrels hold no ids with blanks; write the labels as samples (JSON lines)"
    unfit = [(query, name) for query, name, _ in rows if any(part.split() != [part] for part in (query, name))]
    problems = [Problem(f"query {query!r}, document {name!r}: {flaw}") for query, name in unfit]
    refuse(f"{path} cannot be written:", problems)
    lines = (f"{query} 0 {name} {_grade(grade)}\n" for query, name, grade in rows)
    return "".join(lines).encode("utf-8", "surrogateescape")


def _rows(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, float]]:
    for record in records:
        for name, grade in record["expected_output"]["relevant"].items():
            yield record["id"], name, grade


def _grade(grade: float) -> str:
    return f"{grade:.0f}" if grade.is_integer() else repr(grade)
