"""
Decimal numbers as text: the one notation that is read wherever a text is a number.
"""

from __future__ import annotations

import math
import re

__all__ = ["NUMBER", "read_number", "read_share"]

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""What `float` reads, without blanks, underscores, other scripts' digits, infinity and NaN."""

_BYTES = re.compile(NUMBER.pattern.encode())


def read_number(text: bytes) -> float:
    """Return the finite number that a text writes; NaN where it writes none."""
    number = float(text) if _BYTES.fullmatch(text) else math.nan
    return number if math.isfinite(number) else math.nan


def read_share(written: str) -> float:
    """Return a share written as a number (``0.1``) or a percentage (``10%``); raise `ValueError` for anything else."""
    text = written.strip()
    number = text.removesuffix("%").rstrip()
    if NUMBER.fullmatch(number) is None:
        msg = f"a share is a number from 0 to 1, or a percentage such as 10%, not {written!r}"
        raise ValueError(msg)
    return float(number) / 100 if text.endswith("%") else float(number)
