"""
Qrels: reads the judgments of a TREC qrels file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankgauge.columns import PADDING, Qrels
from rankgauge.io.files import open_file
from rankgauge.io.problems import no_judgments
from rankgauge.io.trec.careful import explain_qrels
from rankgauge.io.trec.fields import MalformedError, find_fields
from rankgauge.io.trec.numbers import parse_floats

__all__ = ["read_qrels"]

_FIELDS = 4
_SOLID = 255
_QUERY, _DOCUMENT, _GRADE = 0, 2, 3


def read_qrels(path: Path, *, name: str | None = None) -> Qrels:
    """Read judgments, in order of query; a `DataError` has every wrong line, or every document judged twice."""
    label = str(path) if name is None else name
    with open_file(path) as opened:
        data = opened.stream.read()
    buffer = np.zeros(len(data) + 2 * PADDING + 1, dtype=np.uint8)
    buffer[:PADDING] = _SOLID
    buffer[PADDING : PADDING + len(data)] = np.frombuffer(data, dtype=np.uint8)
    end = PADDING + len(data)
    if data and not data.endswith(b"\n"):
        buffer[end] = ord("\n")
        end += 1
    try:
        fields = find_fields(buffer, end, _FIELDS, more=False)
    except MalformedError:
        raise explain_qrels(path, label) from None
    if not fields:
        raise no_judgments(label)
    grades, wrong = parse_floats(fields.column(_GRADE))
    if len(wrong):
        raise explain_qrels(path, label)
    queries = fields.column(_QUERY)
    starts = np.flatnonzero(queries.begins())
    lengths = np.diff(np.append(starts, len(grades)))
    return Qrels.of_stretches(queries.at(starts).texts(), lengths, fields.column(_DOCUMENT), grades, label)
