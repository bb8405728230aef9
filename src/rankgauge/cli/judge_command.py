"""
`rankgauge judge`: what to judge next, and reading back what was judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import echo, print_json, remark
from rankgauge.cli.shared_options import (
    OF_RUNS,
    add_columns_option,
    add_json_option,
    add_policy_options,
    finite,
    path,
)
from rankgauge.errors import NothingToEvaluateError, ParameterError, counted

if TYPE_CHECKING:
    from pathlib import Path

    from rankgauge.catalog import Catalog
    from rankgauge.columns import Qrels
    from rankgauge.io.ir_datasets_names import TextOf
    from rankgauge.planning.plan import Plan
    from rankgauge.pooling.queue import Queue

__all__ = ["QUEUE", "READ"]

_ABOUT_QUEUE = """\
Without --qrels it queues whole questions: every document in the first results of any run, for judgments from scratch.
With --qrels it queues the documents that can change the comparison most.

Writes FILE for a judge, and FILE.key.jsonl with runs, ranks and priorities, which the judge should not see. With
--qrels about one document in ten was judged before, to measure agreement.

Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to judge.
"""

_LIMIT = 200

_ABOUT_READ = """\
Writes new qrels, and FILE.provenance.jsonl, which says who judged what. Documents that were judged before keep their
grade, and show how well the judges agree.

Exit codes: 0 done, 2 usage, or a queue that cannot be used.
"""


def _queue_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", metavar="RUN", nargs="+", help="The runs; two are compared.")
    add("--qrels", metavar="QRELS", help="The judgments. [default: none, nothing is judged yet]")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The queue, JSON lines.")
    metric = "The metric to compare by; its cutoff is the depth. [default: %(default)s]"
    add("-m", "--metric", default="ndcg@10", metavar="METRIC", help=metric)
    add("--limit", type=int, metavar="N", help=f"With --qrels: most documents in the queue. [default: {_LIMIT}]")
    questions = "Without --qrels: how many questions, drawn at random. [default: all]"
    add("--questions", type=int, metavar="N", help=questions)
    depth = "Results of each query to look at. [default: the metric's cutoff, else 100]"
    add("--depth", type=int, metavar="N", help=depth)
    add("--texts", type=path, metavar="FILE", help="The documents' texts, by id.")
    add("--queries", type=path, metavar="FILE", help="The queries' texts, by id.")
    add("--guideline", default="", metavar="TEXT", help="What to tell the judge.")
    grades = "Grades that a judge may give, such as 0,1,2. [default: 0 and those of the judgments; 0,1 without]"
    add("--grades", metavar="GRADES", help=grades)
    seed = "Chooses the questions, or the documents that were judged before. [default: %(default)s]"
    add("--seed", type=int, default=0, metavar="N", help=seed)
    add_policy_options(parser, OF_RUNS)
    add_columns_option(parser)
    add_json_option(parser)


def _queue(given: argparse.Namespace) -> int:
    from pathlib import Path

    from rankgauge.cli.conventions import Conventions, make_catalog, policy_options, run_names, table_columns

    if given.qrels is None and given.limit is not None:
        raise ParameterError("--limit is for judgments that exist; without --qrels --questions makes the queue shorter")
    if given.qrels is not None and given.questions is not None:
        raise ParameterError("--questions is for judging from scratch; with --qrels --limit makes the queue shorter")
    names = run_names(given.runs)
    key = Path(f"{given.output}.key.jsonl")
    _refuse_taken(given.output, key)
    from rankgauge.pooling.queue import key_rows, queue_rows
    from rankgauge.pooling.queue_files import decoded, lines_of, write_files

    conventions = Conventions(
        profile=given.profile,
        policy=policy_options(given.policy),
        columns=table_columns(given.columns),
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
    write_files({key: lines_of(key_rows(queue)), given.output: lines_of(rows)})
    if given.as_json:
        print_json(_summary(queue, given.output, key))
    else:
        echo("\n".join(_told(queue, given.output, key)))
    return 0


def _made(given: argparse.Namespace, plan: Plan, runs: Mapping[str, str], columns: Mapping[str, str] | None) -> Queue:
    how: dict[str, Any] = {
        "depth": given.depth,
        "seed": given.seed,
        "grades": _grades(given.grades),
        "columns": columns,
    }
    if given.qrels is None:
        from rankgauge.engine.pools import make_first_queue

        return make_first_queue(plan, runs, questions=given.questions, **how)
    from rankgauge.engine.pools import make_queue

    return make_queue(
        plan, _judgments(given.qrels, columns), runs, limit=_LIMIT if given.limit is None else given.limit, **how
    )


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
    from dataclasses import replace

    from rankgauge.io.open_sources import open_qrels

    qrels = open_qrels(path, columns=columns, intents=True)
    if qrels.intents is not None and qrels.intents.intent.max(initial=0) > 0:
        msg = (
            f"{path} judges documents for several intents of a query (column two), and a queue asks for one grade; "
            "make judgments without intents first"
        )
        raise ParameterError(msg)
    return replace(qrels, intents=None)


def _grades(written: str | None) -> list[float] | None:
    if written is None:
        return None
    try:
        return [float(grade) for grade in written.split(",")]
    except ValueError:
        hint = f"separated by commas, such as 0,1,2; not {written!r}"
        raise ParameterError(f"--grades is a list of numbers {hint}") from None


def _texts(file: Path | None, wanted: Collection[str], what: TextOf, catalog: Catalog) -> dict[str, str]:
    """Read the texts that are wanted; say how many are not there."""
    if file is None:
        return {}
    from rankgauge.io.file_records import read_texts

    texts = read_texts(file, wanted, of=what, catalog=catalog)
    if absent := sorted(set(wanted) - set(texts)):
        ids = counted(len(absent), what, "queries" if what == "query" else "")
        remark(f"{file} has no text for {ids} of the queue, such as {absent[0]!r}")
    return texts


def _refuse_taken(*files: Path) -> None:
    """Refuse files that exist, which may hold somebody's work, and folders that do not."""
    for file in files:
        if file.exists():
            raise ParameterError(f"{file} exists; choose another name, or delete it")
        if not file.absolute().parent.is_dir():
            raise ParameterError(f"cannot write {file}: there is no folder {file.parent}")


def _read_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("queue", metavar="QUEUE", type=path, help="A queue that was filled in.")
    add("--qrels", metavar="QRELS", help="The judgments that the queue was made for, if any.")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The new judgments, TREC qrels.")
    judge = "Who judged the lines that name nobody; model:NAME for a model."
    add("--judge", default="", metavar="NAME", help=judge)
    add("--with-models", action="store_true", help="Take grades given by models.")
    rel = "Lowest grade of a relevant document. [default: %(default)s]"
    add("--rel", type=finite, default=1.0, metavar="GRADE", help=rel)
    add_columns_option(parser)
    add_json_option(parser)


def _read(given: argparse.Namespace) -> int:
    from rankgauge.cli.conventions import table_columns
    from rankgauge.pooling.judgment_sources import provenance_path
    from rankgauge.pooling.new_judgments import compare_judgments, unjudged_queries, write_judgments
    from rankgauge.pooling.queue import judgments_summary, judgments_text
    from rankgauge.pooling.queue_files import read_queue

    side = provenance_path(given.output)
    _refuse_taken(given.output, side)
    known = None if given.qrels is None else _judgments(given.qrels, table_columns(given.columns))
    graded = read_queue(given.queue, known, judge=given.judge, with_models=given.with_models)
    qrels = unjudged_queries(each.query for each in graded) if known is None else known
    compared = compare_judgments(graded, qrels, rel=given.rel)
    write_judgments(given.output, qrels, compared.added)
    if given.as_json:
        print_json(judgments_summary(compared) | {"qrels": str(given.output), "provenance": str(side)})
    else:
        echo("\n".join([*judgments_text(compared), f"wrote {given.output}", f"who judged what: {side}"]))
    return 0


QUEUE = Command("[OPTIONS] -o FILE RUN [RUN ...]", _ABOUT_QUEUE, _queue_options, _queue)
READ = Command("[OPTIONS] -o FILE QUEUE", _ABOUT_READ, _read_options, _read)
