"""
Nested JSON: results and judgments as ``{query: {document: number}}``, as BEIR and pytrec_eval write them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from rankgauge.columns import Qrels, Slices, encoded
from rankgauge.errors import DataError, Problem
from rankgauge.io.columns import Kind
from rankgauge.io.documents import read_json
from rankgauge.io.files import open_file
from rankgauge.io.mappings import MappingRun, columns_of
from rankgauge.io.problems import first_problems, no_judgments

__all__ = ["read_nested_qrels", "read_nested_run"]

_Nested = dict[str, dict[str, float]]


def read_nested_run(path: Path, *, name: str) -> MappingRun:
    """Read a run, which is held whole."""
    return MappingRun(_read(path, "run", name), name=name, is_checked=True)


def read_nested_qrels(path: Path, *, name: str) -> Qrels:
    """Read judgments; as columns, so that their fingerprint is that of the same judgments in any other file."""
    judgments = {query: grades for query, grades in _read(path, "qrels", name).items() if grades}
    if not judgments:
        raise no_judgments(name)
    documents, grades, lengths = columns_of(list(judgments.values()))
    return Qrels.of_stretches(Slices.of(map(encoded, judgments)), lengths, documents, grades, name)


def _read(path: Path, kind: Kind, name: str) -> _Nested:
    with open_file(path, name=name) as opened:
        value, text = read_json(opened.stream.read(), name, offset=opened.offset)
    what, number = ("the judgments", "grade") if kind == "qrels" else ("the run", "score")
    problems = first_problems(_wrong(value, number, name), name)
    if not problems and _n_quotes(text) != 2 * (len(value) + sum(map(len, value.values()))):
        problems = _repeated(text, name)
    if problems:
        msg = f"{what} cannot be used; JSON is {{query: {{document: {number}}}}}:"
        raise DataError(msg, problems)
    nested: _Nested = value
    return nested


def _wrong(value: object, number: str, name: str) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(f"expected an object of objects, found {_kind(value)}", name)
        return
    for query, inner in value.items():
        if not isinstance(inner, dict):
            yield Problem(f"expected an object of documents, found {_kind(inner)}", name, path=query)
        elif set(map(type, inner.values())) - {int, float}:
            for document, item in inner.items():
                if type(item) not in {int, float}:
                    message = f"the {number} must be a number, found {_kind(item)}"
                    yield Problem(message, name, path=f"{query}.{document}")
        if not query or (isinstance(inner, dict) and "" in inner):
            yield Problem("an id is empty", name, path=query)


def _n_quotes(text: str) -> int:
    """
    Return how many quotes begin or end a string.

    All strings of such a document are keys, so there are two for each key that was written, including one that was
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
                problems.append(Problem(f"{key!r} is listed more than once in the same object; keep one", name))
            taken[key] = item
        return taken

    json.loads(text, object_pairs_hook=take)
    return problems


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}
    if type(value) in names:  # whose items may be nested too deeply to show
        return names[type(value)]
    return f"the {'string' if isinstance(value, str) else 'number'} {value!r}"
