"""
`rankgauge validate`: check a config, its plugins and its data, a data file, or judgments and runs; score nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankgauge.cli.console import echo, print_json, remark
from rankgauge.cli.options import field_map, is_config, make_catalog, make_engine
from rankgauge.cli.typed import FIELD
from rankgauge.errors import (
    ConfigError,
    MissingGoldError,
    NothingToEvaluateError,
    ParameterError,
    Problem,
    RankgaugeError,
    ResultError,
    counted,
)

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.sample_score import DataCheck
    from rankgauge.io.field_names import FieldMap
    from rankgauge.planning.requests import MetricSpec
    from rankgauge.planning.resolve import PlannedMetric
    from rankgauge.result import ResultValues

__all__ = ["HELP", "validate"]

_BASELINE = "Also check that the retrieved ids are those of a baseline."
_BY_ID = ("judged@1",)
"""A metric that any data can be read with."""

HELP = """\
Check a config, samples, or judgments and runs.

Nothing is scored. With a config: check it, the metrics and matchers it names, and the data of its datasets, and report
every problem together. With a data file: check its samples. Exit codes: 0 everything can be used, 2 something cannot,
4 nothing to evaluate.

With two or more files, QRELS RUN [RUN ...]: check that the queries and documents of the runs are the judged ones, and
look for wrong ranks, equal scores, repeated documents and odd grades. `-` is standard input. Exit codes: 0 no error,
1 a check failed, 2 a file cannot be read.
"""


def validate(
    files: Annotated[
        list[Path], typer.Argument(metavar="CONFIG | SAMPLES | QRELS RUN...", help="What to check.", show_default=False)
    ],
    *,
    field: Annotated[list[str] | None, FIELD] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON. (Runs only)")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings, too. (Runs only)")] = False,
    rel: Annotated[
        float | None,
        typer.Option(metavar="GRADE", help="Lowest grade of a relevant document. (Runs only)  [default: 1]"),
    ] = None,
    baseline: Annotated[Path | None, typer.Option(metavar="FILE", help=_BASELINE)] = None,
) -> None:
    """Check; see `HELP`."""
    first, *runs = files
    given = [name for name, value in (("--json", as_json), ("--strict", strict), ("--rel", rel is not None)) if value]
    if runs and field:
        msg = "--field is for samples: rankgauge validate SAMPLES --field id=qid"
        raise ParameterError(msg)
    if runs:
        if baseline is not None:
            _check_run_ids(first, runs, baseline)
        _validate_runs(first, runs, rel=1.0 if rel is None else rel, as_json=as_json, strict=strict)
    elif given:
        msg = f"{given[0]} is for judgments and runs: rankgauge validate QRELS RUN"
        raise ParameterError(msg)
    elif is_config(first):
        if field:
            msg = f"--field is for a data file; in {first} the fields of a dataset stand under `fields`"
            raise ParameterError(msg)
        _validate_config(first, baseline)
    else:
        _validate_samples(first, field_map(field), baseline)


def _validate_runs(qrels: Path, runs: Sequence[Path], *, rel: float, as_json: bool, strict: bool) -> None:
    from rankgauge.preflight_checks import preflight

    if [str(path) for path in (qrels, *runs)].count("-") > 1:
        msg = "standard input (-) can stand for one file only; name the others"
        raise ParameterError(msg)
    checked = list(preflight(qrels, runs={str(number): run for number, run in enumerate(runs)}, rel=rel).values())
    ok = all(each.ok and not (strict and each.warnings) for each in checked)
    if as_json:
        print_json({"ok": ok, "runs": [each.to_dict() for each in checked]})
    else:
        echo("\n\n".join(map(str, checked)))
    if not ok:
        raise typer.Exit(1)


def _validate_config(config: Path, baseline: Path | None) -> None:
    engine = make_engine(config)
    problems: dict[str, Problem] = {}
    _check_declared(engine, problems)
    earlier = _check_gates(engine, config, baseline, problems)
    found = [line for name in engine.dataset_names for line in _check_dataset(engine.dataset(name), config, problems)]
    if problems:
        msg = f"{config} cannot be used ({counted(len(problems), 'problem')}):"
        raise ConfigError(msg, problems.values())
    if earlier is not None:
        _check_ids({name: engine.dataset(name) for name in engine.dataset_names}, earlier)
    for fault in engine.catalog.faults:
        remark(f"plugin fault: {fault}")
    echo("\n".join([*found, f"{config}: valid ({counted(len(engine.dataset_names), 'dataset')})"]))


def _check_gates(
    engine: Engine, config: Path, baseline: Path | None, problems: dict[str, Problem]
) -> Mapping[str, ResultValues] | None:
    """Check the gates of a config, and return the baseline if it can be read."""
    from rankgauge.cli.gating import GateOptions, Gating

    found: list[Gating] = []
    with _collected(problems, config):
        gating = Gating.of(GateOptions(baseline=baseline), engine.config)
        for name in engine.dataset_names:
            evaluation = engine.dataset(name)
            with _collected(problems, config):
                gating.ask(name, evaluation.metrics, partial(_planned, evaluation))
        gating.check_datasets(engine.dataset_names)
        found.append(gating)
    return found[0].baseline if found else None


def _planned(evaluation: Evaluation, metrics: Sequence[MetricSpec]) -> Sequence[PlannedMetric]:
    return evaluation.with_metrics(metrics).plan().metrics


def _check_ids(evaluations: Mapping[str, Evaluation], baseline: Mapping[str, ResultValues]) -> None:
    """Refuse datasets whose retrieved ids are not those of the baseline."""
    results = {}
    for name, evaluation in evaluations.items():
        with suppress(MissingGoldError):  # what is judged by text alone does not depend on ids
            results[name] = replace(evaluation, lock=None).with_metrics(_BY_ID).run(sketch_ids=True)
    _refuse_changed(results, baseline)


def _check_run_ids(qrels: Path, runs: Sequence[Path], baseline: Path) -> None:
    """Refuse runs whose ids are not those of the baseline."""
    from rankgauge.cli.options import run_names
    from rankgauge.engine.evaluate import evaluate_plan
    from rankgauge.engine.runs import plan_run
    from rankgauge.gates.baseline import load_baseline
    from rankgauge.io.open_sources import open_qrels

    paths = [str(run) for run in runs]
    if "-" in (str(qrels), *paths):
        msg = "--baseline reads the files twice, which standard input (-) cannot; name the files"
        raise ParameterError(msg)
    earlier = load_baseline(baseline)
    by_name = dict(zip(run_names(paths), paths, strict=True))
    results = evaluate_plan(plan_run(_BY_ID, catalog=make_catalog()), open_qrels(str(qrels)), by_name, sketch_ids=True)
    _refuse_changed(results, earlier)


def _refuse_changed(results: Mapping[str, ResultValues], baseline: Mapping[str, ResultValues]) -> None:
    from rankgauge.gates.drop import ids_changed

    changed = ids_changed(results, baseline)
    if changed:
        raise ResultError("; ".join(f"{name}: {why}" for name, why in changed.items()))


def _validate_samples(data: Path, fields: FieldMap, baseline: Path | None) -> None:
    evaluation = make_engine(None).dataset(data).with_fields(fields).with_metrics(_BY_ID)
    if baseline is not None:
        from rankgauge.gates.baseline import load_baseline

        _check_ids({evaluation.data.name: evaluation}, load_baseline(baseline))
    checked = evaluation.check(require_gold=False)
    echo(f"{_contents(checked)}\n{data}: valid")
    for note in checked.notes:
        remark(f"note: {note}")


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
    """Check all matchers, profiles and metric sets, including unused ones."""
    loaded = engine.config
    if loaded is None:
        return
    for name in loaded.config.matchers:
        with _collected(problems, *loaded.place("matchers", name)):
            engine.catalog.matcher(name)
    for name in loaded.config.profiles:
        with _collected(problems, *loaded.place("profiles", name)):
            engine.catalog.profile(name)
    for name in loaded.config.metrics.sets:
        with _collected(problems, loaded.path):
            engine.dataset([]).with_metrics(engine.metrics([name])).plan()


def _check_dataset(evaluation: Evaluation, config: Path, problems: dict[str, Problem]) -> Iterator[str]:
    """Check the plan and the data of one dataset, and yield what to print of them."""
    with _collected(problems, config):
        yield evaluation.plan().describe()
        for note in evaluation.plan().notes:
            remark(f"note: {note}")
    with _collected(problems, config):
        # With other metrics, which no lock is about, data can be read even where the config's cannot be planned.
        readable = replace(evaluation, lock=None).with_metrics(_BY_ID) if problems else evaluation
        checked = readable.check(require_gold=not problems)
        yield f"{_contents(checked)}\n"
        for note in checked.notes:
            remark(f"note: {note}")
