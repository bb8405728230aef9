"""
A few queries in memory: joined and ranked in plain Python, which for so few is faster than columns.

What comes out are patterns: all that a metric that sees nothing but judged columns can tell one query from another by.
Only plain cases are taken; whatever is unusual, or wrong, is left to `judge_mapping`, which has the rules and messages.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence, Sized
from itertools import chain
from typing import NamedTuple, cast

import numpy as np

from rankgauge.columns import Judged, are_texts, encoded
from rankgauge.columns.judged_rows import distinct
from rankgauge.judging.judged_columns import JudgedLists
from rankgauge.judging.mappings import have_text_ids
from rankgauge.judging.ranking import as_compared, earned, mixed_ties, relevance_of
from rankgauge.judging.ranks import Ranks
from rankgauge.judging.run import RunCounts
from rankgauge.policy import Policy, Profile

__all__ = ["FewQueries", "Pattern", "judged_patterns", "takes_few"]

_QUERIES, _JUDGMENTS, _RESULTS = 100, 1 << 8, 1 << 11
"""Up to how many of each going through them one by one is faster than columns, also on rankings never seen before."""

_TIED = 64
"""Up to how many tied results going through the ranking of each one is not too slow."""

_DICTIONARIES = {dict, defaultdict}
_LOWEST, _HIGHEST = -4, 100
"""Whole grades that people give lie between these."""

_GRADES, _SCORES = {int, float}, {float, np.float64}

Pattern = tuple[int | None, tuple[float, ...], tuple[int, ...]]
"""
A judged query, without names: queries with the same pattern have the same scores.

How many results it has, None if the run lacks it; the grade of each judgment, as listed; and at which rank each of
these was retrieved, 0 if it was not, or nothing if the run lacks the query.
"""


def takes_few(policy: Policy) -> bool:
    """Return whether a policy prepares rankings as trec_eval does, and turns nothing into an error."""
    as_given = policy.depth is None and not policy.judged_only and not policy.exclude_self and policy.excluded is None
    as_given = as_given and not policy.filters
    by_score = policy.order == "score" and policy.ties == "docno"
    refuses = "error" in {policy.no_gold, policy.missing_output, policy.failed_output}
    return as_given and by_score and not refuses


class FewQueries:
    """Judgments of a few queries, which runs are judged against."""

    def __init__(self, judgments: dict[str, dict[str, float]]) -> None:
        names: list[str] = sorted(judgments)  # as their bytes do, but for lone surrogates
        # the id of each query, in byte order
        self.names = names if "".join(names).isascii() else sorted(names, key=encoded)
        each = [judgments[name] for name in self.names]
        self._documents = list(map(tuple, each))
        self._grades = [tuple(grades.values()) for grades in each]

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
        if not (len(judgments) <= _QUERIES and set(map(type, judgments)) == {str}):
            return None
        if not all(judgments.values()):  # a query without judgments is not judged
            judgments = {
                query: judged for query, judged in judgments.items() if judged or type(judged) not in _DICTIONARIES
            }
        each = judgments.values()
        if not (each and set(map(type, each)) <= _DICTIONARIES and sum(map(len, each)) <= _JUDGMENTS):
            return None
        grades = list(chain.from_iterable(map(dict.values, each)))
        kinds = set(map(type, grades))
        if not (kinds <= _GRADES and set(map(type, chain.from_iterable(each))) <= {str}):
            return None
        levels = set(grades)
        if kinds != {int} and 0 in levels:
            return None  # 0.0 and -0.0 are the same in a pattern
        try:
            if not all(map(math.isfinite, levels)):
                return None
            may_be_odd = kinds != {int} or min(levels) < _LOWEST or max(levels) > _HIGHEST
            if may_be_odd and 2 * sum(map(_is_odd, grades)) > len(grades):
                return None  # they may be the scores of a run
        except OverflowError:
            return None
        return cls(judgments)

    def judge(self, mapping: object, profile: Profile) -> tuple[list[Pattern], RunCounts] | None:
        """
        Return the pattern of each query and how a run fits the judgments.

        None for a run that is not plain, or lacks queries that the policy leaves out.
        """
        run = _plain_run(mapping)
        if run is None or (profile.policy.queries != "judged" and not run.keys() >= set(self.names)):
            return None
        tied: list[_Tied] = []
        patterns: list[Pattern] = []
        n_missing = n_found = deepest = 0
        lacks_gold, is_relevant = False, relevance_of(profile).holds
        is_narrow = profile.policy.score_dtype != "float64"
        columns = zip(map(run.get, self.names), self._documents, self._grades, strict=True)
        for query_no, (ranking, documents, grades) in enumerate(columns):
            if ranking is None:
                patterns.append((None, grades, ()))
                n_missing += 1
                continue
            if is_narrow:
                given = np.array(list(ranking.values()), dtype=np.float64)
                ranking = dict(zip(ranking, as_compared(given, profile.policy).tolist(), strict=True))  # noqa: PLW2901
            ascending = sorted(ranking.values())
            depth = len(ascending)
            deepest = max(deepest, depth)
            ranks = []
            for document, grade in zip(documents, grades, strict=True):
                score = ranking.get(document)
                if score is None:
                    ranks.append(0)
                    lacks_gold = lacks_gold or grade > 0 or is_relevant(grade)
                    continue
                n_found += 1
                n_not_above = bisect_right(ascending, score)  # of 1 3 3 7 and the score 3 these are three: rank 2
                rank = depth - n_not_above + 1
                if n_not_above > 1 and ascending[n_not_above - 2] == score:
                    tied.append(_Tied(query_no, rank, depth - bisect_left(ascending, score), grade))
                    members = [member for member, its in ranking.items() if its == score]
                    if len(tied) > _TIED or not are_texts(members):
                        return None
                    rank += _behind(document, members)
                ranks.append(rank)
            patterns.append((depth, grades, tuple(ranks)))
        n_judged = len(patterns) - n_missing
        if not n_judged:
            return None
        n_tied = _count(tied, profile) if tied else 0
        counts = RunCounts(len(patterns), n_missing, len(run) - n_judged, n_tied, 0, n_found, deepest, lacks_gold)
        return patterns, counts


def _is_odd(grade: float) -> bool:
    """Return whether a number is unusual as a grade: it has decimals, or is very low or very high."""
    return grade % 1 != 0 or not _LOWEST <= grade <= _HIGHEST


def _is_small(run: object) -> bool:
    """Return whether a run is a dictionary of dictionaries with few queries and results."""
    if type(run) not in _DICTIONARIES:
        return False
    rankings = cast("dict[object, object]", run).values()
    if len(rankings) > 2 * _QUERIES or not set(map(type, rankings)) <= _DICTIONARIES:
        return False
    return sum(map(len, cast("Iterable[Sized]", rankings))) <= _RESULTS


def _behind(document: str, members: Sequence[str]) -> int:
    """Return how many documents a tie puts before one of them: those whose bytes sort behind it."""
    if "".join(members).isascii():
        return sum([member > document for member in members])
    its_bytes = encoded(document)  # characters sort as their bytes do, but for lone surrogates
    return sum([encoded(member) > its_bytes for member in members])


def _plain_run(mapping: object) -> dict[str, dict[str, float]] | None:
    """Return a run that is a plain dictionary of a few results; None for any other."""
    if not _is_small(mapping):
        return None
    run = cast("dict[str, dict[str, float]]", mapping)
    each = run.values()
    if set(map(type, run)) != {str} or not have_text_ids(each):
        return None
    scores = list(chain.from_iterable(map(dict.values, each)))
    kinds = set(map(type, scores))
    if not (scores and kinds <= _SCORES):
        return None
    # a sum is not finite if one of its terms is not, and far faster; those of numpy warn
    are_finite = math.isfinite(sum(scores)) if kinds == {float} else all(map(math.isfinite, scores))
    return run if are_finite else None


class _Tied(NamedTuple):
    """A judged result that shares its score with others: its query, the first and last rank of these, its grade."""

    query_no: int
    first: int
    last: int
    grade: float


def _count(tied: Sequence[_Tied], profile: Profile) -> int:
    """Return of how many queries the order of equal scores may change a score."""
    query_nos, first, last, grades = map(np.array, zip(*tied, strict=True))
    earns = earned(grades.astype(np.float64), relevance_of(profile))
    mixed = mixed_ties(query_nos, Ranks(first, first, last), earns, profile.policy.depth)
    return len(distinct(query_nos[mixed]))


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
        lists.row_gold += [begin + gold for _, gold in found]
    lists.graded += range(len(patterns))
    return lists.build(profile)
