"""
Numbers in mappings: the problem with a score or grade that cannot be used.
"""

from __future__ import annotations

import math

from rankgauge.errors import Problem

__all__ = ["number_problem"]


def number_problem(query: object, document: object, value: object, number: str) -> Problem | None:
    """Return what is wrong with a score or grade; None for anything that converts to a finite float."""
    place = f"query {query!r}: the {number} of {document!r} is"
    try:
        if not isinstance(value, str | bytes) and math.isfinite(value):  # type: ignore[arg-type]  # asks just that
            return None
    except TypeError:
        pass
    except OverflowError:
        return Problem(f"{place} an integer that is too large for a float")
    return Problem(f"{place} {value!r}, not a finite number")
