"""
Queries of a run as samples, for what looks at a few of them closely.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from rankgauge.columns import Qrels, RunSource
from rankgauge.samples import Expected, Output, Sample

__all__ = ["read_queries"]


def read_queries(qrels: Qrels, source: RunSource, wanted: Collection[str]) -> tuple[dict[str, Sample], set[str]]:
    """
    Return some judged queries of a run as samples, by id, and the ids of all queries that the run has.

    A sample scores as its query does (`tests/roads` holds that); one that the run lacks has no output.
    """
    places = {name: place for place, name in enumerate(qrels.query_names) if name in wanted}
    keys = {qrels.queries[place]: name for name, place in places.items()}
    ids: dict[str, list[str | None]] = {}
    scores: dict[str, list[float | None]] = {}
    seen: set[str] = set()
    for batch in (batch for part in source.parts(1) for batch in part):
        starts = batch.starts.tolist()
        for query, start, length in zip(batch.queries, starts, batch.lengths.tolist(), strict=True):
            name = keys.get(query)
            seen.add(query.decode("utf-8", "backslashreplace") if name is None else name)
            if name is not None:
                rows = np.arange(start, start + length)
                ids.setdefault(name, []).extend(_text(document) for document in batch.documents.at(rows).texts())
                scores.setdefault(name, []).extend(batch.scores[rows].tolist())
    ends = np.cumsum(qrels.lengths)
    samples: dict[str, Sample] = {}
    for name, place in places.items():
        own = slice(int(ends[place] - qrels.lengths[place]), int(ends[place]))
        gold = dict(zip(qrels.names[own], qrels.grades[own].tolist(), strict=True))
        output = Output(ids[name], scores=scores[name]) if name in ids else None
        expected = Expected(gold, graded=True, intents=_intents(qrels, own))
        samples[name] = Sample(name, expected=expected, output=output)
    return samples, seen


def _intents(qrels: Qrels, own: slice) -> dict[str, dict[str, float]] | None:
    """Return the grades of a query's documents by intent, whose names sort as the intents are numbered."""
    if qrels.intents is None:
        return None
    found: dict[str, dict[str, float]] = {}
    first, last = np.searchsorted(qrels.intents.item, (own.start, own.stop)).tolist()
    names = qrels.names[own]
    for row in range(first, last):
        by_intent = found.setdefault(names[int(qrels.intents.item[row]) - own.start], {})
        by_intent[f"{int(qrels.intents.intent[row]):09}"] = float(qrels.intents.grade[row])
    return found


def _text(document: bytes) -> str:
    return document.decode("utf-8", "surrogateescape")
