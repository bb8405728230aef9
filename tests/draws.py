"""
How much is tried: all of it in the thorough suite, and in the quick one a sixth of what is drawn and no slow tests.

The quick suite runs by default; ``make test-thorough`` or ``pytest --hypothesis-profile=thorough`` runs the other. A
test that expects a fault to be found draws as much in both, because a few draws may miss it. Tests that run inside a
host too take nothing from here: those environments have no hypothesis.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

import pytest
from hypothesis import settings

__all__ = ["EXAMPLES", "draws", "in_thorough_suite", "is_thorough", "some"]

T = TypeVar("T")

EXAMPLES: Final = {"quick": 10, "thorough": 60}
"""How many examples a hypothesis test draws by default, by profile."""

_FEWEST = 5


def is_thorough() -> bool:
    """Return whether this is the thorough suite, which hypothesis knows by collection."""
    return settings().max_examples >= EXAMPLES["thorough"]


def in_thorough_suite() -> pytest.MarkDecorator:
    """Return the mark of a test that takes half a second or more where quicker ones look at the same code."""
    return pytest.mark.skipif(not is_thorough(), reason="takes long; `make test-thorough` runs it")


def draws(thorough: int) -> int:
    """Return how many to draw where the thorough suite draws *thorough*."""
    share = settings().max_examples / EXAMPLES["thorough"]
    return max(min(thorough, _FEWEST), int(thorough * share))


def some(cases: Sequence[T], *, of: int = 3, first: int = 0) -> list[T]:
    """Return all cases in the thorough suite, and one of each *of* in the quick one, from the *first* on."""
    return list(cases if is_thorough() else cases[first % of :: of])
