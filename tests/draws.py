"""
How much is tried: all of it in the thorough suite, and in the quick one a tenth of what is drawn and no slow tests.

The quick suite runs by default; ``make test-thorough`` or ``pytest --hypothesis-profile=thorough`` runs the other. A
test that expects a fault to be found draws as much in both, because a few draws may miss it. Tests that run inside a
host too take nothing from here: those environments have no hypothesis. The `conftest.py` above leaves tests out.
"""

from collections.abc import Sequence
from typing import Final, TypeVar
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["EXAMPLES", "draws", "in_thorough_suite", "is_thorough", "named", "register_profiles", "some"]

T = TypeVar("T")

EXAMPLES: Final = {"quick": 6, "thorough": 60}
"""How many examples a hypothesis test draws by default, by profile."""

_FEWEST = 5


def register_profiles() -> None:
    """Make both suites known to hypothesis, and load the quick one; ``--hypothesis-profile`` loads the other, later."""
    settings.register_profile(
        "thorough",
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=EXAMPLES["thorough"],
        suppress_health_check=[HealthCheck.too_slow],  # it reads the clock
    )
    settings.register_profile("quick", settings.get_profile("thorough"), max_examples=EXAMPLES["quick"])
    settings.load_profile("quick")


def is_thorough() -> bool:
    """Return whether this is the thorough suite, which hypothesis knows by collection."""
    return settings().max_examples >= EXAMPLES["thorough"]


def in_thorough_suite() -> pytest.MarkDecorator:
    """Return the mark of a test that takes a fifth of a second or more where quicker ones look at the same code."""
    return pytest.mark.thorough


def draws(thorough: int) -> int:
    """Return how many to draw where the thorough suite draws *thorough*."""
    share = settings().max_examples / EXAMPLES["thorough"]
    return max(min(thorough, _FEWEST), int(thorough * share))


def named(name: str, *, of: int = 3) -> bool:
    """Return True for all names in the thorough suite, and in the quick one for one in so many, always the same."""
    return is_thorough() or crc32(name.encode()) % of == 0


def some(cases: Sequence[T], *, of: int = 3, first: int = 0) -> list[T]:
    """Return all cases in the thorough suite, and one of each *of* in the quick one, from the *first* on."""
    return list(cases if is_thorough() else cases[first % of :: of])
