"""
Texts: of documents and queries, by id, from a collection of any size of which only some are wanted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, Problem
from rankgauge.io.files import open_file, plain_suffix
from rankgauge.io.problems import first_problems
from rankgauge.io.records import records
from rankgauge.samples import Fault

__all__ = ["read_texts"]

_IDS = ("id", "_id", "doc_id", "docid", "docno", "query_id", "qid")
_TEXTS = ("text", "contents", "body", "query", "question", "input")


def read_texts(path: Path, wanted: Collection[str], *, catalog: Catalog) -> dict[str, str]:
    """
    Return the texts of some ids, a title before the text where there is one; ids without a text are left out.

    A row has an `id` (or `_id`, `docno`, ...) and a `text` (or `contents`, `body`, ...). A ``.tsv`` file has an id, a
    tab and a text on each line.
    """
    wanted = frozenset(wanted)
    if plain_suffix(path) == ".tsv":
        return dict(_of_lines(path, wanted))
    found: dict[str, str] = {}
    problems: list[Problem] = []
    for record in records(path, catalog):
        row = record.value
        name = _name(row) if isinstance(row, Mapping) else None
        if isinstance(row, Mapping) and name in wanted:
            found[str(name)] = _text(row)
        elif name is None:
            message = row.reason if isinstance(row, Fault) else f"a row needs an id ({', '.join(_IDS[:4])})"
            problems.append(Problem(message, str(path), record.line, record.path))
    if problems:
        msg = "the texts cannot be read; a row is an object with an id and a text:"
        raise DataError(msg, first_problems(problems, str(path)))
    return {name: text for name, text in found.items() if text}


def _name(row: Mapping[str, object]) -> str | None:
    return next((str(row[key]) for key in _IDS if row.get(key) is not None), None)


def _text(row: Mapping[str, object]) -> str:
    title = row.get("title")
    text = next((row[key] for key in _TEXTS if isinstance(row.get(key), str)), "")
    parts = [title] if isinstance(title, str) and not str(text).startswith(title) else []
    return "\n".join(part for part in (*parts, str(text)) if part)


def _of_lines(path: Path, wanted: Collection[str]) -> Iterator[tuple[str, str]]:
    with open_file(path) as opened:
        for line in opened.stream:
            name, _, text = line.decode("utf-8", "replace").rstrip("\r\n").partition("\t")
            if name in wanted and text:
                yield name, text
