"""
Numbers that mappings give: what is said of those that nothing can be computed with.
"""

from __future__ import annotations

import math

from rankgauge.errors import Problem

__all__ = ["number_problem"]


def number_problem(query: object, document: object, value: object, number: str) -> Problem | None:
    """Say what is wrong with a score or a grade."""
    place = f"query {query!r}: the {number} of {document!r} is"
    try:
        if not isinstance(value, str | bytes) and math.isfinite(value):  # type: ignore[arg-type]  # asks just that
            return None
    except TypeError:
        pass
    except OverflowError:
        return Problem(f"{place} an integer that no float can hold")
    return Problem(f"{place} {value!r}, not a finite number")
