"""
Swapped sides: judgments that look like the scores of a run, and a run that looks like grades.

Files of TREC text tell the two apart by their columns. Mappings, JSON and tables of three columns do not, and whatever
is ranked by grades has a score, too. Fractions alone prove nothing: assessors are averaged, and models grade from 0 to
1. So both sides have to look like the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Flags, Floats, Ints, Qrels, RankingBatch, RunSource
from rankgauge.errors import DataError, NothingToEvaluateError, Problem
from rankgauge.judging.ranking import shown

__all__ = ["SwapDoubt", "nested_otherwise", "swap_doubt"]

_FEWEST, _MANY = 3, 50
"""From how many judgments on something is said, and it is certain."""

_NEARLY_ALL, _FEW_TIES = 0.9, 0.1
_LOWEST, _HIGHEST, _PERCENT = -4, 10, 100
"""What whole grades are between; TREC's are from -2 to 4, and some are percentages."""

_ROWS = 20_000
"""How many results of a run are looked at."""

_STEP = 1 << 10
"""How many grades are looked at at once."""


class SwapDoubt(NamedTuple):
    """That judgments and run may be swapped: in words, and whether it is certain."""

    message: str
    is_certain: bool

    def error(self) -> DataError:
        """Return it as an error."""
        return DataError("the judgments and the run are swapped:", [Problem(self.message)])


def swap_doubt(qrels: Qrels, source: RunSource) -> SwapDoubt | None:
    """Return that judgments look like scores and a run like grades; None if they do not."""
    grades = qrels.grades
    if len(grades) < _FEWEST or not _look_like_scores(grades, qrels.owners):
        return None
    scores, owners, n_queries = _head(source)
    most = _HIGHEST + 1
    is_whole = len(scores) and bool(((scores == np.floor(scores)) & (scores >= _LOWEST) & (scores < most)).all())
    if not is_whole:
        return None
    n_judged = qrels.n_judgments * min(n_queries / qrels.n_queries, 1.0)
    if not ((scores <= 0).any() or _ties(scores, owners) or 2 * len(scores) <= n_judged):
        return None  # such as 3, 2, 1, which count ranks down
    odd = grades[_are_odd(grades)]
    is_certain = len(grades) >= _MANY or bool((odd < 0).any() or (odd > _HIGHEST).any())
    message = (
        f"the judgments come first, then the run; here the grades, such as {odd[0]:g}, are no whole numbers from "
        f"{_LOWEST} to {_PERCENT} and differ within each query, as scores do; and the scores, such as {scores[0]:g}, "
        "are few whole numbers, as grades are"
    )
    return SwapDoubt(message, is_certain)


def _look_like_scores(grades: Floats, owners: Ints) -> bool:
    """Return whether nearly all grades are odd, and differ from the others of their query."""
    allowed = len(grades) - _NEARLY_ALL * len(grades)
    n_usual = 0
    for start in range(0, len(grades), _STEP):  # most judgments are done with after the first tenth
        n_usual += int(np.count_nonzero(~_are_odd(grades[start : start + _STEP])))
        if n_usual > allowed:
            return False
    return _ties(grades, owners) <= _FEW_TIES * len(grades)


def _are_odd(grades: Floats) -> Flags:
    """Return which numbers are no usual grades: fractions, or far from all that people give."""
    flags: Flags = (grades != np.floor(grades)) | (grades < _LOWEST) | (grades > _PERCENT)
    return flags


def _ties(values: Floats, owners: Ints) -> int:
    """Return how many values are those of another one of their query."""
    order = np.lexsort((values, owners))
    values, owners = values[order], owners[order]
    return int(np.count_nonzero((values[1:] == values[:-1]) & (owners[1:] == owners[:-1])))


def _head(source: RunSource) -> tuple[Floats, Ints, int]:
    """Return the scores of the first results of a run, the query of each, and how many queries these are."""
    scores, owners, n_queries = [np.empty(0)], [np.empty(0, dtype=np.int64)], 0
    for batch in _batches(source):
        scores.append(batch.scores)
        owners.append(batch.owners() + n_queries)
        n_queries += len(batch.lengths)
    return np.concatenate(scores), np.concatenate(owners), n_queries


def _batches(source: RunSource) -> Iterator[RankingBatch]:
    """Yield the first batches of a run; whatever is wrong with it is said when it is judged."""
    n = 0
    with suppress(DataError):
        for batch in source.parts(1)[0]:
            yield batch
            n += len(batch.scores)
            if n >= _ROWS:
                return


def nested_otherwise(qrels: Qrels, source: RunSource) -> NothingToEvaluateError | None:
    """Return the error for a run whose queries are documents of the judgments, and its documents queries; else None."""
    judged, queries = set(qrels.documents.texts()), set(qrels.queries)
    for batch in _batches(source):
        query = next((name for name in batch.queries if name in judged), None)
        document = next((name for name in batch.documents.texts() if name in queries), None)
        if query is not None and document is not None:
            message = (
                f"the run's queries, such as {shown(query)!r}, are documents of the judgments, and its documents, such "
                f"as {shown(document)!r}, are queries there; one of the two is nested the other way round: write both "
                "as {query: {document: ...}}, or name the columns of tables"
            )
            return NothingToEvaluateError("cannot evaluate the run:", [Problem(message)])
    return None
