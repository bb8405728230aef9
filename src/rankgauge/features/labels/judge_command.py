"""
`rankgauge judge`: what to judge next, and reading back what was judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.cli.console import echo, print_answer, print_json, remark
from rankgauge.cli.conventions import Conventions, make_catalog, policy_options, run_names, table_columns
from rankgauge.cli.shared_options import OF_RUNS
from rankgauge.columns import Qrels
from rankgauge.errors import NothingToEvaluateError, ParameterError, counted
from rankgauge.features.labels.label_options import QUEUE_LIMIT
from rankgauge.features.labels.new_judgments import (
    compare_judgments,
    unjudged_queries,
    write_judgments,
)
from rankgauge.features.labels.pools import make_first_queue, make_queue
from rankgauge.features.labels.queue import Queue, judgments_summary, judgments_text, key_rows, queue_rows
from rankgauge.features.labels.queue_files import decoded, read_queue, read_scale
from rankgauge.io.file_records import read_texts
from rankgauge.io.ir_datasets_names import TextOf
from rankgauge.io.judgment_sources import provenance_path
from rankgauge.io.open_sources import open_qrels
from rankgauge.io.whole_files import check_new_file, json_lines, write_whole
from rankgauge.planning.plan import Plan


def execute_queue(given: argparse.Namespace) -> int:
    """Write what to judge next."""
    if given.qrels is None and given.limit is not None:
        raise ParameterError("--limit is for judgments that exist; without --qrels --questions makes the queue shorter")
    if given.qrels is not None and given.questions is not None:
        raise ParameterError("--questions is for judging from scratch; with --qrels --limit makes the queue shorter")
    names = run_names(given.runs)
    key = Path(f"{given.output}.key.jsonl")
    check_new_file(given.output)
    check_new_file(key)
    conventions = Conventions(
        profile=given.profile or OF_RUNS,
        policy=policy_options(given.policy),
        columns=table_columns(given.columns, given.reader, given.letters),
        catalog=make_catalog(),
    )
    plan = conventions.plan([given.metric])
    if len(plan.metrics) != 1:
        raise ParameterError(f"a queue is ordered by one metric, and {given.metric!r} is {len(plan.metrics)}; name one")
    queue = _made(given, plan, dict(zip(names, given.runs, strict=True)), conventions.columns)
    if not queue.n_new:
        why = f"none of {counted(queue.n_unjudged, 'unjudged document')} can change {queue.metric}"
        where = f"in the first {queue.depth:,} results of these runs"
        raise NothingToEvaluateError("there is nothing to judge:", [f"{why} {where}"])
    queries = _texts(given.queries, {decoded(item.query) for item in queue.items}, "query", conventions.catalog)
    documents = _texts(given.texts, {decoded(item.document) for item in queue.items}, "document", conventions.catalog)
    rows = queue_rows(queue, guideline=given.guideline, queries=queries, documents=documents)
    write_whole({key: json_lines(key_rows(queue)), given.output: json_lines(rows)})
    if given.as_json:
        print_json(_summary(queue, given.output, key))
    else:
        echo("\n".join(_told(queue, given.output, key)))
    return 0


def _made(given: argparse.Namespace, plan: Plan, runs: Mapping[str, str], columns: Mapping[str, str] | None) -> Queue:
    how: dict[str, Any] = {"depth": given.depth, "seed": given.seed, "columns": columns}
    how["grades"] = None if given.grades is None else read_scale(given.grades)
    if given.qrels is None:
        return make_first_queue(plan, runs, questions=given.questions, **how)
    limit = QUEUE_LIMIT if given.limit is None else given.limit
    return make_queue(plan, _judgments(given.qrels, columns), runs, limit=limit, **how)


def _summary(queue: Queue, output: Path, key: Path) -> dict[str, object]:
    known = len(queue.items) - queue.n_new
    facts = {"metric": queue.metric, "depth": queue.depth, "unjudged": queue.n_unjudged, "idle": queue.n_idle}
    return {"new": queue.n_new, "judged_before": known, **facts, "queue": str(output), "key": str(key)}


def _told(queue: Queue, output: Path, key: Path) -> Iterable[str]:
    queries = counted(len({item.query for item in queue.items}), "query", "queries")
    if not queue.fingerprint:
        tops = f"every one in the first {queue.depth:,} results of {'any run' if len(queue.runs) > 1 else 'the run'}"
        yield f"{counted(queue.n_new, 'document')} to judge, of {queries}: {tops}"
        yield f"for the judge: {output}"
        yield f"not for the judge: {key}"
        return
    known = len(queue.items) - queue.n_new
    what = f"the difference of {queue.metric}" if len(queue.runs) == 2 else queue.metric
    yield f"{counted(queue.n_new, 'document')} to judge and {known:,} judged before, of {queries}, by {what}"
    yield (
        f"chosen from {counted(queue.n_unjudged, 'unjudged document')} in the first {queue.depth:,} results of each "
        f"query, of which {queue.n_idle:,} cannot change it"
    )
    yield f"for the judge: {output}"
    yield f"not for the judge: {key}"
    for run, count in zip(queue.runs, queue.n_unknown, strict=True):
        if count:
            remark(f"{run}: {counted(count, 'query', 'queries')} without any judgment; left out")


def _judgments(path: str, columns: Mapping[str, str] | None) -> Qrels:
    """Read judgments; refuse those for several intents of a query, which a queue does not ask for."""
    qrels = open_qrels(path, columns=columns, intents=True)
    if qrels.intents is not None and qrels.intents.intent.max(initial=0) > 0:
        why = "judges documents for several intents of a query (column two), and a queue asks for one grade"
        raise ParameterError(f"{path} {why}; make judgments without intents first")
    return replace(qrels, intents=None)


def _texts(file: Path | None, wanted: Collection[str], what: TextOf, catalog: Catalog) -> dict[str, str]:
    """Read the texts that are wanted; say how many are not there."""
    if file is None:
        return {}
    texts = read_texts(file, wanted, of=what, catalog=catalog)
    if absent := sorted(set(wanted) - set(texts)):
        ids = counted(len(absent), what, "queries" if what == "query" else "")
        remark(f"{file} has no text for {ids} of the queue, such as {absent[0]!r}")
    return texts


def execute_read(given: argparse.Namespace) -> int:
    """Add the judgments of a queue to those that it was made for."""
    side = provenance_path(given.output)
    check_new_file(given.output)
    check_new_file(side)
    known = (
        None if given.qrels is None else _judgments(given.qrels, table_columns(given.columns, letters=given.letters))
    )
    graded = read_queue(given.queue, known, judge=given.judge, with_models=given.with_models)
    qrels = unjudged_queries(judged.query for judged in graded) if known is None else known
    compared = compare_judgments(graded, qrels, rel=given.rel)
    write_judgments(given.output, qrels, compared.added)
    facts = judgments_summary(compared) | {"qrels": str(given.output), "provenance": str(side)}
    lines = [*judgments_text(compared), f"wrote {given.output}", f"who judged what: {side}"]
    return print_answer(given, facts, "\n".join(lines))
