"""
The run: judge every batch once as it comes, then score all of it.

Samples are dropped as soon as they are judged; what stays is a `Judged` for each batch, whose size follows the
judgments, and then eight bytes a sample and metric.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from rankgauge.columns import Cutoff, IdSketcher, Ints, Words
from rankgauge.errors import counted
from rankgauge.judging import (
    BY_ID,
    BlockJudge,
    Budget,
    Evidence,
    GoldKeys,
    Judge,
    Leak,
    TakesBlocks,
    TakesPlaced,
    Target,
    leaks_note,
    make_judge,
    takes_blocks,
    untried_notes,
)
from rankgauge.judging.keeping import NOTHING
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.samples import Block, BlockKind, Output, PlacedBlock, Sample
from rankgauge.samples.left_out import meeting
from rankgauge.scoring.early_scores import EarlyScores
from rankgauge.scoring.refusal import refuse
from rankgauge.scoring.score import (
    Flaw,
    JudgedBatch,
    MetricScores,
    cutoff_at,
    flaws,
    missing_queries,
    score_metric,
)
from rankgauge.scoring.scored import Fitted, SampleIds, Scored, ScoredMetric, add_counts, widest
from rankgauge.scoring.sighting import Sighting, unreached

__all__ = ["Collector", "JudgedPart"]


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """Samples that were judged in one process, to be scored in another; it can be pickled."""

    batch: JudgedBatch | None  # None if there was no sample
    ids: list[str]  # in order
    tags: list[tuple[str, ...]]  # the cohorts of each
    keys: Words  # a hash of what each was judged against
    sighting: Sighting


@dataclass(slots=True)
class Collector:
    """Takes batches of samples and turns them into scores."""

    plan: Plan
    details: bool = False  # keeps the samples, and computes the facts behind scores
    near_misses: bool = False  # adds the texts that came nearest to gold texts that nothing matched
    batch_size: int = 4096  # how many samples are scored at once; it never changes a score
    sketcher: IdSketcher | None = None  # takes the ids that samples retrieved, and counts the relevant ones
    _judges: dict[Target, Judge] = field(default_factory=dict)
    _open: JudgedBatch | None = None
    _batches: list[JudgedBatch] = field(default_factory=list)
    _early: EarlyScores = field(default_factory=EarlyScores)
    _ids: list[str] = field(default_factory=list)
    _query_ids: SampleIds | None = None
    _blocks: BlockJudge | None = None
    _keys: GoldKeys = field(default_factory=GoldKeys)
    _tags: list[tuple[str, ...]] = field(default_factory=list)
    sighting: Sighting = field(default_factory=Sighting)  # may begin with what other parts of the data have
    distrusted: frozenset[str] = frozenset()  # the stages whose places are not taken; empty for the whole output

    def conclude(self) -> list[str]:
        """Return the notes on all samples that `sighting` is of; raise `MissingGoldError` as `finish` does on a run."""
        self.check_needs()
        return self.notes()

    def add(self, samples: Sequence[Sample]) -> None:
        """Judge some more samples, in the order of the result; they may come in small steps, which suits caches."""
        self._ids += [sample.id for sample in samples]
        self._tags += [sample.tags for sample in samples]
        self._keys.add(samples)
        if self.sketcher is not None:
            outputs = (sample.output for sample in samples)
            self.sketcher.add_texts(name for output in outputs if isinstance(output, Output) for name in output.ids)
        self.sighting |= Sighting.of(samples)
        excluded = self.plan.profile.policy.excluded
        if excluded is not None and not self.sighting.excluded.met:
            self.sighting |= Sighting(excluded=meeting(samples, excluded))
        batch = self._opened()
        batch.flawed |= flaws(samples, start=len(batch.ks))
        batch.ks += [sample.k for sample in samples]
        if self.details:
            batch.samples += samples
        for judging in self._judges.values():
            judging.add(samples)
        self._close_full(batch)

    @property
    def takes_blocks(self) -> bool:
        """Return whether plain samples may come as columns, with the same result."""
        keeps = self.plan.keep(rankings=self.details) != NOTHING
        return not keeps and takes_blocks([metric.targets for metric in self.plan.metrics], self.plan.profile)

    def add_block(self, block: Block) -> None:
        """Judge some more plain samples, as `add` does; only if `takes_blocks` says so."""
        self._ids += block.ids
        self._tags += block.tags
        if self._blocks is None:
            self._blocks = BlockJudge(self.plan.profile)
        self.sighting |= Sighting.of_block(block)
        judged = self._blocks.judge(block)
        self._keys.add_block(judged)
        if self.sketcher is not None:
            self.sketcher.add(judged.batch.keys)
        batch = self._opened()
        batch.ks += block.ks
        for judging in self._judges.values():
            cast("TakesBlocks", judging).add_block(judged)  # `takes_blocks` says that all are
        self._close_full(batch)

    @property
    def block_kinds(self) -> frozenset[BlockKind]:
        """Return which samples may come as columns, with the same result."""
        policy = self.plan.profile.policy
        are_placed = any(target.gold == "spans" for target in self.plan.targets) and not self.details
        stay = policy.excluded is None and not policy.filters
        kinds: list[BlockKind] = ["ids"] if self.takes_blocks else []
        return frozenset([*kinds, "places"] if are_placed and stay else kinds)

    def add_placed(self, block: PlacedBlock) -> None:
        """Judge some more samples whose results are places, as `add` does."""
        if self.details or self.sketcher is not None:
            self.add(block.samples)
            return
        self._ids += [sample.id for sample in block.bare]
        self._tags += [sample.tags for sample in block.bare]
        self._keys.add(block.bare)
        self.sighting |= Sighting.of_placed(block)
        batch = self._opened()
        for place, sample in enumerate(block.bare):
            if not sample.answerable:
                batch.flawed |= flaws([block.samples[place]], start=len(batch.ks) + place)
        batch.ks += [sample.k for sample in block.bare]
        for judging in self._judges.values():
            if isinstance(judging, TakesPlaced):
                judging.add_placed(block)
            else:
                judging.add(block.samples)
        self._close_full(batch)

    def _opened(self) -> JudgedBatch:
        """Return the batch that samples are added to, with a judge for each target that is in question."""
        if self._open is None:
            wanted = {target for metric in self.plan.metrics for target in self._candidates(metric)}
            keep = self.plan.keep(rankings=self.details)
            self._judges = {
                target: make_judge(target, self.plan.profile, matcher, keep=keep, looked=self.sighting.looked(target))
                for target, matcher in self.plan.targets.items()
                if target in wanted
            }
            self._open = JudgedBatch()
        return self._open

    def add_run(self, query_ids: SampleIds, evidence: Mapping[str | None, Evidence], missing: Ints) -> None:
        """Take a judged run by unit: the queries that are evaluated, or what returns them; and which it lacks."""
        self._query_ids = query_ids
        n = next(iter(evidence.values())).judged.n
        self._tags += [()] * n
        flawed = missing_queries(missing.tolist())
        of_targets = {target: evidence[target.unit] for target in self.plan.targets}
        self._take(JudgedBatch(of_targets, flawed, [None] * n))

    def part(self) -> JudgedPart:
        """Return what was judged, all of it in one batch, for `add_part` of a collector in another process."""
        self._close()
        batch = self._batches[0] if self._batches else None
        return JudgedPart(batch, self._ids, self._tags, self._keys.keys(), self.sighting)

    def add_part(self, part: JudgedPart) -> None:
        """Take what a collector with the same plan has judged, as if its samples had been added."""
        self._close()
        self._ids += part.ids
        self._tags += part.tags
        self._keys.add_keys(part.keys)
        self.sighting |= part.sighting
        if part.batch is not None:
            self._batches.append(part.batch)

    def _close(self) -> None:
        """Turn what was judged so far into columns."""
        if self._open is not None:
            evidence = {target: judging.evidence() for target, judging in self._judges.items()}
            self._take(dataclasses.replace(self._open, evidence=evidence))
            self._keys.close()
            self._open = None

    def _close_full(self, batch: JudgedBatch) -> None:
        """
        Turn a batch that is full into columns, and these into scores where nothing that comes later can change them.

        The rows then go: of a million samples they take 200 MB. Those of the first batch stay for `judged`.
        """
        if len(batch.ks) < self.batch_size:
            return
        self._close()
        if self._scores_early and len(self._batches) > 1 and BY_ID in self.sighting.targets:
            batch = self._batches[-1]
            parts = [score_metric(self.plan, metric, BY_ID, batch, {}) for metric in self.plan.metrics]
            start = sum(len(each.ks) for each in self._batches[:-1])
            batch.scores = {part.metric.name: self._early.taken(part, start) for part in parts}
            batch.evidence = {
                target: dataclasses.replace(evidence, judged=evidence.judged.take([]))
                for target, evidence in batch.evidence.items()
            }
            batch.ks = _no_ks(len(batch.ks))  # only how many there are is asked from now on

    @property
    def _scores_early(self) -> bool:
        """Return whether scores follow from a batch alone: by id, on a scale that is given, and without details."""
        return not self.details and all(
            metric.targets[0] == BY_ID and metric.cut.budget is None and not metric.metric.needs_max_grade
            for metric in self.plan.metrics
        )

    def _take(self, batch: JudgedBatch) -> None:
        self._batches.append(batch)
        counted = next((target for target in batch.evidence if target.gold == "relevant"), None)
        is_deep = self._query_ids is not None or not unreached(self.plan, self.sighting.deepest)
        for target, evidence in batch.evidence.items():
            if target == counted and self.sketcher is not None:
                self.sketcher.count_gold(evidence.judged)
            self.sighting |= Sighting(
                targets=frozenset({target} if evidence.has_gold else ()),
                met=frozenset({target.unit} if evidence.ids.met else ()),
                looks={} if evidence.ids.looks is None else {target.unit: evidence.ids.looks},
                parts=evidence.ids.parts,
                refused=bool(evidence.faults),
                doubts={} if evidence.doubts is None else {target: evidence.doubts},
                lacking=frozenset(() if is_deep or not _lacks_gold(target, evidence, batch) else {target}),
            )

    def finish(self, *, require_gold: bool = True, is_part: bool = False) -> Scored:
        """
        Score everything; raise `MissingGoldError` if *require_gold*, `SampleRefusedError` as the policy says.

        Of a *part* of the samples it is not known whether a source of places can be trusted.
        """
        self._close()
        if not is_part:
            self._distrust()
        if require_gold:
            self.check_needs()
        flawed: dict[int, Flaw] = {}
        start = 0
        for batch in self._batches:
            flawed |= {start + place: flaw for place, flaw in batch.flawed.items()}
            start += len(batch.ks)
        notes = [*self.notes(), *self._repeats()] if require_gold else []
        metrics = [self._score(metric, notes) for metric in self.plan.metrics]
        if leaks := max((metric.leaks for metric in metrics), key=len, default=()):
            notes.append(leaks_note(leaks))
        notes += self._untried()
        outcomes = {metric.planned.name: metric.outcome for metric in metrics}
        scored = Scored(self._query_ids or self._ids, self._tags, metrics, notes, self._keys.keys())
        excluded = self.plan.profile.policy.excluded
        if excluded is not None and not is_part:
            may_roll = any(target.unit is not None for target in self.plan.targets)  # to documents that are left out
            unmet = "" if may_roll or len(scored.sample_ids) == 1 else self.sighting.excluded.unmet
            notes += filter(None, [excluded.note(scored.sample_ids, unmet)])
        refuse(outcomes, lambda: scored.sample_ids, flawed, self.plan)
        return scored

    def judged(self, first: Sequence[Sample]) -> Mapping[Target, Evidence]:
        """Return how the batch was judged that begins with some samples, the *first* ones; nothing if none does."""
        batch = self._batches[0] if self._batches else JudgedBatch()
        is_there = len(first) <= len(batch.ks) and self._ids[: len(first)] == [sample.id for sample in first]
        return batch.evidence if is_there else {}

    def _distrust(self) -> None:
        """Take no place of a source of which too many fail: all of a splitter's places have the same fault."""
        targets = [target for target, doubts in self.sighting.doubts.items() if doubts.places.distrust]
        self.distrusted = frozenset(target.stage or "" for target in targets)
        for batch in self._batches:
            others = {
                target: evidence.without_places
                for target, evidence in batch.evidence.items()
                if target in targets and evidence.without_places is not None
            }
            batch.evidence = {**batch.evidence, **others}

    def _candidates(self, metric: PlannedMetric) -> Sequence[Target]:
        """Return the targets still in question: those before the first whose gold has been seen, and that one."""
        for place, target in enumerate(metric.targets):
            if target in self.sighting.targets:
                return metric.targets[: place + 1]
        return metric.targets

    def check_needs(self) -> None:
        """Raise `MissingGoldError` or `DataError` for metrics for which no sample has ground truth, or no output."""
        if not (self.sighting.refused and self.plan.profile.contract.on_bad_gold == "pair"):
            self.sighting.check_gold(self.plan.metrics)  # unusable ground truth is that pair's failure there
        self.sighting.check_keys(self.plan.metrics)

    def _repeats(self) -> Iterator[str]:
        """Yield how many retrieved items were dropped because they repeat another one; runs count their own."""
        if self._query_ids is None:
            by_target = [
                sum(batch.evidence[target].n_dropped for batch in self._batches if target in batch.evidence)
                for target in self.plan.targets
            ]
            if dropped := max(by_target):
                rule = self.plan.profile.policy.duplicates
                were = "was" if dropped == 1 else "were"
                what = f"{counted(dropped, 'retrieved item')} {were} dropped before the cutoff"
                yield f"{what} as repeats within a sample (policy duplicates={rule}; duplicates=keep counts all)"

    def _untried(self) -> Iterator[str]:
        """Yield which rules on forbidden items nothing that was retrieved could break."""
        for target in self.plan.targets:
            evidence = (batch.evidence[target] for batch in self._batches if target in batch.evidence)
            if untried := [what for each in evidence for what in each.leaks.untried]:
                yield from untried_notes(untried)
                return  # other matchers look for the same

    def _score(self, metric: PlannedMetric, notes: list[str]) -> ScoredMetric:
        target = metric.target_of(self.sighting.targets)
        extra: dict[str, float] = {}
        scale = self._batches if metric.metric.needs_max_grade else []
        top = max((float(batch.evidence[target].judged.gold.grade.max(initial=0.0)) for batch in scale), default=0.0)
        if metric.infers_max_grade:
            extra["max_grade"] = top
            notes.append(f"{metric.name}: max_grade was inferred from the data: {extra['max_grade']:g}")
        parts = [
            batch.scores.pop(metric.name)
            if metric.name in batch.scores
            else score_metric(self.plan, metric, target, batch, extra)
            for batch in self._batches
        ]
        fitted = None if metric.cut.budget is None else self._fitted(metric.cut.budget, target)
        spread = widest(
            [_spread(part.k) for part in parts if part.k is not None] if fitted is None else [tuple(fitted.ranks)]
        )
        details: list[dict[str, Any]] | None = None
        if self.details:
            pairs = zip(parts, self._batches, strict=True)
            details = [fact for part, batch in pairs for fact in self._facts(part, batch)]
        outcome = self._early.joined(metric.name, [part.outcome for part in parts]).marked()
        sources = add_counts(part.k_sources for part in parts)
        leaks = [leak for part, batch in zip(parts, self._batches, strict=True) for leak in _counted(part, batch)]
        if metric.cut.budget is not None and (unspaced := self._n_unspaced(metric.cut.budget, target)):
            notes.append(
                f"{metric.name}: in {counted(unspaced, 'sample')} texts are in a script without blanks between words, "
                "where the tokenizer words counts a sentence as one token; words=unicode counts its characters"
            )
        scored = ScoredMetric(metric, target, outcome, spread, sources, extra, details, top, fitted, leaks)
        notes += filter(None, [scored.note])
        return scored

    def _fitted(self, budget: Budget, target: Target) -> Fitted:
        """Return how the rankings of samples with an output fitted into a budget."""
        fitted: Counter[int] = Counter()
        ended: Counter[int] = Counter()
        short = 0
        for batch in self._batches:
            evidence = batch.evidence[target]
            fits = evidence.kept.fits[budget]
            left_out = batch.flawed.keys() | evidence.faults.keys() | fits.faults.keys()
            fitted.update(ranks for place, ranks in enumerate(fits.ranks.tolist()) if place not in left_out)
            ended.update(end for place, end in fits.ends.items() if place not in left_out)
            short += len(fits.short - left_out)
        return Fitted(dict(sorted(fitted.items())), dict(sorted(ended.items())), short)

    def _n_unspaced(self, budget: Budget, target: Target) -> int:
        """Return how many samples have texts of which a budget counts too few tokens."""
        return sum(len(batch.evidence[target].kept.fits[budget].unspaced) for batch in self._batches)

    def _facts(self, part: MetricScores, batch: JudgedBatch) -> list[dict[str, Any]]:
        """Return the details of a scored batch."""
        from rankgauge.scoring.details import add_explanations, add_near_misses, explain_batch  # seldom asked for

        facts = explain_batch(part, batch)
        add_explanations(facts, self.plan, part, batch)
        matcher = part.metric.matchers.get(part.target)
        if self.near_misses and matcher is not None:
            add_near_misses(facts, batch, part.target, matcher)
        return facts

    def notes(self) -> list[str]:
        """Say what is suspicious of what was seen."""
        return self.sighting.notes(self.plan, is_alone=len(self._ids) == 1)


@functools.lru_cache(maxsize=16)
def _no_ks(n: int) -> list[int | None]:
    """Return a list of cutoffs for samples that bring none along, which batches share."""
    return [None] * n


def _lacks_gold(target: Target, evidence: Evidence, batch: JudgedBatch) -> bool:
    """Return whether more could be found; of what only some samples have, as of what is forbidden, always."""
    return target.kind.of_some or evidence.lacks_gold(batch.flawed)


def _counted(part: MetricScores, batch: JudgedBatch) -> Iterator[Leak]:
    """Yield what was retrieved of what is forbidden, within the cutoff."""
    for place, leak in batch.evidence[part.target].leaks.found:
        if leak.rank <= cutoff_at(place, part.k):
            yield leak


def _spread(k: Cutoff) -> tuple[int, int]:
    """Return the lowest and the highest cutoff of a batch."""
    return (k, k) if isinstance(k, int) else (int(k.min()), int(k.max()))
