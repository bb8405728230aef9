"""
`Stop`: how to end the calls of a system under test early, from a signal handler or another thread.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Stop"]


class Stop:
    """
    A request to stop calling a system under test; what was answered is scored.

    The first request lets the calls that are under way end and begins no new one; the second leaves them behind.

    Attributes:
        requests: How often it was requested.
    """

    def __init__(self) -> None:
        """Make one that is not requested yet."""
        self.requests = 0
        self._react: Callable[[], None] | None = None

    def request(self) -> None:
        """Ask to stop; may be called from a signal handler or another thread."""
        self.requests += 1
        if self._react is not None:
            self._react()

    def notify(self, react: Callable[[], None] | None) -> None:
        """Set what is called on every request."""
        self._react = react
