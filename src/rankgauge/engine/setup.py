"""
`Setup`: a dataset with metrics and a policy, ready to be planned; what an `Evaluation` runs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from rankgauge.catalog import Catalog
from rankgauge.errors import ParameterError, RankgaugeError, counted, listed
from rankgauge.expression import MetricExpression
from rankgauge.io.datasets import DataSource
from rankgauge.io.excluded_files import opened_options
from rankgauge.io.field_names import FieldMap, check_field, letter_grades
from rankgauge.io.output_files import OutputsSource
from rankgauge.pickling import itself
from rankgauge.planning.cutoffs import Conventions, DefaultK
from rankgauge.planning.lock import Lock, lock_for_sending
from rankgauge.planning.plan import Plan, make_plan
from rankgauge.planning.requests import Located, MetricSpec, by_column, check_sendable, specs_of
from rankgauge.policy import PROFILES, Policy, Profile, profile
from rankgauge.samples.sample_records import check_cohort

if TYPE_CHECKING:
    from rankgauge.engine.configured import Configured

__all__ = ["Setup"]


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is to be evaluated; users hold an `Evaluation`, which describes each field."""

    catalog: Callable[[], Catalog] = field(repr=False)
    data: DataSource
    metrics: tuple[MetricSpec, ...] = ()
    profile: Profile
    default_k: DefaultK | None = None
    matchers: tuple[tuple[str, str], ...] = ()
    lock: Lock | None = None
    sender: Lock | None = field(default=None, repr=False, compare=False)

    __copy__ = __deepcopy__ = itself

    @classmethod
    def configured(cls, configured: Configured | None, data: DataSource, catalog: Callable[[], Catalog]) -> Self:
        """Return data with the metrics, the profile and the defaults of a config, if there is one."""
        if configured is None:
            return cls(catalog=catalog, data=data, profile=PROFILES["default"])
        config = configured.loaded.config
        k = config.metrics.retrieval.default_k
        profile = configured.profile
        entry = config.datasets.get(data.name)
        if entry is not None and (excluded := entry.excluded) is not None:
            given = configured.loaded.file(excluded) if isinstance(excluded, str) else excluded
            profile = profile.adapted(opened_options({"excluded": given}))
        return cls(
            catalog=catalog,
            data=data._replace(cohorts=tuple(config.cohorts)),
            metrics=configured.metrics,
            profile=profile,
            default_k=None if k is None else DefaultK(k, f"metrics.retrieval.default_k of {configured.loaded.path}"),
        )

    def __repr__(self) -> str:
        source = self.data.source
        what = str(source) if isinstance(source, Path) else counted(len(source), "sample")
        name = f"{self.data.name} ({what})" if self.data.name else what
        asked = listed([_written(metric) for metric in self.metrics])
        return f"<Evaluation of {name}: {asked or 'no metrics'}; profile {self.profile.name}>"

    def __reduce__(self) -> tuple[Callable[..., Setup], tuple[type[Setup], dict[str, Any]]]:
        # It is sent with a lock over what its metrics mean here. That they mean something else where it arrives is
        # found when it is planned there: an error while unpickling would break that process's pool.
        check_sendable(self.metrics)
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        values["catalog"] = partial(itself, self.catalog())
        values["data"] = self.data._replace(fields=dict(self.data.fields))
        if self.sender is None:
            with contextlib.suppress(RankgaugeError):  # what cannot be planned here fails there, too
                values["sender"] = lock_for_sending(self.plan().metrics)
        return _unpacked, (type(self), values)

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
            return self.with_metrics([metrics])
        _check("with_metrics", metrics, Iterable, "metrics, such as 'ndcg@10' or ['ndcg@10', 'AP']")
        asked = specs_of(tuple(cast("Iterable[MetricSpec]", metrics)))
        return self._with(metrics=by_column(asked, [*self.metrics, *asked]))

    def with_profile(self, name: str | Policy | Profile | None = None, /, **policy: Any) -> Self:  # noqa: ANN401  # checked
        """
        Return this evaluation under a profile, with policy options of your own.

            evaluation.with_profile("trec10")
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
            matchers: A matcher, by name or written out, for each kind of gold: `passages`, `answer` or `keywords`.
                Checked when the plan is made.

        Returns:
            A new evaluation.
        """
        _check("with_matchers", matchers, Mapping, "a matcher for each kind of gold, such as {'passages': 'exact'}")
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
            outputs: A file, a map from sample ids to outputs (such as `Result.outputs`), or rows
                ``{id, actual_output}``.

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

    def with_preset(self, name: str = "", *, separator: str = "") -> Self:
        """
        Return this evaluation with records in the form of another tool.

        Args:
            name: Whose records they are, such as ``ragas``; empty for the form of the dataset contract.

            separator: What stands between the entries of a list that is written as one text, such as ``|``; empty for
                the preset's own.

        Returns:
            A new evaluation. Fields of `with_fields` come before those of the preset.

        Raises:
            UnknownNameError: No preset has that name.

            ParameterError: What is not a name.
        """
        _check("with_preset", name, str, "the name of a preset, such as 'ragas'")
        if name:
            self.catalog().preset(name)
        return self._with(data=self.data._replace(preset=name, separator=separator))

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

    def with_cohorts(self, fields: Sequence[str]) -> Self:
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
        _check("with_cohorts", fields, Iterable, "fields such as 'metadata.language'")
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


def _check(function: str, given: object, kind: Any, takes: str) -> None:  # noqa: ANN401  # a type, or several
    """Refuse what is of another kind."""
    if not isinstance(given, kind):
        raise ParameterError(f"{function} takes {takes}, not {given!r}")


def _unpacked(kind: type[Setup], values: Mapping[str, Any]) -> Setup:
    return kind(**values)


def _written(metric: MetricSpec) -> str:
    """Return how a metric was asked for, in a word."""
    if isinstance(metric, Located):
        return _written(metric.spec)
    if isinstance(metric, Mapping):
        return str(metric.get("as") or metric.get("metric"))
    return str(getattr(metric, "__name__", metric))
