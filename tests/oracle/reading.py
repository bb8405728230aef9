"""The C/W/L measures restated in plain Python: a reader walks down the list, rank by rank.

Conventions are those of `formulas`. Gains are ``(grade - low) / (top - low)``, clipped to [0, 1]; ranks below the last
result, down to the horizon, have gain 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence

HORIZON = 1000

Continues = Callable[[int, list[float]], float]
"""The probability of going on from a rank, counted from 1, given the gains up to it."""


def expected_gain(
    ranking: Sequence[str],
    gold: Mapping[str, float],
    continues: Continues,
    *,
    k: int | None = None,
    low: float = 0.0,
    top: float,
) -> float | None:
    """Return the gain per result of the reader who goes on as *continues* says."""
    if not any(grade > 0 for grade in gold.values()):
        return None
    seen = list(dict.fromkeys(ranking))
    last = min(HORIZON if k is None else k, HORIZON)
    weight, weights, gained, gains = 1.0, [], [], []
    for rank in range(1, last + 1):
        grade = gold.get(seen[rank - 1], 0.0) if rank <= len(seen) else 0.0
        gains.append(min(max((grade - low) / (top - low), 0.0), 1.0) if grade > 0 else 0.0)
        weights.append(weight)
        gained.append(weight * gains[-1])
        weight *= continues(rank, gains)
    return math.fsum(gained) / math.fsum(weights)


def nerr8(_rank: int, gains: list[float]) -> float:
    return 1 - gains[-1]


def nerr9(rank: int, gains: list[float]) -> float:
    return rank / (rank + 1) * (1 - gains[-1])


def nerr10(p: float) -> Continues:
    return lambda _rank, gains: p * (1 - gains[-1])


def nerr11(goal: float) -> Continues:
    return lambda rank, gains: ((rank + 2 * goal - 1) / (rank + 2 * goal)) ** 2 * (1 - gains[-1])


def inst(goal: float) -> Continues:
    def continues(rank: int, gains: list[float]) -> float:
        total = goal + (goal - math.fsum(gains))
        return ((rank + total - 1) / (rank + total)) ** 2

    return continues


def insq(goal: float) -> Continues:
    return lambda rank, _gains: ((rank + 2 * goal - 1) / (rank + 2 * goal)) ** 2


def bpm(goal: float) -> Continues:
    return lambda _rank, gains: 1.0 if sum(gains) < goal else 0.0


def sdcg(rank: int, _gains: list[float]) -> float:
    return math.log2(rank + 1) / math.log2(rank + 2)
