"""
What worker processes call: functions that they can import.
"""

from rankgauge import Evaluation, Result
from rankgauge.plugin import JudgedSample, sample_metric

__all__ = ["declared_depth", "depth_share", "run"]


def run(evaluation: Evaluation) -> Result:
    """Evaluate."""
    return evaluation.run()


def depth_share(ranking: JudgedSample, *, k: int = 7) -> float:
    """Return how much of k was retrieved."""
    return min(ranking.depth, k) / k


@sample_metric("pool-depth")
def declared_depth(ranking: JudgedSample) -> float:
    """Return how much was retrieved."""
    return float(ranking.depth)
