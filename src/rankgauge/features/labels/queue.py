"""
Queues: which unjudged documents to judge next, by how much each could change a comparison, and how they are laid out.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.base.frozen import freeze_fields
from rankgauge.base.plain_text import visible
from rankgauge.columns import Floats, Ints, Judged, Rows
from rankgauge.errors import counted
from rankgauge.features.labels.new_judgments import NewJudgments
from rankgauge.features.labels.queue_files import SCHEMA_VERSION, decoded
from rankgauge.judging import Evidence
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.scoring.score import JudgedBatch, score_metric
from rankgauge.stats import Agreement

__all__ = [
    "KEY_SCHEMA_VERSION",
    "Pooled",
    "Queue",
    "Shortlist",
    "changes",
    "judgments_summary",
    "judgments_text",
    "key_rows",
    "priorities",
    "queue_rows",
    "with_one_more",
]

_DIGITS = 12
"""To how many decimals priorities are compared, so that rounding errors order nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """A document that a run has near the top of a query."""

    query: bytes
    document: bytes
    ranks: tuple[int, ...]  # in each run, 0 if the run does not have it near the top
    priority: float = 0.0  # how much judging it can change the comparison; 0 for one that is judged
    grade: float | None = None  # None for an unjudged one

    @property
    def order(self) -> tuple[float, int, bytes, bytes]:
        """Return what puts the more urgent document first."""
        return -round(self.priority, _DIGITS), min(filter(None, self.ranks)), self.query, self.document


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """What to judge next: documents in the order in which to judge them, some of them judged before."""

    items: Sequence[Pooled]
    runs: tuple[str, ...]  # that ranks are of
    metric: str  # the column that priorities are of; empty if nothing was judged, and all is to be
    depth: int  # how many results of each query were looked at
    seed: int  # of the choice among documents that were judged before
    fingerprint: str  # of the judgments that the queue was made for; empty if there are none
    grades: tuple[float, ...]  # that a judge may give
    n_unjudged: int  # how many unjudged documents were looked at
    n_idle: int  # how many of them cannot change the comparison
    n_unknown: tuple[int, ...]  # for each run, how many of its queries have no judged document

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def n_new(self) -> int:
        """Return how many items are unjudged."""
        return sum(item.grade is None for item in self.items)


def priorities(changes: Sequence[Floats]) -> Floats:
    """Return how much each document can change a comparison: of two runs the difference, else the sum of changes."""
    if len(changes) == 2:
        return np.abs(changes[0] - changes[1])
    total: Floats = np.sum(np.abs(changes), axis=0)
    return total


class Shortlist:
    """Takes pooled documents in any number of steps, and keeps no more than a queue of some length can hold."""

    def __init__(self, limit: int, seed: int) -> None:
        self._limit = limit
        self._seed = seed
        self._new: list[Pooled] = []
        self._known: list[tuple[bytes, Pooled]] = []
        self.n_unjudged = self.n_idle = 0

    def add(self, pooled: Iterable[Pooled]) -> None:
        """Take some more documents."""
        for document in pooled:
            if document.grade is not None:
                self._known.append((self._draw(document), document))
            elif round(document.priority, _DIGITS) > 0:
                self._new.append(document)
            else:
                self.n_idle += 1
            self.n_unjudged += document.grade is None
        self._new = sorted(self._new, key=lambda document: document.order)[: self._limit]
        self._known = sorted(self._known, key=lambda drawn: drawn[0])[: self._limit]

    def items(self) -> list[Pooled]:
        """
        Return the queue: the most urgent documents first, and about one in ten judged before.

        The judged ones are drawn by a hash of the seed, so that the choice is the same on every machine, and are at
        a place drawn the same way in each ten, so that any beginning of the queue has its share of them.
        """
        tenth = round(self._limit / 10)
        new = self._new[: self._limit - tenth]
        known = self._known[: tenth if len(new) + tenth == self._limit else round(len(new) / 9)]
        items: list[Pooled] = []
        for number, (draw, judged) in enumerate(known):
            nine = new[9 * number : 9 * number + 9]
            nine.insert(draw[-1] % (len(nine) + 1), judged)
            items += nine
        return items + new[9 * len(known) :]

    def _draw(self, document: Pooled) -> bytes:
        return hashlib.sha256(b"\0".join((str(self._seed).encode(), document.query, document.document))).digest()


_AT_ONCE = 1 << 20
"""How many judged and gold rows are scored at once, more or less."""


def changes(plan: Plan, metric: PlannedMetric, judged: Judged, samples: Ints, ranks: Ints, grade: float) -> Floats:
    """
    Return how much a score changes when one unjudged document gets a grade.

    Each document is one of *samples* with the rank at which the run has it, 0 if the run does not retrieve it, which
    still changes what the run could have found. A sample without a score counts as 0.
    """
    extra = {"max_grade": max(grade, float(judged.gold.grade.max(initial=0.0)))} if metric.infers_max_grade else {}

    def scores(of: Judged) -> Floats:
        batch = JudgedBatch(dict.fromkeys(plan.targets, Evidence(of)), {}, [None] * of.n)
        return np.nan_to_num(score_metric(plan, metric, metric.targets[0], batch, extra).outcome.values)

    before = scores(judged)
    after = np.empty(len(samples))
    for part in _parts(judged, samples):
        after[part] = scores(with_one_more(judged.take(samples[part]), ranks[part], grade))
    return after - before[samples]


def with_one_more(judged: Judged, ranks: Ints, grade: float) -> Judged:
    """Return the samples with one more gold item each, retrieved at the rank given, or nowhere if that is 0."""
    n = judged.n
    own, new = np.arange(n), np.flatnonzero(ranks > 0)
    n_gold = len(judged.gold.sample)
    counts = np.bincount(judged.gold.sample, minlength=n)
    gold = _joined(judged.gold, Rows(own, counts + 1, np.full(n, grade), n_gold + own))
    rows = _joined(judged.rows, Rows(new, ranks[new], np.full(len(new), grade), n_gold + new))
    place = np.argsort(gold_order := np.lexsort((gold.rank, gold.sample)))
    rows = rows._replace(gold=place[rows.gold])
    row_order = np.lexsort((rows.rank, rows.sample))
    in_order = gold.where(gold_order)._replace(gold=np.arange(n_gold + n))
    return dataclasses.replace(
        judged,
        rows=rows.where(row_order),
        first=np.append(judged.first, np.ones(len(new), dtype=np.bool_))[row_order],
        earns=np.append(judged.earns, np.ones(len(new), dtype=np.bool_))[row_order],
        score=np.append(judged.score, np.ones(len(new)))[row_order],
        gold=in_order,
        times=np.append(judged.times, np.ones(n, dtype=np.int64))[gold_order],
        depth=np.maximum(judged.depth, ranks),
    )


def _joined(first: Rows, second: Rows) -> Rows:
    return Rows(*(np.concatenate(columns) for columns in zip(first, second, strict=True)))


def _parts(judged: Judged, samples: Ints) -> Iterator[slice]:
    """Yield stretches of the documents whose samples have a bounded number of rows together."""
    sizes = np.bincount(np.append(judged.rows.sample, judged.gold.sample), minlength=judged.n)
    ends = np.cumsum(sizes[samples] + 2)
    begin = 0
    while begin < len(samples):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
        yield slice(begin, end)
        begin = end


KEY_SCHEMA_VERSION = "rankgauge.queue-key.v1"

_GUIDELINE = "How well does the document answer the query? {low:g} is not at all, {high:g} as well as can be."


def queue_rows(
    queue: Queue, *, guideline: str = "", queries: Mapping[str, str], documents: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of the file for a judge: a header, then a document each, with texts if there are some."""
    low, high = queue.grades[0], queue.grades[-1]
    yield {
        "schema_version": SCHEMA_VERSION,
        "judgments": queue.fingerprint or None,
        "grades": [_plain(grade) for grade in queue.grades],
        "guideline": guideline or _GUIDELINE.format(low=low, high=high),
    }
    for item in queue.items:
        query, document = decoded(item.query), decoded(item.document)
        row: dict[str, Any] = {"query": query, "query_text": queries.get(query)}
        row |= {"document": document, "document_text": documents.get(document), "grade": None, "judge": None}
        yield {key: value for key, value in row.items() if value is not None or key in {"grade", "judge"}}


def key_rows(queue: Queue) -> Iterator[dict[str, Any]]:
    """Yield the lines of the key: a header, then for each document its priority, ranks and earlier grade."""
    yield {
        "schema_version": KEY_SCHEMA_VERSION,
        "judgments": queue.fingerprint or None,
        "metric": queue.metric or None,
        "runs": list(queue.runs),
        "depth": queue.depth,
        "seed": queue.seed,
    }
    for item in queue.items:
        yield {
            "query": decoded(item.query),
            "document": decoded(item.document),
            "priority": item.priority,
            "ranks": {run: rank or None for run, rank in zip(queue.runs, item.ranks, strict=True)},
            "judged": None if item.grade is None else _plain(item.grade),
        }


def judgments_summary(judgments: NewJudgments) -> dict[str, Any]:
    """Return what judges have added, and how they agree with earlier judgments, as plain data."""
    return {
        "added": len(judgments.added),
        "again": len(judgments.again),
        "judges": dict(judgments.judges),
        "agreement": {
            "grades": judgments.grades._asdict(),
            "relevance": judgments.relevance._asdict(),
            "by_judge": {judge: agreement._asdict() for judge, agreement in judgments.by_judge.items()},
        },
    }


def judgments_text(judgments: NewJudgments) -> Iterator[str]:
    """Yield the same in words."""
    judges = ", ".join(f"{visible(judge)} {count:,}" for judge, count in judgments.judges.items())
    added, again = counted(len(judgments.added), "new judgment"), len(judgments.again)
    if judgments.is_first:
        yield f"{added}{f' ({judges})' if judges else ''}"
        return
    yield f"{added}{f' ({judges})' if judges else ''}; {again:,} were judged before"
    if not again:
        yield "no document was judged twice, so nothing is known of agreement"
        return
    yield f"agreement with earlier judgments on the grade: {_agreement(judgments.grades)}"
    yield f"agreement on whether a document is relevant: {_agreement(judgments.relevance)}"
    for judge, agreement in judgments.by_judge.items():
        yield f"  {visible(judge)}, on the grade: {_agreement(agreement)}"


def _agreement(agreement: Agreement) -> str:
    kappa = "undefined, all labels are the same" if agreement.kappa is None else f"{agreement.kappa:.3f}"
    share = f"{agreement.same:,} of {agreement.n:,} ({agreement.same / agreement.n:.1%})"
    return f"{share}, Cohen's kappa {kappa}"


def _plain(grade: float) -> float | int:
    return int(grade) if grade == int(grade) else grade
