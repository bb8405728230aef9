"""
Judging by id: a join of retrieved ids with the gold ids of each sample.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType

from rankgauge.judging.columns import Columns
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.ranking import Ranking, drops_repeats_only, prepare
from rankgauge.judging.relevance import judged_ids, relevance_of
from rankgauge.policy import Profile
from rankgauge.samples import Expected, Output, Sample

__all__ = ["IdJudge"]

_FEW = 8
"""Up to how many hits looking each one up is faster than going through the ranking."""

_EMPTY = Ranking((), None)

_NOTHING: Mapping[str, float] = MappingProxyType({})


class IdJudge:
    """Judges a batch against its `relevant` gold."""

    def __init__(self, profile: Profile, *, keep_rankings: bool = False) -> None:
        """
        Begin a batch.

        Args:
            profile: The policy, and what counts as relevant.

            keep_rankings: Whether the evidence is to hold the rankings, too.
        """
        self._profile = profile
        self._keeps = keep_rankings
        self._columns = Columns()
        self._faults: dict[int, str] = {}
        self._rankings: list[Ranking | None] = []
        self._looks: tuple[str, str] | None = None
        self._relevance = relevance_of(profile)

    def add(self, samples: Sequence[Sample]) -> None:
        """
        Judge some more samples.

        Args:
            samples: In order of the batch.
        """
        columns, policy = self._columns, self._profile.policy
        plain = drops_repeats_only(policy)
        for place, sample in enumerate(samples, len(columns.depth)):
            output, expected = sample.output, sample.expected
            gold = expected.relevant or _NOTHING
            ids: Sequence[str | None] = ()
            repeated: Sequence[bool] | None = None
            ties: Sequence[tuple[int, int]] | None = None
            ranking: Ranking | None = None
            distinct: set[str | None] = set()
            if isinstance(output, Output):
                ids = output.ids
                distinct = set(ids)
                if not plain or len(distinct) < len(ids):
                    ranking = self._prepared(place, sample, output)
                    ids, _, repeated, ties = ranking or _EMPTY
                    distinct = set(ids)
                elif self._keeps:
                    ranking = Ranking(ids, output.texts)
            if self._keeps:
                self._rankings.append(ranking)
            columns.depth.append(len(ids))
            columns.gold_count.append(len(gold))
            if expected.faults is not None and "relevant" in expected.faults:
                self._faults[place] = expected.faults["relevant"].reason
            if gold:
                start = self._add_gold(place, expected, gold)
                hits = [name for name in gold if name in distinct]
                if hits:
                    found = _ranked(hits, ids, is_distinct=len(distinct) == len(ids))
                    _add_ties(columns, found, ties)
                    _add_rows(columns, place, found, repeated, gold, start)
                if ids and self._looks is None:
                    self._looks = (ids[0] or "(no id)", next(iter(gold)))

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        without = [place for place, count in enumerate(self._columns.gold_count) if not count]
        return Evidence(self._columns.build(self._profile), without, self._faults, self._rankings, self._looks)

    def _prepared(self, place: int, sample: Sample, output: Output) -> Ranking | None:
        gold = sample.expected.relevant or _NOTHING
        judged = judged_ids(gold, self._profile)
        relevance = self._relevance

        def gain(name: str | None) -> float | None:
            """Return what an item earns: its grade where that is relevant or above 0, else nothing."""
            grade = gold.get(name) if name is not None else None
            return grade if grade is not None and (grade > 0 or relevance.holds(grade)) else None

        prepared = prepare(output, self._profile.policy, sample_id=sample.id, judged=judged, gain=gain)
        if isinstance(prepared, Ranking):
            return prepared
        if gold:
            self._faults[place] = prepared.reason
        return None

    def _add_gold(self, place: int, expected: Expected, gold: Mapping[str, float]) -> int:
        columns = self._columns
        start = len(columns.gold_grade)
        columns.gold_grade += gold.values()
        if expected.graded:
            columns.graded.append(place)
        if expected.repeats is not None:
            columns.times |= {start + at: expected.repeats.get(name, 1) for at, name in enumerate(gold)}
        return start


def _ranked(hits: list[str], ids: Sequence[str | None], *, is_distinct: bool) -> list[tuple[int, str]]:
    """Return at which ranks, from 1, the hits stand, in order of rank."""
    if is_distinct and len(hits) <= _FEW:
        found = [(ids.index(name) + 1, name) for name in hits]
        if len(found) > 1:
            found.sort()
        return found
    wanted = set(hits)
    return [(rank, name) for rank, name in enumerate(ids, 1) if name is not None and name in wanted]


def _add_ties(columns: Columns, found: list[tuple[int, str]], ties: Sequence[tuple[int, int]] | None) -> None:
    """Note the ranks that the rows to be added could take."""
    if ties is None:
        return
    for at, (rank, _) in enumerate(found, len(columns.row_sample)):
        low, high = ties[max(bisect_right(ties, rank, key=itemgetter(0)) - 1, 0)]
        if low <= rank <= high:
            columns.tied[at] = (low, high)


def _add_rows(
    columns: Columns,
    place: int,
    found: list[tuple[int, str]],
    repeated: Sequence[bool] | None,
    gold: Mapping[str, float],
    start: int,
) -> None:
    """Add one sample's judged rows, in order of rank."""
    places = {name: start + at for at, name in enumerate(gold)}
    seen: set[str] = set()
    for rank, name in found:
        if repeated is not None and repeated[rank - 1]:
            columns.idle.append(len(columns.row_sample))
        if name in seen:
            columns.repeats.append(len(columns.row_sample))
        seen.add(name)
        columns.row_sample.append(place)
        columns.row_rank.append(rank)
        columns.row_grade.append(gold[name])
        columns.row_gold.append(places[name])
