"""
One run: reading, attaching outputs or calling the system under test, judging, and making the result.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.base.logs import logger
from rankgauge.columns import IdSketcher
from rankgauge.engine.calls import call_figures, kept_answer, run_to_end, system_facts, unwritten
from rankgauge.engine.manifest import make_manifest, resolved_config
from rankgauge.engine.run_options import Calls, RunOptions, system_name
from rankgauge.engine.sample_score import Progress
from rankgauge.errors import MetricFailedError, NothingToEvaluateError, RankgaugeError, RunInterrupted
from rankgauge.io.datasets import DatasetReader, DataSource
from rankgauge.io.files import real_path
from rankgauge.io.output_files import OUTPUTS_FILE, OutputsSource, check_known, read_outputs
from rankgauge.judging.filtered import narrowed
from rankgauge.judging.trusted_places import distrusted
from rankgauge.planning.plan import Plan
from rankgauge.result import Origin, Result
from rankgauge.result.health import broken_metrics
from rankgauge.samples import Block, Fault, KeptOutput, Sample
from rankgauge.samples.sample_records import fields_without_values
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.repeats import check_repeats, differing, folded, unsteady_note

if TYPE_CHECKING:
    from rankgauge.engine.early_stop import EarlyStop
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
        self.plan, self.data, self.evaluation = plan, data, evaluation
        self.options = options
        self.profile = plan.profile
        self._takes_all = plan.profile.policy.queries != "intersection"  # whether every sample is evaluated
        how: dict[str, Any] = {"catalog": plan.catalog, "contract": plan.profile.contract}
        what: dict[str, Any] = {"limit": options.limit, "needs_gold": plan.needs_gold, "is_part": options.is_part}
        self.reader = DatasetReader(data, **what, **how)
        chosen: OutputsSource | None = options.outputs if options.outputs is not None else data.outputs
        self.given = None if options.calls is not None else chosen
        data.check_there([data.source, self.given])
        source = Path(self.given) if isinstance(self.given, str | os.PathLike) else self.given
        shape: dict[str, Any] = {name: getattr(data, name) for name in ("fields", "preset", "separator", "number_rows")}
        shape["reader"] = data.outputs_reader
        shape["sorts_runs"] = plan.profile.policy.order == "given"
        self.overlap = self.taken = 0
        self.sketcher = IdSketcher() if options.sketch_ids else None
        self.collector = Collector(
            plan,
            details=options.details or options.near_misses,
            near_misses=options.near_misses,
            batch_size=options.batch_size,
            sketcher=self.sketcher,
        )
        is_run = evaluation is not None and self._takes_all
        self._takes_blocks = is_run and self.collector.takes_blocks and self.reader.has_blocks
        self.outputs = None if source is None else read_outputs(source, as_ids=self._takes_blocks, **shape, **how)
        check_repeats(plan.metrics, self.repeats)
        self.samples: list[Sample] = []
        self.answered: dict[tuple[int, int], Sample] = {}  # by place and repeat
        self.calls: dict[str, KeptOutput] = {}
        self.interrupted, self.stopped = False, ""
        self.unsteady: dict[str, None] = {}  # samples that were answered with another ranking when asked again
        self.early: EarlyStop | None = None
        self._looked_at: list[Sample] = []  # whether their labels are doubtful

    def run(self, progress: Progress | None = None) -> Result:
        """Score everything; raise `RunInterrupted` where the calls of a system under test are cut short."""
        if self.options.calls is None:
            for count in self._judge():
                if progress is not None:
                    progress(count, None)
            return self._checked(self._result())

        from asyncio import CancelledError  # loads only where it is used

        try:
            run_to_end(lambda: self._call_all(progress))
        except KeyboardInterrupt:
            self.interrupted = True
        except (CancelledError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "loop stopped" not in str(error):
                raise
            self.stopped = "the system under test stopped the event loop or cancelled the calls of others"
        self.interrupted |= self._saved > 0 and not self._is_early
        result = self._result()
        if not self.interrupted:
            return self._checked(result)
        done = f"{len(self.answered):,} of {self._wanted:,} {'samples' if self.repeats == 1 else 'calls'}"
        raise RunInterrupted(f"{self.stopped or 'interrupted'}: {done} are done, and scored", result) from None

    async def arun(self, progress: Progress | None, on_cancel: Callable[[Result], None] | None) -> Result:
        """Call the system under test and score, from asynchronous code; give *on_cancel* what is done by then."""
        from asyncio import CancelledError  # loads only where it is used

        try:
            await self._call_all(progress)
        except CancelledError:
            if on_cancel is not None:
                self.interrupted = True
                on_cancel(self._result())
            raise
        return self._checked(self._result())

    def read(self) -> Iterator[Sample]:
        """Yield the samples, with their outputs."""
        return (sample for batch in self.batches(self.options.batch_size) for sample in batch)

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Yield the samples in batches, with their outputs."""
        for batch in self.reader.batches(size):
            attached = self._attached(batch)
            self.taken += len(attached)
            yield attached
        self._check_outputs()
        if not self.taken:
            raise NothingToEvaluateError(
                f"no sample of {self.data.label} has an output, and policy queries=intersection leaves out the rest", []
            )

    def _judge(self) -> Iterator[int]:
        """Judge everything by the fastest way there is; yield how many samples are done."""
        self._observe("rankgauge_run_started", self.plan)
        workers = min(self.options.workers, self._worth_workers()) if self.options.workers > 1 else 1
        if workers > 1:
            return self._judge_divided(workers)
        if self._takes_blocks and (self.outputs is None or self.outputs.as_ids is not None):
            return self._judge_parts(self.reader.blocks(None if self.outputs is None else self.outputs.as_ids))
        return self._judge_samples()

    def _judge_samples(self) -> Iterator[int]:
        for batch in self.batches(_STEP):
            self.collector.add(batch)
            self._looked_at += batch[: _DOUBTED - len(self._looked_at)]
            yield self.reader.count

    def _worth_workers(self) -> int:
        """Return for how many worker processes there is work; 0 where something of the samples is needed here."""
        from rankgauge.engine.workers import ENOUGH  # seldom asked for

        needs_all = self.collector.details or self.collector.sketcher is not None
        is_whole = self.outputs is None and self._takes_all and self.reader.has_lines
        return self.data.size // ENOUGH if is_whole and not needs_all else 0

    def _judge_divided(self, count: int) -> Iterator[int]:
        """Judge lines of the file in worker processes, and those with a problem here."""
        from rankgauge.engine.workers import judging_lines  # seldom asked for

        with judging_lines(self.evaluation, count, label=self.data.label) as judged:
            yield from self._judge_parts(self.reader.shared(judged, as_blocks=self._takes_blocks))

    def _judge_parts(self, parts: Iterator[JudgedLines | Block | list[Sample]]) -> Iterator[int]:
        """Take what was judged elsewhere, and judge plain samples as columns and others as `judge` does."""
        for part in parts:
            if isinstance(part, Block):
                self.overlap += part.replaced
                self.collector.add_block(part)
            elif isinstance(part, list):
                attached = self._attached(part)
                self.collector.add(attached)
                self._looked_at += attached[: _DOUBTED - len(self._looked_at)]
            else:
                self.collector.add_part(part.part)
            yield self.reader.count
        self._check_outputs()

    @property
    def repeats(self) -> int:
        """Return how many outputs each sample may have."""
        of_file = 1 if self.outputs is None else self.outputs.repeats
        return of_file if self.options.calls is None else self.options.calls.repeat

    @property
    def _wanted(self) -> int:  # how many calls there are, those of earlier runs included
        return len(self.samples) * self.repeats

    @property
    def _saved(self) -> int:  # how many calls were not made
        return self._wanted - len(self.answered)

    @property
    def _is_early(self) -> bool:  # whether the gates that end a run are decided
        return self.early is not None and self.early.is_decided

    async def _call_all(self, progress: Progress | None) -> None:
        """Read everything, then call the system under test for every sample without a kept output."""
        async for done in self._call():
            if progress is not None:
                progress(done, self._wanted)
        self.interrupted = self._saved > 0 and not self._is_early

    async def _call(self) -> AsyncIterator[int]:
        """Call the system under test, for each sample once before any is called again; yield how many are done."""
        from rankgauge.scoring.sut import call_each  # asyncio loads only where it is used

        calls = self.options.calls
        if calls is None:
            return
        earlier = calls.earlier()
        self._observe("rankgauge_run_started", self.plan)
        for batch in self.reader.batches(self.options.batch_size):
            self.samples += batch
        self._check_known(earlier, str(calls.keep))
        self.early = calls.early_stop(self.plan, self.samples)
        still_open = self._still_open(calls, earlier)
        waiting = [self.samples[place] for place, _ in still_open]
        calling = calls.calling()
        shape = self.data.shape(self.plan.catalog)
        held: list[tuple[str, KeptOutput]] = []
        file = calls.file(self.samples)
        try:
            async for at, call in call_each(waiting, calls.sut, calling):
                place, repeat = still_open[at]
                if self._is_early and calls.would_retry(call):
                    continue
                output = kept_answer(call.found, self.profile.contract, shape.output)
                output = output._replace(seconds=call.seconds, attempt=call.attempt, repeat=repeat)
                self._answer(place, output)
                if self._looked_at_last():
                    calling.stop.request()  # calls that are under way are paid for, and kept
                if file is not None and (why := unwritten(file, waiting[at].id, output)):
                    held.append((waiting[at].id, output))
                    if not self.stopped:  # those that are under way are waited for, as they are paid for
                        self.stopped = f"no more calls were made: outputs cannot be kept ({why})"
                        calling.stop.request()
                yield len(self.answered)
        finally:
            if file is not None and (remark := file.close_with(held)):
                self.stopped = "; ".join(filter(None, [self.stopped, remark]))

    def _still_open(self, calls: Calls, earlier: Mapping[str, KeptOutput]) -> list[tuple[int, int]]:
        """Take over the outputs of earlier runs; return the calls that are left, by place and repeat."""
        known = {(name, one.repeat): one for name, output in earlier.items() for one in output.every}
        left = []
        for place, repeat in calls.in_order(len(self.samples), self.early):
            output = known.get((self.samples[place].id, repeat))
            if output is None or (calls.retry_failed and isinstance(output.read(self.profile.contract), Fault)):
                left.append((place, repeat))
            else:
                self._answer(place, output)
        return [] if self._looked_at_last() else left

    def _compare_repeats(self, samples: Sequence[Sample]) -> None:
        """Remember which samples were answered with another ranking when asked again."""
        if self.repeats > 1:
            self.unsteady |= dict.fromkeys(differing(samples))

    def _looked_at_last(self) -> bool:
        """Look at what was answered; return whether that decides the gates that end a run, and nothing did before."""
        return self.early is not None and not self.early.is_decided and self.early.look(self.answered)

    def _answer(self, place: int, output: KeptOutput) -> None:
        sample = self.samples[place]
        others = self.calls[sample.id].every if sample.id in self.calls else ()
        self.calls[sample.id] = KeptOutput.of_repeats([*others, output])
        self.overlap += sample.output is not None and not others
        answered = sample._replace(output=output.read(self.profile.contract))
        self.answered[place, output.repeat] = narrowed(answered, self.profile.policy)

    def _result(self) -> Result:
        """Score what was judged, and say what it is."""
        answered, size = [self.answered[place] for place in sorted(self.answered)], self.options.batch_size
        self._compare_repeats(answered)
        for start in range(0, len(answered), size):
            self.collector.add(answered[start : start + size])
        scored = folded(self.collector.finish(require_gold=not self.interrupted), self.repeats)
        early = "" if self.early is None else self.early.note(saved=self._saved, called=len(scored.sample_ids))
        whose = "the outputs" if self.options.calls is None else system_name(self.options.calls.sut)
        unsteady = unsteady_note(list(self.unsteady), whose)
        scored.notes.extend(filter(None, [self.stopped, early, unsteady, *self.plan.notes]))
        scored.notes.extend(self._label_doubts([*self._looked_at, *answered][:_DOUBTED]))
        if (name := self.reader.looks_like) and self.outputs is None and self.options.calls is None:
            scored.notes.append(
                f"samples without a usable output look like records of {name}; --preset {name} reads them"
            )
        scored.notes.extend(
            f"no sample has {field}, so it makes no cohorts"
            for field in fields_without_values(self.data.cohorts, scored.tags)
        )
        for note in scored.notes:
            logger("engine").warning(note)
        policy = self.profile.policy
        scored.notes.extend([*scored.flaws(policy), *scored.incomplete(policy)])
        result = Result.of(scored, self.manifest(), self.origin())
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
                doubts = doubts_about(samples, [seen_in(samples, self.plan)])
                yield from () if doubts is None else doubts.of_doubts()

    def origin(self) -> Origin | None:
        """Return what the result can be scored from again, without any call."""
        if self.evaluation is None:
            return None
        outputs = self.given if self.options.calls is None else self.calls
        return Origin(self.evaluation, outputs, self.calls, self.data)

    def manifest(self) -> dict[str, Any]:
        """Return what a reader has to know to trust the numbers."""
        data, outputs = self.data, self.outputs
        dataset = {
            "name": data.name or None,
            "path": str(data.source) if isinstance(data.source, Path) else None,
            "fingerprint": self.reader.fingerprint,
            "limit": self.options.limit,
        }
        attached: dict[str, Any] = {"path": None, "fingerprint": None, "replaced_those_in_samples": self.overlap}
        if self.options.calls is not None:
            origin, file = "sut", OUTPUTS_FILE
            failed = sum(isinstance(sample.output, Fault) for sample in self.answered.values())
            attached |= {**system_facts(self.options.calls.sut), "calls": call_figures(self.calls.values(), failed)}
        elif outputs is None:
            origin, file = "samples", None
        elif outputs.source:
            origin, file = "file", str(real_path(Path(outputs.source)))
            attached |= {"path": outputs.source, "fingerprint": outputs.fingerprint}
        else:
            origin, file = "argument", None
        attached |= {"repeats": self.repeats} if self.repeats > 1 else {}
        config = resolved_config(self.plan, data, file)
        manifest = make_manifest(self.plan, dataset, {"from": origin, **attached}, interrupted=self.interrupted)
        sketch = {} if self.sketcher is None else {"retrieved_ids": self.sketcher.sketch().to_dict()}
        early = {} if self.early is None else self.early.entry(saved=self._saved)
        counts = self.collector.sighting.place_counts()
        found = {stage: {**of, "trusted": stage not in self.collector.distrusted} for stage, of in counts.items()}
        places = {PLACES: found} if found else {}
        return manifest | early | sketch | places | {"config": config}

    def _attached(self, batch: list[Sample]) -> list[Sample]:
        if self.outputs is not None:
            ids = self.outputs.ids
            self.overlap += sum(sample.output is not None and sample.id in ids for sample in batch)
            batch = [each for sample in batch for each in self.outputs.attached(sample)[: self.options.repeats]]
            self._compare_repeats(batch)
        policy = self.profile.policy
        if policy.excluded is not None or policy.filters:
            batch = [narrowed(sample, policy) for sample in batch]
        if self.options.distrusted:
            batch = [distrusted(sample, self.options.distrusted) for sample in batch]
        if not self._takes_all:
            batch = [sample for sample in batch if sample.output is not None]
        return batch

    def _check_outputs(self) -> None:
        if self.outputs is not None and self._takes_all:
            self._check_known(self.outputs.ids, self.outputs.source)

    def _check_known(self, outputs: Mapping[str, object], source: str) -> None:
        """Refuse outputs of samples that the dataset lacks, unless only a part of it was read."""
        if self.options.limit is None:
            check_known(outputs, self.reader.sample_ids, self.reader.first_id, source)

    def _observe(self, hook: str, subject: Plan | Result) -> None:
        for plugin, observer in self.plan.catalog.observers(hook):
            try:
                with guarded():
                    observer(subject)
            except ForeignError as error:
                logger("engine").warning("observer %s of plugin %s failed: %s", hook, plugin, error)

    def _checked(self, result: Result) -> Result:
        """Return a result; raise an error with it where nothing was evaluated, or a metric failed for every sample."""
        if self.given is None and self.options.calls is None and not self.collector.sighting.says_output:
            problem = (
                f"no sample of {self.data.label} has an output (`actual_output`), so that all count as missing; give "
                "outputs (`outputs=`, --outputs) or call the system under test (`sut=`, --sut)"
            )
            raise NothingToEvaluateError("there are no outputs to evaluate:", [problem], result)
        if broken := broken_metrics({"": result}):
            raise MetricFailedError(broken, result)
        return result
