"""
`MappingRun`: a run that is given in memory, read as any other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rankgauge.errors import DataError, Problem
from rankgauge.rankings.batch import RankingBatch
from rankgauge.rankings.slices import Slices, encoded

__all__ = ["MappingRun"]

_AT_ONCE = 1 << 15
"""How many results a batch has, more or less."""


class MappingRun:
    """
    A run ``{query: {document: score}}``.

    Attributes:
        name: Empty; it has none.

        tag: Empty.

        metadata: Empty.
    """

    def __init__(self, rankings: Mapping[str, Mapping[str, float]]) -> None:
        """
        Take a run.

        Args:
            rankings: A score by document id, by query id.

        Raises:
            DataError: Ids that are no texts, rankings that are no mappings, scores that are no finite numbers; all of
                them.
        """
        self.name = ""
        self.tag = ""
        self.metadata: Mapping[str, Any] = {}
        self._rankings = rankings
        problems = [problem for query, ranking in rankings.items() for problem in _problems(query, ranking)]
        if problems:
            msg = "the run cannot be used; it has to be {query: {document: score}}:"
            raise DataError(msg, problems)

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:  # noqa: ARG002  # one is enough for what is in memory
        """Return one iterator over everything."""
        return [self.grouped()]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once."""
        held: list[tuple[str, Mapping[str, float]]] = []
        size = 0
        for query, ranking in self._rankings.items():
            held.append((query, ranking))
            size += len(ranking)
            if size >= _AT_ONCE:
                yield _batch(held)
                held, size = [], 0
        if held:
            yield _batch(held)


def _batch(rankings: list[tuple[str, Mapping[str, float]]]) -> RankingBatch:
    documents = Slices.of(encoded(document) for _, ranking in rankings for document in ranking)
    scores = [score for _, ranking in rankings for score in ranking.values()]
    return RankingBatch(
        queries=[encoded(query) for query, _ in rankings],
        lengths=np.array([len(ranking) for _, ranking in rankings], dtype=np.int64),
        documents=documents,
        keys=documents.keys(),
        scores=np.array(scores, dtype=np.float64),
    )


def _problems(query: object, ranking: object) -> Iterator[Problem]:
    if not isinstance(query, str):
        yield Problem(f"the query id {query!r} is of type {type(query).__name__}; ids are texts: {str(query)!r}")
    if not isinstance(ranking, Mapping):
        yield Problem(f"query {query!r} has a {type(ranking).__name__} where {{document: score}} is needed")
        return
    for document, score in ranking.items():
        if not isinstance(document, str):
            yield Problem(
                f"query {query!r}: the document id {document!r} is of type {type(document).__name__}; ids are texts: "
                f"{str(document)!r}"
            )
        if not _is_finite(score):
            yield Problem(f"query {query!r}, document {document!r}: the score {score!r} is no finite number")


def _is_finite(score: object) -> bool:
    try:
        return math.isfinite(score)  # type: ignore[arg-type]  # whatever is no number raises
    except (TypeError, OverflowError):
        return False
