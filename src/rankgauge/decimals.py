"""
Decimal numbers as text: the one notation that is read wherever a text is a number.
"""

from __future__ import annotations

import math
import re

__all__ = ["NUMBER", "read_number"]

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""What `float` reads, without blanks, underscores, other scripts' digits, infinity and NaN."""

_BYTES = re.compile(NUMBER.pattern.encode())


def read_number(text: bytes) -> float:
    """Return the finite number that a text writes; NaN where it writes none."""
    number = float(text) if _BYTES.fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan
