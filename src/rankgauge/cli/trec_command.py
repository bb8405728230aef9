"""
`rankgauge trec`: evaluate TREC runs against judgments.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import cell
from rankgauge.catalog import Catalog, Claim
from rankgauge.catalog.trec_eval import TrecColumn
from rankgauge.cli.command_gates import AskedGates
from rankgauge.cli.console import (
    emit,
    print_report,
    remark,
    report_width,
    row_width,
    rule,
    show,
    tell_broken,
    tell_notes,
)
from rankgauge.cli.conventions import Conventions, run_names, weighted_by_file
from rankgauge.cli.gate_reports import JudgedGates
from rankgauge.cli.result_folders import Folders
from rankgauge.cli.shared_options import check_unjudged, refuse
from rankgauge.columns import Qrels
from rankgauge.engine.run_result import grouped
from rankgauge.engine.runs import evaluate_runs
from rankgauge.errors import ParameterError, UnknownNameError, did_you_mean
from rankgauge.extensions import extension
from rankgauge.io.field_names import Kind
from rankgauge.io.files import is_regular
from rankgauge.io.query_groups import QueryGroups
from rankgauge.io.recognize import FileKind, recognize
from rankgauge.plugin.declarations import Reporter
from rankgauge.report.dataset_means import datasets_lines, datasets_markdown, with_datasets
from rankgauge.report.run_tables import (
    NOTES,
    Further,
    add_to_json,
    further_means,
    query_table,
    run_table,
    runs_table,
    trec_lines,
)
from rankgauge.report.terminal import best_cohorts
from rankgauge.result import Result
from rankgauge.result.over_datasets import DatasetMean, over_datasets
from rankgauge.result.wording import error_line, policy_line, weights_line

_FORMATS = ("table", "trec", "json", "jsonl", "markdown")


def execute_trec(given: argparse.Namespace) -> int:
    """Evaluate TREC runs against judgments."""
    _check(given)
    if given.against is not None:
        code: int = extension("rankings of another run")(given)
        return code
    return _evaluate(given)


def _check(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    n, needed = len(given.runs), "two are needed: judgments and a run, or a run and --against OTHER"
    also = [file for pair in given.also or () for file in pair]
    twice = [given.qrels, *given.runs, given.against, *also].count("-") > 1
    refuse(
        (also and n != 1, f"--also adds datasets of one run each, and {n} runs are given for the first"),
        (also and given.form == "trec", "--format trec prints one run, as trec_eval does; leave --also out"),
        (also and given.groups, "--groups names the queries of one dataset; leave --also out"),
        (given.against and given.groups, "--groups is for scores, and --against compares rankings"),
        (not n and given.against is None, f"one file is given, {given.qrels}, and {needed}"),
        (given.form == "trec" and n > 1, f"--format trec prints one run, as trec_eval does, and {n} are given"),
        (
            given.weights is not None and given.form == "trec",
            "--format trec prints means in which all queries count the same; leave --weights out, or choose another",
        ),
        (
            given.weights is not None and given.against is not None,
            "--against judges nothing, so leave --weights out",
        ),
        (twice, "standard input (-) can stand for one file only"),
    )
    check_unjudged(given, ("table", "json"))


def _evaluate(given: argparse.Namespace) -> int:
    """Evaluate runs: refuse what cannot be done, then read and score, save, judge gates, and print."""
    conventions = Conventions.of(given, queries="judged" if given.complete else None, interval=given.interval)
    reporter = _reporter(given.form, conventions.catalog)
    measures = conventions.measures(given.metric or ["official"])
    _check_measures(given, measures)
    further_files = given.also or []
    names = run_names([*given.runs, *(run for _, run in further_files)])
    _tell_idle_columns(given, conventions)
    asked = AskedGates.of(given)
    wanted = [measure.spec for measure in measures if measure.spec is not None]
    planned, specs = asked.of_runs(names, wanted, lambda specs: conventions.plan(specs).metrics)
    plan = conventions.plan(specs)
    table = given.output if given.output is not None and given.output.suffix == ".parquet" else None
    folders = Folders(output=None if table else given.output, several=len(names) > 1, force=given.force)
    groups = None if given.groups is None else QueryGroups.read(given.groups)
    with folders.staged(names):
        judgments = conventions.judgments(given.qrels, plan)
        runs = dict(zip(names, given.runs, strict=False))
        how: dict[str, Any] = {"columns": conventions.columns, "sketch_ids": asked.wants_ids}
        results = evaluate_runs(plan, judgments, runs, **how)
        for name, (qrels, run) in zip(names[len(runs) :], further_files, strict=True):
            results |= evaluate_runs(plan, conventions.judgments(qrels, plan), {name: run}, **how)
        results = _clustered(weighted_by_file(results, given.weights), given.cluster)
        results = {name: grouped(result, groups) for name, result in results.items()}
        if given.sort is not None or not further_files:  # datasets stay in the order in which they were given
            results = _sorted(results, given.sort)
        means = over_datasets(results) if further_files else {}
        further = _further(results, given)
        _tell(given, results)

        if table is not None:
            from rankgauge.result.folder_writer import save_runs

            save_runs(results, table)
            folders.saved.append(table)
        for name, result in results.items():
            folders.save(name, result)
    folders.tell()

    gates = planned.judge(results)
    if gates.are_numbers_shown:
        if reporter is not None:
            _print_reports(results, further, reporter, gates, means)
        elif given.form == "trec":
            emit(_trec_lines(given, next(iter(results.values())), measures, judgments))
        else:
            _print_tables(results, further, given)
            if means and not given.no_summary:
                columns = next(iter(results.values())).metrics
                named = {columns[name].info.spellings[0]: mean for name, mean in means.items()}
                show(datasets_lines(named, width=report_width(), rule=rule()))
    gates.tell(given.form)
    gates.save(results)
    return tell_broken(results) or gates.exit_code


def _reporter(form: str, catalog: Catalog) -> Claim[Reporter] | None:
    """Return the reporter of a format, None for the two of this command; an unknown one is an error that names all."""
    if form in {"table", "trec"}:
        return None
    try:
        return catalog.reporter(form)
    except UnknownNameError as error:
        known = list(dict.fromkeys((*_FORMATS, *catalog.all("reporter"))))
        hint = f"{did_you_mean(form, known)}; known are {', '.join(known)}"
        raise ParameterError(f"there is no format {form!r}{hint}") from error


def _check_measures(given: argparse.Namespace, measures: Sequence[TrecColumn]) -> None:
    """Refuse measures that the format cannot print, and texts without any metric beside them."""
    strange = [str(measure.spec) for measure in measures if None in {measure.label, measure.place}]
    texts = [str(measure.label) for measure in measures if measure.kind == "text" and measure.length is not None]
    alone = [str(measure.label) for measure in measures if measure.spec is None]
    unprinted = given.form != "trec" or not given.per_query
    refuse(
        (
            given.form == "trec" and strange,
            f"trec_eval has no name for {', '.join(strange)}; leave it out, or choose another --format",
        ),
        (texts and unprinted, f"{', '.join(texts[:1])} is a text for each query, which only --format trec -q prints"),
        (
            alone and len(alone) == len(measures),
            f"{', '.join(alone[:1])} is no metric and is printed beside others; add one, such as -m num_ret",
        ),
    )


def _tell_idle_columns(given: argparse.Namespace, conventions: Conventions) -> None:
    """Say where ``--columns`` has no effect: no file has columns with names, nor may be read twice to see."""
    if not given.columns:
        return

    def is_table(file: str, kind: Kind) -> bool:
        if not is_regular(Path(file)):
            return True
        return recognize(Path(file), kind, conventions.columns, name=file) not in {FileKind.TREC, FileKind.JSON}

    pairs = given.also or []
    kinds: list[tuple[str, Kind]] = [(file, "qrels") for file in (given.qrels, *(qrels for qrels, _ in pairs))]
    kinds += [(file, "run") for file in (*given.runs, *(run for _, run in pairs))]
    if not any(is_table(file, kind) for file, kind in kinds):
        remark("--columns names the columns of tables, and none of the files is one; it has no effect")


def _clustered(results: dict[str, Result], file: str | None) -> dict[str, Result]:
    """Return results with errors of clusters of queries, if a file says which."""
    if file is None:
        return results
    from rankgauge.comparison.clusters import clustered
    from rankgauge.io.file_records import read_clusters

    clusters = read_clusters(file, "--cluster")
    return {name: clustered(result, clusters, file) for name, result in results.items()}


def _sorted(results: dict[str, Result], sort: str | None) -> dict[str, Result]:
    """Return the runs in order of a metric, the best first; equal ones stay in the order given."""
    first = next(iter(results.values()))
    means = [name for name, column in first.metrics.items() if column.info.aggregate != "sum"]
    if len(results) < 2 or (sort is None and not means):
        return results
    try:
        column = first[sort or means[0]]
    except KeyError as error:
        raise ParameterError(f"--sort: {error.args[0]}") from None

    def goodness(name: str) -> tuple[bool, float]:
        mean = results[name].metrics[column.name].mean or 0
        return results[name].metrics[column.name].mean is not None, mean if column.info.higher_is_better else -mean

    return {name: results[name] for name in sorted(results, key=goodness, reverse=True)}


def _further(results: Mapping[str, Result], given: argparse.Namespace) -> dict[str, Further]:
    """Return what was asked for beside the means of each run; the runs are read again for it."""
    if not (given.bounds or given.condensed):
        return {}
    from rankgauge.engine.reopen import bounds, condensed

    for name, note in NOTES.items():
        if getattr(given, name):
            remark(note)
    return {
        name: further_means(
            result,
            condensed=condensed(result) if given.condensed else None,
            bounds=bounds(result) if given.bounds else None,
        )
        for name, result in results.items()
    }


def _tell(given: argparse.Namespace, results: Mapping[str, Result]) -> None:
    """Say on stderr what a reader of the numbers should know."""
    tell_notes(results)
    if given.form == "table":
        remark(policy_line(next(iter(results.values()))))
        if line := weights_line(next(iter(results.values()))):
            remark(line)
        if len(results) == 1 and not given.no_summary and (given.all_columns or report_width() is None):
            remark(error_line(next(iter(results.values())).metrics.values()))


def _print_reports(
    results: Mapping[str, Result],
    further: Mapping[str, Further],
    reporter: Claim[Reporter],
    gates: JudgedGates,
    means: Mapping[str, DatasetMean],
) -> None:
    """Print what a reporter makes of each run, with means over datasets if there are any."""
    from rankgauge.report import rendered

    form = reporter.declaration.name
    texts = {name: rendered(reporter, result) for name, result in results.items()}
    if further:
        texts = {name: add_to_json(text, further[name]) for name, text in texts.items()}
    if means and form == "json":
        texts = {name: with_datasets(text, means) for name, text in texts.items()}
    named = _named(form, gates.added(texts, form))
    if means and form == "markdown":
        named.append(datasets_markdown(means))
    print_report(form, named)


def _named(form: str, texts: Mapping[str, str]) -> list[str]:
    """Return reports that say which run each is of, if there are several; as JSON one list."""
    if len(texts) < 2 or form not in {"json", "jsonl", "markdown"}:
        return list(texts.values())
    if form == "markdown":
        return [text.replace("\n", f": {cell(name)}\n", 1) for name, text in texts.items()]
    documents = [
        {"run": name, **orjson.loads(document)}
        for name, text in texts.items()
        for document in (text.rstrip("\n").split("\n") if form == "jsonl" else [text])  # an id may hold U+2028
    ]
    return [f"{orjson.dumps(document).decode()}\n" for document in (documents if form == "jsonl" else [documents])]


def _trec_lines(
    given: argparse.Namespace, result: Result, measures: Sequence[TrecColumn], judgments: Qrels
) -> Iterator[str]:
    """Return the lines that trec_eval prints."""
    texts = {}
    if lengths := {str(measure.label): measure.length for measure in measures if measure.length is not None}:
        from rankgauge.engine.explaining import grade_strings

        texts = {label: grade_strings(result, length) for label, length in lengths.items()}
    return trec_lines(
        result,
        measures,
        per_query=given.per_query,
        summary=not given.no_summary,
        hide_missing=result.settings["profile"] == "trec9",
        n_relevant=int((judgments.grades > 0).sum()) if given.complete else None,
        texts=texts,
    )


def _print_tables(results: Mapping[str, Result], further: Mapping[str, Further], given: argparse.Namespace) -> None:
    tables: list[Iterable[str]] = []
    if given.per_query:
        for name, result in results.items():
            tables += [[visible(name)]] if len(results) > 1 else []
            tables += [query_table(result, width=row_width()), [""]]
    if not given.no_summary and len(results) > 1:
        tables.append(runs_table(results, width=report_width(), further=further))
        tables += [[f"{visible(name)}: {line}" for line in best_cohorts(run)] for name, run in results.items()]
    emit(f"{line}\n" for table in tables for line in table)
    if not given.no_summary and len(results) == 1:
        ((name, result),) = results.items()
        width = report_width()
        how: dict[str, Any] = {"width": width, "is_whole": given.all_columns or width is None, "rule": rule()}
        show(run_table(result, further.get(name), **how, aside=row_width()))
