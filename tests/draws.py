"""
How much tests draw: all of it in the thorough suite, a sixth in the quick one.

The quick suite runs by default; ``make test-thorough`` or ``pytest --hypothesis-profile=thorough`` runs the other. A
test that expects a fault to be found draws as much in both, because a few draws may miss it.
"""

from typing import Final

from hypothesis import settings

__all__ = ["EXAMPLES", "draws"]

EXAMPLES: Final = {"quick": 10, "thorough": 60}
"""How many examples a hypothesis test draws by default, by profile."""

_FEWEST = 5


def draws(thorough: int) -> int:
    """Return how many to draw where the thorough suite draws *thorough*; hypothesis knows its profile by collection."""
    share = settings().max_examples / EXAMPLES["thorough"]
    return max(min(thorough, _FEWEST), int(thorough * share))
