"""
Named matchers: compositions of normalizers and a comparer.
"""

from __future__ import annotations

from rankgauge.plugin import named_matcher

__all__ = ["contains", "contains_cased", "contains_lower", "exact", "folded"]


@named_matcher("exact", "equal >= 1")
def exact() -> None:
    """Compare character by character."""


@named_matcher("folded", "collapse-whitespace | casefold > equal >= 1")
def folded() -> None:
    """Compare whatever white space and case."""


@named_matcher("contains", "collapse-whitespace | casefold > contained(direction=gold-in-retrieved) >= 1")
def contains() -> None:
    """Find the gold text in the retrieved one, whatever white space and case."""


@named_matcher("contains-cased", "collapse-whitespace > contained(direction=gold-in-retrieved) >= 1")
def contains_cased() -> None:
    """Find the gold text in the retrieved one, whatever white space."""


@named_matcher("contains-lower", "collapse-whitespace | lower > contained(direction=gold-in-retrieved) >= 1")
def contains_lower() -> None:
    """Find the gold text in the retrieved one, whatever white space; letters are lowered one for one."""
