"""
Scoring what was logged: resolve metrics and gates before, score and judge after.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.catalog.environment import disabled_plugins, no_plugins
from rankgauge.engine.engine import Engine
from rankgauge.errors import ParameterError, PlanError, Problem, RankgaugeError
from rankgauge.pytest_plugin.gates import Bound, Gate, GateOutcome, Judgment, read_gates
from rankgauge.pytest_plugin.records import make_record, refuse
from rankgauge.pytest_plugin.wording import failure_text
from rankgauge.report.wording import counts

if TYPE_CHECKING:
    from rankgauge.planning.resolve import PlannedMetric
    from rankgauge.plugin.metric import Metric
    from rankgauge.result import Result

__all__ = ["Asked", "Scoring"]

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """
    Metrics and gates, resolved.

    Attributes:
        specs: The metrics to compute, including those that only gates name.

        bounds: The gates by column.
    """

    specs: tuple[Any, ...] = ()  # what `Evaluation.with_metrics` takes
    bounds: tuple[Bound, ...] = ()


class Scoring:
    """Reads and scores samples with the installed plugins, under one config; loads nothing before it is used."""

    def __init__(self, config: Path | None = None) -> None:
        self._config = config

    @cached_property
    def engine(self) -> Engine:
        """Return the engine; raise `ConfigError` when the config cannot be used."""
        if self._config is None:
            return Engine(catalog=Catalog.discover(disable=disabled_plugins(), own_only=no_plugins()))
        return Engine.from_config(self._config, disable=disabled_plugins(), own_only=no_plugins())

    def record_of(self, sample: object, given: Mapping[str, Any], logged: Container[str]) -> dict[str, Any]:
        """Return one sample as plain values; raise `DataError` when it breaks the contract or was logged before."""
        record = make_record(sample, given, self.engine.dataset(()).profile.contract)
        if record["id"] in logged:
            refuse(record["id"], "it was logged in this test before; give each query its own id")
        return record

    def ask(self, metrics: Iterable[Any], gates: Sequence[Gate]) -> Asked:
        """Resolve metrics and gates without a sample; raise one `PlanError` for all that cannot be used."""
        evaluation = self.engine.dataset(())
        specs = [*evaluation.metrics, *metrics]
        columns = self._columns(specs)
        problems: list[Problem | str] = []
        bounds: dict[tuple[str, bool], Bound] = {}
        known = {(column.standard_name, column.fingerprint): column for column in columns.values()}
        for gate in gates:
            found = [column for column in columns.values() if gate.metric in {column.name, column.safe_name}]
            if not found:
                try:
                    found = list(self._columns([gate.metric]).values())
                except PlanError as error:
                    problems += [f"{gate.origin}: {problem}" for problem in error.problems]
                    continue
                specs.append(gate.metric)
            for column in found:
                column = known.setdefault((column.standard_name, column.fingerprint), column)  # noqa: PLW2901  # `MRR` is `RR`
                is_maximum = gate.side == "maximum" or (gate.side == "better" and not column.metric.higher_is_better)
                bound = Bound(column.name, gate.bound, is_maximum)
                if flaw := _flaw(gate, bound, column.metric):
                    problems.append(flaw)
                    continue
                bounds.setdefault((bound.column, bound.is_maximum), bound)
        if problems:
            msg = "the gates cannot be used:"
            raise PlanError(msg, problems)
        self._columns(specs)  # two columns of one name are found only when all are planned together
        return Asked(tuple(specs), tuple(bounds.values()))

    def result(self, records: Sequence[Record], metrics: Sequence[Any]) -> Result:
        """Score some samples."""
        evaluation = self.engine.dataset(records)
        return evaluation.with_metrics([*evaluation.metrics, *metrics]).run()

    def judge(self, records: Sequence[Record], asked: Asked, *, test: str = "") -> Judgment:
        """Score what was logged, and hold it against the gates; a metric without a value misses its gates."""
        if not asked.specs:
            return Judgment(None)
        result, problems = self._scores(records, asked.specs)
        outcomes = [_outcome(bound, result, problems, test) for bound in asked.bounds]
        return Judgment(result, tuple(outcomes), problems)

    def failure(
        self,
        records: Sequence[Record],
        written: Sequence[object],
        *,
        metrics: Sequence[Any],
        origin: str,
        test: str,
    ) -> str:
        """Return a text on the *written* gates that samples miss; empty when all are kept."""
        gates = [gate for each in written for gate in read_gates(each, origin=origin)]
        if not gates:
            msg = f"{origin} was given no gate, so it could never fail; write 'ndcg@10 >= 0.42'"
            raise ParameterError(msg)
        judgment = self.judge(records, self.ask(metrics, gates), test=test)
        return failure_text(judgment, len(records)) if judgment.failed else ""

    def _columns(self, specs: Sequence[Any]) -> dict[str, PlannedMetric]:
        if not specs:
            return {}
        return {column.name: column for column in self.engine.dataset(()).with_metrics(specs).plan().metrics}

    def _scores(self, records: Sequence[Record], specs: Sequence[Any]) -> tuple[Result | None, dict[str, str]]:
        """Compute every column that can be computed; return also why the others cannot."""
        evaluation = self.engine.dataset(records)
        if not records:
            return None, dict.fromkeys(self._columns(specs), "nothing was logged")
        try:
            return evaluation.with_metrics(specs).run(), {}
        except RankgaugeError:  # such as a metric whose ground truth no sample has: find out which
            usable: list[Any] = []
            problems: dict[str, str] = {}
            for spec in specs:
                try:
                    evaluation.with_metrics([*usable, spec]).plan()  # metrics of several tests may clash by name
                    evaluation.with_metrics([spec]).run()
                except RankgaugeError as error:
                    told = "; ".join(problem.message for problem in getattr(error, "problems", ())) or str(error)
                    problems |= dict.fromkeys(self._columns([spec]), told)
                else:
                    usable.append(spec)
            return (evaluation.with_metrics(usable).run() if usable else None), problems


def _outcome(bound: Bound, result: Result | None, problems: Mapping[str, str], test: str) -> GateOutcome:
    if result is None or bound.column not in result:
        nothing = dict.fromkeys(("n", "undefined", "missing", "failed"), 0)
        return GateOutcome(bound=bound, value=None, counts=nothing, reason=problems[bound.column], test=test)
    column = result[bound.column]  # which another test may have asked for by another name
    bound = replace(bound, column=column.name)
    value = column.mean if column.n else None  # a sum over nothing is 0, which is not a value either
    reason = ""
    if value is None:
        first = next(iter(column.reasons.values()), "")
        reason = f"{'the only sample has no' if len(result) == 1 else f'none of the {len(result)} samples has a'} value"
        reason += f": {first}" if first else ""
    how = column.info.aggregate
    return GateOutcome(bound=bound, value=value, aggregate=how, counts=counts(column), reason=reason, test=test)


def _flaw(gate: Gate, bound: Bound, metric: Metric) -> str:
    """Return why a gate makes no sense for its metric; empty when it does."""
    if gate.side == "minimum" and gate.origin == "--rankgauge-min" and not metric.higher_is_better:
        return f"{gate.origin}: lower is better for {bound.column!r}; give its bound with --rankgauge-max"
    if gate.side == "maximum" and gate.origin == "--rankgauge-max" and metric.higher_is_better:
        return f"{gate.origin}: higher is better for {bound.column!r}; give its bound with --rankgauge-min"
    low, high = metric.range
    over = metric.aggregate != "sum" and not bound.is_maximum and high is not None and bound.bound > high
    under = metric.aggregate != "sum" and bound.is_maximum and low is not None and bound.bound < low
    if over or under:
        spread = f"from {'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
        return f"{gate.origin}: no value of {bound.column!r}, which ranges {spread}, can keep the bound {bound.bound:g}"
    return ""
