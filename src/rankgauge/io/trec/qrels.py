"""
Qrels: reads the judgments of a TREC qrels file.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from rankgauge.columns import Qrels
from rankgauge.io.files import open_file
from rankgauge.io.problems import no_judgments
from rankgauge.io.trec.careful import explain
from rankgauge.io.trec.fields import MalformedError, find_fields
from rankgauge.io.trec.numbers import parse_floats
from rankgauge.io.trec.window import Window

__all__ = ["read_qrels"]

_FIELDS = 4
_QUERY, _DOCUMENT, _GRADE = 0, 2, 3


def read_qrels(path: Path, *, name: str | None = None) -> Qrels:
    """Read judgments, in order of query; a `DataError` has every wrong line, or every document judged twice."""
    label = str(path) if name is None else name
    with open_file(path) as opened:
        data = opened.stream.read()
    window = Window(io.BytesIO(data), limit=None, size=len(data) + 1)
    window.fill()
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
    return Qrels.of_stretches(queries.at(starts).texts(), lengths, fields.column(_DOCUMENT), grades, label)
