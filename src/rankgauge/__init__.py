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
    from rankgauge.errors import RankgaugeError, RunInterrupted
    from rankgauge.explain import Explanation
    from rankgauge.features.agreement.run_agreement import rank_agreement
    from rankgauge.features.funnel.funneling import funnel
    from rankgauge.features.html.html_report import html_report
    from rankgauge.features.labels.human_judged import prediction_powered
    from rankgauge.features.preflight import Preflight, preflight
    from rankgauge.features.threshold.threshold import threshold
    from rankgauge.gates.baseline import load_baseline, save_baseline
    from rankgauge.gates.outcomes import GateReport
    from rankgauge.gates.verdicts import judge_gates
    from rankgauge.policy import Policy, Profile
    from rankgauge.result import MetricSummary, Result
    from rankgauge.result.given_scores import load_scores
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
    "Preflight": "rankgauge.features.preflight",
    "Profile": "rankgauge.policy",
    "RankgaugeError": "rankgauge.errors",
    "Result": "rankgauge.result",
    "RunInterrupted": "rankgauge.errors",
    "Sample": "rankgauge.samples",
    "compare": "rankgauge.engine.comparing",
    "evaluate": "rankgauge.engine.evaluate",
    "funnel": "rankgauge.features.funnel.funneling",
    "html_report": "rankgauge.features.html.html_report",
    "judge_gates": "rankgauge.gates.verdicts",
    "load_baseline": "rankgauge.gates.baseline",
    "load_scores": "rankgauge.result.given_scores",
    "over_datasets": "rankgauge.result.over_datasets",
    "prediction_powered": "rankgauge.features.labels.human_judged",
    "preflight": "rankgauge.features.preflight",
    "rank_agreement": "rankgauge.features.agreement.run_agreement",
    "save_baseline": "rankgauge.gates.baseline",
    "threshold": "rankgauge.features.threshold.threshold",
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
    "funnel",
    "html_report",
    "judge_gates",
    "load_baseline",
    "load_scores",
    "over_datasets",
    "prediction_powered",
    "preflight",
    "rank_agreement",
    "save_baseline",
    "threshold",
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
