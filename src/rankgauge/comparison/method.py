"""
How results are compared: the test, its level and its random bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from rankgauge.errors import ParameterError, did_you_mean

__all__ = ["TESTS", "Method", "TestName"]

TestName = Literal["sign-flip", "t", "wilcoxon", "bootstrap-bca"]
TESTS: tuple[TestName, ...] = get_args(TestName)

_MOST_SEED = 1 << 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How results are compared; 1 minus *confidence* is the level of the tests."""

    test: TestName = "sign-flip"
    confidence: float = 0.95
    resamples: int = 100_000
    seed: int = 0

    def check(self) -> None:
        """Raise `ParameterError` for anything that cannot be used."""
        if self.test not in TESTS:
            hint = did_you_mean(str(self.test), TESTS)
            raise ParameterError(f"unknown test {self.test!r}{hint}; there are {', '.join(TESTS)}")
        if isinstance(self.confidence, bool) or not isinstance(self.confidence, int | float):
            raise ParameterError(f"confidence is a number such as 0.95, not {self.confidence!r}")
        if not 0 < self.confidence < 1:
            hint = f"; write {self.confidence / 100:g}" if 1 < self.confidence < 100 else ""
            raise ParameterError(f"confidence lies between 0 and 1, not at {self.confidence!r}{hint}")
        for name, value, least, below in (
            ("resamples", self.resamples, 1, ""),
            ("seed", self.seed, 0, " and below 2**128"),
        ):
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not is_whole or value < least or (below and value >= _MOST_SEED):
                raise ParameterError(f"{name} is an integer of {least} or more{below}, not {value!r}")
