"""
``rankgauge run`` and ``rankgauge rescore``: the scores of datasets, now or from what an earlier run kept.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rankgauge.cli.command_line import Command
from rankgauge.cli.shared_options import (
    FUNCTION,
    add_config_option,
    add_data_options,
    add_score_options,
    path,
    whole_number,
)
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankgauge.catalog import Catalog
    from rankgauge.cli.system_under_test import System
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.result import Result
    from rankgauge.planning.requests import MetricSpec

__all__ = ["RESCORE", "RUN"]

_ABOUT = """\
Without --data, all datasets of the config are evaluated. Options override the config; gates are added to its gates.

Exit codes: 0 done, 1 a gate failed, 2 usage, config or unreadable input, or a gate that cannot be judged, 3 incomplete
(more missing and failed samples than max_failed allows), 4 nothing to evaluate, 5 internal error.
"""


_NO_WORKERS = "--workers divides a dataset that has its outputs; calls of a system are made at once with --concurrency"
_NO_STAGES = "--stages looks stages up in outputs that are there; name them instead: --stage dense --stage rerank"


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", metavar="CONFIG", nargs="?", type=path, help="The config file.")
    group = parser.add_argument_group("what is evaluated")
    add = group.add_argument
    add("--data", type=path, metavar="FILE", help="A data file, instead of the config's datasets.")
    dataset = "A dataset of the config; by default all. Repeatable."
    add("--dataset", action="append", metavar="NAME", help=dataset)
    metric_set = "A metric set of the config or a plugin. Repeatable."
    add("--set", dest="metric_set", action="append", metavar="NAME", help=metric_set)
    stage = "Also score what this stage of the pipeline retrieved (`actual_output.stages`). Repeatable."
    add("--stage", action="append", metavar="NAME", help=stage)
    stages = "The same for every stage that the first 1,000 outputs tell."
    add("--stages", action="store_true", help=stages)
    add("--limit", type=int, metavar="N", help="Evaluate only the first N samples.")
    add_data_options(group)

    add = parser.add_argument_group("calls of a system under test").add_argument
    add("--sut", metavar="FUNCTION", help=f"The system under test, as {FUNCTION}.")
    add("--concurrency", type=int, metavar="N", help="Maximum number of concurrent calls of --sut. [default: 8]")
    add("--timeout", type=float, metavar="SECONDS", help="Time allowed for each call of --sut.")
    retries = "How often to retry a failed call of --sut. [default: %(default)s]"
    add("--retries", type=int, default=0, metavar="N", help=retries)
    repeat = "Call --sut so often for each sample; its score is the mean of them. [default: 1]"
    add("--repeat", type=int, metavar="N", help=repeat)
    until = "Call --sut in random order, and stop when this gate is decided: 'ndcg@10 >= 0.6'. Repeatable."
    add("--until", action="append", metavar="GATE", help=until)
    seed = "What the random order of --until begins with. [default: 0]"
    add("--seed", type=whole_number(0), metavar="N", help=seed)
    resume = "Call --sut only for samples that this earlier run has no output for."
    add("--resume", type=path, metavar="FOLDER", help=resume)
    retry = "With --resume, also call again for samples whose output is a failure."
    add("--retry-failed", action="store_true", help=retry)
    add_score_options(parser)


def _run(given: argparse.Namespace) -> int:
    _check(given)
    from rankgauge.cli.conventions import make_engine
    from rankgauge.cli.dataset_scores import Scoring, score_datasets
    from rankgauge.cli.result_folders import Folders

    engine = make_engine(given.config)
    names = [given.data] if given.data is not None else given.dataset or engine.dataset_names
    if not names:
        from rankgauge.errors import NothingToEvaluateError

        raise NothingToEvaluateError(f"{given.config} declares no dataset; there is nothing to evaluate", [])
    settings = None if engine.config is None else engine.config.config.output
    folders = Folders(
        output=given.output,
        directory=None if settings is None else settings.directory,
        several=len(names) > 1,
        resume=given.resume,
        force=given.force,
        keep_data=given.keep_data,
    )
    scoring = Scoring(
        evaluations=[_evaluation(engine, name, given) for name in names],
        given=given,
        folders=folders,
        catalog=engine.catalog,
        config=engine.config,
        limit=given.limit,
        system=_system(engine, given),
    )
    try:
        if scoring.system is not None:
            scoring.system.check()
        return score_datasets(scoring)
    finally:
        if scoring.system is not None:
            scoring.system.close()


def _check(given: argparse.Namespace) -> None:  # one rule a line
    """Refuse options that do not go together."""
    config, data = given.config, given.data
    msg = ""
    if config is not None and config.suffix.lower() not in {".yaml", ".yml", ""}:
        msg = f"{config} is not a config file (.yaml); to score a data file: --data {config} -m ndcg@10"
    elif (config is None) == (data is None):
        msg = "give either a config file or --data FILE; `rankgauge run --help` lists all options"
    elif data is not None and given.dataset:
        msg = "--dataset names a dataset of a config file; leave it out with --data"
    elif given.outputs is not None and given.sut is not None:
        msg = "give either --outputs or --sut"
    elif given.sut is not None and given.workers > 1:
        msg = _NO_WORKERS
    elif given.stages and (given.sut is not None or given.stage):
        msg = _NO_STAGES
    elif given.retry_failed and given.resume is None:
        msg = "--retry-failed goes with --resume FOLDER"
    if msg:
        raise ParameterError(msg)


def _of_calls(given: argparse.Namespace) -> list[str]:
    """Return the options that were typed and have no effect without a system under test."""
    typed = {
        "--retries": bool(given.retries),
        "--resume": given.resume is not None,
        "--timeout": given.timeout is not None,
        "--concurrency": given.concurrency is not None,
        "--repeat": given.repeat is not None,
        "--until": given.until is not None,
        "--seed": given.seed is not None,
    }
    return [name for name, is_typed in typed.items() if is_typed]


def _evaluation(engine: Engine, name: str | Path, given: argparse.Namespace) -> Evaluation:
    """Return the evaluation of one dataset, with what was typed in place of what the config says."""
    from rankgauge.cli.conventions import described
    from rankgauge.cli.dataset_scores import overridden
    from rankgauge.planning.requests import by_column

    evaluation = engine.dataset(name)
    sets = [] if engine.config is None else engine.config.config.metrics.sets
    typed = by_column(given.metric or (), [*evaluation.metrics, *engine.metrics(list(sets))])
    if given.metric_set:
        evaluation = evaluation.with_metrics([*engine.metrics(given.metric_set), *typed])
    elif typed:
        evaluation = evaluation.with_metrics(typed)
    declared = {} if engine.config is None else engine.config.policy_options()
    evaluation = described(overridden(evaluation, given, declared), given)
    if not evaluation.metrics and engine.config is not None:
        from rankgauge.errors import ConfigError, Problem

        file, line = engine.config.place("metrics")
        problem = Problem("it names no metric; list some in metrics.use, or give -m ndcg@10", file, line)
        raise ConfigError(f"{engine.config.path} cannot be used:", [problem])
    evaluation = evaluation if given.outputs is None else evaluation.with_outputs(given.outputs)
    if not given.stages:
        return evaluation.with_stages(given.stage) if given.stage else evaluation
    from rankgauge.engine.funneling import told_stages

    return evaluation.with_stages(told_stages(evaluation))


def _system(engine: Engine, given: argparse.Namespace) -> System | None:
    """Return the system under test that was named, or that of the config, unless outputs were typed."""
    from rankgauge.cli.system_under_test import System, imported

    of_config = engine.config is not None and engine.config.config.system is not None and given.outputs is None
    if given.sut is None and not of_config:
        if idle := _of_calls(given):
            raise ParameterError(f"{idle[0]} is for calls of a system under test; name it with --sut, or in a config")
        return None
    if given.workers > 1 or given.stages:
        raise ParameterError(_NO_STAGES if given.stages else _NO_WORKERS)
    return System(
        function=engine.system() if given.sut is None else imported(given.sut, "--sut"),
        concurrency=8 if given.concurrency is None else given.concurrency,
        timeout=given.timeout,
        retries=given.retries,
        retry_failed=given.retry_failed,
        repeat=1 if given.repeat is None else given.repeat,
        seed=given.seed or 0,
    )


RUN = Command("[OPTIONS] [CONFIG]", _ABOUT, _add_options, _run)


_ABOUT_RESCORING = """\
Metrics, profile, policy and cutoff are those of the folder unless others are given; matchers and named columns of
--config replace those of the folder. Data and outputs are read from where the folder's manifest says, and refused if
they have changed. Exit codes: as `run`.
"""


def _add_rescore_options(parser: argparse.ArgumentParser) -> None:
    folder = "A result folder, or a folder of several. [default: the working directory]"
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".", type=path, help=folder)
    add_config_option(parser)
    add_score_options(parser)


def _rescore(given: argparse.Namespace) -> int:
    from rankgauge.cli.conventions import make_catalog
    from rankgauge.cli.dataset_scores import Scoring, score_datasets
    from rankgauge.cli.result_folders import Folders
    from rankgauge.engine.result import Result

    inner = sorted(manifest.parent for manifest in given.folder.glob("*/manifest.json"))
    is_one = (given.folder / "manifest.json").exists() or not inner
    results = [Result.load(folder) for folder in ([given.folder] if is_one else inner)]
    catalog = make_catalog()
    limits = {result.manifest.get("dataset", {}).get("limit") for result in results}
    return score_datasets(
        Scoring(
            evaluations=[_evaluation_of(result, given, catalog) for result in results],
            given=given,
            folders=Folders(output=given.output, several=not is_one, force=given.force, keep_data=given.keep_data),
            catalog=catalog,
            limit=limits.pop() if len(limits) == 1 else None,
        )
    )


def _evaluation_of(result: Result, given: argparse.Namespace, catalog: Catalog) -> Evaluation:
    from rankgauge.cli.dataset_scores import overridden
    from rankgauge.engine.reopen import evaluation_of, is_of_run

    if is_of_run(result):
        import shlex

        files = result.manifest["files"]
        command = shlex.join(["rankgauge", "trec", files["qrels"] or "QRELS", files["run"] or "RUN", "-m", "METRIC"])
        msg = f"{result.folder} has the scores of a run; compute other metrics from its files: {command}"
        raise ParameterError(msg)
    from rankgauge.engine.evaluation import Evaluation

    evaluation = Evaluation.of(evaluation_of(result, catalog=catalog))
    if (result.manifest.get("until") or {}).get("saved"):  # what was not called is not missing
        evaluation = evaluation.with_profile(queries="intersection")
    declared: Sequence[MetricSpec] = ()
    if given.config is not None:
        from dataclasses import replace

        from rankgauge.config import load_config
        from rankgauge.engine.configured import configured, metrics_of_sets

        later = configured(load_config(given.config), evaluation.catalog())
        evaluation = replace(evaluation, catalog=lambda: later.catalog)
        sets = metrics_of_sets(later.loaded.config.metrics.sets, later.catalog, later.loaded)
        declared = [*later.metrics, *sets]
    if given.metric:
        from rankgauge.planning.requests import by_column

        evaluation = evaluation.with_metrics(by_column(given.metric, [*evaluation.metrics, *declared]))
    return overridden(evaluation, given, _changed_options(evaluation))


def _changed_options(evaluation: Evaluation) -> dict[str, Any]:
    """Return the policy options that differ from the profile's: another profile leaves them as they are."""
    from dataclasses import asdict

    usual = asdict(evaluation.catalog().profile(evaluation.profile.name).policy)
    options = asdict(evaluation.profile.policy)
    return {name: value for name, value in options.items() if value != usual[name]}


RESCORE = Command("[OPTIONS] [FOLDER]", _ABOUT_RESCORING, _add_rescore_options, _rescore)
