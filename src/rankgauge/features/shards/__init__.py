"""Scale: the same pipeline in parts, as shards that are evaluated wherever their data are, and totals of them."""

from rankgauge.features.shards.run_shards import RunShard, ShardedRun
from rankgauge.features.shards.sample_shards import SampleShard, ShardedSamples
from rankgauge.features.shards.totals import Totals

__all__ = ["RunShard", "SampleShard", "ShardedRun", "ShardedSamples", "Totals"]
