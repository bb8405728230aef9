"""
What the modules for the hosts share, all of it on rankgauge's public names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["GOLD_KINDS", "MetricArgument"]

MetricArgument = str | Mapping[str, Any]
"""A metric as hosts can store it: an expression such as ``ndcg@10``, or a mapping ``{metric, as, k, ...}``."""

GOLD_KINDS = ("relevant", "passages", "answer", "keywords", "nuggets", "spans", "forbidden", "sets")
"""The kinds of ground truth in a dataset."""
