"""
`Qrels`: judgments as columns, and the index by which judged rows are found among millions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import frozen, read_only
from rankgauge.columns.hashes import bits, keys_of_gold
from rankgauge.columns.judged_rows import Floats, Intents, Ints, distinct, intents_of, stretches
from rankgauge.columns.pairs import Directory, FewJudged, JudgedPairs, salts
from rankgauge.columns.slices import Slices, Words, encoded, mixed
from rankgauge.errors import Problem, RepeatedJudgmentsError

__all__ = ["Qrels"]

_FEW = 16
"""Up to how many judgments of each query comparing with all of them is faster than an index."""

_NEWLINE = 10


class Given(NamedTuple):
    """
    Judgments as they are in memory: whoever goes through them in this order waits least for it.

    Attributes:
        queries: The id of each query.

        documents: The documents that each query judges, query by query.

        places: The place of each query in byte order; shape (queries,).
    """

    queries: Sequence[str]
    documents: Sequence[str]
    places: Ints


@dataclass(frozen=True, eq=False)
class Qrels:
    """
    Judgments in order of query id by bytes, then as they were listed. The columns are read-only.

    Attributes:
        ids: The id of each query: slices of what was read, or texts that were given; None as for `listed`.

        lengths: How many judgments each query has; shape (queries,).

        grades: The grade of each judgment; shape (judgments,).

        listed: The document id of each judgment: slices of what was read, or texts that were given; None for texts
            that are in another order in `_given`.

        source: The file they came from, for messages.

        intents: Which intents of its query each judgment is for; None if not asked for, or none is named.

        n_merged: How many judgments are the highest of several for their document, because intents were not asked for.
    """

    ids: Slices | Sequence[str] | None
    lengths: Ints
    grades: Floats
    listed: Slices | Sequence[str] | None
    source: str = ""
    intents: Intents | None = None
    n_merged: int = 0
    _given: Given | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        slices = [part for part in (self.ids, self.listed) if isinstance(part, Slices)]
        for column in (
            self.lengths,
            self.grades,
            *(self.intents or ()),
            *(column for part in slices for column in part),
        ):
            read_only(column)
        for name in ("ids", "listed"):
            if type(given := getattr(self, name)) is list:
                object.__setattr__(self, name, tuple(given))  # the class is frozen

    def __reduce__(self) -> tuple[type[Qrels], tuple[Any, ...]]:
        return Qrels, tuple(getattr(self, each.name) for each in fields(self))

    @classmethod
    def of(cls, queries: Sequence[bytes], owners: Ints, documents: Slices, grades: Floats, source: str = "") -> Qrels:
        """Sort judgments by query; a `RepeatedJudgmentsError` if a document is judged twice for one query."""
        if any(after <= before for before, after in pairwise(queries)):
            by_id = sorted(range(len(queries)), key=queries.__getitem__)
            place = np.empty(len(queries), dtype=np.int64)
            place[by_id] = np.arange(len(queries))
            owners, queries = place[owners], [queries[at] for at in by_id]
        if (owners[1:] < owners[:-1]).any():
            order = np.argsort(owners, kind="stable")
            owners, documents, grades = owners[order], documents.at(order), grades[order]
        lengths = np.bincount(owners, minlength=len(queries))
        qrels = cls(Slices.of(queries), lengths, grades, documents, source)
        qrels._refuse_repeats()
        return qrels

    @classmethod
    def of_texts(cls, queries: Sequence[str], lengths: Ints, documents: Sequence[str], grades: Floats) -> Qrels:
        """Sort judgments of queries that are given in any order, each once and with no document twice."""
        order = Slices.of_strings(queries).ascending()
        in_order = np.arange(len(order))
        if (order == in_order).all():
            return cls(queries, lengths, grades, documents)
        places = np.empty(len(order), dtype=np.int64)
        places[order] = in_order
        given = Given(tuple(queries), documents, places)
        return cls(None, lengths[order], grades[_moved(lengths, order)], None, _given=given)

    @classmethod
    def of_stretches(cls, names: Slices, lengths: Ints, documents: Slices, grades: Floats, source: str = "") -> Qrels:
        """Sort judgments that come in stretches of one query each; a query may have several."""
        order = names.ascending()
        sorted_names = names.at(order)
        if sorted_names.at(slice(1, None)).equal(sorted_names.at(slice(-1))).any():
            places: dict[bytes, int] = {}
            of_stretch = [places.setdefault(name, len(places)) for name in names.texts()]
            owners = np.repeat(np.array(of_stretch, dtype=np.int64), lengths)
            return cls.of(list(places), owners, documents, grades, source)
        if (order[1:] < order[:-1]).any():
            rows = _moved(lengths, order)
            lengths, documents, grades = lengths[order], documents.at(rows), grades[rows]
        qrels = cls(sorted_names, lengths, grades, documents, source)
        qrels._refuse_repeats()
        return qrels

    @classmethod
    def of_intents(cls, judgments: Mapping[bytes, Mapping[bytes, Mapping[str, float]]], source: str = "") -> Qrels:
        """Return judgments ``{query: {document: {intent: grade}}}``; a document's own grade is its highest."""
        queries = sorted(judgments)
        documents = [document for query in queries for document in judgments[query]]
        by_intent = [grades for query in queries for grades in judgments[query].values()]
        lengths = np.array([len(judgments[query]) for query in queries], dtype=np.int64)
        owners = np.repeat(np.arange(len(queries)), lengths).tolist()
        highest = np.array([max(grades.values()) for grades in by_intent], dtype=np.float64)
        intents = intents_of(owners, documents, by_intent)
        return cls(Slices.of(queries), lengths, highest, Slices.of(documents), source, intents)

    @classmethod
    def of_listed_intents(cls, listed: Iterable[tuple[bytes, bytes, str, float]], source: str = "") -> Qrels | None:
        """Return judgments (query, document, intent, grade); None if a document is judged twice for one intent."""
        judgments: dict[bytes, dict[bytes, dict[str, float]]] = {}
        for query, document, intent, grade in listed:
            own = judgments.setdefault(query, {}).setdefault(document, {})
            if intent in own:
                return None
            own[intent] = grade
        return cls.of_intents(judgments, source)

    def without_intents(self) -> Qrels:
        """Return the same judgments, of which each is the highest of those for its intents."""
        if self.intents is None:
            return self
        several = np.bincount(self.intents.item, minlength=self.n_judgments) > 1
        return replace(self, intents=None, n_merged=int(np.count_nonzero(several)))

    @property
    def merged_note(self) -> str:
        """Return what a user should know of judgments that were merged; empty if none were."""
        if not self.n_merged:
            return ""
        have = "document has" if self.n_merged == 1 else "documents have"
        return (
            f"{self.n_merged:,} {have} several judgments for a query in {self.source or 'the judgments'}, by intent or "
            "by assessor (column two of TREC text); the highest counts, and trec_eval refuses them. Metrics by intent, "
            "such as alpha_ndcg@10, read each; grades of assessors are better merged before"
        )

    @cached_property
    def documents(self) -> Slices:
        """Return the document of each judgment."""
        return self.listed if isinstance(self.listed, Slices) else frozen(Slices.of_strings(self.names))

    @cached_property
    def names(self) -> Sequence[str]:
        """Return the document of each judgment as a text."""
        if isinstance(self.listed, Slices):
            return tuple(name.decode("utf-8", "surrogateescape") for name in self.listed.texts())
        if self.listed is not None:
            return self.listed
        _, documents, places = self.given
        moved = _moved(self.lengths[places], np.argsort(places))
        return tuple(map(documents.__getitem__, moved.tolist()))

    @property
    def given(self) -> Given:
        """Return the judgments as texts, in the order in which they are in memory."""
        return self._given or Given(self.query_names, self.names, np.arange(len(self.lengths)))

    @cached_property
    def queries(self) -> Sequence[bytes]:
        """Return each query's id as bytes."""
        return tuple(self.ids.texts() if isinstance(self.ids, Slices) else map(encoded, self.query_names))

    @cached_property
    def query_names(self) -> Sequence[str]:
        """Return each query's id as a text, with invalid bytes spelled out."""
        if isinstance(self.ids, Slices):
            return tuple(name.decode("utf-8", "backslashreplace") for name in self.queries)
        return self.ids or tuple(map(self.given.queries.__getitem__, np.argsort(self.given.places).tolist()))

    @property
    def n_queries(self) -> int:
        """Return how many queries are judged."""
        return len(self.lengths)

    @property
    def n_judgments(self) -> int:
        """Return how many judgments there are."""
        return len(self.grades)

    @cached_property
    def owners(self) -> Ints:
        """Return the query of each judgment."""
        return read_only(np.repeat(np.arange(len(self.lengths)), self.lengths))

    @cached_property
    def fingerprint(self) -> str:
        """Return a hash of every judgment; the same for the same judgments, in one kind of file or in memory."""
        digest = hashlib.sha256()
        for column in (self.lengths, self.grades):
            digest.update(column.tobytes())
        if isinstance(self.listed, Slices):
            ids = self.ids if isinstance(self.ids, Slices) else Slices.of_strings(self.query_names)
            digest.update(ids.joined(_NEWLINE))
            digest.update(self.listed.length.astype(np.int64).tobytes())
            digest.update(self.listed.keys().tobytes())
        else:
            digest.update(encoded("\n".join(chain(self.query_names, self.names))))
        for column in self.intents or ():
            digest.update(column.tobytes())
        return f"sha256:{digest.hexdigest()}"

    @cached_property
    def gold_keys(self) -> Words:
        """Return a hash of each query's judgments, whatever their order; shape (queries,)."""
        keys = self.documents.keys()
        sums = keys_of_gold(keys, self.grades, self.owners, len(self.lengths))
        if self.intents is not None:
            item, intent, grade, _ = self.intents
            of_intent = mixed(mixed(keys[item], bits(grade)), intent.astype(np.uint64) + np.uint64(1))
            np.add.at(sums, self.owners[item], of_intent)
        return read_only(sums)

    @cached_property
    def joinable(self) -> tuple[Ints, Ints] | None:
        """
        Return the key of each judgment's document and its slice, start << 16 | length, and where each query's begin.

        None if a document is too long for that, or a query has no judgments.
        """
        _, start, length = self.documents
        if int(length.max(initial=0)) >= 1 << 16 or not int(self.lengths.min(initial=1)):
            return None
        gold = np.empty((len(start), 2), dtype=np.int64)
        gold[:, 0] = self.documents.keys().view(np.int64)
        np.left_shift(start, 16, out=gold[:, 1], dtype=np.int64)
        gold[:, 1] |= length
        return read_only(gold), read_only(np.append(0, np.cumsum(self.lengths)))

    def places_of(self, names: Slices) -> Ints:
        """Return the place of each query; -1 for one that is not judged."""
        return self._directory.find(names)

    @cached_property
    def _directory(self) -> Directory:
        return Directory(self.ids if isinstance(self.ids, Slices) else Slices.of_strings(self.query_names))

    def salted(self, keys: Words, owners: Ints) -> Words:
        """Return keys for pairs of document and query, which differ for the same document of different queries."""
        return mixed(keys, self._salts[owners])

    @cached_property
    def _salts(self) -> Words:
        return salts(len(self.lengths))

    @cached_property
    def are_few(self) -> bool:
        """Return whether every query has so few judgments that `find_few` is faster than `find`."""
        return int(self.lengths.max(initial=0)) <= _FEW

    def find_few(self, keys: Words, places: Ints, lengths: Ints) -> tuple[Ints, Ints]:
        """Return what `find` does, for rows of queries at *places* with *lengths* rows each, in any order."""
        return self._few.find(keys, places, lengths)

    @cached_property
    def _few(self) -> FewJudged:
        return FewJudged.of(self.documents.keys(), self.owners, self.lengths)

    def find(self, pairs: Words) -> tuple[Ints, Ints]:
        """Return the rows whose pair may be judged, and their judgments; hashes may collide: compare the documents."""
        return self._index.find(pairs)

    @cached_property
    def _index(self) -> JudgedPairs:
        return JudgedPairs.of(self.salted(self.documents.keys(), self.owners))

    def _repeats(self) -> tuple[Ints, Ints]:
        """Return pairs of judgments of one document and query: one of them, and one after it."""
        first, second = self._few.twins(self.owners) if self.are_few else self._index.twins()
        twice = self.documents.at(first).equal(self.documents.at(second)) & (self.owners[first] == self.owners[second])
        return first[twice], second[twice]

    def _refuse_repeats(self) -> None:
        """Raise `RepeatedJudgmentsError` if a document is judged twice for one query."""
        _, second = self._repeats()
        if not len(second):
            return
        second = distinct(second)
        problems = []
        for row in second.tolist():
            document = self.documents.at(np.array([row])).texts()[0].decode("utf-8", "replace")
            query = self.queries[self.owners[row]].decode("utf-8", "replace")
            problems.append(Problem(f"query {query!r} judges document {document!r} more than once", self.source))
        msg = "the judgments cannot be used; keep one line for each document of a query:"
        kept = np.ones(self.n_judgments, dtype=np.bool_)
        kept[second] = False
        first_of_each = Qrels.of(
            self.queries, self.owners[kept], self.documents.at(kept), self.grades[kept], self.source
        )
        raise RepeatedJudgmentsError(msg, problems, first_of_each)


def _moved(lengths: Ints, order: Ints) -> Ints:
    """Return the rows of stretches of some lengths, in another order of the stretches."""
    return stretches((np.cumsum(lengths) - lengths)[order], lengths[order])
