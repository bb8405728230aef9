"""
What gates ask for: the columns that they are on, whether a gate makes sense for its metric, and what ends a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Protocol

from rankgauge.errors import PlanError, Problem
from rankgauge.gates.grammar import Bound, Gate, MaxDrop, OfKind, read_gates
from rankgauge.planning.requests import Located, MetricSpec
from rankgauge.planning.resolve import PlannedMetric
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.result import Result

__all__ = [
    "UNTIL",
    "Asked",
    "Decision",
    "MetricTraits",
    "Planner",
    "UntilGates",
    "ask_gates",
    "decision_of",
    "flaw",
    "key_of",
    "resolved",
    "until_gates",
]


class MetricTraits(Protocol):
    """What a gate has to know of its metric, before and after it was computed."""

    @property
    def range(self) -> tuple[float | None, float | None]:
        """Return the lowest and the highest value."""
        ...

    @property
    def higher_is_better(self) -> bool:
        """Return whether more is better."""
        ...

    @property
    def aggregate(self) -> str:
        """Return how samples become one number."""
        ...


def resolved(gate: Gate, column: str, traits: MetricTraits) -> Gate:
    """Return a gate on a column, with a minimum or a maximum if it left that to the metric."""
    rule = gate.rule
    if isinstance(rule, Bound):
        is_maximum = rule.is_maximum(higher_is_better=traits.higher_is_better)
        rule = Bound(rule.number, "maximum" if is_maximum else "minimum")
    return replace(gate, metric=column, rule=rule)


def flaw(gate: Gate, column: str, traits: MetricTraits) -> str:
    """Return why a gate makes no sense for its metric; empty when it does."""
    rule, (low, high) = gate.rule, traits.range
    if gate.until and (why := _until_flaw(gate, column, traits)):
        return f"{str(gate)!r} cannot end a run: {why}; judge it as a gate, over all samples"
    if traits.aggregate == WHOLE_RUN and (isinstance(rule, MaxDrop) or gate.per_sample):
        why = "there is no test of its difference" if isinstance(rule, MaxDrop) else "no sample has a value of its own"
        return f"{column!r} is one value of the whole run, so {why}; give it a bound"
    if isinstance(rule, OfKind):
        is_whole = traits.aggregate == WHOLE_RUN
        return f"{column!r} is one value of the whole run, and {rule.word} is held by scores" if is_whole else ""
    if isinstance(rule, MaxDrop):
        how = "pooled mean" if traits.aggregate == POOLED else traits.aggregate
        over = f"{column!r} is a {how} over the samples"
        return "" if traits.aggregate == "mean" else f"{rule.word} compares means, and {over}"
    if traits.aggregate not in {"mean", "geometric", POOLED} and not gate.per_sample:
        return ""  # only a mean lies where its values do
    is_maximum = rule.is_maximum(higher_is_better=traits.higher_is_better)
    low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
    if rule.number < low if is_maximum else rule.number > high:
        return f"no value of {column!r}, which ranges from {low:g} to {high:g}, can keep the bound {rule.number:g}"
    return ""


def _until_flaw(gate: Gate, column: str, traits: MetricTraits) -> str:
    """Return why no part of the samples can decide a gate; empty if one can."""
    low, high = traits.range
    if gate.is_change:
        return "it is on a change, and only the bound of a mean is decided while a system is called"
    if not isinstance(gate.rule, Bound):
        return "only the bound of a mean is decided while a system is called"
    if gate.per_sample:
        return "it is per_sample, and one sample says nothing about another"
    if traits.aggregate != "mean":
        return f"{column!r} is no mean over the samples"
    if low is None or high is None:
        return f"{column!r} has no {'lowest' if low is None else 'highest'} value, so one sample may decide the mean"
    return ""


Planner = Callable[[Sequence[MetricSpec]], Sequence[PlannedMetric]]
"""Returns the columns that some metrics make."""

Check = Callable[[Gate, str, MetricTraits], str]
"""Returns why a gate cannot be used for a column; empty if it can."""


class Asked(NamedTuple):
    """
    Metrics and gates, resolved.

    Attributes:
        specs: The metrics to compute, with those that only gates name.

        gates: The gates, each on one column by its name.
    """

    specs: tuple[MetricSpec, ...] = ()
    gates: tuple[Gate, ...] = ()


def ask_gates(
    gates: Iterable[Gate], specs: Sequence[MetricSpec], plan: Planner, *, check: Check | None = None
) -> Asked:
    """
    Resolve gates before any data is read; raise one `PlanError` for all that cannot be used.

    A gate may name a column, or any metric: one that was not asked for is computed for the gate. A metric that is
    several columns (`recall@1,5`) is as many gates. *check* may refuse a gate for its column.
    """
    wanted = list(specs)
    columns = list(plan(wanted)) if wanted else []
    known = {(column.standard_name, column.fingerprint): column for column in columns}
    problems: list[Problem] = []
    resolved_gates: dict[Gate, None] = {}
    for gate in gates:
        place = _place(gate.origin)
        named = [column for column in columns if gate.metric in {column.name, column.safe_name}]
        if not named:
            spec = Located(gate.metric, *place)
            try:
                named = list(plan([spec]))
            except PlanError as error:
                problems += error.problems
            wanted.append(spec)
        for column in named:
            column = known.setdefault((column.standard_name, column.fingerprint), column)  # noqa: PLW2901  # `MRR` is `RR`
            problem = check(gate, column.name, column.metric) if check is not None else ""
            if problem := problem or flaw(gate, column.name, column.metric):
                problems.append(Problem(problem, *place))
            resolved_gates[resolved(gate, column.name, column.metric)] = None
    if problems:
        raise PlanError("the gates cannot be used:", problems)
    if len(wanted) > len(specs):
        plan(wanted)  # two columns of one name are found only when all are planned together
    return Asked(tuple(wanted), tuple(resolved_gates))


def _place(origin: str) -> tuple[str, int | None]:
    """Return file and line of an origin such as ``rankgauge.yaml:12``; else it stands for the file."""
    file, colon, line = origin.rpartition(":")
    return (file, int(line)) if colon and line.isdecimal() else (origin, None)


UntilGates = Iterable[Gate | str | Mapping[str, Any]] | Gate | str | Mapping[str, Any]
"""One gate or several, as they are written."""

UNTIL = "until"
"""Where a manifest has the decisions."""


class Decision(NamedTuple):
    """
    What the samples that were looked at, in random order, say of a gate over all of them.

    Attributes:
        verdict: `pass` or `fail`; `open` if they do not decide.

        after: How many samples were looked at.

        of: How many there are.

        level: The highest probability of a wrong decision.
    """

    verdict: Literal["pass", "fail", "open"]
    after: int
    of: int
    level: float


def until_gates(written: UntilGates, *, origin: str = "until") -> list[Gate]:
    """Read gates that end a run; raise `ParameterError` for what is no gate."""
    entries = [written] if isinstance(written, Gate | str | Mapping) else written
    gates = [[entry] if isinstance(entry, Gate) else read_gates(entry, origin=origin) for entry in entries]
    return [replace(gate, until=True) for several in gates for gate in several]


def key_of(gate: Gate) -> str:
    """Return what a manifest calls a gate on a column; what a miss does is of no interest there."""
    return str(replace(gate, dataset="", level="fail"))


def decision_of(gate: Gate, result: Result) -> Decision | None:
    """Return what was decided of a gate on a column while a system was called; None if all samples were."""
    until = result.manifest.get(UNTIL)
    if not until:
        return None
    if (decision := until["gates"].get(key_of(gate))) is not None:
        return Decision(**decision)
    return Decision("open", len(result), until["samples"], 0.0) if len(result) < until["samples"] else None
