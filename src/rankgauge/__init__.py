"""
Retrieval metrics you can trust.

A name is imported when it is first used, so that ``import rankgauge`` stays fast.
"""

from __future__ import annotations

from rankgauge.version import __version__

TYPE_CHECKING = False  # as type checkers know it: importing `typing` would take most of the time
if TYPE_CHECKING:
    from typing import Any

    from rankgauge.agreement.rank_agreement import RankAgreement
    from rankgauge.catalog import Catalog
    from rankgauge.comparison import Comparison
    from rankgauge.engine.comparing import compare
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.host import HostColumn, HostScorer
    from rankgauge.engine.html_report import html_report
    from rankgauge.engine.run_agreement import rank_agreement
    from rankgauge.engine.run_shards import RunShard, ShardedRun
    from rankgauge.engine.runs import evaluate, evaluate_runs
    from rankgauge.engine.sample_score import SampleScore
    from rankgauge.engine.sample_shards import SampleShard, ShardedSamples
    from rankgauge.engine.unjudged import bounds, condensed
    from rankgauge.errors import RankgaugeError, RunInterrupted
    from rankgauge.explain import Explanation
    from rankgauge.expression import MetricExpression
    from rankgauge.gates.baseline import load_baseline, save_baseline
    from rankgauge.gates.outcomes import GateOutcome, GateReport
    from rankgauge.gates.verdicts import judge_gates
    from rankgauge.policy import Policy, Profile
    from rankgauge.pooling.bounds import Bounds
    from rankgauge.preflight_checks import Finding, Preflight, preflight, preflight_runs
    from rankgauge.result import MetricSummary, Result, open_result
    from rankgauge.samples import Sample
    from rankgauge.scale.totals import Totals
    from rankgauge.scoring.stop import Stop

__all__ = [
    "Bounds",
    "Catalog",
    "Comparison",
    "Engine",
    "Evaluation",
    "Explanation",
    "Finding",
    "GateOutcome",
    "GateReport",
    "HostColumn",
    "HostScorer",
    "MetricExpression",
    "MetricSummary",
    "Policy",
    "Preflight",
    "Profile",
    "RankAgreement",
    "RankgaugeError",
    "Result",
    "RunInterrupted",
    "RunShard",
    "Sample",
    "SampleScore",
    "SampleShard",
    "ShardedRun",
    "ShardedSamples",
    "Stop",
    "Totals",
    "__version__",
    "bounds",
    "compare",
    "condensed",
    "evaluate",
    "evaluate_runs",
    "html_report",
    "judge_gates",
    "load_baseline",
    "open_result",
    "preflight",
    "preflight_runs",
    "rank_agreement",
    "save_baseline",
]

_HOMES = {
    "Bounds": "rankgauge.pooling.bounds",
    "Catalog": "rankgauge.catalog",
    "Comparison": "rankgauge.comparison",
    "Engine": "rankgauge.engine.engine",
    "Evaluation": "rankgauge.engine.evaluation",
    "Explanation": "rankgauge.explain",
    "Finding": "rankgauge.preflight_checks",
    "GateOutcome": "rankgauge.gates.outcomes",
    "GateReport": "rankgauge.gates.outcomes",
    "HostColumn": "rankgauge.engine.host",
    "HostScorer": "rankgauge.engine.host",
    "MetricExpression": "rankgauge.expression",
    "MetricSummary": "rankgauge.result",
    "Policy": "rankgauge.policy",
    "Preflight": "rankgauge.preflight_checks",
    "Profile": "rankgauge.policy",
    "RankAgreement": "rankgauge.agreement.rank_agreement",
    "RankgaugeError": "rankgauge.errors",
    "Result": "rankgauge.result",
    "RunInterrupted": "rankgauge.errors",
    "RunShard": "rankgauge.engine.run_shards",
    "Sample": "rankgauge.samples",
    "SampleScore": "rankgauge.engine.sample_score",
    "SampleShard": "rankgauge.engine.sample_shards",
    "ShardedRun": "rankgauge.engine.run_shards",
    "ShardedSamples": "rankgauge.engine.sample_shards",
    "Stop": "rankgauge.scoring.stop",
    "Totals": "rankgauge.scale.totals",
    "compare": "rankgauge.engine.comparing",
    "bounds": "rankgauge.engine.unjudged",
    "condensed": "rankgauge.engine.unjudged",
    "evaluate": "rankgauge.engine.runs",
    "evaluate_runs": "rankgauge.engine.runs",
    "html_report": "rankgauge.engine.html_report",
    "judge_gates": "rankgauge.gates.verdicts",
    "load_baseline": "rankgauge.gates.baseline",
    "open_result": "rankgauge.result",
    "preflight": "rankgauge.preflight_checks",
    "preflight_runs": "rankgauge.preflight_checks",
    "rank_agreement": "rankgauge.engine.run_agreement",
    "save_baseline": "rankgauge.gates.baseline",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the name stands for
    # Nothing plainer keeps `import rankgauge` free of numpy and pydantic: importing a submodule loads them.
    if name in _HOMES:
        from importlib import import_module

        globals()[name] = found = getattr(import_module(_HOMES[name]), name)  # asked once: loops should not wait for it
        return found
    msg = f"module 'rankgauge' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
