"""
Judging by id: a join of retrieved ids with the gold ids of each sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankgauge.judging.columns import Columns
from rankgauge.judging.evidence import Evidence
from rankgauge.judging.ranking import Ranking, drops_repeats_only, prepare
from rankgauge.policy import Profile
from rankgauge.samples import Output, Sample

__all__ = ["judge_by_id"]

_FEW = 8
"""Up to how many hits looking each one up is faster than going through the ranking."""


def judge_by_id(samples: Sequence[Sample], profile: Profile, *, keep_rankings: bool = False) -> Evidence:
    """
    Judge a batch against its `relevant` gold.

    Args:
        samples: The batch.

        profile: The policy, and what counts as relevant.

        keep_rankings: Whether the evidence is to hold the rankings, too.

    Returns:
        The judged batch.
    """
    columns = Columns()
    faults: dict[int, str] = {}
    rankings: list[Ranking | None] = []
    looks: tuple[str, str] | None = None
    policy = profile.policy
    plain = drops_repeats_only(policy)
    for place, sample in enumerate(samples):
        output, expected = sample.output, sample.expected
        gold = expected.relevant or {}
        if expected.faults is not None and "relevant" in expected.faults:
            faults[place] = expected.faults["relevant"].reason
        ranking: Ranking | None = None
        if isinstance(output, Output):
            if plain and len(distinct := set(output.ids)) == len(output.ids):
                ranking = Ranking(output.ids, output.texts)
            else:
                prepared = prepare(output, policy, sample_id=sample.id, judged=gold)
                if isinstance(prepared, Ranking):
                    ranking, distinct = prepared, set(prepared.ids)
                elif gold:
                    faults.setdefault(place, prepared.reason)
        if keep_rankings:
            rankings.append(ranking)
        columns.depth.append(0 if ranking is None else len(ranking.ids))
        columns.gold_count.append(len(gold))
        if expected.graded:
            columns.graded.append(place)
        if not gold:
            continue
        start = len(columns.gold_grade)
        columns.gold_grade += gold.values()
        if expected.repeats is not None:
            columns.times |= {start + at: expected.repeats.get(name, 1) for at, name in enumerate(gold)}
        if ranking is None:
            continue
        if looks is None and ranking.ids:
            looks = (ranking.ids[0] or "(no id)", next(iter(gold)))
        hits = [name for name in gold if name in distinct]
        if hits:
            _add_rows(columns, place, ranking, gold, hits, start, is_distinct=len(distinct) == len(ranking.ids))
    has_gold = np.array(columns.gold_count, dtype=np.int64) > 0
    return Evidence(columns.build(profile), has_gold, faults, rankings, looks)


def _add_rows(
    columns: Columns,
    place: int,
    ranking: Ranking,
    gold: Mapping[str, float],
    hits: list[str],
    start: int,
    *,
    is_distinct: bool,
) -> None:
    """Add one sample's judged rows, in order of rank."""
    ids = ranking.ids
    if is_distinct and len(hits) == 1:  # the common case, without the detours of the next
        found = [(ids.index(hits[0]) + 1, hits[0])]
    elif is_distinct and len(hits) <= _FEW:
        found = sorted((ids.index(name) + 1, name) for name in hits)
    else:
        wanted = set(hits)
        found = [(rank, name) for rank, name in enumerate(ids, 1) if name is not None and name in wanted]
    places = {name: start + at for at, name in enumerate(gold)}
    seen: set[str] = set()
    for rank, name in found:
        if ranking.repeated is not None and ranking.repeated[rank - 1]:
            continue
        if name in seen:
            columns.repeats.append(len(columns.row_sample))
        seen.add(name)
        columns.row_sample.append(place)
        columns.row_rank.append(rank)
        columns.row_grade.append(gold[name])
        columns.row_gold.append(places[name])
