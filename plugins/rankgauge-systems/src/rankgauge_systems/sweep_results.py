"""
Results of a sweep: every point scored and saved, read where it is saved already, and compared with an exact search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from rankgauge import Engine, Evaluation, Result
from rankgauge.files import Fault
from rankgauge.systems import resumable_run
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
    with closing(engine.system(point.changes)) as system:
        return resumable_run(evaluation, system, folder / point.folder, **asdict(calls), progress=progress)


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

    The shares are `set_recall` of results; there are none if nothing can be exact. The exact search has the same
    options, and as many results.
    """
    system = engine.system(point.changes)
    system.close()
    changes = exact_changes(system.kind, system.options)
    if not changes:
        return {}
    exact = Point({**{name: value for name, value in point.changes.items() if name not in changes}, **changes})
    results = scored(engine, evaluation, exact, folder, calls, progress), Result.load(folder / point.folder)
    wanted, found = map(_retrieved, results)
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


def _retrieved(result: Result) -> Mapping[str, Sequence[str]]:
    """Return the ids that were retrieved for each sample, where the call did not fail."""
    read = {name: kept.read() for name, kept in result.outputs.items()}
    return {
        name: list(dict.fromkeys(each for each in output.ids if each is not None))
        for name, output in read.items()
        if not isinstance(output, Fault)
    }
