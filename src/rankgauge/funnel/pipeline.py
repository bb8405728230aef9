"""
`Pipeline`: which stages there are, and which hands its results to which.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rankgauge.errors import DataError, Problem, listed
from rankgauge.samples import Fault, Output, Sample

__all__ = ["Pipeline"]


@dataclass(slots=True)
class Pipeline:
    """The stages of a pipeline, in order, as the outputs of its samples tell them."""

    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of each stage, in order of the pipeline
    _told: dict[str, str] = field(default_factory=dict)  # the first sample that told of each

    @classmethod
    def of(cls, samples: Iterable[Sample], where: str) -> Pipeline:
        """Return the pipeline of some samples; raise `DataError` where they have none, or not the same one."""
        pipeline = cls()
        for sample in samples:
            if isinstance(sample.output, Output) and sample.output.stages is not None:
                pipeline._add(sample.id, {name: stage.sources for name, stage in sample.output.stages.items()}, where)
        if not pipeline.sources:
            msg = "a funnel is of outputs that tell their stages, and none does:"
            advice = "give `actual_output.stages`: [{'name': 'dense', 'retrieved': [...]}, {'name': 'rerank', ...}]"
            raise DataError(msg, [Problem(advice, where)])
        return pipeline

    def _add(self, sample_id: str, sources: Mapping[str, tuple[str, ...]], where: str) -> None:
        for name, given in sources.items():
            if self.sources.setdefault(name, given) != given:
                ways = [
                    f"{listed(way) if way else 'no other stage'} in sample {sample!r}"
                    for way, sample in ((self.sources[name], self._told[name]), (given, sample_id))
                ]
                msg = "a funnel is of one pipeline, and the outputs tell of several:"
                raise DataError(msg, [Problem(f"stage {name!r} comes from {' and from '.join(ways)}", where)])
            self._told.setdefault(name, sample_id)

    def lacks(self, sample: Sample) -> str:
        """Return why a sample cannot be followed through every stage; empty where it can."""
        output = sample.output
        if not isinstance(output, Output):
            return "no output" if output is None else "an output that cannot be used"
        for name in self.sources:
            if output.stages is None or name not in output.stages:
                return f"no stage {name!r}"
            if isinstance(output.stages[name].output, Fault):
                return f"a stage {name!r} that cannot be used"
        return ""
