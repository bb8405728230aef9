"""
Judging mappings: looking judged documents up in dictionaries of scores, and counting what is above them.

Nothing is built for a result that no judgment names but its score, which numpy reads straight from the dictionaries.
Numbers are named after what they count: `query_no` the queries of a part, `qrels_no` all judged queries, `gold_no` all
judgments. An *asked* document is one that a judgment names, a *hit* one of these that was retrieved, and a *position*
counts the results of a part in order of query and score.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, compress, islice, repeat
from typing import NamedTuple, cast

import numpy as np

from rankgauge.columns import Flags, Floats, Ints, Qrels, are_texts, encoded
from rankgauge.columns.judged_rows import distinct, stretches
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

_ABSENT = object()
"""The ranking of a query that the run lacks."""

_Ranking = Mapping[str, float]


def judge_mapping(run: Mapping[str, _Ranking], collector: RunCollector, refused: Callable[[], DataError]) -> None:
    """Judge a run that is given in memory; raise what *refused* makes if it has not the shape of one."""
    begin = n_judged = n_scores = 0
    size, queries = _FIRST_QUERIES, collector.qrels.given.queries
    judgments = _Judgments(collector.qrels)
    is_in_order, names, values = True, iter(run), iter(run.values())
    while begin < len(queries):
        asked = judgments.take(begin, begin + size)
        n_asked = len(asked.queries)
        is_in_order = is_in_order and tuple(islice(names, n_asked)) == tuple(asked.queries)
        rankings: list[object] = (
            list(islice(values, n_asked)) if is_in_order else list(map(run.get, asked.queries, repeat(_ABSENT)))
        )
        kinds = set(map(type, rankings))
        if type(_ABSENT) in kinds:
            is_there = [ranking is not _ABSENT for ranking in rankings]
            asked, rankings = asked.where(is_there), list(compress(rankings, is_there))
            kinds = set(map(type, rankings))
        if not _are_mappings(kinds):
            raise refused()
        given = cast("Sequence[_Ranking]", rankings)
        part = _Part(collector, asked, _plain(given, asked.queries, collector, is_plain=kinds == {dict}))
        try:
            part.judge()
        except _UnusableError:
            raise refused() from None
        if not have_text_ids(given):  # asked last, when the rankings are in a cache
            raise refused()
        begin += size
        n_judged += len(given)
        n_scores += int(part.depth.sum())
        size = max(1, min(_QUERIES, _SCORES * begin // max(n_scores, 1)))
    if n_judged < len(run):
        judged = set(queries)
        others = {query: ranking for query, ranking in run.items() if query not in judged}
        unjudged = others.values()
        if not (are_texts(others) and _are_mappings(set(map(type, unjudged))) and have_text_ids(unjudged)):
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
    plain = cast("list[dict[str, float]]", rankings) if is_plain else list(map(dict, rankings))
    if policy.exclude_self:
        plain = list(map(_without, plain, names))
    if collector.sketcher is not None:
        collector.sketcher.add_texts(chain.from_iterable(plain))
    if policy.order == "given":
        plain = [dict(zip(ranking, range(0, -len(ranking), -1), strict=True)) for ranking in plain]
    return plain


class _Asked(NamedTuple):
    """The judgments of some queries."""

    queries: Sequence[str]  # their ids
    qrels_no: Ints  # their places in the judgments
    first_gold_no: Ints  # the first judgment of each
    lengths: Ints  # how many judgments each has
    documents: Sequence[str]  # the documents judged, query by query

    def where(self, is_there: Sequence[bool]) -> _Asked:
        """Return the same for some of the queries."""
        documents = list(compress(self.documents, np.repeat(is_there, self.lengths).tolist()))
        queries = list(compress(self.queries, is_there))
        numbers = self.qrels_no[is_there], self.first_gold_no[is_there]
        return _Asked(queries, *numbers, self.lengths[is_there], documents)


class _Judgments:
    """Judgments, taken some queries at a time in the order in which they are in memory."""

    def __init__(self, qrels: Qrels) -> None:
        self._given = qrels.given
        self._lengths = qrels.lengths[self._given.places]
        self._first_gold_no = (np.cumsum(qrels.lengths) - qrels.lengths)[self._given.places]
        self._n_taken = 0

    def take(self, begin: int, end: int) -> _Asked:
        """Return some queries, which follow those that were taken before."""
        queries, qrels_no, lengths = (
            self._given.queries[begin:end],
            self._given.places[begin:end],
            self._lengths[begin:end],
        )
        first = self._n_taken
        self._n_taken += int(lengths.sum())
        documents = self._given.documents[first : self._n_taken]
        return _Asked(queries, qrels_no, self._first_gold_no[begin:end], lengths, documents)


class _Part:
    """Some queries with their rankings."""

    def __init__(self, collector: RunCollector, asked: _Asked, rankings: Sequence[dict[str, float]]) -> None:
        self._collector = collector
        self._asked = asked
        self._rankings = rankings
        self.depth = np.fromiter(map(len, rankings), np.int64, len(rankings))  # how many results each query has
        self._starts = np.cumsum(self.depth) - self.depth

    def judge(self) -> None:
        """Look the judged documents up, rank them, and hand them over."""
        # q0 judges a and b and ranks {b: 1, x: 3, a: 1}; q1 judges c and ranks {y: 7, c: 5}:
        #   asked documents   a  b | c          position     0  1  2 | 3  4
        #   query_no          0  0 | 1          scores       1  3  1 | 7  5
        #   asked_scores      1  1 | 5          descending   3  1  1 | 7  5
        # a has 1, and the first position of q0 that is not above 1 is 1: rank 2. Position 2 has a 1, too, so a is in a
        # tie, whose end is found alike: ranks 2 to 3. By id, descending, b comes before a, which gets rank 3.
        policy, asked = self._collector.profile.policy, self._asked
        scores, asked_scores = self._read()
        hits = np.flatnonzero(asked_scores == asked_scores)  # noqa: PLR0124  # one that was not retrieved is NaN
        if policy.order == "score":
            scores, asked_scores = as_compared(scores, policy), as_compared(asked_scores, policy)
        query_no = np.repeat(np.arange(len(self._rankings)), asked.lengths)[hits]
        gold_no = stretches(asked.first_gold_no, asked.lengths)[hits]
        hit_scores = asked_scores[hits]
        descending = _descending(scores, self._starts, self.depth)
        begin = self._starts[query_no]
        end = begin + self.depth[query_no]
        position = _first_not_above(descending, begin, end, hit_scores)
        rank = position - begin + 1
        tie_first, tie_last = rank, rank.copy()
        last = end - 1
        tied = np.flatnonzero((descending[np.minimum(position + 1, last)] == hit_scores) & (position < last))
        if len(tied):
            tie_last[tied] = _first_below(descending, position[tied], end[tied], hit_scores[tied]) - begin[tied]
            rank = tie_first.copy()
            rank[tied] += self._behind_first(query_no[tied], hits[tied], scores, tie_first[tied], tie_last[tied])
        self._collector.add(asked.qrels_no, self.depth, query_no, gold_no, Ranks(rank, tie_first, tie_last))

    def _read(self) -> tuple[Floats, Floats]:
        """Return every score, and that of every asked document, NaN if it was not retrieved."""
        try:  # packing is faster than any way that numpy has, and takes nothing but numbers
            is_long = int(self.depth.sum()) > _LONG * len(self._rankings)
            packed, asked = self._packed_one_by_one() if is_long else self._packed()
        except (struct.error, TypeError, ValueError, OverflowError):
            raise _UnusableError from None
        scores = np.frombuffer(packed)
        if not np.isfinite(scores).all():
            raise _UnusableError
        return scores, np.frombuffer(asked)

    def _packed(self) -> tuple[bytes, bytes]:
        """Return both as bytes."""
        scores = list(chain.from_iterable(map(dict.values, self._rankings)))
        rankings = chain.from_iterable(map(repeat, self._rankings, self._asked.lengths.tolist()))
        return _packed(scores), _packed(list(map(dict.get, rankings, self._asked.documents, repeat(np.nan))))

    def _packed_one_by_one(self) -> tuple[bytes, bytes]:
        """Return both as bytes, read from each ranking while it is in a cache."""
        scores, asked, documents = [], [], iter(self._asked.documents)
        for ranking, n_asked in zip(self._rankings, self._asked.lengths.tolist(), strict=True):
            scores.append(_packed(ranking.values()))
            asked.append(_packed(list(map(ranking.get, islice(documents, n_asked), repeat(np.nan)))))
        return b"".join(scores), b"".join(asked)

    def _behind_first(self, query_no: Ints, hits: Ints, scores: Floats, tie_first: Ints, tie_last: Ints) -> Ints:
        """Return how far below the first of its tie each tied document is."""
        by_id = self._collector.profile.policy.ties != "given"
        ranked: dict[int, list[str]] = {}
        places: dict[tuple[int, int], dict[str, int]] = {}
        below = []
        columns = (query_no.tolist(), tie_first.tolist(), tie_last.tolist(), hits.tolist())
        for query, first, last, hit in zip(*columns, strict=True):
            if (query, first) not in places:
                if query not in ranked:
                    ranked[query] = self._ranked(query, scores)
                members = ranked[query][first - 1 : last]
                if by_id:
                    if not are_texts(members):
                        raise _UnusableError
                    by_bytes = None if "".join(members).isascii() else encoded  # lone surrogates sort in another way
                    members.sort(key=by_bytes, reverse=True)
                places[query, first] = {document: place for place, document in enumerate(members)}
            below.append(places[query, first][self._asked.documents[hit]])
        return np.array(below, dtype=np.int64)

    def _ranked(self, query_no: int, scores: Floats) -> list[str]:
        """Return the documents of a query by score, equal ones as they are given."""
        documents = list(self._rankings[query_no])
        given = scores[self._starts[query_no] : self._starts[query_no] + self.depth[query_no]]
        return [documents[place] for place in np.argsort(-given, kind="stable").tolist()]


def _packed(numbers: Collection[float]) -> bytes:
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
    for start, length in zip(starts[unsorted].tolist(), lengths[unsorted].tolist(), strict=True):
        of_query = ordered[start : start + length]
        of_query.sort()
        of_query[:] = of_query[::-1].copy()
    return ordered


def _first_not_above(descending: Floats, begin: Ints, end: Ints, wanted: Floats) -> Ints:
    """Return the first position from *begin* on whose score is not above each wanted one; *end* if all are."""
    return _first(lambda middle: descending[middle] > wanted, begin, end)


def _first_below(descending: Floats, begin: Ints, end: Ints, wanted: Floats) -> Ints:
    """Return the first position from *begin* on whose score is below each wanted one; *end* if none is."""
    return _first(lambda middle: descending[middle] >= wanted, begin, end)


def _first(is_before: Callable[[Ints], Flags], begin: Ints, end: Ints) -> Ints:
    """Search many stretches at once, by halves, for the first position that is not before what is wanted."""
    # A stretch from 3 to 9 of which five are before it: 3 + 4 is fine, as position 6 is before it; 7 + 2 is not, as
    # position 8 is not before it; 7 + 1 is, as position 7 is.
    position = begin.copy()
    for bit in reversed(range(int((end - begin).max(initial=0)).bit_length())):
        ahead = position + (1 << bit)
        inside = ahead <= end
        ahead -= 1
        ahead *= inside
        inside &= is_before(ahead)
        np.add(position, 1 << bit, out=position, where=inside)
    return position


def _without(ranking: dict[str, float], name: str) -> dict[str, float]:
    return {document: score for document, score in ranking.items() if document != name} if name in ranking else ranking
