"""
Effort: how long two texts may be, so that a pair of them takes seconds at the worst.

Edit distances are computed 64 characters at a time, so their cost is the product of both lengths over 64. The best
part of a longer text costs one such distance for each place where it may begin, which no shortcut avoids where the
texts are made to defeat it: 82 seconds for 8,000 against 16,000 characters.
"""

from __future__ import annotations

from rankgauge.errors import MatcherError

__all__ = ["check_effort"]

_MOST = 1 << 36
"""How many pairs of characters are compared for two texts at the most: some 5 seconds on a machine of 2025."""


def check_effort(comparer: str, found: str, wanted: str, steps: int, *, instead: str = "") -> None:
    """Raise a `MatcherError` for two texts that take too long, since so many pairs of characters are compared."""
    if steps > _MOST:
        shorter = f", or use {instead}" if instead else ""
        msg = (
            f"{comparer} would take too long for texts of {len(found):,} and {len(wanted):,} characters; "
            f"shorten them{shorter}"
        )
        raise MatcherError(msg)
