"""
`Conventions`: what every request of one plan is resolved by.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rankgauge.catalog import Catalog
from rankgauge.planning.cutoffs import DefaultK
from rankgauge.policy import Profile
from rankgauge.samples import GoldKind

__all__ = ["Conventions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """What holds for every metric of a plan."""

    catalog: Catalog
    profile: Profile
    default_k: DefaultK = DefaultK()  # noqa: RUF009  # an immutable tuple
    matchers: Mapping[GoldKind, str] = field(default_factory=dict)  # for metrics that name none
    by_id: bool = False  # whether the data have ids only, as a run has
