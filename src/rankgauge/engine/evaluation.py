"""
`Evaluation`: a dataset with metrics and a policy, to be run, streamed or asked for one sample.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, Unpack

from rankgauge.base.frozen import FrozenMap, frozen
from rankgauge.base.logs import logger
from rankgauge.engine.job import Job
from rankgauge.engine.reopen import evaluation_of
from rankgauge.engine.result import Result
from rankgauge.engine.run_options import RunArguments, RunOptions
from rankgauge.engine.sample_score import DataCheck, Progress, SampleScore
from rankgauge.engine.setup import Setup
from rankgauge.errors import DataError, MetricFailedError, Problem
from rankgauge.io.output_files import OutputsSource
from rankgauge.judging.filtered import narrowed
from rankgauge.planning.plan import Plan
from rankgauge.plugin.declarations import Record
from rankgauge.samples import GOLD_KINDS, Fault, Sample, read_sample
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.flaws import Tried
from rankgauge.scoring.repeats import folded
from rankgauge.scoring.score import FAILED, STATUSES
from rankgauge.scoring.single import check_stream, score_one
from rankgauge.scoring.stop import Stop

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.gates.asked import UntilGates
    from rankgauge.result import ResultValues
    from rankgauge.scoring.sut import SystemUnderTest

__all__ = ["Evaluation"]


class Evaluation(Setup):
    """
    A dataset with metrics and a policy. Every ``with_*`` returns a new evaluation.

        evaluation = Engine().dataset("samples.jsonl").with_metrics(["ndcg@10", "AP"])
        evaluation.run()["AP"].mean

    Attributes:
        data: Where the samples come from.

        metrics: The metrics as they were asked for.

        profile: The policy and the conventions.

        default_k: Default cutoff, used when a metric has none; None for the built-in one.

        matchers: The matcher for a kind of gold, for metrics that say none.

        lock: What metrics and matchers have to be, where a config locks them; None for anything.

        sender: What they were in the process that pickled this evaluation; None where it was made here, and after
            ``with_*``.

    An evaluation can be pickled and run in another process. It takes along what its metrics mean here and who provides
    them, and refuses to run where that is not the same.
    """

    @classmethod
    def of(cls, setup: Setup) -> Self:
        """Return an evaluation of what is set up."""
        return cls(**{each.name: getattr(setup, each.name) for each in fields(setup)})

    @classmethod
    def of_result(cls, result: ResultValues, *, catalog: Catalog | None = None) -> Self:
        """
        Return the evaluation that a result came from, with the outputs that were scored.

            again = Evaluation.of_result(Result.load("runs/dense")).with_metrics(["ndcg@5"]).run()

        Args:
            result: A result of samples.

            catalog: What plugins offer, for a result from a folder; by default everything that is installed.

        Returns:
            An evaluation of all samples of the data, also where the result is of the first ones only.

        Raises:
            ResultError: The result is of a run and judgments, or its data are not kept or have changed.
        """
        return cls.of(evaluation_of(result, catalog=catalog))

    def run(
        self,
        *,
        outputs: OutputsSource | None = None,
        sut: SystemUnderTest | None = None,
        concurrency: int = 8,
        timeout: float | None = None,
        retries: int = 0,
        keep: str | os.PathLike[str] | None = None,
        resume: bool = False,
        retry_failed: bool = False,
        repeat: int = 1,
        until: UntilGates = (),
        seed: int = 0,
        stop: Stop | None = None,
        limit: int | None = None,
        details: bool = False,
        near_misses: bool = False,
        sketch_ids: bool = False,
        batch_size: int = 4096,
        workers: int = 1,
        progress: Progress | None = None,
    ) -> Result:
        """
        Evaluate.

        Args:
            outputs: What the system under test emitted; beats an outputs file, which beats what the samples hold.

            sut: The system under test, called with each sample's `input` instead; it may be asynchronous.

            concurrency: How many calls of *sut* may be under way at once.

            timeout: Seconds for each call of *sut*.

            retries: How often a call of *sut* that raised or timed out is made again, after a pause that doubles from
                about a second on.

            keep: A file to which every output of *sut* is written as it arrives, in JSON lines that *outputs* takes;
                it must not hold any yet, unless *resume* is given.

            resume: Whether to call *sut* only for samples without an output in *keep*.

            retry_failed: Whether *resume* is to call again for samples whose kept output is a failure.

            repeat: How often to call *sut* for each sample; its score is the mean over them, and a sample counts once.

            until: Gates such as ``"ndcg@10 >= 0.6"`` that end the calls: samples are called in random order until every
                gate on all of them is decided, wrongly in at most 5 % of runs. `Result.gate` knows the decisions.

            seed: What the random order of *until* begins with.

            stop: How to end the calls from a signal handler or another thread.

            limit: How many samples to take at the most.

            details: Whether to keep the facts behind every score.

            near_misses: Whether these facts are to include, for each gold text that nothing matched, the retrieved text
                that came nearest and its score.

            sketch_ids: Whether the manifest is to hold a sketch of the retrieved ids (`retrieved_ids`), so that a
                baseline tells a corpus with other ids from a worse ranking.

            batch_size: How many samples are judged at once; it never changes a score.

            workers: How many processes read and judge a file of JSON lines; 1 for this one alone. Each is a Python
                interpreter of its own, for 32 MB of the file or more. Other data, and runs that keep details or
                sketches, call *sut* or leave out samples without outputs, are judged in this one.

            progress: Called as samples are done.

        Returns:
            The scores. What fails, fails for its own sample; the rest goes on.

        Raises:
            PlanError: Anything that is wrong before data is read.

            DataError: Anything that is wrong with the data files.

            NothingToEvaluateError: There is no sample, or neither *outputs* nor *sut* is given and no sample says
                anything of its output.

            SampleRefusedError: The policy turns a sample into an error.

            ResultError: The file to keep outputs in cannot be written; before the first call.

            WorkerError: A worker process cannot evaluate this, or was ended.

            MetricFailedError: A metric failed for every sample; everything else is done, and in its `result`.

            RunInterrupted: The run was interrupted or stopped while *sut* was called, or outputs could not be kept any
                more; what was done is in its `result`.
        """
        options = RunOptions.of(
            outputs=outputs,
            sut=sut,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            keep=keep,
            resume=resume,
            retry_failed=retry_failed,
            repeat=repeat,
            until=until,
            seed=seed,
            stop=stop,
            limit=limit,
            details=details,
            near_misses=near_misses,
            sketch_ids=sketch_ids,
            batch_size=batch_size,
            workers=workers,
        )
        return self._job(options).run(progress)

    async def arun(
        self,
        *,
        progress: Progress | None = None,
        on_cancel: Callable[[Result], None] | None = None,
        **arguments: Unpack[RunArguments],
    ) -> Result:
        """
        Evaluate from asynchronous code.

        Args:
            progress: As in `run`.

            on_cancel: Called with the result over what was done, when this coroutine is cancelled while *sut* is
                called; the cancellation then goes on.

            arguments: The other arguments of `run`.

        Returns:
            The scores.

        Raises:
            RankgaugeError: As `run`.
        """
        import asyncio  # loads only where it is used

        options = RunOptions.of(**arguments)
        if options.calls is None:
            return await asyncio.to_thread(lambda: self._job(options).run(progress))
        return await self._job(options).arun(progress, on_cancel)

    def _job(self, options: RunOptions) -> Job[Result]:
        calls = options.calls
        if calls is None or not calls.until:
            return Job(self.plan(), self.data, options, evaluation=self, results=Result)
        from rankgauge.gates.asked import (
            ask_gates,  # most runs call every sample
            until_gates,
        )

        gates = until_gates(calls.until)
        asked = ask_gates(gates, self.metrics, lambda specs: self.with_metrics(specs).plan().metrics)
        evaluation = self if asked.specs == self.metrics else self.with_metrics(asked.specs)
        options = replace(options, calls=replace(calls, until=asked.gates))
        return Job(evaluation.plan(), self.data, options, evaluation=evaluation, results=Result)

    def stream(
        self, *, batch_size: int = 4096, outputs: OutputsSource | None = None, limit: int | None = None
    ) -> Iterator[Result]:
        """
        Evaluate in constant memory.

        Args:
            batch_size: How many samples make one result.

            outputs: As in `run`.

            limit: How many samples to take at the most.

        Yields:
            One result for each batch; `Result.merge` of all of them equals `run`. A problem of the data is raised
            when it is reached, after the results before it; that no sample had a metric's ground truth, or that a
            metric failed for every sample, at the end.

        Raises:
            RankgaugeError: As `run`; also for a metric that has to see the whole data set first.
        """
        check_stream(self.plan(), "stream()", merges=True)
        job = self._job(RunOptions(outputs=outputs, limit=limit, batch_size=batch_size))
        collector = Collector(job.plan, batch_size=batch_size)
        tried = {metric.name: Tried() for metric in job.plan.metrics}
        for batch in job.batches(batch_size):
            collector = Collector(job.plan, batch_size=batch_size, sighting=collector.sighting)
            collector.add(batch)
            scored = folded(collector.finish(require_gold=False, is_part=True), job.repeats)
            for metric in scored.metrics:
                name, outcome = metric.planned.name, metric.outcome
                tried[name] |= Tried.of(name, outcome.status, outcome.reasons)
            yield Result.of(scored, job.manifest(), job.origin())
        if broken := [each.reason for each in tried.values() if each.reason]:
            raise MetricFailedError(broken, None)
        for note in collector.conclude():
            logger("engine").warning(note)

    def check(self, *, require_gold: bool = True) -> DataCheck:
        """
        Read and judge everything, and score nothing.

        Args:
            require_gold: Whether a metric for which no sample has ground truth is an error.

        Returns:
            What was found.

        Raises:
            RankgaugeError: As `run`.
        """
        job = self._job(RunOptions(repeats=1))
        samples = without_output = 0
        malformed: dict[str, str] = {}
        gold: dict[str, int] = dict.fromkeys(GOLD_KINDS, 0)
        for batch in job.batches(job.options.batch_size):
            job.collector.add(batch)
            samples += len(batch)
            without_output += sum(sample.output is None for sample in batch)
            malformed |= {sample.id: sample.output.reason for sample in batch if isinstance(sample.output, Fault)}
            for kind in GOLD_KINDS:
                gold[kind] += sum(bool(getattr(sample.expected, kind)) for sample in batch)
            for kind in chain.from_iterable(sample.expected.others or () for sample in batch):
                gold[kind] = gold.get(kind, 0) + 1
        scored = job.collector.finish(require_gold=require_gold)
        failed = dict(malformed)
        for outcome in (metric.outcome for metric in scored.metrics if require_gold):
            reasons = outcome.reasons.items()
            failed |= {scored.sample_ids[at]: reason for at, reason in reasons if outcome.status[at] == FAILED}
        notes = tuple(job.collector.notes())
        return DataCheck(samples, without_output, len(malformed), FrozenMap(gold), notes, FrozenMap(failed))

    def score(self, sample: Mapping[str, Any] | Sample, *, details: bool = False) -> dict[str, SampleScore]:
        """
        Score one sample, for harnesses that call one at a time.

        Args:
            sample: In the form of the dataset contract, with its `actual_output`.

            details: Whether to compute the facts behind every score.

        Returns:
            The scores by column.

        Raises:
            DataError: The sample does not follow the contract.

            RankgaugeError: As `run`.
        """
        plan = self._single_plan
        if not isinstance(sample, Sample):
            problems: list[Problem] = []
            shape = self.data.shape(self.catalog())
            how: dict[str, Any] = {"contract": self.profile.contract, "needs_gold": plan.needs_gold}
            how["kinds"] = plan.catalog.gold_kinds
            read = read_sample(shape.sample(Record(sample)), problems=problems, **how)
            if read is None:
                raise DataError("cannot score the sample:", problems)
            sample = read
        sample = narrowed(sample, plan.profile.policy)
        scores: dict[str, SampleScore] = {}
        for name, (outcome, facts) in score_one(plan, sample, details=details).items():
            value = float(outcome.values[0])
            status = STATUSES[int(outcome.status[0])]
            shown = None if math.isnan(value) else value
            scores[name] = SampleScore(shown, status, outcome.reasons.get(0, ""), frozen(facts))
        return scores

    @cached_property
    def _single_plan(self) -> Plan:
        check_stream(self._plan, "score()")
        return self._plan
