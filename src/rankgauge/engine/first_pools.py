"""
Making a queue where nothing is judged yet: whole questions, with every document near the top of any run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from rankgauge.engine.pools import check_queue, checked_scale, depth_of, look_at, pooled_of
from rankgauge.errors import NothingToEvaluateError, ParameterError
from rankgauge.io.open_sources import open_run
from rankgauge.planning.plan import Plan
from rankgauge.pooling.new_judgments import unjudged_queries
from rankgauge.pooling.queue import Pooled, Queue

__all__ = ["make_first_queue"]


def make_first_queue(
    plan: Plan,
    runs: Mapping[str, object],
    *,
    questions: int | None = None,
    depth: int | None = None,
    seed: int = 0,
    grades: Sequence[float] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Queue:
    """
    Return every document near the top of a run, of all questions or of some drawn at random; nothing is judged yet.

    A seed draws questions in one order, so that fewer of them are part of more. Documents of a question stand together,
    shuffled. The other arguments and the errors are those of `make_queue`.
    """
    (metric,) = plan.metrics
    check_queue(plan, questions, depth, what="number of questions")
    scale = (0.0, 1.0) if grades is None else checked_scale(grades)
    depth = depth_of(plan, metric) if depth is None else depth
    opened = [open_run(run, columns=columns, catalog=plan.catalog) for run in runs.values()]
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
        for pooled in pooled_of(nothing, tops)
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
