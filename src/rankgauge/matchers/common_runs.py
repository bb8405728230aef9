"""
Runs of words that two texts have in the same order: the choice of runs that together have most characters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Hashable, Iterator, Sequence

__all__ = ["Run", "best_runs"]

Run = tuple[int, int, int]
"""Where a run begins in the first text and in the second, and how long it is; all in words."""

_POINTS = 8
"""How many shared places there may be for each word, before repetitions are paired in their order."""


def best_runs(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    n: int,
    ends: Sequence[int],
    *,
    without: Container[tuple[int, int]] = (),
) -> list[Run]:
    """
    Return runs of at least *n* words that both texts have in the same order, with the most characters in all.

    Texts that repeat themselves very often have too many places in common to try them all: there, the first occurrence
    in one text is paired with the first one in the other, the second with the second, and so on. That keeps the time
    linear but for a logarithm.

    Args:
        first: For each place of the first text, something that is equal where the *n* words from there on are.

        second: The same for the second text.

        n: How many words a run has at least.

        ends: How many characters the first text has before each word, and at its end.

        without: Places of both texts at which no run may go on.

    Returns:
        Runs that overlap in neither text, in order.
    """
    points = sorted(point for point in _points(first, second) if point not in without)
    place = {point: at for at, point in enumerate(points)}
    values: list[int] = []
    before: list[int] = []  # the place of the point before on the best way, -1 for none
    keys, best, holders = [-1], [0], [-1]  # the most characters of ways that end at or before a word of the second text
    closed = 0
    for i, j in points:
        while points[closed][0] + n <= i:
            _offer(keys, best, holders, points[closed][1] + n, values[closed], closed)
            closed += 1
        at = bisect_right(keys, j) - 1
        value, source = best[at] + ends[i + n] - ends[i], holders[at]
        neighbour = place.get((i - 1, j - 1), -1)
        if neighbour >= 0 and (longer := values[neighbour] + ends[i + n] - ends[i + n - 1]) >= value:
            value, source = longer, neighbour
        values.append(value)
        before.append(source)
    return _traced(points, before, max(range(len(points)), key=values.__getitem__, default=-1), n)


def _points(first: Sequence[Hashable], second: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the places that both texts share."""
    where: defaultdict[Hashable, list[int]] = defaultdict(list)
    for j, words in enumerate(second):
        where[words].append(j)
    shared = [(i, where[words]) for i, words in enumerate(first) if words in where]
    if sum(len(places) for _, places in shared) <= _POINTS * (len(first) + len(second)):
        for i, places in shared:
            yield from ((i, j) for j in places)
        return
    times: Counter[Hashable] = Counter()
    for i, places in shared:
        time = times[first[i]]
        times[first[i]] += 1
        if time < len(places):
            yield i, places[time]


def _offer(keys: list[int], best: list[int], holders: list[int], key: int, value: int, holder: int) -> None:
    """Add a way that ends at *key*, unless another one that ends there or before is as good."""
    at = bisect_right(keys, key)
    if best[at - 1] >= value:
        return
    end = at
    while end < len(keys) and best[end] <= value:
        end += 1
    keys[at:end], best[at:end], holders[at:end] = [key], [value], [holder]


def _traced(points: Sequence[tuple[int, int]], before: Sequence[int], last: int, n: int) -> list[Run]:
    """Return the runs of the way that ends at a point, the last one."""
    runs: list[Run] = []
    while last >= 0:
        i, j = points[last]
        length = n
        while before[last] >= 0 and points[before[last]] == (i - 1, j - 1):
            i, j, length, last = i - 1, j - 1, length + 1, before[last]
        runs.append((i, j, length))
        last = before[last]
    return runs[::-1]
