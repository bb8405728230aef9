"""
Judgments and runs, of which a row is one result, as the records of a dataset and of its outputs, one for each query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import orjson

from rankgauge.catalog import Catalog
from rankgauge.catalog.claims import OWN
from rankgauge.errors import DataError, Problem
from rankgauge.io.bare_lines import bare_form
from rankgauge.io.builtin_formats import LINES
from rankgauge.io.field_names import Kind, is_header
from rankgauge.io.file_records import records
from rankgauge.io.files import endings, is_regular, open_file, plain_suffix
from rankgauge.io.json_rows import beginning, is_row
from rankgauge.io.nested_mappings import MTEB
from rankgauge.io.open_sources import open_qrels, open_run
from rankgauge.io.problems import SUBJECTS
from rankgauge.io.rating_files import MARKS as RATINGS
from rankgauge.io.rating_files import is_ratings
from rankgauge.io.recognize import (
    TREC_LINE,
    cells,
    is_bare,
    is_qrels_line,
    is_run_line,
    is_table,
    read_head,
    shortened,
    split_line,
)
from rankgauge.io.track_runs import MARKS, is_track
from rankgauge.plugin.declarations import Record
from rankgauge.samples import FIELDS

__all__ = ["grades_of", "holds_rows", "judgment_records", "run_records"]

_OF_SAMPLES = frozenset({"id", *(field.partition(".")[0] for field in FIELDS), "retrieved", "answer", "support"})
_JSON = (".json", *LINES)
_LOOKED_AT = 1 << 16
_PARQUET = (".parquet", ".pq")


def holds_rows(path: Path, kind: Kind, catalog: Catalog, *, only_lines: bool = False, reader: str = "") -> bool:
    """
    Return whether a file that is given as samples or outputs holds judgments or a run, also the other one of the two.

    These are TREC's lines, lines without a header, tables with columns for them, judgments ``{query: {document:
    grade}}``, files of ratings, predictions of MTEB, JSON of TREC tracks. What has a field of samples holds samples.
    Of what a *reader* reads that was named or is somebody else's, the first record decides. Where fields or a preset
    say what columns are, *only lines* without names hold results.
    """
    if not is_regular(path):
        return False
    suffix, claim = plain_suffix(path), catalog.reader(*endings(path))
    if _is_foreign(path, catalog, reader):
        value = None if only_lines else next((record.value for record in records(path, catalog, reader)), None)
        return isinstance(value, Mapping) and _is_ours(value, kind)
    if only_lines and (suffix in _PARQUET or suffix in _JSON):
        return False
    if suffix in _PARQUET:
        return _are_columns(_parquet_names(path), kind)
    if suffix not in _JSON and claim is not None and not is_table(suffix):
        return False
    first = None if is_table(suffix) else beginning(path)
    if first is not None:
        is_document = not first.is_listed and suffix not in LINES
        return _is_ours(first.value, kind) or (is_document and _is_document(first.value, kind))
    if suffix in _JSON:
        return _is_long(path, kind)
    with open_file(path) as opened:
        head = read_head(opened.stream)
    fields = split_line(head.line)
    if is_qrels_line(fields) or is_run_line(fields) or is_bare(head, kind, None):
        return True
    return is_table(suffix) and not only_lines and _are_columns([name.strip() for name in head.fields], kind)


def _is_foreign(path: Path, catalog: Catalog, reader: str) -> bool:
    """Return whether a reader was named, or is somebody else's by the ending of a file."""
    claim = catalog.reader(*endings(path))
    return bool(reader) or (claim is not None and claim.provider.distribution != OWN)


def _is_ours(first: Mapping[str, object], kind: Kind) -> bool:
    """Return whether the first object of a file is a row, or the record of a run of a TREC track."""
    if kind == "run" and is_track(first) and {"id", "actual_output", "retrieved"}.isdisjoint(first):
        return True
    return _OF_SAMPLES.isdisjoint(first) and is_row(first, kind, None)


_BEGINS = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_MARKS = tuple(f'"{mark}"'.encode() for mark in (*RATINGS, *MARKS, MTEB))


def _is_long(path: Path, kind: Kind) -> bool:
    """Return whether JSON whose first object is long holds judgments or a run; it is read if it may be either."""
    is_lines = plain_suffix(path) in LINES
    with open_file(path) as opened:
        head = opened.stream.read(_LOOKED_AT)
        if not (_BEGINS.match(head) or any(mark in head for mark in _MARKS)):
            return False
        text = head + (opened.stream.readline() if is_lines else opened.stream.read())
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False  # whoever reads the file says what is wrong with it
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    return _is_ours(first, kind) or (first is value and not is_lines and _is_document(value, kind))


def _is_document(value: Mapping[str, object], kind: Kind) -> bool:
    """Return whether a JSON document is judgments by query and document, or ratings; or a run as MTEB writes it."""
    return MTEB in value if kind == "run" else is_ratings(value) or _is_by_query(value)


def _is_by_query(value: Mapping[str, object]) -> bool:
    """Return whether a mapping has numbers, or grades by intent, by query and document."""
    first = next((inner for inner in value.values() if inner), None)
    if not isinstance(first, dict) or not all(isinstance(inner, dict) for inner in value.values()):
        return False
    return all(type(grade) in {int, float, dict} for grade in first.values()) and _OF_SAMPLES.isdisjoint(first)


def _are_columns(names: list[str], kind: Kind) -> bool:
    """Return whether the columns of a table are those of judgments or of a run, and none is a field of samples."""
    return is_header(names, kind, None) and _OF_SAMPLES.isdisjoint(name.partition(".")[0] for name in names)


def _parquet_names(path: Path) -> list[str]:
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, OSError):
        return []  # whoever reads the file says what is wrong with it


def judgment_records(path: Path, catalog: Catalog, *, letters: str = "", reader: str = "") -> Iterator[Record]:
    """Yield a sample for each judged query; a `DataError` says what is wrong with the judgments."""
    if not _is_foreign(path, catalog, reader):
        swapped = "this is a run, which goes with --outputs (outputs= in Python); --data takes judgments"
        _check_lines(path, "qrels", swapped)
    for name, grades in grades_of(str(path), catalog, letters, reader).items():
        yield Record({"id": name, "expected_output": {"relevant": grades}}, None, name)


def run_records(
    path: Path, catalog: Catalog, notes: list[str], *, keeps_order: bool, reader: str = ""
) -> Iterator[Record]:
    """
    Yield an output for each query of a run, and add what users should know of it to *notes*.

    A `DataError` says what is wrong with it. Results come by descending score, equal ones by descending id, as in
    every run, or in the order of the file if that is kept for a policy that sorts them itself (*keeps_order*).
    """
    if not _is_foreign(path, catalog, reader):
        _check_lines(path, "run", "these are judgments, which go with --data (data= in Python); --outputs takes a run")
    run = open_run(str(path), columns={"run.reader": reader} if reader else None, catalog=catalog)
    for batch in run.grouped():
        results = zip(batch.documents.strings(), batch.scores.tolist(), strict=True)
        for name, length in zip(batch.names.strings(), batch.lengths.tolist(), strict=True):
            ranking = list(islice(results, length))
            if not keeps_order:
                ranking.sort(key=lambda result: (result[1], result[0]), reverse=True)
            items = [{"id": document, "score": score} for document, score in ranking]
            yield Record({"id": name, "actual_output": {"retrieved": items}}, None, name)
    notes += run.notes


_ADVICE: Mapping[Kind, tuple[str, str]] = {
    "qrels": ("query_id, doc_id, relevance", "query,document,grade"),
    "run": ("query_id, doc_id, rank (or score)", "query,document,rank"),
}
_OF_FOUR = ("query_id, doc_id, rank, score", "query,document,rank,score")
"""A header for lines that have none, and the command that takes them as they are."""


def _check_lines(path: Path, kind: Kind, swapped: str) -> None:
    """Refuse lines of the other kind, and lines without a header whose columns could be something else."""
    if plain_suffix(path) in (*_JSON, *_PARQUET):
        return
    with open_file(path) as opened:
        head = read_head(opened.stream)
    fields = split_line(head.line)
    is_ours, is_other = (is_run_line, is_qrels_line) if kind == "run" else (is_qrels_line, is_run_line)
    message = swapped if is_other(fields) else ""
    if is_bare(head, kind, None) and not is_ours(fields):
        try:
            bare_form(path, kind, None, head, name=str(path))
        except DataError:
            n = len(cells(head, kind, None))
            header, columns = _ADVICE[kind] if n == 3 else _OF_FOUR
            columns += ",-" * (n - 1 - columns.count(","))
            files = f"{path} RUN" if kind == "qrels" else f"QRELS {path}"
            what = f"{swapped}; if this is one, it" if message else shortened(head.line.rstrip())
            message = (
                f"{what} has no header, and is not TREC's `{TREC_LINE[kind]}`; say what its columns are in a first "
                f"line, such as {header}, separated as the lines are, or type `rankgauge trec {files} --columns "
                f"{columns}`"
            )
        else:
            message = ""
    if message:
        raise DataError(f"{SUBJECTS[kind]} cannot be read:", [Problem(message, str(path), head.number)])


def grades_of(source: object, catalog: Catalog, letters: str = "", reader: str = "") -> Mapping[str, dict[str, float]]:
    """Return judgments, of whatever `open_qrels` reads, as the grades of each query by document."""
    how = {key: given for key, given in (("letters", letters), ("qrels.reader", reader)) if given}
    qrels = open_qrels(source, columns=how or None, catalog=catalog)
    documents, grades = iter(qrels.names), iter(qrels.grades.tolist())
    counts = zip(qrels.query_names, qrels.lengths.tolist(), strict=True)
    return {name: dict(islice(zip(documents, grades, strict=True), count)) for name, count in counts}
