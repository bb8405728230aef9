"""
rankgauge: retrieval metrics you can trust, from ranked results and their ground truth.

Names load when they are first used (PEP 562), so that ``import rankgauge`` is fast.
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
    name: f"rankgauge.{home}"
    for home, names in {
        "catalog": ("Catalog",),
        "engine": ("Engine", "Evaluation", "SampleScore", "evaluate", "evaluate_runs"),
        "errors": ("RankgaugeError", "RunInterrupted"),
        "expression": ("MetricExpression",),
        "policy": ("Policy", "Profile"),
        "preflight_checks": ("Finding", "Preflight", "preflight", "preflight_runs"),
        "result": ("MetricSummary", "Result"),
        "samples": ("Sample",),
    }.items()
    for name in names
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # a class or a function
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("rankgauge")
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    msg = f"module 'rankgauge' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
