"""
Whether a result can be trusted: what is missing or failed in it, counted and in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted, listed
from rankgauge.result.summary import MetricSummary
from rankgauge.scoring.score import FAILED, MISSING
from rankgauge.scoring.scored import without_worst

if TYPE_CHECKING:
    from rankgauge.result.result import Result

__all__ = [
    "broken_metrics",
    "first_fault",
    "in_a_line",
    "incomplete_because",
    "incomplete_value",
    "unhealthy",
    "with_status",
]

_SHOWN = 160
"""How many characters of the first reason a result shows of itself."""


def with_status(result: Result, code: int) -> NDArray[np.bool_]:
    """Return which samples have a status in any column; shape (samples,)."""
    found = np.zeros(len(result), dtype=np.bool_)
    for column in result.metrics.values():
        found |= column.codes == code
    return found


def unhealthy(result: Result) -> str:
    """Return how many samples are missing, and how many failed for any metric, in words; empty for none."""
    failed = with_status(result, FAILED)
    counts = {"missing": with_status(result, MISSING) & ~failed, "failed": failed}
    return ", ".join(f"{np.count_nonzero(found):,} {word}" for word, found in counts.items() if found.any())


def first_fault(result: Result) -> str:
    """Return what went wrong first: the first failure, or else the first sample that is missing."""
    for code in (FAILED, MISSING):
        for column in result.metrics.values():
            for place, reason in column.reasons.items():
                if column.codes[place] == code:
                    return f"{result.sample_ids[place]}: {reason}"
    return ""


def incomplete_because(result: Result) -> str:
    """Return why a run is incomplete, in words; empty if it is complete."""
    if result.settings.get("interrupted"):
        return f"the run was interrupted after {counted(len(result), 'sample')}"
    n, allowed = result.n_unhealthy, float(result.settings.get("policy", {}).get("max_failed", 0.0))
    if not n or n / len(result) <= allowed:
        return ""
    of = f"{n:,} of {counted(len(result), 'sample')} {'is' if n == 1 else 'are'}"
    return f"the run is incomplete: {of} missing or failed, and max_failed allows {100 * allowed:.10g} %"


def incomplete_value(result: Result, column: MetricSummary) -> str:
    """Return why the value of a column is incomplete, though the run may be complete; empty if it is not."""
    if not column.info.lacks_worst:
        return ""
    policy = result.settings.get("policy", {})
    counts = {"missing_output": column.n_missing, "failed_output": column.n_failed}
    n = sum(count for rule, count in counts.items() if policy.get(rule, "zero") == "zero")
    return without_worst(n, len(result)) if n else ""


def broken_metrics(results: Mapping[str, Result]) -> list[str]:
    """Return why metrics failed for every sample, a line for each, with the name of its result if there are several."""
    return [
        f"{f'{run}: ' if len(results) > 1 else ''}{column.broken}"
        for run, result in results.items()
        for column in result.metrics.values()
        if column.broken
    ]


def in_a_line(result: Result) -> str:
    """Return how a result shows itself: its size, what is wrong with it, and its means."""
    health = ", ".join(filter(None, ["INCOMPLETE" if result.is_incomplete else "", unhealthy(result)]))
    why = visible(" ".join(first_fault(result).split()))
    why = f" ({why[:_SHOWN]}{'...' if len(why) > _SHOWN else ''})" if why else ""
    said = f", {health}{why}" if health else ""
    differ = len({column.n_failed for column in result.metrics.values()}) > 1
    columns = [
        f"{name}={_mean_text(column, counts=differ)}{' (incomplete)' if incomplete_value(result, column) else ''}"
        for name, column in result.metrics.items()
    ]
    return f"<Result of {counted(len(result), 'sample')}{said}: {listed(columns)}>"


def _mean_text(column: MetricSummary, *, counts: bool) -> str:
    """Return the mean, and with *counts* how many samples failed; what failed for every sample has no mean."""
    if column.broken:
        return "failed"
    mean = "none" if column.mean is None else f"{column.mean:.4f}"
    return f"{mean} ({column.n_failed:,} failed)" if counts and column.n_failed else mean
