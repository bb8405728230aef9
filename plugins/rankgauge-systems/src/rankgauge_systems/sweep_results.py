"""
Results of a sweep: every point scored and saved, read where it is saved already, and compared with an exact search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge import Engine, Evaluation, Result
from rankgauge.engine.calls import begin, check_same
from rankgauge.engine.configured_system import ConfiguredSystem
from rankgauge.errors import MetricFailedError, ResultError, counted
from rankgauge.io.output_files import OUTPUTS_FILE, read_kept
from rankgauge.report import save_result
from rankgauge.result.staging import Staging, has_outputs
from rankgauge.samples import Fault
from rankgauge_systems.sweep_points import Point, exact_changes

__all__ = ["Calls", "exact_recall", "scored"]

_DEPTHS = (1, 10, 100)

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """How a system is called for each point."""

    concurrency: int = 8
    timeout: float | None = None
    retries: int = 0
    limit: int | None = None


def scored(
    engine: Engine, evaluation: Evaluation, point: Point, folder: Path, calls: Calls, progress: Progress | None = None
) -> Result:
    """
    Return the result of a point: that of its folder, or a new one that is saved there.

    Outputs are kept as they arrive. What an earlier sweep has kept, that was ended or had fewer samples, is not asked
    for again; calls that failed are.
    """
    place = folder / point.folder
    system = engine.system(point.changes)
    try:
        earlier = place if (place / "manifest.json").is_file() else None
        if earlier is not None:
            result = _saved(earlier, evaluation, system, calls.limit)
            if result is not None:
                return result
        system.check()
        staging = Staging(place, replaces=earlier is not None)
        try:
            begin(staging, evaluation, system, earlier, list(filter(has_outputs, staging.left_behind())))
            try:
                result = evaluation.run(
                    sut=system,
                    concurrency=calls.concurrency,
                    timeout=calls.timeout,
                    retries=calls.retries,
                    keep=staging.outputs,
                    resume=True,
                    retry_failed=True,
                    limit=calls.limit,
                    progress=progress,
                )
            except MetricFailedError as error:
                save_result(error.result, staging)  # the calls are paid for
                raise
            save_result(result, staging)
        finally:
            staging.discard()
    finally:
        system.close()
    return Result.load(place)


def _saved(place: Path, evaluation: Evaluation, system: ConfiguredSystem, limit: int | None) -> Result | None:
    """Return a saved result, None for one that has to go on; refuse one of other options, data, metrics or policy."""
    try:
        check_same(place, evaluation, system)
    except ResultError as error:
        raise ResultError(f"{error}\n(a sweep of something else needs another folder)") from None
    result = Result.load(place)
    had = result.manifest["dataset"].get("limit")
    if had == limit and not result.is_incomplete:
        return result
    if limit is not None and (had is None or had > limit):
        many = "all samples" if had is None else counted(had, "sample")
        raise ResultError(f"{place} is a result of {many}, and --limit takes {limit:,}; sweep into another folder")
    return None


def exact_recall(
    engine: Engine,
    evaluation: Evaluation,
    point: Point,
    folder: Path,
    calls: Calls,
    progress: Progress | None = None,
) -> dict[int, Result]:
    """
    Return which share of the first results of an exact search a point has among its own, by how many these are.

    The shares are `set_recall` of results; there are none where nothing can be exact. The exact search has the same
    options, and as many results.
    """
    system = engine.system(point.changes)
    system.close()
    changes = exact_changes(system.kind, system.options)
    if not changes:
        return {}
    exact = Point({**{name: value for name, value in point.changes.items() if name not in changes}, **changes})
    scored(engine, evaluation, exact, folder, calls, progress)
    wanted, found = (_retrieved(folder / each.folder / OUTPUTS_FILE) for each in (exact, point))
    deepest = max(map(len, wanted.values()), default=0)
    depths = sorted({depth for depth in (*_DEPTHS, deepest) if 0 < depth <= deepest})
    return {depth: _shares(wanted, found, depth) for depth in depths}


def _shares(wanted: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[str]], depth: int) -> Result:
    samples = [
        {"id": name, "expected_output": ids[:depth], "actual_output": found.get(name, ())[:depth]}
        for name, ids in wanted.items()
        if ids
    ]
    return Engine().dataset(samples).with_metrics(["set_recall"]).run()


def _retrieved(outputs: Path) -> Mapping[str, Sequence[str]]:
    """Return the ids that were retrieved for each sample, where the call did not fail."""
    read: dict[str, Any] = {name: kept.read() for name, kept in read_kept(outputs).items()}
    return {
        name: list(dict.fromkeys(each for each in output.ids if each is not None))
        for name, output in read.items()
        if not isinstance(output, Fault)
    }
