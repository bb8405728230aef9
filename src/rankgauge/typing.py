"""
Typing: what public functions take and return, for annotations and `isinstance`.
"""

from rankgauge.engine.comparing import MethodOptions
from rankgauge.engine.host import HostColumn
from rankgauge.engine.run_options import CallOptions
from rankgauge.engine.runs import RunConventions
from rankgauge.engine.sample_score import SampleScore
from rankgauge.explain.bounds import Bounds
from rankgauge.expression import MetricExpression
from rankgauge.features.agreement.rank_agreement import RankAgreement
from rankgauge.features.funnel.fates import Traced
from rankgauge.features.funnel.funnel import Funnel, FunnelStage
from rankgauge.features.labels.powered_comparison import PoweredComparison, PoweredDifference, PoweredMetric
from rankgauge.features.labels.prediction_powered import PoweredMean
from rankgauge.features.preflight.findings import Finding
from rankgauge.features.threshold.threshold import Half, Share, Threshold
from rankgauge.gates.outcomes import GateOutcome
from rankgauge.io.open_sources import QrelsLike, RunLike
from rankgauge.planning.requests import MetricSpec
from rankgauge.result.over_datasets import DatasetMean
from rankgauge.scoring.stop import Stop

__all__ = [
    "Bounds",
    "CallOptions",
    "DatasetMean",
    "Finding",
    "Funnel",
    "FunnelStage",
    "GateOutcome",
    "Half",
    "HostColumn",
    "MethodOptions",
    "MetricExpression",
    "MetricSpec",
    "PoweredComparison",
    "PoweredDifference",
    "PoweredMean",
    "PoweredMetric",
    "QrelsLike",
    "RankAgreement",
    "RunConventions",
    "RunLike",
    "SampleScore",
    "Share",
    "Stop",
    "Threshold",
    "Traced",
]
