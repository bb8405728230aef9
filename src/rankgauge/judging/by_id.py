"""
Judging by id: a join of retrieved ids with the gold ids of each sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from rankgauge.columns import encoded
from rankgauge.judging.blocks import JudgedBlock
from rankgauge.judging.columns import JudgedLists
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.keeping import NOTHING, Keep, Keeper
from rankgauge.judging.outputs import Ranking, prepare
from rankgauge.policy import Profile
from rankgauge.samples import Expected, Fault, Sample

__all__ = ["IdJudge"]

_NOTHING: Mapping[str, float] = MappingProxyType({})


class IdJudge:
    """Judges a batch against its `relevant` gold."""

    def __init__(self, profile: Profile, *, keep: Keep = NOTHING) -> None:
        self._profile = profile
        self._keeper = Keeper(keep, profile)
        self._lists = JudgedLists()
        self._faults: dict[int, str] = {}
        self._looks: tuple[str, str] | None = None

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in order of the batch."""
        lists = self._lists
        prepared = prepare(samples, self._profile, by_text=False)
        self._keeper.add(samples, prepared, judged="retrieved")
        for place, (sample, ranking) in enumerate(zip(samples, prepared, strict=True), len(lists.depth)):
            expected = sample.expected
            gold = expected.relevant or _NOTHING
            if isinstance(ranking, Fault):
                if gold:
                    self._faults[place] = ranking.reason
                ranking = None  # noqa: PLW2901  # what cannot be ranked is judged as if nothing were there
            ids = () if ranking is None else ranking.ids
            lists.depth.append(len(ids))
            lists.gold_count.append(len(gold))
            if expected.faults is not None and "relevant" in expected.faults:
                self._faults[place] = expected.faults["relevant"].reason
            if not gold:
                continue
            start = self._add_gold(place, expected, gold)
            if ranking is not None and ids:
                self._looks = self._looks or (ids[0] or "(no id)", next(iter(gold)))
                self._add_rows(place, ranking, gold, start)

    def add_block(self, judged: JudgedBlock) -> None:
        """Take some more plain samples."""
        lists, found, first = self._lists, judged.found, len(self._lists.depth)
        lists.row_sample += (found.sample + first).tolist()
        lists.row_rank += found.rank.tolist()
        lists.row_grade += found.grade.tolist()
        lists.row_gold += (found.gold + len(lists.gold_grade)).tolist()
        lists.gold_grade += judged.qrels.grades.tolist()
        lists.gold_count += judged.block.gold.counts
        lists.graded += [first + place for place in judged.block.graded]
        lists.depth += judged.depth.tolist()
        if self._looks is None:
            self._looks = judged.looks

    def evidence(self) -> Evidence:
        """Return the judged batch."""
        without = [place for place, count in enumerate(self._lists.gold_count) if not count]
        return Evidence.kept(self._keeper, self._lists.build(self._profile), without, self._faults, looks=self._looks)

    def _add_gold(self, place: int, expected: Expected, gold: Mapping[str, float]) -> int:
        """Add a sample's ground truth; return the place of its first item in the batch."""
        lists = self._lists
        start = len(lists.gold_grade)
        lists.gold_grade += gold.values()
        if expected.graded:
            lists.graded.append(place)
        if expected.intents is not None:
            lists.intents += [
                (start + at, place, encoded(name), expected.intents[name])
                for at, name in enumerate(gold)
                if name in expected.intents
            ]
        if expected.repeats is not None:
            lists.times |= {start + at: expected.repeats.get(name, 1) for at, name in enumerate(gold)}
        return start

    def _add_rows(self, place: int, ranking: Ranking, gold: Mapping[str, float], start: int) -> None:
        """Add one sample's judged rows, in order of rank."""
        lists, ids = self._lists, ranking.ids
        places: dict[str, int] | None = None
        at = 0
        for name in cast("Iterator[str]", filter(gold.__contains__, ids)):  # gold names no item without an id
            places = places or dict(zip(gold, range(start, start + len(gold)), strict=True))
            at = ids.index(name, at) + 1  # ids stand in order of rank, and so do those that are found
            if ranking.repeated is not None and ranking.repeated[at - 1]:
                lists.row_idle.append(len(lists.row_sample))
            if ranking.ties is not None:
                lists.row_ties.append(ranking.ties[at - 1])
            lists.row_sample.append(place)
            lists.row_rank.append(at)
            lists.row_grade.append(gold[name])
            lists.row_gold.append(places[name])
