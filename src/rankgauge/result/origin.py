"""
Origins: what a result in memory came from, so that it can be explained and scored again.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.samples import KeptOutput

if TYPE_CHECKING:  # runs and judgments go without it
    from rankgauge.io.datasets import DataSource

__all__ = ["Origin"]

_NONE: Mapping[str, KeptOutput] = MappingProxyType({})


class Origin(NamedTuple):
    """
    What a result in memory came from; it is neither pickled nor saved.

    Attributes:
        evaluation: The evaluation of the engine, which lives in a higher layer.

        outputs: The outputs that were given in Python, if any.

        calls: What each call of a system under test came to, by sample id.

        data: Where the samples came from; None for a run and judgments.
    """

    evaluation: object
    outputs: object = None
    calls: Mapping[str, KeptOutput] = _NONE
    data: DataSource | None = None
