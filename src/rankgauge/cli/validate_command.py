"""
`rankgauge validate`: check a config, its plugins and its data, a data file, or judgments and runs; score nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line
from rankgauge.cli.command_gates import AskedGates
from rankgauge.cli.console import echo, remark, show
from rankgauge.cli.conventions import described, is_config, make_catalog, make_engine, run_names, table_columns
from rankgauge.cli.scoring_options import VALIDATED_RUNS, VALIDATED_SAMPLES
from rankgauge.cli.shared_options import typed
from rankgauge.errors import (
    ConfigError,
    DataError,
    MissingGoldError,
    NothingToEvaluateError,
    ParameterError,
    Problem,
    RankgaugeError,
    ResultError,
    counted,
    listed,
)
from rankgauge.extensions import extension

if TYPE_CHECKING:
    from rankgauge.config import LoadedConfig
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.sample_score import DataCheck
    from rankgauge.planning.lock import Lock
    from rankgauge.planning.plan import Plan
    from rankgauge.result import Result


_BY_ID = ("judged@1",)
"""A metric that any data can be read with."""
_BY_ANY = (*_BY_ID, "recall@1")
"""The same, and one that takes whatever says what should be retrieved, for what there is to say of texts and places."""


def execute_validate(given: argparse.Namespace) -> int:
    """Check what was named, and score nothing."""
    first, *runs = given.files
    of_samples = next(iter(typed(given, VALIDATED_SAMPLES)), None)
    if runs and of_samples:
        raise ParameterError(f"{of_samples} is for samples: rankgauge validate SAMPLES {of_samples} ...")
    if runs:
        if given.baseline is not None:
            _check_run_ids(first, runs, given)
        code: int = extension("judgments and runs")(first, runs, given)
        return code
    if of_runs := typed(given, VALIDATED_RUNS):
        raise ParameterError(f"{of_runs[0]} is for judgments and runs: rankgauge validate QRELS RUN")
    if not is_config(first):
        _validate_samples(first, given)
    elif of_samples:
        key = "fields" if of_samples == "--field" else of_samples.removeprefix("--")
        raise ParameterError(f"{of_samples} is for a data file; in {first} it is under `{key}` of a dataset")
    else:
        _validate_config(first, given)
    return 0


def _validate_config(config: Path, given: argparse.Namespace) -> None:
    engine = make_engine(config)
    problems: dict[str, Problem] = {}
    _check_declared(engine, problems)
    earlier = _check_gates(engine, config, given.baseline, problems)
    lines = [
        line
        for name in engine.dataset_names
        for line in _check_dataset(engine.dataset(name), config, problems, is_verbose=given.verbose)
    ]
    if problems:
        raise ConfigError(f"{config} cannot be used ({counted(len(problems), 'problem')}):", problems.values())
    if earlier is not None:
        _check_ids({name: engine.dataset(name) for name in engine.dataset_names}, earlier)
    for fault in engine.catalog.faults:
        remark(f"plugin fault: {fault}")
    valid = f"{config}: valid ({counted(len(engine.dataset_names), 'dataset')})"
    show([Line(visible(valid), "good"), *(Line(visible(line)) for line in "\n".join(lines).split("\n"))])


def _check_gates(
    engine: Engine, config: Path, baseline: Path | None, problems: dict[str, Problem]
) -> Mapping[str, Result] | None:
    """Check the gates of a config, and return the baseline if it can be read."""
    earlier: Mapping[str, Result] | None = None
    with _collected(problems, config):
        asked = AskedGates.of(argparse.Namespace(baseline=baseline), engine.config)
        gates = {}
        for name in engine.dataset_names:
            with _collected(problems, config):
                _, gates[name] = asked.widened(engine.dataset(name), name)
        asked.planned(gates, engine.dataset_names)
        earlier = asked.baseline
    return earlier  # noqa: RET504  # None if an error was collected


def _check_ids(evaluations: Mapping[str, Evaluation], baseline: Mapping[str, Result]) -> None:
    """Refuse datasets whose retrieved ids are not those of the baseline."""
    results = {}
    for name, evaluation in evaluations.items():
        with suppress(MissingGoldError):  # what is judged by text alone does not depend on ids
            results[name] = replace(evaluation, lock=None).with_metrics(_BY_ID).run(sketch_ids=True)
    _refuse_changed(results, baseline)


def _check_run_ids(qrels: Path, runs: Sequence[Path], given: argparse.Namespace) -> None:
    """Refuse runs whose ids are not those of the baseline."""
    from rankgauge.engine.runs import evaluate_runs, plan_run
    from rankgauge.gates.baseline import load_baseline
    from rankgauge.io.open_sources import open_qrels

    paths = [str(run) for run in runs]
    if "-" in (str(qrels), *paths):
        raise ParameterError("--baseline reads the files twice, which standard input (-) cannot; name the files")
    earlier = load_baseline(given.baseline)
    by_name = dict(zip(run_names(paths), paths, strict=True))
    plan, columns = plan_run(_BY_ID, catalog=make_catalog()), table_columns(given.columns, given.reader, given.letters)
    results = evaluate_runs(plan, open_qrels(str(qrels), columns=columns), by_name, columns=columns, sketch_ids=True)
    _refuse_changed(results, earlier)


def _refuse_changed(results: Mapping[str, Result], baseline: Mapping[str, Result]) -> None:
    from rankgauge.gates.drop import ids_changed

    changed = ids_changed(results, baseline)
    if changed:
        raise ResultError("; ".join(f"{name}: {why}" for name, why in changed.items()))


def _validate_samples(data: Path, given: argparse.Namespace) -> None:
    evaluation = described(make_engine(None).dataset(data), given).with_metrics(_BY_ANY)
    if given.outputs is not None:
        evaluation = evaluation.with_outputs(given.outputs)
    if (baseline := given.baseline) is not None:
        from rankgauge.gates.baseline import load_baseline

        systems = {} if given.system else evaluation.by_system()
        by_name = {of_system.data.name: of_system for of_system in systems.values()}
        _check_ids(by_name or {evaluation.data.name: evaluation}, load_baseline(baseline))
    systems = {} if given.system else evaluation.by_system()
    for name, of_system in systems.items() or [("", evaluation)]:
        checked = of_system.check(require_gold=False)
        label = f"{data}, {name}" if len(systems) > 1 else str(data)
        for note in checked.notes:
            remark(f"note: {note}")
        echo(f"{_contents(checked)}\n{label}: valid{_except_failed(checked, label)}")


def _except_failed(checked: DataCheck, data: str) -> str:
    """Return how many outputs `run` would count as failed, and name them; refuse data in which all of them are."""
    failed, n, outputs = checked.failed, len(checked.failed), checked.samples - checked.without_output
    if not failed:
        return ""
    problems = [Problem(reason, sample=name) for name, reason in failed.items()]
    error = DataError(f"{data}: {n:,} of {counted(outputs, 'output')} would fail:", problems)
    if n == outputs:
        raise error
    remark(str(error))
    return f", but for {counted(n, 'output')} that would fail"


def _contents(checked: DataCheck) -> str:
    gold = ", ".join(f"{kind} {count:,}" for kind, count in checked.gold.items() if count)
    return (
        f"data: {counted(checked.samples, 'sample')}; with ground truth: {gold or 'none'}; without output: "
        f"{checked.without_output:,}; with malformed output: {checked.malformed:,}"
    )


@contextmanager
def _collected(problems: dict[str, Problem], file: Path | str, line: int | None = None) -> Iterator[None]:
    """Keep the errors raised inside, each problem once, so that checking can go on."""
    try:
        yield
    except NothingToEvaluateError:
        raise
    except RankgaugeError as error:
        several = getattr(error, "problems", None) or (Problem(str(error), str(file), line),)
        problems.update({str(problem): problem for problem in several})


def _check_declared(engine: Engine, problems: dict[str, Problem]) -> None:
    """Check all matchers, profiles and metric sets, including unused ones, and the options of the system."""
    loaded = engine.config
    if loaded is None:
        return
    for name in loaded.config.matchers:
        with _collected(problems, *loaded.place("matchers", name)):
            engine.catalog.matcher(name)
    for name in loaded.config.profiles:
        with _collected(problems, *loaded.place("profiles", name)):
            engine.catalog.profile(name)
    from rankgauge.engine.configured import lock_of
    from rankgauge.engine.configured_system import check_options

    with _collected(problems, *loaded.place("plugins", "locked")):
        _check_commands(lock_of(loaded), loaded)
    with _collected(problems, *loaded.place("system")):
        check_options(loaded, engine.catalog)
    for name in loaded.config.metrics.sets:
        with _collected(problems, loaded.path):
            engine.dataset([]).with_metrics(engine.metrics([name])).plan()


def _check_commands(lock: Lock | None, loaded: LoadedConfig) -> None:
    """Refuse commands of plugins that are not as a lock says; one that it does not know is only named."""
    if lock is None or lock.commands is None:
        return
    disable = loaded.config.plugins.disable
    if changed := list(lock.command_problems(disable)):
        raise ConfigError(f"{loaded.path} is locked for other commands:", changed)
    if new := lock.new_commands(disable):
        remark(f"note: not in the lock {lock.origin}, so refused with this config: {listed(list(map(repr, new)))}")


def _check_dataset(
    evaluation: Evaluation, config: Path, problems: dict[str, Problem], *, is_verbose: bool
) -> Iterator[str]:
    """Check the plan and the data of one dataset, and yield what to print of them."""
    with _collected(problems, config):
        yield from _described(evaluation.plan(), is_verbose=is_verbose)
        for note in evaluation.plan().notes:
            remark(f"note: {note}")
    with _collected(problems, config):
        # With other metrics, which no lock is about, data can be read even if the config's cannot be planned.
        readable = replace(evaluation, lock=None).with_metrics(_BY_ID) if problems else evaluation
        checked = readable.check(require_gold=not problems)
        for note in checked.notes:
            remark(f"note: {note}")
        failed = _except_failed(checked, evaluation.data.name)
        yield f"{_contents(checked)}{failed}"


def _described(plan: Plan, *, is_verbose: bool) -> list[str]:
    """Return what a plan computes, in a few lines; with all definitions if *is_verbose*."""
    if is_verbose:
        return [plan.describe()]
    names = ", ".join(metric.name for metric in plan.metrics)
    return [
        f"dataset: {plan.dataset or '(samples given in Python)'}",
        f"metrics: {names} (--verbose shows definitions, matchers, cutoffs and files)",
        f"profile: {plan.profile.name}",
    ]
