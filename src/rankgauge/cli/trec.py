"""
`rankgauge trec`: evaluate TREC runs against judgments.

argparse reads its arguments, because typer takes longer to load than a small run takes to evaluate.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.arguments import command_parser, read_arguments
from rankgauge.cli.console import echo, emit, print_report, remark, report_width
from rankgauge.cli.folders import Folders
from rankgauge.cli.options import (
    add_gate_options,
    add_judging_options,
    add_unjudged_options,
    check_unjudged,
    make_catalog,
    plan_judging,
    run_names,
    table_columns,
)
from rankgauge.cli.process import load_numpy
from rankgauge.errors import ParameterError, UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog, Claim
    from rankgauge.catalog.trec_eval import TrecColumn
    from rankgauge.engine.result import Result
    from rankgauge.io.field_names import Kind
    from rankgauge.planning.plan import Plan
    from rankgauge.planning.requests import MetricSpec
    from rankgauge.plugin.declarations import Reporter
    from rankgauge.report.run_tables import Further

__all__ = ["HELP", "trec"]

_USAGE = """\
rankgauge trec [OPTIONS] QRELS RUN [RUN ...]
       rankgauge trec [OPTIONS] [QRELS] RUN [RUN ...] --against OTHER"""

HELP = """\
Evaluate TREC runs as trec_eval does.

QRELS and RUN are TREC files, BEIR files, Parquet, CSV or JSON, compressed or
not; - is standard input. Write metrics as trec_eval, ir_measures or rankgauge
do: -m ndcg_cut.10 -m nDCG@10 -m P -m official -m all_trec.

With --against OTHER, the rankings of each RUN are compared with those of another
run: -m rbo -m tau_ap -m overlap@10. QRELS may then be left out; if it is given,
only judged queries are compared.

Exit codes: 0 done, 1 a gate failed, 2 usage or unreadable input, 4 nothing to
evaluate, 5 internal error.
"""

_AGAINST_HELP = "Compare rankings with those of this run, instead of judging them. (table, json, jsonl)"
_FORMATS = ("table", "trec", "json", "jsonl", "markdown")
_FORMAT_HELP = (
    "How to print: table, trec (as trec_eval does), json, jsonl, markdown, or a format of a plugin. [default: table]"
)
_METRIC_HELP = "A metric, a family (P) or a set (official, all_trec). Repeatable. [default: official]"
_COMPLETE_HELP = "Count judged queries missing from a run as 0; only trec9 leaves them out otherwise."


def trec(arguments: Sequence[str]) -> int:
    """Run the command with what was typed behind ``trec``, and return the exit code."""
    given = read_arguments(_parser(), arguments)
    if isinstance(given, int):
        return given
    _check(given)
    load_numpy()
    if given.against is not None:
        from rankgauge.cli.against import against

        return against(given)
    return _evaluate(given)


def _evaluate(given: argparse.Namespace) -> int:
    """Evaluate runs by what was typed, and return the exit code."""
    from rankgauge.catalog.trec_eval import expand
    from rankgauge.engine.evaluate import evaluate_plan
    from rankgauge.io.open_sources import open_qrels

    catalog = make_catalog()
    reporter = _reporter(given.form, catalog)
    measures = expand(given.metric or ["official"], catalog.built_in, version=9 if given.profile == "trec9" else 10)
    if given.form == "trec" and (strange := [str(each.spec) for each in measures if None in {each.label, each.place}]):
        msg = f"trec_eval has no name for {', '.join(strange)}; leave it out, or choose another --format"
        raise ParameterError(msg)
    _check_texts(given, measures)
    wanted = [measure.spec for measure in measures if measure.spec is not None]
    columns, names = table_columns(given.columns), run_names(given.runs)
    kinds: list[tuple[str, Kind]] = [(given.qrels, "qrels"), *((run, "run") for run in given.runs)]
    if columns and not any(_is_table(path, kind, columns) for path, kind in kinds):
        remark("--columns names the columns of tables, and none of the files is one; it has no effect")

    def planned(specs: Sequence[MetricSpec]) -> Plan:
        return plan_judging(specs, given, catalog, queries="judged" if given.complete else None)

    from rankgauge.cli.gating import GateOptions, Gating

    gating = Gating.of(GateOptions.of(given))
    plan = planned(gating.ask_runs(names, wanted, lambda specs: planned(specs).metrics))
    table = given.output if given.output is not None and given.output.suffix == ".parquet" else None
    folders = Folders(output=None if table else given.output, several=len(names) > 1)
    folders.check(names)
    judgments = open_qrels(given.qrels, columns=columns, intents="intents" in plan.needs, catalog=catalog)
    runs = dict(zip(names, given.runs, strict=True))
    results = evaluate_plan(plan, judgments, runs, columns=columns, sketch_ids=gating.wants_ids)
    results = _sorted(results, given.sort)
    further = _further(results, given)
    _tell(given, results)
    if table is not None:
        from rankgauge.result.folder_writer import save_runs

        save_runs(results, table)
        folders.saved.append(table)
    for name, result in results.items():
        folders.save(name, result)
    folders.tell()
    if gating.judge(results):
        if reporter is not None:
            texts = _reports(results, further, reporter)
            print_report(given.form, _named(given.form, gating.added(texts, given.form)))
        elif given.form == "trec":
            n_relevant = int((judgments.grades > 0).sum()) if given.complete else None
            _write(_trec_lines(given, next(iter(results.values())), measures, n_relevant))
        else:
            _print_tables(results, further, per_query=given.per_query, summary=not given.no_summary)
    gating.tell(show=echo if given.form == "table" else remark)
    gating.save(results)
    return gating.exit_code


def _reporter(form: str, catalog: Catalog) -> Claim[Reporter] | None:
    """Return the reporter of a format, None for the two of this command; an unknown one is an error that names all."""
    if form in {"table", "trec"}:
        return None
    try:
        return catalog.reporter(form)
    except UnknownNameError as error:
        known = list(dict.fromkeys((*_FORMATS, *catalog.all("reporter"))))
        msg = f"there is no format {form!r}{did_you_mean(form, known)}; known are {', '.join(known)}"
        raise ParameterError(msg) from error


def _is_table(path: str, kind: Kind, columns: Mapping[str, str]) -> bool:
    """Return whether a file has columns with names, or may have: what can be read only once is not looked at."""
    from rankgauge.io.files import is_regular
    from rankgauge.io.recognize import FileKind, recognize

    if not is_regular(Path(path)):
        return True
    return recognize(Path(path), kind, columns, name=path) not in {FileKind.TREC, FileKind.JSON}


def _tell(given: argparse.Namespace, results: Mapping[str, Result]) -> None:
    """Say on stderr what a reader of the numbers should know."""
    for name, result in results.items():
        failures = (column.failure for column in result.metrics.values() if column.failure)
        for note in (*result.notes, *failures):
            remark(visible(f"{name}: {note}" if len(results) > 1 else note))
    if given.form == "table":
        from rankgauge.result.wording import ERROR_LINE, policy_line

        remark(policy_line(next(iter(results.values()))))
        if len(results) == 1 and not given.no_summary:
            remark(ERROR_LINE)


def _trec_lines(
    given: argparse.Namespace, result: Result, measures: Sequence[TrecColumn], n_relevant: int | None
) -> Iterator[str]:
    from rankgauge.report.trec import trec_lines

    lengths = {str(measure.label): measure.length for measure in measures if measure.length is not None}
    texts = {}
    if lengths:
        from rankgauge.engine.explaining import grade_strings

        texts = {label: grade_strings(result, length) for label, length in lengths.items()}
    return trec_lines(
        result,
        measures,
        per_query=given.per_query,
        summary=not given.no_summary,
        hide_missing=result.settings["profile"] == "trec9",
        n_relevant=n_relevant,
        texts=texts,
    )


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("trec", _USAGE, HELP)
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="The judgments.")
    add("runs", metavar="RUN", nargs="*", help="The runs.")
    add("-m", "--metric", action="append", help=_METRIC_HELP)
    add("-q", "--per-query", action="store_true", help="Also print the scores of every query.")
    add("-c", "--complete", action="store_true", help=_COMPLETE_HELP)
    add_judging_options(parser)
    add_unjudged_options(parser, "table, json")
    add("-n", "--no-summary", action="store_true", help="Leave out the summary over all queries.")
    add("-f", "--format", dest="form", default="table", metavar="FORMAT", help=_FORMAT_HELP)
    add("--json", dest="form", action="store_const", const="json", help="Same as --format json.")
    add("--against", metavar="OTHER", help=_AGAINST_HELP)
    add("--sort", metavar="METRIC", help="The metric that orders several runs. [default: the first mean]")
    add("-o", "--output", type=Path, metavar="PATH", help="Write the scores to a .parquet file or a result folder.")
    add_gate_options(parser)
    return parser


def _check(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if not given.runs and given.against is None:
        msg = f"one file is given, {given.qrels}, and two are needed: judgments and a run, or a run and --against OTHER"
        raise ParameterError(msg)
    if given.form == "trec" and len(given.runs) > 1:
        msg = f"--format trec prints one run, as trec_eval does, and {len(given.runs)} are given"
        raise ParameterError(msg)
    if [given.qrels, *given.runs, given.against].count("-") > 1:
        msg = "standard input (-) can stand for one file only"
        raise ParameterError(msg)
    check_unjudged(given, ("table", "json"))


def _check_texts(given: argparse.Namespace, measures: Sequence[TrecColumn]) -> None:
    """Refuse measures that are texts where they cannot be printed, or nothing else is asked for."""
    texts = [str(measure.label) for measure in measures if measure.kind == "text" and measure.length is not None]
    if texts and (given.form != "trec" or not given.per_query):
        msg = f"{texts[0]} is a text for each query, which only --format trec -q prints"
        raise ParameterError(msg)
    if measures and all(measure.spec is None for measure in measures):
        msg = f"{measures[0].label} is no metric and is printed beside others; add one, such as -m num_ret"
        raise ParameterError(msg)


def _further(results: Mapping[str, Result], given: argparse.Namespace) -> dict[str, Further]:
    """Return what was asked for beside the means of each run; the runs are read again for it."""
    if not (given.bounds or given.condensed):
        return {}
    from rankgauge.engine.unjudged import bounds, condensed
    from rankgauge.report.run_tables import NOTES, further_means

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


def _sorted(results: dict[str, Result], sort: str | None) -> dict[str, Result]:
    """Return the runs in order of a metric, the best first; equal ones stay in the order given."""
    metrics = [name for name, column in next(iter(results.values())).metrics.items() if column.info.aggregate != "sum"]
    if len(results) < 2 or (sort is None and not metrics):
        return results
    try:
        column = next(iter(results.values()))[sort or metrics[0]]
    except KeyError as error:
        msg = f"--sort: {error.args[0]}"
        raise ParameterError(msg) from None
    sign = 1 if column.info.higher_is_better else -1
    means = {name: result.metrics[column.name].mean for name, result in results.items()}
    keys = {name: (mean is not None, sign * (mean or 0)) for name, mean in means.items()}
    return {name: results[name] for name in sorted(results, key=keys.__getitem__, reverse=True)}


def _reports(
    results: Mapping[str, Result], further: Mapping[str, Further], reporter: Claim[Reporter]
) -> dict[str, str]:
    from rankgauge.report.rendering import rendered

    texts = {name: rendered(reporter, result) for name, result in results.items()}
    if further:
        from rankgauge.report.run_tables import add_to_json

        texts = {name: add_to_json(text, further[name]) for name, text in texts.items()}
    return texts


def _named(form: str, texts: Mapping[str, str]) -> list[str]:
    """Return reports that say which run each is of, where there are several; as JSON one list."""
    if len(texts) < 2:
        return list(texts.values())
    if form == "markdown":
        from rankgauge.base.tables import cell

        return [text.replace("\n", f": {cell(name)}\n", 1) for name, text in texts.items()]
    if form not in {"json", "jsonl"}:
        return list(texts.values())
    import orjson

    lines = form == "jsonl"
    found = [
        {"run": name, **orjson.loads(document)}
        for name, text in texts.items()
        for document in (text.rstrip("\n").split("\n") if lines else [text])  # an id may hold U+2028
    ]
    return [f"{orjson.dumps(each).decode()}\n" for each in found] if lines else [f"{orjson.dumps(found).decode()}\n"]


def _print_tables(
    results: Mapping[str, Result], further: Mapping[str, Further], *, per_query: bool, summary: bool
) -> None:
    from rankgauge.report.run_tables import query_table, run_table, runs_table

    tables: list[Iterable[str]] = []
    if per_query:
        for name, result in results.items():
            tables += [[visible(name)]] if len(results) > 1 else []
            tables += [query_table(result), [""]]
    if summary and len(results) > 1:
        tables.append(runs_table(results, width=report_width(), further=further))
    elif summary:
        tables += [run_table(result, further.get(name)) for name, result in results.items()]
    _write(f"{line}\n" for table in tables for line in table)


def _write(lines: Iterable[str]) -> None:
    emit(lines)
