"""
Budgets: how many calls may be made and what they may cost, held before a call and not after it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

__all__ = ["Budget", "Prices", "Spent"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency: those of a prompt, and those of an answer."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """Return what a call costs."""
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / _MILLION


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent; the cost is None without prices."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost: float | None


class Budget:
    """
    Takes the most that a call can cost before it is made, and gives back the rest when it is answered.

    The most is a token for each byte of the prompt, and every token that the answer may have. A call whose answer does
    not say what it took has cost that much.
    """

    def __init__(
        self, *, max_calls: int | None = None, max_cost: float | None = None, prices: Prices | None = None
    ) -> None:
        """Start with nothing spent; `max_cost` needs prices."""
        self._max_calls = max_calls
        self._max_cost = max_cost
        self._prices = prices
        self._lock = threading.Lock()
        self._calls = self._tokens_in = self._tokens_out = 0
        self._held = (0, 0)

    def take(self, most_in: int, most_out: int) -> bool:
        """Take a call from the budget, if it is left."""
        with self._lock:
            if self._max_calls is not None and self._calls >= self._max_calls:
                return False
            held = (self._held[0] + most_in, self._held[1] + most_out)
            if self._prices is not None and self._max_cost is not None:
                tokens = (self._tokens_in + held[0], self._tokens_out + held[1])
                if self._prices.of(*tokens) > self._max_cost:
                    return False
            self._held = held
            self._calls += 1
            return True

    def settle(self, most_in: int, most_out: int, *, tokens_in: int, tokens_out: int) -> None:
        """Give back what a call was taken for, and count what it took."""
        with self._lock:
            self._held = (self._held[0] - most_in, self._held[1] - most_out)
            self._tokens_in += tokens_in
            self._tokens_out += tokens_out

    @property
    def spent(self) -> Spent:
        """Return what was spent so far."""
        with self._lock:
            cost = None if self._prices is None else self._prices.of(self._tokens_in, self._tokens_out)
            return Spent(self._calls, self._tokens_in, self._tokens_out, cost)
