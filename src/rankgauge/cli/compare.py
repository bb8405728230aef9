"""
`rankgauge compare`: whether one system is better than another, and how sure that is.

argparse reads its arguments, so that it shares the options of `rankgauge trec`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import read_share, visible
from rankgauge.cli.arguments import command_parser, read_arguments
from rankgauge.cli.console import echo, print_json, print_report, remark, report_width, show
from rankgauge.cli.options import (
    GATE_HELP,
    JUNIT_HELP,
    MARKDOWN_HELP,
    add_judging_options,
    add_unjudged_options,
    check_unjudged,
    make_catalog,
    make_engine,
    plan_judging,
    table_columns,
)
from rankgauge.cli.report import HTML_HELP, add_text_options, check_html, write_html
from rankgauge.cli.stored import result_names, stored_results
from rankgauge.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.cli.gating import Gating
    from rankgauge.comparison.differences import Comparison
    from rankgauge.result import Result

__all__ = ["HELP", "compare"]

HELP = """\
Compare systems sample by sample: is NEW better than BASE?

BASE and NEW are result folders, or baseline files of --save-baseline. With
--qrels they are TREC runs, with the options of rankgauge trec; with --config
they are outputs files of one dataset.

Of each metric it prints the mean difference with its interval, p values
corrected for the number of metrics and runs, wins and losses, the smallest
difference that as many samples can show, and the samples that changed most.

Exit codes: 0 done, 1 a gate failed, 2 usage, unreadable input or results that do not compare,
4 nothing to evaluate, 5 internal error.
"""

_USAGE = """\
rankgauge compare [OPTIONS] BASE NEW [MORE ...]
       rankgauge compare --qrels QRELS -m METRIC [OPTIONS] BASE NEW [MORE ...]
       rankgauge compare --config CONFIG [OPTIONS] BASE NEW [MORE ...]"""

_FORMATS = ("table", "json", "markdown", "csv", "latex")
_FORMAT_HELP = "How to print: table, json, markdown, csv or latex (booktabs). [table]"
_RUNS_HINT = "to compare TREC runs, give their judgments with --qrels"

_TOP = 10
"""How many results are looked at for unjudged ones where no metric has a cutoff."""

_OF_RUNS = ("relevance", "judged_only", "depth", "profile", "policy", "k", "columns")


def compare(arguments: Sequence[str]) -> int:
    """Run the command with what was typed behind ``compare``, and return the exit code."""
    parser = _parser()
    given = read_arguments(parser, arguments)
    if isinstance(given, int):
        return given
    _check(given, parser)
    from rankgauge.comparison.method import Method

    method = Method(test=given.test, confidence=given.confidence, resamples=given.resamples, seed=given.seed)
    method.check()  # before anything is scored
    check_html(given.html)
    from rankgauge.cli.gating import GateOptions, Gating

    gating = Gating.of_comparison(GateOptions(gate=given.gate or (), junit=given.junit, markdown=given.markdown))
    if given.qrels is not None:
        results = _of_runs(given, gating)
    elif given.config is not None:
        results = _of_outputs(given, gating)
    else:
        results = stored_results(given.runs, given.dataset, of_runs=_RUNS_HINT)
    if not gating.judge_against_first(results):
        gating.tell(show=remark)
        return gating.exit_code
    from rankgauge.engine.comparing import compare as compare_results

    comparison = compare_results(
        results,
        metrics=given.metric if given.qrels is None and given.config is None else None,
        test=given.test,
        confidence=given.confidence,
        resamples=given.resamples,
        seed=given.seed,
        cluster=_clusters(given.cluster),
        all_pairs=given.all_pairs,
        condensed=given.condensed,
        bounds=given.bounds,
    )
    _print(comparison, given.form, gating)
    if given.html is not None:
        write_html(given.html, results, comparison=comparison, texts=given.texts, queries=given.queries)
    gating.tell(show=echo if given.form == "table" else remark)
    gating.save({name: results[name] for name in list(results)[1:]})
    return gating.exit_code


def _share(written: str) -> float:
    try:
        return read_share(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("compare", _USAGE, HELP)
    add = parser.add_argument
    add("runs", metavar="BASE NEW", nargs="+", help="What to compare; the first is the baseline.")
    add("-m", "--metric", action="append", help="A metric to compare. Repeatable. [default: all means that both have]")
    add("--qrels", metavar="QRELS", help="Judgments: BASE and NEW are TREC runs.")
    add("--config", type=Path, metavar="CONFIG", help="A config: BASE and NEW are outputs files of its dataset.")
    add("--dataset", metavar="NAME", help="Which dataset, where there are several.")
    add("--all-pairs", action="store_true", help="Compare each with each, not only with BASE.")
    add("--cluster", metavar="FIELD", help="Metadata field whose samples belong together; or a file: id, cluster.")
    add("--test", default="sign-flip", metavar="NAME", help="sign-flip, t, wilcoxon or bootstrap-bca. [sign-flip]")
    add("--confidence", type=_share, default=0.95, metavar="SHARE", help="Of intervals and tests. [0.95]")
    add("--resamples", type=int, default=100_000, metavar="N", help="Random sign flips to try. [100000]")
    add("--seed", type=int, default=0, metavar="N", help="Seed of the random bits. [0]")
    add("--html", type=Path, metavar="FILE", help=HTML_HELP)
    add_text_options(parser)
    add("--gate", action="append", metavar="GATE", help=f"{GATE_HELP} BASE is the baseline of every other.")
    add("--junit", type=Path, metavar="FILE", help=JUNIT_HELP)
    add("--markdown", type=Path, metavar="FILE", help=MARKDOWN_HELP)
    add("-f", "--format", dest="form", default="table", choices=_FORMATS, metavar="FORMAT", help=_FORMAT_HELP)
    add("--json", dest="form", action="store_const", const="json", help="Same as --format json.")
    add_unjudged_options(parser, "not latex")
    add_judging_options(parser)
    return parser


def _check(given: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
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
    elif given.qrels is None:
        idle = [name for name in _OF_RUNS if getattr(given, name) != parser.get_default(name)]
        if idle:
            msg = f"--{idle[0].replace('_', '-')} decides how TREC runs are judged, and needs --qrels"
    elif given.html is None and (given.texts or given.queries):
        msg = "--texts and --queries are for the HTML report: --html FILE"
    elif given.html is not None and given.all_pairs:
        msg = "the HTML report compares with the first run; leave out --all-pairs or --html"
    if msg:
        raise ParameterError(msg)
    check_unjudged(given, [form for form in _FORMATS if form != "latex"])


def _of_runs(given: argparse.Namespace, gating: Gating) -> dict[str, Result]:
    """Evaluate TREC runs by the metrics that were typed and those that gates name."""
    from rankgauge.catalog.trec_eval import expand
    from rankgauge.engine.runs import evaluate_plan
    from rankgauge.io.open_sources import open_qrels

    catalog = make_catalog()
    measures = expand(given.metric, catalog.built_in, version=9 if given.profile == "trec9" else 10)
    typed = [each.spec for each in measures if each.spec is not None]
    names = result_names(given.runs)
    specs = gating.ask_runs(names[1:], typed, lambda specs: plan_judging(specs, given, catalog).metrics)
    plan = plan_judging(specs, given, catalog)
    if not given.judged_only:  # how much of what is compared nobody judged
        cutoffs = sorted({metric.cut.k for metric in plan.metrics if metric.cut.k is not None} or {_TOP})
        plan = plan_judging([*specs, *(f"unjudged@{k}" for k in cutoffs)], given, catalog)
    columns = table_columns(given.columns)
    judgments = open_qrels(given.qrels, columns=columns, intents="intents" in plan.needs, catalog=catalog)
    runs = {path: path for path in given.runs}
    results = evaluate_plan(plan, judgments, runs, columns=columns, sketch_ids=True)
    for path, result in results.items():
        for note in result.notes:
            remark(f"{visible(path)}: {note}")
    return {name: results[path] for name, path in zip(names, given.runs, strict=True)}


def _of_outputs(given: argparse.Namespace, gating: Gating) -> dict[str, Result]:
    """Score several outputs files of one dataset of a config, also by the metrics that gates name."""
    engine = make_engine(given.config)
    known = engine.dataset_names
    if given.dataset is None and len(known) != 1:
        msg = f"{given.config} has {len(known)} datasets; name one with --dataset: {', '.join(known)}"
        raise ParameterError(msg)
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
    return {run: evaluation.with_outputs(path).run(sketch_ids=True) for run, path in zip(runs, given.runs, strict=True)}


def _clusters(written: str | None) -> str | Mapping[str, object] | None:
    """Return a field, or the clusters of a file: on each line an id and its cluster."""
    if written is None or not Path(written).is_file():
        return written
    from rankgauge.io.documents import decode_text

    found: dict[str, object] = {}
    for number, line in enumerate(decode_text(Path(written).read_bytes(), written).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 2 or parts[0] in found:
            why = "has no id and cluster" if len(parts) != 2 else f"gives {visible(parts[0])} a second cluster"
            msg = f"--cluster {visible(written)}, line {number}: it {why}; each line is an id, a blank and its cluster"
            raise ParameterError(msg)
        found[parts[0]] = parts[1]
    return found


def _print(comparison: Comparison, form: str, gating: Gating) -> None:
    if form == "json":
        gates = {} if gating.report is None else {"gates": [each.to_dict() for each in gating.report.outcomes]}
        print_json(comparison.to_dict() | gates)
        return
    from rankgauge.comparison import layouts as report

    if form == "table":
        show(report.comparison_lines(comparison, width=report_width()))
        return
    lay_out = {
        "markdown": report.comparison_markdown,
        "csv": report.comparison_csv,
        "latex": report.comparison_latex,
    }
    print_report(form, [lay_out[form](comparison)])
