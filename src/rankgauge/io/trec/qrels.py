"""
Qrels: reads the judgments of a TREC qrels file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge.columns import PADDING, Floats, Qrels
from rankgauge.errors import RepeatedJudgmentsError
from rankgauge.io.files import OpenFile, open_file, too_large
from rankgauge.io.limits import longest_piece
from rankgauge.io.problems import MalformedError, no_judgments, unreadable
from rankgauge.io.trec.careful import explain
from rankgauge.io.trec.fields import Fields, find_fields
from rankgauge.io.trec.numbers import parse_floats
from rankgauge.io.trec.window import Window

__all__ = ["read_qrels"]

_FIELDS = 4
_QUERY, _INTENT, _DOCUMENT, _GRADE = 0, 1, 2, 3
_SMALL = 1 << 20


def read_qrels(path: Path, *, name: str | None = None, intents: bool = False) -> Qrels:
    """
    Read judgments, in order of query; a `DataError` has every wrong line, or every document judged twice.

    A document may be judged for several intents, which stand in column two, as in TREC's diversity judgments: it has
    one judgment then, its highest. The intents themselves are kept where they are asked for.
    """
    label = str(path) if name is None else name
    with open_file(path, name=label) as opened:
        window = _filled(opened)
    try:
        fields = find_fields(window.buffer, window.end, _FIELDS, more=False)
    except MalformedError:
        raise explain(path, label, "qrels") from None
    if not fields:
        raise no_judgments(label)
    grades, wrong = parse_floats(fields.column(_GRADE))
    if len(wrong):
        raise explain(path, label, "qrels")
    queries = fields.column(_QUERY)
    starts = np.flatnonzero(queries.begins())
    lengths = np.diff(np.append(starts, len(grades)))
    if intents and (found := _by_intent(fields, grades, label)) is not None:
        return found
    try:
        return Qrels.of_stretches(queries.at(starts), lengths, fields.column(_DOCUMENT), grades, label)
    except RepeatedJudgmentsError:
        if (found := _by_intent(fields, grades, label)) is None:
            raise
        return replace(found, intents=None)


def _by_intent(fields: Fields, grades: Floats, label: str) -> Qrels | None:
    """Return judgments for each intent; None if a document is judged twice for one."""
    queries, intents, documents = (fields.column(column).texts() for column in (_QUERY, _INTENT, _DOCUMENT))
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
