"""
Mappings: judgments and runs that are given in memory, as ``{query: {document: number}}``.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping
from itertools import chain, repeat
from typing import Any

import numpy as np

from rankgauge.errors import DataError, Problem
from rankgauge.rankings import Qrels

__all__ = ["check_run_mapping", "qrels_of_mapping"]

_Mapping = Mapping[str, Mapping[str, float]]
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
        packed = struct.pack(f"{len(documents)}d", *chain.from_iterable(own.values() for own in judged))
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error):
        raise DataError(_QRELS, _problems(mapping, "grade")) from None
    grades = np.frombuffer(packed, dtype=np.float64)
    if not (np.isfinite(grades).all() and _are_texts(documents) and _are_texts(names)):
        raise DataError(_QRELS, _problems(mapping, "grade"))
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
    raise DataError(_RUN, _problems(run, "score"))


def _are_texts(ids: Iterable[object]) -> bool:
    return all(issubclass(kind, str) for kind in set(map(type, ids)))


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
            if not _is_finite(value):
                problems.append(
                    Problem(f"query {query!r}: the {number} of {document!r} is {value!r}, no finite number")
                )
    return problems or [Problem(f"expected a map of maps, {{query: {{document: {number}}}}}")]


def _is_finite(value: object) -> bool:
    try:
        return not isinstance(value, str | bytes) and math.isfinite(value)  # type: ignore[arg-type]  # asks just that
    except TypeError:
        return False


def _kind(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"
