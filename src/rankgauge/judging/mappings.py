"""
Judging mappings: looking judged documents up in dictionaries of scores, and counting what stands above them.

Nothing is built for a result that no judgment names but its score, which numpy reads straight from the dictionaries.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, islice, pairwise, repeat
from typing import NamedTuple, cast

import numpy as np

from rankgauge.columns import Floats, Ints, Qrels, are_texts, encoded
from rankgauge.columns.judged_rows import distinct
from rankgauge.errors import DataError
from rankgauge.judging.ranking import as_compared
from rankgauge.judging.ranks import Ranks
from rankgauge.judging.run import RunCollector

__all__ = ["have_text_ids", "judge_mapping"]

_SCORES, _QUERIES = 1 << 17, 1 << 13
"""How many scores and queries are looked at together: few enough that what is touched again is still in a cache."""

_FIRST_QUERIES = 1 << 6
"""How many queries are looked at first, which tells how many scores a query has."""

_LONG = 100
"""From how many results a query on each one's scores are packed by themselves."""

_MANY = 16
"""From how many judgments or judged results a query on each one's are looked up, or ranked, by themselves."""

_FEW = 16
"""Up to how many documents of one score going through them is faster than numbering them."""

_ABSENT = object()
"""What a query that the run lacks is found as."""

_Ranking = Mapping[str, float]


def judge_mapping(run: Mapping[str, _Ranking], collector: RunCollector, refused: Callable[[], DataError]) -> None:
    """Judge a run that is given in memory; raise what *refused* makes where it has not the shape of one."""
    begin = n_judged = n_scores = 0
    size, queries = _FIRST_QUERIES, collector.qrels.given.queries
    judgments, rankings = _Judgments(collector.qrels), _Rankings(run)
    while begin < len(queries):
        asked = judgments.take(begin, begin + size)
        found = rankings.take(asked.queries)
        kinds = set(map(type, found))
        if type(_ABSENT) in kinds:
            there = [ranking is not _ABSENT for ranking in found]
            asked, found = asked.where(there), list(compress(found, there))
            kinds = set(map(type, found))
        if not _are_mappings(kinds):
            raise refused()
        plain = cast("Sequence[_Ranking]", found)
        part = _Part(collector, asked, _plain(plain, asked.queries, collector, is_plain=kinds == {dict}))
        try:
            part.judge()
        except _UnusableError:
            raise refused() from None
        if not have_text_ids(plain):  # asked last, when the rankings are in a cache
            raise refused()
        begin += size
        n_judged += len(found)
        n_scores += int(part.depth.sum())
        size = max(1, min(_QUERIES, _SCORES * begin // max(n_scores, 1)))
    if n_judged < len(run):
        judged = set(queries)
        others = {query: ranking for query, ranking in run.items() if query not in judged}
        each = others.values()
        if not (are_texts(others) and _are_mappings(set(map(type, each))) and have_text_ids(each)):
            raise refused()
    collector.note_unjudged(len(run) - n_judged, looks=encoded(next(iter(run), "")))


class _UnusableError(Exception):
    """A score is not a finite number, or an id is no text."""


def have_text_ids(rankings: Iterable[_Ranking]) -> bool:
    """Return whether the first document of each is a text."""
    return are_texts(map(next, map(iter, rankings), repeat("")))


def _are_mappings(kinds: Iterable[type]) -> bool:
    return all(issubclass(kind, Mapping) for kind in kinds)


def _plain(
    rankings: Sequence[_Ranking], names: Sequence[str], collector: RunCollector, *, is_plain: bool
) -> list[dict[str, float]]:
    """Return rankings as dictionaries of what counts as their scores, without what the policy excludes."""
    policy = collector.profile.policy
    plain = cast("list[dict[str, float]]", rankings)
    if not is_plain:
        plain = list(map(dict, rankings))
    if policy.exclude_self:
        plain = list(map(_without, plain, names))
    if collector.sketcher is not None:
        collector.sketcher.add_texts(chain.from_iterable(plain))
    if policy.order == "given":
        plain = [dict(zip(ranking, range(0, -len(ranking), -1), strict=True)) for ranking in plain]
    return plain


class _Asked(NamedTuple):
    """
    The judgments of some queries.

    Attributes:
        queries: Their ids.

        places: Their places in the judgments.

        starts: Where the judgments of each begin.

        lengths: How many each has.

        documents: The documents judged, query by query.
    """

    queries: Sequence[str]
    places: Ints
    starts: Ints
    lengths: Ints
    documents: Sequence[str]

    def where(self, there: Sequence[bool]) -> _Asked:
        """Return the same for some of the queries."""
        documents = list(compress(self.documents, np.repeat(there, self.lengths).tolist()))
        queries = list(compress(self.queries, there))
        return _Asked(queries, self.places[there], self.starts[there], self.lengths[there], documents)


class _Judgments:
    """Judgments, taken some queries at a time in the order in which they stand in memory."""

    def __init__(self, qrels: Qrels) -> None:
        self._given = qrels.given
        self._lengths = qrels.lengths[self._given.places]
        self._starts = (np.cumsum(qrels.lengths) - qrels.lengths)[self._given.places]
        self._taken = 0

    def take(self, begin: int, end: int) -> _Asked:
        """Return some queries, which follow those that were taken before."""
        own = slice(begin, end)
        lengths = self._lengths[own]
        first = self._taken
        self._taken += int(lengths.sum())
        documents = self._given.documents[first : self._taken]
        return _Asked(self._given.queries[own], self._given.places[own], self._starts[own], lengths, documents)


class _Rankings:
    """The rankings of a run, found without a look-up for as long as its queries come in the order of the judgments."""

    def __init__(self, run: Mapping[str, _Ranking]) -> None:
        self._run = run
        self._is_in_order = True
        self._queries, self._values = iter(run), iter(run.values())

    def take(self, queries: Sequence[str]) -> list[object]:
        """Return the ranking of each of the next queries, `_ABSENT` where there is none."""
        if self._is_in_order:
            self._is_in_order = list(islice(self._queries, len(queries))) == queries
        if self._is_in_order:
            return list(islice(self._values, len(queries)))
        return list(map(self._run.get, queries, repeat(_ABSENT)))


class _Part:
    """Some queries with their rankings."""

    def __init__(self, collector: RunCollector, asked: _Asked, rankings: Sequence[dict[str, float]]) -> None:
        self._collector = collector
        self._asked = asked
        self._rankings = rankings
        self.depth = np.fromiter(map(len, rankings), np.int64, len(rankings))
        self._gold = np.repeat(asked.starts - (np.cumsum(asked.lengths) - asked.lengths), asked.lengths)
        self._gold += np.arange(len(self._gold))
        self._owner = np.repeat(np.arange(len(rankings)), asked.lengths)

    def judge(self) -> None:
        """Look the judged documents up, rank them, and hand them over."""
        policy = self._collector.profile.policy
        scores, own = self._read()
        hits = np.flatnonzero(own == own)  # noqa: PLR0124  # a document that was not retrieved is NaN
        if policy.order == "score":
            scores, own = as_compared(scores, policy), as_compared(own, policy)
        owner, gold, own = self._owner[hits], self._gold[hits], own[hits]
        starts = np.cumsum(self.depth) - self.depth
        ordered = _descending(scores, starts, self.depth)
        begin, end = starts[owner], starts[owner] + self.depth[owner]
        if len(hits) > _MANY * len(self.depth):
            place = _counted_above(ordered, starts, self.depth, owner, own)
        else:
            place = _first_below(ordered, begin, end, own, below_equals=False)
        rank = place - begin + 1
        high = rank.copy()
        behind = np.minimum(place + 1, max(len(ordered) - 1, 0))
        tied = np.flatnonzero((ordered[behind] == own) & (place + 1 < end))
        low = rank
        if len(tied):
            high[tied] = _first_below(ordered, place[tied], end[tied], own[tied], below_equals=True) - begin[tied]
            rank = low.copy()
            rank[tied] += self._settled(owner[tied], hits[tied], scores, starts, low[tied], high[tied])
        self._collector.add(self._asked.places, self.depth, owner, gold, Ranks(rank, low, high))

    def _read(self) -> tuple[Floats, Floats]:
        """Return every score, and that of every judged document, NaN where it was not retrieved."""
        count, documents = len(self._rankings), self._asked.documents
        is_long, has_many = int(self.depth.sum()) > _LONG * count, len(documents) > _MANY * count
        try:  # packing is faster than any way that numpy has, and takes nothing but numbers
            packed = self._packed_one_by_one() if is_long and has_many else self._packed(one_by_one=is_long)
        except (struct.error, TypeError, ValueError, OverflowError):
            raise _UnusableError from None
        scores, own = map(np.frombuffer, packed)
        if not np.isfinite(scores).all():
            raise _UnusableError
        return scores, own

    def _packed(self, *, one_by_one: bool) -> tuple[bytes, bytes]:
        """Return both as bytes; the scores of each ranking *one_by_one*, or of all together."""
        each = map(dict.values, self._rankings)
        scores = b"".join(map(_pack, each)) if one_by_one else _pack(list(chain.from_iterable(each)))
        rankings = chain.from_iterable(map(repeat, self._rankings, self._asked.lengths.tolist()))
        documents = self._asked.documents
        return scores, struct.pack(f"{len(documents)}d", *map(dict.get, rankings, documents, repeat(np.nan)))

    def _packed_one_by_one(self) -> tuple[bytes, bytes]:
        """Return both as bytes; while a ranking is in a cache, its many judged documents are looked up."""
        scores, found, documents = [], [], iter(self._asked.documents)
        for ranking, asked in zip(self._rankings, self._asked.lengths.tolist(), strict=True):
            scores.append(_pack(ranking.values()))
            found.append(struct.pack(f"{asked}d", *map(ranking.get, islice(documents, asked), repeat(np.nan))))
        return b"".join(scores), b"".join(found)

    def _settled(self, owner: Ints, hits: Ints, scores: Floats, starts: Ints, low: Ints, high: Ints) -> Ints:
        """Return how far below the first of its tie each tied document stands."""
        judged, by_id = self._asked.documents, self._collector.profile.policy.ties != "given"
        documents: dict[int, list[str]] = {}
        places: dict[tuple[int, int], Callable[[str], int]] = {}
        below = []
        columns = (owner.tolist(), low.tolist(), high.tolist(), hits.tolist())
        for query, first, last, hit in zip(*columns, strict=True):
            if query not in documents:
                documents[query] = self._in_order(query, scores[starts[query] : starts[query] + self.depth[query]])
            place_of = places.get((query, first))
            if place_of is None:
                members = documents[query][first - 1 : last]
                if by_id:
                    if not are_texts(members):
                        raise _UnusableError
                    by_bytes = None if "".join(members).isascii() else encoded  # lone surrogates sort in another way
                    members.sort(key=by_bytes, reverse=True)
                numbered = {document: place for place, document in enumerate(members)} if last - first > _FEW else None
                place_of = places[query, first] = members.index if numbered is None else numbered.__getitem__
            below.append(place_of(judged[hit]))
        return np.array(below, dtype=np.int64)

    def _in_order(self, query: int, scores: Floats) -> list[str]:
        """Return the documents of a query by score, equal ones as they are given."""
        documents = list(self._rankings[query])
        if (scores[1:] <= scores[:-1]).all():
            return documents
        return [documents[at] for at in np.argsort(-scores, kind="stable").tolist()]


def _pack(numbers: Collection[float]) -> bytes:
    return struct.pack(f"{len(numbers)}d", *numbers)


def _descending(scores: Floats, starts: Ints, lengths: Ints) -> Floats:
    """Return the scores with each query's in descending order."""
    rises = scores[1:] > scores[:-1]
    inner = starts[(starts > 0) & (starts < len(scores))]
    rises[inner - 1] = False
    if not rises.any():
        return scores
    unsorted = distinct(np.searchsorted(starts, np.flatnonzero(rises) + 1, side="right") - 1)
    ordered = scores.copy()
    for query in unsorted.tolist():
        own = ordered[starts[query] : starts[query] + lengths[query]]
        own.sort()
        own[:] = own[::-1].copy()
    return ordered


def _first_below(ordered: Floats, begin: Ints, end: Ints, own: Floats, *, below_equals: bool) -> Ints:
    """Return the first place, in descending scores, that is not above each score; or not equal to it either."""
    low, high = begin, end
    last = max(len(ordered) - 1, 0)
    for _ in range(int((end - begin).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        found = ordered[np.minimum(middle, last)]
        above = ((found >= own) if below_equals else (found > own)) & (low < high)
        low = np.where(above, middle + 1, low)
        high = np.where(above, high, middle)
    return low


def _counted_above(ordered: Floats, starts: Ints, lengths: Ints, owner: Ints, own: Floats) -> Ints:
    """Return the first place that is not above each score, query by query; faster where each has many."""
    edges = np.searchsorted(owner, np.arange(len(starts) + 1)).tolist()
    rising, asked = -ordered, -own
    place = np.empty(len(own), dtype=np.int64)
    for (first, last), start, length in zip(pairwise(edges), starts.tolist(), lengths.tolist(), strict=True):
        place[first:last] = rising[start : start + length].searchsorted(asked[first:last]) + start
    return place


def _without(ranking: dict[str, float], name: str) -> dict[str, float]:
    return {document: score for document, score in ranking.items() if document != name} if name in ranking else ranking
