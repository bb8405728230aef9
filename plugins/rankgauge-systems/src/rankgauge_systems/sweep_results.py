"""
Results of a sweep: every point scored and saved, read where it is saved already, and compared with an exact search.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge import Engine, Evaluation, Result
from rankgauge.engine.calls import begin
from rankgauge.errors import ResultError
from rankgauge.io.output_files import OUTPUTS_FILE, read_kept
from rankgauge.report.json import save_result
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

    Outputs are kept as they arrive, and what an earlier sweep that was ended has kept is not asked for again.
    """
    place = folder / point.folder
    if (place / "manifest.json").is_file():
        return _saved(engine, evaluation, point, place)
    system = engine.system(point.changes)
    try:
        system.check()
        staging = Staging(place)
        try:
            begin(staging, evaluation, system, None, list(filter(has_outputs, staging.left_behind())))
            result = evaluation.run(
                sut=system,
                concurrency=calls.concurrency,
                timeout=calls.timeout,
                retries=calls.retries,
                keep=staging.outputs,
                resume=True,
                limit=calls.limit,
                progress=progress,
            )
            save_result(result, staging)
        finally:
            staging.discard()
    finally:
        system.close()
    return Result.load(place)


def _saved(engine: Engine, evaluation: Evaluation, point: Point, place: Path) -> Result:
    """Return a saved result; refuse one of other options, data or metrics."""
    result = Result.load(place)
    system = engine.system(point.changes)
    system.close()
    options = result.manifest["outputs"].get("options")
    columns = [column.name for column in evaluation.plan().metrics]
    differs = [
        what
        for what, is_same in (
            ("options", json.dumps(options, sort_keys=True) == json.dumps(system.options, sort_keys=True)),
            ("data", result.manifest["dataset"]["fingerprint"] == evaluation.data.fingerprint()),
            ("metrics", list(result.metrics) == columns),
        )
        if not is_same
    ]
    if differs:
        raise ResultError(f"{place} is a result of other {' and '.join(differs)}; sweep into another folder")
    return result


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
