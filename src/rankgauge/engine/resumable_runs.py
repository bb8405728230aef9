"""
Runs that are saved while a system is called, and go on where an earlier one ended.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.engine.calls import begin, check_same
from rankgauge.engine.configured_system import ConfiguredSystem
from rankgauge.errors import MetricFailedError, ResultError, counted
from rankgauge.report import save_result
from rankgauge.result import Result
from rankgauge.result.staging import Staging, has_outputs

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.sample_score import Progress

__all__ = ["resumable_run"]


def resumable_run(
    evaluation: Evaluation,
    system: ConfiguredSystem | Callable[[Any], object],
    folder: Path,
    *,
    concurrency: int = 8,
    timeout: float | None = None,
    retries: int = 0,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """
    Call a system for each sample and save the result, or go on with what an earlier call of this function has left.

        with_two = resumable_run(evaluation, engine.system({"ef": 200}), Path("runs/ef-200"))

    Outputs are kept in the folder as they arrive. A result that is complete is read, and the system is not called. What
    an earlier run has kept that was killed, interrupted or had fewer samples is not asked for again; calls that failed
    are.

    Args:
        evaluation: What is asked, and how it is scored.

        system: The system under test, such as `Engine.system` returns; it is not closed.

        folder: The result folder.

        concurrency: How many calls are made at once.

        timeout: After how many seconds a call has failed; None for never.

        retries: How often a failed call is made again.

        limit: How many samples are taken, the first ones; None for all.

        progress: Called with how many samples are done and how many there are.

    Returns:
        The result, as `Result.load` reads it from the folder.

    Raises:
        ResultError: The folder has something else in it, such as the result of other metrics, data or options of the
            system, or one of more samples than *limit*; or it cannot be written.

        ParameterError: The system says, before it is called, that it cannot be used.

        MetricFailedError: A metric failed for every sample; the result is saved nevertheless.

        RunInterrupted: The run was interrupted; what was kept stays.
    """
    earlier = folder if (folder / "manifest.json").is_file() else None
    if earlier is not None:
        result = _saved(earlier, evaluation, system, limit)
        if result is not None:
            return result
    if isinstance(system, ConfiguredSystem):
        system.check()
    staging = Staging(folder, replaces=earlier is not None)
    try:
        begin(staging, evaluation, system, earlier, list(filter(has_outputs, staging.left_behind())))
        try:
            result = evaluation.run(
                sut=system,
                concurrency=concurrency,
                timeout=timeout,
                retries=retries,
                keep=staging.outputs,
                resume=True,
                retry_failed=True,
                limit=limit,
                progress=progress,
            )
        except MetricFailedError as error:
            save_result(error.result, staging)  # the calls are paid for
            raise
        save_result(result, staging)
    finally:
        staging.discard()
    return Result.load(folder)


def _saved(folder: Path, evaluation: Evaluation, system: object, limit: int | None) -> Result | None:
    """Return a saved result, None for one that has to go on; refuse one of other options, data, metrics or policy."""
    try:
        check_same(folder, evaluation, system)
    except ResultError as error:
        raise ResultError(f"{error}\n(a run of something else needs another folder)") from None
    result = Result.load(folder)
    had = result.manifest["dataset"].get("limit")
    if had == limit and not result.is_incomplete:
        return result
    if limit is not None and (had is None or had > limit):
        many = "all samples" if had is None else counted(had, "sample")
        raise ResultError(f"{folder} is a result of {many}, and the limit is {limit:,}; choose another folder")
    return None
