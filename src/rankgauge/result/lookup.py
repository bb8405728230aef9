"""
Lookup: which column a spelling of a metric means.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TypeVar

from rankgauge.catalog.peers import translated
from rankgauge.catalog.trec_eval import read_form
from rankgauge.errors import suggest
from rankgauge.expression import parse
from rankgauge.result.merge import Column

__all__ = ["find_column"]


Found = TypeVar("Found", bound=Column)


def find_column(columns: Mapping[str, Found], name: object) -> Found:
    """Return a column by its name, its safe name, or any spelling of its metric; a `KeyError` says what there is."""
    if not isinstance(name, str):
        msg = f"a column is looked up by its name, not by {name!r}"
        raise KeyError(msg)
    if name in columns:
        return columns[name]
    for column in columns.values():
        if name == column.info.safe_name or name in column.info.spellings:
            return column
    found: list[Found] = []
    with contextlib.suppress(ValueError):  # an `ExpressionError`, or a form that lists several columns
        (expression,) = read_form(name) or [translated(parse(name))]
        found = [column for column in columns.values() if column.info.answers_to(expression)]
        exact = [column for column in found if parse(column.info.expression).params == expression.params]
        found = exact or found
    if len(found) == 1:
        return found[0]
    if found:
        msg = f"{name!r} may be any of {', '.join(column.name for column in found)}; use one of these names"
        raise KeyError(msg)
    close = suggest(name, columns)
    hint = f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
    msg = f"no column {name!r}{hint}; there are {', '.join(columns)}"
    raise KeyError(msg)
