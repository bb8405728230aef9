"""
What a run adds to its result by reading its data again: the worst samples, and texts beside scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.cli.console import remark
from rankgauge.errors import ParameterError, RankgaugeError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.engine.result import Result
    from rankgauge.planning.plan import Plan

__all__ = ["with_readings", "worst_column"]


def worst_column(plan: Plan, wanted: str | None, n: int | None) -> str | None:
    """Return the column of `--worst-by`, None for the first; refuse what is not computed before it is too late."""
    if wanted is None:
        return None
    if n is None:
        msg = "--worst-by needs --worst N"
        raise ParameterError(msg)
    known = {name: column.name for column in plan.metrics for name in (*column.spellings, column.safe_name)}
    known |= {column.name: column.name for column in plan.metrics}
    if wanted not in known:
        names = [column.name for column in plan.metrics]
        msg = f"--worst-by: no metric {wanted!r}{did_you_mean(wanted, known)}; computed are {', '.join(names)}"
        raise ParameterError(msg)
    return known[wanted]


def with_readings(result: Result, *, worst: int | None, column: str | None, texts: bool) -> Result:
    """Return a result with what was asked for; where its data cannot be read again, as it is, with a remark."""
    try:
        result = result if worst is None else result.with_worst(column, worst)
        return result.with_texts() if texts else result
    except RankgaugeError as error:
        remark(f"the worst samples or texts cannot be shown: {error}")
        return result
