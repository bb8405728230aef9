"""
Doubting: what rankings say about the labels that they were judged by, without any call.

The first samples are judged once more, by id, by place and by the words of passages; never by a matcher that may call
something. Of a run in a file of more than some 30 MB nothing is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from rankgauge.comparison.differences import RunComparison
from rankgauge.engine.doubts import Seen, doubts_about, seen_in
from rankgauge.engine.reopen import evaluation_of, is_of_run, job_of, plan_of, run_evaluation_of
from rankgauge.errors import RankgaugeError, ResultError, counted
from rankgauge.judging.top import read_queries
from rankgauge.planning.plan import Plan
from rankgauge.result import Result
from rankgauge.result.label_doubts import LabelDoubts
from rankgauge.samples import Sample

__all__ = ["MOST", "label_doubts", "sways"]

MOST = 500
"""So many samples are looked at, the first ones."""
_LARGE = 1 << 25


def label_doubts(results: Sequence[Result]) -> LabelDoubts | None:
    """Return what the rankings of results say about their labels; None if they cannot be read again."""
    samples: dict[str, Sample] = {}
    seen: list[Mapping[str, Seen]] = []
    with suppress(RankgaugeError, OSError):
        for result in results:
            own, plan = _of_run(result) if is_of_run(result) else _of_samples(result)
            samples |= {sample.id: sample for sample in own if sample.id not in samples}
            seen.append(seen_in(own, plan))
        return doubts_about(list(samples.values()), seen)
    return None


def sways(pair: RunComparison, results: Mapping[str, Result], doubts: LabelDoubts) -> Iterator[str]:
    """Yield which differences turn round without the samples whose labels are doubtful, with their bounds."""
    doubted = {doubt.sample for doubt in doubts.doubts}
    if not doubted:
        return
    baseline, run = results[pair.baseline], results[pair.run]
    place = {name: at for at, name in enumerate(run.sample_ids)}
    shared = [(at, place[name], name in doubted) for at, name in enumerate(baseline.sample_ids) if name in place]
    here, there, is_doubted = (np.array(column) for column in zip(*shared, strict=True))
    for name, metric in pair.metrics.items():
        column = baseline.metrics[name]
        other = run.metrics.get(name)
        if other is None or metric.difference is None or not metric.difference:
            continue
        differences = other.values[there] - column.values[here]
        known = ~np.isnan(differences)
        without = differences[known & ~is_doubted]
        if not len(without) or np.sign(without.mean()) == np.sign(metric.difference):
            continue
        ends = ""
        if column.info.range == (0.0, 1.0):
            swing = int(np.count_nonzero(known & is_doubted))
            low, high = ((without.sum() + sign * swing) / np.count_nonzero(known) for sign in (-1, 1))
            ends = f", and between {low:+.4f} and {high:+.4f} whatever their labels should be"
        yield (
            f"{name}: without {counted(len(doubted), 'sample')} whose labels are doubtful the difference is "
            f"{without.mean():+.4f}, not {metric.difference:+.4f}{ends}"
        )


def _of_samples(result: Result) -> tuple[list[Sample], Plan]:
    evaluation = evaluation_of(result)
    plan = plan_of(evaluation, result)
    known = set(result.sample_ids)
    read = job_of(result, evaluation, plan, MOST).batches(MOST)
    return [sample for batch in read for sample in batch if sample.id in known], plan


def _of_run(result: Result) -> tuple[list[Sample], Plan]:
    file = result.manifest["files"]["run"]
    if file is not None and Path(file).stat().st_size > _LARGE:
        raise ResultError(f"{file} is too large to be read again for doubts about labels")
    evaluation = run_evaluation_of(result)
    samples, _ = read_queries(evaluation.qrels, evaluation.run, set(result.sample_ids[:MOST]))
    return list(samples.values()), evaluation.plan
