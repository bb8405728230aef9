"""Scale: the same pipeline in parts, as shards that are evaluated wherever their data are, and totals of them."""

from rankgauge.scale.run_shards import RunShard, ShardedRun
from rankgauge.scale.sample_shards import SampleShard, ShardedSamples
from rankgauge.scale.totals import Totals

__all__ = ["RunShard", "SampleShard", "ShardedRun", "ShardedSamples", "Totals"]
