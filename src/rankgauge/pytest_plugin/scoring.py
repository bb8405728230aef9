"""
Scoring what was logged: resolve metrics and gates before, score and judge after.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.engine.engine import Engine
from rankgauge.errors import ParameterError, RankgaugeError
from rankgauge.gates.grammar import Bound, Gate
from rankgauge.gates.outcomes import GateOutcome
from rankgauge.gates.planned import Asked, ask_gates
from rankgauge.gates.verdicts import MetricTraits, judge_resolved
from rankgauge.planning.requests import Located
from rankgauge.pytest_plugin.gates import Judgment, read_gates
from rankgauge.pytest_plugin.records import make_record, refuse
from rankgauge.pytest_plugin.wording import failure_text

if TYPE_CHECKING:
    from rankgauge.engine.result import Result
    from rankgauge.planning.resolve import PlannedMetric

__all__ = ["Scoring"]

Record = Mapping[str, Any]


class Scoring:
    """Reads and scores samples with the installed plugins, under one config; loads nothing before it is used."""

    def __init__(self, config: Path | None = None) -> None:
        self._config = config

    @cached_property
    def engine(self) -> Engine:
        """Return the engine; raise `ConfigError` when the config cannot be used."""
        if self._config is None:
            return Engine()
        return Engine.from_config(self._config)

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
        asked = ask_gates(gates, specs, lambda wanted: list(self._columns(wanted).values()), check=_misplaced)
        nearest: dict[tuple[object, ...], Gate] = {}
        for gate in asked.gates:
            rule = gate.rule
            side = rule.side if isinstance(rule, Bound) else ""
            nearest.setdefault((gate.metric, side, gate.where, gate.of, gate.per_sample), gate)
        added = [spec.spec if isinstance(spec, Located) else spec for spec in asked.specs[len(specs) :]]
        return Asked((*specs, *added), tuple(nearest.values()))

    def result(self, records: Sequence[Record], metrics: Sequence[Any]) -> Result:
        """Score some samples."""
        evaluation = self.engine.dataset(records)
        return evaluation.with_metrics([*evaluation.metrics, *metrics]).run()

    def judge(self, records: Sequence[Record], asked: Asked) -> Judgment:
        """Score what was logged, and hold it against the gates; a metric without a value misses its gates."""
        if not asked.specs:
            return Judgment(None)
        result, problems = self._scores(records, asked.specs)
        judged = [gate for gate in asked.gates if result is not None and gate.metric in result]
        report = judge_resolved({"": result} if result is not None else {}, {"": judged}, None)
        told = dict(zip(judged, report.outcomes, strict=True))
        outcomes = [told.get(gate) or _without_column(gate, problems) for gate in asked.gates]
        return Judgment(result, tuple(outcomes), problems)

    def failure(
        self,
        records: Sequence[Record],
        written: Sequence[object],
        *,
        metrics: Sequence[Any],
        origin: str,
    ) -> str:
        """Return a text on the *written* gates that samples miss; empty when all are kept."""
        gates = [gate for each in written for gate in read_gates(each, origin=origin)]
        if not gates:
            msg = f"{origin} was given no gate, so it could never fail; write 'ndcg@10 >= 0.42'"
            raise ParameterError(msg)
        judgment = self.judge(records, self.ask(metrics, gates))
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


def _without_column(gate: Gate, problems: Mapping[str, str]) -> GateOutcome:
    """Return the outcome of a gate whose metric could not be computed: it fails."""
    nothing = dict.fromkeys(("n", "undefined", "missing", "failed"), 0)
    return GateOutcome(gate=gate, verdict="fail", counts=nothing, reason=problems[gate.metric])


def _misplaced(gate: Gate, column: str, traits: MetricTraits) -> str:
    """Return why an option does not take a bound of this metric; empty where it does."""
    side = gate.rule.side if isinstance(gate.rule, Bound) else ""
    if side == "minimum" and gate.origin == "--rankgauge-min" and not traits.higher_is_better:
        return f"lower is better for {column!r}; give its bound with --rankgauge-max"
    if side == "maximum" and gate.origin == "--rankgauge-max" and traits.higher_is_better:
        return f"higher is better for {column!r}; give its bound with --rankgauge-min"
    return ""
