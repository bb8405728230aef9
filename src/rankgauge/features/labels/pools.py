"""
Making a queue: runs are read once, judged where there are judgments, and the tops of their rankings pooled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.columns import Judged, Qrels, RankingBatch, RunSource
from rankgauge.engine.excluded_runs import excluded_judgments, narrowed_run
from rankgauge.errors import NothingToEvaluateError, ParameterError, PolicyError
from rankgauge.features.labels.new_judgments import unjudged_queries
from rankgauge.features.labels.queue import Pooled, Queue, Shortlist, changes, priorities
from rankgauge.features.labels.queue_files import checked_scale
from rankgauge.io.open_sources import QrelsLike, RunLike, open_qrels, open_run
from rankgauge.judging import BatchJudge, RunCollector, ScatteredError
from rankgauge.judging.top import Top, TopCollector
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric

__all__ = ["UNCUT_DEPTH", "look_at", "make_first_queue", "make_queue"]


UNCUT_DEPTH = 100
"""How many results of each query are looked at if the metric has no cutoff."""

_AT_ONCE = 1 << 16
"""How many results are pooled at once, more or less."""

_MOST_GRADES = 20


def make_queue(
    plan: Plan,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    limit: int = 200,
    depth: int | None = None,
    seed: int = 0,
    grades: Sequence[float] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Queue:
    """
    Return which unjudged documents to judge next.

    Args:
        plan: A plan with one metric, as `plan_run` makes it; judging is queued by how much that can change.

        qrels: Judgments, as `rankgauge.evaluate` takes them.

        runs: Runs by name, likewise. Of two, the queue is about their difference.

        limit: How many documents at most, those that were judged before included.

        depth: How many results of each query to look at; by default as many as the metric does, 100 if it has no
            cutoff.

        seed: What chooses the documents that were judged before.

        grades: The grades that a judge may give; by default 0 and those of the judgments.

        columns: The tables' own names, as `rankgauge.evaluate` takes them.

    Returns:
        The queue, the most urgent document first.

    Raises:
        ParameterError: A limit, depth, or set of grades that cannot be.

        PolicyError: A policy under which there are no unjudged documents, or no settled ranks.

        DataError: Judgments or runs that cannot be used.

        NothingToEvaluateError: No query of a run is judged.
    """
    (metric,) = plan.metrics
    if metric.unit is not None:
        raise ParameterError(f"a queue is of documents to judge, and {metric.name!r} is of units; leave out its unit")
    depth = _depth(plan, limit, depth)
    excluded = plan.profile.policy.excluded
    judgments = qrels if isinstance(qrels, Qrels) else open_qrels(qrels, columns=columns, catalog=plan.catalog)
    judgments = excluded_judgments(judgments, excluded)
    scale = _scale_of(judgments) if grades is None else checked_scale(grades)
    opened = [open_run(run, columns=columns, catalog=plan.catalog) for run in runs.values()]
    looked_at = [look_at(plan, judgments, narrowed_run(run, plan.profile.policy), depth) for run in opened]
    shortlist = Shortlist(limit, seed)
    for pooled in _pooled_of(judgments, [each.top for each in looked_at]):
        shortlist.add(_weighed(plan, metric, [each.judged for each in looked_at], judgments, pooled, scale[-1]))
    return Queue(
        items=shortlist.items(),
        runs=tuple(runs),
        metric=metric.spellings[0],
        depth=depth,
        seed=seed,
        fingerprint=judgments.fingerprint,
        grades=scale,
        n_unjudged=shortlist.n_unjudged,
        n_idle=shortlist.n_idle,
        n_unknown=tuple(each.n_unknown for each in looked_at),
    )


def make_first_queue(
    plan: Plan,
    runs: Mapping[str, RunLike],
    *,
    questions: int | None = None,
    depth: int | None = None,
    seed: int = 0,
    grades: Sequence[float] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Queue:
    """
    Return every document near the top of a run, of all questions or of some drawn at random; nothing is judged yet.

    A seed draws questions in one order, so that fewer of them are part of more. Documents of a question are together,
    shuffled. The other arguments and the errors are those of `make_queue`.
    """
    depth = _depth(plan, questions, depth, what="number of questions")
    scale = (0.0, 1.0) if grades is None else checked_scale(grades)
    policy, catalog = plan.profile.policy, plan.catalog
    opened = [narrowed_run(open_run(run, columns=columns, catalog=catalog), policy) for run in runs.values()]
    names = {name for source in opened for batch in source.grouped() for name in batch.queries}
    if not names:
        raise NothingToEvaluateError("there is nothing to judge:", ["the runs have no query"])
    wanted = sorted(names, key=lambda name: _draw(seed, name))
    if questions is not None and questions > len(wanted):
        raise ParameterError(f"{questions:,} questions are asked for, and the runs have {len(wanted):,}")
    wanted = wanted[:questions]
    nothing = unjudged_queries(wanted)
    tops = [look_at(plan, nothing, source, depth, require_overlap=False).top for source in opened]
    items = [
        Pooled(query=nothing.queries[place], document=document, ranks=tuple(ranks))
        for pooled in _pooled_of(nothing, tops)
        for (place, document), ranks in pooled.items()
    ]
    items.sort(key=lambda item: (_draw(seed, item.query), _draw(seed, item.query, item.document)))
    return Queue(
        items=items,
        runs=tuple(runs),
        metric="",
        depth=depth,
        seed=seed,
        fingerprint="",
        grades=scale,
        n_unjudged=len(items),
        n_idle=0,
        n_unknown=(0,) * len(runs),
    )


def _draw(seed: int, *names: bytes) -> bytes:
    return hashlib.sha256(b"\0".join((str(seed).encode(), *names))).digest()


def _depth(plan: Plan, limit: int | None, depth: int | None, what: str = "limit") -> int:
    """Return how many results of each query to look at; refuse numbers, policies and metrics of which no queue is."""
    for name, value in ((f"the {what}", limit), ("the depth", depth)):
        if value is not None and value < 1:
            raise ParameterError(f"{name} of a queue must be 1 or more, not {value}")
    policy = plan.profile.policy
    if policy.judged_only:
        msg = "policy judged_only=true drops every unjudged document, so there is nothing to queue; leave it out"
        raise PolicyError(msg)
    if policy.settles_ties_late:
        raise PolicyError(
            f"policy ties={policy.ties} settles no ranks, and a queue goes by rank; choose ties=docno or given"
        )
    (metric,) = plan.metrics
    if needs := [need for need in metric.metric.judging.needs if need != "intents"]:
        raise ParameterError(
            f"{metric.name!r} needs the {' and '.join(needs)} of results, and a queue tries grades without these; "
            "choose another metric"
        )
    usual = plan.default_k.k if metric.cut.rule == "free" else UNCUT_DEPTH
    return depth or metric.cut.k or usual


def _scale_of(qrels: Qrels) -> tuple[float, ...]:
    """Return the grades of the judgments, from 0 to the highest."""
    scale = {0.0, *(grade for grade in np.unique(qrels.grades).tolist() if grade >= 0)}
    if len(scale) > _MOST_GRADES:
        msg = f"the judgments have {len(scale)} different grades; say which a judge may give (--grades 0,1,2)"
        raise ParameterError(msg)
    return tuple(sorted(scale if max(scale) > 0 else {0.0, 1.0}))


class _LookedAt(NamedTuple):
    """A run: its judged rows, and what it has near the top."""

    judged: Judged
    top: Top
    n_unknown: int


def look_at(plan: Plan, qrels: Qrels, run: RunSource, depth: int, *, require_overlap: bool = True) -> _LookedAt:
    """Read a run: what is judged of it, and what it has near the top."""
    every = plan.profile.adapted({"queries": "judged"})  # so that samples and judgments have the same places

    def read(batches: Iterable[RankingBatch]) -> _LookedAt:
        collector, top = RunCollector(qrels, every), TopCollector(qrels, every.policy, depth)
        judge = BatchJudge(collector, top)
        for batch in batches:
            judge.add(batch)
        evidence = collector.finish(run.name or "the run", require_overlap=require_overlap)
        return _LookedAt(evidence.judged, top.finish(), collector.n_unjudged)

    try:
        return read(batch for part in run.parts(1) for batch in part)
    except ScatteredError:
        return read(run.grouped())


def _pooled_of(qrels: Qrels, tops: Sequence[Top]) -> Iterator[dict[tuple[int, bytes], list[int]]]:
    """Yield for some queries after the other the ranks that each run gives a document, by query and document."""
    sizes = np.bincount(np.concatenate([top.places for top in tops]), minlength=qrels.n_queries)
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(ends):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        pooled: dict[tuple[int, bytes], list[int]] = {}
        for number, top in enumerate(tops):
            for place, rank, document in top.of_queries(begin, end):
                ranks = pooled.setdefault((place, document), [0] * len(tops))
                ranks[number] = ranks[number] or rank  # a repeat that the policy keeps is further down
        yield pooled
        begin = end


def _weighed(
    plan: Plan,
    metric: PlannedMetric,
    runs: Sequence[Judged],
    qrels: Qrels,
    pooled: Mapping[tuple[int, bytes], Sequence[int]],
    grade: float,
) -> Iterator[Pooled]:
    """Yield each pooled document with its grade, or with how much judging it can change."""
    known = _grades(qrels, {place for place, _ in pooled})
    new = [key for key in pooled if key not in known]
    samples = np.array([place for place, _ in new], dtype=np.int64)
    ranks = np.array([pooled[key] for key in new], dtype=np.int64).reshape(-1, len(runs))
    effects = [changes(plan, metric, judged, samples, ranks[:, number], grade) for number, judged in enumerate(runs)]
    weights = dict(zip(new, priorities(effects).tolist(), strict=True))
    for (place, document), own in pooled.items():
        yield Pooled(
            query=qrels.queries[place],
            document=document,
            ranks=tuple(own),
            priority=weights.get((place, document), 0.0),
            grade=known.get((place, document)),
        )


def _grades(qrels: Qrels, places: set[int]) -> dict[tuple[int, bytes], float]:
    """Return the grades of some queries; a grade below 0 marks an unjudged document."""
    if not places:
        return {}
    first, last = np.searchsorted(qrels.owners, (min(places), max(places) + 1)).tolist()
    rows = first + np.flatnonzero(qrels.grades[first:last] >= 0)
    documents = qrels.documents.at(rows).texts()
    keys = zip(qrels.owners[rows].tolist(), documents, strict=True)
    return dict(zip(keys, qrels.grades[rows].tolist(), strict=True))
