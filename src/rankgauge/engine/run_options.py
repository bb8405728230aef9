"""
What a run is told: where outputs come from, and how much is read, kept and judged at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.engine.calls import Calls, check_whole
from rankgauge.errors import ParameterError
from rankgauge.io.output_files import OutputsSource

__all__ = ["RunOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """
    What `Evaluation.run` is told, which describes most fields.

    Attributes:
        calls: Those of a system under test; None for outputs that are there already.

        repeats: How many outputs of a sample are taken at the most.
    """

    outputs: OutputsSource | None = None
    calls: Calls | None = None
    limit: int | None = None
    details: bool = False
    near_misses: bool = False
    sketch_ids: bool = False
    batch_size: int = 4096
    workers: int = 1
    repeats: int | None = None

    def __post_init__(self) -> None:
        if self.outputs is not None and self.calls is not None:
            raise ParameterError("give either outputs or sut, not both: scores must have one source")
        check_whole("workers", self.workers)
        check_whole("batch_size", self.batch_size)
        check_whole("limit", 1 if self.limit is None else self.limit)
