"""trec_eval's measures restated in plain Python, for those that pytrec_eval lacks and for options it crashes on.

``ranking`` is best first and has no repeats; ``gold`` maps ids to grades. An id without a grade, or with one below 0,
is unjudged. The answer is ``None`` where nothing in gold is worth finding.
"""

import math
from collections.abc import Mapping, Sequence


def rbp(ranking: Sequence[str], gold: Mapping[str, float], p: float, k: int | None = None) -> float | None:
    """Return rank-biased precision with grades divided by the highest one where that is above 1."""
    top = max(gold.values(), default=0)
    if top <= 0:
        return None
    total = 0.0
    for rank, item in enumerate(ranking[:k], start=1):
        total += (1 - p) * p ** (rank - 1) * max(gold.get(item, 0), 0) / max(top, 1)
    return total


def rbp_residual(ranking: Sequence[str], gold: Mapping[str, float], p: float) -> float:
    """Return the weight of the unjudged ranks and of everything below the last one."""
    unjudged = [rank for rank, item in enumerate(ranking, start=1) if gold.get(item, -1) < 0]
    if not unjudged:
        return 0.0
    return p ** len(ranking) + sum((1 - p) * p ** (rank - 1) for rank in unjudged)


def unjudged(ranking: Sequence[str], gold: Mapping[str, float], k: int) -> float:
    """Return how many of the first k are unjudged, over k."""
    return sum(1 for item in ranking[:k] if gold.get(item, -1) < 0) / k


def ndcg(
    ranking: Sequence[str], gold: Mapping[str, float], gains: Mapping[float, float], k: int | None = None
) -> float | None:
    """Return nDCG with a gain for each grade: the given one, else the grade itself; none for grades below 0."""

    def gain(grade: float) -> float:
        return 0.0 if grade < 0 else gains.get(grade, grade)

    best = sorted((gain(grade) for grade in gold.values()), reverse=True)[:k]
    ideal = sum(value / math.log2(rank + 1) for rank, value in enumerate(best, start=1))
    if ideal == 0:
        return None
    earned = (gain(gold.get(item, -1)) / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], start=1))
    return sum(earned) / ideal


def bpref(ranking: Sequence[str], gold: Mapping[str, float], level: float) -> float | None:
    """Return bpref; grades below 0 are left out everywhere."""
    wanted = sum(1 for grade in gold.values() if grade >= level and grade >= 0)
    others = sum(1 for grade in gold.values() if 0 <= grade < level)
    if not wanted:
        return None
    total, above = 0.0, 0
    for item in ranking:
        grade = gold.get(item, -1)
        if 0 <= grade < level:
            above += 1
        elif grade >= level:
            total += 1 - min(above, wanted) / min(others, wanted) if above else 1
    return total / wanted
