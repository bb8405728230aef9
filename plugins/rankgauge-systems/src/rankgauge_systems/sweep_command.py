"""
`rankgauge systems sweep`: options of a system are tried, and weighed against what they cost.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rankgauge import Engine, Evaluation
from rankgauge.errors import ConfigError, ParameterError, Problem, RunInterrupted
from rankgauge.plugin import Console
from rankgauge.text import counted, listed
from rankgauge.typing import MetricSpec
from rankgauge_systems.sweep_points import points_of
from rankgauge_systems.sweep_report import held_out, rows_of, show_sweep
from rankgauge_systems.sweep_results import Calls, exact_recall, scored

__all__ = ["sweep"]

_INCOMPLETE = 3


def sweep(given: argparse.Namespace, console: Console) -> int:
    """Do what `systems sweep` was given, and return its exit code."""
    typed = [("--choose-on", given.choose_on), ("--seed", given.seed)]
    if not given.holdout and (idle := [option for option, value in typed if value is not None]):
        raise ParameterError(f"{idle[0]} is about the part on which the best point is chosen; give --holdout, too")
    engine = console.engine(given.config)
    assert engine.config is not None  # noqa: S101  # a config was given
    points = points_of(engine.config.config.sweep)
    for point in points:
        engine.check_system(point.changes)
    evaluation = _evaluation(engine, given)
    columns = _columns(evaluation)
    calls = Calls(concurrency=given.concurrency, timeout=given.timeout, retries=given.retries, limit=given.limit)
    if given.timeout is not None and not given.timeout > 0:
        raise ParameterError(f"--timeout is a number of seconds above 0, not {given.timeout:g}")
    results = []
    for number, point in enumerate(points, 1):
        try:
            with console.progress(f"{number} of {len(points)}: {point.name}") as progress:
                result = scored(engine, evaluation, point, given.output, calls, progress)
                recall = {}
                if given.exact:
                    recall = exact_recall(engine, evaluation, point, given.output, calls, progress)
        except RunInterrupted as error:
            console.note(f"{error}; the same command goes on with {point.name}")
            return _INCOMPLETE
        results.append((point, result, recall))
    if given.exact and not any(recall for _, _, recall in results):
        console.note("--exact: the system cannot search exactly, so nothing is compared with that")
    cost = columns[-1]
    rows = rows_of(results, columns[0], cost)
    held = held_out(rows, columns[0], given.choose_on or 0.5, given.seed or 0) if given.holdout else None
    if given.as_json:
        console.json(
            {
                "metric": columns[0],
                "cost": cost,
                "points": [row.to_dict(columns) for row in rows],
                "holdout": None if held is None else held.to_dict(),
            }
        )
    else:
        show_sweep(rows, columns, cost, held, console)
    incomplete = [point.name for point, result, _ in results if result.is_incomplete]
    if incomplete:
        console.note(f"incomplete, with more failed calls than max_failed allows: {listed(incomplete)}")
    return _INCOMPLETE if incomplete else 0


def _evaluation(engine: Engine, given: argparse.Namespace) -> Evaluation:
    """Return the evaluation of the dataset, with what is measured of the calls behind its metrics."""
    names = engine.dataset_names
    if given.dataset is None and len(names) != 1:
        raise ParameterError(f"{given.config} has {counted(len(names), 'dataset')}; name one with --dataset")
    evaluation = engine.dataset(given.dataset or names[0])
    metrics = evaluation.metrics if given.metric is None else _chosen(evaluation, given.metric)
    if not metrics:
        problem = Problem("it names no metric; list some in metrics.use, or give -m ndcg@10", str(given.config))
        raise ConfigError(f"{given.config} cannot be used:", [problem])
    (cost,) = _columns(evaluation.with_metrics([given.cost]))
    others = _columns(evaluation.with_metrics(metrics))
    if others[0] == cost:
        raise ParameterError(f"--cost is what {cost} is weighed against; name another column")
    kept = [metric for metric in metrics if cost not in _columns(evaluation.with_metrics([metric]))]
    measured = [name for name in ("latency_p50", "latency_p95") if name not in {cost, *others}]
    return evaluation.with_metrics([*kept, *measured, given.cost])


def _chosen(evaluation: Evaluation, names: Sequence[str]) -> list[MetricSpec]:
    """Return metrics, those that the config declares under such a name as it declares them."""
    declared = {tuple(_columns(evaluation.with_metrics([metric]))): metric for metric in evaluation.metrics}
    return [declared.get((name,), name) for name in names]


def _columns(evaluation: Evaluation) -> list[str]:
    return [column.name for column in evaluation.plan().metrics]
