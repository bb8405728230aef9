"""
Nested mappings: judgments and runs as ``{query: {document: number}}``, given in memory or read from JSON.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import orjson

from rankgauge.columns import Ints, Qrels, RankingBatch, Slices, are_texts, encoded, number_problem
from rankgauge.errors import DataError, Problem, UnreadableError, listed
from rankgauge.io.documents import read_json
from rankgauge.io.field_names import Kind
from rankgauge.io.files import open_file
from rankgauge.io.problems import SUBJECTS, first_problems, no_judgments, refuse, unreadable
from rankgauge.io.rating_files import is_ratings, judgments_of_ratings
from rankgauge.io.track_runs import is_track, track_lines, track_run

__all__ = ["MTEB", "MappingRun", "columns_of", "qrels_of_mapping", "read_nested_qrels", "read_nested_run"]

_Mapping = Mapping[str, Mapping[str, float]]
_AT_ONCE = 1 << 15  # how many results a batch has, more or less
_QUERIES = 1 << 12  # how many queries are checked together: few enough to stay in a processor's cache


def qrels_of_mapping(mapping: _Mapping) -> Qrels:
    """
    Take judgments from memory; a `DataError` names all ids that are not strings and grades that are not finite.

    A query without any, ``{"q2": {}}``, is not judged, and left out, as in every kind of file.
    """
    given, mapping = mapping, _judged(mapping)
    if not mapping:
        raise no_judgments() if not _problems(given, "grade") else _unusable(given, "qrels")
    names = list(mapping)
    lengths: list[int] = []
    documents: list[str] = []
    packed: list[bytes] = []
    remaining = iter(mapping.values())
    try:
        while judged := list(islice(remaining, _QUERIES)):
            lengths += map(len, judged)
            ids = list(chain.from_iterable(judged))
            if set(map(type, judged)) != {dict}:
                if not all(isinstance(each, Mapping) for each in judged):
                    raise TypeError  # noqa: TRY301  # explained below, as everything else that is wrong
                judged = list(map(dict, judged))
            values = map(dict.values, cast("list[dict[str, float]]", judged))
            packed.append(struct.pack(f"{len(ids)}d", *chain.from_iterable(values)))
            if not are_texts(ids):
                raise TypeError  # noqa: TRY301  # as above
            documents += ids
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error):
        if (by_intent := _by_intent(mapping)) is not None:
            return by_intent
        raise _unusable(given, "qrels") from None
    grades = np.frombuffer(b"".join(packed), dtype=np.float64)
    if not (np.isfinite(grades).all() and are_texts(given)):
        raise _unusable(given, "qrels")
    return Qrels.of_texts(names, np.array(lengths, dtype=np.int64), documents, grades)


def _judged(mapping: _Mapping) -> _Mapping:
    """Return judgments without queries that have none."""
    if all(mapping.values()):
        return mapping
    return {query: judged for query, judged in mapping.items() if judged or not isinstance(judged, Mapping)}


def _by_intent(mapping: Mapping[str, Mapping[str, Any]]) -> Qrels | None:
    """Return judgments ``{query: {document: {intent: grade}}}``; None for anything else, or if one is not usable."""
    judgments: dict[bytes, dict[bytes, dict[str, float]]] = {}
    for query, judged in mapping.items():
        if not (isinstance(query, str) and isinstance(judged, Mapping) and are_texts(judged)):
            return None
        intents = judged.values()
        if not all(isinstance(by_intent, Mapping) and by_intent and are_texts(by_intent) for by_intent in intents):
            return None
        grades = [grade for by_intent in intents for grade in by_intent.values()]
        if not all(type(grade) in {int, float} and math.isfinite(grade) for grade in grades):
            return None
        judgments[encoded(query)] = {encoded(document): dict(by_intent) for document, by_intent in judged.items()}
    return Qrels.of_intents(judgments)


class MappingRun:
    """A run that is held as a mapping, which judging takes as it is; it has no metadata or notes."""

    def __init__(
        self,
        rankings: _Mapping,
        *,
        name: str = "",
        tag: str = "",
        notes: Sequence[str] = (),
        is_checked: bool = False,
    ) -> None:
        """Take a run, which is looked at when it is judged, unless it *is_checked* since it was read."""
        self.rankings = rankings
        self.name = name
        self.tag = tag
        self.metadata: Mapping[str, Any] = {}
        self.notes = notes
        self._is_checked = is_checked

    def with_rankings(self, rankings: _Mapping) -> MappingRun:
        """Return the same run with other rankings, which are checked as its own are."""
        known: dict[str, Any] = {"name": self.name, "tag": self.tag, "notes": self.notes}
        return MappingRun(rankings, **known, is_checked=self._is_checked)

    def refused(self) -> DataError:
        """Return everything that is wrong with it, once something was found to be."""
        return _unusable(self.rankings, "run")

    def parts(self, count: int) -> list[Iterator[RankingBatch]]:
        """Return one iterator over everything."""
        del count
        return [self.grouped()]

    def grouped(self) -> Iterator[RankingBatch]:
        """Yield every query once; a `DataError` names all ids and scores that cannot be used."""
        if not self._is_checked and _problems(self.rankings, "score"):
            raise self.refused()
        queries: list[str] = []
        size = 0
        for query, ranking in self.rankings.items():
            queries.append(query)
            size += len(ranking)
            if size >= _AT_ONCE:
                yield self._batch(queries)
                queries, size = [], 0
        if queries:
            yield self._batch(queries)

    def _batch(self, queries: Sequence[str]) -> RankingBatch:
        documents, scores, lengths = columns_of([self.rankings[query] for query in queries])
        return RankingBatch(Slices.of(map(encoded, queries)), lengths, documents, documents.keys(), scores)


def columns_of(mappings: Sequence[Mapping[str, float]]) -> tuple[Slices, np.ndarray, Ints]:
    """Return the documents and numbers of some queries, and how many each query has."""
    lengths = np.fromiter(map(len, mappings), np.int64, len(mappings))
    documents = Slices.of_strings(list(chain.from_iterable(mappings)))
    numbers = chain.from_iterable(mapping.values() for mapping in mappings)
    return documents, np.fromiter(numbers, np.float64, len(documents.start)), lengths


def _unusable(mapping: Mapping[Any, Any], kind: Kind) -> DataError:
    """Return everything that is wrong with a mapping."""
    number = "grade" if kind == "qrels" else "score"
    problems = _problems(mapping, number)
    expected = Problem(f"expected a map of maps, {{query: {{document: {number}}}}}")
    return DataError(f"{SUBJECTS[kind]} cannot be used:", problems or [expected])


def _problems(mapping: Mapping[Any, Any], number: str) -> list[Problem]:
    """Return everything that is wrong with a mapping of mappings."""
    if _is_plain(mapping):
        return []
    problems = []
    for query, ranking in mapping.items():
        if not isinstance(query, str):
            problems.append(Problem(f"the query id {query!r} is {_kind(query)}; ids are strings: {str(query)!r}"))
        if not isinstance(ranking, Mapping):
            problems.append(Problem(f"query {query!r} has {_kind(ranking)} where {{document: {number}}} is expected"))
            continue
        for document, value in ranking.items():
            if not isinstance(document, str):
                flaw = f"the document id {document!r} is {_kind(document)}; ids are strings: {str(document)!r}"
                problems.append(Problem(f"query {query!r}: {flaw}"))
            if problem := number_problem(query, document, value, number):
                problems.append(problem)
    return problems


def _is_plain(mapping: Mapping[Any, Any]) -> bool:
    """Return whether there are nothing but dictionaries of strings and finite numbers, which most mappings are."""
    if not (are_texts(mapping) and set(map(type, mapping.values())) <= {dict}):
        return False
    return all(
        are_texts(ranking) and set(map(type, ranking.values())) <= {float} and all(map(math.isfinite, ranking.values()))
        for ranking in mapping.values()
    )


def _kind(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[:1] in "aeiou" else f"a {name}"


def read_nested_run(path: Path, *, name: str) -> MappingRun:
    """Read a run, which is held whole."""
    with open_file(path, name=name) as opened:
        data, offset = opened.stream.read(), opened.offset
    if (lines := track_lines(data, name)) is not None:
        return _of_tracks(*lines, name)
    value, text = _json_of(data, "run", name, offset)
    if is_track(value):
        return _of_tracks([(None, each) for each in (value if isinstance(value, list) else [value])], [], name)
    if isinstance(value, dict) and MTEB in value:
        rankings, model = _of_mteb(value, name)
        refuse("the run cannot be used:", first_problems(_wrong(rankings, "score", name), name))
        return MappingRun(rankings, name=name, tag=model, is_checked=True)
    _check(value, text, _wrong(value, "score", name), "run", name)
    return MappingRun(value, name=name, is_checked=True)


def _of_tracks(records: Iterable[tuple[int | None, object]], problems: list[Problem], name: str) -> MappingRun:
    """Return the run that records of a TREC track make."""
    run = track_run(records, name, problems)
    refuse("the run cannot be used:", first_problems(problems, name))
    return MappingRun(run.rankings, name=name, tag=run.tag, notes=run.notes, is_checked=True)


MTEB = "mteb_model_meta"
"""The key of predictions as MTEB writes them, beside subsets of splits of rankings."""


def _of_mteb(value: dict[str, Any], name: str) -> tuple[Any, str]:
    """Return the rankings of MTEB's predictions, and which model they are of."""
    parts = {
        f"{subset}/{split}": rankings
        for subset, splits in value.items()
        if subset != MTEB and isinstance(splits, dict)
        for split, rankings in splits.items()
    }
    if len(parts) != 1:
        has = f"several ({listed(list(parts))})" if parts else "none"
        raise unreadable(name, f"predictions of MTEB are of one subset and split, and it has {has}; keep one of them")
    meta = value[MTEB]
    names = (meta.get(key) for key in ("model_name", "name")) if isinstance(meta, dict) else ()
    return next(iter(parts.values())), next((str(model) for model in names if isinstance(model, str)), "")


def read_nested_qrels(
    path: Path, *, name: str, intents: bool = False, letters: Mapping[str, float] = MappingProxyType({})
) -> Qrels:
    """
    Read judgments; as columns, so that their fingerprint is that of the same judgments in any other file.

    If they name intents, these are kept if they are asked for; otherwise a document has its highest grade.
    """
    value, text = _decoded(path, name)
    if is_ratings(value):
        problems: list[Problem] = []
        return _of_judged(judgments_of_ratings(value, letters, name, problems), problems, name)
    names_intents = _names_intents(value)
    _check(value, text, _wrong(value, "grade", name, has_intents=names_intents), "qrels", name)
    judgments = cast("dict[str, dict[str, Any]]", _judged(value))
    if names_intents:
        by_intent = {
            encoded(query): {encoded(document): grades for document, grades in judged.items()}
            for query, judged in judgments.items()
        }
        qrels = Qrels.of_intents(by_intent, name)
        return qrels if intents else qrels.without_intents()
    return _of_judged(judgments, [], name)


def _of_judged(judgments: Mapping[str, dict[str, Any]], problems: Sequence[Problem], name: str) -> Qrels:
    """Return judgments that were read as grades by document, unless there are problems or no judgments."""
    refuse("the judgments cannot be used:", first_problems(problems, name))
    judgments = {query: judged for query, judged in judgments.items() if judged}
    if not judgments:
        raise no_judgments(name)
    documents, grades, lengths = columns_of(list(judgments.values()))
    return Qrels.of_stretches(Slices.of(map(encoded, judgments)), lengths, documents, grades, name)


def _decoded(path: Path, name: str) -> tuple[Any, str]:
    with open_file(path, name=name) as opened:
        return _json_of(opened.stream.read(), "qrels", name, opened.offset)


def _json_of(data: bytes, kind: Kind, name: str, offset: int) -> tuple[Any, str]:
    if data.startswith(_QUEUE):
        raise unreadable(name, "it is a queue; once it is filled in, `rankgauge judge read` makes judgments of it")
    try:
        return read_json(data, name, offset=offset)
    except UnreadableError:
        if _begins_with_objects(data):
            raise unreadable(name, f"these are JSON lines of other records; {_FORMS[kind]}; {_SAMPLES}") from None
        raise


def _begins_with_objects(data: bytes) -> bool:
    """Return whether the first two lines are an object each."""
    lines = data.split(b"\n", 2)[:2]
    try:
        return len(lines) == 2 and all(isinstance(orjson.loads(line), dict) for line in lines)
    except orjson.JSONDecodeError:
        return False


_FORMS: Mapping[Kind, str] = {
    "qrels": "judgments are rows with query_id, doc_id and relevance, or one document {query: {document: grade}}",
    "run": "a run has rows with query_id, doc_id and score, or is one document {query: {document: score}}",
}
_SAMPLES = "samples and outputs are scored by `rankgauge run --data SAMPLES --outputs OUTPUTS`"


_QUEUE = b'{"schema_version": "rankgauge.queue.', b'{"schema_version":"rankgauge.queue.'
"""How queues begin, as we and the pages of judges write them."""


def _check(value: Any, text: str, wrong: Iterator[Problem], kind: Kind, name: str) -> None:  # noqa: ANN401  # JSON
    """Raise a `DataError` for problems, or for keys that are twice, of which a parser keeps the last."""
    problems = first_problems(wrong, name)
    if problems and isinstance(value, dict) and isinstance(value.get("id"), str | int):
        problems = [Problem(f"this is the record of a sample; {_SAMPLES}", name)]
    if not problems and _n_quotes(text) != 2 * _n_keys(value):
        problems = _repeated(text, name)
    number = "grade" if kind == "qrels" else "score"
    refuse(f"{SUBJECTS[kind]} cannot be used; JSON is {{query: {{document: {number}}}}}:", problems)


def _n_keys(value: dict[str, Any]) -> int:
    return len(value) + sum(_n_keys(inner) for inner in value.values() if isinstance(inner, dict))


def _names_intents(value: object) -> bool:
    """Return whether some document has an object of grades."""
    queries = value.values() if isinstance(value, dict) else ()
    return any(isinstance(item, dict) for inner in queries if isinstance(inner, dict) for item in inner.values())


def _wrong(value: object, number: str, name: str, *, has_intents: bool = False) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield Problem(f"expected an object of objects, found {_json_kind(value)}", name)
        return
    for query, inner in value.items():
        if not isinstance(inner, dict):
            yield Problem(f"expected an object of documents, found {_json_kind(inner)}", name, path=query)
        elif has_intents:
            for document, by_intent in inner.items():
                if isinstance(by_intent, dict) and by_intent:
                    yield from _no_numbers(by_intent, number, name, f"{query}.{document}")
                else:
                    shown = "an empty one" if by_intent == {} else _json_kind(by_intent)
                    message = f"expected an object of intents, as other documents have, found {shown}"
                    yield Problem(message, name, path=f"{query}.{document}")
        else:
            yield from _no_numbers(inner, number, name, query)
        if not query or (isinstance(inner, dict) and "" in inner):
            yield Problem("an id is empty", name, path=query)


def _no_numbers(values: dict[str, object], number: str, name: str, path: str) -> Iterator[Problem]:
    """Yield what is wrong with values that should be numbers."""
    if set(map(type, values.values())) - {int, float}:
        for key, item in values.items():
            if type(item) not in {int, float}:
                yield Problem(f"the {number} must be a number, found {_json_kind(item)}", name, path=f"{path}.{key}")


def _n_quotes(text: str) -> int:
    """Return how many quotes begin or end a string; all strings are keys, so two for each key that was written."""
    quotes = text.count('"')
    return quotes - text.replace("\\\\", "").count('\\"') if "\\" in text else quotes


def _repeated(text: str, name: str) -> list[Problem]:
    """Return which keys are twice, by reading once more, slowly."""
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


def _json_kind(value: object) -> str:
    names = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}
    if type(value) in names:  # whose items may be nested too deeply to show
        return names[type(value)]
    return f"the {'string' if isinstance(value, str) else 'number'} {value!r}"
