"""
Filters: steps of a policy that drop results of a ranking before it is cut, as they are written and as they are called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankgauge.errors import ExpressionError, PolicyError
from rankgauge.expression import MetricExpression, parse

__all__ = ["Filter", "FilterStep", "read_filters"]

_FORM = "policy option 'filters' is a list of filters, such as ['one-per-page(most=2)']"


class FilterStep(NamedTuple):
    """What a filter does: a plugin's function with its parameters."""

    keep: Callable[[Any], object]  # takes what a ranking filter is given, returns which results stay
    needs: frozenset[str]  # what it looks at beside ids
    definition: str  # its version, and every parameter
    claim: Any  # the claim of a ranking filter, which is declared in a room above


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter as it is written; a plan adds what it does, which is no part of what it is."""

    expression: MetricExpression
    step: FilterStep | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return str(self.expression)


def read_filters(value: object) -> tuple[Filter, ...]:
    """Return filters, given as texts; raise `PolicyError` for anything else."""
    entries = [value] if isinstance(value, str | Filter) else value if value is not None else ()
    if not isinstance(entries, Sequence) or isinstance(entries, bytes):
        raise PolicyError(f"{_FORM}; not {value!r:.80}")
    return tuple(map(_read, entries))


def _read(entry: object) -> Filter:
    if isinstance(entry, Filter):
        return entry
    if not isinstance(entry, str):
        raise PolicyError(f"{_FORM}; not {entry!r:.80}")
    try:
        expression = parse(entry)
    except ExpressionError:
        raise PolicyError(f"{_FORM}; {entry!r} is no name with parameters in parentheses") from None
    if expression.k is not None:
        raise PolicyError(f"{_FORM}; {entry!r} has a cutoff, which no filter has")
    return Filter(expression)
