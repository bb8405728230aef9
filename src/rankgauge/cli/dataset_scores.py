"""
Scores of datasets: what `run` and `rescore` share, from evaluations to what is printed, saved and judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog, Claim
from rankgauge.cli.command_gates import AskedGates, PlannedGates
from rankgauge.cli.console import (
    complain,
    is_debugging,
    print_report,
    progress_bar,
    remark,
    report_width,
    rule,
    show,
    tell_broken,
)
from rankgauge.cli.conventions import clusters_typed, policy_options, weights_typed
from rankgauge.cli.gate_reports import JudgedGates
from rankgauge.cli.own_process import INTERRUPTED
from rankgauge.cli.result_folders import Folders, check_html, plain_name
from rankgauge.cli.system_under_test import Interrupts, System
from rankgauge.engine.evaluation import Evaluation
from rankgauge.errors import (
    MetricFailedError,
    NothingToEvaluateError,
    ParameterError,
    RankgaugeError,
    RunInterrupted,
    did_you_mean,
)
from rankgauge.extensions import extension
from rankgauge.planning.plan import Plan
from rankgauge.plugin.declarations import Reporter
from rankgauge.report.dataset_means import datasets_lines, datasets_markdown, with_datasets
from rankgauge.result import Result
from rankgauge.result.label_doubts import LABEL_DOUBTS
from rankgauge.result.over_datasets import over_datasets

if TYPE_CHECKING:
    from rankgauge.config import LoadedConfig


_SUMMARIES = {"table", "json", "markdown"}
"""The formats that do not list samples one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """
    What is scored, and how.

    Attributes:
        evaluations: One for each dataset.

        given: What was typed for `run` or `rescore`.

        folders: Where results are saved.

        catalog: What is installed.

        config: The config of a run.

        limit: How many samples of each dataset are scored; None for all.

        system: What is called for outputs.
    """

    evaluations: Sequence[Evaluation]
    given: argparse.Namespace
    folders: Folders
    catalog: Catalog
    config: LoadedConfig | None = None
    limit: int | None = None
    system: System | None = None

    @property
    def names(self) -> list[str]:
        """Return what the datasets are called."""
        return list(map(name_of, self.evaluations))

    @property
    def cluster(self) -> str | None:
        """Return what says which samples are not independent: an option, or the config."""
        declared = None if self.config is None else self.config.config.cluster
        return self.given.cluster if self.given.cluster is not None else declared

    def wants(self, setting: str) -> bool:
        """Return whether something was asked for, by an option or in the config's `output`."""
        declared = self.config is not None and getattr(self.config.config.output, setting)
        return getattr(self.given, setting) or bool(declared)


@dataclass(slots=True)
class _Done:
    """What has been done whenever scoring ends: results, gates, why there are no outputs, and what is not saved yet."""

    gates: JudgedGates
    results: dict[str, Result] = field(default_factory=dict)
    without_outputs: list[str] = field(default_factory=list)
    unscored: str = ""


def name_of(evaluation: Evaluation) -> str:
    """Return what the dataset of an evaluation is called."""
    return evaluation.data.name or "data"


def overridden(evaluation: Evaluation, given: argparse.Namespace, declared: dict[str, Any]) -> Evaluation:
    """Return an evaluation with what was typed; under another profile the policy options that are *declared* stay."""
    policy = policy_options(given.policy, max_failed=given.max_failed, interval=given.interval)
    if given.profile is not None:
        policy = {**declared, **policy}
    evaluation = evaluation.with_profile(given.profile, **policy)
    if given.k is not None:
        evaluation = evaluation.with_defaults(k=given.k, source="--k")
    is_plain = not (given.cohort or given.groups)
    return evaluation if is_plain else evaluation.with_cohorts(given.cohort or (), groups=given.groups)


def score_datasets(work: Scoring) -> int:
    """Plan, score, save and print evaluations, judge gates, and return the exit code."""
    given = work.given
    if given.history is not None and not work.folders.saves:
        raise ParameterError("--history names folders of results, so save them: -o FOLDER")
    _tell_idle(given, work.folders)
    reporter = None if given.form == "table" else work.catalog.reporter(given.form)
    asked = AskedGates.of(given, work.config)
    pages = _pages(given.html, work.names)
    widened = {name_of(evaluation): asked.widened(evaluation, name_of(evaluation)) for evaluation in work.evaluations}
    evaluations = [evaluation for evaluation, _ in widened.values()]
    if given.weights is not None:
        typed = weights_typed(given.weights)
        evaluations = [evaluation.with_weights(typed) for evaluation in evaluations]
    datasets = work.names if work.config is None else [*work.config.config.datasets, *work.names]
    gates = asked.planned({name: of for name, (_, of) in widened.items()}, datasets)
    clusters = _clusters(work)
    worst = [_worst_column(evaluation.plan(), given.worst_by, given.worst) for evaluation in evaluations]
    hashed = None
    if given.keep_hashes is not None:
        hashed = extension("hashes of gold documents")(given.keep_hashes, evaluations, work.catalog)

    done = _Done(gates.unjudged())
    interrupts = Interrupts()
    with interrupts.handled(), work.folders.staged(work.names):
        try:
            planned = list(zip(evaluations, worst, clusters, strict=True))
            _score(work, planned, gates, interrupts, done, hashed)
            done.gates = gates.judge(done.results)
        except KeyboardInterrupt:
            if not done.results:
                complain("interrupted; nothing was scored")
                return INTERRUPTED
        finally:
            try:
                if done.gates.are_numbers_shown:
                    _print_results(work, done.results, reporter, done.gates)
            finally:
                work.folders.tell()

    done.gates.tell("table" if reporter is None else given.form)
    if not done.unscored:
        done.gates.save(done.results)
        done.gates.remember(work.folders.saved, done.results)
    for name, result in done.results.items():
        if name in pages:
            extension("html report")(pages[name], {name: result}, gates=done.gates.report)
    return _explained(done) or done.gates.exit_code


def _score(
    work: Scoring,
    planned: Sequence[tuple[Evaluation, str | None, Mapping[str, object] | None]],
    gates: PlannedGates,
    interrupts: Interrupts,
    done: _Done,
    hashed: Callable[[Evaluation, Result], Result] | None,
) -> None:
    """Score and save one dataset after the other, until all are done or one is interrupted."""
    given, system = work.given, work.system
    arguments: dict[str, Any] = {
        "limit": work.limit,
        "details": work.wants("details"),
        "near_misses": given.near_misses,
        "sketch_ids": gates.asked.wants_ids,
        "workers": given.workers,
    }
    if system is not None:
        system.prepare([evaluation for evaluation, *_ in planned], work.folders)
    for evaluation, column, clusters in planned:
        name = done.unscored = name_of(evaluation)
        with interrupts.stopping(calls=system is not None) as stop:
            calls = {} if system is None else system.arguments(evaluation, work.folders, stop, gates.until(name))
            result = _scored(evaluation, {**arguments, **calls}, done, is_shown=given.progress)
            if clusters is not None:
                from rankgauge.comparison.clusters import clustered  # most samples are independent

                result = clustered(result, clusters, work.cluster)
            if hashed is not None:
                result = hashed(evaluation, result)
            result = done.results[name] = _with_readings(result, given, column)
            work.folders.save(name, result)  # first: whoever reads stdout may be gone
        done.unscored = ""
        if result.manifest["interrupted"]:
            return


def _scored(evaluation: Evaluation, arguments: dict[str, Any], done: _Done, *, is_shown: bool) -> Result:
    """Return a result; that of what was done if a run is interrupted."""
    with progress_bar(name_of(evaluation), wanted=is_shown) as report:
        try:
            result: Result = evaluation.run(progress=report, **arguments)
        except (RunInterrupted, MetricFailedError) as ended:
            result = ended.result
        except NothingToEvaluateError as ended:
            if ended.result is None:
                raise
            done.without_outputs.append(ended.problems[0].message)
            result = ended.result
    if is_debugging():
        for sample_id, output in result.outputs.items():
            for error in (one.error for one in output.every if one.error is not None and one.error.traceback):
                remark(f"sample {sample_id!r}:\n{error.traceback.rstrip()}")
    return result


def _clusters(work: Scoring) -> list[Mapping[str, object] | None]:
    """Return the cluster of each sample, by dataset; None for independent ones. Data is read before any is scored."""
    if work.cluster is None:
        return [None for _ in work.evaluations]
    from rankgauge.engine.metadata import metadata_of

    cluster = clusters_typed(work.cluster)
    if isinstance(cluster, str):
        return [metadata_of(evaluation, cluster) for evaluation in work.evaluations]
    return [cluster for _ in work.evaluations]


def _worst_column(plan: Plan, wanted: str | None, n: int | None) -> str | None:
    """Return the column of `--worst-by`, None for the first; refuse what is not computed before it is too late."""
    if wanted is None:
        return None
    if n is None:
        raise ParameterError("--worst-by needs --worst N")
    known = {name: column.name for column in plan.metrics for name in (*column.spellings, column.safe_name)}
    known |= {column.name: column.name for column in plan.metrics}
    if wanted not in known:
        names = ", ".join(column.name for column in plan.metrics)
        raise ParameterError(f"--worst-by: no metric {wanted!r}{did_you_mean(wanted, known)}; computed are {names}")
    return known[wanted]


def _with_readings(result: Result, given: argparse.Namespace, column: str | None) -> Result:
    """Return a result with worst samples and texts, for which data is read again; as it is if that fails."""
    try:
        result = result if given.worst is None else result.with_worst(column, given.worst)
        result = result.with_texts() if given.with_text else result
    except RankgaugeError as error:
        remark(f"the worst samples or texts cannot be shown: {error}")
    return _with_label_doubts(result) if given.label_doubts else result


def _with_label_doubts(result: Result) -> Result:
    """Return a result with what its rankings say about labels."""
    from rankgauge.engine.doubting import label_doubts  # compares texts, which scores by id do without

    doubts = label_doubts([result])
    if doubts is None:
        remark("--label-doubts: nothing was retrieved, or the data cannot be read again")
        return result
    return result.with_manifest({LABEL_DOUBTS: doubts.to_dict()})


def _pages(path: Path | None, names: Sequence[str]) -> dict[str, Path]:
    """Return where the HTML report of each dataset goes; refuse what cannot be written, before anything is scored."""
    if path is None:
        return {}
    if not path.name:  # . or /
        check_html(path)
    pages = {name: path.with_name(f"{path.stem}-{plain_name(name)}{path.suffix}") for name in names}
    if len(names) == 1:
        pages = {names[0]: path}
    for page in pages.values():
        check_html(page)
    return pages


def _print_results(
    work: Scoring, results: Mapping[str, Result], reporter: Claim[Reporter] | None, gates: JudgedGates
) -> None:
    """Print tables, or what a reporter makes of results, with the gates; JSON of several datasets is one list."""
    is_whole_run = not any(result.settings.get("interrupted") for result in results.values())
    is_one_dataset = any(evaluation.data.system for evaluation in work.evaluations)  # of several systems
    has_means = is_whole_run and not is_one_dataset and len(results) == len(work.evaluations) > 1
    means = over_datasets(results) if has_means else {}
    if reporter is None:
        from rankgauge.report.terminal import result_lines

        bands, is_whole = work.wants("bands"), work.given.all_columns
        for result in results.values():
            show(result_lines(result, width=report_width(), bands=bands, rule=rule(), is_whole=is_whole))
        if means:
            show(datasets_lines(means, width=report_width(), rule=rule()))
    elif results:
        from rankgauge.report import rendered

        form = reporter.declaration.name
        reports = {name: rendered(reporter, result) for name, result in results.items()}
        texts = list(gates.added(reports, form).values())
        if means and form == "json":
            texts = [with_datasets(text, means) for text in texts]
        elif means and form == "markdown":
            texts.append(datasets_markdown(means))
        if form == "json" and len(work.evaluations) > 1:
            texts = [f"[{','.join(text.strip() for text in texts)}]\n"]
        print_report(form, texts)


def _explained(done: _Done) -> int:
    """Say what is missing, and return 3 if something is."""
    if done.unscored:
        complain(f"interrupted: {done.unscored} was not scored or not saved")
    for result in done.results.values():
        if why := result.incomplete_because:
            complain(why if result.manifest["interrupted"] else f"{why} (change it with --max-failed)")
    for problem in done.without_outputs:
        complain(problem)
    is_incomplete = any(result.is_incomplete for result in done.results.values())
    return tell_broken(done.results) or (3 if is_incomplete or done.unscored or done.without_outputs else 0)


def _tell_idle(given: argparse.Namespace, folders: Folders) -> None:
    """Tell of options whose effect is in a result folder, if none is written, or in another format."""
    if folders.saves:
        return
    if given.keep_hashes is not None and given.save_baseline is None and given.baseline is None:
        remark("--keep-hashes shows in a result folder (--output) or a baseline; here it has no effect")
    for name in ("details", "near_misses", "with_text"):
        if getattr(given, name) and given.form in _SUMMARIES:
            option = f"--{name.replace('_', '-')}"
            remark(f"{option} shows in a result folder (--output) or with --format jsonl; here it has no effect")
    for option, is_given in (("--worst", given.worst is not None), ("--label-doubts", given.label_doubts)):
        if is_given and given.form == "jsonl":
            remark(f"{option} shows in a result folder (--output) or with other formats; here it has no effect")
