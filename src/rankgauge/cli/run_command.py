"""
``rankgauge run`` and ``rankgauge rescore``: the scores of datasets, now or from what an earlier run kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.cli.conventions import described, make_catalog, make_engine
from rankgauge.cli.dataset_scores import Scoring, overridden, score_datasets
from rankgauge.cli.result_folders import Folders, folders_within
from rankgauge.cli.scoring_options import CALLS, OF_CONFIGS
from rankgauge.cli.shared_options import refuse, take_outputs, typed
from rankgauge.cli.system_under_test import System, imported
from rankgauge.cli.typed_metrics import typed_metrics
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import ConfigError, NothingToEvaluateError, ParameterError, Problem
from rankgauge.extensions import extension
from rankgauge.planning.requests import MetricSpec, by_column
from rankgauge.result import Result

_NO_WORKERS = "--workers divides a dataset that has its outputs; calls of a system are made at once with --concurrency"
_NO_STAGES = "--stages looks stages up in outputs that are there; name them instead: --stage dense --stage rerank"

_WHICH = "give either a config file or --data FILE"


def execute_run(given: argparse.Namespace) -> int:
    """Evaluate a config or a data file."""
    if given.config is not None and given.config.suffix.lower() not in OF_CONFIGS:
        if given.data is not None:
            raise ParameterError(f"two data files are given: {given.config} and --data {given.data}; {_WHICH}")
        given.config, given.data = None, given.config
    take_outputs(given)
    _check(given)
    engine = make_engine(given.config)
    names = [given.data] if given.data is not None else given.dataset or engine.dataset_names
    if not names:
        raise NothingToEvaluateError(f"{given.config} declares no dataset; there is nothing to evaluate", [])
    evaluations, system = [each for name in names for each in _evaluations(engine, name, given)], _system(engine, given)
    settings = None if engine.config is None else engine.config.config.output
    folders = Folders(
        output=given.output,
        directory=None if settings is None else settings.directory,
        several=len(evaluations) > 1,
        resume=given.resume,
        force=given.force,
        keep_data=given.keep_data,
    )
    work = Scoring(
        evaluations=evaluations,
        given=given,
        folders=folders,
        catalog=engine.catalog,
        config=engine.config,
        limit=given.limit,
        system=system,
    )
    with nullcontext() if system is None else system.opened():
        return score_datasets(work)


def _check(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    config, data, calls = given.config, given.data, given.sut is not None
    refuse(
        ((config is None) == (data is None), f"{_WHICH}; `rankgauge run --help` lists all options"),
        (data is not None and given.dataset, "--dataset names a dataset of a config file; leave it out with --data"),
        (calls and given.outputs is not None, "give either --outputs or --sut"),
        (calls and given.workers > 1, _NO_WORKERS),
        (given.stages and (calls or given.stage), _NO_STAGES),
        (given.retry_failed and given.resume is None, "--retry-failed goes with --resume FOLDER"),
    )


def _evaluations(engine: Engine, name: str | Path, given: argparse.Namespace) -> list[Evaluation]:
    """Return the evaluation of one dataset, or of a data file with records of several systems one for each."""
    evaluation = _evaluation(engine, name, given)
    takes_one = given.data is None or given.sut is not None or given.system is not None
    return [evaluation] if takes_one else list(evaluation.by_system().values()) or [evaluation]


def _evaluation(engine: Engine, name: str | Path, given: argparse.Namespace) -> Evaluation:
    """Return the evaluation of one dataset, with what was typed in place of what the config says."""
    evaluation = engine.dataset(name)
    sets = [] if engine.config is None else engine.config.config.metrics.sets
    named = by_column(typed_metrics(given.metric or ()), [*evaluation.metrics, *engine.metrics(list(sets))])
    if given.metric_set:
        evaluation = evaluation.with_metrics([*engine.metrics(given.metric_set), *named])
    elif named:
        evaluation = evaluation.with_metrics(named)
    declared = {} if engine.config is None else engine.config.policy_options()
    if (excluded := evaluation.profile.policy.excluded) is not None:
        declared["excluded"] = excluded  # which may be the dataset's own
    evaluation = described(overridden(evaluation, given, declared), given)
    if not evaluation.metrics and engine.config is not None:
        file, line = engine.config.place("metrics")
        problem = Problem("it names no metric; list some in metrics.use, or give -m ndcg@10", file, line)
        raise ConfigError(f"{engine.config.path} cannot be used:", [problem])
    evaluation = evaluation if given.outputs is None else evaluation.with_outputs(given.outputs)
    if not given.stages:
        return evaluation.with_stages(given.stage) if given.stage else evaluation
    return evaluation.with_stages(extension("stages of outputs")(evaluation))


def _system(engine: Engine, given: argparse.Namespace) -> System | None:
    """Return the system under test that was named, or that of the config, unless outputs were typed."""
    of_config = engine.config is not None and engine.config.config.system is not None and given.outputs is None
    if given.sut is None and not of_config:
        if idle := typed(given, CALLS):
            raise ParameterError(f"{idle[0]} is for calls of a system under test; name it with --sut, or in a config")
        return None
    if given.workers > 1 or given.stages:
        raise ParameterError(_NO_STAGES if given.stages else _NO_WORKERS)
    return System(engine.system() if given.sut is None else imported(given.sut, "--sut"), given)


def execute_rescore(given: argparse.Namespace) -> int:
    """Score the outputs of a result folder again."""
    inner = folders_within(given.folder)
    results = list(map(Result.load, inner))
    catalog = make_catalog()
    limits = {result.manifest.get("dataset", {}).get("limit") for result in results}
    return score_datasets(
        Scoring(
            evaluations=[_evaluation_of(result, given, catalog) for result in results],
            given=given,
            folders=Folders(
                output=given.output, several=inner != [given.folder], force=given.force, keep_data=given.keep_data
            ),
            catalog=catalog,
            limit=limits.pop() if len(limits) == 1 else None,
        )
    )


def _evaluation_of(result: Result, given: argparse.Namespace, catalog: Catalog) -> Evaluation:
    from rankgauge.engine.reopen import is_of_run

    if is_of_run(result):
        import shlex

        files = result.manifest["files"]
        command = shlex.join(["rankgauge", "trec", files["qrels"] or "QRELS", files["run"] or "RUN", "-m", "METRIC"])
        raise ParameterError(
            f"{result.folder} has the scores of a run; compute other metrics from its files: {command}"
        )
    evaluation = Evaluation.of_result(result, catalog=catalog)
    if (result.manifest.get("until") or {}).get("saved"):  # what was not called is not missing
        evaluation = evaluation.with_profile(queries="intersection")
    declared: Sequence[MetricSpec] = ()
    if given.config is not None:
        from rankgauge.config import load_config
        from rankgauge.engine.configured import configured, metrics_of_sets

        later = configured(load_config(given.config), evaluation.catalog())
        evaluation = replace(evaluation, catalog=lambda: later.catalog)
        sets = metrics_of_sets(later.loaded.config.metrics.sets, later.catalog, later.loaded)
        declared = [*later.metrics, *sets]
    if given.metric:
        evaluation = evaluation.with_metrics(by_column(typed_metrics(given.metric), [*evaluation.metrics, *declared]))
    return overridden(evaluation, given, _changed_options(evaluation))


def _changed_options(evaluation: Evaluation) -> dict[str, Any]:
    """Return the policy options that differ from the profile's: another profile leaves them as they are."""
    usual = evaluation.catalog().profile(evaluation.profile.name).policy
    options = {item.name: getattr(evaluation.profile.policy, item.name) for item in fields(usual)}
    return {name: value for name, value in options.items() if value != getattr(usual, name)}
