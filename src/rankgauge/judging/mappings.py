"""
Judging mappings: looking judged documents up in dictionaries of scores, and counting what stands above them.

Nothing is built for a result that no judgment names but its score, which numpy reads straight from the dictionaries.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import cast

import numpy as np

from rankgauge.columns import Floats, Ints, encoded, number_problem
from rankgauge.columns.rows import distinct
from rankgauge.errors import DataError
from rankgauge.judging.ranking import as_compared
from rankgauge.judging.ranks import Ranks
from rankgauge.judging.run import RunCollector

__all__ = ["judge_mapping"]

_STEP = 200_000
"""How many scores are looked at once: few enough to stay in a processor's cache."""

_LONG = 100
"""From how many results a query on each one's scores are packed by themselves."""

_FEW = 16
"""Up to how many documents of one score going through them is faster than numbering them."""

_Ranking = Mapping[str, float]


def judge_mapping(run: Mapping[str, _Ranking], collector: RunCollector) -> None:
    """Judge a run that is given in memory; raise `DataError` for scores that are not finite numbers."""
    qrels, policy = collector.qrels, collector.profile.policy
    names = qrels.query_names
    rankings = list(map(run.get, names))
    places = np.arange(len(names))
    if None in rankings:
        places = np.flatnonzero([ranking is not None for ranking in rankings])
        rankings = [ranking for ranking in rankings if ranking is not None]
    first = next(iter(run), "")
    collector.enter_places(places, n_unjudged=len(run) - len(places), looks=encoded(first))
    plain = cast("list[dict[str, float]]", rankings)
    if set(map(type, rankings)) != {dict}:
        plain = list(map(dict, plain))
    if policy.exclude_self:
        plain = [_without(ranking, names[place]) for ranking, place in zip(plain, places.tolist(), strict=True)]
    if collector.sketcher is not None:
        collector.sketcher.add_texts(chain.from_iterable(plain))
    if policy.order == "given":
        plain = [dict(zip(ranking, range(0, -len(ranking), -1), strict=True)) for ranking in plain]
    depth = np.fromiter(map(len, plain), np.int64, len(plain))
    ends = np.cumsum(depth)
    gold_ends = np.cumsum(qrels.lengths)
    begin = 0
    while begin < len(plain):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _STEP, side="right")))
        part = _Part(collector, places[begin:end], plain[begin:end], depth[begin:end], gold_ends)
        part.judge()
        begin = end


class _Part:
    """Some queries with their rankings."""

    def __init__(
        self, collector: RunCollector, places: Ints, rankings: Sequence[dict[str, float]], depth: Ints, gold_ends: Ints
    ) -> None:
        self._collector = collector
        self._places = places
        self._rankings = rankings
        self._depth = depth
        lengths = collector.qrels.lengths[places]
        starts = gold_ends[places] - lengths
        self._gold = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
        self._owner = np.repeat(np.arange(len(places)), lengths)

    def judge(self) -> None:
        """Find the judged documents, rank them, and hand them over."""
        policy = self._collector.profile.policy
        scores = self._scores()
        own = self._looked_up()
        hits = np.flatnonzero(own == own)  # noqa: PLR0124  # a document that was not retrieved is NaN
        if policy.order == "score":
            scores, own = as_compared(scores, policy), as_compared(own, policy)
        owner, gold, own = self._owner[hits], self._gold[hits], own[hits]
        starts = np.cumsum(self._depth) - self._depth
        ordered = _descending(scores, starts, self._depth)
        begin, end = starts[owner], starts[owner] + self._depth[owner]
        place = _first_below(ordered, begin, end, own, below_equals=False)
        rank = place - begin + 1
        high = rank.copy()
        behind = np.minimum(place + 1, max(len(ordered) - 1, 0))
        tied = np.flatnonzero((ordered[behind] == own) & (place + 1 < end))
        low = rank
        if len(tied):
            high[tied] = _first_below(ordered, place[tied], end[tied], own[tied], below_equals=True) - begin[tied]
            rank = low.copy()
            rank[tied] += self._settled(owner[tied], gold[tied], scores, starts, low[tied], high[tied])
        self._collector.add(self._places, self._depth, owner, gold, Ranks(rank, low, high))

    def _scores(self) -> Floats:
        """Return every score."""
        count = int(self._depth.sum())
        try:  # packing is faster than any way that numpy has, and takes nothing but numbers
            if count > _LONG * len(self._rankings):
                lengths = self._depth.tolist()
                packed = b"".join(
                    struct.pack(f"{own}d", *ranking.values())
                    for own, ranking in zip(lengths, self._rankings, strict=True)
                )
            else:
                packed = struct.pack(f"{count}d", *chain.from_iterable(map(dict.values, self._rankings)))
        except (struct.error, TypeError, ValueError, OverflowError):
            raise self._bad_scores() from None
        scores = np.frombuffer(packed, dtype=np.float64)
        if not np.isfinite(scores).all():
            raise self._bad_scores()
        return scores

    def _looked_up(self) -> Floats:
        """Return the score of every judged document, NaN where it was not retrieved."""
        names = self._collector.qrels.names
        count = len(self._gold)
        start = int(self._gold[0]) if count else 0
        documents: Iterable[str] = names[start : start + count]
        if count and int(self._gold[-1]) != start + count - 1:
            documents = map(names.__getitem__, self._gold.tolist())
        lengths = self._collector.qrels.lengths[self._places].tolist()
        asked = chain.from_iterable(map(repeat, self._rankings, lengths))
        return np.fromiter(map(dict.get, asked, documents, repeat(np.nan)), np.float64, count)

    def _bad_scores(self) -> DataError:
        names = self._collector.qrels.query_names
        problems = [
            problem
            for place, ranking in zip(self._places.tolist(), self._rankings, strict=True)
            for document, score in ranking.items()
            if (problem := number_problem(names[place], document, score, "score"))
        ]
        msg = "cannot use the run:"
        return DataError(msg, problems)

    def _settled(self, owner: Ints, gold: Ints, scores: Floats, starts: Ints, low: Ints, high: Ints) -> Ints:
        """Return how far below the first of its tie each tied document stands."""
        names, by_id = self._collector.qrels.names, self._collector.profile.policy.ties != "given"
        documents: dict[int, list[str]] = {}
        places: dict[tuple[int, int], Callable[[str], int]] = {}
        below = []
        columns = (owner.tolist(), low.tolist(), high.tolist(), gold.tolist())
        for query, first, last, judgment in zip(*columns, strict=True):
            if query not in documents:
                documents[query] = self._in_order(query, scores[starts[query] : starts[query] + self._depth[query]])
            place_of = places.get((query, first))
            if place_of is None:
                members = documents[query][first - 1 : last]
                if by_id:
                    members.sort(reverse=True)  # characters sort as their UTF-8 bytes do
                numbered = {document: place for place, document in enumerate(members)} if last - first > _FEW else None
                place_of = places[query, first] = members.index if numbered is None else numbered.__getitem__
            below.append(place_of(names[judgment]))
        return np.array(below, dtype=np.int64)

    def _in_order(self, query: int, scores: Floats) -> list[str]:
        """Return the documents of a query by score, equal ones as they are given."""
        documents = list(self._rankings[query])
        if (scores[1:] <= scores[:-1]).all():
            return documents
        return [documents[at] for at in np.argsort(-scores, kind="stable").tolist()]


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


def _without(ranking: dict[str, float], name: str) -> dict[str, float]:
    return {document: score for document, score in ranking.items() if document != name} if name in ranking else ranking
