"""
Sightings: what some samples show that decides about all of them, or that their user should know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

from rankgauge.base.plain_text import visible
from rankgauge.catalog.claims import OWN
from rankgauge.errors import DataError, MissingGoldError, counted, did_you_mean, listed
from rankgauge.exclusions import Meeting
from rankgauge.judging import Target
from rankgauge.judging.text_doubts import Doubts
from rankgauge.judging.units import LOOKED_AT, parts_note
from rankgauge.planning.plan import Plan
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.samples import Block, Fault, Output, PlacedBlock, Sample
from rankgauge.samples.plain_blocks import first_rise
from rankgauge.samples.sample_values import lacks_key
from rankgauge.samples.unread_keys import Unread, unread_notes

__all__ = ["Sighting", "depth_notes", "unreached"]

_EXAMPLES, _MOST_REMARKS = 3, 5


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen in some of the samples that decides about all of them."""

    targets: frozenset[Target] = frozenset()  # kinds of ground truth that a sample has
    met: frozenset[str | None] = frozenset()  # the units, None for ids as they are, in which retrieved ids are relevant
    looks: Mapping[str | None, tuple[str, str]] = field(
        default_factory=dict
    )  # by unit one id of each side, as examples
    parts: tuple[tuple[bool, ...], ...] = ()  # of the first samples, whether ids would meet as parts of documents
    refused: bool = False  # whether there is ground truth that cannot be used
    keys: frozenset[str] | None = None  # which of the keys that are judged an output has; None if there is no output
    unread: frozenset[Unread] = frozenset()  # keys that nothing reads
    is_filled: bool = False  # whether a ranking has an item
    doubts: Mapping[Target, Doubts] = field(default_factory=dict)  # about the matchers of targets that are texts
    stages: frozenset[str] = frozenset()  # the stages that outputs tell of
    deepest: int = 0  # how many results the longest ranking has
    lacking: frozenset[Target] = frozenset()  # of which a ranking lacks something that earns, if a cutoff is deeper
    says_output: bool = False  # whether a sample says what its output is, and be it none
    remarks: frozenset[tuple[str, str]] = frozenset()  # what systems say of their answers, each with the sample's id
    excluded: Meeting = field(default_factory=Meeting)  # whether rankings have what the policy leaves out
    rising: str = ""  # where a score is higher than the one before it, in words; empty for nowhere

    def __or__(self, other: Sighting) -> Sighting:
        doubts = dict(self.doubts)
        for target, further in other.doubts.items():
            doubts[target] = doubts.get(target, Doubts()) | further
        return Sighting(
            self.targets | other.targets,
            self.met | other.met,
            {**other.looks, **self.looks},
            (self.parts + other.parts)[:LOOKED_AT],
            self.refused or other.refused,
            self.keys if other.keys is None else other.keys | (self.keys or frozenset()),
            self.unread | other.unread,
            self.is_filled or other.is_filled,
            doubts,
            self.stages | other.stages,
            max(self.deepest, other.deepest),
            self.lacking | other.lacking,
            self.says_output or other.says_output,
            self.remarks | other.remarks,
            self.excluded | other.excluded,
            self.rising or other.rising,
        )

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Self:
        """Return which keys the outputs of samples have, and which of them and of the samples nothing reads."""
        outputs = [sample.output for sample in samples if sample.output is not None]
        read = [output for output in outputs if isinstance(output, Output)]
        has = {
            "retrieved": any(output.is_ranked for output in read),
            "answer": any(output.answer is not None for output in read),
            "support": any(output.support is not None for output in read),
        }
        unread = frozenset(chain.from_iterable(each.unread for each in (*samples, *outputs)))
        is_read = read or any(isinstance(output, Fault) and output.has_no_key for output in outputs)
        return cls(
            keys=frozenset(key for key, is_there in has.items() if is_there) if is_read else None,
            unread=unread,
            is_filled=any(output.ids for output in read),
            stages=frozenset(chain.from_iterable(output.stages for output in read if output.stages)),
            deepest=max((len(output.ids) for output in read), default=0),
            says_output=bool(outputs) or any(sample.is_null for sample in samples),
            remarks=frozenset(
                (remark, sample.id)
                for sample in samples
                if isinstance(sample.output, Output) and sample.output.remarks
                for remark in sample.output.remarks
            ),
            rising=next((place for place in map(_rise, samples) if place), ""),
        )

    @classmethod
    def of_block(cls, block: Block) -> Self:
        """Return the same of plain samples, which all have a ranking."""
        deepest = max(block.retrieved.counts, default=0)
        rising = next((_worded(*rise) for rise in block.rises), "")
        keys = frozenset({"retrieved"})
        return cls(
            keys=keys, unread=block.unread, is_filled=bool(deepest), deepest=deepest, says_output=True, rising=rising
        )

    @classmethod
    def of_placed(cls, block: PlacedBlock) -> Self:
        """Return the same of samples whose results are places, which all have a ranking."""
        deepest, rising = max(block.counts, default=0), ""
        if block.items.scores is not None:
            rising = next(filter(None, map(_rise, block.samples)), "")
        return cls(
            keys=frozenset({"retrieved"}),
            unread=block.unread,
            is_filled=bool(deepest),
            deepest=deepest,
            says_output=True,
            rising=rising,
        )

    def check_gold(self, metrics: Sequence[PlannedMetric]) -> None:
        """Raise `MissingGoldError` for metrics for which no sample that was added has ground truth."""
        problems = [
            f"metric {metric.name!r} needs ground truth of the kind "
            f"{' or '.join(target.wanted for target in metric.targets)}, and no sample has any; add it to "
            f"`{metric.targets[0].kind.place}`, {_instead(metric)}"
            for metric in metrics
            if metric.metric.needs_gold and not (self.targets.intersection(metric.targets))
        ]
        if problems:
            msg = f"{len(problems)} of {len(metrics)} metrics cannot score any sample:"
            raise MissingGoldError(msg, problems)

    def check_keys(self, metrics: Sequence[PlannedMetric]) -> None:
        """Raise a `DataError` for metrics that judge a key which no output has, though there are outputs."""
        if self.keys is None:
            return
        problems = []
        for metric in metrics:
            if not metric.targets[0].of_ranks:
                continue  # it is judged by an answer, or else by what was retrieved
            judged = [target.key for target in metric.targets if not metric.metric.needs_gold or target in self.targets]
            stage = metric.targets[0].stage
            if stage is not None and stage not in self.stages:
                known = sorted(self.stages)
                has = f"the stages are {listed(known)}{did_you_mean(stage, known)}" if known else "none has 'stages'"
                problems.append(f"metric {metric.name!r}: no output has the stage {stage!r}; {has}")
            elif judged and self.keys.isdisjoint(judged):
                problems.append(f"metric {metric.name!r}: {lacks_key(judged[0], sorted(self.unread)).reason}")
        if problems:
            msg = f"{len(problems)} of {len(metrics)} metrics judge a key that no output has:"
            raise DataError(msg, problems)

    def looked(self, target: Target) -> int:
        """Return how many samples were looked at for doubts about a target."""
        if target.gold == "relevant":
            return LOOKED_AT if target.unit in self.met else len(self.parts)
        return self.doubts[target].looked if target in self.doubts else 0

    def place_counts(self) -> dict[str, dict[str, int]]:
        """Return how many places of retrieved items were taken and not, by stage; empty for the whole output."""
        found = {
            target.stage or "": doubts.places for target, doubts in self.doubts.items() if target.identity == "place"
        }
        return {stage: counts.numbers() for stage, counts in found.items() if counts.n}

    def notes(self, plan: Plan, *, is_alone: bool) -> list[str]:
        """Say what is suspicious: options, keys, rankings (unless one *is_alone*), order of scores, ids, matchers."""
        policy = plan.profile.policy
        notes = [policy.idle] if policy.idle else []
        notes += unread_notes(self.unread)
        if self.keys is not None and "retrieved" in self.keys and not (self.is_filled or is_alone):
            notes.append("every ranking is empty, so nothing was retrieved for any sample")
        notes += self._remarks()
        if self.rising and policy.order == "given":
            notes.append(
                f"scores rise along a ranking ({self.rising}), and policy order=given ranks items as they are listed; "
                "order=score ranks them by score, highest first"
            )
        notes += [self._never_met(unit) for unit in self.looks if unit not in self.met]
        used = {metric.target_of(self.targets) for metric in plan.metrics}
        for target, doubts in self.doubts.items():
            if target in used:
                notes += doubts.notes(target.matcher)
        if not is_alone:
            notes += depth_notes(plan, self.deepest, lambda metric: metric.target_of(self.targets) in self.lacking)
        return list(dict.fromkeys(notes))

    def _remarks(self) -> Iterator[str]:
        """Yield what systems say of their answers, each remark once, what is said most often first."""
        said: dict[str, list[str]] = {}
        for remark, sample in sorted(self.remarks):
            said.setdefault(remark, []).append(visible(sample))
        often = sorted(said, key=lambda remark: -len(said[remark]))
        for remark in often[:_MOST_REMARKS]:
            samples = said[remark]
            shown = ", ".join(samples[:_EXAMPLES]) + (", ..." if len(samples) > _EXAMPLES else "")
            yield f"the system says of {counted(len(samples), 'sample')} ({shown}): {visible(remark)}"
        if (more := len(often) - _MOST_REMARKS) > 0:
            yield f"the system has {counted(more, 'other remark')}, under `remarks` in its outputs"

    def _never_met(self, unit: str | None) -> str:
        """Say that ids, as they are or of a unit, never meet."""
        retrieved, gold = self.looks[unit]
        by = f"of unit={unit}" if unit is not None else "by id without a unit" if len(self.looks) > 1 else "by id"
        ids = "retrieved id is ever a relevant id" if unit is None else f"retrieved unit={unit} is ever a relevant one"
        note = f"no {ids}, so every score {by} is 0; do both sides use the same ids? "
        hint = parts_note(self.parts) if len(self.looks) == 1 and unit is None else ""
        return f"{note}outputs: `{retrieved}`; ground truth: `{gold}`{hint}"


def _instead(metric: PlannedMetric) -> str:
    """Return what else than adding ground truth can be done about a metric that asks for some."""
    if metric.provider.distribution == OWN:
        return "or leave the metric out"
    return "leave the metric out, or declare it with gold=() if it needs none"


def unreached(plan: Plan, deepest: int) -> list[PlannedMetric]:
    """Return the metrics whose cutoff was asked for and is below any ranking; the longest has so many results."""
    deepest = min(deepest, plan.profile.policy.depth or deepest)
    return [
        metric
        for metric in plan.metrics
        if (metric.cut.k or 0) > deepest
        and metric.cut.rule == "pinned"
        and all(target.key == "retrieved" and target.stage is None for target in metric.targets)
    ]


def depth_notes(plan: Plan, deepest: int, lacks_gold: Callable[[PlannedMetric], bool]) -> list[str]:
    """
    Say which cutoffs that were asked for no ranking reaches, if longer ones could have other scores.

    If all that earns was found, only metrics that see further results that earn nothing could.
    """
    if not deepest:
        return []
    names = [
        metric.name for metric in unreached(plan, deepest) if "padding" not in metric.metric.laws or lacks_gold(metric)
    ]
    if not names:
        return []
    deepest = min(deepest, plan.profile.policy.depth or deepest)
    cutoffs = "cutoff" if len(names) == 1 else "cutoffs"
    return [f"no ranking reaches the {cutoffs} of {listed(names)}: the longest has {counted(deepest, 'result')}"]


def _rise(sample: Sample) -> str:
    """Return where a score is higher than the one before it, in words; empty for nowhere."""
    if not isinstance(sample.output, Output) or sample.output.scores is None or sample.output.searches is not None:
        return ""  # the scores of each search begin anew
    scores: list[Any] = list(sample.output.scores)
    rank = first_rise(scores)
    return _worded(sample.id, rank, scores[rank - 1], scores[rank]) if rank else ""


def _worded(sample: str, rank: int, score: float, higher: float) -> str:
    return f"sample {sample!r}: {score:g} at rank {rank}, {higher:g} at rank {rank + 1}"
