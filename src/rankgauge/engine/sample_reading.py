"""
What a run reads: samples, with outputs that were given attached to them and without what a policy leaves out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.errors import NothingToEvaluateError
from rankgauge.io.datasets import DatasetReader, DataSource, Kinds
from rankgauge.io.input_joins import InputJoin
from rankgauge.io.output_files import OutputsSource, check_known, read_outputs
from rankgauge.judging.filtered import narrowed
from rankgauge.judging.trusted_places import distrusted
from rankgauge.planning.plan import Plan
from rankgauge.samples import Sample
from rankgauge.scoring.repeats import differing

if TYPE_CHECKING:
    from rankgauge.engine.run_options import RunOptions

__all__ = ["SampleReading"]


class SampleReading:
    """
    Reads the samples of a run.

    Attributes:
        reader: Reads the data.

        given: Where outputs were given apart from the data; None if the data has them, or a system is called for them.

        outputs: What was read there.

        takes_all: Whether every sample is evaluated, also without an output.

        block_kinds: Which samples are read as columns.

        overlap: How many outputs replaced one that the sample had.

        unsteady: The samples that were answered with another ranking when asked again.
    """

    def __init__(self, plan: Plan, data: DataSource, options: RunOptions, wanted: Kinds) -> None:
        self._policy, self._options, self._label = plan.profile.policy, options, data.label
        self.takes_all = self._policy.queries != "intersection"
        how: dict[str, Any] = {"catalog": plan.catalog, "contract": plan.profile.contract}
        what: dict[str, Any] = {"limit": options.limit, "needs_gold": plan.needs_gold, "is_part": options.is_part}
        self.reader = DatasetReader(data, **what, **how)
        chosen: OutputsSource | None = options.outputs if options.outputs is not None else data.outputs
        self.given = None if options.calls is not None else chosen
        data.check_there([data.source, self.given])
        self.block_kinds: Kinds = wanted if self.takes_all and self.reader.has_blocks else frozenset()
        if self.given is not None or options.distrusted:
            self.block_kinds -= {"places"}
        source = Path(self.given) if isinstance(self.given, str | os.PathLike) else self.given
        self.outputs = None
        if source is not None:
            self.outputs = read_outputs(
                source,
                shape=data.shape(plan.catalog, of_outputs=True),
                as_ids="ids" in self.block_kinds,
                reader=data.outputs_reader,
                sorts_runs=self._policy.order == "given",
                **how,
            )
        self.overlap = self._taken = 0
        self.unsteady: dict[str, None] = {}

    @property
    def repeats(self) -> int:
        """Return how many outputs each sample may have in what was given."""
        return 1 if self.outputs is None else self.outputs.repeats

    @property
    def notes(self) -> list[str]:
        """Return what users should know of outputs that were read."""
        given = self.outputs
        return [] if given is None else [*given.notes, *filter(None, [given.join.note()])]

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Yield the samples in batches, with their outputs; refuse data of which no sample is evaluated."""
        for batch in self.reader.batches(size):
            attached = self.attached(batch)
            self._taken += len(attached)
            yield attached
        self.check_outputs()
        if not self._taken:
            raise NothingToEvaluateError(
                f"no sample of {self._label} has an output, and policy queries=intersection leaves out the rest", []
            )

    def attached(self, batch: list[Sample]) -> list[Sample]:
        """Return samples with the outputs that were given for them, as the policy narrows them."""
        if self.outputs is not None:
            outputs = self.outputs
            self.overlap += sum(sample.output is not None and outputs.name_of(sample) is not None for sample in batch)
            batch = [each for sample in batch for each in self.outputs.attached(sample)[: self._options.repeats]]
            self.compare_repeats(batch, self.repeats)
        if self._policy.excluded is not None or self._policy.filters:
            batch = [narrowed(sample, self._policy) for sample in batch]
        if self._options.distrusted:
            batch = [distrusted(sample, self._options.distrusted) for sample in batch]
        if not self.takes_all:
            batch = [sample for sample in batch if sample.output is not None]
        return batch

    def compare_repeats(self, samples: Sequence[Sample], repeats: int) -> None:
        """Remember which samples were answered with another ranking when asked again."""
        if repeats > 1:
            self.unsteady |= dict.fromkeys(differing(samples))

    def check_outputs(self) -> None:
        """Refuse outputs that were given for samples which the data lacks."""
        if self.outputs is not None and self.takes_all:
            self.check_known(self.outputs.ids, self.outputs.source, self.outputs.join)

    def check_known(self, outputs: Mapping[str, object], source: str, join: InputJoin | None = None) -> None:
        """Refuse outputs of samples that the data lacks, unless only a part of it was read."""
        if self._options.limit is None:
            check_known(outputs, self.reader.sample_ids, self.reader.first_id, source, join)
