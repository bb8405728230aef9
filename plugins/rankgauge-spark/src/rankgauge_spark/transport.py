"""
Transport: what tasks send, on its way to the driver, errors included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame

from rankgauge.errors import DataError, PlanError, RankgaugeError, SampleRefusedError
from rankgauge_spark.workers import received

__all__ = ["collected"]


def collected(payloads: DataFrame) -> list[Any]:
    """Run the job; return what its tasks sent, or raise the errors among it as one."""
    found = [received(payload) for payload in payloads.toArrow()["payload"].to_pylist()]
    errors = [each for each in found if isinstance(each, RankgaugeError)]
    if errors:
        raise _joined(errors)
    return found


def _joined(errors: Sequence[RankgaugeError]) -> RankgaugeError:
    """Return one error for those of several partitions: that of the plan, or every problem of the data."""
    kinds: tuple[type[PlanError | DataError | SampleRefusedError], ...] = (PlanError, SampleRefusedError, DataError)
    for kind in kinds:
        same = [error for error in errors if isinstance(error, kind)]
        if len(same) == 1:
            return same[0]
        if same:
            problems = dict.fromkeys(problem for error in same for problem in error.problems)
            msg = {
                PlanError: "the workers cannot evaluate this plan:",
                SampleRefusedError: "the policy refuses queries; no score was kept:",
                DataError: "the rows cannot be evaluated:",
            }[kind]
            return kind(msg, sorted(problems, key=str))
    return errors[0]
