"""
Asking for gates: the metrics that gates name are planned with the others, and every gate gets its column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rankgauge.errors import PlanError, Problem
from rankgauge.gates.grammar import Gate
from rankgauge.gates.verdicts import MetricTraits, flaw, resolved
from rankgauge.planning.requests import Located, MetricSpec
from rankgauge.planning.resolve import PlannedMetric

__all__ = ["Asked", "ask_gates"]

Planner = Callable[[Sequence[MetricSpec]], Sequence[PlannedMetric]]
"""Returns the columns that some metrics make."""

Check = Callable[[Gate, str, MetricTraits], str]
"""Returns why a gate cannot be used for a column; empty where it can."""


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

    A gate may name a column, or any metric: one that nobody asked for is computed because of the gate. A metric that is
    several columns (`recall@1,5`) is as many gates. *check* may refuse a gate for its column.
    """
    wanted = list(specs)
    columns = list(plan(wanted)) if wanted else []
    known = {(column.standard_name, column.fingerprint): column for column in columns}
    problems: list[Problem] = []
    found: dict[Gate, None] = {}
    for gate in gates:
        place = _place(gate.origin)
        own = [column for column in columns if gate.metric in {column.name, column.safe_name}]
        if not own:
            spec = Located(gate.metric, *place)
            try:
                own = list(plan([spec]))
            except PlanError as error:
                problems += error.problems
                continue
            wanted.append(spec)
        for column in own:
            column = known.setdefault((column.standard_name, column.fingerprint), column)  # noqa: PLW2901  # `MRR` is `RR`
            told = check(gate, column.name, column.metric) if check is not None else ""
            if told := told or flaw(gate, column.name, column.metric):
                problems.append(Problem(told, *place))
            found[resolved(gate, column.name, column.metric)] = None
    if problems:
        msg = "the gates cannot be used:"
        raise PlanError(msg, problems)
    if len(wanted) > len(specs):
        plan(wanted)  # two columns of one name are found only when all are planned together
    return Asked(tuple(wanted), tuple(found))


def _place(origin: str) -> tuple[str, int | None]:
    """Return file and line of an origin such as ``rankgauge.yaml:12``; else it stands for the file."""
    file, colon, line = origin.rpartition(":")
    return (file, int(line)) if colon and line.isdecimal() else (origin, None)
