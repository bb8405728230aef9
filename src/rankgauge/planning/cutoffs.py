"""
Cutoffs, and the other conventions that hold for every metric of a plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from rankgauge.catalog import Catalog
from rankgauge.columns import Cutoff
from rankgauge.errors import ParameterError
from rankgauge.expression import Unit
from rankgauge.judging import Budget
from rankgauge.policy import Profile
from rankgauge.samples import HIGHEST_K

__all__ = ["DEFAULT_K", "Conventions", "Cut", "CutSource", "DefaultK", "check_k"]

DEFAULT_K = 5

CutSource = Literal["pinned", "budget", "sample metadata", "metric", "default", "none"]


class DefaultK(NamedTuple):
    """Default cutoff, used when a metric has none."""

    k: int = DEFAULT_K
    source: str = "built-in default"  # where it was given, for messages


class Cut(NamedTuple):
    """
    The rule by which a metric's cutoff is found: `free` takes the sample's, the metric's, or the default one.

    A `budget` is no cutoff before outputs are there: judging fits rankings into it.
    """

    rule: Literal["pinned", "budget", "free", "own", "none"]
    k: int | None = None  # the pinned cutoff, or the one given to the metric
    budget: Budget | None = None

    def resolve(self, metadata: Sequence[int | None], default: DefaultK) -> tuple[Cutoff | None, dict[CutSource, int]]:
        """Return one cutoff for a batch, or one for each sample with a `metadata.k`; and how many came from where."""
        n = len(metadata)
        if self.rule != "free":
            source: CutSource = "metric" if self.rule == "own" else self.rule
            return self.k, {source: n}
        source, fallback = ("default", default.k) if self.k is None else ("metric", self.k)
        n_own = n - metadata.count(None)
        sources: dict[CutSource, int] = {"sample metadata": n_own, source: n - n_own}
        sources = {name: count for name, count in sources.items() if count}
        if not n_own:
            return fallback, sources
        return np.array([fallback if k is None else k for k in metadata], dtype=np.int64), sources

    @property
    def behind_at(self) -> tuple[int | None, Unit | None]:
        """Return the number behind the @ of a column's name, and what it counts if it is a budget."""
        if self.budget is not None:
            return self.budget.amount, self.budget.unit
        return self.k if self.rule == "pinned" else None, None

    def definition(self, default: DefaultK) -> str | dict[str, object]:
        """Return what a fingerprint covers of it."""
        if self.budget is not None:
            by = None if self.budget.tokenizer is None else self.budget.tokenizer.declaration
            return {
                "budget": self.budget.amount,
                "unit": self.budget.unit,
                "tokenizer": None if by is None else f"{by.name} {by.version}",
                "partial": self.budget.partial,
            }
        return "none" if self.rule == "none" else f"{self.rule} {default.k if self.k is None else self.k}"


def check_k(k: object, source: str) -> int:
    """Return a cutoff; raise `ParameterError` unless it is an integer of 1 or more."""
    if isinstance(k, str) and k.rstrip().endswith(("tok", "char")):
        msg = f"the cutoff of {source} is a number of ranks, not {k!r}; a budget is given as `budget`, or behind the @"
        raise ParameterError(msg)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"the cutoff of {source} must be an integer of 1 or more, not {k!r}")
    if k > HIGHEST_K:
        raise ParameterError(f"the cutoff of {source} must be at most 2**53, not {k}")
    return k


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """What holds for every metric of a plan."""

    catalog: Catalog
    profile: Profile
    default_k: DefaultK = DefaultK()  # noqa: RUF009  # an immutable tuple
    matchers: Mapping[str, str] = field(default_factory=dict)  # for metrics that name none
    by_id: bool = False  # whether the data have ids only, as a run has
