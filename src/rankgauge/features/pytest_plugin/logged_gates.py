"""
Gates on what tests log: their short forms, scoring and judging, and what pytest prints of the outcome.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.plain_text import visible
from rankgauge.engine.engine import Engine
from rankgauge.engine.explaining import explain_samples
from rankgauge.errors import ParameterError, RankgaugeError, counted
from rankgauge.features.pytest_plugin.logged_samples import make_record, numbered, outputs_of, samples_of
from rankgauge.gates.asked import Asked, MetricTraits, ask_gates
from rankgauge.gates.baseline import load_baseline
from rankgauge.gates.grammar import Bound, Defaults, Gate, Side
from rankgauge.gates.grammar import read_gates as read_any
from rankgauge.gates.outcomes import GateOutcome, apart, counts_text, headline, outcome_line
from rankgauge.gates.verdicts import judge_resolved
from rankgauge.planning.requests import Located
from rankgauge.report.samples import sample_lines, sample_title
from rankgauge.result import Result

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.planning.resolve import PlannedMetric
    from rankgauge.result import MetricSummary, Result

__all__ = ["Judgment", "Scoring", "column_line", "failure_text", "read_gates", "worst_lines"]

_FORMS = "'ndcg@10 >= 0.42', 'unj@5 <= 0.1', or 'ndcg@10=0.42' (a minimum, or a maximum if lower is better)"
_WORST = 3

Record = Mapping[str, Any]
Baseline = str | os.PathLike[str] | Result | Mapping[str, Result] | None
"""What a change is judged against: a baseline file, what `load_baseline` returned, or a result."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """
    The scores of what was logged, held against gates.

    Attributes:
        result: The scores; None when nothing could be scored.

        outcomes: The outcome of each gate.

        problems: Why a column could not be computed.
    """

    result: Result | None
    outcomes: tuple[GateOutcome, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> tuple[GateOutcome, ...]:
        """Return the gates that fail a test."""
        return tuple(outcome for outcome in self.outcomes if outcome.status in {"failed", "error"})


class Scoring:
    """Reads and scores samples with the installed plugins, under one config; loads nothing before it is used."""

    def __init__(self, config: Path | None = None) -> None:
        self._config = config

    @cached_property
    def engine(self) -> Engine:
        """Return the engine; raise `ConfigError` when the config cannot be used."""
        return Engine() if self._config is None else Engine.from_config(self._config)

    def record_of(
        self, sample: object, given: Mapping[str, Any], logged: Mapping[str, Sequence[Record]], repeat: int
    ) -> dict[str, Any]:
        """Return a call for a sample as plain values; raise `DataError` when it breaks the contract or came before."""
        contract, kinds = self.engine.dataset(()).profile.contract, self.engine.catalog.gold_kinds
        record = make_record(sample, given, contract, kinds)
        return numbered(record, repeat, logged.get(record["id"], ()))

    def ask(self, metrics: Iterable[Any], gates: Sequence[Gate]) -> Asked:
        """Resolve metrics and gates without a sample; raise one `PlanError` for all that cannot be used."""
        evaluation = self.engine.dataset(())
        specs = [*evaluation.metrics, *metrics]
        asked = ask_gates(gates, specs, lambda wanted: list(self._columns(wanted).values()), check=_misplaced)
        nearest: dict[tuple[object, ...], Gate] = {}
        for gate in asked.gates:
            nearest.setdefault((gate.metric, _side(gate) or gate.rule, gate.where, gate.of, gate.per_sample), gate)
        added = [spec.spec if isinstance(spec, Located) else spec for spec in asked.specs[len(specs) :]]
        return Asked((*specs, *added), tuple(nearest.values()))

    def result(self, records: Sequence[Record], metrics: Sequence[Any]) -> Result:
        """Score some samples."""
        evaluation = self._evaluation(records)
        return evaluation.with_metrics([*evaluation.metrics, *metrics]).run(sketch_ids=True)  # it may be a baseline

    def judge(self, records: Sequence[Record], asked: Asked, baseline: Mapping[str, Result] | None = None) -> Judgment:
        """Score what was logged, and hold it against the gates; a metric without a value misses its gates."""
        if not asked.specs:
            return Judgment(None)
        result, problems = self._scores(records, asked.specs)
        judged = [gate for gate in asked.gates if result is not None and gate.metric in result]
        report = judge_resolved({"": result} if result is not None else {}, {"": judged}, baseline)
        by_gate = dict(zip(judged, report.outcomes, strict=True))
        outcomes = [by_gate.get(gate) or _without_column(gate, problems) for gate in asked.gates]
        return Judgment(result, tuple(outcomes), problems)

    def failure(
        self, records: Sequence[Record], written: Sequence[object], *, metrics: Sequence[Any], baseline: Baseline
    ) -> str:
        """Return a text on the gates, *written* for `check`, that samples miss; empty when all are kept."""
        origin, takes_changes = "check()", baseline is not None
        gates = [gate for one in written for gate in read_gates(one, origin=origin, takes_changes=takes_changes)]
        if not gates:
            raise ParameterError(f"{origin} was given no gate, so it could never fail; write 'ndcg@10 >= 0.42'")
        earlier = load_baseline(baseline) if isinstance(baseline, str | os.PathLike) else baseline
        earlier = {"": earlier} if isinstance(earlier, Result) else earlier
        judgment = self.judge(records, self.ask(metrics, gates), earlier)
        return failure_text(judgment, len(samples_of(records))) if judgment.failed else ""

    def _evaluation(self, records: Sequence[Record]) -> Evaluation:
        evaluation, outputs = self.engine.dataset(samples_of(records)), outputs_of(records)
        return evaluation if outputs is None else evaluation.with_outputs(outputs)

    def _columns(self, specs: Sequence[Any]) -> dict[str, PlannedMetric]:
        if not specs:
            return {}
        return {column.name: column for column in self.engine.dataset(()).with_metrics(specs).plan().metrics}

    def _scores(self, records: Sequence[Record], specs: Sequence[Any]) -> tuple[Result | None, dict[str, str]]:
        """Compute every column that can be computed; return also why the others cannot."""
        evaluation = self._evaluation(records)
        if not records:
            return None, dict.fromkeys(self._columns(specs), "nothing was logged")
        try:
            return evaluation.with_metrics(specs).run(sketch_ids=True), {}
        except RankgaugeError:  # such as a metric whose ground truth no sample has: find out which
            usable: list[Any] = []
            problems: dict[str, str] = {}
            for spec in specs:
                try:
                    evaluation.with_metrics([*usable, spec]).plan()  # metrics of several tests may clash by name
                    evaluation.with_metrics([spec]).run()
                except RankgaugeError as error:
                    reason = "; ".join(problem.message for problem in getattr(error, "problems", ())) or str(error)
                    problems |= dict.fromkeys(self._columns([spec]), reason)
                else:
                    usable.append(spec)
            return (evaluation.with_metrics(usable).run(sketch_ids=True) if usable else None), problems


def read_gates(written: object, *, origin: str, side: Side = "better", takes_changes: bool = False) -> list[Gate]:
    """Read gates from a map of metrics to numbers, or any form of gates; a number after `=` is a bound on *side*."""
    if written is None:
        return []
    if isinstance(written, Mapping) and "metric" not in written:
        written = [{"metric": name, "=": bound} for name, bound in written.items()]
    if isinstance(written, str | Mapping):
        return _read_one(written, origin, side, takes_changes=takes_changes)
    if isinstance(written, Iterable) and not isinstance(written, bytes):
        return [gate for one in written for gate in _read_one(one, origin, side, takes_changes=takes_changes)]
    raise ParameterError(
        f"{origin}: gates are a map from metrics to numbers, or texts such as {_FORMS}; not {written!r}"
    )


def _read_one(written: object, origin: str, side: Side, *, takes_changes: bool) -> list[Gate]:
    gates = read_any(written, origin=origin, defaults=Defaults(side=side))
    for gate in gates:
        if gate.is_change and not takes_changes:
            advice = "use a bound, or `rankgauge_eval.check(..., baseline=PATH)` in a test"
            raise ParameterError(f"{origin}: {gate} compares with a baseline, and none is given here; {advice}")
        if gate.dataset:
            raise ParameterError(f"{origin}: {gate} names a dataset, and what tests log is none; leave out `dataset`")
        if isinstance(gate.rule, Bound) and side not in {"better", gate.rule.side}:
            wrong = f"is a {gate.rule.side}, but this option takes a {side}; write METRIC=NUMBER"
            raise ParameterError(f"{origin}: {written!r} {wrong}")
    return gates


def _without_column(gate: Gate, problems: Mapping[str, str]) -> GateOutcome:
    """Return the outcome of a gate whose metric could not be computed: it fails."""
    nothing = dict.fromkeys(("n", "undefined", "missing", "failed"), 0)
    return GateOutcome(gate=gate, verdict="fail", counts=nothing, reason=problems[gate.metric])


def _misplaced(gate: Gate, column: str, traits: MetricTraits) -> str:
    """Return why an option does not take a bound of this metric; empty if it does."""
    given = (_side(gate), gate.origin)
    if given == ("minimum", "--rankgauge-min") and not traits.higher_is_better:
        return f"lower is better for {column!r}; give its bound with --rankgauge-max"
    if given == ("maximum", "--rankgauge-max") and traits.higher_is_better:
        return f"higher is better for {column!r}; give its bound with --rankgauge-min"
    return ""


def _side(gate: Gate) -> str:
    return gate.rule.side if isinstance(gate.rule, Bound) else ""


def failure_text(judgment: Judgment, n_samples: int) -> str:
    """Say why a test fails: a heading, a line for each gate, and the worst samples of each that was missed."""
    lines = [f"{', '.join(map(_short, judgment.failed))} over {counted(n_samples, 'sample')}"]
    for outcome in judgment.outcomes:
        lines.append(f"  {outcome_line(outcome)}")
        lines += [f"    {line}" for line in worst_lines(outcome, judgment)]
    lines += [f"  note: {note}" for note in (judgment.result.notes if judgment.result is not None else ())]
    return "\n".join(map(visible, lines))


def column_line(column: MetricSummary) -> str:
    """Return the name, value and counts of a metric without a gate."""
    value = "no value" if column.mean is None or not column.n else f"{column.mean:.4f}"
    return f"       {column.name}: {value} ({column.info.aggregate} of {counts_text(column.counts)})"


def worst_lines(outcome: GateOutcome, judgment: Judgment, tests: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield lines on the worst samples of a missed gate; *tests* has the test of each, if they are of several."""
    rule = outcome.gate.rule
    if outcome.verdict != "fail" or outcome.value is None or judgment.result is None or not isinstance(rule, Bound):
        return
    result = judgment.result
    column = result[outcome.gate.metric]
    ranked = column.worst(_WORST, highest=rule.side == "maximum")
    worst = [result.sample_ids[row] for row in ranked if not rule.holds(float(column.values[row]))]
    for explanation in explain_samples(result, worst, column, trials=False) if worst else ():
        where = f"  {tests[explanation.sample]}" if tests else ""
        yield f"{sample_title(explanation)}{where}"
        yield from (f"  {line}" for line in sample_lines(explanation, result))


def _short(outcome: GateOutcome) -> str:
    """Return a gate that was missed as briefly as the last line of a test report needs it."""
    rule = outcome.gate.rule
    if outcome.verdict == "error" or outcome.gate.per_sample or not isinstance(rule, Bound):
        return headline(outcome)
    if outcome.value is None:
        return f"{outcome.gate.metric} has no value"
    if outcome.by_numbers == "pass":
        return f"{outcome.gate.metric} is of an incomplete run"
    value, limit = apart(outcome.value, rule.number)
    return f"{outcome.gate.metric} is {value} {'>' if rule.side == 'maximum' else '<'} {limit}"
