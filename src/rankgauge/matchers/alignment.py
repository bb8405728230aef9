"""
Alignment: which of the runs of words that two texts share are in one place of both, and say the same.

Pairs of texts are looked at one by one. The compiled kernel has the same once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rankgauge.matchers.other_facts import Bounds, Facts, Piece
from rankgauge.matchers.word_runs import Integers, Run, WordStream, best_of, common_points

__all__ = ["aligned", "aligned_in_order", "aligned_pairs"]


_TRIES = 4
"""How many runs may be the one that others are added to, the longest first."""
_SPARE = 12
"""How many words may be between two runs in one text beyond twice as many as in the other."""

Point = tuple[int, int]


def aligned_pairs(
    stream: WordStream, hashed: NDArray[np.uint64], reach: Integers, pairs: Integers, runs: Integers
) -> tuple[Integers, Integers]:
    """
    Return the runs of some pairs of texts that nothing contradicts, and the pieces of words at their ends.

    Args:
        stream: The words of many texts.

        hashed: A hash of the run from each place on.

        reach: How many words each of these runs has.

        pairs: The number of each pair, where its gold text begins and ends, where its retrieved text does, which of the
            runs are its own (the first, and the one behind the last), whether these follow each other in both texts and
            overlap in none (if not, its runs are found anew), and how many pieces there have to be. Shape (pairs, 9).
            Of pairs with one number, which follow each other, the first counts that has something.

        runs: Where runs begin in the gold text and in the other one, and their words. Shape (runs, 3).

    Returns:
        Pair, place in the gold text, and words of each run, and pair, gold word, characters, and whether these are its
        first ones, of each piece. Shapes (runs, 3) and (pieces, 4).
    """
    facts, done = Facts(stream), -1
    lists: tuple[list[tuple[int, ...]], list[tuple[int, ...]]] = [], []
    for pair, begin, end, start, stop, first, last, is_ordered, needed in pairs.tolist():
        if pair == done:
            continue
        gold, other = (begin, end), (start, stop)
        if is_ordered:
            own = [(i, j, size) for i, j, size in runs[first:last].tolist()]
            kept, pieces = aligned_in_order(facts, own, gold, other)
        else:
            kept, pieces = aligned(stream, facts, hashed, reach, gold, other)
        if kept and len(pieces) >= needed:
            done = pair
            lists[0].extend((pair, place, size) for place, _, size in kept)
            lists[1].extend((pair, *piece) for piece in pieces)
    return np.array(lists[0], np.int64).reshape(-1, 3), np.array(lists[1], np.int64).reshape(-1, 4)


def aligned(
    stream: WordStream, facts: Facts, hashed: NDArray[np.uint64], reach: Integers, gold: Bounds, other: Bounds
) -> tuple[Sequence[Run], Sequence[Piece]]:
    """
    Return the runs that two texts share around a long one, and the pieces of words at their ends.

    The longest run that nothing contradicts has the others beside it that follow in both texts, near enough.

    Args:
        stream: The words of many texts.

        facts: What they say beside their runs.

        hashed: A hash of the run from each place on.

        reach: How many words each of these runs has.

        gold: Where the gold text begins and ends.

        other: Where the retrieved text does.
    """
    sides: list[list[int]] = []
    for begin, end in (gold, other):
        whole = np.flatnonzero(np.arange(begin, end) + reach[begin:end] <= end)  # others go on in the next text
        sides.append(hashed[begin : begin + len(whole)].tolist())
    points = sorted(common_points(*sides))
    sizes = reach[gold[0] : gold[1]].tolist()
    ends = stream.ends[gold[0] : gold[1] + 1].tolist()

    def around(core: Run) -> Iterator[Run]:
        i, j, size = core
        return map(moved, _around((i - gold[0], j - other[0], size), points, sizes, ends))

    def moved(run: Run) -> Run:
        return run[0] + gold[0], run[1] + other[0], run[2]

    return _first_agreed(_longest(map(moved, _runs(points, sizes))), around, facts, gold, other)


def aligned_in_order(
    facts: Facts, runs: Sequence[Run], gold: Bounds, other: Bounds
) -> tuple[Sequence[Run], Sequence[Piece]]:
    """Return what `aligned` does, of runs that follow each other in both texts and overlap in none."""

    def around(core: Run) -> Iterator[Run]:
        first = last = runs.index(core)
        while first and _near(runs[first - 1], runs[first]):
            first -= 1
        while last + 1 < len(runs) and _near(runs[last], runs[last + 1]):
            last += 1
        return iter(runs[first : last + 1])

    return _first_agreed(_longest(runs), around, facts, gold, other)


def _first_agreed(
    cores: Iterable[Run], around: Callable[[Run], Iterator[Run]], facts: Facts, gold: Bounds, other: Bounds
) -> tuple[Sequence[Run], Sequence[Piece]]:
    """Return the first runs around some that nothing contradicts."""
    failed: list[Sequence[Run]] = []
    for core in cores:
        if any(_is_within(core, chain) for chain in failed):
            continue  # "412 of 388" has no part of "455 of 412", however the two are laid over each other
        chain = list(around(core))
        failed.append(chain)
        runs, pieces = facts.agreed(chain, gold, other)
        if runs:
            return runs, pieces
    return (), ()


def _longest(runs: Iterable[Run]) -> Sequence[Run]:
    """Return the longest runs, the longest first."""
    return sorted(runs, key=lambda run: (-run[2], run))[:_TRIES]


def _runs(points: Sequence[Point], sizes: Sequence[int]) -> Iterable[Run]:
    """Return the runs that points are on, as far as they go in both texts."""
    begun: dict[Point, Run] = {}  # by the point that would go on
    for i, j in points:
        run = begun.pop((i, j), None)
        first = run or (i, j, 0)
        longer = (first[0], first[1], i + sizes[i] - first[0])
        begun[i + 1, j + 1] = longer
    return begun.values()


def _around(core: Run, points: Sequence[Point], sizes: Sequence[int], ends: Sequence[int]) -> Iterator[Run]:
    """Yield a run and those before and behind it, in order, as far as each is near the next one."""
    i, j, size = core
    before = best_of(
        [at for at in points if at[0] + sizes[at[0]] <= i and at[1] + sizes[at[0]] <= j], sizes.__getitem__, ends
    )
    behind = best_of([at for at in points if at[0] >= i + size and at[1] >= j + size], sizes.__getitem__, ends)
    kept = [core]
    for run in reversed(before):
        if not _near(run, kept[-1]):
            break
        kept.append(run)
    yield from reversed(kept)
    last = core
    for run in behind:
        if not _near(last, run):
            break
        yield run
        last = run


def _is_within(run: Run, chain: Sequence[Run]) -> bool:
    """Return whether a run is between the ends of a chain in both texts."""
    first, last = chain[0], chain[-1]
    return all(first[side] <= run[side] and run[side] + run[2] <= last[side] + last[2] for side in (0, 1))


def _near(run: Run, following: Run) -> bool:
    """Return whether there is not much more between two runs in one text than in the other."""
    own, theirs = following[0] - run[0] - run[2], following[1] - run[1] - run[2]
    if not theirs:
        return True  # what was left out between two pieces of a text
    return theirs <= 2 * own + _SPARE and own <= 2 * theirs + _SPARE
