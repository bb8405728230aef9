"""
What reads saved results, and runs like them: `rankgauge explain` and `power`.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.console import print_answer, terminal_width
from rankgauge.cli.conventions import Conventions, clusters_typed, make_catalog
from rankgauge.cli.result_folders import stored_results
from rankgauge.cli.shared_options import JUDGING, typed
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import SIZES, plan_power, power_lines
from rankgauge.engine.comparing import named_clusters
from rankgauge.engine.explaining import explain_query, explain_result
from rankgauge.engine.runs import RunOrigin
from rankgauge.errors import ParameterError
from rankgauge.explain import Explanation
from rankgauge.explain.explanation import explanation_lines
from rankgauge.result import Result


def execute_explain(given: argparse.Namespace) -> int:
    """Print one score of one sample or query, rank by rank."""
    of_folder = given.qrels is None and given.run is None
    explanation = _explained_sample(given) if of_folder else _explained_query(given)
    lines = explanation_lines(explanation, width=terminal_width(80))
    return print_answer(given, explanation.to_dict(), "\n".join(lines))


def _explained_sample(given: argparse.Namespace) -> Explanation:
    if idle := typed(given, JUDGING):
        raise ParameterError(f"{idle[0]} is for a run (--qrels and --run); a result folder says how it was scored")
    if len(given.names) != 2:
        names = f"{len(given.names)} given: {' '.join(given.names)}"
        raise ParameterError(f"give a result folder and a sample, or --qrels, --run and a query; {names}")
    folder, sample = given.names
    return explain_result(Result.load(folder), sample, given.metric, catalog=make_catalog())


def _explained_query(given: argparse.Namespace) -> Explanation:
    for name in ("qrels", "run", "metric"):
        if getattr(given, name) is None:
            raise ParameterError(f"explaining a query of a run needs --{name}")
    if len(given.names) != 1:
        raise ParameterError(f"give one query; {len(given.names)} given: {' '.join(given.names)}")
    if given.qrels == given.run == "-":
        raise ParameterError("standard input (-) can stand for one file only")
    conventions = Conventions.of(given)
    plan = conventions.plan_one(given.metric)
    judged = RunOrigin(plan, conventions.judgments(given.qrels, plan), conventions.run_as_given(given.run))
    return explain_query(judged, given.names[0])


def execute_power(given: argparse.Namespace) -> int:
    """Print how many questions a comparison needs to show a difference of some size."""
    hint = "save the scores of TREC runs as a result folder first: rankgauge trec QRELS RUN -o FOLDER"
    results = stored_results(given.runs, given.dataset, of_runs=hint)
    plan = plan_power(
        results,
        method=Method(test=given.test, confidence=given.confidence).with_test_of(make_catalog()),
        metrics=given.metric,
        sizes=given.detect or SIZES,
        compared=given.metrics,
        systems=given.systems,
        correlation=given.correlation,
        clusters=named_clusters(results, clusters_typed(given.cluster))[1],
    )
    return print_answer(given, plan.to_dict(), power_lines(plan))
