"""
What the modules for the hosts share, all of it on rankgauge's public names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["MetricArgument"]

MetricArgument = str | Mapping[str, Any]
"""A metric as hosts can store it: an expression such as ``ndcg@10``, or a mapping ``{metric, as, k, ...}``."""
