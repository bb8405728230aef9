"""
`rankgauge compare`: whether one system is better than another, and how sure that is.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import read_number, visible
from rankgauge.cli.command_line import Command
from rankgauge.cli.compare_human_judged import compare_human_judged, is_human_judged
from rankgauge.cli.console import in_steps, print_json, print_report, progress_bar, report_width, show, tell_notes
from rankgauge.cli.shared_options import (
    add_all_columns_option,
    add_cluster_option,
    add_gate_options,
    add_html_options,
    add_interval_option,
    add_judging_options,
    add_report_options,
    add_unjudged_options,
    check_unjudged,
    judging_typed,
    path,
    share,
)
from rankgauge.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.cli.command_gates import Gating
    from rankgauge.comparison.differences import Comparison
    from rankgauge.result import ResultValues

__all__ = ["COMPARE"]

_ABOUT = """\
BASE and NEW are result folders, or baseline files of --save-baseline. With --qrels they are TREC runs, with the options
of rankgauge trec; with --config they are outputs files of one dataset. With --judgments and --human they are TREC runs
that a model judged, and people in part: what people say corrects the model, and its errors stay in the interval.

Of each metric it prints the mean difference with its interval, p values corrected for the number of metrics and runs,
wins and losses, the smallest difference that this many samples detect, and the samples that changed most.

Exit codes: 0 done, 1 a gate failed, 2 usage, unreadable input or results that do not compare, 4 nothing to evaluate,
5 internal error.
"""

_USAGE = """\
[OPTIONS] BASE NEW [MORE ...]
--qrels QRELS -m METRIC [OPTIONS] BASE NEW [MORE ...]
--config CONFIG [OPTIONS] BASE NEW [MORE ...]
--judgments QRELS --human QRELS -m METRIC [OPTIONS] RUN [MORE ...]"""

_FORMATS = ("table", "json", "markdown", "csv", "latex")
_RUNS_HINT = "to compare TREC runs, give their judgments with --qrels"

_TOP = 10
"""How many results are looked at for unjudged ones where no metric has a cutoff."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="BASE NEW", nargs="+", help="What to compare; the first is the baseline.")
    group = parser.add_argument_group("what is compared")
    add = group.add_argument
    metric = "A metric to compare. Repeatable. [default: all means that both have]"
    add("-m", "--metric", action="append", metavar="METRIC", help=metric)
    add("--qrels", metavar="QRELS", help="Judgments: BASE and NEW are TREC runs.")
    add("--judgments", metavar="QRELS", help="Judgments of a model, which --human corrects: of all questions.")
    add("--human", metavar="QRELS", help="Judgments of people, of questions drawn at random from those.")
    add("--config", type=path, metavar="CONFIG", help="A config: BASE and NEW are outputs files of its dataset.")
    add("--dataset", metavar="NAME", help="Which dataset, where there are several.")
    add("--all-pairs", action="store_true", help="Compare each with each, not only with BASE.")
    add_cluster_option(group)
    common = "all; or unchanged: samples whose ground truth is the same. [default: %(default)s]"
    add("--common", default="all", choices=("all", "unchanged"), metavar="SAMPLES", help=common)
    add_unjudged_options(group, "not latex")

    tests = parser.add_argument_group("intervals and tests")
    add = tests.add_argument
    add_interval_option(tests)
    matters = (
        "The smallest difference that matters, for all metrics or for one: 0.02, ndcg@10=0.02. Repeatable. A true "
    )
    matters += "difference shown to be smaller makes two systems equivalent. [default: none, or those of --config]"
    add("--matters", action="append", metavar="SIZE", help=matters)
    test = "sign-flip, t, wilcoxon or bootstrap-bca. [default: %(default)s]"
    add("--test", default="sign-flip", metavar="NAME", help=test)
    confidence = "Confidence level of intervals and tests. [default: %(default)s]"
    add("--confidence", type=share, default=0.95, metavar="SHARE", help=confidence)
    resamples = "Random sign flips to try. [default: %(default)s]"
    add("--resamples", type=int, default=100_000, metavar="N", help=resamples)
    add("--seed", type=int, default=0, metavar="N", help="Random seed. [default: %(default)s]")

    group = parser.add_argument_group("what is printed and written")
    add = group.add_argument
    form = "How to print: table, json, markdown, csv or latex (booktabs). [default: %(default)s]"
    add("-f", "--format", dest="form", default="table", choices=_FORMATS, metavar="FORMAT", help=form)
    add("--json", dest="form", action="store_const", const="json", help="Same as --format json.")
    add_all_columns_option(group)
    add_html_options(group)
    add_report_options(group)
    add_gate_options(parser, more="Every other system is judged against BASE.", has_baseline=False)
    add_judging_options(parser)


def _compare(given: argparse.Namespace) -> int:
    if is_human_judged(given):
        return compare_human_judged(given)
    _check(given)
    from rankgauge.cli.command_gates import Gating
    from rankgauge.cli.gate_options import GateOptions
    from rankgauge.cli.report_command import check_html, write_html
    from rankgauge.comparison.estimate import Method

    choices = {name: getattr(given, name) for name in ("test", "confidence", "resamples", "seed")}
    choices |= {"interval": given.interval or "standard", "matters": _matters(given)}
    Method(**choices).check()  # before anything is scored
    check_html(given.html)
    gating = Gating.of_comparison(GateOptions.of(given), common=given.common)
    results = _results(given, gating)
    if not gating.judge_against_first(results):
        gating.tell("")
        return gating.exit_code
    from rankgauge.cli.conventions import clusters_typed
    from rankgauge.engine.comparing import compare

    cluster = clusters_typed(given.cluster)
    with progress_bar("comparing", wanted=True) as progress:
        comparison = compare(
            results,
            metrics=given.metric if given.qrels is None and given.config is None else None,
            cluster=cluster,
            all_pairs=given.all_pairs,
            condensed=given.condensed,
            bounds=given.bounds,
            common=given.common,
            progress=progress,
            **choices,
        )
    _print(comparison, given, gating)
    if given.html is not None:
        files = {"texts": given.texts, "queries": given.queries}
        write_html(given.html, results, comparison=comparison, **files, gates=gating.report)
    gating.tell(given.form)
    gating.save({name: results[name] for name in list(results)[1:]})
    return gating.exit_code


def _matters(given: argparse.Namespace) -> float | dict[str, float] | None:
    """Return the difference that matters, for all metrics or by metric, as typed or as the config says."""
    if not given.matters:
        if given.config is None:
            return None
        from rankgauge.cli.conventions import make_engine

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


def _check(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    msg = ""
    if len(given.runs) < 2:
        msg = f"comparing takes two or more systems, and only {visible(given.runs[0])} is given"
    elif given.qrels is not None and given.config is not None:
        msg = "give either --qrels, for TREC runs, or --config, for outputs files"
    elif given.qrels is not None and not given.metric:
        msg = "name the metrics to compare runs by, such as -m ndcg@10 -m AP"
    elif given.qrels is not None and given.dataset is not None:
        msg = "--dataset is for results and configs; judgments are one dataset"
    elif given.qrels is None and (idle := judging_typed(given)):
        msg = f"{idle[0]} decides how TREC runs are judged, and needs --qrels"
    elif given.html is None and (given.texts or given.queries):
        msg = "--texts and --queries are for the HTML report: --html FILE"
    elif given.html is not None and given.all_pairs:
        msg = "the HTML report compares with the first run; leave out --all-pairs or --html"
    if msg:
        raise ParameterError(msg)
    check_unjudged(given, [form for form in _FORMATS if form != "latex"])


def _results(given: argparse.Namespace, gating: Gating) -> dict[str, ResultValues]:
    """Return what is compared by name: results that were saved, or runs or outputs that are scored now."""
    if given.qrels is not None:
        return _of_runs(given, gating)
    if given.config is not None:
        return _of_outputs(given, gating)
    from rankgauge.cli.result_folders import stored_results

    return stored_results(given.runs, given.dataset, of_runs=_RUNS_HINT)


def _of_runs(given: argparse.Namespace, gating: Gating) -> dict[str, ResultValues]:
    """Evaluate TREC runs by the metrics that were typed and those that gates name."""
    from rankgauge.cli.conventions import Conventions
    from rankgauge.cli.result_folders import result_names
    from rankgauge.engine.evaluate import evaluate_plan

    conventions = Conventions.of(given, interval=given.interval)
    typed = [measure.spec for measure in conventions.measures(given.metric) if measure.spec is not None]
    names = result_names(given.runs)
    specs = gating.ask_runs(names[1:], typed, lambda asked: conventions.plan(asked).metrics)
    plan = conventions.plan(specs)
    if not given.judged_only:  # how much of what is compared nobody judged
        cutoffs = sorted({metric.cut.k for metric in plan.metrics if metric.cut.k is not None} or {_TOP})
        plan = conventions.plan([*specs, *(f"unjudged(of=retrieved)@{k}" for k in cutoffs)])
    judgments = conventions.judgments(given.qrels, plan)
    runs = {run: run for run in given.runs}
    results = evaluate_plan(plan, judgments, runs, columns=conventions.columns, sketch_ids=True)
    tell_notes(results)
    return {name: results[run] for name, run in zip(names, given.runs, strict=True)}


def _of_outputs(given: argparse.Namespace, gating: Gating) -> dict[str, ResultValues]:
    """Score several outputs files of one dataset of a config, also by the metrics that gates name."""
    from rankgauge.cli.conventions import make_engine
    from rankgauge.cli.result_folders import result_names

    engine = make_engine(given.config)
    known = engine.dataset_names
    if given.dataset is None and len(known) != 1:
        raise ParameterError(f"{given.config} has {len(known)} datasets; name one with --dataset: {', '.join(known)}")
    name = known[0] if given.dataset is None else given.dataset
    if name not in known:
        msg = f"{given.config} has no dataset {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
        raise ParameterError(msg)
    evaluation = engine.dataset(name)
    if given.metric:
        evaluation = evaluation.with_metrics(given.metric)
    evaluation.plan()
    runs = result_names(given.runs)
    asked = gating.ask_runs(runs[1:], evaluation.metrics, lambda specs: evaluation.with_metrics(specs).plan().metrics)
    if asked != evaluation.metrics:
        evaluation = evaluation.with_metrics(asked)
    if fields := gating.fields(runs[1]):
        evaluation = evaluation.with_cohorts([*evaluation.data.cohorts, *fields])
    steps = in_steps("scoring", list(zip(runs, given.runs, strict=True)))
    return {run: evaluation.with_outputs(file).run(sketch_ids=True) for run, file in steps}


def _print(comparison: Comparison, given: argparse.Namespace, gating: Gating) -> None:
    form = given.form
    if form == "json":
        gates = {} if gating.report is None else {"gates": [outcome.to_dict() for outcome in gating.report.outcomes]}
        print_json(comparison.to_dict() | gates)
        return
    from rankgauge.comparison import layouts as report

    if form == "table":
        show(report.comparison_lines(comparison, width=report_width(), is_whole=given.all_columns))
        return
    lay_out = {
        "markdown": report.comparison_markdown,
        "csv": report.comparison_csv,
        "latex": report.comparison_latex,
    }
    print_report(form, [lay_out[form](comparison)])


COMPARE = Command(_USAGE, _ABOUT, _add_options, _compare)
