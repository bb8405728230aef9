"""
Nested JSON: results and judgments as ``{query: {document: number}}``, as BEIR and pytrec_eval write them.

Judgments for intents are nested once more: ``{query: {document: {intent: grade}}}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

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
    value, text = _decoded(path, name)
    _check(value, text, first_problems(_wrong(value, "score", name), name), "run", name)
    run: _Nested = value
    return MappingRun(run, name=name, is_checked=True)


def read_nested_qrels(path: Path, *, name: str, intents: bool = False) -> Qrels:
    """
    Read judgments; as columns, so that their fingerprint is that of the same judgments in any other file.

    Where they name intents, these are kept if they are asked for; otherwise a document has its highest grade.
    """
    value, text = _decoded(path, name)
    if _names_intents(value):
        _check(value, text, first_problems(_wrong_intents(value, name), name), "qrels", name)
        found = {
            encoded(query): {encoded(document): by_intent for document, by_intent in own.items()}
            for query, own in value.items()
            if own
        }
        qrels = Qrels.of_intents(found, name)
        return qrels if intents else replace(qrels, intents=None)
    _check(value, text, first_problems(_wrong(value, "grade", name), name), "qrels", name)
    judgments: _Nested = {query: grades for query, grades in value.items() if grades}
    if not judgments:
        raise no_judgments(name)
    documents, grades, lengths = columns_of(list(judgments.values()))
    return Qrels.of_stretches(Slices.of(map(encoded, judgments)), lengths, documents, grades, name)


def _decoded(path: Path, name: str) -> tuple[Any, str]:
    with open_file(path, name=name) as opened:
        return read_json(opened.stream.read(), name, offset=opened.offset)


def _check(value: Any, text: str, problems: list[Problem], kind: Kind, name: str) -> None:  # noqa: ANN401  # JSON
    """Raise a `DataError` for problems, or for keys that stand twice, of which a parser keeps the last."""
    what, number = ("the judgments", "grade") if kind == "qrels" else ("the run", "score")
    if not problems and _n_quotes(text) != 2 * _n_keys(value):
        problems = _repeated(text, name)
    if problems:
        msg = f"{what} cannot be used; JSON is {{query: {{document: {number}}}}}:"
        raise DataError(msg, problems)


def _n_keys(value: dict[str, Any]) -> int:
    inner = [own for own in value.values() if isinstance(own, dict)]
    return len(value) + sum(map(_n_keys, inner))


def _names_intents(value: object) -> bool:
    """Return whether some document has an object of grades."""
    queries = value.values() if isinstance(value, dict) else ()
    return any(isinstance(item, dict) for own in queries if isinstance(own, dict) for item in own.values())


def _wrong_intents(value: dict[str, Any], name: str) -> Iterator[Problem]:
    for query, own in value.items():
        if not query or (isinstance(own, dict) and "" in own):
            yield Problem("an id is empty", name, path=query)
        if not isinstance(own, dict):
            yield Problem(f"expected an object of documents, found {_kind(own)}", name, path=query)
            continue
        for document, by_intent in own.items():
            if not isinstance(by_intent, dict) or not by_intent:
                found = "an empty one" if by_intent == {} else _kind(by_intent)
                message = f"expected an object of intents, as other documents have, found {found}"
                yield Problem(message, name, path=f"{query}.{document}")
                continue
            for intent, grade in by_intent.items():
                if type(grade) not in {int, float}:
                    message = f"the grade must be a number, found {_kind(grade)}"
                    yield Problem(message, name, path=f"{query}.{document}.{intent}")


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
