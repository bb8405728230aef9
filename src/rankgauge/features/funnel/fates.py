"""
The stages of a pipeline; and the fates of relevant items: the ranks at each stage, and the stage that lost it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import freeze_fields
from rankgauge.columns import Flags, Floats, Ints
from rankgauge.errors import DataError, Problem, listed
from rankgauge.samples import Fault, Output, Sample

__all__ = ["BELOW", "FOUND", "NEVER", "Fates", "Pipeline", "Traced"]

FOUND, NEVER, BELOW = -1, -2, -3
"""
Fates beside numbers of stages: an item was found in the end, or no stage retrieved it.

What no stage had within the cutoff has `BELOW` minus the number of the stage that retrieved it first.
"""


class Traced(NamedTuple):
    """One relevant item on its way through the stages."""

    sample: str
    id: str  # its id, or its text
    grade: float
    ranks: Mapping[str, int | None]  # by stage; None if it was not retrieved
    depths: Mapping[str, int]  # how many results each stage had
    lost: str | None  # the stage that lost it; None for none
    below: str | None = None  # since which stage it was ranked below the cutoff, if no stage had it within; else None
    k: int | None = None  # the cutoff; None for none, and where that of a budget differs between stages

    @property
    def sentence(self) -> str:
        """Return where it was and where it was lost, in words."""
        held = [(stage, rank) for stage, rank in self.ranks.items() if rank is not None]
        if not held:
            return f"{self.id}: never retrieved"
        path = {stage: f"{stage} {rank}" for stage, rank in held}
        if self.below is not None:
            cutoff = "the cutoff" if self.k is None else f"{self.k:,}"
            return f"{self.id}: {', '.join(path.values())}, ranked below {cutoff} since {self.below}"
        if self.lost is not None:
            rank, depth = self.ranks[self.lost], self.depths[self.lost]
            where = f"not among its {depth:,} results" if rank is None else f"rank {rank:,} of {depth:,}"
            path[self.lost] = f"lost in {self.lost} ({where})"
        return f"{self.id}: {', '.join(path[stage] for stage in self.ranks if stage in path)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**self._asdict(), "ranks": dict(self.ranks), "depths": dict(self.depths)}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Fates:
    """
    What became of all relevant items.

    Attributes:
        stages: The stages in order.

        ranks: The first rank of each item at each stage, infinite if it is not; shape (stages, items).

        sample: The place of its sample; shape (items,).

        grade: Its grade; shape (items,).

        lost: The number of the stage that lost it, or another fate; shape (items,).
    """

    stages: tuple[str, ...]
    ranks: Floats
    sample: Ints
    grade: Floats
    lost: Ints

    def __post_init__(self) -> None:
        freeze_fields(self)

    @classmethod
    def of(
        cls, sources: Mapping[str, Sequence[str]], ranks: Floats, sample: Ints, grade: Floats, within: Flags
    ) -> Fates:
        """
        Return the fates of items with these ranks, and *within* the cutoff of these stages; both (stages, items).

        An item is lost by the stage that takes what the last stage retrieved that had it within the cutoff.
        """
        stages = tuple(sources)
        held = np.isfinite(ranks)
        last = len(stages) - 1 - within[::-1].argmax(axis=0)
        after = np.array([_next(sources, name) for name in stages], dtype=np.int64)
        lost = np.where(within.any(axis=0), after[last], BELOW - held.argmax(axis=0))
        lost[~held.any(axis=0)] = NEVER
        lost[within[-1]] = FOUND
        return cls(stages=stages, ranks=ranks, sample=sample, grade=grade, lost=lost)

    def counts(self, among: Flags | slice = slice(None)) -> dict[int, int]:
        """Return how many items, of all or of some, have which fate: found, lost by stage, below since, and never."""
        fates, counts = np.unique(self.lost[among], return_counts=True)
        known = dict(zip(fates.tolist(), counts.tolist(), strict=True))
        below = sorted({*self.lost[self.lost <= BELOW].tolist()}, reverse=True)
        return {fate: known.get(fate, 0) for fate in (FOUND, *range(len(self.stages)), *below, NEVER)}

    def held(self, stage: str) -> Flags:
        """Return which items a stage has; shape (items,)."""
        held: Flags = np.isfinite(self.ranks[self.stages.index(stage)])
        return held

    def traced(
        self,
        sample_ids: Sequence[str],
        names: Sequence[str],
        depths: Mapping[str, Ints],
        cutoffs: Sequence[Ints | None],
        among: Ints,
    ) -> Iterator[Traced]:
        """Yield items by their places; *depths*, and *cutoffs* of the stages, are by sample, *names* those of items."""
        for place in among.tolist():
            owner, fate = int(self.sample[place]), int(self.lost[place])
            ranks = self.ranks[:, place].tolist()
            yield Traced(
                sample_ids[owner],
                names[place],
                float(self.grade[place]),
                {name: int(rank) if rank < np.inf else None for name, rank in zip(self.stages, ranks, strict=True)},
                {name: int(depths[name][owner]) for name in self.stages},
                self.stages[fate] if fate >= 0 else None,
                self.stages[BELOW - fate] if fate <= BELOW else None,
                _shared([None if k is None else int(k[owner]) for k in cutoffs]),
            )


def _shared(cutoffs: Sequence[int | None]) -> int | None:
    """Return the cutoff of a sample that all stages share; None if they do not."""
    return cutoffs[0] if len({*cutoffs}) == 1 else None


def _next(sources: Mapping[str, Sequence[str]], stage: str) -> int:
    """Return the number of the first stage that takes what a stage retrieved; the last one takes what it has itself."""
    order = list(sources)
    return next((at for at, name in enumerate(order) if stage in sources[name]), len(order) - 1)


@dataclass(slots=True)
class Pipeline:
    """The stages of a pipeline, in order, as the outputs of its samples tell them."""

    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of each stage, in order of the pipeline
    _told: dict[str, str] = field(default_factory=dict)  # the first sample with each

    @classmethod
    def of(cls, samples: Iterable[Sample], where: str) -> Pipeline:
        """Return the pipeline of some samples; raise `DataError` if they have none, or not the same one."""
        pipeline = cls()
        for sample in samples:
            if isinstance(sample.output, Output) and sample.output.stages is not None:
                pipeline._add(sample.id, {name: stage.sources for name, stage in sample.output.stages.items()}, where)
        if not pipeline.sources:
            advice = "give `actual_output.stages`: [{'name': 'dense', 'retrieved': [...]}, {'name': 'rerank', ...}]"
            none = "a funnel is of outputs that tell their stages, and none does:"
            raise DataError(none, [Problem(advice, where)])
        return pipeline

    def _add(self, sample_id: str, sources: Mapping[str, tuple[str, ...]], where: str) -> None:
        for name, given in sources.items():
            if self.sources.setdefault(name, given) != given:
                ways = [
                    f"{listed(way) if way else 'no other stage'} in sample {sample!r}"
                    for way, sample in ((self.sources[name], self._told[name]), (given, sample_id))
                ]
                problem = Problem(f"stage {name!r} comes from {' and from '.join(ways)}", where)
                raise DataError("a funnel is of one pipeline, and the outputs tell of several:", [problem])
            self._told.setdefault(name, sample_id)

    def lacks(self, sample: Sample) -> str:
        """Return why a sample cannot be followed through every stage; empty if it can."""
        output = sample.output
        if not isinstance(output, Output):
            return "no output" if output is None else "an output that cannot be used"
        for name in self.sources:
            if output.stages is None or name not in output.stages:
                return f"no stage {name!r}"
            if isinstance(output.stages[name].output, Fault):
                return f"a stage {name!r} that cannot be used"
        return ""
