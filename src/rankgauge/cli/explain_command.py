"""
`rankgauge explain`: one score of one sample or query, rank by rank.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import echo, print_json, terminal_width
from rankgauge.cli.shared_options import add_json_option, add_judging_options, judging_typed
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.explain import Explanation

__all__ = ["EXPLAIN"]

_ABOUT = """\
Of a result folder: rankgauge explain RESULT_DIR SAMPLE. Its data are read again, and have to give the saved score. Of a
TREC run: rankgauge explain --qrels QRELS --run RUN QUERY -m METRIC, with the options of rankgauge trec; nothing else is
scored.

It shows what each rank adds to the score, which gold items are missing, the arithmetic, which result cost most, and
which gold item would help most.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", metavar="RESULT_DIR SAMPLE | QUERY", nargs="+", help="A result folder and a sample, or a query.")
    add("-m", "--metric", metavar="METRIC", help="The metric, such as ndcg@10. [default: the folder's first]")
    add_json_option(parser)
    add("--qrels", metavar="QRELS", help="The judgments of a run.")
    add("--run", metavar="RUN", help="The run.")
    add_judging_options(parser)


def _explain(given: argparse.Namespace) -> int:
    explanation = _of_folder(given) if given.qrels is None and given.run is None else _of_run(given)
    if given.as_json:
        print_json(explanation.to_dict())
        return 0
    from rankgauge.explain.explanation import explanation_lines

    echo("\n".join(explanation_lines(explanation, width=terminal_width(80))))
    return 0


def _of_folder(given: argparse.Namespace) -> Explanation:
    if idle := judging_typed(given):
        raise ParameterError(f"{idle[0]} is for a run (--qrels and --run); a result folder says how it was scored")
    if len(given.names) != 2:
        names = f"{len(given.names)} given: {' '.join(given.names)}"
        raise ParameterError(f"give a result folder and a sample, or --qrels, --run and a query; {names}")
    from rankgauge.cli.conventions import make_catalog
    from rankgauge.engine.explaining import explain_result
    from rankgauge.engine.result import Result

    folder, sample = given.names
    return explain_result(Result.load(folder), sample, given.metric, catalog=make_catalog())


def _of_run(given: argparse.Namespace) -> Explanation:
    for name in ("qrels", "run", "metric"):
        if getattr(given, name) is None:
            raise ParameterError(f"explaining a query of a run needs --{name}")
    if len(given.names) != 1:
        raise ParameterError(f"give one query; {len(given.names)} given: {' '.join(given.names)}")
    if given.qrels == given.run == "-":
        raise ParameterError("standard input (-) can stand for one file only")
    from rankgauge.cli.conventions import Conventions
    from rankgauge.engine.explaining import explain_query
    from rankgauge.engine.runs import RunEvaluation
    from rankgauge.io.open_sources import open_run

    conventions = Conventions.of(given)
    measures = conventions.measures([given.metric])
    plan = conventions.plan([measure.spec for measure in measures if measure.spec is not None])
    if len(plan.metrics) != 1:
        names = [column.name for column in plan.metrics]
        listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        raise ParameterError(f"-m {given.metric} stands for {len(names)} metrics ({listed}); name one")
    run = open_run(given.run, columns=conventions.columns, catalog=conventions.catalog)
    return explain_query(RunEvaluation(plan, conventions.judgments(given.qrels, plan), run), given.names[0])


EXPLAIN = Command(
    "[-m METRIC] [--json] RESULT_DIR SAMPLE\n--qrels QRELS --run RUN -m METRIC [OPTIONS] QUERY",
    _ABOUT,
    _add_options,
    _explain,
)
