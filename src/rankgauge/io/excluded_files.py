"""
Files of documents that are left out for each query: the value of the policy option `excluded`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rankgauge.catalog import Catalog
from rankgauge.errors import Problem, counted
from rankgauge.exclusions import Excluded
from rankgauge.io.documents import decode_text, read_json
from rankgauge.io.file_records import records
from rankgauge.io.files import plain_suffix, read_bytes, real_path
from rankgauge.io.problems import first_problems, refuse
from rankgauge.samples import Fault

__all__ = ["QUERIES", "by_form", "opened_options", "query_of", "read_excluded"]

T = TypeVar("T")

QUERIES = ("id", "_id", "query_id", "query-id", "qid", "q_id", "topic_id", "topic")
"""Columns that may have the id of a query."""

_DOCUMENTS = ("excluded_ids", "excluded")
_NONE = "N/A"
"""The only id that BRIGHT lists for a query for which nothing is left out."""

_TITLE = "the documents to leave out cannot be read:"
_LINES = "each line is a query and a document, with a blank between them, or a line of judgments in TREC's form"
_ROWS = "a row has the id of a query (id, query_id or qid) and a list `excluded_ids`"


def opened_options(options: Mapping[str, Any]) -> dict[str, Any]:  # Any: as `Policy.with_options` takes them
    """Return policy options with what the file of `excluded` holds in place of its path."""
    given = options.get("excluded")
    if isinstance(given, str | os.PathLike):
        return {**options, "excluded": read_excluded(Path(given))}
    return dict(options)


def read_excluded(path: Path) -> Excluded:
    """
    Read the documents to leave out.

    Args:
        path: JSON ``{query: [document, ...]}``; rows with an `id` and `excluded_ids` (JSONL, JSON, Parquet), as BRIGHT
            has them; or lines of a query and a document. Compressed or not.

    Returns:
        The documents by query. It knows its file by the full path.

    Raises:
        DataError: A file that is not there, or has another form; every problem at once.
    """
    problems: list[Problem] = []
    found: dict[str, list[str]] = {}
    for query, documents in _pairs(path, problems):
        found.setdefault(query, []).extend(documents)
    refuse(_TITLE, first_problems(problems, str(path)))
    return Excluded(found, str(real_path(path)))


def _pairs(path: Path, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    def of_mapping(value: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
        for query, documents in value.items():
            yield query, _ids(documents, f"query {query!r}", Problem("", str(path)), problems)

    def of_row(row: Mapping[str, Any], place: Problem) -> Iterator[tuple[str, list[str]]]:
        return _of_row(row, place, problems)

    return by_form(path, problems, of_row, of_mapping, lambda text: _of_lines(text, path, problems))


def by_form(
    path: Path,
    problems: list[Problem],
    of_row: Callable[[Mapping[str, Any], Problem], Iterator[T]],
    of_mapping: Callable[[Mapping[str, Any]], Iterator[T]],
    of_text: Callable[[str], Iterator[T]],
) -> Iterator[T]:
    """Yield what a file has for queries, by its form: rows of a table with their places, JSON by query, or lines."""
    suffix = plain_suffix(path)
    data = b"" if suffix == ".parquet" else read_bytes(path)
    begin = data.lstrip()[:1]
    if suffix in {".parquet", ".jsonl", ".ndjson"} or begin == b"[":
        for record in records(path, Catalog.discover(own_only=True)):
            row, place = record.value, Problem("", str(path), record.line, record.path)
            if isinstance(row, Mapping):
                yield from of_row(row, place)
            else:
                what = row.reason if isinstance(row, Fault) else "a row is an object with the id of a query"
                problems.append(place._replace(message=what))
    elif begin == b"{":
        value, _ = read_json(data, str(path))
        yield from of_mapping(value)
    else:
        yield from of_text(decode_text(data, str(path)))


def query_of(row: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the column of a row that has the id of a query, and the id; None if no column has one."""
    key = next((key for key in QUERIES if row.get(key) is not None and row[key] != ""), None)
    if key is None or not isinstance(row[key], str | int) or isinstance(row[key], bool):
        return None
    return key, str(row[key])


def _of_row(row: Mapping[str, Any], place: Problem, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    query = query_of(row)
    key = next((key for key in _DOCUMENTS if key in row), None)
    if query is None or key is None:
        problems.append(place._replace(message=f"{_ROWS}; this one has {', '.join(map(repr, row)) or 'nothing'}"))
    elif row[key] is not None:
        documents = _ids(row[key], f"query {query[1]!r}", place, problems)
        yield query[1], [] if documents == [_NONE] else documents


def _of_lines(text: str, path: Path, problems: list[Problem]) -> Iterator[tuple[str, list[str]]]:
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if len(fields) in {2, 4}:
            yield fields[0], [fields[1] if len(fields) == 2 else fields[2]]
        elif fields:
            problems.append(Problem(f"{_LINES}; this one has {counted(len(fields), 'field')}", str(path), number))


def _ids(documents: object, of: str, place: Problem, problems: list[Problem]) -> list[str]:
    """Return the ids of a list, integers as their digits; add a problem if it is none."""
    is_list = isinstance(documents, Iterable) and not isinstance(documents, str | bytes | Mapping)
    listed: list[object] = list(documents) if is_list and isinstance(documents, Iterable) else []
    if not is_list or not all(isinstance(each, str | int) and not isinstance(each, bool) for each in listed):
        problems.append(place._replace(message=f"{of}: the documents are a list of ids, not {documents!r:.60}"))
        return []
    return list(map(str, listed))
