"""
Judgments as the records of a dataset: each judged query is a sample whose ground truth is its grades.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from rankgauge.catalog import Catalog
from rankgauge.io.field_names import is_header
from rankgauge.io.files import endings, is_regular, open_file, plain_suffix
from rankgauge.io.open_sources import open_qrels
from rankgauge.io.recognize import is_qrels_line, is_table, read_head, split_line
from rankgauge.plugin.declarations import Record
from rankgauge.samples import FIELDS

__all__ = ["grades_of", "holds_judgments", "judgment_records"]

_OF_SAMPLES = frozenset({"id", *(field.partition(".")[0] for field in FIELDS)})


def holds_judgments(path: Path, catalog: Catalog) -> bool:
    """
    Return whether a file that is given as samples holds judgments: TREC's lines, or a table with columns for them.

    A table with a column of samples holds samples, and an ending that a reader has names the format otherwise.
    """
    suffix = plain_suffix(path)
    if not is_regular(path) or (not is_table(suffix) and catalog.reader(*endings(path)) is not None):
        return False
    with open_file(path) as opened:
        head = read_head(opened.stream)
    if is_qrels_line(split_line(head.line)):
        return True
    heads = {name.strip().partition(".")[0] for name in head.fields}
    return is_table(suffix) and heads.isdisjoint(_OF_SAMPLES) and is_header(head.fields, "qrels", None)


def judgment_records(path: Path, catalog: Catalog, *, letters: str = "") -> Iterator[Record]:
    """Yield a sample for each judged query; a `DataError` says what is wrong with the judgments."""
    for name, grades in grades_of(str(path), catalog, letters).items():
        yield Record({"id": name, "expected_output": {"relevant": grades}}, None, name)


def grades_of(source: object, catalog: Catalog, letters: str = "") -> Mapping[str, dict[str, float]]:
    """Return judgments, of whatever `open_qrels` reads, as the grades of each query by document."""
    qrels = open_qrels(source, columns={"letters": letters} if letters else None, catalog=catalog)
    documents, grades = iter(qrels.names), iter(qrels.grades.tolist())
    counts = zip(qrels.query_names, qrels.lengths.tolist(), strict=True)
    return {name: dict(islice(zip(documents, grades, strict=True), count)) for name, count in counts}
