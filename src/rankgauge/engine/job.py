"""
One run: reading, attaching outputs or calling the system under test, judging, and making the result.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.base.logs import logger
from rankgauge.columns import IdSketcher
from rankgauge.engine.calls import CallOptions, call_figures, check_whole, run_to_end, system_name
from rankgauge.engine.manifest import make_manifest, resolved_config
from rankgauge.engine.sample_score import Progress
from rankgauge.errors import DataError, NothingToEvaluateError, Problem, RunInterrupted
from rankgauge.io.datasets import DatasetReader, DataSource
from rankgauge.io.output_files import OUTPUTS_FILE, Outputs, OutputsFile, kept, read_outputs
from rankgauge.planning.plan import Plan
from rankgauge.result import Origin, Result
from rankgauge.samples import Block, CallError, Fault, KeptOutput, Sample
from rankgauge.samples.sample_records import fields_without_values
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.stop import Stop

if TYPE_CHECKING:
    from rankgauge.scoring.sut import SystemUnderTest

__all__ = ["Job", "OutputsSource"]

_STEP = 256
"""How many samples are read and judged at once: few enough to stay in a processor's cache on the way."""

OutputsSource = str | os.PathLike[str] | Mapping[str, object] | Sequence[Mapping[str, object]]
"""A file with outputs, a map from sample ids to outputs, or rows ``{id, actual_output}``."""


class Job:
    """One run: reads, attaches outputs, judges, and makes the result."""

    def __init__(
        self,
        plan: Plan,
        data: DataSource,
        *,
        details: bool,
        limit: int | None,
        batch_size: int,
        outputs: OutputsSource | None = None,
        near_misses: bool = False,
        sketch_ids: bool = False,
        by_sut: bool = False,
        evaluation: object = None,
    ) -> None:
        check_whole("batch_size", batch_size)
        check_whole("limit", 1 if limit is None else limit)
        self.plan = plan
        self.profile = plan.profile
        self.data = data
        self.batch_size = batch_size
        self.limit = limit
        catalog = self.plan.catalog
        contract = self.profile.contract
        self.reader = DatasetReader(self.data, catalog=catalog, contract=contract, limit=limit)
        self.by_sut = by_sut
        self.evaluation = evaluation
        chosen: OutputsSource | None = outputs if outputs is not None else self.data.outputs
        self.given: OutputsSource | None = None if by_sut else chosen
        self.outputs: Outputs | None = None
        self.data.check_there([self.data.source, self.given])
        if self.given is not None:
            source = Path(self.given) if isinstance(self.given, str | os.PathLike) else self.given
            self.outputs = read_outputs(source, catalog=catalog, contract=contract, fields=self.data.fields)
        self.overlap = 0
        self.taken = 0
        self.sketcher = IdSketcher() if sketch_ids else None
        self.collector = Collector(
            self.plan,
            details=details or near_misses,
            near_misses=near_misses,
            batch_size=batch_size,
            sketcher=self.sketcher,
        )
        self.samples: list[Sample] = []
        self.answered: dict[int, Sample] = {}
        self.calls: dict[str, KeptOutput] = {}
        self.system = ""
        self.interrupted = False
        self.stopped = ""

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Yield the samples in batches, with their outputs."""
        for batch in self.reader.batches(size):
            attached = self._attached(batch)
            self.taken += len(attached)
            yield attached
        self._check_outputs()
        if not self.taken:
            msg = f"no sample of {self.data.label} has an output, and policy queries=intersection leaves out the rest"
            raise NothingToEvaluateError(msg, [])

    def judge(self, workers: int = 1) -> Iterator[int]:
        """Judge everything, in so many processes where the data can be divided; yield how many samples are done."""
        self._observe("rankgauge_run_started", self.plan)
        count = min(workers, self._worth_workers()) if workers > 1 else 1
        if count > 1:
            yield from self._judge_divided(count)
            return
        if self._is_whole and self.collector.takes_blocks and self.reader.has_blocks:
            yield from self._judge_blocks()
            return
        for batch in self.batches(_STEP):
            self.collector.add(batch)
            yield self.reader.count

    def _worth_workers(self) -> int:
        """Return for how many worker processes there is work; 0 where something of the samples is needed here."""
        from rankgauge.scale.workers import ENOUGH  # seldom asked for

        needs_all = self.collector.details or self.collector.sketcher is not None
        return self.data.size // ENOUGH if self._is_whole and self.reader.has_lines and not needs_all else 0

    @property
    def _is_whole(self) -> bool:
        """Return whether the data has the outputs, and every sample of it is evaluated."""
        return self.outputs is None and self.profile.policy.queries != "intersection"

    def _judge_divided(self, count: int) -> Iterator[int]:
        """Judge lines of the file in worker processes, and those with a problem here."""
        from rankgauge.scale.workers import judging_lines  # seldom asked for

        as_blocks = self.collector.takes_blocks and self.reader.has_blocks
        with judging_lines(self.evaluation, count, label=self.data.label) as judged:
            for found in self.reader.shared(judged, as_blocks=as_blocks):
                if isinstance(found, Block):
                    self.collector.add_block(found)
                elif isinstance(found, list):
                    self.collector.add(found)
                else:
                    self.collector.add_part(found.part)
                yield self.reader.count

    def _judge_blocks(self) -> Iterator[int]:
        """Judge plain samples as columns, and others as `judge` does."""
        for block in self.reader.blocks():
            if isinstance(block, Block):
                self.collector.add_block(block)
            else:
                self.collector.add(block)
            yield self.reader.count

    async def call(self, sut: SystemUnderTest, options: CallOptions) -> AsyncIterator[tuple[int, int]]:
        """Read everything, then call the system under test; yield how many samples are done, and how many there are."""
        from rankgauge.scoring.sut import Calling, call_each  # asyncio loads only where it is used

        self.system = system_name(sut)
        earlier = options.earlier()
        self._observe("rankgauge_run_started", self.plan)
        for batch in self.reader.batches(self.batch_size):
            self.samples += batch
        self._check_known(earlier, str(options.keep))
        contract = self.profile.contract
        open_places = []
        for place, sample in enumerate(self.samples):
            known = earlier.get(sample.id)
            if known is None or (options.retry_failed and isinstance(known.read(contract), Fault)):
                open_places.append(place)
            else:
                self._answer(place, known)
        how = Calling(
            concurrency=options.concurrency,
            timeout=options.timeout,
            retries=options.retries,
            stop=options.stop or Stop(),
        )
        with options.file(self.samples) as file:
            waiting = [self.samples[place] for place in open_places]
            async for at, call in call_each(waiting, sut, how):
                found = call.found
                output = KeptOutput(error=found) if isinstance(found, CallError) else kept(found, contract)
                output = output._replace(seconds=call.seconds, attempt=call.attempt)
                self._answer(open_places[at], output)
                if file is not None and not self._written(file, waiting[at].id, output):
                    break
                yield len(self.answered), len(self.samples)
        self.interrupted = len(self.answered) < len(self.samples)

    def call_all(self, sut: SystemUnderTest, options: CallOptions, progress: Progress | None) -> Result:
        """Call the system under test for every sample, and score; raise `RunInterrupted` where that is cut short."""

        async def drive() -> None:
            async for done, total in self.call(sut, options):
                if progress is not None:
                    progress(done, total)

        try:
            run_to_end(drive)
        except KeyboardInterrupt:
            self.interrupted = True
        result = self.result()
        if not self.interrupted:
            return result
        count, total = len(self.answered), len(self.samples)
        msg = f"{self.stopped or 'interrupted'}: {count:,} of {total:,} samples are done, and scored"
        raise RunInterrupted(msg, result) from None

    def _answer(self, place: int, output: KeptOutput) -> None:
        sample = self.samples[place]
        self.calls[sample.id] = output
        self.overlap += sample.output is not None
        self.answered[place] = sample._replace(output=output.read(self.profile.contract))

    def _written(self, file: OutputsFile, sample_id: str, output: KeptOutput) -> bool:
        """Keep an output; return False where that is not possible any more, so that nothing more is paid for."""
        try:
            file.add(sample_id, output)
        except OSError as error:
            self.stopped = f"no more calls were made: outputs cannot be kept ({error.strerror or error})"
            return False
        return True

    def result(self, *, interrupted: bool = False) -> Result:
        """Score what was judged, and say what it is."""
        interrupted = interrupted or self.interrupted
        answered = [self.answered[place] for place in sorted(self.answered)]
        for start in range(0, len(answered), self.batch_size):
            self.collector.add(answered[start : start + self.batch_size])
        scored = self.collector.finish(require_gold=not interrupted)
        scored.notes.extend(filter(None, [self.stopped, *self.plan.notes]))
        scored.notes.extend(
            f"no sample has {field}, so it makes no cohorts"
            for field in fields_without_values(self.data.cohorts, scored.tags)
        )
        result = Result.of(scored, self.manifest(interrupted=interrupted), self.origin())
        self._observe("rankgauge_run_finished", result)
        for note in result.notes:
            logger("engine").warning(note)
        return result

    def origin(self) -> Origin | None:
        """Return what the result can be scored from again, without any call."""
        if self.evaluation is None:
            return None
        return Origin(self.evaluation, self.calls if self.by_sut else self.given, self.calls, self.data)

    def manifest(self, *, interrupted: bool = False) -> dict[str, Any]:
        """Return what a reader has to know to trust the numbers."""
        data, outputs = self.data, self.outputs
        dataset = {
            "name": data.name or None,
            "path": str(data.source) if isinstance(data.source, Path) else None,
            "fingerprint": self.reader.fingerprint,
            "limit": self.limit,
        }
        attached: dict[str, Any] = {"path": None, "fingerprint": None, "replaced_those_in_samples": self.overlap}
        if self.by_sut:
            origin, file = "sut", OUTPUTS_FILE
            failed = sum(isinstance(sample.output, Fault) for sample in self.answered.values())
            attached |= {"sut": self.system, "calls": call_figures(self.calls.values(), failed)}
        elif outputs is None:
            origin, file = "samples", None
        elif outputs.source:
            origin, file = "file", str(Path(outputs.source).resolve())
            attached |= {"path": outputs.source, "fingerprint": outputs.fingerprint}
        else:
            origin, file = "argument", None
        config = resolved_config(self.plan, data, file)
        manifest = make_manifest(self.plan, dataset, {"from": origin, **attached}, interrupted=interrupted)
        sketch = {} if self.sketcher is None else {"retrieved_ids": self.sketcher.sketch().as_dict()}
        return manifest | sketch | {"config": config}

    def _attached(self, batch: list[Sample]) -> list[Sample]:
        if self.outputs is not None:
            by_id = self.outputs.by_id
            self.overlap += sum(sample.output is not None and sample.id in by_id for sample in batch)
            batch = [sample._replace(output=by_id[sample.id]) if sample.id in by_id else sample for sample in batch]
        if self.profile.policy.queries == "intersection":
            batch = [sample for sample in batch if sample.output is not None]
        return batch

    def _check_outputs(self) -> None:
        if self.outputs is None or self.profile.policy.queries == "intersection":
            return
        self._check_known(self.outputs.by_id, self.outputs.source)

    def _check_known(self, outputs: Mapping[str, object], source: str) -> None:
        """Refuse outputs of samples that the dataset lacks, unless only a part of it was read."""
        unknown = sorted(outputs.keys() - self.reader.sample_ids)
        if unknown and self.limit is None:
            msg = f"{source or 'the outputs'} and the dataset do not fit:"
            problem = (
                f"{len(unknown):,} of {len(outputs):,} outputs are for samples that the dataset lacks, "
                f"such as {', '.join(map(repr, unknown[:5]))} (the dataset's look like {self.reader.first_id!r}); "
                "remove them, or use policy queries=intersection to leave out what one side lacks"
            )
            raise DataError(msg, [Problem(problem, source)])

    def _observe(self, hook: str, subject: Plan | Result) -> None:
        for plugin, observer in self.plan.catalog.observers(hook):
            try:
                with guarded():
                    observer(subject)
            except ForeignError as error:
                logger("engine").warning("observer %s of plugin %s failed: %s", hook, plugin, error)
