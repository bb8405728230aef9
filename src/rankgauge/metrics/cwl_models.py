"""
Readers of the C/W/L framework: the probability of going on from each rank to the next, and what follows from it.

A reader is its continuation probability ``C(i)``, that who has read rank i goes on to rank i + 1. Who begins reads rank
i with probability ``V(i) = C(1) ... C(i - 1)``, and stops there with ``L(i) = V(i) * (1 - C(i))``. Moffat, Bailey,
Scholer & Thomas, Incorporating user expectations and behavior into the measurement of search effectiveness, TOIS 2017;
Azzopardi, Thomas & Moffat, cwl_eval, SIGIR 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Floats, Ints
from rankgauge.plugin import Cutoff, Judged, Rows

__all__ = [
    "HORIZON",
    "Reader",
    "Reading",
    "Scale",
    "bpm",
    "check_goal",
    "check_scale",
    "gains_on",
    "insq",
    "inst",
    "nerr8",
    "nerr9",
    "nerr10",
    "nerr11",
    "precision",
    "rbp",
    "readings",
    "row_sums",
    "sdcg",
]

HORIZON = 1000
"""Nobody reads further: cwl_eval's depth, which the scores of readers without a cutoff depend on."""

_STEP = 256
"""How many samples are laid out at a time, to keep a step of 1,000 ranks in 2 MB."""

Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]

Reader = Callable[[Table, Table, Table], Table]
"""Gets the gain at each rank, the ranks, and each sample's last rank; returns C(i) for each rank."""


class Scale(NamedTuple):
    """
    How grades become gains from 0 to 1.

    Attributes:
        low: The grade that is worth nothing; lower ones count as it.

        high: The grade that is worth 1; higher ones count as it. None for the highest there is.
    """

    low: float
    high: float | None


def check_scale(*, min_grade: float, max_grade: float | None) -> None:
    """Raise a `ValueError` for a scale of grades that is empty."""
    if max_grade is not None and not min_grade < max_grade:
        raise ValueError(f"max_grade={max_grade:g} must be above min_grade={min_grade:g}")


def check_goal(goal: float) -> None:
    """Raise a `ValueError` for a goal that no reader can have."""
    if not 0 < goal < np.inf:
        raise ValueError(f"goal is how much gain a reader wants, a number above 0, not {goal}")


class Reading(NamedTuple):
    """
    What readers of some samples do.

    Attributes:
        samples: Which samples.

        gain: The gain at each rank, shape (samples, ranks).

        reached: V(i), the probability that rank i is read.

        going: C(i), the probability of going on from there.
    """

    samples: slice
    gain: Table
    reached: Table
    going: Table


def readings(
    judged: Judged, scale: Scale, reader: Reader, k: Cutoff | None, *, unjudged: float = 0.0
) -> Iterator[Reading]:
    """
    Yield what the readers of all samples do, some of them at a time; grades beyond the scale count as its ends.

    *unjudged* is the gain of unjudged results, and of the ranks below the end of a ranking.
    """
    judged = judged.by_gain()
    cutoffs = np.minimum(np.full(judged.n, HORIZON) if k is None else np.broadcast_to(k, judged.n), HORIZON)
    width = int(cutoffs.max(initial=1))
    rows = judged.credits(width)
    gains = gains_on(scale, judged, rows)
    known = judged.rows.where(judged.rows.grade >= 0).until(width)
    rank = np.arange(1.0, width + 1.0)[np.newaxis]
    for start in range(0, judged.n, _STEP):
        end = min(start + _STEP, judged.n)
        gain = np.full((end - start, width), unjudged)
        if unjudged:
            _put(gain, known.sample, known.rank, np.zeros(len(known.rank)), start, end)
        _put(gain, rows.sample, rows.rank, gains, start, end)
        reached = np.ones_like(gain)
        going = np.broadcast_to(reader(gain, rank, cutoffs[start:end, np.newaxis].astype(np.float64)), gain.shape)
        np.cumprod(going[:, :-1], axis=1, out=reached[:, 1:])
        yield Reading(slice(start, end), gain, reached, going)


def gains_on(scale: Scale, judged: Judged, rows: Rows) -> Floats:
    """Return the gain of each row, from 0 to 1; grades beyond the scale count as its ends."""
    low, high = scale
    if high is None:
        high = float(judged.gold.grade.max(initial=0.0))
    return np.clip((rows.grade - low) / (high - low), 0.0, 1.0) if high > low else np.zeros(len(rows.grade))


def row_sums(table: Table) -> Floats:
    """Return the sum of each row, from the first rank on, so that a wider table, with weight 0, changes no bit."""
    return np.cumsum(table, axis=1)[:, -1]


def _put(table: Table, sample: Ints, rank: Ints, values: Floats, start: int, end: int) -> None:
    """Set the cells of the samples from *start* to *end* to the values of rows, which are in order of sample."""
    first, last = np.searchsorted(sample, [start, end])
    table[sample[first:last] - start, rank[first:last] - 1] = values[first:last]


def _patience(rank: Table, wanted: Table | float) -> Table:
    """Return how probably a reader goes on who wants so much: the more, and the further down, the more probably."""
    return np.square((rank + wanted - 1.0) / (rank + wanted))


def nerr8(gain: Table, rank: Table, last: Table) -> Table:
    """Stop where a result satisfies, and at the last rank."""
    return np.where(rank < last, 1.0 - gain, 0.0)


def nerr9(gain: Table, rank: Table, last: Table) -> Table:
    """Stop where a result satisfies, tire with rank, and stop at the last one."""
    return np.where(rank < last, rank / (rank + 1.0) * (1.0 - gain), 0.0)


def nerr10(p: float) -> Reader:
    """Stop where a result satisfies, and go on with a probability otherwise."""
    return lambda gain, _rank, _last: p * (1.0 - gain)


def nerr11(goal: float) -> Reader:
    """Stop where a result satisfies, and go on the further, the more is wanted."""
    return lambda gain, rank, _last: _patience(rank, 2.0 * goal) * (1.0 - gain)


def inst(goal: float) -> Reader:
    """Go on the less probably, the less of the goal is still open."""
    return lambda gain, rank, _last: _patience(rank, 2.0 * goal - np.cumsum(gain, axis=1))


def insq(goal: float) -> Reader:
    """Go on as the goal demands, whatever is found."""
    return lambda _gain, rank, _last: _patience(rank, 2.0 * goal)


def bpm(goal: float) -> Reader:
    """Go on until the goal is reached, or the last rank."""

    def going_on(gain: Table, rank: Table, last: Table) -> Table:
        return ((np.cumsum(gain, axis=1) < goal) & (rank < last)).astype(np.float64)

    return going_on


def sdcg(_gain: Table, rank: Table, last: Table) -> Table:
    """Go on so that ranks weigh as the logarithmic discount has it."""
    return np.where(rank < last, np.log2(rank + 1.0) / np.log2(rank + 2.0), 0.0)


def rbp(p: float) -> Reader:
    """Go on with a probability."""
    return lambda _gain, rank, _last: np.full_like(rank, p)


def precision(_gain: Table, rank: Table, last: Table) -> Table:
    """Read everything up to the last rank."""
    return (rank < last).astype(np.float64)
