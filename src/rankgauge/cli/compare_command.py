"""
`rankgauge compare`: whether one system is better than another, and how sure that is.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Sequence
from typing import Any

from rankgauge.base.plain_text import read_number, visible
from rankgauge.cli.command_gates import AskedGates, PlannedGates
from rankgauge.cli.console import (
    in_steps,
    print_json,
    print_report,
    progress_bar,
    remark,
    report_width,
    show,
    tell_broken,
    tell_notes,
)
from rankgauge.cli.conventions import (
    Conventions,
    clusters_typed,
    described,
    make_catalog,
    make_engine,
    one_dataset,
    policy_options,
    score_columns,
    weighted_by_file,
    weights_typed,
)
from rankgauge.cli.gate_reports import JudgedGates
from rankgauge.cli.result_folders import ScoreOptions, check_html, result_names, stored_results
from rankgauge.cli.result_options import COMPARISON_FORMATS
from rankgauge.cli.shared_options import FIELDS, JUDGING, check_unjudged, refuse, typed
from rankgauge.cli.typed_metrics import typed_metrics
from rankgauge.comparison.differences import Comparison
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.layouts import comparison_csv, comparison_latex, comparison_lines, comparison_markdown
from rankgauge.engine.comparing import compare
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.run_result import grouped
from rankgauge.engine.runs import evaluate_runs
from rankgauge.errors import MetricFailedError, ParameterError
from rankgauge.extensions import extension
from rankgauge.io.query_groups import QueryGroups
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.result import Result

_OF_DATA = {"--profile", "--policy", "--k", "--letters", "--reader"}
"""Options that decide how TREC runs are judged, and outputs of a data file likewise."""

_OR_DATA = " or --data; a config has its own"

_TOP = 10
"""How many results are looked at for unjudged ones if no metric has a cutoff."""


def execute_compare(given: argparse.Namespace) -> int:
    """Print whether one system is better than another."""
    if given.judgments is not None or given.human is not None:
        code: int = extension("judgments of people")(given)
        return code
    _check(given)
    choices = {name: getattr(given, name) for name in ("confidence", "resamples", "seed")}
    catalog = make_catalog() if given.config is None else make_engine(given.config).catalog
    choices |= {"test": _test(given), "interval": given.interval or "standard", "matters": _matters(given)}
    choices["short_lists"] = given.short_lists = _short_lists(given)  # of the gates, too
    Method(**choices).with_test_of(catalog).check()  # before anything is scored
    check_html(given.html)
    groups = None if given.groups is None else QueryGroups.read(given.groups)
    results, planned = _results(given, AskedGates.of_comparison(given))
    results = {name: grouped(result, groups) for name, result in results.items()}
    gates = planned.judge_against_first(results)
    if not gates.are_numbers_shown:
        gates.tell("")
        return gates.exit_code
    with progress_bar("comparing", wanted=True) as progress:
        comparison = compare(
            results,
            metrics=given.metric if _is_stored(given) else None,
            cluster=clusters_typed(given.cluster),
            all_pairs=given.all_pairs,
            condensed=given.condensed,
            bounds=given.bounds,
            common=given.common,
            progress=progress,
            catalog=catalog,
            **choices,
        )
    _print(comparison, given, gates)
    if given.html is not None:
        files = {"texts": given.texts, "queries": given.queries}
        extension("html report")(given.html, results, comparison=comparison, **files, gates=gates.report)
    gates.tell(given.form)
    gates.save({name: results[name] for name in list(results)[1:]})
    return tell_broken(results) or gates.exit_code


def _test(given: argparse.Namespace) -> str:
    """Return the test, as typed or as the config says."""
    loaded = None if given.test or given.config is None else make_engine(given.config).config
    return given.test or (loaded and loaded.config.test) or "sign-flip"


def _short_lists(given: argparse.Namespace) -> str:
    """Return what short lists do to a verdict, as typed or as the config says."""
    loaded = None if given.short_lists or given.config is None else make_engine(given.config).config
    return given.short_lists or (loaded and loaded.config.short_lists) or "open"


def _matters(given: argparse.Namespace) -> float | dict[str, float] | None:
    """Return the difference that matters, for all metrics or by metric, as typed or as the config says."""
    if not given.matters:
        if given.config is None:
            return None
        loaded = make_engine(given.config).config
        return None if loaded is None else dict(loaded.config.matters) or None
    written = [text.rpartition("=") for text in given.matters]
    sizes = [read_number(size.strip().encode()) for _, _, size in written]
    names = [name.strip() for name, _, _ in written]
    if any(map(math.isnan, sizes)) or (len(names) > 1 and not all(names)) or len(set(names)) < len(names):
        raise ParameterError(
            f"--matters is a difference such as 0.02, or ndcg@10=0.02 once a metric, not {given.matters}"
        )
    return dict(zip(names, sizes, strict=True)) if names[0] else sizes[0]


def _is_stored(given: argparse.Namespace) -> bool:
    """Return whether results are compared that are there already."""
    return given.qrels is None and given.data is None and given.config is None


def _check(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    of_runs, of_data, stored = given.qrels is not None, given.data is not None, _is_stored(given)
    pages, only = given.html is not None, visible(given.runs[0])
    taken = _OF_DATA if of_data else {"--columns"} if stored else ()
    idle = "" if of_runs else next((name for name in typed(given, JUDGING) if name not in taken), "")
    unread = "" if of_data else next(iter(typed(given, FIELDS)), "")
    refuse(
        (len(given.runs) < 2 and of_runs, f"comparing takes two or more systems, and only {only} is given"),
        (
            of_runs + of_data + (given.config is not None) > 1,
            "give one of --qrels, for TREC runs, --data, for outputs of samples, and --config, for those of a dataset",
        ),
        (of_runs and not given.metric, "name the metrics to compare runs by, such as -m ndcg@10 -m AP"),
        (of_data and not given.metric, "name the metrics to compare outputs by, such as -m recall@5 -m ndcg@10"),
        (of_runs and given.dataset is not None, "--dataset is for results and configs; judgments are one dataset"),
        (of_data and given.dataset is not None, "--dataset is for results and configs; leave it out with --data"),
        (given.better and not stored, "--better is for scores of other tools, and rankgauge knows its metrics"),
        (
            stored and given.weights is not None,
            "--weights is for what is scored now; results have the weights that they were saved with",
        ),
        (idle, f"{idle} decides how TREC runs are judged, and needs --qrels{_OR_DATA if idle in _OF_DATA else ''}"),
        (unread, f"{unread} says how --data is written, and needs it"),
        (not pages and (given.texts or given.queries), "--texts and --queries are for the HTML report: --html FILE"),
        (pages and given.all_pairs, "the HTML report compares with the first run; leave out --all-pairs or --html"),
    )
    check_unjudged(given, [form for form in COMPARISON_FORMATS if form != "latex"])


def _results(given: argparse.Namespace, asked: AskedGates) -> tuple[dict[str, Result], PlannedGates]:
    """Return what is compared by name, results that were saved or are scored now, and the gates on them."""
    if given.qrels is not None:
        return _of_runs(given, asked)
    if not _is_stored(given):
        return _of_outputs(given, asked)
    hint = (
        "to compare TREC runs, give their judgments with --qrels; to compare outputs of a system, the samples with "
        "--data, and metrics with -m"
    )
    scores = ScoreOptions(columns=score_columns(given.columns), better=_better(given))
    results = stored_results(given.runs, given.dataset, of_runs=hint, scores=scores)
    _check_several(results)
    return results, asked.of_results()


def _better(given: argparse.Namespace) -> dict[str, Any]:
    """Return in which direction measures are better that rankgauge does not know, as typed."""
    pairs = [text.rpartition("=") for text in given.better or ()]
    if any(not equals or not name.strip() for name, equals, _ in pairs):
        raise ParameterError(f"--better is MEASURE=higher or MEASURE=lower, not {' '.join(given.better)!r}")
    return {name.strip(): way.strip() for name, _, way in pairs}


def _of_runs(given: argparse.Namespace, asked: AskedGates) -> tuple[dict[str, Result], PlannedGates]:
    """Evaluate TREC runs by the metrics that were typed and those that gates name."""
    conventions = Conventions.of(given, interval=given.interval)
    named = conventions.specs(given.metric)
    names = result_names(given.runs)
    gates, specs = asked.of_runs(names[1:], named, lambda specs: conventions.plan(specs).metrics)
    plan = conventions.plan(specs)
    if not given.judged_only:  # how much of what is compared is unjudged
        plan = conventions.plan([*specs, *_unjudged_shares(plan.metrics)])
    judgments = conventions.judgments(given.qrels, plan)
    runs = {run: run for run in given.runs}
    results = evaluate_runs(plan, judgments, runs, columns=conventions.columns, sketch_ids=True)
    tell_notes(results)
    results = weighted_by_file(results, given.weights)
    return {name: results[run] for name, run in zip(names, given.runs, strict=True)}, gates


def _unjudged_shares(metrics: Sequence[PlannedMetric]) -> list[dict[str, Any]]:
    """Return the metrics that say how much of what some metrics look at is unjudged: by their units and cutoffs."""
    tops = {(metric.unit, metric.cut.k) for metric in metrics if metric.cut.k is not None}
    tops = tops or {(metric.unit, _TOP) for metric in metrics}
    return [
        {"metric": f"unjudged@{k}", "of": "retrieved", **({} if unit is None else {"unit": unit})}
        for unit, k in sorted(tops, key=lambda top: (top[0] or "", top[1]))
    ]


def _of_outputs(given: argparse.Namespace, asked: AskedGates) -> tuple[dict[str, Result], PlannedGates]:
    """Score several outputs files of one data file, or dataset of a config, also by the metrics that gates name."""
    engine = make_engine(given.config)
    if given.data is None:
        evaluation = engine.dataset(one_dataset(given.config, given.dataset, engine.dataset_names))
    else:
        evaluation = described(engine.dataset(given.data), given)
        evaluation = evaluation.with_profile(given.profile, **policy_options(given.policy))
        if given.k is not None:
            evaluation = evaluation.with_defaults(k=given.k, source="--k")
    if given.metric:
        evaluation = evaluation.with_metrics(typed_metrics(given.metric))
    if given.weights is not None:
        evaluation = evaluation.with_weights(weights_typed(given.weights))
    evaluation.plan()
    systems = _systems(evaluation, given.runs)
    _check_several(systems)
    gates, evaluation = asked.of_outputs(list(systems)[1:], evaluation)
    data = evaluation.data
    results = {}
    for name, (file, system) in in_steps("scoring", list(systems.items())):
        one = evaluation.with_outputs(file)
        one = one.with_preset(data.preset, separator=data.separator, system=system) if system else one
        results[name] = _scored(one)
    return results, gates


def _systems(evaluation: Evaluation, files: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the file of each system by name, with what the system is called there if the file says it."""
    found: dict[str, tuple[str, str]] = {}
    for name, file in zip(result_names(files), files, strict=True):
        of_file = evaluation.with_outputs(file)
        systems = [evaluation.data.system] if evaluation.data.system else list(of_file.by_system())
        for system in systems or [""]:
            own = name if len(systems) < 2 else system
            found[own if own not in found else f"{name}: {system}"] = (file, system)
    return found


def _check_several(systems: Collection[str]) -> None:
    if len(systems) < 2:
        raise ParameterError(f"comparing takes two or more systems, and only {visible(next(iter(systems)))} is given")


def _scored(evaluation: Evaluation) -> Result:
    try:
        return evaluation.run(sketch_ids=True)
    except MetricFailedError as error:  # the other metrics are compared
        result: Result = error.result
        return result


def _print(comparison: Comparison, given: argparse.Namespace, gates: JudgedGates) -> None:
    form = given.form
    if form == "json":
        print_json(comparison.to_dict() | gates.entry())
        return
    if form == "table":
        width = report_width()
        is_whole = given.all_columns or width is None
        if not is_whole and comparison.label_doubts is not None:
            for line in comparison.label_doubts.of_signs():
                remark(visible(line))
        show(comparison_lines(comparison, width=width, is_whole=is_whole))
        return
    lay_out = {"markdown": comparison_markdown, "csv": comparison_csv, "latex": comparison_latex}
    print_report(form, [lay_out[form](comparison)])
