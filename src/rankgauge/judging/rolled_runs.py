"""
Rolled runs: runs and judgments whose documents are rolled up to units while they are read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankgauge.columns import Qrels, RankingBatch, RunSource, Slices
from rankgauge.columns.judged_rows import intents_of
from rankgauge.judging.units import UnitRule, keep_highest

__all__ = ["RolledRun", "rolled_judgments"]


class RolledRun:
    """A run with units in place of its documents."""

    def __init__(self, source: RunSource, rule: UnitRule) -> None:
        self.name, self.tag = source.name, source.tag
        self._source = source
        self._rule = rule

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the run."""
        return self._source.metadata

    @property
    def notes(self) -> Sequence[str]:
        """Return what a user should know about how it was read."""
        return self._source.notes

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """Return the parts of the run."""
        return [map(self._rolled, part) for part in self._source.parts(count)]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once."""
        return map(self._rolled, self._source.grouped())

    def _rolled(self, batch: RankingBatch) -> RankingBatch:
        documents = Slices.of_strings(list(map(self._rule.of_id, batch.documents.strings())))
        return dataclasses.replace(batch, documents=documents, keys=documents.keys())


def rolled_judgments(qrels: Qrels, rule: UnitRule) -> Qrels:
    """Return judgments of units, each once for a query, with the highest of its grades."""
    rows: dict[tuple[int, str], int] = {}
    names = map(rule.of_id, qrels.names)
    unit_of = np.array([rows.setdefault(pair, len(rows)) for pair in zip(qrels.owners.tolist(), names, strict=True)])
    grades = np.full(len(rows), -np.inf)
    np.maximum.at(grades, unit_of, qrels.grades)
    owners = np.array([owner for owner, _ in rows], dtype=np.int64)
    documents = Slices.of_strings([name for _, name in rows])
    rolled = Qrels.of(qrels.queries, owners, documents, grades, qrels.source)
    if qrels.intents is None:
        return rolled
    by_intent: list[dict[str, float]] = [{} for _ in rows]
    item, intent, grade, _ = qrels.intents
    for row, number, own in zip(unit_of[item].tolist(), intent.tolist(), grade.tolist(), strict=True):
        keep_highest(by_intent[row], {f"{number:09}": own})  # sorted as the intents are numbered
    return dataclasses.replace(rolled, intents=intents_of(owners.tolist(), documents.texts(), by_intent))
