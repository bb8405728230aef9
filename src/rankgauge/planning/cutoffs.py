"""
Cutoffs: which k counts for which sample, and where it came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from rankgauge.columns import Cutoff
from rankgauge.errors import ParameterError
from rankgauge.samples import HIGHEST_K

__all__ = ["DEFAULT_K", "Cut", "CutSource", "DefaultK", "check_k"]

DEFAULT_K = 5

CutSource = Literal["pinned", "sample metadata", "metric", "default", "none"]


class DefaultK(NamedTuple):
    """
    The cutoff for whatever says none.

    Attributes:
        k: The cutoff.

        source: Where it was given, for messages.
    """

    k: int = DEFAULT_K
    source: str = "built-in default"


class Cut(NamedTuple):
    """
    The rule by which a metric's cutoff is found.

    Attributes:
        rule: `pinned`; `free`, for which the precedence of cutoffs holds; `own`, only what was given to the metric;
            or `none`.

        k: The pinned cutoff, or the one given to the metric.
    """

    rule: Literal["pinned", "free", "own", "none"]
    k: int | None = None

    def resolve(self, metadata: Sequence[int | None], default: DefaultK) -> tuple[Cutoff | None, dict[CutSource, int]]:
        """
        Find the cutoff of each sample of a batch.

        Args:
            metadata: The `metadata.k` of each sample.

            default: The cutoff for whatever says none.

        Returns:
            One number when all are the same, else one for each sample, or None for no cutoff; and how many samples
            took it from where.
        """
        n = len(metadata)
        if self.rule == "none":
            return None, {"none": n}
        if self.rule == "pinned":
            return self.k, {"pinned": n}
        if self.rule == "own":
            return self.k, {"metric": n}
        fallback, source = (default.k, "default") if self.k is None else (self.k, "metric")
        own = [k for k in metadata if k is not None]
        sources: dict[CutSource, int] = {}
        if own:
            sources["sample metadata"] = len(own)
        if len(own) < n:
            sources[source] = n - len(own)  # type: ignore[index]  # both are cut sources
        if not own:
            return fallback, sources
        return np.array([fallback if k is None else k for k in metadata], dtype=np.int64), sources


def check_k(k: object, source: str) -> int:
    """
    Check a cutoff.

    Args:
        k: What was given.

        source: Where, for the message.

    Returns:
        The cutoff.

    Raises:
        ParameterError: It is not an integer of 1 or more.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        msg = f"the cutoff of {source} must be an integer of 1 or more, not {k!r}"
        raise ParameterError(msg)
    if k > HIGHEST_K:
        msg = f"the cutoff of {source} must be at most 2**53, not {k}"
        raise ParameterError(msg)
    return k
