"""
`rankgauge explain`: one score of one sample or query, rank by rank.

argparse reads its arguments, so that it shares the options of `rankgauge trec`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rankgauge.cli.arguments import command_parser, read_arguments
from rankgauge.cli.console import echo, print_json, terminal_width
from rankgauge.cli.options import add_judging_options, make_catalog, plan_judging, table_columns
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.explain import Explanation

__all__ = ["HELP", "explain"]

HELP = """\
Explain one score, rank by rank.

Of a result folder: rankgauge explain RESULT_DIR SAMPLE. Its data are read
again, and have to give the saved score. Of a TREC run: rankgauge explain
--qrels QRELS --run RUN QUERY -m METRIC, with the options of rankgauge trec;
nothing else is scored.

It shows what each rank adds to the score, which gold items are missing, the
arithmetic, which result cost most, and which gold item would help most.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""

_USAGE = """\
rankgauge explain [-m METRIC] [--json] RESULT_DIR SAMPLE
       rankgauge explain --qrels QRELS --run RUN -m METRIC [OPTIONS] QUERY"""

_OF_RUNS = ("relevance", "judged_only", "depth", "profile", "policy", "k", "columns")


def explain(arguments: Sequence[str]) -> int:
    """Run the command with what was typed behind ``explain``, and return the exit code."""
    parser = _parser()
    given = read_arguments(parser, arguments)
    if isinstance(given, int):
        return given
    of_folder = given.qrels is None and given.run is None
    explanation = _of_folder(given, parser) if of_folder else _of_run(given)
    if given.json:
        print_json(explanation.to_dict())
        return 0
    from rankgauge.explain.explanation import explanation_lines

    echo("\n".join(explanation_lines(explanation, width=terminal_width(80))))
    return 0


def _of_folder(given: argparse.Namespace, parser: argparse.ArgumentParser) -> Explanation:
    idle = [name for name in _OF_RUNS if getattr(given, name) != parser.get_default(name)]
    if idle:
        msg = f"--{idle[0].replace('_', '-')} is for a run (--qrels and --run); a result folder says how it was scored"
        raise ParameterError(msg)
    if len(given.names) != 2:
        msg = (
            f"give a result folder and a sample, or --qrels, --run and a query; {len(given.names)} given: "
            f"{' '.join(given.names)}"
        )
        raise ParameterError(msg)
    from rankgauge.engine.explaining import explain_result
    from rankgauge.result import open_result

    folder, sample = given.names
    return explain_result(open_result(folder), sample, given.metric, catalog=make_catalog())


def _of_run(given: argparse.Namespace) -> Explanation:
    for name in ("qrels", "run", "metric"):
        if getattr(given, name) is None:
            msg = f"explaining a query of a run needs --{name}"
            raise ParameterError(msg)
    if len(given.names) != 1:
        msg = f"give one query; {len(given.names)} given: {' '.join(given.names)}"
        raise ParameterError(msg)
    if given.qrels == given.run == "-":
        msg = "standard input (-) can stand for one file only"
        raise ParameterError(msg)
    from rankgauge.catalog.trec_eval import expand
    from rankgauge.engine.explaining import explain_query
    from rankgauge.engine.runs import RunEvaluation
    from rankgauge.io.open_sources import open_qrels, open_run

    catalog = make_catalog()
    measures = expand([given.metric], catalog.built_in, version=9 if given.profile == "trec9" else 10)
    wanted = [measure.spec for measure in measures if measure.spec is not None]
    plan = plan_judging(wanted, given, catalog)
    if len(plan.metrics) != 1:
        names = [column.name for column in plan.metrics]
        listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        msg = f"-m {given.metric} stands for {len(names)} metrics ({listed}); name one"
        raise ParameterError(msg)
    columns = table_columns(given.columns)
    judgments = open_qrels(given.qrels, columns=columns, intents="intents" in plan.needs, catalog=catalog)
    evaluation = RunEvaluation(plan, judgments, open_run(given.run, columns=columns, catalog=catalog))
    return explain_query(evaluation, given.names[0])


def _parser() -> argparse.ArgumentParser:
    parser = command_parser("explain", _USAGE, HELP)
    add = parser.add_argument
    add("names", metavar="RESULT_DIR SAMPLE | QUERY", nargs="+", help="A result folder and a sample, or a query.")
    add("-m", "--metric", metavar="METRIC", help="The metric, such as ndcg@10. [default: the folder's first]")
    add("--json", action="store_true", help="Print JSON.")
    add("--qrels", metavar="QRELS", help="The judgments of a run.")
    add("--run", metavar="RUN", help="The run.")
    add_judging_options(parser)
    return parser
