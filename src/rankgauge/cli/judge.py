"""
`rankgauge judge`: what to judge next, and reading back what was judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from rankgauge.cli.console import echo, print_json, remark
from rankgauge.cli.options import (
    COLUMNS_HELP,
    POLICY_HELP,
    PROFILE_HELP,
    make_catalog,
    policy_options,
    run_names,
    table_columns,
)
from rankgauge.cli.typed import JSON, taking
from rankgauge.errors import NothingToEvaluateError, ParameterError, counted

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.columns import Qrels
    from rankgauge.pooling.queue import Queue

__all__ = ["app"]

app = typer.Typer(help="Queue unjudged documents for a judge, and read the judgments back.", no_args_is_help=True)

_QUEUE_HELP = """\
Queue the unjudged documents that can change a comparison most.

Writes FILE for a judge, and FILE.key.jsonl with runs, ranks and priorities, which the judge should not see. About one
document in ten was judged before, to measure agreement. Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to
judge.
"""

_READ_HELP = """\
Add the judgments of a queue to those that it was made for.

Writes new qrels, and FILE.provenance.jsonl, which says who judged what. Documents that were judged before keep their
grade, and show how well the judges agree. Exit codes: 0 done, 2 usage, or a queue that cannot be used.
"""

_QRELS = Option(metavar="QRELS", help="The judgments.")
_GRADES = "Grades that a judge may give, such as 0,1,2.  [default: 0 and those of the judgments]"
_DEPTH = "Results of each query to look at.  [default: the metric's cutoff, else 100]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueueOptions:
    """What was typed."""

    runs: Annotated[list[str], Argument(metavar="RUN...", help="The runs; two are compared.", show_default=False)]
    qrels: Annotated[str, _QRELS]
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help="The queue, JSON lines.")]
    metric: Annotated[str, Option("--metric", "-m", metavar="METRIC", help="The metric to compare by.")] = "ndcg@10"
    limit: Annotated[int, Option(metavar="N", help="Most documents in the queue.")] = 200
    depth: Annotated[int | None, Option(metavar="N", help=_DEPTH)] = None
    texts: Annotated[Path | None, Option(metavar="FILE", help="The documents' texts, by id.")] = None
    queries: Annotated[Path | None, Option(metavar="FILE", help="The queries' texts, by id.")] = None
    guideline: Annotated[str, Option(metavar="TEXT", help="What to tell the judge.", show_default=False)] = ""
    grades: Annotated[str | None, Option(metavar="GRADES", help=_GRADES, show_default=False)] = None
    seed: Annotated[int, Option(metavar="N", help="Chooses the documents that were judged before.")] = 0
    profile: Annotated[str, Option(metavar="NAME", help=PROFILE_HELP)] = "trec10"
    policy: Annotated[list[str] | None, Option(metavar="NAME=VALUE", help=f"{POLICY_HELP} Repeatable.")] = None
    columns: Annotated[str | None, Option(metavar="NAME=COLUMN,...", help=COLUMNS_HELP)] = None
    as_json: Annotated[bool, JSON] = False


@app.command("queue", help=_QUEUE_HELP)
@taking(_QueueOptions)
def queue(given: _QueueOptions) -> None:
    """Queue; see `_QUEUE_HELP`."""
    names = run_names(given.runs)
    key = Path(f"{given.output}.key.jsonl")
    _refuse_taken(given.output, key)
    from rankgauge.engine.pools import make_queue
    from rankgauge.engine.runs import plan_run
    from rankgauge.pooling.queue_files import decoded, write_lines
    from rankgauge.pooling.queue_layout import key_rows, queue_rows

    catalog = make_catalog()
    options = policy_options(given.policy)
    plan = plan_run([given.metric], profile=given.profile, policy=options, catalog=catalog)
    if len(plan.metrics) != 1:
        msg = f"a queue is ordered by one metric, and {given.metric!r} is {len(plan.metrics)}; name one"
        raise ParameterError(msg)
    found = make_queue(
        plan,
        _judgments(given.qrels, given.columns),
        dict(zip(names, given.runs, strict=True)),
        limit=given.limit,
        depth=given.depth,
        seed=given.seed,
        grades=_grades(given.grades),
        columns=table_columns(given.columns),
    )
    if not found.n_new:
        why = f"none of {counted(found.n_unjudged, 'unjudged document')} can change {found.metric}"
        msg = "there is nothing to judge:"
        raise NothingToEvaluateError(msg, [f"{why} in the first {found.depth:,} results of these runs"])
    queries = _texts(given.queries, {decoded(item.query) for item in found.items}, "query", catalog)
    documents = _texts(given.texts, {decoded(item.document) for item in found.items}, "document", catalog)
    rows = queue_rows(found, guideline=given.guideline, queries=queries, documents=documents)
    write_lines(key, key_rows(found))
    write_lines(given.output, rows)
    if given.as_json:
        print_json(_summary(found, given.output, key))
    else:
        echo("\n".join(_told(found, given.output, key)))


def _summary(found: Queue, output: Path, key: Path) -> dict[str, object]:
    known = len(found.items) - found.n_new
    facts = {"metric": found.metric, "depth": found.depth, "unjudged": found.n_unjudged, "idle": found.n_idle}
    return {"new": found.n_new, "judged_before": known, **facts, "queue": str(output), "key": str(key)}


def _told(found: Queue, output: Path, key: Path) -> Iterable[str]:
    queries = counted(len({item.query for item in found.items}), "query", "queries")
    known = len(found.items) - found.n_new
    what = f"the difference of {found.metric}" if len(found.runs) == 2 else found.metric
    yield f"{counted(found.n_new, 'document')} to judge and {known:,} judged before, of {queries}, by {what}"
    yield (
        f"chosen from {counted(found.n_unjudged, 'unjudged document')} in the first {found.depth:,} results of each "
        f"query, of which {found.n_idle:,} cannot change it"
    )
    yield f"for the judge: {output}"
    yield f"not for the judge: {key}"
    for run, count in zip(found.runs, found.n_unknown, strict=True):
        if count:
            remark(f"{run}: {counted(count, 'query', 'queries')} without any judgment; left out")


def _judgments(path: str, columns: str | None) -> Qrels:
    """Read judgments; refuse those for several intents of a query, which a queue does not ask for."""
    from rankgauge.io.open_sources import open_qrels

    found = open_qrels(path, columns=table_columns(columns), intents=True)
    if found.intents is not None and found.intents.intent.max(initial=0) > 0:
        msg = (
            f"{path} judges documents for several intents of a query (column two), and a queue asks for one grade; "
            "make judgments without intents first"
        )
        raise ParameterError(msg)
    return replace(found, intents=None)


def _grades(written: str | None) -> list[float] | None:
    if written is None:
        return None
    try:
        return [float(grade) for grade in written.split(",")]
    except ValueError:
        msg = f"--grades is a list of numbers separated by commas, such as 0,1,2; not {written!r}"
        raise ParameterError(msg) from None


def _texts(path: Path | None, wanted: Collection[str], what: str, catalog: Catalog) -> dict[str, str]:
    """Read the texts that are wanted; say how many are not there."""
    if path is None:
        return {}
    from rankgauge.io.file_records import read_texts

    found = read_texts(path, wanted, catalog=catalog)
    if absent := sorted(set(wanted) - set(found)):
        ids = counted(len(absent), what, "queries" if what == "query" else "")
        remark(f"{path} has no text for {ids} of the queue, such as {absent[0]!r}")
    return found


def _refuse_taken(*paths: Path) -> None:
    """Refuse files that exist, which may hold somebody's work, and folders that do not."""
    for path in paths:
        if path.exists():
            msg = f"{path} exists; choose another name, or delete it"
            raise ParameterError(msg)
        if not path.absolute().parent.is_dir():
            msg = f"cannot write {path}: there is no folder {path.parent}"
            raise ParameterError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReadOptions:
    """What was typed."""

    queue: Annotated[Path, Argument(metavar="QUEUE", help="A queue that was filled in.", show_default=False)]
    qrels: Annotated[str, _QRELS]
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help="The new judgments, TREC qrels.")]
    judge: Annotated[
        str, Option(metavar="NAME", help="Who judged the lines that name nobody; model:NAME for a model.")
    ] = ""
    with_models: Annotated[bool, Option("--with-models", help="Take grades given by models.")] = False
    rel: Annotated[float, Option(metavar="GRADE", help="Lowest grade of a relevant document.")] = 1.0
    columns: Annotated[str | None, Option(metavar="NAME=COLUMN,...", help=COLUMNS_HELP)] = None
    as_json: Annotated[bool, JSON] = False


@app.command("read", help=_READ_HELP)
@taking(_ReadOptions)
def read(given: _ReadOptions) -> None:
    """Read; see `_READ_HELP`."""
    from rankgauge.pooling.new_judgments import compare_judgments, provenance_path, write_judgments
    from rankgauge.pooling.queue_files import read_queue
    from rankgauge.pooling.queue_layout import judgments_summary, judgments_text

    side = provenance_path(given.output)
    _refuse_taken(given.output, side)
    qrels = _judgments(given.qrels, given.columns)
    graded = read_queue(given.queue, qrels, judge=given.judge, with_models=given.with_models)
    found = compare_judgments(graded, qrels, rel=given.rel)
    write_judgments(given.output, qrels, found.added)
    if given.as_json:
        print_json(judgments_summary(found) | {"qrels": str(given.output), "provenance": str(side)})
    else:
        echo("\n".join([*judgments_text(found), f"wrote {given.output}", f"who judged what: {side}"]))
