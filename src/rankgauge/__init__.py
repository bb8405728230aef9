"""
rankgauge turns ranked retrieval results and their ground truth into scores that can be trusted.

Names are loaded when they are first used, so that ``import rankgauge`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine import Engine, Evaluation, SampleScore, evaluate, evaluate_runs
    from rankgauge.errors import RankgaugeError, RunInterrupted
    from rankgauge.expression import MetricExpression
    from rankgauge.policy import Policy, Profile
    from rankgauge.preflight_checks import Finding, Preflight, preflight, preflight_runs
    from rankgauge.result import MetricSummary, Result
    from rankgauge.samples import Sample

__all__ = [
    "Catalog",
    "Engine",
    "Evaluation",
    "Finding",
    "MetricExpression",
    "MetricSummary",
    "Policy",
    "Preflight",
    "Profile",
    "RankgaugeError",
    "Result",
    "RunInterrupted",
    "Sample",
    "SampleScore",
    "__version__",
    "evaluate",
    "evaluate_runs",
    "preflight",
    "preflight_runs",
]

_HOMES = {
    "Catalog": "rankgauge.catalog",
    "Engine": "rankgauge.engine",
    "Evaluation": "rankgauge.engine",
    "Finding": "rankgauge.preflight_checks",
    "MetricExpression": "rankgauge.expression",
    "MetricSummary": "rankgauge.result",
    "Policy": "rankgauge.policy",
    "Preflight": "rankgauge.preflight_checks",
    "Profile": "rankgauge.policy",
    "RankgaugeError": "rankgauge.errors",
    "Result": "rankgauge.result",
    "RunInterrupted": "rankgauge.errors",
    "Sample": "rankgauge.samples",
    "SampleScore": "rankgauge.engine",
    "evaluate": "rankgauge.engine",
    "evaluate_runs": "rankgauge.engine",
    "preflight": "rankgauge.preflight_checks",
    "preflight_runs": "rankgauge.preflight_checks",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("rankgauge")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    msg = f"module 'rankgauge' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
