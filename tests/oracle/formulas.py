"""Every ranking metric restated in plain Python, as an oracle for the tests of the package.

Nothing here is shared with the code under test: the two were written apart, so that a mistake in one shows as a
disagreement. Clarity goes above speed, and only the standard library is used.

Conventions common to all functions on rankings:

* ``ranking`` is best first. When an id comes again, the later mentions are dropped and everything below them moves up,
  before any cut is made.
* ``gold`` maps an id to its gain. An id is *relevant* when its gain is above 0, or, where ``rel`` is given, when its
  gain is at least ``rel``. An id that gold does not name is never relevant.
* ``k`` is the number of ranks looked at, at least 1; ``None`` looks at all of them.
* The answer is ``None`` where the metric is undefined, which is mostly where gold has no relevant id.

In the formulas, R is the number of relevant ids in gold, r a rank counted from 1, g(r) the gain of the id at rank r (0
if gold does not name it), and "top k" the first k ranks or fewer if the ranking is shorter.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

Gain = Literal["linear", "exponential"]
Discount = Literal["log2", "log2-from-2"]
Ideal = Literal["gold-at-k", "gold", "retrieved", "retrieved-at-k"]


def _distinct(ranking: Sequence[str]) -> list[str]:
    """Return the ranking with only the first mention of each id."""
    kept: list[str] = []
    for item in ranking:
        if item not in kept:
            kept.append(item)
    return kept


def _top(ranking: Sequence[str], k: int | None) -> list[str]:
    """Return the first k distinct ids of the ranking, or all of them when k is None."""
    if k is not None and k < 1:
        message = f"k must be at least 1, not {k}"
        raise ValueError(message)
    return _distinct(ranking)[:k]


def _relevant(gold: Mapping[str, float], rel: float | None) -> set[str]:
    """Return the ids of gold that count as relevant."""
    if rel is None:
        return {item for item, gain in gold.items() if gain > 0}
    return {item for item, gain in gold.items() if gain >= rel}


def _true_positives(top: Iterable[str], relevant: set[str]) -> int:
    """Return how many of the distinct ids in top are relevant."""
    return sum(1 for item in top if item in relevant)


def hit(ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None) -> float | None:
    """Return 1 if the top k holds any relevant id, else 0 (also called success at k)."""
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    return 1.0 if _true_positives(_top(ranking, k), relevant) > 0 else 0.0


def recall(
    ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None
) -> float | None:
    """Return (relevant ids in the top k) / R."""
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    return _true_positives(_top(ranking, k), relevant) / len(relevant)


def recall_all(
    ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None
) -> float | None:
    """Return 1 if the top k holds every relevant id, else 0; so it is 0 whenever R > k."""
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    return 1.0 if relevant.issubset(_top(ranking, k)) else 0.0


Needed = tuple[Literal["all", "any"], Sequence[Any]]
"""A set of ids, or of such sets: all of its members are needed, or any one of them suffices."""


def _is_complete(needed: Needed, top: Sequence[str]) -> bool:
    """Return whether the ids of top complete a set."""
    how, members = needed
    held = [member in top if isinstance(member, str) else _is_complete(member, top) for member in members]
    return all(held) if how == "all" else any(held)


def complete_sets(ranking: Sequence[str], sets: Sequence[Needed], k: int | None) -> float | None:
    """Return (sets that the top k completes) / (sets)."""
    if not sets:
        return None
    return sum(_is_complete(needed, _top(ranking, k)) for needed in sets) / len(sets)


def first_complete_rank(ranking: Sequence[str], sets: Sequence[Needed]) -> float | None:
    """Return the least k at which the top k completes any set."""
    ranks = range(1, len(_distinct(ranking)) + 1)
    return next((float(k) for k in ranks if any(_is_complete(needed, _top(ranking, k)) for needed in sets)), None)


def first_search(searches: Sequence[Sequence[str]], gold: Mapping[str, float]) -> float | None:
    """Return the number of the first search that returned a relevant id."""
    numbers = (float(n) for n, found in enumerate(searches, 1) if _relevant(gold, None) & set(found))
    return next(numbers, None)


def searches_per_found(searches: Sequence[Sequence[str]], gold: Mapping[str, float]) -> float | None:
    """Return (searches) / (relevant ids that any of them returned)."""
    found = {item for each in searches for item in each} & _relevant(gold, None)
    return len(searches) / len(found) if found else None


def search_redundancy(searches: Sequence[Sequence[str]]) -> float | None:
    """Return (results that an earlier search returned) / (results of all searches)."""
    results = [(n, item) for n, found in enumerate(searches) for item in found]
    again = [item for n, item in results if any(item in earlier for earlier in searches[:n])]
    return len(again) / len(results) if results else None


def stale(
    ranking: Sequence[str], valid: Mapping[str, tuple[float, float]], asked: float, k: int | None
) -> float | None:
    """Return (ids of the top k that are not valid when asked) / (ids of the top k); an id is valid from, and before."""
    top = _top(ranking, k)
    if not any(item in valid for item in top):
        return None
    return sum(1 for item in top if item in valid and not valid[item][0] <= asked < valid[item][1]) / len(top)


def precision(
    ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None
) -> float | None:
    """Return (relevant ids in the top k) / k, with k itself below the line even if fewer ids were retrieved.

    Without a cutoff the number of distinct retrieved ids takes the place of k, and retrieving nothing scores 0.
    """
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    top = _top(ranking, k)
    places = len(top) if k is None else k
    if places == 0:
        return 0.0
    return _true_positives(top, relevant) / places


def f1(ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None) -> float | None:
    """Return 2PQ / (P + Q), where P is precision and Q is recall as defined here; 0 when both are 0.

    It equals 2 * (relevant ids in the top k) / (k + R). The harmonic mean is the evenly weighted case of the
    effectiveness measure in van Rijsbergen, *Information Retrieval*, 1979.
    """
    exact = precision(ranking, gold, k, rel=rel)
    complete = recall(ranking, gold, k, rel=rel)
    if exact is None or complete is None:
        return None
    if exact + complete == 0.0:
        return 0.0
    return 2.0 * exact * complete / (exact + complete)


def mrr(ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None) -> float | None:
    """Return 1 / r for the first relevant rank r in the top k, or 0 if there is none.

    This is the value of one query; the mean over queries was used in Voorhees, *The TREC-8 Question Answering Track
    Report*, 1999.
    """
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    for rank, item in enumerate(_top(ranking, k), start=1):
        if item in relevant:
            return 1.0 / rank
    return 0.0


def average_precision(
    ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, rel: float | None = None
) -> float | None:
    """Return (1 / R) * sum, over the relevant ranks r in the top k, of (relevant ids in the top r) / r.

    The divisor is R, not min(k, R). This is the value of one query; its mean over queries is MAP.
    """
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    so_far = 0
    terms: list[float] = []
    for rank, item in enumerate(_top(ranking, k), start=1):
        if item in relevant:
            so_far += 1
            terms.append(so_far / rank)
    return math.fsum(terms) / len(relevant)


def r_precision(
    ranking: Sequence[str], gold: Mapping[str, float], k: int | None = None, *, rel: float | None = None
) -> float | None:
    """Return (relevant ids in the top R) / R, divided by R even if fewer than R were retrieved; k plays no part."""
    del k
    relevant = _relevant(gold, rel)
    if not relevant:
        return None
    return _true_positives(_top(ranking, len(relevant)), relevant) / len(relevant)


def _earned(gain: float, kind: Gain) -> float:
    """Return what an id of the given gain adds before the discount; only gains above 0 earn anything."""
    if gain <= 0:
        return 0.0
    if kind == "linear":
        return float(gain)
    if kind == "exponential":
        return float(2.0**gain - 1.0)
    message = f"unknown gain: {kind}"
    raise ValueError(message)


def _weight(rank: int, kind: Discount) -> float:
    """Return the share of its gain that an id keeps at a rank counted from 1."""
    if kind == "log2":
        return 1.0 / math.log2(rank + 1)
    if kind == "log2-from-2":
        return 1.0 if rank == 1 else 1.0 / math.log2(rank)
    message = f"unknown discount: {kind}"
    raise ValueError(message)


def _dcg(gains: Sequence[float], gain: Gain, discount: Discount) -> float:
    """Return the sum over the ranks of earned gain times weight."""
    return math.fsum(_earned(value, gain) * _weight(rank, discount) for rank, value in enumerate(gains, start=1))


def ndcg(
    ranking: Sequence[str],
    gold: Mapping[str, float],
    k: int | None,
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    ideal: Ideal = "gold-at-k",
) -> float | None:
    """Return DCG / ideal DCG, where DCG is the sum over the top k of earned(g(r)) * weight(r).

    earned(g) is 0 for g <= 0; otherwise g ("linear") or 2**g - 1 ("exponential"). weight(r) is 1 / log2(r + 1)
    ("log2"), or 1 at rank 1 and 1 / log2(r) from rank 2 on ("log2-from-2"). The ideal DCG is the same sum over gains
    sorted from the highest down:

    * "gold-at-k": all gains in gold, sorted, then cut at k;
    * "gold": all gains in gold, not cut;
    * "retrieved": the gains of the whole ranking, sorted, then cut at k;
    * "retrieved-at-k": the gains of the top k, sorted.

    Where gold has relevant ids but the ideal list drawn from the ranking earns nothing, the score is 0.

    The measure, with linear gains and the discount that starts at rank 2 (their base b = 2), is from Järvelin and
    Kekäläinen, *Cumulated Gain-Based Evaluation of IR Techniques*, 2002. The exponential gain with log(r + 1) is used
    in Burges et al., *Learning to Rank using Gradient Descent*, 2005.
    """
    if not _relevant(gold, None):
        return None
    top_gains = [gold.get(item, 0.0) for item in _top(ranking, k)]
    all_gains = [gold.get(item, 0.0) for item in _top(ranking, None)]

    if ideal == "gold-at-k":
        best = sorted(gold.values(), reverse=True)[:k]
    elif ideal == "gold":
        best = sorted(gold.values(), reverse=True)
    elif ideal == "retrieved":
        best = sorted(all_gains, reverse=True)[:k]
    elif ideal == "retrieved-at-k":
        best = sorted(top_gains, reverse=True)
    else:
        message = f"unknown ideal: {ideal}"
        raise ValueError(message)

    achieved = _dcg(top_gains, gain, discount)
    achievable = _dcg(best, gain, discount)
    if achievable == 0.0:
        return 0.0 if ideal in {"retrieved", "retrieved-at-k"} else None
    return achieved / achievable


def ndcg_any(
    ranking: Sequence[str],
    gold: Mapping[str, float],
    k: int | None,
    *,
    discount: Discount = "log2",
    ideal: Ideal = "gold-at-k",
) -> float | None:
    """Return nDCG with every gain above 0 replaced by 1 and every other gain by 0."""
    flat = {item: 1.0 if value > 0 else 0.0 for item, value in gold.items()}
    return ndcg(ranking, flat, k, gain="linear", discount=discount, ideal=ideal)


def err(ranking: Sequence[str], gold: Mapping[str, float], k: int | None, *, max_grade: float) -> float | None:
    """Return the sum over the top k of (1 / r) * S(g(r)) * product over i < r of (1 - S(g(i))).

    S(g), the chance that an id of gain g satisfies the reader, is (2**g - 1) / 2**max_grade, and 0 for g <= 0. A gain
    above max_grade is refused. From Chapelle, Metzler, Zhang and Grinspan, *Expected Reciprocal Rank for Graded
    Relevance*, 2009.
    """
    if not _relevant(gold, None):
        return None
    if max(gold.values()) > max_grade:
        message = f"gold has a gain above max_grade {max_grade}"
        raise ValueError(message)
    chances = [_earned(gold.get(item, 0.0), "exponential") / 2.0**max_grade for item in _top(ranking, k)]
    return math.fsum(
        (1.0 / rank) * chance * math.prod(1.0 - earlier for earlier in chances[: rank - 1])
        for rank, chance in enumerate(chances, start=1)
    )


def judged(ranking: Sequence[str], gold: Mapping[str, float], k: int | None) -> float | None:
    """Return (ids in the top k that gold names, with any gain) / min(k, number of distinct retrieved ids).

    It is defined even where gold has no relevant id, and undefined only where nothing was retrieved.
    """
    top = _top(ranking, k)
    if not top:
        return None
    return sum(1 for item in top if item in gold) / len(top)


def _plain(text: str, *, case_sensitive: bool) -> str:
    """Return the text trimmed, with each run of white space as one space, and casefolded unless case matters."""
    spaced = " ".join(text.split())
    return spaced if case_sensitive else spaced.casefold()


def containment(
    texts: Sequence[str], answers: Iterable[str], k: int | None, *, case_sensitive: bool = False
) -> float | None:
    """Return 1 if any answer is a substring of any of the first k texts, else 0.

    Texts and answers are compared trimmed, with each run of white space as one space, and casefolded unless case
    matters. Blank answers are passed over; with no other answer the score is undefined. The texts are taken as they
    come: none is dropped as a duplicate.
    """
    if k is not None and k < 1:
        message = f"k must be at least 1, not {k}"
        raise ValueError(message)
    wanted = [_plain(answer, case_sensitive=case_sensitive) for answer in answers]
    wanted = [answer for answer in wanted if answer]
    if not wanted:
        return None
    for text in texts[:k]:
        if any(answer in _plain(text, case_sensitive=case_sensitive) for answer in wanted):
            return 1.0
    return 0.0
