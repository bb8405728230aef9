"""
What worker processes call: functions that they can import.
"""

from rankgauge import Evaluation, Result
from rankgauge.plugin import JudgedSample, sample_metric
from rankgauge.scale import RunShard, SampleShard, ShardedRun, ShardedSamples

__all__ = ["declared_depth", "depth_share", "run", "sample_shard", "shard"]


def run(evaluation: Evaluation) -> Result:
    """Evaluate."""
    return evaluation.run()


def shard(job: tuple[ShardedRun, object, object]) -> RunShard:
    """Evaluate a shard of a run."""
    sharded, qrels, run = job
    return sharded.shard(qrels, run)


def sample_shard(job: tuple[ShardedSamples, list[object]]) -> SampleShard:
    """Evaluate a shard of samples."""
    sharded, samples = job
    return sharded.shard(samples)


def depth_share(ranking: JudgedSample, *, k: int = 7) -> float:
    """Return how much of k was retrieved."""
    return min(ranking.depth, k) / k


@sample_metric("pool-depth")
def declared_depth(ranking: JudgedSample) -> float:
    """Return how much was retrieved."""
    return float(ranking.depth)
