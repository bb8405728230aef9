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
    """
    How results are compared.

    Attributes:
        test: The test that gives `p`.

        confidence: Of intervals; 1 minus it is the level of the tests.

        resamples: How many random resamples a test takes, where it takes any.

        seed: The seed of their random bits.
    """

    test: TestName = "sign-flip"
    confidence: float = 0.95
    resamples: int = 100_000
    seed: int = 0

    def check(self) -> None:
        """Raise `ParameterError` for anything that cannot be used."""
        if self.test not in TESTS:
            msg = f"unknown test {self.test!r}{did_you_mean(str(self.test), TESTS)}; there are {', '.join(TESTS)}"
            raise ParameterError(msg)
        if isinstance(self.confidence, bool) or not isinstance(self.confidence, int | float):
            msg = f"confidence is a number such as 0.95, not {self.confidence!r}"
            raise ParameterError(msg)
        if not 0 < self.confidence < 1:
            hint = f"; write {self.confidence / 100:g}" if 1 < self.confidence < 100 else ""
            msg = f"confidence lies between 0 and 1, not at {self.confidence!r}{hint}"
            raise ParameterError(msg)
        for name, value, least, most in (("resamples", self.resamples, 1, None), ("seed", self.seed, 0, _MOST_SEED)):
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not is_whole or value < least or (most is not None and value >= most):
                below = "" if most is None else " and below 2**128"
                msg = f"{name} is an integer of {least} or more{below}, not {value!r}"
                raise ParameterError(msg)
