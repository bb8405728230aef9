"""
Retrieval metrics you can trust.

A name is imported when it is first used, so that ``import rankgauge`` stays fast.
"""

from __future__ import annotations

from rankgauge.version import __version__

TYPE_CHECKING = False  # as type checkers know it: importing `typing` would take most of the time
if TYPE_CHECKING:
    from typing import Any

    from rankgauge.catalog import Catalog
    from rankgauge.comparison import Comparison
    from rankgauge.engine.comparing import compare
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluate import evaluate
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.host import HostScorer
    from rankgauge.engine.html_report import html_report
    from rankgauge.engine.human_judged import prediction_powered
    from rankgauge.engine.result import Result
    from rankgauge.engine.run_agreement import rank_agreement
    from rankgauge.errors import RankgaugeError, RunInterrupted
    from rankgauge.explain import Explanation
    from rankgauge.gates.baseline import load_baseline, save_baseline
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.gates.verdicts import judge_gates
    from rankgauge.policy import Policy, Profile
    from rankgauge.preflight_checks import Preflight, preflight
    from rankgauge.result import MetricSummary
    from rankgauge.result.over_datasets import over_datasets
    from rankgauge.samples import Sample

_HOMES = {
    "Catalog": "rankgauge.catalog",
    "Comparison": "rankgauge.comparison",
    "Engine": "rankgauge.engine.engine",
    "Evaluation": "rankgauge.engine.evaluation",
    "Explanation": "rankgauge.explain",
    "GateReport": "rankgauge.gates.outcomes",
    "HostScorer": "rankgauge.engine.host",
    "MetricSummary": "rankgauge.result",
    "Policy": "rankgauge.policy",
    "Preflight": "rankgauge.preflight_checks",
    "Profile": "rankgauge.policy",
    "RankgaugeError": "rankgauge.errors",
    "Result": "rankgauge.engine.result",
    "RunInterrupted": "rankgauge.errors",
    "Sample": "rankgauge.samples",
    "compare": "rankgauge.engine.comparing",
    "evaluate": "rankgauge.engine.evaluate",
    "html_report": "rankgauge.engine.html_report",
    "judge_gates": "rankgauge.gates.verdicts",
    "load_baseline": "rankgauge.gates.baseline",
    "over_datasets": "rankgauge.result.over_datasets",
    "prediction_powered": "rankgauge.engine.human_judged",
    "preflight": "rankgauge.preflight_checks",
    "rank_agreement": "rankgauge.engine.run_agreement",
    "save_baseline": "rankgauge.gates.baseline",
}

__all__ = [
    "Catalog",
    "Comparison",
    "Engine",
    "Evaluation",
    "Explanation",
    "GateReport",
    "HostScorer",
    "MetricSummary",
    "Policy",
    "Preflight",
    "Profile",
    "RankgaugeError",
    "Result",
    "RunInterrupted",
    "Sample",
    "__version__",
    "compare",
    "evaluate",
    "html_report",
    "judge_gates",
    "load_baseline",
    "over_datasets",
    "prediction_powered",
    "preflight",
    "rank_agreement",
    "save_baseline",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    # Nothing plainer keeps `import rankgauge` free of numpy and pydantic: importing a submodule loads them.
    if name in _HOMES:
        from importlib import import_module

        globals()[name] = value = getattr(import_module(_HOMES[name]), name)  # asked once: loops should not wait for it
        return value
    raise AttributeError(f"module 'rankgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
