"""
What reads saved results, and runs like them: `rankgauge report`, `explain`, `funnel`, `power` and `threshold`.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.console import print_answer, terminal_width
from rankgauge.cli.conventions import Conventions, clusters_typed, make_catalog
from rankgauge.cli.result_folders import check_html, stored_results, write_html
from rankgauge.cli.result_options import FUNNEL_OF_RUNS
from rankgauge.cli.shared_options import JUDGING, typed
from rankgauge.comparison.clusters import clustered
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.power import SIZES, plan_power, power_lines
from rankgauge.engine.comparing import named_clusters
from rankgauge.engine.explaining import explain_query, explain_result
from rankgauge.engine.result import Result
from rankgauge.engine.runs import RunEvaluation
from rankgauge.errors import ParameterError, did_you_mean
from rankgauge.explain import Explanation
from rankgauge.explain.explanation import explanation_lines
from rankgauge.features.funnel import Funnel
from rankgauge.features.funnel.funnel import funnel_lines
from rankgauge.features.funnel.funneling import funnel, funnel_of_runs
from rankgauge.features.threshold.threshold import threshold, threshold_lines


def execute_report(given: argparse.Namespace) -> int:
    """Write saved results as one HTML file."""
    check_html(given.output)
    hint = "of TREC runs, rankgauge compare --qrels QRELS --html FILE writes a report"
    results = stored_results(given.folders, given.dataset, of_runs=hint)
    write_html(given.output, results, texts=given.texts, queries=given.queries)
    return 0


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
    judged = RunEvaluation(plan, conventions.judgments(given.qrels, plan), conventions.run(given.run, plan))
    return explain_query(judged, given.names[0])


def execute_funnel(given: argparse.Namespace) -> int:
    """Print where a pipeline loses what is relevant, stage by stage."""
    found = _funnel_of_folder(given) if given.folder is not None else _funnel_of_runs(given)
    return print_answer(given, found.to_dict(), funnel_lines(found, width=terminal_width()))


def _funnel_of_folder(given: argparse.Namespace) -> Funnel:
    if idle := typed(given, FUNNEL_OF_RUNS):
        raise ParameterError(f"{idle[0]} is for runs (--qrels and --stage); a result folder tells its stages")
    return funnel(Result.load(given.folder), given.metric, items=given.items, catalog=make_catalog())


def _funnel_of_runs(given: argparse.Namespace) -> Funnel:
    for option, name in (("--qrels", "qrels"), ("--stage", "stage"), ("-m", "metric")):
        if not getattr(given, name):
            raise ParameterError(f"give a result folder; or, of runs, --qrels, --stage and -m ({option} is missing)")
    files = _assigned(given.stage, "--stage", "NAME=RUN")
    order = list(files)
    sources = {name: order[:at][-1:] for at, name in enumerate(order)}
    for name, text in _assigned(given.sources or [], "--from", "NAME=STAGES").items():
        if name not in files:
            raise ParameterError(f"--from {name}={text}: no --stage is called {name!r}{did_you_mean(name, order)}")
        earlier = order[: order.index(name)]
        sources[name] = [source for source in text.split(",") if source]
        for source in sources[name]:
            if source not in earlier:
                hint = did_you_mean(source, earlier)
                raise ParameterError(f"--from {name}={text}: {source!r} is no earlier --stage{hint}")
    conventions = Conventions.of(given)
    plan = conventions.plan_one(given.metric)
    runs = {name: conventions.run(file, plan) for name, file in files.items()}
    return funnel_of_runs(plan, conventions.judgments(given.qrels, plan), runs, sources, items=given.items)


def _assigned(written: list[str], option: str, form: str) -> dict[str, str]:
    """Return what was typed as pairs of a name and a value."""
    pairs: dict[str, str] = {}
    for text in written:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ParameterError(f"{option} takes {form}, not {text!r}")
        if name in pairs:
            raise ParameterError(f"{option} names {name!r} twice")
        pairs[name] = value
    return pairs


def execute_power(given: argparse.Namespace) -> int:
    """Print how many questions a comparison needs to show a difference of some size."""
    hint = "save the scores of TREC runs as a result folder first: rankgauge trec QRELS RUN -o FOLDER"
    results = stored_results(given.runs, given.dataset, of_runs=hint)
    plan = plan_power(
        results,
        method=Method(test=given.test, confidence=given.confidence),
        metrics=given.metric,
        sizes=given.detect or SIZES,
        compared=given.metrics,
        systems=given.systems,
        correlation=given.correlation,
        clusters=named_clusters(results, clusters_typed(given.cluster))[1],
    )
    return print_answer(given, plan.to_dict(), power_lines(plan))


def execute_threshold(given: argparse.Namespace) -> int:
    """Print below which score a system should say nothing."""
    hint = "a threshold needs questions that are declared unanswerable, which runs cannot say"
    results = stored_results([given.folder], given.dataset, of_runs=hint)
    by, clusters = named_clusters(results, clusters_typed(given.cluster))
    (result,) = results.values()
    if clusters is not None:
        result = clustered(result, clusters, by)
    how = {"at_most": given.at_most, "confidence": given.confidence, "seed": given.seed}
    chosen = threshold(result, given.metric, **how)
    return print_answer(given, chosen.to_dict(), threshold_lines(chosen))
