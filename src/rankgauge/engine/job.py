"""
One run: reading, attaching outputs or calling the system under test, judging, and making the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.base.logs import logger
from rankgauge.columns import IdSketcher
from rankgauge.engine.calls import run_to_end
from rankgauge.engine.manifest import make_manifest, resolved_config
from rankgauge.engine.metadata import weighing
from rankgauge.engine.run_options import RunOptions, system_name
from rankgauge.engine.sample_reading import SampleReading
from rankgauge.engine.sample_score import Progress
from rankgauge.engine.system_calls import SystemCalls
from rankgauge.errors import MetricFailedError, NothingToEvaluateError, ParameterError, RankgaugeError, RunInterrupted
from rankgauge.io.datasets import DataSource, Part
from rankgauge.io.files import real_path
from rankgauge.io.output_files import OUTPUTS_FILE
from rankgauge.planning.plan import Plan
from rankgauge.result import Origin, Result
from rankgauge.result.health import broken_metrics
from rankgauge.samples import Block, BlockKind, PlacedBlock, Sample
from rankgauge.samples.sample_records import fields_without_values
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.repeats import check_repeats, folded, unsteady_note

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.workers import JudgedLines

__all__ = ["PLACES", "Job"]

PLACES = "places"
"""The entry of a manifest that says what the places of retrieved items are worth, by stage."""

_DOUBTED = 500
"""Of so many samples it is looked whether rankings speak against their labels."""

_STEP = 256
"""How many samples are read and judged at once: few enough to stay in a processor's cache on the way."""


class Job:
    """One run: reads, attaches outputs, judges, and makes the result."""

    def __init__(
        self, plan: Plan, data: DataSource, options: RunOptions, *, evaluation: Evaluation | None = None
    ) -> None:
        self.plan, self.data, self.options, self.evaluation = plan, data, options, evaluation
        is_weighted = evaluation is not None and evaluation.weights is not None
        if is_weighted and options.calls is not None and options.calls.until:
            raise ParameterError("until counts all samples alike, and these have weights; leave one of the two out")
        self._sketcher = IdSketcher() if options.sketch_ids else None
        self.collector = Collector(
            plan,
            details=options.details or options.near_misses,
            near_misses=options.near_misses,
            batch_size=options.batch_size,
            sketcher=self._sketcher,
        )
        wanted = self.collector.block_kinds if evaluation is not None else frozenset[BlockKind]()
        self._reading = SampleReading(plan, data, options, wanted)
        self._calls = None if options.calls is None else SystemCalls(options.calls, plan, data, self._reading)
        check_repeats(plan.metrics, self.repeats)
        self._is_interrupted = False
        self._looked_at: list[Sample] = []  # whether their labels are doubtful

    def run(self, progress: Progress | None = None) -> Result:
        """Score everything; raise `RunInterrupted` if the calls of a system under test are cut short."""
        calls = self._calls
        if calls is None:
            for count in self._judge():
                if progress is not None:
                    progress(count, None)
            return self._checked(self._result())

        from asyncio import CancelledError  # loads only when it is used

        try:
            run_to_end(lambda: self._call_all(calls, progress))
        except KeyboardInterrupt:
            self._is_interrupted = True
        except (CancelledError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "loop stopped" not in str(error):
                raise
            calls.stopped = "the system under test stopped the event loop or cancelled the calls of others"
        self._is_interrupted |= calls.is_cut_short
        result = self._result()
        if not self._is_interrupted:
            return self._checked(result)
        what = "samples" if self.repeats == 1 else "calls"
        done = f"{calls.n_wanted - calls.n_saved:,} of {calls.n_wanted:,} {what}"
        raise RunInterrupted(f"{calls.stopped or 'interrupted'}: {done} are done, and scored", result) from None

    async def arun(self, progress: Progress | None, on_cancel: Callable[[Result], None] | None) -> Result:
        """Call the system under test and score, from asynchronous code; give *on_cancel* what is done by then."""
        from asyncio import CancelledError  # loads only when it is used

        try:
            if self._calls is not None:
                await self._call_all(self._calls, progress)
        except CancelledError:
            if on_cancel is not None:
                self._is_interrupted = True
                on_cancel(self._result())
            raise
        return self._checked(self._result())

    def read(self) -> Iterator[Sample]:
        """Yield the samples, with their outputs."""
        return (sample for batch in self.batches(self.options.batch_size) for sample in batch)

    @property
    def notes(self) -> list[str]:
        """Return what users should know of what was read."""
        return self._reading.notes

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Yield the samples in batches, with their outputs."""
        return self._reading.batches(size)

    def _judge(self) -> Iterator[int]:
        """Judge everything by the fastest way there is; yield how many samples are done."""
        self._observe("rankgauge_run_started", self.plan)
        workers = min(self.options.workers, self._worth_workers()) if self.options.workers > 1 else 1
        if workers > 1:
            return self._judge_divided(workers)
        reading, outputs = self._reading, self._reading.outputs
        ids = None if outputs is None else outputs.as_ids
        if reading.block_kinds and (outputs is None or ids is not None):
            return self._judge_parts(reading.reader.blocks(reading.block_kinds, ids))
        return self._judge_samples()

    def _judge_samples(self) -> Iterator[int]:
        for batch in self.batches(_STEP):
            self._add(batch)
            yield self._reading.reader.count

    def _worth_workers(self) -> int:
        """Return for how many worker processes there is work; 0 if something of the samples is needed here."""
        from rankgauge.engine.workers import ENOUGH  # seldom asked for

        needs_all = self.collector.details or self.collector.sketcher is not None
        reading = self._reading
        is_whole = reading.outputs is None and reading.takes_all and reading.reader.has_lines
        return self.data.size // ENOUGH if is_whole and not needs_all else 0

    def _judge_divided(self, count: int) -> Iterator[int]:
        """Judge lines of the file in worker processes, and those with a problem here."""
        from rankgauge.engine.workers import judging_lines  # seldom asked for

        with judging_lines(self.evaluation, count, label=self.data.label) as judged:
            yield from self._judge_parts(self._reading.reader.shared(judged, self._reading.block_kinds))

    def _judge_parts(self, parts: Iterator[JudgedLines | Part]) -> Iterator[int]:
        """Take what was judged elsewhere, and judge blocks as columns and others as `judge` does."""
        for part in parts:
            if isinstance(part, Block):
                self._reading.overlap += part.replaced
                self.collector.add_block(part)
            elif isinstance(part, PlacedBlock):
                self.collector.add_placed(part)
                self._look_at(part)
            elif isinstance(part, list):
                self._add(self._reading.attached(part))
            else:
                self.collector.add_part(part.part)
            yield self._reading.reader.count
        self._reading.check_outputs()

    def _add(self, samples: list[Sample]) -> None:
        """Judge samples, and keep the first ones to look at their labels."""
        self.collector.add(samples)
        self._looked_at += samples[: _DOUBTED - len(self._looked_at)]

    def _look_at(self, block: PlacedBlock) -> None:
        """Keep the first samples of a block to look at their labels."""
        if (lacking := _DOUBTED - len(self._looked_at)) > 0:
            self._looked_at += block.samples[:lacking]

    @property
    def repeats(self) -> int:
        """Return how many outputs each sample may have."""
        return self._reading.repeats if self._calls is None else self._calls.calls.repeat

    async def _call_all(self, calls: SystemCalls, progress: Progress | None) -> None:
        """Read everything, then call the system under test for every sample without a kept output."""
        earlier = calls.calls.earlier()
        self._observe("rankgauge_run_started", self.plan)
        async for done in calls.each(earlier, self.options.batch_size):
            if progress is not None:
                progress(done, calls.n_wanted)
        self._is_interrupted = calls.is_cut_short

    def _result(self) -> Result:
        """Score what was judged, and say what it is."""
        calls, reading, size = self._calls, self._reading, self.options.batch_size
        answered = [] if calls is None else calls.answered
        reading.compare_repeats(answered, self.repeats)
        for start in range(0, len(answered), size):
            self.collector.add(answered[start : start + size])
        scored = folded(self.collector.finish(require_gold=not self._is_interrupted), self.repeats)
        whose = "the outputs" if calls is None else system_name(calls.calls.sut)
        of_calls = [] if calls is None else calls.notes(called=len(scored.sample_ids))
        unsteady = unsteady_note(list(reading.unsteady), whose)
        scored.notes.extend(filter(None, [*of_calls, unsteady, *reading.notes, *self.plan.notes]))
        scored.notes.extend(self._label_doubts([*self._looked_at, *answered][:_DOUBTED]))
        if (name := reading.reader.looks_like) and reading.outputs is None and calls is None:
            scored.notes.append(
                f"samples without a usable output look like records of {name}; --preset {name} reads them"
            )
        scored.notes.extend(
            f"no sample has {field}, so it makes no cohorts"
            for field in fields_without_values(self.data.cohorts, scored.tags)
        )
        if self.data.groups is not None:
            scored.notes.extend(self.data.groups.notes(scored.sample_ids))
        for note in scored.notes:
            logger("engine").warning(note)
        policy = self.plan.profile.policy
        scored.notes.extend([*scored.flaws(policy), *scored.incomplete(policy)])
        result = weighing(self.evaluation)(Result.of(scored, self.manifest(), self.origin()))
        self._observe("rankgauge_run_finished", result)
        return result

    def _label_doubts(self, samples: Sequence[Sample]) -> Iterator[str]:
        """Yield which labels the rankings of samples speak against."""
        if samples and self.repeats == 1 and self.evaluation is not None:
            from rankgauge.engine.doubts import (
                doubts_about,
                seen_in,
            )  # compares texts, which judging by id does without

            with suppress(RankgaugeError):
                doubts = doubts_about(samples, [seen_in(samples, self.plan, self.collector.judged(samples))])
                yield from () if doubts is None else doubts.of_doubts()

    def origin(self) -> Origin | None:
        """Return what the result can be scored from again, without any call."""
        if self.evaluation is None:
            return None
        if self._calls is None:
            return Origin(self.evaluation, self._reading.given, data=self.data)
        return Origin(self.evaluation, self._calls.outputs, self._calls.outputs, self.data)

    def manifest(self) -> dict[str, Any]:
        """Return what a reader has to know to trust the numbers."""
        data, reading = self.data, self._reading
        dataset = {
            "name": data.name or None,
            "path": str(data.source) if isinstance(data.source, Path) else None,
            "fingerprint": reading.reader.fingerprint,
            "limit": self.options.limit,
        }
        origin, file, attached = self._outputs_entry()
        attached |= {"repeats": self.repeats} if self.repeats > 1 else {}
        config = resolved_config(self.plan, data, file)
        manifest = make_manifest(self.plan, dataset, {"from": origin, **attached}, interrupted=self._is_interrupted)
        sketch = {} if self._sketcher is None else {"retrieved_ids": self._sketcher.sketch().to_dict()}
        early = {} if self._calls is None else self._calls.early_entry()
        counts = self.collector.sighting.place_counts()
        found = {stage: {**of, "trusted": stage not in self.collector.distrusted} for stage, of in counts.items()}
        places = {PLACES: found} if found else {}
        return manifest | early | sketch | places | {"config": config}

    def _outputs_entry(self) -> tuple[str, str | None, dict[str, Any]]:
        """Return where outputs came from, the file that the config of a result folder names, and what else is known."""
        outputs = self._reading.outputs
        attached = {"path": None, "fingerprint": None, "replaced_those_in_samples": self._reading.overlap}
        if self._calls is not None:
            return "sut", OUTPUTS_FILE, {**attached, **self._calls.facts()}
        if outputs is None:
            return "samples", None, attached
        if outputs.source:
            known = {"path": outputs.source, "fingerprint": outputs.fingerprint}
            return "file", str(real_path(Path(outputs.source))), {**attached, **known}
        return "argument", None, attached

    def _observe(self, hook: str, subject: Plan | Result) -> None:
        for plugin, observer in self.plan.catalog.observers(hook):
            try:
                with guarded():
                    observer(subject)
            except ForeignError as error:
                logger("engine").warning("observer %s of plugin %s failed: %s", hook, plugin, error)

    def _checked(self, result: Result) -> Result:
        """Return a result; raise an error with it if nothing was evaluated, or a metric failed for every sample."""
        if self._reading.given is None and self._calls is None and not self.collector.sighting.says_output:
            problem = (
                f"no sample of {self.data.label} has an output (`actual_output`), so that all count as missing; give "
                "outputs (`outputs=`, --outputs) or call the system under test (`sut=`, --sut)"
            )
            raise NothingToEvaluateError("there are no outputs to evaluate:", [problem], result)
        if broken := broken_metrics({"": result}):
            raise MetricFailedError(broken, result)
        return result
