"""Scale: the same pipeline in parts, as shards that are evaluated wherever their data are, and totals of them."""

from rankgauge.features.shards import (
    RunShard,
    SampleShard,
    ShardedRun,
    ShardedSamples,
    Totals,
)

__all__ = ["RunShard", "SampleShard", "ShardedRun", "ShardedSamples", "Totals"]
