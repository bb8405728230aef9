"""
What values of a metric's declaration have to be: what no saved result could hold is refused when it is declared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

__all__ = ["wrong_values"]

_JOINS = ("relevant", "top_k", "expected_span")

_ENDS = 2
_RANGE = "two plain numbers, or None for no bound; write the lowest value first, as in (0.0, 1.0)"
_Fits = Callable[[Any], bool]


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_end(value: object) -> bool:
    """Return whether a value is an end of a range that JSON can hold; numpy's numbers are none."""
    return value is None or (type(value) in {int, float} and math.isfinite(cast("float", value)))


_FIELDS: Sequence[tuple[str, _Fits, str]] = (
    ("higher_is_better", _is_flag, "True or False"),
    ("describes", _is_flag, "True or False"),
    ("needs_max_grade", _is_flag, "True or False"),
    ("own_ranks", _is_flag, "True or False"),
    ("uses_rel", lambda value: _is_flag(value) or value == "binary", "True, False or 'binary'"),
    ("version", _is_text, "a text such as '2'"),
    ("undefined", _is_text, "a text for reports"),
    ("aggregate", _is_text, "a name such as 'mean'"),
    ("judges", lambda value: value in {"retrieved", "answer"}, "'retrieved' or 'answer'"),
    ("joins", lambda value: set(value) <= set(_JOINS), f"some of {', '.join(_JOINS)}"),
    ("range", lambda ends: isinstance(ends, tuple) and len(ends) == _ENDS and all(map(_is_end, ends)), _RANGE),
    (
        "matcher",
        lambda value: value is None or callable(value) or _is_text(value),
        "a name, or a function that gives one",
    ),
)
"""What values of a declaration have to be, so that results that are saved can be read, and mean what was declared."""


def wrong_values(*holders: object) -> Iterator[str]:
    """Yield what is wrong with values of a metric, which *holders* have, as clauses whose subject is the metric."""
    found = {name: next(getattr(each, name) for each in holders if hasattr(each, name)) for name, *_ in _FIELDS}
    for name, fits, wanted in _FIELDS:
        if not fits(value := found[name]):
            yield f"has {name}={value!r}, which is {wanted}"
