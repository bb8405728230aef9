"""
`rankgauge trec`: evaluate TREC runs against judgments.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankgauge.cli.console import remark
from rankgauge.cli.options import make_catalog, policy_options
from rankgauge.cli.outcome import print_texts

if TYPE_CHECKING:
    from rankgauge.catalog.trec_eval import TrecColumn
    from rankgauge.evaluation import Plan
    from rankgauge.rankings import Qrels
    from rankgauge.result import Result

__all__ = ["HELP", "trec"]

HELP = """\
Evaluate runs against judgments, with the numbers of trec_eval.

QRELS and RUN are TREC files, BEIR files, Parquet, CSV or JSON, compressed or not; - is standard input. Metrics can be
written as trec_eval, ir_measures or rankgauge write them: -m ndcg_cut.10 -m nDCG@10 -m P -m official -m all_trec.

Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to evaluate, 5 internal error.
"""

_FORMATS = ("table", "trec", "json", "jsonl", "markdown")
_DEFAULT_METRICS = ("official",)


def trec(
    qrels: Annotated[str, typer.Argument(help="The judgments.", show_default=False)],
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="The runs.", show_default=False)],
    *,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A metric, a family (P) or a set (official, all_trec).", show_default=False
        ),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", "-q", help="Print the scores of every query, too.")] = False,
    complete: Annotated[
        bool,
        typer.Option("--complete", "-c", help="Count judged queries that a run lacks as 0, which only trec9 does not."),
    ] = False,
    relevance: Annotated[
        float | None, typer.Option("--relevance", "-l", help="The grade from which on a document is relevant.")
    ] = None,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", "-J", help="Drop documents that are not judged before ranks are counted.")
    ] = False,
    depth: Annotated[int | None, typer.Option("--depth", "-M", help="How many results of a query to look at.")] = None,
    no_summary: Annotated[
        bool, typer.Option("--no-summary", "-n", help="Leave the summary over all queries out.")
    ] = False,
    profile: Annotated[str, typer.Option(help="The conventions: trec9, trec10, default.")] = "trec10",
    policy: Annotated[list[str] | None, typer.Option(help="A policy option, such as ties=average.")] = None,
    k: Annotated[int | None, typer.Option(help="The cutoff for whatever says none.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Column names of tables, such as query=qid,document=pid,score=s.")
    ] = None,
    sort: Annotated[str | None, typer.Option(help="The metric that orders several runs; the first by default.")] = None,
    form: Annotated[str, typer.Option("--format", "-f", help="table, trec, json, jsonl or markdown.")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write scores of every query to a .parquet file, or a result folder."),
    ] = None,
) -> None:
    """Evaluate; see `HELP`."""
    form = "json" if as_json else form
    if form not in _FORMATS:
        msg = f"--format is one of {', '.join(_FORMATS)}, not {form!r}"
        raise typer.BadParameter(msg)
    if form == "trec" and len(runs) > 1:
        msg = "--format trec prints one run, as trec_eval does; give one"
        raise typer.BadParameter(msg)
    options = policy_options(
        policy,
        queries="judged" if complete else None,
        judged_only=judged_only or None,
        depth=depth,
    )
    from rankgauge.catalog.trec_eval import expand
    from rankgauge.engine.runs import evaluate_runs, plan_run
    from rankgauge.io.sources import open_qrels

    catalog = make_catalog()
    measures = expand(metric or _DEFAULT_METRICS, version=9 if profile == "trec9" else 10)
    arguments: dict[str, Any] = {"profile": profile, "policy": options, "rel": relevance, "k": k, "catalog": catalog}
    wanted = [measure.spec for measure in measures if measure.spec is not None]
    plan = plan_run(wanted, **arguments)
    named = _columns(columns)
    names = _names(runs)
    _check_output(output, names)
    judgments = open_qrels(qrels, columns=named)
    results = _sorted(
        evaluate_runs(judgments, dict(zip(names, runs, strict=True)), wanted, columns=named, **arguments), sort
    )
    for name, result in results.items():
        for note in result.notes:
            remark(f"{name}: {note}" if len(runs) > 1 else note)
    _save(results, output)
    if form == "trec":
        result = next(iter(results.values()))
        _print_trec(result, measures, plan, judgments, per_query=per_query, summary=not no_summary, complete=complete)
    elif form == "table":
        _print_tables(results, per_query=per_query, summary=not no_summary)
    else:
        reporter = catalog.reporter(form).declaration
        print_texts(reporter.function, form, list(results.values()), is_list=len(runs) > 1)


def _columns(written: str | None) -> dict[str, str] | None:
    """Return column names by what they hold."""
    if written is None:
        return None
    pairs = [pair.partition("=") for pair in written.split(",")]
    if not all(equals and name.strip() and column.strip() for name, equals, column in pairs):
        msg = f"--columns is NAME=COLUMN, separated by commas, such as query=qid,document=pid; not {written!r}"
        raise typer.BadParameter(msg)
    return {name.strip(): column.strip() for name, _, column in pairs}


def _names(runs: Sequence[str]) -> list[str]:
    """Return a name for each run: its file's name, or its path where names meet."""
    short = [Path(run).name for run in runs]
    names = [run if short.count(name) > 1 else name for run, name in zip(runs, short, strict=True)]
    if len(set(names)) < len(names):
        msg = f"{next(name for name in names if names.count(name) > 1)} is given twice"
        raise typer.BadParameter(msg)
    return names


def _check_output(output: Path | None, names: Sequence[str]) -> None:
    """Refuse a place that is taken, before anything is computed."""
    if output is None or output.suffix == ".parquet":
        return
    from rankgauge.io.folder import check_target

    for name in names:
        check_target(output / name if len(names) > 1 else output)


def _sorted(results: dict[str, Result], sort: str | None) -> dict[str, Result]:
    """Return the runs in order of a metric, the best first; equal ones stay in the order given."""
    metrics = [name for name, column in next(iter(results.values())).metrics.items() if column.info.aggregate != "sum"]
    if len(results) < 2 or (sort is None and not metrics):
        return results
    try:
        column = next(iter(results.values()))[sort or metrics[0]]
    except KeyError as error:
        msg = f"--sort: {error.args[0]}"
        raise typer.BadParameter(msg) from None
    worst = float("-inf")
    sign = 1 if column.info.higher_is_better else -1
    means = {name: result.metrics[column.name].mean for name, result in results.items()}
    keys = {name: worst if mean is None else sign * mean for name, mean in means.items()}
    return {name: results[name] for name in sorted(results, key=keys.__getitem__, reverse=True)}


def _save(results: Mapping[str, Result], output: Path | None) -> None:
    if output is None:
        return
    if output.suffix != ".parquet":
        for name, result in results.items():
            result.save(output / name if len(results) > 1 else output)
    else:
        from rankgauge.io.folder import save_frame

        import polars as pl

        frames = [result.per_sample.insert_column(0, pl.lit(name).alias("run")) for name, result in results.items()]
        save_frame(pl.concat(frames), output)
    remark(f"saved to {output}")


def _print_trec(
    result: Result,
    measures: Sequence[TrecColumn],
    plan: Plan,
    qrels: Qrels,
    *,
    per_query: bool,
    summary: bool,
    complete: bool,
) -> None:
    from rankgauge.report.trec import TrecLine, trec_lines

    if strange := [str(measure.spec) for measure in measures if measure.label is None or measure.place is None]:
        msg = f"trec_eval has no name for {', '.join(strange)}; leave it out, or choose another --format"
        raise typer.BadParameter(msg)
    names = {spelling: metric.name for metric in plan.metrics for spelling in metric.spellings}
    ordered = sorted(measures, key=lambda measure: measure.place or (0, 0))
    lines = [
        TrecLine(str(measure.label), names.get(measure.spec or "", ""), measure.kind == "integer", measure.only_all)
        for measure in ordered
    ]
    _write(
        trec_lines(
            result,
            lines,
            per_query=per_query,
            summary=summary,
            hide_missing=plan.profile.name == "trec9",
            n_relevant=int((qrels.grades > 0).sum()) if complete else None,
        )
    )


def _print_tables(results: Mapping[str, Result], *, per_query: bool, summary: bool) -> None:
    from rankgauge.report.runs import query_table, run_table, runs_table

    tables: list[Iterable[str]] = []
    if per_query:
        for name, result in results.items():
            tables += [[name]] if len(results) > 1 else []
            tables += [query_table(result), [""]]
    if summary and len(results) > 1:
        tables.append(runs_table(results, width=shutil.get_terminal_size((160, 24)).columns))
    elif summary:
        tables.append(run_table(next(iter(results.values()))))
    _write(f"{line}\n" for table in tables for line in table)


def _write(lines: Iterable[str]) -> None:
    sys.stdout.writelines(lines)
    sys.stdout.flush()
