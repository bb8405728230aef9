"""
The laws of metrics over single rankings, each a check with its strategies.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from rankgauge.policy import Policy
from rankgauge.testing.subject import HUGE, Case, EngineMetric, MetricSubject
from rankgauge.testing.trial import Law, MetricTrial, Strategies, case_and_k, cases, unless

__all__ = ["METRIC_LAWS", "huge_cutoff"]

POLICIES = (
    "default",
    "eval-harness",
    Policy(duplicates="credit-once"),
    Policy(duplicates="last"),
    Policy(judged_only=True),
    Policy(depth=3),
)
"""Policies under which scores stay bounded: all but those that count duplicates or let gains below 0 earn."""

REPEATS = (Policy(), Policy(duplicates="credit-once"))

_MOST_TIED = 6
"""How many results are tried in every order that their ties allow: with three of one score, 36 orders."""


def _bounded(trial: MetricTrial, at: tuple[Case, int]) -> None:
    for policy in POLICIES if not trial.subject.slack else POLICIES[:1]:
        if policy != "eval-harness" or min(at[0].grades) >= 0:
            trial.within_range(trial.score(*at, policy=policy))


def _perfect(trial: MetricTrial, case: Case) -> None:
    relevant = [item for item in case.best_first if case.grade(item) > 0]
    if relevant:
        value = trial.score(case.ranked(relevant), len(relevant))
        best = trial.subject.range[1 if trial.subject.higher_is_better else 0]
        trial.same(best, value, "a perfect ranking does not get the best score", exact=False)


def _perfect_is_one(trial: MetricTrial, at: tuple[Case, int]) -> None:
    case, k = at
    others = [item for item in case.distinct if not case.is_judged(item)]
    value = trial.score(case.ranked([*case.best_first, *others]), k)

    expected = 1.0 if case.n_relevant else None
    trial.demand(
        value == expected, f"a perfect ranking should have {'no score' if expected is None else 'the score 1'}"
    )


def _best_first(trial: MetricTrial, at: tuple[Case, int]) -> None:
    case, k = at
    value = trial.score(case, k)
    best = trial.score(case.ranked(sorted(case.distinct, key=lambda item: -case.grade(item))), k, note="best first")

    trial.no_better(value, best, "another order of the same results beats the best one", exact=False)


def _relevant_helps(trial: MetricTrial, at: tuple[Case, int], where: int, which: int) -> None:
    """Put a relevant item that was not retrieved in the place of an unjudged one."""
    case, k = at
    relevant = [item for item in range(len(case.grades)) if case.grade(item) > 0]
    if not relevant or not case.ranking:
        return
    item, place = relevant[which % len(relevant)], where % min(k, len(case.distinct))
    fresh = itertools.count(max((*case.ranking, len(case.grades) - 1)) + 1)
    without = [next(fresh) if each == item or rank == place else each for rank, each in enumerate(case.distinct)]
    better = [item if rank == place else each for rank, each in enumerate(without)]
    before = trial.score(case.ranked(without), k)
    after = trial.score(case.ranked(better), k, note=f"a relevant result at rank {place + 1}")

    trial.no_better(before, after, "one more relevant result made the score worse", exact=False)


def _padding(trial: MetricTrial, at: tuple[Case, int], pads: int) -> None:
    case, k = at
    k = k + pads if trial.subject.slack else k
    depth = len(case.distinct)
    padded = case.padded(max(depth, min(k, depth + pads)))
    before = trial.score(case, k)
    after = trial.score(padded, k, note="unjudged results added below")

    trial.same(before, after, "unjudged results changed the score of a list shorter than k")


def _tail(trial: MetricTrial, at: tuple[Case, int], length: int) -> None:
    case, k = at
    k = min(k, 15)
    full = case.padded(k)
    kept = full.ranked(_down_to(full.ranking, k)) if trial.subject.takes_k else full
    start = max((*kept.ranking, len(case.grades))) + 1
    others = [item for item in range(len(case.grades)) if item not in kept.ranking]
    if not trial.subject.takes_k:  # then only irrelevant ones change nothing
        others = [item for item in others if case.grade(item) <= 0]
    before = trial.score(kept, k)
    longer = kept.ranked((*kept.ranking, *others, *range(start, start + length)))
    after = trial.score(longer, k, note=f"more results below rank {k}")

    trial.same(before, after, "results below rank k changed the score")


def _down_to(ranking: Sequence[int], k: int) -> Sequence[int]:
    """Return a ranking down to its *k*-th distinct item."""
    firsts = [place for place, item in enumerate(ranking) if item not in ranking[:place]]
    return ranking[: firsts[k - 1] + 1]


_SHALLOW = 6
"""How many ranks the only relevant item is tried at."""


def _top_rank(trial: MetricTrial) -> None:
    """Move the only relevant item down from rank 1; a metric that counts only within some rank has two values."""
    others = tuple(range(1, _SHALLOW))
    rankings = [(*others[:place], 0, *others[place:]) for place in range(_SHALLOW)]
    scores = [trial.score(Case((1.0,), ranking), _SHALLOW) for ranking in rankings]
    values = {round(score, 12) for score in scores if score is not None}
    if None in scores or len(values) <= 2:  # where it counts, and where it does not
        return
    trial.forget(3)
    trial.demand(scores[0] != scores[1], "rank 1 and rank 2 are worth the same, and ranks below them are not")


def _duplicates(trial: MetricTrial, at: tuple[Case, int], picks: Sequence[tuple[int, int]], policy: Policy) -> None:
    case, k = at
    repeated = list(case.ranking)
    for pick, further in picks:
        if repeated:
            place = pick % len(repeated)
            repeated.insert(min(len(repeated), place + 1 + further), repeated[place])
    before = trial.score(case, k, policy=policy)
    after = trial.score(case.ranked(repeated), k, policy=policy, note="some duplicated")

    trial.within_range(after)
    trial.no_better(after, before, "duplicates made the score better")


def _monotone(trial: MetricTrial, at: tuple[Case, int], more: int) -> None:
    case, k = at
    lower, higher = trial.score(case, k), trial.score(case, min(k + more, trial.subject.huge))

    trial.at_most(lower, higher, "the score fell as k grew")


def _ties(trial: MetricTrial, at: tuple[Case, int], which: int, order: Random) -> None:
    case, k = at
    ranking = list(case.distinct)
    kinds = [(case.grade(item), case.is_judged(item)) for item in ranking]
    places = range(len(ranking))
    alike = [(one, other) for one, other in itertools.combinations(places, 2) if kinds[one] == kinds[other]]
    alike.sort(key=lambda pair: case.grade(ranking[pair[0]]) <= 0)  # relevant ones show more
    if alike:
        one, other = alike[which // 2 % len(alike)]
        k = one + 1 if which % 2 else k  # so does a cutoff between the two
        before = trial.score(case.ranked(ranking), k)
        ranking[one], ranking[other] = ranking[other], ranking[one]
        after = trial.score(case.ranked(ranking), k, note=f"ranks {one + 1} and {other + 1} changed places")
        trial.same(before, after, "two results of one grade changed places, and the score changed", exact=False)
    if trial.subject.sees_scores:
        scores = [float(2 - place // 2) for place in range(len(ranking))]
        _in_any_order(trial, case.ranked(ranking), k, scores, order)


def _constant_scorer(trial: MetricTrial, at: tuple[Case, int], order: Random) -> None:
    case, k = at
    case = case.ranked(case.distinct)
    _in_any_order(trial, case, k, [1.0] * len(case.ranking), order)


def _in_any_order(trial: MetricTrial, case: Case, k: int, scores: Sequence[float], order: Random) -> None:
    """Demand that the order in which scored results came changes nothing."""
    pairs = list(zip(case.ranking, scores, strict=True))
    policy = Policy(order="score")
    before = trial.score(replace(case, scores=tuple(scores)), k, policy=policy, note="ordered by score")
    order.shuffle(pairs)
    shuffled = replace(case, ranking=tuple(item for item, _ in pairs), scores=tuple(score for _, score in pairs))
    after = trial.score(shuffled, k, policy=policy, note="the same in another order")

    trial.same(before, after, "results with equal scores came in another order, and the score changed", exact=False)


def _gold_order(trial: MetricTrial, at: tuple[Case, int], order: Random) -> None:
    case, k = at
    items = list(range(len(case.grades)))
    before = trial.score(case, k)
    order.shuffle(items)
    after = trial.score(replace(case, gold_order=tuple(items)), k, note="the ground truth in another order")

    trial.same(before, after, "the ground truth was listed in another order, and the score changed", exact=False)


def _empty_list(trial: MetricTrial, at: tuple[Case, int]) -> None:
    case, k = at
    value = trial.score(case.ranked(()), k)
    low = trial.subject.range[0]
    if value is not None and trial.subject.higher_is_better and low is not None:
        trial.demand(abs(value - low) <= trial.subject.slack, f"nothing was retrieved, and the score is not {low:g}")


def _empty_gold(trial: MetricTrial, at: tuple[Case, int]) -> None:
    case, k = at
    value = trial.score(replace(case, grades=(), gold_order=None), k)
    fine = value is None or abs(value) <= trial.subject.slack
    trial.demand(fine, "nothing is relevant, so there should be no score, or 0")


def huge_cutoff(trial: MetricTrial, case: Case) -> None:
    """Hold the score at a huge cutoff to be finite, and within the range."""
    value = trial.score(case, trial.subject.huge)
    trial.demand(value is None or math.isfinite(value), "the score is not finite")
    trial.within_range(value)


def _sees_the_ranking(trial: MetricTrial) -> None:
    case = Case((3.0, 1.0, 2.0) if trial.subject.graded else (1.0, 1.0, 1.0), ())
    rankings = [(0, 2, 1), (7, 8, 9), (7, 0, 8), (0,), (7, 8, 0, 2, 1), (7, 8, 1, 0)]
    found = {trial.score(case.ranked(ranking), min(3, len(ranking))) for ranking in rankings}

    trial.demand(len(found) > 1, "these very different rankings all score the same")


def _expectation(trial: MetricTrial, at: tuple[Case, int], size: int) -> None:
    """Compare the closed form over tied results with the mean over all of their orders, one by one."""
    (case, k), ranking = at, at[0].distinct[:_MOST_TIED]
    scores = tuple(float(-(place // size)) for place in range(len(ranking)))
    ties = [ranking[start : start + size] for start in range(0, len(ranking), size)]
    tied = replace(case.ranked(ranking), scores=scores)
    expected = trial.score(tied, k, policy=Policy(order="score", ties="average"), note="expectation over the ties")
    orders = [itertools.chain(*order) for order in itertools.product(*map(itertools.permutations, ties))]
    found = [trial.subject.score(case.ranked(tuple(order)), k) for order in orders]
    known = [score for score in found if score is not None]
    whole = len(known) == len(found) and expected is not None
    mean = sum(known) / len(known) if known else None
    trial.demand(whole or not (known or expected is not None), f"{len(known)} of {len(found)} orders have a score")
    trial.same(expected, mean, f"the mean over all {len(found)} orders of the ties is {mean!r}", exact=False)


def _contributions(trial: MetricTrial, at: tuple[Case, int]) -> None:
    for policy in (*POLICIES, Policy(duplicates="keep")):
        for explanation in trial.subject.scorer.explained(*at, policy):  # type: ignore[attr-defined]  # checked before
            trial.demand(not explanation.notes, "; ".join(explanation.notes))
            added = [each.contribution for each in explanation.ranks]
            if explanation.status == "scored" and explanation.arithmetic is not None:
                trial.same(explanation.score, math.fsum(added), "the contributions do not add up", exact=False)


def _twice(trial: MetricTrial, at: tuple[Case, int], between: tuple[Case, int]) -> None:
    before = trial.score(*at)
    for _ in range(2):
        after = trial.score(*at, note="again")
        trial.demand(before == after, "the same ranking scores differently the second time: the metric has state")
        trial.score(*between, note="another one in between")


def _pickling(trial: MetricTrial) -> None:
    trial.pickles(trial.subject.sent)


def _needs_expectation(subject: MetricSubject) -> str:
    metric = subject.scorer.metric if isinstance(subject.scorer, EngineMetric) else None
    if metric is None or metric.over_ties is None:
        return "it declares no `expectation`"
    return "" if "relevant" in metric.judging.gold else "ties are averaged only where judging is by id"


def _needs_contributions(subject: MetricSubject) -> str:
    metric = subject.scorer.metric if isinstance(subject.scorer, EngineMetric) else None
    return "it declares no `contributions`" if metric is None or metric.explaining.contributions is None else ""


_NO_CUTOFF = "it has no cutoff"
_NEEDS_K = unless(lambda subject: subject.takes_k, _NO_CUTOFF)
_NEEDS_K_ELSEWHERE = unless(lambda subject: subject.takes_k or not subject.slack, _NO_CUTOFF)
_NEEDS_JUDGING = unless(lambda subject: not subject.describes, "it describes the data, not how good a ranking is")
_NEEDS_GRADES = unless(
    lambda subject: not (subject.describes or subject.sees_more),
    "it describes the data, or sees more of it than grades",
)
_NEEDS_PLAIN_IDS = unless(
    lambda subject: subject.sees_ids and not subject.sees_more, "it sees grades only, or ids, texts or the answer, too"
)
_NEEDS_IDS = unless(lambda subject: subject.sees_ids, "it sees grades, and cannot tell items apart")
_NEEDS_REPEATS = unless(lambda subject: subject.sees_repeats, "what it is given cannot hold an item twice")
_NEEDS_SCORES = unless(lambda subject: subject.sees_scores, "it is given a list in order, without scores")
_NEEDS_TOP = unless(
    lambda subject: subject.range[1 if subject.higher_is_better else 0] is not None, "its range has no best value"
)
_NEEDS_RANGE = unless(lambda subject: subject.range != (None, None), "its range has no bound")

_ORDER = st.randoms(use_true_random=False)
_PICKS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=4)
_INDEX = st.integers(0, 11)


def _at(*more: st.SearchStrategy[Any]) -> Callable[[MetricSubject], Strategies]:
    return lambda subject: (case_and_k(subject), *more)


def _over_case(subject: MetricSubject) -> Strategies:
    return (cases(subject),)


METRIC_LAWS: dict[str, Law] = {
    "bounded": Law(_bounded, _at(), _NEEDS_RANGE),
    "perfect": Law(_perfect, _over_case, _NEEDS_TOP),
    "perfect-is-one": Law(_perfect_is_one, _at()),
    "best-first": Law(_best_first, _at()),
    "relevant-helps": Law(_relevant_helps, _at(_INDEX, _INDEX)),
    "padding": Law(_padding, _at(st.integers(1, 12)), _NEEDS_K_ELSEWHERE),
    "top-rank": Law(_top_rank, None, _NEEDS_JUDGING),
    "tail": Law(_tail, _at(st.integers(1, 5)), _NEEDS_K_ELSEWHERE),
    "duplicates": Law(_duplicates, _at(_PICKS, st.sampled_from(REPEATS)), _NEEDS_REPEATS),
    "monotone-in-k": Law(_monotone, _at(st.sampled_from([1, 2, 5, HUGE])), _NEEDS_K),
    "ties": Law(_ties, _at(_INDEX, _ORDER), _NEEDS_PLAIN_IDS),
    "constant-scorer": Law(_constant_scorer, _at(_ORDER), _NEEDS_SCORES),
    "gold-order": Law(_gold_order, _at(_ORDER), _NEEDS_IDS),
    "empty-list": Law(_empty_list, _at(), _NEEDS_JUDGING),
    "empty-gold": Law(_empty_gold, _at()),
    "huge-cutoff": Law(huge_cutoff, _over_case, _NEEDS_K),
    "sees-the-ranking": Law(_sees_the_ranking, None, _NEEDS_GRADES),
    "expectation": Law(_expectation, _at(st.integers(1, 3)), _needs_expectation, cost=4),
    "contributions": Law(_contributions, _at(), _needs_contributions),
    "twice": Law(_twice, lambda subject: (case_and_k(subject), case_and_k(subject))),
    "pickling": Law(_pickling, None),
}
"""The laws of one ranking, by name."""
