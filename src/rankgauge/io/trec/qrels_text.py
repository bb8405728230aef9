"""
Qrels: reads the judgments of a TREC qrels file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.columns import PADDING, Floats, Ints, Qrels, Slices
from rankgauge.errors import RepeatedJudgmentsError
from rankgauge.io.files import OpenFile, open_file, too_large
from rankgauge.io.problems import MalformedError, longest_piece, no_judgments, unreadable
from rankgauge.io.trec.line_columns import QRELS, Form, explain, read_lines
from rankgauge.io.trec.line_fields import Window, find_fields

__all__ = ["read_qrels"]

_SMALL = _BLOCK = 1 << 20
_SOLID = 255
_WIDE = 1 << 31


def read_qrels(path: Path, *, name: str | None = None, intents: bool = False, form: Form = QRELS) -> Qrels:
    """
    Read judgments, in order of query; a `DataError` has every wrong line, or every document judged twice.

    A document may be judged for several intents, which are in column two, as in TREC's diversity judgments: it has
    one judgment then, its highest. The intents themselves are kept if they are asked for.
    """
    label = str(path) if name is None else name
    with open_file(path, name=label) as opened:
        window = _filled(opened)
    try:
        judged = _read(window, form)
    except MalformedError:
        raise explain(path, label, form) from None
    if not len(judged.grades):
        raise no_judgments(label)
    if intents and (by_intent := _by_intent(window, form, judged.grades, label)) is not None:
        return by_intent
    try:
        return Qrels.of_stretches(judged.queries, judged.lengths, judged.documents, judged.grades, label)
    except RepeatedJudgmentsError:
        if (by_intent := _by_intent(window, form, judged.grades, label)) is None:
            raise
        return by_intent.without_intents()


class _Judged(NamedTuple):
    """Lines of judgments as columns: stretches of one query each with how many lines they have, and the lines."""

    queries: Slices
    lengths: Ints
    documents: Slices
    grades: Floats


def _read(window: Window, form: Form) -> _Judged:
    """Read a file that is held whole, some lines at a time, so that what is found on the way stays in a cache."""
    narrow = np.int32 if window.end < _WIDE else np.int64  # half of the memory
    columns: list[list[NDArray[Any]]] = [[np.empty(0, dtype=narrow)] for _ in range(5)]
    every_grade = [np.empty(0)]
    edges: list[int] = []
    at, n_lines, n_heads = PADDING, 0, 0
    while at < window.end:
        end = window.line_end(min(at + _BLOCK, window.end))
        block = np.full(end - at + 2 * PADDING, _SOLID, dtype=np.uint8)  # what is before lines is not blank
        block[PADDING:-PADDING] = window.buffer[at:end]
        if (lines := read_lines(block, len(block) - PADDING, form)) is not None:
            queries, documents, moved = lines.queries, lines.documents, at - PADDING
            stretches = lines.first + n_lines, queries.start + moved, queries.length
            for column, values in zip(columns, (*stretches, documents.start + moved, documents.length), strict=True):
                column.append(values.astype(narrow))
            every_grade.append(lines.numbers)
            edges.append(n_heads)
            n_lines += len(lines.numbers)
            n_heads += len(lines.first)
        at = end
    heads, starts, sizes, begins, lengths = map(_joined, columns)
    names = Slices(window.buffer, starts, sizes)
    first = np.array(edges[1:], dtype=np.int64)  # a block may begin within a stretch
    new = np.ones(n_heads, dtype=np.bool_)
    new[first] = ~names.at(first).equal(names.at(first - 1))
    if not new.all():
        names, heads = names.at(new), heads[new]
    documents = Slices(window.buffer, begins, lengths)
    return _Judged(names, np.diff(np.append(heads, n_lines)), documents, _joined(every_grade))


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return one column of its parts, which are forgotten, so that no two columns are held twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def _by_intent(window: Window, form: Form, grades: Floats, label: str) -> Qrels | None:
    """Return judgments for each intent; None if there are none, or a document is judged twice for one."""
    if form.intent is None:
        return None
    fields = find_fields(window.buffer, window.end, form.fields, more=False)
    columns = (form.query, form.intent, form.document)
    queries, intents, documents = (fields.column(column).texts() for column in columns)
    names = (intent.decode("utf-8", "surrogateescape") for intent in intents)
    return Qrels.of_listed_intents(zip(queries, documents, names, grades.tolist(), strict=True), label)


def _filled(opened: OpenFile) -> Window:
    """Return a window over the whole file, which is held while it is parsed."""
    limit = longest_piece()
    size = _SMALL if opened.path is None else Path(opened.path).stat().st_size + 1
    window = Window(opened.stream, limit=None, size=size)
    while True:
        window.fill()
        if opened.path is None and window.end - PADDING > limit:
            raise unreadable(opened.name, too_large(limit))
        if window.is_last:
            return window
        window.drop(PADDING)
