"""
Gates: the bounds that a metric has to keep, as users write them, and their outcomes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.result import Result

__all__ = ["Bound", "Gate", "GateOutcome", "Judgment", "Side", "read_gates"]

Side = Literal["minimum", "maximum", "better"]
"""Which side a bound is on; `better` is a minimum where higher is better, else a maximum."""

_WRITTEN = re.compile(r"(?P<metric>.+?)\s*(?P<sign>>=|<=|=)\s*(?P<bound>[^\s=<>]+)\s*", re.DOTALL)
_SIDES: Mapping[str, Side] = {">=": "minimum", "<=": "maximum", "=": "better"}
_FORMS = "'ndcg@10 >= 0.42', 'waste@5 <= 0.1', or 'ndcg@10=0.42' (a minimum, or a maximum where lower is better)"


@dataclass(frozen=True, slots=True)
class Gate:
    """
    A bound as it was written; the column of its metric is not known yet.

    Attributes:
        metric: The metric in any spelling, or the name of a column.

        bound: The number.

        side: Whether it is a minimum or a maximum.

        origin: Where it was written, for messages.
    """

    metric: str
    bound: float
    side: Side
    origin: str

    def bound_of(self, column: str, *, higher_is_better: bool) -> Bound:
        """Return the bound of a column that the gate names."""
        is_maximum = self.side == "maximum" or (self.side == "better" and not higher_is_better)
        return Bound(column, self.bound, is_maximum)


@dataclass(frozen=True, slots=True)
class Bound:
    """
    A bound of one column.

    Attributes:
        column: The column's name.

        bound: The number.

        is_maximum: Whether the value must be at most that, rather than at least.
    """

    column: str
    bound: float
    is_maximum: bool

    def __str__(self) -> str:
        return f"{self.column} {'<=' if self.is_maximum else '>='} {self.bound:g}"

    def holds(self, value: float | None) -> bool:
        """Return whether a value keeps the bound; None never does."""
        if value is None:
            return False
        return value <= self.bound if self.is_maximum else value >= self.bound


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """
    The outcome of one gate.

    Attributes:
        bound: The bound.

        value: The metric's aggregate; None where it has none.

        aggregate: How samples are aggregated: `mean`, `sum` or `geometric`.

        counts: How many samples count (`n`), and how many are `undefined`, `missing` and `failed`.

        reason: Why there is no value.

        test: The test that has the gate; empty for the session.
    """

    bound: Bound
    value: float | None
    aggregate: str = "mean"
    counts: Mapping[str, int]
    reason: str = ""
    test: str = ""

    @property
    def passed(self) -> bool:
        """Return whether the value keeps the bound."""
        return self.bound.holds(self.value)

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome in plain values, as reports hold it."""
        return {
            "scope": self.test or "session",
            "metric": self.bound.column,
            "maximum" if self.bound.is_maximum else "minimum": self.bound.bound,
            "value": self.value,
            "aggregate": self.aggregate,
            **{name if name == "n" else f"n_{name}": count for name, count in self.counts.items()},
            "passed": self.passed,
            "reason": self.reason,
        }


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
        """Return the gates that were missed."""
        return tuple(outcome for outcome in self.outcomes if not outcome.passed)


def read_gates(written: object, *, origin: str, side: Side = "better") -> list[Gate]:
    """Read gates from a map of metrics to numbers, or texts; a number without a sign is on *side*."""
    if written is None:
        return []
    if isinstance(written, Mapping):
        return [
            Gate(_metric(name, origin), _number(bound, name, origin), side, origin) for name, bound in written.items()
        ]
    if isinstance(written, str):
        return [_read_text(written, origin, side)]
    if isinstance(written, Iterable) and not isinstance(written, bytes):
        return [gate for each in written for gate in read_gates(_text(each, origin), origin=origin, side=side)]
    msg = f"{origin}: gates are a map from metrics to numbers, or texts such as {_FORMS}; not {written!r}"
    raise ParameterError(msg)


def _read_text(text: str, origin: str, side: Side) -> Gate:
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        msg = f"{origin}: {text!r} is not a gate; write {_FORMS}"
        raise ParameterError(msg)
    own = _SIDES[found["sign"]]
    if own == "better":
        own = side
    elif side not in {"better", own}:
        msg = f"{origin}: {text!r} is a {own}, but this option takes a {side}; write METRIC=NUMBER"
        raise ParameterError(msg)
    metric = found["metric"].strip()
    return Gate(metric, _number(found["bound"], text, origin), own, origin)


def _text(each: object, origin: str) -> str:
    if not isinstance(each, str):
        msg = f"{origin}: {each!r} is not a gate; write {_FORMS}"
        raise ParameterError(msg)
    return each


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
