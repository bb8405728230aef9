"""
`rankgauge run`: evaluate the datasets of a config, or one data file.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import progress_bar
from rankgauge.cli.options import make_engine, policy_options
from rankgauge.cli.outcome import Folders, explain_incomplete, print_tables, print_texts

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.result import Result

__all__ = ["HELP", "run"]

HELP = """\
Evaluate the datasets of a config file, or one data file (--data), and print the scores.

Options override the config. Exit codes: 0 done, 2 usage, config or unreadable input, 3 incomplete (more missing and
failed samples than max_failed allows), 4 nothing to evaluate, 5 internal error.
"""


def run(
    config: Annotated[Path | None, typer.Argument(help="The config file.", show_default=False)] = None,
    *,
    data: Annotated[Path | None, typer.Option(help="A data file, instead of the config's datasets.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="A dataset of the config; all of them by default.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", help="A metric, such as ndcg@10 or recall@1,5,10.")
    ] = None,
    metric_set: Annotated[list[str] | None, typer.Option("--set", help="A metric set of the config.")] = None,
    profile: Annotated[str | None, typer.Option(help="A profile: default, eval-harness.")] = None,
    k: Annotated[int | None, typer.Option(help="Default cutoff, used when a metric has none.")] = None,
    outputs: Annotated[Path | None, typer.Option(help="A file with the outputs to score.")] = None,
    sut: Annotated[str | None, typer.Option(help="The system under test, as module:function.")] = None,
    concurrency: Annotated[int, typer.Option(help="How many calls of --sut may be under way at once.")] = 8,
    timeout: Annotated[float | None, typer.Option(help="Seconds for each call of --sut.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result folder here.", show_default=False)
    ] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="table, json, jsonl or markdown.")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    limit: Annotated[int | None, typer.Option(help="How many samples to take at the most.")] = None,
    max_failed: Annotated[float | None, typer.Option(help="The share of missing and failed samples to allow.")] = None,
    policy: Annotated[list[str] | None, typer.Option(help="A policy option, such as order=score.")] = None,
    details: Annotated[bool, typer.Option("--details", help="Keep the facts behind every score.")] = False,
    near_misses: Annotated[
        bool, typer.Option("--near-misses", help="Keep, with the details, what came nearest to gold texts not found.")
    ] = False,
    bands: Annotated[bool, typer.Option("--bands", help="Add a word for each mean.")] = False,
    progress: Annotated[bool, typer.Option(help="Show a progress bar when a run takes long.")] = True,
) -> None:
    """Evaluate; see `HELP`."""
    _check_usage(config, data, dataset, outputs, sut)
    engine = make_engine(config)
    reporter = None if form == "table" and not as_json else engine.catalog.reporter("json" if as_json else form)
    settings = engine.config.config.output if engine.config is not None else None
    names: Sequence[str | Path] = [data] if data is not None else dataset or engine.dataset_names
    if not names:
        from rankgauge.errors import NothingToEvaluateError

        msg = f"{config} declares no dataset; there is nothing to evaluate"
        raise NothingToEvaluateError(msg, [])
    folders = Folders(output, settings.directory if settings else None, several=len(names) > 1)
    folders.check([str(name) for name in names])
    system = None if sut is None else _imported(sut)
    options = policy_options(policy, max_failed=max_failed)
    evaluations = [_prepared(engine, name, metric, metric_set, profile, k, outputs, options) for name in names]
    for evaluation in evaluations:
        evaluation.plan()
    results: list[Result] = []
    try:
        for evaluation in evaluations:
            keeps = details or bool(settings and settings.details)
            results.append(_run(evaluation, system, concurrency, timeout, limit, keeps, near_misses, progress))
            folders.save(evaluation.data.name or "data", results[-1])  # first: whoever reads stdout may be gone
            if results[-1].manifest["interrupted"]:
                break
    finally:
        if reporter is None:
            print_tables(results, bands=bands or bool(settings and settings.bands))
        elif results:
            print_texts(reporter.declaration.function, reporter.declaration.name, results, is_list=len(names) > 1)
        folders.tell()
    if any(result.is_incomplete for result in results):
        explain_incomplete(results)
        raise typer.Exit(3)


def _check_usage(
    config: Path | None, data: Path | None, dataset: list[str] | None, outputs: Path | None, sut: str | None
) -> None:
    """Refuse options that do not go together."""
    if config is not None and config.suffix.lower() not in {".yaml", ".yml", ""}:
        msg = f"{config} is no config file (.yaml); score a data file with --data {config} -m ndcg@10"
        raise typer.BadParameter(msg)
    if (config is None) == (data is None):
        msg = "give either a config file or --data FILE"
        raise typer.BadParameter(msg)
    if data is not None and dataset:
        msg = "--dataset names datasets of a config, and --data is one of its own"
        raise typer.BadParameter(msg)
    if outputs is not None and sut is not None:
        msg = "give either --outputs or --sut"
        raise typer.BadParameter(msg)


def _prepared(
    engine: Engine,
    name: str | Path,
    metrics: Sequence[str] | None,
    sets: Sequence[str] | None,
    profile: str | None,
    k: int | None,
    outputs: Path | None,
    options: Mapping[str, Any],
) -> Evaluation:
    """Return the evaluation of one dataset with what the options override."""
    evaluation = engine.dataset(name)
    if sets and engine.config is not None:
        evaluation = evaluation.with_metrics(engine.config.metrics(sets))
    elif sets:
        msg = "--set needs a config file that declares the set"
        raise typer.BadParameter(msg)
    if metrics:
        evaluation = evaluation.with_metrics([*(evaluation.metrics if sets else ()), *metrics])
    if profile is not None:
        evaluation = evaluation.with_policy(profile)
        if engine.config is not None and (options := engine.config.policy_options()):
            evaluation = evaluation.with_policy(evaluation.profile.policy.with_options(options))
    if options:
        evaluation = evaluation.with_policy(evaluation.profile.policy.with_options(options))
    if k is not None:
        evaluation = evaluation.with_defaults(k=k, source="--k")
    return evaluation if outputs is None else evaluation.with_outputs(outputs)


def _run(
    evaluation: Evaluation,
    system: Callable[..., Any] | None,
    concurrency: int,
    timeout: float | None,
    limit: int | None,
    details: bool,  # noqa: FBT001  # passed on from `run`
    near_misses: bool,  # noqa: FBT001  # as above
    progress: bool,  # noqa: FBT001  # as above
) -> Result:
    from rankgauge.errors import RunInterrupted

    with progress_bar(evaluation.data.name or "samples", wanted=progress) as report, _own_stdout(system):
        try:
            return evaluation.run(
                sut=system,
                concurrency=concurrency,
                timeout=timeout,
                limit=limit,
                details=details,
                near_misses=near_misses,
                progress=report,
            )
        except RunInterrupted as interruption:
            result: Result = interruption.result
            return result


@contextlib.contextmanager
def _own_stdout(system: object) -> Iterator[None]:
    """Keep stdout for the result: what a system under test prints goes to stderr."""
    if system is None:
        yield
        return
    with contextlib.redirect_stdout(sys.stderr):
        yield


def _imported(name: str) -> Callable[..., Any]:
    module_name, colon, attribute = name.partition(":")
    if not colon or not module_name or not attribute:
        msg = f"--sut is module:function, not {name!r}"
        raise typer.BadParameter(msg)
    sys.path.insert(0, str(Path.cwd()))
    try:
        with _own_stdout(name):
            found = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        msg = f"--sut {name}: {type(error).__name__}: {error} (modules are looked up from the working directory on)"
        raise typer.BadParameter(msg) from error
    if not callable(found):
        msg = f"--sut {name} is {type(found).__name__}, which cannot be called"
        raise typer.BadParameter(msg)
    return found
