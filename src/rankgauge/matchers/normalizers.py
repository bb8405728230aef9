"""
Normalizers: pure and total functions from text to text.
"""

from __future__ import annotations

from rankgauge.plugin import normalizer

__all__ = ["casefold", "collapse_whitespace", "lower"]


@normalizer("collapse-whitespace", stage="fold")
def collapse_whitespace(text: str) -> str:
    """Turn every run of Unicode white space into one space, and trim."""
    return " ".join(text.split())


@normalizer("casefold", stage="fold")
def casefold(text: str) -> str:
    """Fold case as Unicode defines it for comparison, so that ``ß`` equals ``ss``."""
    return text.casefold()


@normalizer("lower", stage="fold")
def lower(text: str) -> str:
    """Turn letters into lower case, one for one, so that ``ß`` stays itself."""
    return text.lower()
