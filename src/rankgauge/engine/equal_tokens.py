"""
Equal tokens: what metrics are if both runs may use as many tokens, if their results differ much in length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np

from rankgauge.comparison.differences import Comparison, Lengths, RunComparison
from rankgauge.comparison.pairing import counterpart_of
from rankgauge.engine.reopen import evaluation_of, is_of_run, job_of, plan_of
from rankgauge.errors import RankgaugeError, ResultError
from rankgauge.judging import Budget, Evidence, Ranking, Target, judge
from rankgauge.judging.budgets import Fits
from rankgauge.planning.cutoffs import Cut
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.result import MetricInfo, MetricSummary, Result
from rankgauge.samples import Output, Sample
from rankgauge.scoring.flaws import flaws
from rankgauge.scoring.score import JudgedBatch, score_metric
from rankgauge.scoring.scored import ScoredMetric, add_counts, join_outcomes

__all__ = ["with_equal_tokens"]

_LONGER = 1.5
"""From which ratio of lengths on runs are compared at equal tokens, too."""

_MOST = 5_000
"""So many samples are read again at the most, the first ones."""

_GLANCED = 200
"""Of so many samples the length of results is looked at, to see whether that differs at all."""

_AT_ONCE = 1_024

_GIVEN = Budget(1, "tok", None)
"""Stands for the tokens that a sample is given."""


def with_equal_tokens(
    pairs: Sequence[RunComparison], results: Mapping[str, Result], compared: Callable[..., Comparison]
) -> list[RunComparison]:
    """Return comparisons with what metrics are at equal tokens, if the results of one run are much longer."""
    lengths: dict[str, float] = {}
    read: dict[tuple[str, tuple[str, ...]], _Reread] = {}
    found = []
    for pair in pairs:
        runs, infos = (pair.baseline, pair.run), _cut_by_rank(pair, results)
        for run in runs if infos else ():
            if run not in lengths:
                lengths[run] = _glance(results[run])
        own = [lengths[run] for run in runs] if infos else []
        if not own or not 0 < _LONGER * min(own) < max(own):
            found.append(pair)
            continue
        try:
            for run in runs:
                if (run, tuple(infos)) not in read:
                    read[run, tuple(infos)] = _Reread.of(results[run], infos)
            first, second = (read[run, tuple(infos)] for run in runs)
            again = compared({"baseline": first.result(second), "run": second.result(first)})["run"]
        except RankgaugeError as error:
            found.append(replace(pair, lengths=Lengths(own[1] / own[0], " ".join(str(error).split()))))
            continue
        limit = _MOST if max(len(results[run]) for run in runs) > _MOST else None
        metrics = {name: replace(metric, equal_tokens=again.metrics.get(name)) for name, metric in pair.metrics.items()}
        found.append(replace(pair, metrics=metrics, lengths=Lengths(second.length / first.length, limit=limit)))
    return found


def _cut_by_rank(pair: RunComparison, results: Mapping[str, Result]) -> dict[str, MetricInfo]:
    """Return the metrics of a pair that find gold up to a rank, of single calls and samples that count the same."""
    baseline, run = results[pair.baseline], results[pair.run]
    columns = [column for result in (baseline, run) for column in result.metrics.values()]
    if any(column.repeats is not None or column.weights is not None for column in columns) or is_of_run(baseline):
        return {}
    infos = {name: baseline[name].info for name in pair.metrics}
    infos = {name: info for name, info in infos.items() if info.cut in {"pinned", "free"} and info.k and info.of_ranks}
    with suppress(RankgaugeError):
        planned = plan_of(evaluation_of(baseline), baseline).metrics if infos else ()
        seeking = {column.name for column in planned if column.metric.needs_gold}
        return {name: info for name, info in infos.items() if name in seeking}
    return {}


def _glance(result: Result) -> float:
    """Return how many tokens a result of the first samples has, in the mean; 0 if no text can be read."""
    if is_of_run(result):
        return 0.0
    try:
        evaluation = evaluation_of(result)
        return _mean_length(job_of(result, evaluation, plan_of(evaluation, result), _GLANCED).read())
    except RankgaugeError:
        return 0.0


def _mean_length(samples: Iterable[Sample]) -> float:
    """Return the mean length of the texts that samples retrieved; 0 without any."""
    lengths = list(_lengths(samples))
    return sum(lengths) / len(lengths) if lengths else 0.0


def _lengths(samples: Iterable[Sample]) -> Iterator[int]:
    """Yield how many tokens each text has that samples retrieved."""
    for sample in samples:
        texts = sample.output.texts if isinstance(sample.output, Output) else None
        yield from (len(text.split()) for text in texts or () if text is not None)


@dataclass(slots=True)
class _Column:
    """One metric, batch by batch: what was judged, and after each rank within the cutoff the tokens so far."""

    planned: PlannedMetric
    target: Target
    info: MetricInfo
    batches: list[JudgedBatch] = field(default_factory=list)
    tokens: list[list[int]] = field(default_factory=list)  # of each sample


@dataclass(slots=True)
class _Reread:
    """What a result came from, read and judged again."""

    source: Result
    plan: Plan
    columns: dict[str, _Column]
    ids: list[str] = field(default_factory=list)
    tags: list[tuple[str, ...]] = field(default_factory=list)
    texts: int = 0
    tokens: int = 0

    @classmethod
    def of(cls, result: Result, infos: Mapping[str, MetricInfo]) -> _Reread:
        """Read a result's data; raise a `RankgaugeError` if that is not possible, or texts are missing."""
        evaluation = evaluation_of(result)
        plan = plan_of(evaluation, result)
        columns = {}
        for name, info in infos.items():
            if (column := counterpart_of(info, result)) is None:
                continue  # which pairing would have refused
            planned = plan.column(column.name)
            target = planned.target_called(column.info.judged)
            if target.judges == "retrieved":
                columns[name] = _Column(planned, target, column.info)
        read = cls(result, plan, columns)
        known = set(result.sample_ids)
        for batch in job_of(result, evaluation, plan, _MOST).batches(_AT_ONCE):
            read._add([sample for sample in batch if sample.id in known])
        return read

    def _add(self, samples: Sequence[Sample]) -> None:
        self.ids += [sample.id for sample in samples]
        self.tags += [sample.tags for sample in samples]
        lengths = list(_lengths(samples))
        self.texts, self.tokens = self.texts + len(lengths), self.tokens + sum(lengths)
        flawed, ks = flaws(samples), [sample.k for sample in samples]
        judged: dict[Target, Evidence] = {}
        for column in self.columns.values():
            target, planned = column.target, column.planned
            if target not in judged:
                keep = self.plan.keep(rankings=True)
                judged[target] = judge(samples, target, self.plan.profile, planned.matchers.get(target), keep=keep)
            evidence = judged[target]
            k, _ = planned.cut.resolve(ks, self.plan.default_k)
            cutoffs = np.broadcast_to(np.asarray(k), len(samples)).tolist()
            for sample, ranking, cutoff in zip(samples, evidence.kept.rankings, cutoffs, strict=True):
                column.tokens.append(_tokens(sample.id, ranking, cutoff))
            slim = replace(evidence, kept=evidence.kept._replace(rankings=()))
            column.batches.append(JudgedBatch({target: slim}, flawed, ks))

    def result(self, other: _Reread) -> Result:
        """Return the scores at as many tokens as the results of both within the cutoff have."""
        columns = [self._scored(column, other._given(name)) for name, column in self.columns.items()]
        alike = np.zeros(len(self.ids), dtype=np.uint64)  # the results themselves were found to be judged alike
        by_name = {column.name: column for column in columns}
        return Result(self.ids, self.tags, by_name, self.source.manifest, [], alike)

    @property
    def length(self) -> float:
        """Return the mean length of a result, in tokens."""
        return self.tokens / max(1, self.texts)

    def _given(self, name: str) -> dict[str, int]:
        """Return how many tokens each sample has within the cutoff, of those that retrieved something."""
        return {name: used[-1] for name, used in zip(self.ids, self.columns[name].tokens, strict=True) if used}

    def _scored(self, column: _Column, given: Mapping[str, int]) -> MetricSummary:
        planned = replace(column.planned, cut=Cut("budget", budget=_GIVEN))
        ranks = [
            sum(tokens <= given.get(name, tokens) for tokens in used)
            for name, used in zip(self.ids, column.tokens, strict=True)
        ]
        parts, start = [], 0
        for batch in column.batches:
            end = start + len(batch.ks)
            fits = Fits(np.array(ranks[start:end], dtype=np.int64), {}, frozenset(), {})
            evidence = batch.evidence[column.target]
            evidence = replace(evidence, kept=evidence.kept._replace(fits={_GIVEN: fits}))
            own = replace(batch, evidence={column.target: evidence})
            parts.append(score_metric(self.plan, planned, column.target, own, column.info.inferred))
            start = end
        outcome = join_outcomes([part.outcome for part in parts]).marked()
        sources = add_counts(part.k_sources for part in parts)
        inferred = dict(column.info.inferred)
        return MetricSummary.of(ScoredMetric(planned, column.target, outcome, None, sources, inferred, None, top=0.0))


def _tokens(sample: str, ranking: Ranking | None, cutoff: int) -> list[int]:
    """Return after each rank within a cutoff how many tokens there are so far; nothing for a sample without results."""
    if ranking is None:
        return []
    texts = [None] * len(ranking.ids) if ranking.texts is None else ranking.texts
    if None in texts[:cutoff]:
        raise ResultError(f"sample {sample!r} has a result without a text")
    return list(accumulate(len((text or "").split()) for text in texts[:cutoff]))
