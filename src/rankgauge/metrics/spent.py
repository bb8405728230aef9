"""
What outputs took: seconds, bytes and cost of each call, as columns that gates can bound.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from rankgauge.columns import Flags
from rankgauge.plugin import Judged, Scores, metric

__all__ = [
    "system_bytes",
    "system_cost",
    "system_latency",
    "system_latency_p50",
    "system_latency_p95",
    "system_latency_p99",
]


def _taken(judged: Judged, what: str) -> Scores:
    return np.array([seen.spent.get(what, np.nan) for seen in judged.seen], dtype=np.float64)


def _knows(what: str) -> Callable[[Judged], Flags]:
    def knows(judged: Judged) -> Flags:
        return ~np.isnan(_taken(judged, what))

    return knows


_over_calls = functools.partial(
    metric,
    gold="answerable",
    needs="spent",
    uses_rel=False,
    higher_is_better=False,
    range=(0.0, None),
    laws=("bounded",),
)
_over_seconds = functools.partial(
    _over_calls, defined=_knows("seconds"), undefined="the output does not say how many seconds it took"
)


@_over_seconds("system-latency", short=("latency",))
def system_latency(judged: Judged) -> Scores:
    """
    Seconds that a system took to answer: of each call, and their mean.

    Formula: ``actual_output.seconds``, or how long `run --sut` and ``system:`` waited for the last try, or the
    ``seconds`` of a stage. Calls that failed have none.

    When to use it: beside quality, which more time often buys. What users feel is `latency_p95`.

    Returns:
        Shape (n,), in seconds; NaN if it is not known.
    """
    return _taken(judged, "seconds")


@_over_seconds("system-latency-p50", short=("latency_p50",), aggregate="p50")
def system_latency_p50(judged: Judged) -> Scores:
    """
    Median of the seconds that a system took to answer.

    Formula: as `latency`; the column is percentile 50 over samples, interpolated linearly.

    When to use it: for the usual call.

    Returns:
        Shape (n,), in seconds; NaN if it is not known.
    """
    return _taken(judged, "seconds")


@_over_seconds("system-latency-p95", short=("latency_p95",), aggregate="p95")
def system_latency_p95(judged: Judged) -> Scores:
    """
    Seconds within which a system answered 95 of 100 calls.

    Formula: as `latency`; the column is percentile 95 over samples, interpolated linearly.

    When to use it: as a bound, ``latency_p95 <= 200ms``. It needs some hundred calls to be more than their maximum.

    Returns:
        Shape (n,), in seconds; NaN if it is not known.
    """
    return _taken(judged, "seconds")


@_over_seconds("system-latency-p99", short=("latency_p99",), aggregate="p99")
def system_latency_p99(judged: Judged) -> Scores:
    """
    Seconds within which a system answered 99 of 100 calls.

    Formula: as `latency`; the column is percentile 99 over samples, interpolated linearly.

    When to use it: with some thousand calls; of fewer it is nearly their maximum.

    Returns:
        Shape (n,), in seconds; NaN if it is not known.
    """
    return _taken(judged, "seconds")


@_over_calls(
    "system-bytes", short=("response_bytes",), defined=_knows("bytes"), undefined="the output does not say its bytes"
)
def system_bytes(judged: Judged) -> Scores:
    """
    Bytes of what a system answered: of each call, and their mean.

    Formula: ``actual_output.bytes``, which systems over HTTP tell.

    When to use it: where answers travel far, or fill a context.

    Returns:
        Shape (n,), in bytes; NaN if it is not known.
    """
    return _taken(judged, "bytes")


@_over_calls("system-cost", short=("cost",), defined=_knows("cost"), undefined="the output does not say its cost")
def system_cost(judged: Judged) -> Scores:
    """
    Cost of an answer: of each call, and their mean, in whatever unit the system tells it.

    Formula: ``actual_output.cost``, or the ``cost`` of a stage.

    When to use it: beside quality, which more money often buys.

    Returns:
        Shape (n,); NaN if it is not known.
    """
    return _taken(judged, "cost")
