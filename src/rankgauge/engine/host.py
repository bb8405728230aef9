"""
`HostScorer`: metrics and conventions as plain JSON arguments, which score one sample at a time inside another harness.

Hosts log, serialize, copy, pickle and rebuild what they are given, so a scorer holds nothing but its arguments. They
are planned when it is made, so every mistake in them shows there, and planned once a process.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, SupportsFloat, cast

from rankgauge.base.guard import shown
from rankgauge.catalog import Catalog
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.sample_score import SampleScore
from rankgauge.errors import ParameterError, did_you_mean, listed
from rankgauge.expression import as_written, safe_name
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED
from rankgauge.result.aggregation import aggregated
from rankgauge.scoring.single import check_stream

__all__ = ["HostColumn", "HostScorer", "MetricArgument", "SampleScore", "safe_name"]

MetricArgument = str | Mapping[str, Any]
"""A metric as hosts can store it: an expression such as ``ndcg@10``, or a mapping ``{metric, as, k, ...}``."""

_METADATA = ("k", "answerable")
_DEEPEST = 50


class HostColumn(NamedTuple):
    """
    One score that a `HostScorer` gives each sample.

    Attributes:
        name: Its name in rankgauge, such as ``ndcg@10``.

        safe_name: The same in letters, digits and ``_``.

        higher_is_better: Whether higher is better.

        range: The lowest and the highest value; None for no bound.

        gold: The kinds of ground truth that it can be judged against; the first that a sample has is used.

        judges_answer: Whether it judges the generated answer instead of what was retrieved.

        aggregate: How samples are aggregated: `mean`, `sum`, `geometric`, or the name of an aggregate of a plugin.

        expression: The metric with all its parameters.

        provider: Who provides it: distribution and version.

        fingerprint: Equal for two scores that mean the same.

        profile: The profile it is computed under.
    """

    name: str
    safe_name: str
    higher_is_better: bool
    range: tuple[float | None, float | None]
    gold: tuple[str, ...]
    judges_answer: bool
    aggregate: str
    expression: str
    provider: str
    fingerprint: str
    profile: str

    @property
    def provenance(self) -> dict[str, str]:
        """Return what a host should log beside its scores: rankgauge's version, provider, fingerprint and profile."""
        return {
            "rankgauge": version("rankgauge"),
            "metric": self.expression,
            "provider": self.provider,
            "fingerprint": self.fingerprint,
            "profile": self.profile,
        }


@dataclass(frozen=True, kw_only=True)
class HostScorer:
    """
    Metrics and conventions as plain JSON, which score one sample at a time inside another harness.

    ::

        scorer = HostScorer(metrics=["ndcg@10", "MRR"], profile="haystack")
        scores = scorer.score(expected=["d3"], retrieved=["d1", "d3"])
        scores["mrr"].value

    Attributes:
        metrics: One or several metrics; None for those of *config*.

        config: The path of a rankgauge config, whose metrics, policy, cutoff and matchers apply if the other
            arguments give none; its datasets are not read.

        profile: The name of a profile, such as ``haystack``.

        k: Default cutoff, used when a metric has none.

        policy: Policy options that differ from the profile's, such as ``{"no_gold": "zero"}``.

        matchers: The matcher for a kind of gold (`passages`, `answer`, `keywords`), for metrics without one.

        catalog: What plugins offer, for a service with plugins of its own; by default everything that is installed. It
            is no JSON, so that a harness which stores arguments cannot have it.

    Raises:
        RankgaugeError: The arguments cannot be used.
    """

    metrics: MetricArgument | Sequence[MetricArgument] | None = None
    config: str | None = None
    profile: str | None = None
    k: int | None = None
    policy: Mapping[str, Any] | None = None
    matchers: Mapping[str, str] | None = None
    catalog: Catalog | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.metrics, list | tuple):
            object.__setattr__(self, "metrics", [as_written(metric) for metric in self.metrics])
        else:
            object.__setattr__(self, "metrics", as_written(self.metrics))
        _ = self.columns

    @property
    def columns(self) -> tuple[HostColumn, ...]:
        """Return the scores that each sample gets, in order."""
        return self._prepared.columns

    @property
    def column(self) -> HostColumn:
        """
        Return the only column, for hosts that take one score at a time.

        Raises:
            ParameterError: There are several columns.
        """
        if len(self.columns) != 1:
            names = ", ".join(column.name for column in self.columns)
            msg = f"this host takes one score at a time, and {self.metrics!r} makes {len(self.columns)}: {names}"
            raise ParameterError(msg)
        return self.columns[0]

    def aggregated(self, values: Iterable[float | None]) -> float | None:
        """
        Return one number of many scores of the only column, as the engine makes it.

        Args:
            values: The value of each score; None, which counts nowhere, is left out.

        Returns:
            What the metric declares, usually the mean; None if nothing counts.

        Raises:
            ParameterError: There are several columns, *values* are not numbers, or the column is a pooled mean.
        """
        _ = self.column
        if not isinstance(values, Iterable):
            raise ParameterError(f"values are many numbers, such as [0.5, None, 1.0], not {shown(values)}")
        values = list(values)
        for place, value in enumerate(values):
            if value is not None:
                _check_number(value, f"values[{place}]")
        (planned,) = self._prepared.planned
        declared = planned.aggregate
        function = None if declared is None else declared.declaration.function
        if planned.metric.aggregate == POOLED:
            raise ParameterError(
                f"{planned.name!r} weighs each score by what it is a share of, which scores alone do not say; leave "
                "aggregate=pooled out, or evaluate all samples with run()"
            )
        counting, metric = [value for value in values if value is not None], planned.metric
        return aggregated(counting, metric.aggregate, function, None, higher_is_better=metric.higher_is_better).value

    def passes(self, score: SampleScore, bound: float | None = None, *, column: str | None = None) -> bool:
        """
        Return whether a score passes, as a gate on this sample alone would.

        Args:
            score: The score.

            bound: The lowest value that passes, or the highest if lower is better; None for any value.

            column: The column that the score is of, by its name; None for the only one.

        Returns:
            False if nothing counts, as of an undefined score; and where the output is missing or failed, unless the
            policy allows a run of such samples (``max_failed=1``).

        Raises:
            ParameterError: There are several columns, and *column* names none of them; or an argument is of another
                type.
        """
        if not isinstance(score, SampleScore):
            raise ParameterError(f"score is a SampleScore, as `HostScorer.score` returns them, not {shown(score)}")
        if bound is not None:
            _check_number(bound, "bound")
        if column is not None and not isinstance(column, str):
            raise ParameterError(f"column is the name of a column, not {shown(column)}")
        named = {each.name: each for each in self.columns}
        if column is not None and column not in named:
            raise ParameterError(
                f"there is no column {column!r}{did_you_mean(column, named)}; there are {listed([*named])}"
            )
        found = self.column if column is None else named[column]
        broken = score.status in {"missing", "failed"} and self._prepared.evaluation.profile.policy.max_failed < 1
        if score.value is None or broken:
            return False
        return bound is None or (score.value >= bound if found.higher_is_better else score.value <= bound)

    @property
    def may_pass_bounds(self) -> bool:
        """Return whether the policy lets scores leave the range of their metric."""
        return self._prepared.evaluation.profile.policy.duplicates == "keep"

    def score(
        self,
        *,
        expected: object,
        retrieved: object = None,
        answer: str | None = None,
        sample_id: str = "sample",
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, SampleScore]:
        """
        Score one sample.

        Args:
            expected: The ground truth, in any form of `expected_output` in a dataset.

            retrieved: What was retrieved, rank 1 first, in any form of `actual_output`; None is a missing output.

            answer: The generated answer, if it is not in *retrieved*.

            sample_id: The sample's id, for messages and for the policy's `exclude_self`.

            metadata: The sample's metadata, of which `k` and `answerable` are read, and `asked_at` by metrics that need
                it.

        Returns:
            The scores by column name. A `value` is None if nothing counts under the policy.

        Raises:
            DataError: The ground truth or the metadata cannot be read.

            SampleRefusedError: The policy makes the sample an error.
        """
        evaluation, _, columns = self._prepared
        keys = (*_METADATA, *({"asked_at"}.intersection(*(column.gold for column in columns))))
        known: object = metadata  # the engine refuses what is no mapping
        if isinstance(metadata, Mapping):
            known = {key: metadata[key] for key in keys if key in metadata}
        sample = {"id": sample_id, "expected_output": expected, "metadata": known}
        scores = evaluation.score({**sample, "actual_output": _output(retrieved, answer)}, details=True)
        if retrieved is None and answer is not None and not all(column.judges_answer for column in columns):
            # An answer alone says nothing about retrieval, whose output is missing rather than empty.
            without = evaluation.score({**sample, "actual_output": None}, details=True)
            for column in columns:
                if not column.judges_answer:
                    scores[column.name] = without[column.name]
        return scores

    def score_only(self, **sample: Any) -> SampleScore:  # noqa: ANN401  # the arguments of `score`
        """
        Score one sample by the only column.

        Args:
            **sample: As in `score`.

        Returns:
            The score.

        Raises:
            RankgaugeError: As `score`.
        """
        return self.score(**sample)[self.column.name]

    @property
    def _prepared(self) -> _Prepared:
        given = {name: getattr(self, name) for name in _KINDS}
        for name, value in given.items():
            _check_kind(value, name)
            _check_plain(value, name)
        edited = None
        if self.config is not None:
            path = Path(self.config).absolute()
            given["config"], edited = str(path), path.stat().st_mtime_ns if path.exists() else None
        return _prepare(json.dumps(given), edited, self.catalog)


class _Prepared(NamedTuple):
    evaluation: Evaluation
    planned: tuple[PlannedMetric, ...]
    columns: tuple[HostColumn, ...]


@functools.lru_cache(maxsize=64)
def _prepare(
    arguments: str,
    edited: int | None,  # noqa: ARG001  # a config that was edited is read again
    catalog: Catalog | None,
) -> _Prepared:
    """Plan a scorer; once a process, because hosts rebuild their metrics for every sample."""
    given = json.loads(arguments)
    config = given["config"]
    engine = Engine(catalog=catalog) if config is None else Engine.from_config(config, catalog=catalog)
    evaluation = engine.dataset([])
    if given["metrics"] is not None:
        evaluation = evaluation.with_metrics(given["metrics"])
    if given["profile"] is not None:
        evaluation = evaluation.with_profile(given["profile"])
    configured = {} if engine.config is None else engine.config.policy_options()
    options = {**configured, **(given["policy"] or {})}
    if options:
        evaluation = evaluation.with_profile(**options)
    if given["k"] is not None:
        evaluation = evaluation.with_defaults(k=given["k"], source="k")
    if given["matchers"] is not None:
        evaluation = evaluation.with_matchers(given["matchers"])
    plan = evaluation.plan()
    check_stream(plan, "a harness that passes one sample at a time")
    columns = [
        HostColumn(
            name=planned.name,
            safe_name=planned.safe_name,
            higher_is_better=planned.metric.higher_is_better,
            range=planned.metric.range,
            gold=tuple(dict.fromkeys(target.gold for target in planned.targets)),
            judges_answer=all(target.judges == "answer" for target in planned.targets),
            aggregate=planned.metric.aggregate,
            expression=str(planned.expression),
            provider=f"{planned.provider.distribution} {planned.provider.version}".strip(),
            fingerprint=planned.fingerprint,
            profile=plan.profile.name,
        )
        for planned in plan.metrics
    ]
    return _Prepared(evaluation, plan.metrics, tuple(columns))


def _output(retrieved: object, answer: str | None) -> object:
    """Return an output in the form of the dataset contract."""
    if answer is None:
        return retrieved
    if retrieved is None:
        return {"answer": answer}
    if isinstance(retrieved, str):
        try:
            retrieved = json.loads(retrieved)
        except ValueError:
            return retrieved  # the engine says what is wrong with it
    if isinstance(retrieved, Mapping):
        return retrieved if retrieved.get("answer") is not None else {**retrieved, "answer": answer}
    return {"retrieved": retrieved, "answer": answer}


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "metrics": (
        (str, Mapping, list, tuple),
        "an expression such as 'ndcg@10', a mapping with 'metric', or a list of those",
    ),
    "config": ((str,), "the path of a config file"),
    "profile": ((str,), "the name of a profile"),
    "k": ((int,), "an integer of 1 or more"),
    "policy": ((Mapping,), "a mapping from policy options to values"),
    "matchers": ((Mapping,), "a mapping from kinds of gold to matchers"),
}


def _check_kind(value: object, name: str) -> None:
    kinds, wanted = _KINDS[name]
    if value is not None and not isinstance(value, kinds):
        raise ParameterError(f"{name} is {wanted}, not {value!r}")


def _check_number(value: object, name: str) -> None:
    if not isinstance(value, SupportsFloat):  # numbers of numpy and `decimal` are, texts are not
        raise ParameterError(f"{name} is a number or None, not {shown(value)}")


def _check_plain(value: object, name: str, depth: int = 0) -> None:
    """Refuse what JSON cannot hold, naming the place."""
    if value is None or isinstance(value, str | bool | int | float):
        return
    if depth < _DEEPEST and isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        for key, item in cast("Mapping[str, object]", value).items():
            _check_plain(item, f"{name}[{key!r}]", depth + 1)
    elif depth < _DEEPEST and isinstance(value, list | tuple):
        for place, item in enumerate(value):
            _check_plain(item, f"{name}[{place}]", depth + 1)
    else:
        raise ParameterError(
            f"{name} must be plain JSON, because hosts store their arguments, but is a {type(value).__name__}; "
            "to use your own metric or matcher, offer it by a plugin and give its name"
        )
