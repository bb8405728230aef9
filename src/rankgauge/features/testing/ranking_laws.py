"""
The laws of metrics over single rankings.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from rankgauge.features.testing.drawn_cases import HUGE, Case, cases, draw_ranking, rankings
from rankgauge.features.testing.equality_laws import like, reference
from rankgauge.features.testing.law import book, draw, law, unless
from rankgauge.features.testing.metric_subjects import AVERAGE, EngineMetric, MetricSubject, MetricTrial
from rankgauge.policy import Policy

__all__ = ["RANKING_LAWS", "bounded", "empty_gold", "huge_cutoff", "twice"]

_POLICIES = (
    "default",
    "eval-harness",
    "haystack",
    Policy(duplicates="credit-once"),
    Policy(duplicates="last"),
    Policy(judged_only=True),
    Policy(depth=3),
)
"""Policies under which scores stay bounded: all but those that count duplicates or let gains below 0 earn."""

_NEGATIVE = ("eval-harness", "haystack")
"""Profiles that count gains below 0, by which nDCG leaves its range: they keep the numbers of what they reproduce."""

_MOST_TIED = 6
"""How many results are tried in every order that their ties allow: with three of one score, 36 orders."""

_SHALLOW = 6
"""How many ranks the only relevant item is tried at."""

_EVERY_K = (*range(1, 13), 20, 21, 50, 51, 100, 101)
"""Cutoffs at which definitions that hard-code a depth go wrong."""

_ORDER = st.randoms(use_true_random=False)
_INDEX = st.integers(0, 11)
_PICKS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=4)
_REPEATS = st.sampled_from((Policy(), Policy(duplicates="credit-once")))

_NO_CUTOFF = "it has no cutoff"
_NEEDS_K = unless(lambda subject: subject.takes_k, _NO_CUTOFF)
_NEEDS_K_ELSEWHERE = unless(lambda subject: subject.takes_k or not subject.slack, _NO_CUTOFF)
_NEEDS_JUDGING = unless(lambda subject: not subject.describes, "it describes the data, not how good a ranking is")
_NEEDS_GRADES = unless(
    lambda subject: not (subject.describes or subject.sees_more),
    "it describes the data, or sees more of it than grades",
)
_NEEDS_GOLD = unless(lambda subject: subject.needs_gold, "it needs no ground truth, so that nothing is relevant")
_NEEDS_PLAIN_IDS = unless(
    lambda subject: subject.sees_ids and not subject.sees_more, "it sees grades only, or ids, texts or the answer, too"
)
_NEEDS_IDS = unless(lambda subject: subject.sees_ids, "it sees grades, and cannot tell items apart")
_NEEDS_REPEATS = unless(lambda subject: subject.sees_repeats, "what it is given cannot hold an item twice")
_NEEDS_SCORES = unless(lambda subject: subject.sees_scores, "it is given a list in order, without scores")
_NEEDS_BEST = unless(lambda subject: subject.best is not None, "its range has no best value")
_NEEDS_RANGE = unless(lambda subject: subject.range != (None, None), "its range has no bound")


@law(draw_ranking(), skip=_NEEDS_RANGE, when="declared")
def bounded(trial: MetricTrial, case: Case, k: int) -> None:
    """The score lies within the range."""
    for policy in _POLICIES if not trial.subject.slack else _POLICIES[:1]:
        if policy not in _NEGATIVE or min(case.grades) >= 0:
            trial.within_range(trial.score(case, k, policy=policy))


@law(draw(cases), skip=_NEEDS_BEST, when="elsewhere")
def _perfect(trial: MetricTrial, case: Case) -> None:
    """All relevant items and no others, best first, get the best score."""
    if case.relevant:
        value = trial.score(case.ranked(case.relevant), len(case.relevant))
        trial.same(trial.subject.best, value, "a perfect ranking does not get the best score", exact=False)


@law(draw_ranking(), when="declared", elsewhere=False)
def _perfect_is_one(trial: MetricTrial, case: Case, k: int) -> None:
    """A perfect ranking scores 1 at every cutoff."""
    others = [item for item in case.distinct if not case.is_judged(item)]
    value = trial.score(case.ranked([*case.best_first, *others]), k)
    expected, wanted = (1.0, "the score 1") if case.relevant else (None, "no score")
    trial.demand(value == expected, f"a perfect ranking should have {wanted}")


@law(draw_ranking(), when="declared")
def _best_first(trial: MetricTrial, case: Case, k: int) -> None:
    """No order of the same results scores more than the best items first."""
    value = trial.score(case, k)
    best = trial.score(case.ranked(sorted(case.distinct, key=lambda item: -case.grade(item))), k, note="best first")
    trial.no_better(value, best, "another order of the same results beats the best one", exact=False)


@law(draw_ranking(_INDEX, _INDEX), when="declared")
def _relevant_helps(trial: MetricTrial, case: Case, k: int, where: int, which: int) -> None:
    """A relevant result in place of an irrelevant one never hurts."""
    relevant = sorted(case.relevant)
    if not relevant or not case.ranking:
        return
    chosen, index = relevant[which % len(relevant)], where % min(k, len(case.distinct))
    fresh = itertools.count(case.unused)
    without = [next(fresh) if item == chosen or i == index else item for i, item in enumerate(case.distinct)]
    before = trial.score(case.ranked(without), k)
    better = [*without[:index], chosen, *without[index + 1 :]]
    after = trial.score(case.ranked(better), k, note=f"a relevant result at rank {index + 1}")
    trial.no_better(before, after, "one more relevant result made the score worse", exact=False)


@law(draw_ranking(st.integers(1, 12)), skip=_NEEDS_K_ELSEWHERE, when="declared")
def _padding(trial: MetricTrial, case: Case, k: int, pads: int) -> None:
    """Unjudged results below the last one, up to k, change nothing."""
    k = k + pads if trial.subject.slack else k
    depth = len(case.distinct)
    before = trial.score(case, k)
    padded = case.padded(max(depth, min(k, depth + pads)))
    after = trial.score(padded, k, note="unjudged results added below")
    trial.same(before, after, "unjudged results changed the score of a list shorter than k")


@law(draw_ranking(st.integers(1, 5)), skip=_NEEDS_K_ELSEWHERE, when="declared")
def _tail(trial: MetricTrial, case: Case, k: int, length: int) -> None:
    """Results below rank k change nothing."""
    k = min(k, 15)
    case = case.padded(k)
    if trial.subject.takes_k:
        firsts = [index for index, item in enumerate(case.ranking) if item not in case.ranking[:index]]
        case = case.ranked(case.ranking[: firsts[k - 1] + 1])
    others = [item for item in range(len(case.grades)) if item not in case.ranking]
    if not trial.subject.takes_k:  # then only irrelevant ones change nothing
        others = [item for item in others if case.grade(item) <= 0]
    before = trial.score(case, k)
    longer = case.ranked((*case.ranking, *others, *range(case.unused, case.unused + length)))
    after = trial.score(longer, k, note=f"more results below rank {k}")
    trial.same(before, after, "results below rank k changed the score")


@law(skip=_NEEDS_JUDGING)
def _top_rank(trial: MetricTrial) -> None:
    """Where each rank is worth less than the one above, rank 2 is worth less than rank 1."""
    others = tuple(range(1, _SHALLOW))
    moved_down = [(*others[:index], 0, *others[index:]) for index in range(_SHALLOW)]
    scores = [trial.score(Case((1.0,), ranking), _SHALLOW) for ranking in moved_down]
    values = {round(score, 12) for score in scores if score is not None}
    if None in scores or len(values) <= 2:  # it counts within some rank: where it counts, and where it does not
        return
    trial.forget(3)
    trial.demand(scores[0] != scores[1], "rank 1 and rank 2 are worth the same, and ranks below them are not")


@law(skip=lambda subject: _NEEDS_K(subject) or _NEEDS_GOLD(subject) or _NEEDS_GRADES(subject))
def _last_rank(trial: MetricTrial) -> None:
    """For every k, a relevant result at rank k counts, and one at rank k + 1 does not."""
    for k in _EVERY_K:
        trial.forget()
        others = tuple(range(2, k + 2))
        nothing = trial.score(Case((1.0, 0.0), (*others, k + 2)), k)
        last = trial.score(Case((1.0, 0.0), (*others[:-1], 0, k + 2)), k, note=f"relevant at rank {k}")
        trial.demand(
            nothing != last or last is None, f"a relevant result at rank {k}, which is k, counts no more than none"
        )
        below = trial.score(Case((1.0, 0.0), (*others, 0)), k, note=f"relevant at rank {k + 1}")
        trial.same(nothing, below, f"a relevant result at rank {k + 1}, which is below k, counts")


@law(draw_ranking(_PICKS, _REPEATS), skip=_NEEDS_REPEATS, when="declared")
def _duplicates(trial: MetricTrial, case: Case, k: int, picks: Sequence[tuple[int, int]], policy: Policy) -> None:
    """A duplicate never raises the score, nor takes it out of its range."""
    repeated = list(case.ranking)
    for pick, further in picks if repeated else ():
        index = pick % len(repeated)
        repeated.insert(min(len(repeated), index + 1 + further), repeated[index])
    before = trial.score(case, k, policy=policy)
    after = trial.score(case.ranked(repeated), k, policy=policy, note="some duplicated")
    trial.within_range(after)
    trial.no_better(after, before, "duplicates made the score better")


@law(draw_ranking(st.sampled_from([1, 2, 5, HUGE])), skip=_NEEDS_K, when="declared", elsewhere=False)
def _monotone_in_k(trial: MetricTrial, case: Case, k: int, more: int) -> None:
    """The score never falls as k grows."""
    lower, higher = trial.score(case, k), trial.score(case, min(k + more, trial.subject.huge))
    trial.at_most(lower, higher, "the score fell as k grew")


@law(draw_ranking(_INDEX, _ORDER), skip=_NEEDS_PLAIN_IDS)
def _ties(trial: MetricTrial, case: Case, k: int, which: int, order: Random) -> None:
    """Results of one grade can change places, and those of one score can come in any order."""
    ranking = list(case.distinct)
    kinds = [(case.grade(item), case.is_judged(item)) for item in ranking]
    pairs = itertools.combinations(range(len(ranking)), 2)
    alike = [(one, other) for one, other in pairs if kinds[one] == kinds[other]]
    alike.sort(key=lambda pair: kinds[pair[0]][0] <= 0)  # relevant ones show more
    if alike:
        one, other = alike[which // 2 % len(alike)]
        k = one + 1 if which % 2 else k  # so does a cutoff between the two
        before = trial.score(case.ranked(ranking), k)
        ranking[one], ranking[other] = ranking[other], ranking[one]
        after = trial.score(case.ranked(ranking), k, note=f"ranks {one + 1} and {other + 1} changed places")
        trial.same(before, after, "two results of one grade changed places, and the score changed", exact=False)
    if trial.subject.sees_scores:
        _in_any_order(trial, case.ranked(ranking), k, [float(2 - index // 2) for index in range(len(ranking))], order)


@law(draw_ranking(_ORDER), skip=_NEEDS_SCORES)
def _constant_scorer(trial: MetricTrial, case: Case, k: int, order: Random) -> None:
    """If all results have one score, the order they came in changes nothing."""
    _in_any_order(trial, case.ranked(case.distinct), k, [1.0] * len(case.distinct), order)


def _in_any_order(trial: MetricTrial, case: Case, k: int, scores: Sequence[float], order: Random) -> None:
    """Demand that the order in which scored results came changes nothing."""
    pairs = list(zip(case.ranking, scores, strict=True))
    policy = Policy(order="score")
    before = trial.score(replace(case, scores=tuple(scores)), k, policy=policy, note="ordered by score")
    order.shuffle(pairs)
    shuffled = replace(case, ranking=tuple(item for item, _ in pairs), scores=tuple(score for _, score in pairs))
    after = trial.score(shuffled, k, policy=policy, note="the same in another order")
    trial.same(before, after, "results with equal scores came in another order, and the score changed", exact=False)


@law(draw_ranking(_ORDER), skip=_NEEDS_IDS)
def _gold_order(trial: MetricTrial, case: Case, k: int, order: Random) -> None:
    """The order in which the ground truth is listed changes nothing."""
    items = list(range(len(case.grades)))
    before = trial.score(case, k)
    order.shuffle(items)
    after = trial.score(replace(case, gold_order=tuple(items)), k, note="the ground truth in another order")
    trial.same(before, after, "the ground truth was listed in another order, and the score changed", exact=False)


@law(draw_ranking(), skip=_NEEDS_JUDGING)
def _empty_list(trial: MetricTrial, case: Case, k: int) -> None:
    """If nothing is retrieved the score is the lowest possible, or undefined."""
    value = trial.score(case.ranked(()), k)
    low = trial.subject.range[0]
    if value is not None and trial.subject.higher_is_better and low is not None:
        trial.demand(abs(value - low) <= trial.subject.slack, f"nothing was retrieved, and the score is not {low:g}")


@law(draw_ranking())
def empty_gold(trial: MetricTrial, case: Case, k: int) -> None:
    """If nothing is relevant the score is undefined or 0, and never an error."""
    value = trial.score(replace(case, grades=(), gold_order=None), k)
    fine = value is None or abs(value) <= trial.subject.slack
    trial.demand(fine, "nothing is relevant, so there should be no score, or 0")


@law(draw(cases), skip=_NEEDS_K)
def huge_cutoff(trial: MetricTrial, case: Case) -> None:
    """A cutoff far beyond the list gives a finite score within the range."""
    value = trial.score(case, trial.subject.huge)
    trial.demand(value is None or math.isfinite(value), "the score is not finite")
    trial.within_range(value)


@law(skip=_NEEDS_GRADES)
def _sees_the_ranking(trial: MetricTrial) -> None:
    """The score depends on what was retrieved."""
    case = Case((3.0, 1.0, 2.0) if trial.subject.graded else (1.0, 1.0, 1.0), ())
    different = [(0, 2, 1), (7, 8, 9), (7, 0, 8), (0,), (7, 8, 0, 2, 1), (7, 8, 1, 0)]
    scores = {trial.score(case.ranked(ranking), min(3, len(ranking))) for ranking in different}
    trial.demand(len(scores) > 1, "these very different rankings all score the same")


def _needs_expectation(subject: MetricSubject) -> str:
    metric = subject.scorer.metric if isinstance(subject.scorer, EngineMetric) else None
    if metric is None or metric.over_ties is None:
        return "it declares no `expectation`"
    return "" if "relevant" in metric.gold else "ties are averaged only if judging is by id"


@law(draw_ranking(st.integers(1, 3), st.integers(0, 99)), skip=_needs_expectation, cost=2, elsewhere=False)
def _expectation(trial: MetricTrial, case: Case, k: int, size: int, which: int) -> None:
    """Its `expectation` is the mean over all orders of tied results, and never raises, whatever the parameters."""
    averaged: Sequence[EngineMetric] = trial.subject.scorer.averaged()  # type: ignore[attr-defined]  # checked before
    scorer = averaged[which % len(averaged)]
    trial.subject = replace(trial.subject, scorer=scorer)
    chosen = "".join(f", {name}={value}" for name, value in scorer.params.items())
    ranking = case.distinct[:_MOST_TIED]
    scores = tuple(float(-(index // size)) for index in range(len(ranking)))
    tied = replace(case.ranked(ranking), scores=scores)
    expected = trial.score(tied, k, policy=AVERAGE, note=f"expectation over the ties{chosen}")
    ties = [itertools.permutations(ranking[start : start + size]) for start in range(0, len(ranking), size)]
    orders = [tuple(itertools.chain(*order)) for order in itertools.product(*ties)]
    if "scores" in scorer.metric.judging.needs:  # a tie that is broken is another one: the scores stay as they are
        in_order = [replace(tied, ranking=order) for order in orders]
        by_order = [trial.subject.score(each, k, policy=Policy(order="given")) for each in in_order]
    else:
        by_order = [trial.subject.score(case.ranked(order), k) for order in orders]
    known = [score for score in by_order if score is not None]
    whole = len(known) == len(orders) and expected is not None
    mean = sum(known) / len(known) if known else None
    trial.demand(whole or not (known or expected is not None), f"{len(known)} of {len(orders)} orders have a score")
    trial.same(expected, mean, f"the mean over all {len(orders)} orders of the ties is {mean!r}", exact=False)


@law(draw_ranking(st.integers(0, 63)), skip=_NEEDS_GOLD, when="declared", elsewhere=False)
def _linear(trial: MetricTrial, case: Case, k: int, chosen: int) -> None:
    """The score is the sum of those with some of the ground truth and with the rest, the others being irrelevant."""
    parts = [
        replace(case, grades=tuple(0.0 if chosen >> at & 1 == side else grade for at, grade in enumerate(case.grades)))
        for side in (0, 1)
    ]
    whole = trial.score(case, k)
    some, rest = (trial.score(part, k, note="only some of it is relevant") for part in parts)
    trial.same(whole or 0.0, (some or 0.0) + (rest or 0.0), "what is relevant does not add up", exact=False)


def _needs_pieces(subject: MetricSubject) -> str:
    kind = subject.scorer.kind_by_text if isinstance(subject.scorer, EngineMetric) else None
    return "its ground truth is no text or place that a result can hold" if kind is None else ""


@law(draw_ranking(_INDEX), skip=_needs_pieces, when="declared", elsewhere=False)
def _whole_or_pieces(trial: MetricTrial, case: Case, k: int, where: int) -> None:
    """By text, merging neighbours that hold gold never hurts, and one result with all is as good as perfect pieces."""
    gold = set(case.relevant)
    pieces = [(item,) for item in case.distinct]
    both = [at for at, pair in enumerate(itertools.pairwise(case.distinct)) if gold.issuperset(pair)]
    if both:
        at = both[where % len(both)]
        merged = [*pieces[:at], case.distinct[at : at + 2], *pieces[at + 2 :]]
        before = trial.score_holding(case, pieces, k, note="in pieces")
        after = trial.score_holding(case, merged, k, note=f"ranks {at + 1} and {at + 2} merged")
        trial.no_better(before, after, "merging two results that hold gold made the score worse", exact=False)
        trial.forget()
    if gold:
        perfect = trial.score_holding(case, [(item,) for item in case.relevant], k, note="perfect pieces")
        whole = trial.score_holding(case, [case.relevant], k, note="all in one result")
        trial.no_better(perfect, whole, "one result with all of the gold is worse than perfect pieces", exact=False)
        if k >= len(gold) or not trial.subject.takes_k:
            trial.same(perfect, whole, "one result with all of the gold is better than perfect pieces", exact=False)


def _needs_contributions(subject: MetricSubject) -> str:
    metric = subject.scorer.metric if isinstance(subject.scorer, EngineMetric) else None
    return "it declares no `contributions`" if metric is None or metric.explaining.contributions is None else ""


@law(
    draw_ranking(st.sampled_from([*_POLICIES[1:], Policy(duplicates="keep")])),
    skip=_needs_contributions,
    elsewhere=False,
)
def _contributions(trial: MetricTrial, case: Case, k: int, drawn: Policy | str) -> None:
    """Its `contributions` add up to the score."""
    for policy in ("default", drawn):
        for explanation in trial.subject.scorer.explained(case, k, policy):  # type: ignore[attr-defined]  # checked before
            trial.demand(not explanation.notes, "; ".join(explanation.notes))
            added = [each.contribution for each in explanation.ranks]
            if explanation.status == "scored" and explanation.arithmetic is not None:
                trial.same(explanation.score, math.fsum(added), "the contributions do not add up", exact=False)


@law(draw_ranking(rankings))
def twice(trial: MetricTrial, case: Case, k: int, between: tuple[Case, int]) -> None:
    """The same ranking always gets the same score, whatever was scored in between."""
    before = trial.score(case, k)
    for _ in range(2):
        after = trial.score(case, k, note="again")
        trial.demand(before == after, "the same ranking scores differently the second time: the metric has state")
        trial.score(*between, note="another one in between")


RANKING_LAWS = book(
    *(bounded, _perfect, _perfect_is_one, _best_first, _relevant_helps, _padding, _tail, _last_rank, _top_rank),
    *(_duplicates, like, reference),
    *(_monotone_in_k, _ties, _constant_scorer, _gold_order, _empty_list, empty_gold, huge_cutoff, _sees_the_ranking),
    *(_linear, _whole_or_pieces, _expectation, _contributions, twice),
)
"""The laws of one ranking, by name."""
