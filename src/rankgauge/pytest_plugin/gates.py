"""
Gates as tests write them: the grammar of all gates, and short forms that leave the side to the metric or the option.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankgauge.errors import ParameterError
from rankgauge.gates.grammar import Bound, Gate, Side
from rankgauge.gates.grammar import read_gates as read_any

if TYPE_CHECKING:
    from rankgauge.engine.result import Result
    from rankgauge.gates.outcomes import GateOutcome

__all__ = ["Judgment", "read_gates"]

_SHORT = re.compile(r"(?P<metric>.+?)\s*(?<![<>=])=\s*(?P<bound>[^\s=<>]+)", re.DOTALL)
_FORMS = "'ndcg@10 >= 0.42', 'unj@5 <= 0.1', or 'ndcg@10=0.42' (a minimum, or a maximum where lower is better)"


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


def read_gates(written: object, *, origin: str, side: Side = "better") -> list[Gate]:
    """Read gates from a map of metrics to numbers, or any form of gates; a number without a sign is on *side*."""
    if written is None:
        return []
    if isinstance(written, Mapping) and "metric" not in written:
        return [
            Gate(metric=_metric(name, origin), rule=Bound(_number(bound, name, origin), side), origin=origin)
            for name, bound in written.items()
        ]
    if isinstance(written, str | Mapping):
        return _read_one(written, origin, side)
    if isinstance(written, Iterable) and not isinstance(written, bytes):
        return [gate for each in written for gate in _read_one(each, origin, side)]
    msg = f"{origin}: gates are a map from metrics to numbers, or texts such as {_FORMS}; not {written!r}"
    raise ParameterError(msg)


def _read_one(written: object, origin: str, side: Side) -> list[Gate]:
    short = _SHORT.fullmatch(written.strip()) if isinstance(written, str) else None
    if short is not None:
        bound = Bound(_number(short["bound"], written, origin), side)
        return [Gate(metric=short["metric"], rule=bound, origin=origin)]
    gates = read_any(written, origin=origin)
    for gate in gates:
        if not isinstance(gate.rule, Bound):
            msg = (
                f"{origin}: {gate} compares with a baseline, which tests do not have; use a bound, or judge it with "
                "`rankgauge run --baseline`"
            )
            raise ParameterError(msg)
        if gate.dataset:
            msg = f"{origin}: {gate} names a dataset, and what tests log is none; leave out `dataset`"
            raise ParameterError(msg)
        if side not in {"better", gate.rule.side}:
            msg = f"{origin}: {written!r} is a {gate.rule.side}, but this option takes a {side}; write METRIC=NUMBER"
            raise ParameterError(msg)
    return gates


def _metric(name: object, origin: str) -> str:
    if not isinstance(name, str) or not name.strip():
        msg = f"{origin}: a gate starts with a metric such as 'ndcg@10', not with {name!r}"
        raise ParameterError(msg)
    return name.strip()


def _number(raw: object, where: object, origin: str) -> float:
    try:
        number = math.nan if isinstance(raw, bool) or not isinstance(raw, str | int | float) else float(raw)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        msg = f"{origin}: the bound of {where!r} is a number, not {raw!r}; write {_FORMS}"
        raise ParameterError(msg)
    return number
