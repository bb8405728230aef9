"""
`rankgauge run`: evaluate the datasets of a config, or one data file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from rankgauge.cli.calling import System
from rankgauge.cli.evaluating import ScoreOptions, Several, evaluate_all, overridden, tell_idle
from rankgauge.cli.folders import Folders
from rankgauge.cli.options import field_map, make_engine
from rankgauge.cli.typed import FIELD, FUNCTION, OUTPUTS, imported, taking
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["HELP", "run"]

HELP = """\
Evaluate a config or a data file.

Without --data, all datasets of the config are evaluated. Options override the config; gates are added to its gates.
Exit codes: 0 done, 1 a gate failed, 2 usage, config or unreadable input, or a gate that cannot be judged, 3 incomplete
(more missing and failed samples than max_failed allows), 4 nothing to evaluate, 5 internal error.
"""


_SUT = f"The system under test, as {FUNCTION}."
_RETRIES = "How often a call of --sut that fails is made again."
_RESUME = "Call --sut only for samples that this earlier run has no output for."
_RETRY_FAILED = "With --resume, also call again for samples whose output is a failure."


_CONCURRENCY = "Most calls of --sut at the same time.  [default: 8]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(ScoreOptions):
    """What was typed."""

    config: Annotated[Path | None, Argument(help="The config file.", show_default=False)] = None
    data: Annotated[Path | None, Option(metavar="FILE", help="A data file, instead of the config's datasets.")] = None
    dataset: Annotated[Several, Option(metavar="NAME", help="A dataset of the config; by default all. Repeatable.")] = (
        None
    )
    metric_set: Annotated[
        Several, Option("--set", metavar="NAME", help="A metric set of the config or a plugin. Repeatable.")
    ] = None
    field: Annotated[Several, FIELD] = None
    limit: Annotated[int | None, Option(metavar="N", help="Evaluate only the first N samples.")] = None
    outputs: Annotated[Path | None, OUTPUTS] = None
    sut: Annotated[str | None, Option(metavar="FUNCTION", help=_SUT)] = None
    concurrency: Annotated[int | None, Option(metavar="N", help=_CONCURRENCY)] = None
    timeout: Annotated[float | None, Option(metavar="SECONDS", help="Time allowed for each call of --sut.")] = None
    retries: Annotated[int, Option(metavar="N", help=_RETRIES)] = 0
    resume: Annotated[Path | None, Option(metavar="FOLDER", help=_RESUME)] = None
    retry_failed: Annotated[bool, Option("--retry-failed", help=_RETRY_FAILED)] = False


@taking(_Options)
def run(options: _Options) -> None:
    """Evaluate; see `HELP`."""
    _check_usage(options)
    engine = make_engine(options.config)
    settings = engine.config.config.output if engine.config is not None else None
    names = [options.data] if options.data is not None else options.dataset or engine.dataset_names
    if not names:
        from rankgauge.errors import NothingToEvaluateError

        msg = f"{options.config} declares no dataset; there is nothing to evaluate"
        raise NothingToEvaluateError(msg, [])
    directory = settings.directory if settings else None
    folders = Folders(
        output=options.output,
        directory=directory,
        several=len(names) > 1,
        resume=options.resume,
        keep_data=options.keep_data,
    )
    tell_idle(options, folders)
    evaluate_all(
        [_evaluation(engine, name, options) for name in names],
        options,
        folders,
        catalog=engine.catalog,
        config=engine.config,
        limit=options.limit,
        system=_system(options),
    )


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
    elif options.outputs is not None and options.sut is not None:
        msg = "give either --outputs or --sut"
    elif options.sut is not None and options.workers > 1:
        msg = "--workers divides a dataset that has its outputs; calls of --sut are made at once with --concurrency"
    elif options.sut is None and (idle := _of_calls(options)):
        msg = f"{idle[0]} is for calls of a system under test; name it with --sut"
    elif options.retry_failed and options.resume is None:
        msg = "--retry-failed goes with --resume FOLDER"
    if msg:
        raise ParameterError(msg)


def _of_calls(options: _Options) -> list[str]:
    """Return the options that were typed and have no effect without a system under test."""
    given = {
        "--retries": bool(options.retries),
        "--resume": options.resume is not None,
        "--timeout": options.timeout is not None,
        "--concurrency": options.concurrency is not None,
    }
    return [name for name, is_given in given.items() if is_given]


def _evaluation(engine: Engine, name: str | Path, options: _Options) -> Evaluation:
    """Return the evaluation of one dataset, with what was typed in place of what the config says."""
    evaluation = engine.dataset(name)
    if options.metric_set:
        evaluation = evaluation.with_metrics([*engine.metrics(options.metric_set), *(options.metric or ())])
    elif options.metric:
        evaluation = evaluation.with_metrics(options.metric)
    declared = {} if engine.config is None else engine.config.policy_options()
    evaluation = overridden(evaluation, options, declared)
    evaluation = evaluation.with_fields(field_map(options.field))
    if not evaluation.metrics and engine.config is not None:
        from rankgauge.errors import ConfigError, Problem

        file, line = engine.config.place("metrics")
        msg = f"{engine.config.path} cannot be used:"
        raise ConfigError(
            msg, [Problem("it names no metric; list some in metrics.use, or give -m ndcg@10", file, line)]
        )
    return evaluation if options.outputs is None else evaluation.with_outputs(options.outputs)


def _system(options: _Options) -> System | None:
    """Return the system under test that was named, if one was."""
    if options.sut is None:
        return None
    return System(
        function=imported(options.sut, "--sut"),
        concurrency=8 if options.concurrency is None else options.concurrency,
        timeout=options.timeout,
        retries=options.retries,
        retry_failed=options.retry_failed,
    )
