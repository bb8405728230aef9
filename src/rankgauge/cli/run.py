"""
`rankgauge run`: evaluate the datasets of a config, or one data file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from rankgauge.cli.console import progress_bar
from rankgauge.cli.options import POLICY_HELP, PROFILE_HELP, field_map, make_engine, policy_options
from rankgauge.cli.outcome import Folders, explain_incomplete, print_tables, print_texts
from rankgauge.cli.typed import CUTOFF, FIELD, FUNCTION, METRICS, OUTPUTS, imported, taking
from rankgauge.errors import ParameterError
from rankgauge.policy import profile

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.result import Result

__all__ = ["HELP", "run"]

HELP = """\
Evaluate a config or a data file.

Without --data, all datasets of the config are evaluated. Options override the config. Exit codes: 0 done, 2 usage,
config or unreadable input, 3 incomplete (more missing and failed samples than max_failed allows), 4 nothing to
evaluate, 5 internal error.
"""


_FORMATS = "How to print: table, json, jsonl or markdown."
_COHORT = "Make a cohort of each value of a metadata field, such as metadata.language."
_MAX_FAILED = "Exit with 3 if more than this share (0 to 1) of the samples is missing or failed."
_NEAR_MISSES = "Also keep, for each gold text not found, the nearest retrieved text."

_Several = list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """What was typed."""

    config: Annotated[Path | None, Argument(help="The config file.", show_default=False)] = None
    data: Annotated[Path | None, Option(metavar="FILE", help="A data file, instead of the config's datasets.")] = None
    dataset: Annotated[
        _Several, Option(metavar="NAME", help="A dataset of the config; by default all. Repeatable.")
    ] = None
    field: Annotated[_Several, FIELD] = None
    cohort: Annotated[_Several, Option(metavar="FIELD", help=f"{_COHORT} Repeatable.")] = None
    metric: Annotated[_Several, METRICS] = None
    metric_set: Annotated[_Several, Option("--set", metavar="NAME", help="A metric set of the config. Repeatable.")] = (
        None
    )
    profile: Annotated[str | None, Option(metavar="NAME", help=PROFILE_HELP)] = None
    k: Annotated[int | None, CUTOFF] = None
    outputs: Annotated[Path | None, OUTPUTS] = None
    sut: Annotated[str | None, Option(metavar="FUNCTION", help=f"The system under test, as {FUNCTION}.")] = None
    concurrency: Annotated[int, Option(metavar="N", help="Most calls of --sut at the same time.")] = 8
    timeout: Annotated[float | None, Option(metavar="SECONDS", help="Time allowed for each call of --sut.")] = None
    output: Annotated[Path | None, Option("--output", "-o", metavar="FOLDER", help="Write a result folder here.")] = (
        None
    )
    form: Annotated[str, Option("--format", "-f", metavar="FORMAT", help=_FORMATS)] = "table"
    as_json: Annotated[bool, Option("--json", help="Same as --format json.")] = False
    limit: Annotated[int | None, Option(metavar="N", help="Evaluate only the first N samples.")] = None
    max_failed: Annotated[float | None, Option(metavar="SHARE", help=_MAX_FAILED)] = None
    policy: Annotated[_Several, Option(metavar="NAME=VALUE", help=f"{POLICY_HELP} Repeatable.")] = None
    details: Annotated[bool, Option("--details", help="Keep the facts behind every score.")] = False
    near_misses: Annotated[bool, Option("--near-misses", help=_NEAR_MISSES)] = False
    bands: Annotated[bool, Option("--bands", help="Add a word, such as good, for each mean.")] = False
    progress: Annotated[bool, Option(help="Show a progress bar when a run takes long.")] = True


@taking(_Options)
def run(options: _Options) -> None:
    """Evaluate; see `HELP`."""
    _check_usage(options)
    engine = make_engine(options.config)
    form = "json" if options.as_json else options.form
    reporter = None if form == "table" else engine.catalog.reporter(form)
    settings = engine.config.config.output if engine.config is not None else None
    names = [options.data] if options.data is not None else options.dataset or engine.dataset_names
    if not names:
        from rankgauge.errors import NothingToEvaluateError

        msg = f"{options.config} declares no dataset; there is nothing to evaluate"
        raise NothingToEvaluateError(msg, [])
    directory = settings.directory if settings else None
    folders = Folders(output=options.output, directory=directory, several=len(names) > 1)
    folders.check(map(str, names))
    system = None if options.sut is None else imported(options.sut, "--sut")
    evaluations = [_evaluation(engine, name, options) for name in names]
    for evaluation in evaluations:
        evaluation.plan()
    results: list[Result] = []
    try:
        for evaluation in evaluations:
            keeps = options.details or bool(settings and settings.details)
            results.append(_run(evaluation, options, system, details=keeps))
            folders.save(evaluation.data.name or "data", results[-1])  # first: whoever reads stdout may be gone
            if results[-1].manifest["interrupted"]:
                break
    finally:
        try:
            if reporter is None:
                print_tables(results, bands=options.bands or bool(settings and settings.bands))
            elif results:
                print_texts(reporter, results, is_list=len(names) > 1)
        finally:
            folders.tell()
    if any(result.is_incomplete for result in results):
        explain_incomplete(results)
        raise typer.Exit(3)


def _check_usage(options: _Options) -> None:
    """Refuse options that do not go together."""
    config, data = options.config, options.data
    msg = ""
    if config is not None and config.suffix.lower() not in {".yaml", ".yml", ""}:
        msg = f"{config} is not a config file (.yaml); to score a data file: --data {config} -m ndcg@10"
    elif (config is None) == (data is None):
        msg = "give either a config file or --data FILE; `rankgauge run --help` lists all options"
    elif data is not None and options.dataset:
        msg = "--dataset names a dataset of a config file; leave it out with --data"
    elif data is not None and options.metric_set:
        msg = "--set needs a config file that declares the metric set"
    elif options.outputs is not None and options.sut is not None:
        msg = "give either --outputs or --sut"
    if msg:
        raise ParameterError(msg)


def _evaluation(engine: Engine, name: str | Path, options: _Options) -> Evaluation:
    """Return the evaluation of one dataset, with what was typed in place of what the config says."""
    evaluation = engine.dataset(name)
    if options.metric_set and engine.config is not None:
        evaluation = evaluation.with_metrics([*engine.config.metrics(options.metric_set), *(options.metric or ())])
    elif options.metric:
        evaluation = evaluation.with_metrics(options.metric)
    policy = policy_options(options.policy, max_failed=options.max_failed)
    if options.profile is None:
        evaluation = evaluation.with_policy(evaluation.profile.adapted(policy))
    else:
        declared = {} if engine.config is None else engine.config.policy_options()
        evaluation = evaluation.with_policy(profile(options.profile).adapted({**declared, **policy}))
    if options.k is not None:
        evaluation = evaluation.with_defaults(k=options.k, source="--k")
    evaluation = evaluation.with_fields(field_map(options.field))
    if options.cohort:
        evaluation = evaluation.with_cohorts(options.cohort)
    return evaluation if options.outputs is None else evaluation.with_outputs(options.outputs)


def _run(evaluation: Evaluation, options: _Options, system: Callable[..., Any] | None, *, details: bool) -> Result:
    from rankgauge.errors import RunInterrupted

    with progress_bar(evaluation.data.name or "samples", wanted=options.progress) as report:
        try:
            return evaluation.run(
                sut=system,
                concurrency=options.concurrency,
                timeout=options.timeout,
                limit=options.limit,
                details=details,
                near_misses=options.near_misses,
                progress=report,
            )
        except RunInterrupted as interruption:
            result: Result = interruption.result
            return result
