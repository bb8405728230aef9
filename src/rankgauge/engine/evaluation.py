"""
`Evaluation`: a dataset with metrics and a policy, ready to be planned, run, streamed or asked for one sample.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from rankgauge.base.logs import logger
from rankgauge.catalog import Catalog
from rankgauge.engine.calls import CallOptions, check_calls, check_whole
from rankgauge.engine.job import Job, OutputsSource
from rankgauge.engine.sample_score import DataCheck, Progress, SampleScore
from rankgauge.errors import DataError, ParameterError, Problem, RankgaugeError, counted, listed
from rankgauge.expression import MetricExpression
from rankgauge.frozen import FrozenMap, frozen
from rankgauge.io.datasets import DataSource
from rankgauge.io.field_names import FieldMap, check_field, remapped
from rankgauge.pickling import itself
from rankgauge.planning.cutoffs import DefaultK
from rankgauge.planning.lock import Lock, lock_for_sending
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import Located, MetricSpec, check_sendable
from rankgauge.policy import PROFILES, Policy, Profile, profile
from rankgauge.result import Result
from rankgauge.samples import GOLD_KINDS, Fault, GoldKind, Sample, read_sample
from rankgauge.samples.sample_records import check_cohort
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.score import STATUSES
from rankgauge.scoring.single import check_stream, score_one
from rankgauge.scoring.stop import Stop

if TYPE_CHECKING:
    from rankgauge.scoring.sut import SystemUnderTest

__all__ = ["Evaluation"]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """
    A dataset with metrics and a policy. Every ``with_*`` returns a new evaluation.

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

    catalog: Callable[[], Catalog] = field(repr=False)
    data: DataSource
    metrics: tuple[MetricSpec, ...] = ()
    profile: Profile
    default_k: DefaultK | None = None
    matchers: tuple[tuple[GoldKind, str], ...] = ()
    lock: Lock | None = None
    sender: Lock | None = field(default=None, repr=False, compare=False)

    __copy__ = __deepcopy__ = itself

    def __repr__(self) -> str:
        source = self.data.source
        what = str(source) if isinstance(source, Path) else counted(len(source), "sample")
        name = f"{self.data.name} ({what})" if self.data.name else what
        asked = listed([_written(metric) for metric in self.metrics])
        return f"<Evaluation of {name}: {asked or 'no metrics'}; profile {self.profile.name}>"

    def __reduce__(self) -> tuple[Callable[..., Evaluation], tuple[dict[str, Any]]]:
        # It is sent with a lock over what its metrics mean here. That they mean something else where it arrives is
        # found when it is planned there: an error while unpickling would break that process's pool.
        check_sendable(self.metrics)
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["catalog"] = partial(itself, self.catalog())
        values["data"] = self.data._replace(fields=dict(self.data.fields))
        if self.sender is None:
            with contextlib.suppress(RankgaugeError):  # what cannot be planned here fails there, too
                values["sender"] = lock_for_sending(self.plan().metrics)
        return _unpacked, (values,)

    def _with(self, **changes: Any) -> Evaluation:  # noqa: ANN401  # the values of some fields
        return replace(self, sender=None, **changes)

    def with_metrics(self, metrics: Sequence[MetricSpec] | MetricSpec) -> Evaluation:
        """
        Return this evaluation with these metrics.

        Args:
            metrics: One or several: expressions such as ``ndcg@10``, mappings ``{metric, as, k, ...}``, or functions:
                declared ones, or ``f(ranking: JudgedSample, *, k: int) -> float | None``.

        Returns:
            A new evaluation.
        """
        if isinstance(metrics, str | MetricExpression | Mapping) or callable(metrics):
            return self._with(metrics=(metrics,))
        return self._with(metrics=tuple(cast("Sequence[MetricSpec]", metrics)))

    def with_policy(self, policy: str | Policy | Profile) -> Evaluation:
        """
        Return this evaluation under another policy.

        Args:
            policy: The name of a profile (built in, or of the config or a plugin), a profile, or a policy (which keeps
                the other conventions as they are).

        Returns:
            A new evaluation.

        Raises:
            PolicyError: No profile has that name.
        """
        if isinstance(policy, Policy):
            return self._with(profile=replace(self.profile, policy=policy))
        is_known = not isinstance(policy, str) or policy in PROFILES
        return self._with(profile=profile(policy) if is_known else self.catalog().profile(policy))

    def with_defaults(self, *, k: int, source: str = "with_defaults(k=)") -> Evaluation:
        """
        Return this evaluation with another default cutoff.

        Args:
            k: The cutoff; checked when the plan is made.

            source: Where it was given, for messages.

        Returns:
            A new evaluation.
        """
        return self._with(default_k=DefaultK(k, source))

    def with_matchers(self, matchers: Mapping[GoldKind, str]) -> Evaluation:
        """
        Return this evaluation with other matchers for metrics that say none.

        Args:
            matchers: A matcher, by name or written out, for each kind of gold: `passages`, `answer` or `keywords`.
                Checked when the plan is made.

        Returns:
            A new evaluation.
        """
        return self._with(matchers=tuple(matchers.items()))

    def with_outputs(self, outputs: OutputsSource) -> Evaluation:
        """
        Return this evaluation with other outputs.

        Args:
            outputs: A file, a map from sample ids to outputs (such as `Result.outputs`), or rows
                ``{id, actual_output}``.

        Returns:
            A new evaluation.
        """
        source = Path(outputs) if isinstance(outputs, str | os.PathLike) else outputs
        return self._with(data=self.data._replace(outputs=source))

    def with_fields(self, fields: FieldMap) -> Evaluation:
        """
        Return this evaluation with other names for fields of the data, in addition to those it has.

        Args:
            fields: Where the data has each of our fields: ``{"id": "qid"}``, or for a list of texts
                ``{"retrieved": {"path": "contexts", "strings": "text"}}``. A path may lead into a record:
                ``response.contexts``.

        Returns:
            A new evaluation.

        Raises:
            ParameterError: A field that samples do not have, or a place that cannot be read.
        """
        for name, place in fields.items():
            check_field(name, place)
        return self._with(data=self.data._replace(fields={**self.data.fields, **fields}))

    def with_cohorts(self, fields: Sequence[str]) -> Evaluation:
        """
        Return this evaluation with further cohorts, beside those of the samples' tags.

        Args:
            fields: Fields of the metadata, such as ``metadata.language``. Each value makes a cohort: ``language=de``.
                Values of a list make a cohort each; samples without a value make ``language=(none)``.

        Returns:
            A new evaluation. Its results have these cohorts in `Result.tags`, by which `Result.by_tag` splits them.

        Raises:
            ParameterError: A field that is not one of the metadata.
        """
        listed = [fields] if isinstance(fields, str) else fields
        return self._with(data=self.data._replace(cohorts=tuple(map(check_cohort, listed))))

    def plan(self) -> Plan:
        """
        Resolve names, parameters, matchers, cutoffs and policy; no data is read.

        Returns:
            The plan.

        Raises:
            PlanError: Anything that is wrong, all of it at once.
        """
        return self._plan

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

            SampleRefusedError: The policy turns a sample into an error.

            ResultError: The file to keep outputs in cannot be written; before the first call.

            WorkerError: A worker process cannot evaluate this, or was ended.

            RunInterrupted: The run was interrupted or stopped while *sut* was called, or outputs could not be kept any
                more; what was done is in its `result`.
        """
        _check_source(outputs, sut)
        check_whole("workers", workers)
        calls = CallOptions(
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            keep=keep,
            resume=resume,
            retry_failed=retry_failed,
            stop=stop,
        )
        if sut is not None:
            check_calls(sut, calls)
        job = Job(
            self.plan(),
            self.data,
            details=details,
            limit=limit,
            batch_size=batch_size,
            outputs=outputs,
            near_misses=near_misses,
            sketch_ids=sketch_ids,
            by_sut=sut is not None,
            evaluation=self,
        )
        if sut is not None:
            return job.call_all(sut, calls, progress)
        for done in job.judge(workers):
            if progress is not None:
                progress(done, None)
        return job.result()

    async def arun(  # noqa: D417  # the rest is as in `run`
        self,
        *,
        outputs: OutputsSource | None = None,
        sut: SystemUnderTest | None = None,
        concurrency: int = 8,
        timeout: float | None = None,  # noqa: ASYNC109  # a limit for each call of `sut`, not for this one
        retries: int = 0,
        keep: str | os.PathLike[str] | None = None,
        resume: bool = False,
        retry_failed: bool = False,
        stop: Stop | None = None,
        limit: int | None = None,
        details: bool = False,
        near_misses: bool = False,
        sketch_ids: bool = False,
        batch_size: int = 4096,
        workers: int = 1,
        progress: Progress | None = None,
        on_cancel: Callable[[Result], None] | None = None,
    ) -> Result:
        """
        Evaluate from asynchronous code; see `run` for the arguments.

        Args:
            on_cancel: Called with the result over what was done, when this coroutine is cancelled while *sut* is
                called; the cancellation then goes on.

        Returns:
            The scores.

        Raises:
            RankgaugeError: As `run`.
        """
        import asyncio  # loads only where it is used

        _check_source(outputs, sut)
        if sut is None:
            return await asyncio.to_thread(
                self.run,
                outputs=outputs,
                limit=limit,
                details=details,
                near_misses=near_misses,
                sketch_ids=sketch_ids,
                batch_size=batch_size,
                workers=workers,
                progress=progress,
            )
        calls = CallOptions(
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            keep=keep,
            resume=resume,
            retry_failed=retry_failed,
            stop=stop,
        )
        check_calls(sut, calls)
        job = Job(
            self.plan(),
            self.data,
            details=details,
            limit=limit,
            batch_size=batch_size,
            near_misses=near_misses,
            sketch_ids=sketch_ids,
            by_sut=True,
            evaluation=self,
        )
        try:
            async for done, total in job.call(sut, calls):
                if progress is not None:
                    progress(done, total)
        except asyncio.CancelledError:
            if on_cancel is not None:
                on_cancel(job.result(interrupted=True))
            raise
        return job.result()

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
            when it is reached, after the results before it; that no sample had a metric's ground truth, at the end.

        Raises:
            RankgaugeError: As `run`; also for a metric that has to see the whole data set first.
        """
        check_stream(self.plan(), "stream()", merges=True)
        job = Job(
            self.plan(),
            self.data,
            details=False,
            limit=limit,
            batch_size=batch_size,
            outputs=outputs,
            evaluation=self,
        )
        collector = Collector(job.plan, batch_size=batch_size)
        for batch in job.batches(batch_size):
            collector = Collector(job.plan, batch_size=batch_size, sighting=collector.sighting)
            collector.add(batch)
            yield Result.of(collector.finish(require_gold=False), job.manifest(), job.origin())
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
        job = Job(self.plan(), self.data, details=False, limit=None, batch_size=4096)
        samples = without = malformed = 0
        gold: dict[str, int] = dict.fromkeys(GOLD_KINDS, 0)
        for batch in job.batches(4096):
            job.collector.add(batch)
            samples += len(batch)
            without += sum(sample.output is None for sample in batch)
            malformed += sum(isinstance(sample.output, Fault) for sample in batch)
            for kind in GOLD_KINDS:
                gold[kind] += sum(bool(getattr(sample.expected, kind)) for sample in batch)
        notes = job.collector.finish(require_gold=require_gold).notes
        return DataCheck(samples, without, malformed, FrozenMap(gold), tuple(notes))

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
            if self.data.fields and isinstance(sample, Mapping):
                sample = remapped(sample, self.data.fields)
            read = read_sample(sample, problems=problems, contract=self.profile.contract)
            if read is None:
                msg = "cannot score the sample:"
                raise DataError(msg, problems)
            sample = read
        scores: dict[str, SampleScore] = {}
        for name, (outcome, facts) in score_one(plan, sample, details=details).items():
            value = float(outcome.values[0])
            status = STATUSES[int(outcome.status[0])]
            shown = None if math.isnan(value) else value
            scores[name] = SampleScore(shown, status, outcome.reasons.get(0, ""), frozen(facts))
        return scores

    @cached_property
    def _plan(self) -> Plan:
        return make_plan(
            self.metrics,
            catalog=self.catalog(),
            profile=self.profile,
            default_k=self.default_k,
            matchers=dict(self.matchers),
            dataset=self.data.label,
            locks=[lock for lock in (self.lock, self.sender) if lock is not None],
        )

    @cached_property
    def _single_plan(self) -> Plan:
        check_stream(self._plan, "score()")
        return self._plan


def _unpacked(values: Mapping[str, Any]) -> Evaluation:
    return Evaluation(**values)


def _check_source(outputs: OutputsSource | None, sut: SystemUnderTest | None) -> None:
    if outputs is not None and sut is not None:
        msg = "give either outputs or sut, not both: scores must have one source"
        raise ParameterError(msg)


def _written(metric: MetricSpec) -> str:
    """Return how a metric was asked for, in a word."""
    if isinstance(metric, Located):
        return _written(metric.spec)
    if isinstance(metric, Mapping):
        return str(metric.get("as") or metric.get("metric"))
    return str(getattr(metric, "__name__", metric))
