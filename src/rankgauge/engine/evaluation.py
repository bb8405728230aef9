"""
`Evaluation`: a dataset with metrics and a policy, to be run, streamed or asked for one sample.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from rankgauge.base.logs import logger
from rankgauge.catalog import Catalog
from rankgauge.engine.job import Job
from rankgauge.engine.metadata import weighing
from rankgauge.engine.run_options import CALL_DEFAULTS, CallOptions, RunArguments, RunOptions
from rankgauge.engine.sample_score import DataCheck, Progress, SampleScore, checked, read_single, scores_of
from rankgauge.errors import MetricFailedError, ParameterError, RankgaugeError, counted, listed
from rankgauge.expression import MetricExpression
from rankgauge.io.datasets import DataSource
from rankgauge.io.excluded_files import opened_options
from rankgauge.io.field_names import FieldMap, check_field, letter_grades
from rankgauge.io.output_files import OutputsSource
from rankgauge.io.query_groups import Groups, QueryGroups
from rankgauge.judging.filtered import narrowed
from rankgauge.named_options import listing
from rankgauge.pickling import itself
from rankgauge.planning.cutoffs import Conventions, DefaultK
from rankgauge.planning.lock import Lock, lock_for_sending
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import MetricSpec, by_column, check_sendable, in_a_word, specs_of
from rankgauge.plugin.declarations import Record
from rankgauge.policy import PROFILES, Policy, Profile, profile
from rankgauge.result import Result
from rankgauge.result.query_weights import Weights
from rankgauge.samples import Sample
from rankgauge.samples.sample_records import check_cohort
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.flaws import Tried
from rankgauge.scoring.repeats import folded
from rankgauge.scoring.single import SingleScorer, check_stream

if TYPE_CHECKING:
    from rankgauge.scoring.sut import SystemUnderTest

__all__ = ["Evaluation"]


@dataclass(frozen=True, kw_only=True)
class Evaluation:
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

        lock: What metrics and matchers have to be, if a config locks them; None for anything.

        sender: What they were in the process that pickled this evaluation; None if it was made or changed here.

        weights: How much each sample counts in means; None if all count the same.

    An evaluation can be pickled and run in another process. It takes along what its metrics mean here and who provides
    them, and refuses to run if that is not the same.
    """

    catalog: Callable[[], Catalog] = field(repr=False)
    data: DataSource
    metrics: tuple[MetricSpec, ...] = ()
    profile: Profile
    default_k: DefaultK | None = None
    matchers: tuple[tuple[str, str], ...] = ()
    lock: Lock | None = None
    sender: Lock | None = field(default=None, repr=False, compare=False)
    weights: Weights | None = None

    __copy__ = __deepcopy__ = itself

    def __repr__(self) -> str:
        source = self.data.source
        what = str(source) if isinstance(source, Path) else counted(len(source), "sample")
        name = f"{self.data.name} ({what})" if self.data.name else what
        asked = listed([in_a_word(metric) for metric in self.metrics])
        return f"<Evaluation of {name}: {asked or 'no metrics'}; profile {self.profile.name}>"

    def __reduce__(self) -> tuple[Callable[[], Evaluation], tuple[()]]:
        # It is sent with a lock over what its metrics mean here. That they mean something else where it arrives is
        # found when it is planned there: an error while unpickling would break that process's pool.
        check_sendable(self.metrics)
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["catalog"] = partial(itself, self.catalog())
        values["data"] = self.data._replace(fields=dict(self.data.fields))
        if self.sender is None:
            with contextlib.suppress(RankgaugeError):  # what cannot be planned here fails there, too
                values["sender"] = lock_for_sending(self.plan().metrics)
        return partial(Evaluation, **values), ()

    def _with(self, **changes: Any) -> Self:  # noqa: ANN401  # the values of some fields
        return replace(self, sender=None, **changes)

    def with_metrics(self, metrics: Sequence[MetricSpec] | MetricSpec) -> Self:
        """
        Return this evaluation with these metrics.

        Args:
            metrics: One or several: expressions such as ``ndcg@10``, mappings ``{metric, as, k, ...}``, or functions:
                declared ones, or ``f(ranking: JudgedSample, *, k: int) -> float | None``. A column that this
                evaluation names with `as` may be asked for by that name.

        Returns:
            A new evaluation.
        """
        if isinstance(metrics, str | MetricExpression | Mapping) or callable(metrics):
            metrics = [metrics]
        _check("with_metrics", metrics, Iterable, "metrics, such as 'ndcg@10' or ['ndcg@10', 'AP']")
        asked = specs_of(tuple(cast("Iterable[MetricSpec]", metrics)))
        return self._with(metrics=by_column(asked, [*self.metrics, *asked]))

    def with_profile(self, name: str | Policy | Profile | None = None, /, **policy: Any) -> Self:  # noqa: ANN401  # checked
        """
        Return this evaluation under a profile, with policy options of your own.

            evaluation.with_profile("trec10", ties="error")
            evaluation.with_profile(missing_output="exclude")

        Args:
            name: A profile (built in, or of the config or a plugin), its name, or a policy, which keeps the other
                conventions as they are; by default the profile that there is.

            policy: The options of `Policy` that differ from the profile's.

        Returns:
            A new evaluation.

        Raises:
            PolicyError: No profile has that name, or no policy such an option or value.
        """
        if name is None:
            chosen = self.profile
        elif isinstance(name, Policy):
            chosen = replace(self.profile, policy=name)
        else:
            chosen = self.catalog().profile(name) if isinstance(name, str) and name not in PROFILES else profile(name)
        return self._with(profile=chosen.adapted(opened_options(policy)))

    def with_defaults(self, *, k: int, source: str = "with_defaults(k=)") -> Self:
        """
        Return this evaluation with another default cutoff.

        Args:
            k: The cutoff; checked when the plan is made.

            source: Where it was given, for messages.

        Returns:
            A new evaluation.
        """
        return self._with(default_k=DefaultK(k, source))

    def with_matchers(self, matchers: Mapping[str, str]) -> Self:
        """
        Return this evaluation with other matchers for metrics that say none.

        Args:
            matchers: A matcher for each kind of gold (`passages`, `answer`, `keywords`), by name or written out.

        Returns:
            A new evaluation.
        """
        _check("with_matchers", matchers, Mapping, "a matcher by kind of gold, such as {'passages': 'exact'}")
        return self._with(matchers=tuple(matchers.items()))

    def with_stages(self, names: Sequence[str]) -> Self:
        """
        Return this evaluation with each metric also at stages of the pipeline, as columns of their own.

        Args:
            names: What `actual_output.stages` calls them. A metric that judges no ranking, or one stage already, stays
                as it is, and so does a function given in Python.

        Returns:
            A new evaluation.
        """
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise ParameterError(f"with_stages takes names of stages, such as ['dense', 'rerank'], not {names!r}")
        staged = [
            column
            for column in self.plan().metrics
            if "stage" in column.metric.engine_parameters and column.targets[0].stage is None
            if column.provider.distribution
        ]
        return self._with(metrics=(*self.metrics, *(column.at_stage(name) for column in staged for name in names)))

    def with_outputs(self, outputs: OutputsSource) -> Self:
        """
        Return this evaluation with other outputs.

        Args:
            outputs: A file, a map from sample ids to outputs (`Result.outputs`), or rows ``{id, actual_output}``.

        Returns:
            A new evaluation.
        """
        _check("with_outputs", outputs, str | os.PathLike | Iterable, "a file, outputs by sample id, or rows")
        source = Path(outputs) if isinstance(outputs, str | os.PathLike) else outputs
        return self._with(data=self.data._replace(outputs=source))

    def with_fields(self, fields: FieldMap) -> Self:
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
        _check("with_fields", fields, Mapping, "where the data has each field, such as {'id': 'qid'}")
        for name, place in fields.items():
            check_field(name, place)
        return self._with(data=self.data._replace(fields={**self.data.fields, **fields}))

    def with_preset(self, name: str = "", *, separator: str = "", system: str = "") -> Self:
        """
        Return this evaluation with records in the form of another tool.

        Args:
            name: Whose records they are, such as ``ragas``; empty for the form of the dataset contract.

            separator: What parts the entries of a list that is one text, such as ``|``; empty for the preset's own.

            system: Whose records are read if the preset finds several systems, such as a provider of promptfoo.

        Returns:
            A new evaluation. Fields of `with_fields` come before those of the preset.

        Raises:
            UnknownNameError: No preset has that name.

            ParameterError: What is not a name, or a system with a preset that knows of none.
        """
        _check("with_preset", name, str, "the name of a preset, such as 'ragas'")
        if not (name and self.catalog().preset(name).declaration.system) and system:
            which = f"the preset {name!r}" if name else "data without a preset"
            raise ParameterError(f"{which} does not say which system a record is of, so {system!r} cannot be chosen")
        return self._with(data=self.data._replace(preset=name, separator=separator, system=system))

    def by_system(self) -> dict[str, Self]:
        """
        Return an evaluation of each system whose records the data has, or the outputs file, by name.

            results = {name: each.run() for name, each in evaluation.by_system().items()}

        Returns:
            Of promptfoo an evaluation of each provider; none with a preset that does not tell systems apart.
        """
        data, systems = self.data, self.data.systems(self.catalog())
        own = data.name if len(systems) == 1 else ""
        return {name: self._with(data=data._replace(name=own or name, system=name)) for name in systems}

    def with_reader(self, name: str = "", *, outputs: str = "", number_rows: bool = False, letters: str = "") -> Self:
        """
        Return this evaluation with another way to read its files.

        Args:
            name: The reader of the data, such as that of a plugin; empty for the one that the ending names.

            outputs: The reader of a file of outputs, likewise.

            number_rows: Whether records without an id are called by their line, row or place in a list.

            letters: What grades that are no numbers are worth where the data are judgments: ``E=3,S=2,C=1,I=0``.

        Returns:
            A new evaluation.

        Raises:
            UnknownNameError: No reader has that name.

            ParameterError: What is not a name, or letters in another form.
        """
        _check("with_reader", letters, str, "what letters are worth, such as 'E=3,S=2,C=1,I=0'")
        letter_grades({"letters": letters})
        _check("with_reader", number_rows, bool, "number_rows=True or False")
        for given in (name, outputs):
            _check("with_reader", given, str, "the name of a reader, such as 'jsonl'")
            if given:
                self.catalog().reader_named(given)
        data = self.data._replace(reader=name, outputs_reader=outputs, number_rows=number_rows, letters=letters)
        return self._with(data=data)

    def with_cohorts(self, fields: Sequence[str] = (), *, groups: Groups | None = None) -> Self:
        """
        Return this evaluation with further cohorts, beside those of the samples' tags.

        Args:
            fields: Fields of the metadata, such as ``metadata.language``. Each value, or each of a list, makes a
                cohort: ``language=de``; samples without one make ``language=(none)``. With groups alone they stay.

            groups: Cohorts by sample id, or a file of them; None for those that it has.

        Returns:
            A new evaluation. Its results have these cohorts in `Result.tags`, by which `Result.by_tag` splits them.

        Raises:
            ParameterError: A field that is not one of the metadata.
        """
        _check("with_cohorts", fields, Iterable, "fields such as 'metadata.language'")
        data = self.data if groups is None else self.data._replace(groups=QueryGroups.of(groups))
        listed = [fields] if isinstance(fields, str) else fields or (() if groups is None else data.cohorts)
        return self._with(data=data._replace(cohorts=tuple(map(check_cohort, listed))))

    def with_weights(self, weights: Weights | None) -> Self:
        """
        Return this evaluation with weights of samples; its means are ``sum(w x) / sum(w)``.

        Args:
            weights: As in `Result.with_weights`; None for samples that all count the same.

        Returns:
            A new evaluation.
        """
        if weights is not None:
            _check("with_weights", weights, str | Path | Mapping, "a field of the metadata, a file, or weights by id")
        return self._with(weights=weights)

    def plan(self) -> Plan:
        """
        Resolve names, parameters, matchers, cutoffs and policy; no data is read.

        Returns:
            The plan.

        Raises:
            PlanError: Anything that is wrong, all of it at once.
        """
        return self._plan

    @cached_property
    def _plan(self) -> Plan:
        conventions = Conventions(
            catalog=self.catalog(),
            profile=self.profile,
            default_k=self.default_k or DefaultK(),
            matchers=dict(self.matchers),
        )
        locks = [lock for lock in (self.lock, self.sender) if lock is not None]
        return make_plan(self.metrics, conventions, dataset=self.data.label, locks=locks)

    @staticmethod
    def of_result(result: Result, *, catalog: Catalog | None = None) -> Evaluation:
        """Return the evaluation that a result came from, with the outputs that were scored; as `Result.evaluation`."""
        return result.evaluation(catalog=catalog)

    @listing(CallOptions, CALL_DEFAULTS)
    def run(
        self,
        *,
        outputs: OutputsSource | None = None,
        sut: SystemUnderTest | None = None,
        limit: int | None = None,
        details: bool = False,
        near_misses: bool = False,
        sketch_ids: bool = False,
        batch_size: int = 4096,
        workers: int = 1,
        progress: Progress | None = None,
        **calls: Unpack[CallOptions],
    ) -> Result:
        """
        Evaluate.

        Args:
            outputs: What the system under test emitted; beats an outputs file, which beats what the samples hold.

            sut: The system under test, called with each sample's `input` instead; it may be asynchronous.

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
            limit=limit,
            details=details,
            near_misses=near_misses,
            sketch_ids=sketch_ids,
            batch_size=batch_size,
            workers=workers,
            **calls,
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
        import asyncio  # loads only when it is used

        options = RunOptions.of(**arguments)
        if options.calls is None:
            return await asyncio.to_thread(lambda: self._job(options).run(progress))
        return await self._job(options).arun(progress, on_cancel)

    def _job(self, options: RunOptions) -> Job:
        calls = options.calls
        if calls is None or not calls.until:
            return Job(self.plan(), self.data, options, evaluation=self)
        from rankgauge.gates.asked import ask_gates, until_gates  # most runs call every sample

        gates = until_gates(calls.until)
        asked = ask_gates(gates, self.metrics, lambda specs: self.with_metrics(specs).plan().metrics)
        evaluation = self if asked.specs == self.metrics else self.with_metrics(asked.specs)
        options = replace(options, calls=replace(calls, until=asked.gates))
        return Job(evaluation.plan(), self.data, options, evaluation=evaluation)

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
        tried, weigh = {metric.name: Tried() for metric in job.plan.metrics}, weighing(self)
        for batch in job.batches(batch_size):
            collector = Collector(job.plan, batch_size=batch_size, sighting=collector.sighting)
            collector.add(batch)
            scored = folded(collector.finish(require_gold=False, is_part=True), job.repeats)
            for metric in scored.metrics:
                name, outcome = metric.planned.name, metric.outcome
                tried[name] |= Tried.of(name, outcome.status, outcome.reasons)
            yield weigh(Result.of(scored, job.manifest(), job.origin()))
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
        return checked(self._job(RunOptions(repeats=1)), require_gold=require_gold)

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
        scorer = self._single
        if not isinstance(sample, Sample):
            sample = read_single(self.data.shape(self.catalog()).sample(Record(sample)), scorer.plan)
        return scores_of(narrowed(sample, scorer.plan.profile.policy), scorer, details=details)

    @cached_property
    def _single(self) -> SingleScorer:
        return SingleScorer(self._plan)


def _check(function: str, given: object, kind: Any, takes: str) -> None:  # noqa: ANN401  # a type, or several
    """Refuse what is of another kind."""
    if not isinstance(given, kind):
        raise ParameterError(f"{function} takes {takes}, not {given!r}")
