"""
Nested JSON: results and judgments as ``{query: {document: number}}``, as BEIR and pytrec_eval write them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from rankgauge.columns import Ints, Qrels, RankingBatch, Slices, encoded
from rankgauge.errors import DataError, Problem, UnreadableError
from rankgauge.io.columns import Kind
from rankgauge.io.documents import decode_text
from rankgauge.io.files import open_file

__all__ = ["NestedRun", "read_nested_qrels"]

_ROWS = 1 << 16
_MOST = 10_000

_Nested = dict[str, dict[str, float]]


class NestedRun:
    """
    A run that stands in a JSON file, which is held whole.

    Attributes:
        name: The file.

        tag: Empty: the format has none.

        metadata: Empty.

        notes: Empty.
    """

    def __init__(self, path: Path, *, name: str) -> None:
        """
        Read a run.

        Args:
            path: The file; decompressed by its ending.

            name: What messages call it.

        Raises:
            UnreadableError: The file is no JSON.

            DataError: Values that are no rankings, or documents that stand twice for a query, all of them.
        """
        self.name = name
        self.tag = ""
        self.metadata: Mapping[str, Any] = {}
        self.notes: Sequence[str] = ()
        self._rankings = _read(path, "run", name)

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """
        Return iterators that together yield every query once, to be used by a thread each.

        Args:
            count: How many to make at the most.

        Returns:
            One iterator.
        """
        del count
        return [self.grouped()]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once."""
        queries: list[str] = []
        n_rows = 0
        for query, ranking in self._rankings.items():
            queries.append(query)
            n_rows += len(ranking)
            if n_rows >= _ROWS:
                yield self._batch(queries)
                queries, n_rows = [], 0
        if queries:
            yield self._batch(queries)

    def _batch(self, queries: Sequence[str]) -> RankingBatch:
        rankings = [self._rankings[query] for query in queries]
        documents, numbers, lengths = _columns(rankings)
        return RankingBatch(Slices.of(map(encoded, queries)), lengths, documents, documents.keys(), numbers)


def read_nested_qrels(path: Path, *, name: str) -> Qrels:
    """
    Read judgments.

    Args:
        path: The file; decompressed by its ending.

        name: What messages call it.

    Returns:
        The judgments.

    Raises:
        UnreadableError: The file is no JSON.

        DataError: Values that are no judgments, or documents that stand twice for a query, all of them; or nothing is
            judged.
    """
    judgments = {query: grades for query, grades in _read(path, "qrels", name).items() if grades}
    if not judgments:
        msg = "the judgments cannot be used:"
        raise DataError(msg, [Problem("the file judges nothing", name)])
    documents, grades, lengths = _columns(list(judgments.values()))
    owners = np.repeat(np.arange(len(lengths)), lengths)
    return Qrels.of([encoded(query) for query in judgments], owners, documents, grades, name)


def _columns(rankings: Sequence[Mapping[str, float]]) -> tuple[Slices, np.ndarray, Ints]:
    lengths = np.fromiter(map(len, rankings), np.int64, len(rankings))
    documents = Slices.of(encoded(document) for ranking in rankings for document in ranking)
    numbers = (number for ranking in rankings for number in ranking.values())
    return documents, np.fromiter(numbers, np.float64, len(documents.start)), lengths


def _read(path: Path, kind: Kind, name: str) -> _Nested:
    with open_file(path) as opened:
        text = decode_text(opened.stream.read(), name, offset=opened.offset)
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        msg = f"cannot read {name}:"
        hint = "; NaN and infinity are no JSON" if "NaN" in text or "Infinity" in text else ""
        message = f"not valid JSON: {error.msg} (column {error.colno}){hint}"
        raise UnreadableError(msg, [Problem(message, name, error.lineno)]) from None
    what, number = ("the judgments", "grade") if kind == "qrels" else ("the run", "score")
    problems = _wrong(value, number, name)
    if not problems and _n_quotes(text) != 2 * (len(value) + sum(map(len, value.values()))):
        problems = _repeated(text, name)
    if problems:
        msg = f"{what} cannot be used; JSON is {{query: {{document: {number}}}}}:"
        raise DataError(msg, problems)
    nested: _Nested = value
    return nested


def _wrong(value: object, number: str, name: str) -> list[Problem]:
    if not isinstance(value, dict):
        return [Problem(f"expected an object of objects, found {_kind(value)}", name)]
    problems: list[Problem] = []
    for query, inner in value.items():
        if not isinstance(inner, dict):
            problems.append(Problem(f"expected an object of documents, found {_kind(inner)}", name, path=query))
        elif set(map(type, inner.values())) - {int, float}:
            problems += [
                Problem(f"the {number} has to be a number, found {_kind(item)}", name, path=f"{query}.{document}")
                for document, item in inner.items()
                if type(item) not in {int, float}
            ]
        if not all(inner if isinstance(inner, dict) else ()) or not query:
            problems.append(Problem("an id is empty", name, path=query))
        if len(problems) >= _MOST:
            return [*problems[:_MOST], Problem(f"reading stopped after {_MOST:,} problems", name)]
    return problems


def _n_quotes(text: str) -> int:
    """
    Return how many quotes begin or end a string.

    All strings of such a document are keys, so there are two for each key that was written, also for one that was
    written twice, of which a parser keeps the last.
    """
    quotes = text.count('"')
    return quotes - text.replace("\\\\", "").count('\\"') if "\\" in text else quotes


def _repeated(text: str, name: str) -> list[Problem]:
    """Return which keys stand twice, by reading once more, slowly."""
    problems: list[Problem] = []

    def take(pairs: list[tuple[str, object]]) -> dict[str, object]:
        taken: dict[str, object] = {}
        for key, item in pairs:
            if key in taken:
                problems.append(Problem(f"{key!r} stands more than once in the same object; keep one", name))
            taken[key] = item
        return taken

    json.loads(text, object_pairs_hook=take)
    return problems


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: f"the string {value!r}", bool: "a truth value", type(None): "null"}
    return names.get(type(value), f"the number {value!r}")
