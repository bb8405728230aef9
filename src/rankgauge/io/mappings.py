"""
Mappings: judgments and runs that are given in memory, as ``{query: {document: number}}``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, cast

import numpy as np

from rankgauge.columns import Qrels, RankingBatch, Slices, encoded, number_problem
from rankgauge.errors import DataError, Problem

__all__ = ["MappingRun", "check_run_mapping", "qrels_of_mapping"]

_Mapping = Mapping[str, Mapping[str, float]]
_AT_ONCE = 1 << 15
"""How many results a batch has, more or less."""

_QRELS, _RUN = "the judgments cannot be used:", "the run cannot be used:"


def qrels_of_mapping(mapping: _Mapping) -> Qrels:
    """
    Take judgments from memory.

    Args:
        mapping: A grade by document id, by query id.

    Returns:
        The judgments.

    Raises:
        DataError: Ids that are no texts, or grades that are no finite numbers; or nothing is judged.
    """
    if not mapping:
        raise DataError(_QRELS, [Problem("nothing is judged")])
    try:
        names = sorted(mapping)
        judged = list(map(mapping.__getitem__, names))
        lengths = np.fromiter(map(len, judged), np.int64, len(judged))
        documents = list(chain.from_iterable(judged))
        if not all(kind is dict for kind in set(map(type, judged))):
            judged = list(map(dict, judged))
        values = map(dict.values, cast("list[dict[str, float]]", judged))
        packed = struct.pack(f"{len(documents)}d", *chain.from_iterable(values))
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error):
        raise DataError(_QRELS, _explained(mapping, "grade")) from None
    grades = np.frombuffer(packed, dtype=np.float64)
    if not (np.isfinite(grades).all() and _are_texts(documents) and _are_texts(names)):
        raise DataError(_QRELS, _explained(mapping, "grade"))
    return Qrels(names, lengths, grades, documents)


def check_run_mapping(run: _Mapping) -> None:
    """
    Check the shape of a run that is given in memory: every query, and the first document of each.

    Args:
        run: A score by document id, by query id.

    Raises:
        DataError: Rankings that are no mappings, or ids that are no texts.
    """
    if all(issubclass(kind, Mapping) for kind in set(map(type, run.values()))):
        firsts = map(next, map(iter, run.values()), repeat(""))
        if _are_texts(run) and _are_texts(firsts):
            return
    raise DataError(_RUN, _explained(run, "score"))


class MappingRun:
    """
    A run that is given in memory, read as any other; evaluating it takes a shorter road.

    Attributes:
        name: Empty; it has none.

        tag: Empty.

        metadata: Empty.

        notes: Empty.
    """

    def __init__(self, run: _Mapping) -> None:
        """
        Take a run.

        Args:
            run: A score by document id, by query id.

        Raises:
            DataError: Ids that are no texts, rankings that are no mappings, scores that are no finite numbers; all of
                them.
        """
        self.name = ""
        self.tag = ""
        self.metadata: Mapping[str, Any] = {}
        self.notes: Sequence[str] = ()
        self._rankings = run
        if problems := _problems(run, "score"):
            raise DataError(_RUN, problems)

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


def _batch(rankings: Sequence[tuple[str, Mapping[str, float]]]) -> RankingBatch:
    documents = Slices.of(encoded(document) for _, ranking in rankings for document in ranking)
    scores = [score for _, ranking in rankings for score in ranking.values()]
    return RankingBatch(
        names=Slices.of(encoded(query) for query, _ in rankings),
        lengths=np.array([len(ranking) for _, ranking in rankings], dtype=np.int64),
        documents=documents,
        keys=documents.keys(),
        scores=np.array(scores, dtype=np.float64),
    )


def _are_texts(ids: Iterable[object]) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, ids)))


def _explained(mapping: Mapping[Any, Any], number: str) -> list[Problem]:
    return _problems(mapping, number) or [Problem(f"expected a map of maps, {{query: {{document: {number}}}}}")]


def _problems(mapping: Mapping[Any, Any], number: str) -> list[Problem]:
    """Return everything that is wrong with a mapping of mappings."""
    problems = []
    for query, own in mapping.items():
        if not isinstance(query, str):
            problems.append(Problem(f"the query id {query!r} is {_kind(query)}; ids are texts: {str(query)!r}"))
        if not isinstance(own, Mapping):
            problems.append(Problem(f"query {query!r} has {_kind(own)} where {{document: {number}}} is expected"))
            continue
        for document, value in own.items():
            if not isinstance(document, str):
                shown = f"the document id {document!r} is {_kind(document)}; ids are texts: {str(document)!r}"
                problems.append(Problem(f"query {query!r}: {shown}"))
            if problem := number_problem(query, document, value, number):
                problems.append(problem)
    return problems


def _kind(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"
