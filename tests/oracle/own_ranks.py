"""Own ranks restated in plain Python: where each gold item stands if one result may hold several of them.

An item is a pair of its grade and the rank at which it was found, None if it was not. Items are placed one after the
other, the best grade first, each at the first rank that is free, from where it was found on. The code under test goes
through ranks instead and asks at each which item takes it.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

Item = tuple[float, int | None]


def own_ranks(items: Sequence[Item]) -> list[int | None]:
    """Return the own rank of each item; None for one that was not found."""
    own: list[int | None] = [None] * len(items)
    taken: set[int] = set()
    for place in sorted(range(len(items)), key=lambda place: (-items[place][0], items[place][1] or 0)):
        found = items[place][1]
        if found is not None:
            rank = next(rank for rank in range(found, found + len(items)) if rank not in taken)
            taken.add(rank)
            own[place] = rank
    return own


def unrolled(items: Sequence[Item], depth: int = 0) -> tuple[list[str], dict[str, float]]:
    """Return a ranking by id, and its gold, in which every item stands at its own rank and others between them."""
    own = own_ranks(items)
    length = max([depth, *(rank for rank in own if rank is not None)])
    ranking = [f"filler-{rank}" for rank in range(1, length + 1)]
    for place, rank in enumerate(own):
        if rank is not None:
            ranking[rank - 1] = f"item-{place}"
    return ranking, {f"item-{place}": grade for place, (grade, _) in enumerate(items)}


def every_placing(items: Sequence[Item]) -> Iterator[list[tuple[float, int]]]:
    """Yield every way to give found items different ranks, none above that at which it was found; for few items."""
    found = [(grade, rank) for grade, rank in items if rank is not None]
    deepest = max((rank for _, rank in found), default=0) + len(found)
    for ranks in permutations(range(1, deepest + 1), len(found)):
        if all(own >= rank for own, (_, rank) in zip(ranks, found, strict=True)):
            yield [(grade, own) for own, (grade, _) in zip(ranks, found, strict=True)]
