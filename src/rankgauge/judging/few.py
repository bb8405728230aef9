"""
A few queries in memory: joined and ranked in plain Python, which for so few is faster than columns.

What comes out are patterns: all that a metric that sees nothing but judged columns can tell one query from another by.
Only plain cases are taken; whatever is unusual, or wrong, is left to `judge_mapping`, which has the rules and messages.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from rankgauge.columns import Judged, are_texts, encoded
from rankgauge.columns.judged_rows import distinct
from rankgauge.judging.judged_columns import JudgedLists, relevance_of
from rankgauge.judging.mappings import have_text_ids
from rankgauge.judging.ranking import earned, mixed_ties
from rankgauge.judging.ranks import Ranks
from rankgauge.judging.run import RunCounts
from rankgauge.policy import Policy, Profile

__all__ = ["FewQueries", "Pattern", "judged_patterns", "takes_few"]

_QUERIES, _RESULTS = 256, 1 << 12
"""Up to how many queries and results going through them one by one is faster than columns."""

_TIED = 64
"""Up to how many tied results going through the ranking of each one is not too slow."""

_DICTIONARIES = {dict, defaultdict}
_GRADES, _SCORES = {int, float}, {float, np.float64}

Pattern = tuple[int | None, tuple[float, ...], tuple[int, ...]]
"""
A judged query, without names: queries with the same pattern have the same scores.

How many results it has, None where the run lacks it; the grade of each judgment, as listed; and at which rank each of
these was retrieved, 0 where it was not, or nothing where the run lacks the query.
"""


def takes_few(policy: Policy) -> bool:
    """Return whether a policy prepares rankings as trec_eval does, and turns nothing into an error."""
    as_given = policy.depth is None and not policy.judged_only and not policy.exclude_self
    by_score = policy.order == "score" and policy.ties == "docno" and policy.score_dtype == "float64"
    refuses = "error" in {policy.no_gold, policy.missing_output, policy.failed_output}
    return as_given and by_score and policy.queries == "judged" and not refuses


class FewQueries:
    """
    Judgments of a few queries, which runs are judged against.

    Attributes:
        names: The id of each query, in byte order.
    """

    def __init__(self, judgments: dict[str, dict[str, float]]) -> None:
        names: list[str] = sorted(judgments)  # as their bytes do, but for lone surrogates
        self.names = names if "".join(names).isascii() else sorted(names, key=encoded)
        each = [judgments[name] for name in self.names]
        self._documents = list(map(tuple, each))
        self._grades = [tuple(own.values()) for own in each]

    @property
    def judgments(self) -> dict[str, dict[str, float]]:
        """Return the judgments as they were when they were given."""
        columns = zip(self.names, self._documents, self._grades, strict=True)
        return {name: dict(zip(documents, grades, strict=True)) for name, documents, grades in columns}

    @classmethod
    def of(cls, mapping: object) -> FewQueries | None:
        """Return judgments that are plain dictionaries of a few queries; None for any others."""
        if type(mapping) not in _DICTIONARIES:
            return None
        judgments = cast("dict[str, dict[str, float]]", mapping)
        if not (0 < len(judgments) <= _QUERIES and set(map(type, judgments)) == {str}):
            return None
        each = judgments.values()
        if not (set(map(type, each)) <= _DICTIONARIES and sum(map(len, each)) <= _RESULTS):
            return None
        grades = list(chain.from_iterable(map(dict.values, each)))
        kinds = set(map(type, grades))
        if not (kinds <= _GRADES and set(map(type, chain.from_iterable(each))) <= {str}):
            return None
        if kinds != {int} and 0 in grades:
            return None  # 0.0 and -0.0 are the same in a pattern
        try:
            if not all(map(math.isfinite, grades)):
                return None
        except OverflowError:
            return None
        return cls(judgments)

    def judge(self, mapping: object, profile: Profile) -> tuple[list[Pattern], RunCounts] | None:
        """Return the pattern of each query and how a run fits the judgments; None for a run that is not plain."""
        run = _plain_run(mapping)
        if run is None:
            return None
        tied: list[_Tied] = []
        patterns: list[Pattern] = []
        found = 0
        columns = zip(map(run.get, self.names), self._documents, self._grades, strict=True)
        for place, (ranking, documents, grades) in enumerate(columns):
            if ranking is None:
                patterns.append((None, grades, ()))
                continue
            found += 1
            ascending = sorted(ranking.values())
            below = len(ascending) + 1
            ranks = []
            for document in documents:
                score = ranking.get(document)
                if score is None:
                    ranks.append(0)
                    continue
                at = bisect_right(ascending, score)
                if at > 1 and ascending[at - 2] == score:
                    high = below - 1 - bisect_left(ascending, score)
                    tied.append(_Tied(place, below - at, high, grades[documents.index(document)]))
                    members = [member for member, its in ranking.items() if its == score]
                    if len(tied) > _TIED or not are_texts(members):
                        return None
                    at -= _behind(document, members)
                ranks.append(below - at)
            patterns.append((below - 1, grades, tuple(ranks)))
        if not found:
            return None
        n_tied = _count(tied, profile) if tied else 0
        return patterns, RunCounts(len(patterns), len(patterns) - found, len(run) - found, n_tied)


def _behind(document: str, members: Sequence[str]) -> int:
    """Return how many documents a tie puts before one of them: those whose bytes sort behind it."""
    if "".join(members).isascii():
        return sum([member > document for member in members])
    own = encoded(document)  # characters sort as their bytes do, but for lone surrogates
    return sum([encoded(member) > own for member in members])


def _plain_run(mapping: object) -> dict[str, dict[str, float]] | None:
    """Return a run that is a plain dictionary of a few results; None for any other."""
    if type(mapping) not in _DICTIONARIES:
        return None
    run = cast("dict[str, dict[str, float]]", mapping)
    each = run.values()
    if not (len(run) <= 2 * _QUERIES and set(map(type, run)) == {str} and set(map(type, each)) <= _DICTIONARIES):
        return None
    if sum(map(len, each)) > _RESULTS or not have_text_ids(each):
        return None
    scores = list(chain.from_iterable(map(dict.values, each)))
    return run if scores and set(map(type, scores)) <= _SCORES and all(map(math.isfinite, scores)) else None


class _Tied(NamedTuple):
    """A judged result that shares its score with others: its query, the first and last rank of these, its grade."""

    place: int
    low: int
    high: int
    grade: float


def _count(tied: Sequence[_Tied], profile: Profile) -> int:
    """Return of how many queries the order of equal scores may change a score."""
    places, low, high, grades = map(np.array, zip(*tied, strict=True))
    earns = earned(grades.astype(np.float64), relevance_of(profile))
    mixed = mixed_ties(places, Ranks(low, low, high), earns, profile.policy.depth)
    return len(distinct(places[mixed]))


def judged_patterns(patterns: Sequence[Pattern], profile: Profile) -> Judged:
    """Return patterns as metrics read them."""
    lists = JudgedLists()
    for place, (depth, grades, ranks) in enumerate(patterns):
        begin = len(lists.gold_grade)
        found = sorted((rank, gold) for gold, rank in enumerate(ranks) if rank)
        lists.depth.append(depth or 0)
        lists.gold_count.append(len(grades))
        lists.gold_grade += grades
        lists.row_sample += [place] * len(found)
        lists.row_rank += [rank for rank, _ in found]
        lists.row_grade += [grades[gold] for _, gold in found]
        lists.row_gold += [begin + gold for _, gold in found]
    lists.graded += range(len(patterns))
    return lists.build(profile)
