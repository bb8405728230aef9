"""
Kept outputs: what each call of a system under test came to, as a row of ``outputs.jsonl`` holds it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.outputs import read_output
from rankgauge.samples.values import Fault, Output

__all__ = ["CallError", "KeptOutput"]


class CallError(NamedTuple):
    """
    Why a call of a system under test gave no output.

    Attributes:
        type: The name of the exception's class; empty where nothing was raised.

        message: What the exception said, or a sentence.

        traceback: Where it was raised; empty where that is not known.
    """

    type: str
    message: str
    traceback: str = ""

    @property
    def reason(self) -> str:
        """Return the reason that the sample's scores are given."""
        return f"the system under test raised {self.type}: {self.message}" if self.type else self.message


class KeptOutput(NamedTuple):
    """
    What a system under test returned for one sample, or why it returned nothing.

    Attributes:
        actual_output: The output as a JSON value; None where the call failed.

        error: Why it failed; None where it did not.

        seconds: Duration of the last attempt; None where it is not known.

        attempt: The number of attempts, the last included.
    """

    actual_output: Any = None  # any JSON value
    error: CallError | None = None
    seconds: float | None = None
    attempt: int = 1

    def read(self, contract: Contract = DEFAULT_CONTRACT) -> Output | Fault:
        """Return the output as it is judged, or why there is none."""
        if self.error is not None:
            return Fault(self.error.reason)
        return read_output(self.actual_output, contract=contract)
